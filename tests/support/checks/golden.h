// SPDX-License-Identifier: MIT
//
// Golden vectors: bytes that are pinned in tests/golden/*.hex. Bytes are two hexadecimal digits
// each; '#' begins a comment that ends with the line.
//
// A golden file changes only together with docs/wire_format.md.
#pragma once

#include <cctype>
#include <fstream>
#include <span>
#include <string>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/tests_dir.h"

namespace replayout {

[[nodiscard]] inline unsigned hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    REQUIRE(digit >= 'a');
    REQUIRE(digit <= 'f');
    return static_cast<unsigned>(digit - 'a') + 10;
}

/// The bytes of tests/golden/`name`.hex.
[[nodiscard]] inline Bytes read_golden(const std::string& name) {
    std::ifstream file(std::string(test::tests_dir()) + "/golden/" + name + ".hex");
    REQUIRE(file.is_open());
    std::string digits;
    for (std::string line; std::getline(file, line);) {
        for (const char character : line.substr(0, line.find('#'))) {
            if (std::isspace(static_cast<unsigned char>(character)) == 0) {
                digits += character;
            }
        }
    }
    REQUIRE(digits.size() % 2 == 0);
    Bytes bytes;
    for (std::size_t index = 0; index < digits.size(); index += 2) {
        bytes.push_back(
            static_cast<std::byte>(hex_digit(digits[index]) * 16 + hex_digit(digits[index + 1])));
    }
    return bytes;
}

inline void check_golden(const std::string& name, std::span<const std::byte> written) {
    INFO("golden vector " << name);
    CHECK(to_hex(written) == to_hex(read_golden(name)));
}

}  // namespace replayout
