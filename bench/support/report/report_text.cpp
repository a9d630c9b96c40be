// SPDX-License-Identifier: MIT
#include "support/report/report_text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace replayout::bench {

namespace {

/// Of a number that may have a sign, decimals, an exponent.
[[nodiscard]] std::string with_commas(const std::string& number) {
    const std::size_t begin = std::min(number.find_first_of("0123456789"), number.size());
    const std::size_t end = std::min(number.find_first_not_of("0123456789", begin), number.size());
    std::string text = number.substr(0, begin);
    for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && (end - i) % 3 == 0) {
            text += ',';
        }
        text += number[i];
    }
    return text + number.substr(end);
}

}  // namespace

void print(std::string& text, const char* format, ...) {
    char line[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    text += line;
}

std::string grouped(std::uint64_t number) {
    return with_commas(std::to_string(number));
}

std::string grouped(double number, int decimals) {
    std::string text;
    print(text, "%.*f", decimals, number);
    return with_commas(text);
}

std::string grouped_short(double number) {
    std::string text;
    print(text, "%g", number);
    return with_commas(text);
}

std::string hex(std::uint64_t number, int width) {
    char text[20];
    std::snprintf(text, sizeof(text), "%0*llx", width, static_cast<unsigned long long>(number));
    return text;
}

double ratio(std::uint64_t part, std::uint64_t whole) noexcept {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace replayout::bench
