// SPDX-License-Identifier: MIT
//
// For tests of what is logged. The log handler is the process's, so one at a time.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

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

/// Collects warnings and errors of the log while it lives.
class WarningSpy {
  public:
    WarningSpy() {
        set_log_handler(
            [](LogLevel level, std::string_view message, void* context) {
                if (level == LogLevel::Warning || level == LogLevel::Error) {
                    static_cast<WarningSpy*>(context)->messages.emplace_back(message);
                }
            },
            this);
    }
    ~WarningSpy() { set_log_handler(nullptr, nullptr); }
    WarningSpy(const WarningSpy&) = delete;
    WarningSpy& operator=(const WarningSpy&) = delete;

    std::vector<std::string> messages;
};

}  // namespace replayout::test
