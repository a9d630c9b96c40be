// SPDX-License-Identifier: MIT
//
// What a description says, checked, before it is held against a layout of this side.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/layout_description.h>

#include <string>
#include <vector>

namespace replayout {

/// How a leaf travels. The number is part of the wire: append only.
enum class LeafForm : std::uint8_t {
    End,  ///< no leaf: ends a list of them
    Bit,
    Bits8,
    Bits16,
    Bits32,
    Bits64,
    ThreeFloats,
    FourFloats,
    Text,
    Reference,
    NetSerializer,
    DynamicArray,
    Optional,
    Quantised,
    KeyedArray,
    NetDeltaSerializer,
};

[[nodiscard]] LeafForm leaf_form_of(const RepLayoutCmd& cmd) noexcept;

/// A leaf, or the end of a list. Texts lie in the description.
struct DescribedCmd {
    LeafForm form = LeafForm::End;
    std::uint32_t checksum = 0;
    std::uint32_t end = 0;  ///< one past it and, of an array, its element
    std::string_view name;
    std::string_view struct_name;  ///< of a struct
    Quantisation quantisation;     ///< form Quantised
    ArrayKey array_key;            ///< form KeyedArray: size and order
};

struct LayoutDescription {
    std::string_view name;
    RepLimits limits;
    std::vector<DescribedCmd> cmds;
};

void write_described_text(BitWriter& writer, std::string_view text);
/// A text of a description: fails where it is none, or not UTF-8. It lies in what is read.
[[nodiscard]] std::string_view read_described_text(BitReader& reader) noexcept;

/// Refused: what is not such a description, and what no layout can be.
[[nodiscard]] Result<LayoutDescription> read_layout_description(
    std::span<const std::byte> description);

/// Names of leaves by command, each from its scope on ("last_hit.bone", "muzzle[1]"; empty for an
/// element that is no struct).
[[nodiscard]] std::vector<std::string> leaf_names(const RepLayout& layout);

/// The numbers of a quantisation, as the fingerprint has them. Returns how many.
[[nodiscard]] std::uint32_t quantisation_numbers(const Quantisation& quantisation,
                                                 std::uint64_t (&numbers)[3]) noexcept;

}  // namespace replayout
