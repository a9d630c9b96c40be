// SPDX-License-Identifier: MIT
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <string>
#include <string_view>
#include <vector>

namespace replayout {

/// Collects errors of the log while it lives.
class LogSpy {
  public:
    LogSpy() {
        messages().clear();
        set_log_handler(
            [](LogLevel level, std::string_view message, void*) {
                if (level == LogLevel::Error) {
                    messages().emplace_back(message);
                }
            },
            nullptr);
    }
    ~LogSpy() { set_log_handler(nullptr, nullptr); }
    LogSpy(const LogSpy&) = delete;
    LogSpy& operator=(const LogSpy&) = delete;

    [[nodiscard]] static std::vector<std::string>& messages() {
        static std::vector<std::string> all;
        return all;
    }
};

}  // namespace replayout
