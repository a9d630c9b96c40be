// SPDX-License-Identifier: MIT
#include <replayout/reflection/printable.h>

#include <algorithm>

namespace replayout {

namespace {

// Of one character of UTF-8, which has four bytes at most.
constexpr std::size_t continuation_count_max = 3;

[[nodiscard]] bool is_continuation(char character) noexcept {
    return (static_cast<unsigned char>(character) & 0xC0u) == 0x80u;
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string line;
    line.reserve(text.size());
    for (const char character : text) {
        const auto code = static_cast<unsigned char>(character);
        if (code >= 0x20 && code < 0x7F && character != '\\') {
            line += character;
        } else {
            line += {'\\', 'x', digits[code >> 4], digits[code & 0xF]};
        }
    }
    return line;
}

std::string printable_front(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) {
        return printable(text);
    }
    const std::size_t size_min = bytes_max - std::min(bytes_max, continuation_count_max);
    std::size_t size = bytes_max;
    while (size > size_min && is_continuation(text[size])) {
        --size;
    }
    if (is_continuation(text[size])) {
        size = bytes_max;  // no text of characters
    }
    return printable(text.substr(0, size)) + "...";
}

}  // namespace replayout
