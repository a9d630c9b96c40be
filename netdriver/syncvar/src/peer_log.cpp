// SPDX-License-Identifier: MIT
#include "peer_log.h"

#include <string>
#include <utility>

namespace replayout::syncvar::detail {

namespace {

/// What does not print as "\x0a", and so a backslash as "\x5c".
[[nodiscard]] std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string line;
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

}  // namespace

void PeerLog::write(LogLevel level, std::string_view text, NetTime now) {
    const std::int64_t second = now.microseconds / 1'000'000;
    if (std::exchange(second_, second) != second) {
        line_count_ = 0;
    }
    if (line_count_ == lines_per_second) {
        ++left_out_count_;
        return;
    }
    ++line_count_;
    std::string line = escaped(text);
    if (const std::uint64_t count = std::exchange(left_out_count_, 0); count > 0) {
        line += " (" + std::to_string(count) + " lines like this were left out before)";
    }
    log(level, line);
}

}  // namespace replayout::syncvar::detail
