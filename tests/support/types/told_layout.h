// SPDX-License-Identifier: MIT
//
// What a description says, to be changed in one respect and said again.
//
//     ToldLayout told = tell(*layout);
//     told.leaf("health").checksum += 1;
//     RepLayout::create_compatible(registry, &*layout, told.bytes(), LayoutPolicy::SkipUnknown);
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/layout_description.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/hostile/forged_description.h"

namespace replayout::test {

/// A leaf, or the end of a list. Only what its form has is written.
struct ToldLeaf {
    std::uint8_t form = leaf_form::list_end;
    std::uint32_t checksum = 7;
    std::string name;
    std::string struct_name;
    std::uint8_t key_size = 4;
    std::uint8_t key_order = 0;
    std::uint8_t quantisation = 0;
    std::vector<std::uint64_t> numbers;  ///< of the quantisation
};

struct ToldLayout {
    std::uint8_t version = layout_description_version;
    std::string name = "T";
    std::uint64_t string_bytes_max = 64;
    std::uint64_t array_count_max = 4;
    std::vector<ToldLeaf> leaves;  ///< and the ends of their lists

    [[nodiscard]] ToldLeaf& leaf(std::string_view leaf_name) {
        const auto found = std::find_if(leaves.begin(), leaves.end(), [&](const ToldLeaf& told) {
            return told.form != leaf_form::list_end && told.name == leaf_name;
        });
        REQUIRE(found != leaves.end());
        return *found;
    }

    [[nodiscard]] Bytes bytes() const {
        std::size_t bytes_max = 64;
        for (const ToldLeaf& told : leaves) {
            bytes_max += 64 + told.name.size() + told.struct_name.size();
        }
        ForgedDescription description(bytes_max);
        description.head(version, name, string_bytes_max, array_count_max);
        for (const ToldLeaf& told : leaves) {
            write_leaf(description, told);
        }
        return description.bytes();
    }

  private:
    static void write_leaf(ForgedDescription& description, const ToldLeaf& told) {
        if (told.form == leaf_form::list_end) {
            description.end();
            return;
        }
        description.leaf(told.form, told.checksum, told.name);
        if (told.form == leaf_form::net_serializer ||
            told.form == leaf_form::net_delta_serializer) {
            description.write_text(told.struct_name);
        } else if (told.form == leaf_form::keyed_array) {
            description.number(told.key_size, 8).number(told.key_order, 8);
        } else if (told.form == leaf_form::quantised) {
            description.quantisation(told.quantisation, told.numbers);
        }
    }
};

[[nodiscard]] inline ToldLayout tell(const RepLayout& layout) {
    const auto description = describe_layout(layout, std::pmr::get_default_resource());
    BitReader reader({description.data(), description.size()});
    const auto read_text = [&reader] {
        std::string text(reader.read_packed_uint(), '\0');
        reader.read_bytes(std::as_writable_bytes(std::span(text.data(), text.size())));
        return text;
    };
    const auto read_byte = [&reader] { return static_cast<std::uint8_t>(reader.read_bits(8)); };
    ToldLayout result;
    result.version = read_byte();
    result.name = read_text();
    result.string_bytes_max = reader.read_packed_uint();
    result.array_count_max = reader.read_packed_uint();
    while (reader.bits_left() > 0) {
        ToldLeaf leaf;
        leaf.form = read_byte();
        if (leaf.form != leaf_form::list_end) {
            leaf.checksum = static_cast<std::uint32_t>(reader.read_bits(32));
            leaf.name = read_text();
        }
        if (leaf.form == leaf_form::net_serializer ||
            leaf.form == leaf_form::net_delta_serializer) {
            leaf.struct_name = read_text();
        } else if (leaf.form == leaf_form::keyed_array) {
            leaf.key_size = read_byte();
            leaf.key_order = read_byte();
        } else if (leaf.form == leaf_form::quantised) {
            constexpr std::size_t number_counts[] = {0, 1, 0, 1, 1, 2, 3};  // by its form
            leaf.quantisation = read_byte();
            leaf.numbers.resize(number_counts[leaf.quantisation]);
            for (std::uint64_t& number : leaf.numbers) {
                number = reader.read_bits(64);
            }
        }
        result.leaves.push_back(std::move(leaf));
    }
    REQUIRE_FALSE(reader.failed());
    REQUIRE(result.bytes() == to_bytes({description.data(), description.size()}));
    return result;
}

}  // namespace replayout::test
