// SPDX-License-Identifier: MIT
//
// What our caller does wrong, and what a release build makes of it, in any build: the assert
// handler returns, so a call that breaks a promise is refused, and the game goes on.
//
//     const Refusals refusals;
//     server.remove_object(stale);
//     CHECK(refusals.count("remove_object: ") == 1);
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

/// One at a time. The log is its own while it lives: warnings and errors are kept.
class Refusals {
  public:
    Refusals() {
        sentences().clear();
        lines().clear();
        previous_ = set_assert_handler([](const AssertionFailure& failure) {
            if (failure.message != nullptr) {
                sentences().emplace_back(failure.message);
            }  // an assertion: the process aborts when this returns
        });
        set_log_handler(
            [](LogLevel level, std::string_view message, void*) {
                if (level >= LogLevel::Warning) {
                    lines().emplace_back(message);
                }
            },
            nullptr);
    }
    ~Refusals() {
        (void)set_assert_handler(previous_);
        set_log_handler(nullptr, nullptr);
    }
    Refusals(const Refusals&) = delete;
    Refusals& operator=(const Refusals&) = delete;

    /// Only builds with assertions give each sentence to the test: others log one for each place.
    static constexpr bool are_told = REPLAYOUT_ASSERTIONS != 0;

    [[nodiscard]] static std::vector<std::string>& sentences() {
        static std::vector<std::string> all;
        return all;
    }
    [[nodiscard]] static std::vector<std::string>& lines() {
        static std::vector<std::string> all;
        return all;
    }
    /// Sentences that hold this text.
    [[nodiscard]] std::size_t count(std::string_view text) const {
        return count(sentences(), text);
    }
    /// Lines of the log that do.
    [[nodiscard]] std::size_t line_count(std::string_view text) const {
        return count(lines(), text);
    }
    [[nodiscard]] std::string last() const {
        return sentences().empty() ? std::string() : sentences().back();
    }

  private:
    [[nodiscard]] static std::size_t count(const std::vector<std::string>& all,
                                           std::string_view text) {
        std::size_t found = 0;
        for (const std::string& one : all) {
            found += one.find(text) != std::string::npos ? 1u : 0u;
        }
        return found;
    }

    AssertHandler previous_;
};

}  // namespace replayout::test
