// SPDX-License-Identifier: MIT
//
// The description of a layout, written leaf by leaf, so that it can say what no layout does.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/layout_description.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {

/// How a leaf travels, as on the wire.
namespace leaf_form {

inline constexpr std::uint8_t list_end = 0;
inline constexpr std::uint8_t bits8 = 2;
inline constexpr std::uint8_t bits16 = 3;
inline constexpr std::uint8_t bits32 = 4;
inline constexpr std::uint8_t text = 8;
inline constexpr std::uint8_t net_serializer = 10;
inline constexpr std::uint8_t dynamic_array = 11;
inline constexpr std::uint8_t optional = 12;
inline constexpr std::uint8_t quantised = 13;
inline constexpr std::uint8_t keyed_array = 14;
inline constexpr std::uint8_t net_delta_serializer = 15;

}  // namespace leaf_form

namespace quantisation_form {

inline constexpr std::uint8_t vector_steps = 1;
inline constexpr std::uint8_t normal_vector = 2;
inline constexpr std::uint8_t angles = 3;
inline constexpr std::uint8_t smallest_three = 4;
inline constexpr std::uint8_t integer_range = 5;
inline constexpr std::uint8_t real_steps = 6;

}  // namespace quantisation_form

/// What a sender says of a class, leaf by leaf.
class ForgedDescription {
  public:
    explicit ForgedDescription(std::string_view name, RepLimits limits = {64, 8}) {
        head(layout_description_version, name, limits.string_bytes_max, limits.array_count_max);
    }
    /// Of nothing, not even a name: head() comes first. So many bytes at most.
    explicit ForgedDescription(std::size_t bytes_max) : memory_(bytes_max) {}

    ForgedDescription& head(std::uint8_t version, std::string_view name,
                            std::uint64_t string_bytes_max, std::uint64_t array_count_max) {
        return number(version, 8).write_text(name).packed(string_bytes_max).packed(array_count_max);
    }

    ForgedDescription& leaf(std::uint8_t form, std::uint32_t checksum, std::string_view name) {
        writer_.write_bits(form, 8);
        writer_.write_bits(checksum, 32);
        write_text(name);
        return *this;
    }
    ForgedDescription& number(std::uint64_t number, std::uint32_t bit_count) {
        writer_.write_bits(number, bit_count);
        return *this;
    }
    ForgedDescription& packed(std::uint64_t number) {
        writer_.write_packed_uint(number);
        return *this;
    }
    ForgedDescription& write_text(std::string_view name) {
        writer_.write_packed_uint(name.size());
        writer_.write_bytes(std::as_bytes(std::span(name.data(), name.size())));
        return *this;
    }
    ForgedDescription& quantisation(std::uint8_t form, const std::vector<std::uint64_t>& numbers) {
        writer_.write_bits(form, 8);
        for (const std::uint64_t each : numbers) {
            writer_.write_bits(each, 64);
        }
        return *this;
    }
    /// Of an element, or of all.
    ForgedDescription& end() {
        writer_.write_bits(leaf_form::list_end, 8);
        return *this;
    }
    [[nodiscard]] Bytes bytes() const {
        REQUIRE_FALSE(writer_.overflowed());
        return to_bytes(writer_.bytes());
    }

  private:
    Bytes memory_ = Bytes(1 << 20);
    BitWriter writer_{memory_};
};

}  // namespace replayout::test
