// SPDX-License-Identifier: MIT
#include "match/battle/printable.h"

namespace replayout::match {

namespace {

[[nodiscard]] unsigned code_of(char letter) noexcept {
    return static_cast<unsigned char>(letter);
}

[[nodiscard]] bool is_continuation(char letter) noexcept {
    return (code_of(letter) & 0xC0) == 0x80;
}

}  // namespace

std::string printable(std::string_view text, std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        std::size_t end = bytes_max;
        while (end > 0 && is_continuation(text[end])) {
            --end;
        }
        text = text.substr(0, end);
    }
    std::string result(text);
    for (std::size_t i = 0; i < result.size(); ++i) {
        if (code_of(result[i]) < 0x20 || code_of(result[i]) == 0x7F) {
            result[i] = '?';
        } else if (code_of(result[i]) == 0xC2 && i + 1 < result.size() &&
                   code_of(result[i + 1]) < 0xA0) {
            // U+0080 to U+009F: commands to some terminals.
            result[i] = '?';
            result[i + 1] = '?';
        }
    }
    return result;
}

}  // namespace replayout::match
