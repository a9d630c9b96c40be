// SPDX-License-Identifier: MIT
//
// The worked examples of docs/wire_format.md. They stand in blocks marked `hex` or `bits`:
//
//     # packed 300                  the name of an example
//     59 04      44 and 2           its bytes, or bits in the order of writing; two blanks
//                                   and a remark
//     ..                            and so on: what follows is not shown
//
// An example ends with the next name, a blank line or the end of the block.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout {

struct DocumentedExample {
    std::string digits;  ///< hexadecimal or binary, without blanks
    bool is_bits = false;
    bool is_prefix = false;

    friend bool operator==(const DocumentedExample&, const DocumentedExample&) = default;
};

using DocumentedExamples = std::map<std::string, DocumentedExample, std::less<>>;

[[nodiscard]] inline std::string without_blanks(std::string_view text) {
    std::string result;
    for (const char character : text) {
        if (character != ' ') {
            result += character;
        }
    }
    return result;
}

[[nodiscard]] inline DocumentedExamples read_documented_examples(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file.is_open());
    DocumentedExamples examples;
    DocumentedExample* example = nullptr;
    bool is_inside = false;
    bool is_bits = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) {
            is_bits = line == "```bits";
            is_inside = is_bits || line == "```hex";
            example = nullptr;
        } else if (is_inside && line.starts_with("# ")) {
            const std::string name = line.substr(2, line.find("  ") - 2);
            INFO("example " << name);
            REQUIRE(!examples.contains(name));
            example = &examples[name];
            example->is_bits = is_bits;
        } else if (is_inside && !line.empty()) {
            INFO("line " << line);
            REQUIRE(example != nullptr);
            REQUIRE(!example->is_prefix);
            const std::string digits = line.substr(0, line.find("  "));
            example->is_prefix = digits == "..";
            example->digits += example->is_prefix ? "" : without_blanks(digits);
        }
    }
    return examples;
}

/// The bits of `bytes` in the order of writing.
[[nodiscard]] inline std::string to_binary(std::span<const std::byte> bytes,
                                           std::size_t bit_count) {
    std::string digits;
    for (std::size_t bit = 0; bit < bit_count; ++bit) {
        digits += get_bit(bytes, bit) ? '1' : '0';
    }
    return digits;
}

/// What was written, to be compared with a documented example.
struct WrittenExample {
    Bytes bytes;
    std::size_t bit_count = 0;
};

inline void check_example(const DocumentedExample& documented, const WrittenExample& written) {
    std::string digits = documented.is_bits ? to_binary(written.bytes, written.bit_count)
                                            : without_blanks(to_hex(written.bytes));
    if (documented.is_prefix) {
        digits.resize(std::min(digits.size(), documented.digits.size()));
    }
    CHECK(documented.digits == digits);
}

}  // namespace replayout
