// SPDX-License-Identifier: MIT
//
// A layout as bytes, for a receiver whose class is of another version: enough to walk every block
// of it (docs/wire_format.md, "Descriptions").
//
//     sender     const Vector<std::byte> description = describe_layout(*pawn_layout, resource);
//     receiver   Result<std::unique_ptr<RepLayout>> layout = RepLayout::create_compatible(
//                    registry, pawn_layout, description, LayoutPolicy::SkipUnknown);
//                receive_properties(**layout, reader, &pawn, state, context);
//
// Canonical: two layouts have the same description exactly when they mean the same on the wire.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace replayout {

/// The first byte of a description. Grows with every change of the form.
inline constexpr std::uint8_t layout_description_version = 1;

/// From a byte boundary; the writer overflows where there is not enough room. `layout` must not be
/// receive-only.
void write_layout_description(const RepLayout& layout, BitWriter& writer);

/// The same in memory of its own.
[[nodiscard]] Vector<std::byte> describe_layout(const RepLayout& layout, MemoryResource* resource);

/// The name of the class that the bytes of a peer begin to describe; empty where they do not.
[[nodiscard]] std::string_view described_name(std::span<const std::byte> description) noexcept;

}  // namespace replayout
