// SPDX-License-Identifier: MIT
//
// The words and numbers of reports for people.
#pragma once

#include <cstdint>
#include <string>

namespace replayout::bench {

/// Appends a formatted line, or 511 characters of it.
[[gnu::format(printf, 2, 3)]] void print(std::string& text, const char* format, ...);

/// 1234567 is 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t number);
/// 1234.56 with one decimal is 1,234.6.
[[nodiscard]] std::string grouped(double number, int decimals);
/// As few decimals as it has, six digits at most: 0.001, 30, 4,000.
[[nodiscard]] std::string grouped_short(double number);

/// With zeros before it, so many digits at least.
[[nodiscard]] std::string hex(std::uint64_t number, int width);

/// 0 where there is no whole.
[[nodiscard]] double ratio(std::uint64_t part, std::uint64_t whole) noexcept;

}  // namespace replayout::bench
