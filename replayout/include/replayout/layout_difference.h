// SPDX-License-Identifier: MIT
//
// The first difference between two layouts of one class, for the logs of two ends that refuse each
// other. One end explains its layout, the other one finds the difference and returns it
// (docs/wire_format.md, "Explanations"):
//
//     one end     const Vector<std::byte> explanation = explain_layout(*pawn_layout, resource);
//     the other   const auto difference = find_layout_difference(*pawn_layout, explanation);
//                 log(LogLevel::Warning, to_sentence(*difference));
//                     property "health": int32 here, int16 there
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace replayout {

/// In what two layouts differ. The number is part of the wire: append only.
enum class LayoutAspect : std::uint8_t {
    Class = 1,     ///< one end lacks the class
    Presence,      ///< one end lacks the property
    Name,          ///< a property of another name in its place
    Order,         ///< the same properties in another order
    Kind,          ///< of a property, also of an element of an array
    Quantisation,  ///< how a property is quantised, or that it is not
    Struct,        ///< the name of a struct with a serializer
    Key,           ///< the key of a keyed array
    TextLimit,     ///< RepLimits::string_bytes_max; the property is the first text
    ArrayLimit,    ///< RepLimits::array_count_max; the property is the first array
    Function,      ///< a function that can be called remotely
    Other,         ///< none of these: the bounds of structs and bases, the name of a key
};
inline constexpr std::uint8_t layout_aspect_count = 12;

struct LayoutDifference {
    LayoutAspect aspect = LayoutAspect::Other;
    std::string name{};   ///< of the property or function; empty where there is none
    std::string here{};   ///< what it is at this end; empty: missing
    std::string there{};  ///< ... at the other end

    /// As the other end sees it.
    [[nodiscard]] LayoutDifference from_there() const { return {aspect, name, there, here}; }
};

/// Bytes of each text of a difference; longer texts are cut.
inline constexpr std::size_t difference_text_bytes_max = 128;

/// The layout with what its description leaves out: kinds and functions. `layout` must not be
/// receive-only.
[[nodiscard]] Vector<std::byte> explain_layout(const RepLayout& layout, MemoryResource* resource);

/// Compares the explanation of a peer with our layout of the class. Returns an error if the bytes
/// are no explanation, and LayoutAspect::Other if the explanation shows no difference.
[[nodiscard]] Result<LayoutDifference> find_layout_difference(
    const RepLayout& ours, std::span<const std::byte> explanation);
/// The same for a description alone (replayout/layout_description.h), which has no functions, and
/// only the widths of numbers.
[[nodiscard]] Result<LayoutDifference> find_described_difference(
    const RepLayout& ours, std::span<const std::byte> description);

/// The name of the class that is explained; it lies in the explanation. Returns an error if the
/// bytes are no explanation.
[[nodiscard]] Result<std::string_view> explained_name(std::span<const std::byte> explanation);

/// A sentence without its full stop, which prints as it is: `property "health": int32 here, int16
/// there`.
[[nodiscard]] std::string to_sentence(const LayoutDifference& difference);

}  // namespace replayout
