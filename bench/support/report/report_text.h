// SPDX-License-Identifier: MIT
//
// The words and numbers of reports for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

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

/// Appends these parts, one behind the other: a text as it is, a whole number with its commas.
template <typename... Parts>
void add_parts(std::string& text, const Parts&... parts) {
    const auto add = [&text](const auto& part) {
        if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
            text += grouped(std::uint64_t{part});
        } else {
            text += part;
        }
    };
    (add(parts), ...);
}
/// The same as a row of a report: behind a label, for which there are 22 characters.
template <typename... Parts>
void add_row(std::string& text, std::string_view label, const Parts&... parts) {
    print(text, "  %-22.*s ", static_cast<int>(label.size()), label.data());
    add_parts(text, parts..., "\n");
}

/// 0 where there is no whole.
[[nodiscard]] double ratio(std::uint64_t part, std::uint64_t whole) noexcept;

}  // namespace replayout::bench
