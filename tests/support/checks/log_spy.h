// SPDX-License-Identifier: MIT
//
// For tests of what is logged. The log handler is the process's, so one at a time.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

/// Collects what is logged at a level, and above it, while it lives.
class LogSpy {
  public:
    explicit LogSpy(LogLevel least = LogLevel::Error) : least_(least) {
        messages().clear();
        set_log_handler(
            [](LogLevel level, std::string_view message, void* context) {
                if (level >= static_cast<const LogSpy*>(context)->least_) {
                    messages().emplace_back(message);
                }
            },
            this);
    }
    ~LogSpy() { set_log_handler(nullptr, nullptr); }
    LogSpy(const LogSpy&) = delete;
    LogSpy& operator=(const LogSpy&) = delete;

    /// Of the one that lives, or lived last.
    [[nodiscard]] static std::vector<std::string>& messages() {
        static std::vector<std::string> all;
        return all;
    }

  private:
    LogLevel least_;
};

}  // namespace replayout::test
