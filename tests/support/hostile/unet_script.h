// SPDX-License-Identifier: MIT
//
// The script `data` of the dirty-bit article, whose bytes are pinned, and bytes as the tests write
// them.
#pragma once

#include <replayout/unet/unet_section.h>
#include <replayout/unet/unet_woven.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

[[nodiscard]] inline std::byte hex_byte(std::string_view digits) {
    constexpr std::string_view all = "0123456789ABCDEF";
    REQUIRE(digits.size() == 2);
    const std::size_t high = all.find(digits[0]);
    const std::size_t low = all.find(digits[1]);
    REQUIRE(high != std::string_view::npos);
    REQUIRE(low != std::string_view::npos);
    return static_cast<std::byte>(high * 16 + low);
}

/// Bytes from upper-case digits with one blank between two bytes. `S` stands for the script's text
/// with its count, `12*00` for twelve zeros.
[[nodiscard]] inline Bytes unet_bytes(std::string_view text) {
    Bytes bytes;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size() < text.size() ? word.size() + 1 : text.size());
        if (word == "S") {
            const Bytes script_text = unet_bytes("0E 00 45 78 61 6D 70 6C 65 20 73 74 72 69 6E 67");
            bytes.insert(bytes.end(), script_text.begin(), script_text.end());
            continue;
        }
        std::size_t count = 1;
        if (const std::size_t star = word.find('*'); star != std::string_view::npos) {
            count = std::stoul(std::string(word.substr(0, star)));
            word.remove_prefix(star + 1);
        }
        bytes.insert(bytes.end(), count, hex_byte(word));
    }
    return bytes;
}

struct ScriptData {
    std::int32_t int1 = 0;
    std::int32_t int2 = 0;
    std::string text;

    void write(NetworkWriter& writer, std::uint32_t bit) const {
        if (bit == 2) {
            write_woven(writer, std::string_view(text));
        } else {
            write_woven(writer, bit == 0 ? int1 : int2);
        }
    }
    void read(NetworkReader& reader, std::uint32_t bit) {
        if (bit == 2) {
            read_woven(reader, text);
        } else {
            read_woven(reader, bit == 0 ? int1 : int2);
        }
    }
    friend bool operator==(const ScriptData&, const ScriptData&) = default;
};

[[nodiscard]] inline ScriptData example_data() {
    return {66, 23487, "Example string"};
}

/// The script as one class, and as a base with the numbers and a class with the text.
inline constexpr std::array one_class = count_unet_bits<1>({3});
inline constexpr std::array base_and_derived = count_unet_bits<2>({2, 1});

}  // namespace replayout::test
