// SPDX-License-Identifier: MIT
#include <replayout/reflection/printable.h>

namespace replayout {

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

}  // namespace replayout
