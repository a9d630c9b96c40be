// SPDX-License-Identifier: MIT
#include <replayout/utf8.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

namespace {

struct LeadByte {
    std::uint8_t first;
    std::uint8_t last;
    std::uint8_t trail_count;
    // The second byte is what rules out overlong forms, surrogates and numbers that are too large.
    std::uint8_t second_first;
    std::uint8_t second_last;
};

constexpr LeadByte lead_bytes[] = {
    {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF}, {0xE1, 0xEC, 2, 0x80, 0xBF},
    {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF}, {0xF0, 0xF0, 3, 0x90, 0xBF},
    {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
};

const LeadByte* find_lead(std::uint8_t byte) noexcept {
    for (const LeadByte& lead : lead_bytes) {
        if (byte >= lead.first && byte <= lead.last) {
            return &lead;
        }
    }
    return nullptr;
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
    std::size_t index = 0;
    while (index < text.size()) {
        const auto byte = static_cast<std::uint8_t>(text[index]);
        if (byte < 0x80) {
            ++index;
            continue;
        }
        const LeadByte* lead = find_lead(byte);
        if (lead == nullptr || text.size() - index <= lead->trail_count) {
            return false;
        }
        const auto second = static_cast<std::uint8_t>(text[index + 1]);
        if (second < lead->second_first || second > lead->second_last) {
            return false;
        }
        for (std::size_t i = 2; i <= lead->trail_count; ++i) {
            if ((static_cast<std::uint8_t>(text[index + i]) & 0xC0) != 0x80) {
                return false;
            }
        }
        index += 1 + std::size_t{lead->trail_count};
    }
    return true;
}

}  // namespace replayout
