// SPDX-License-Identifier: MIT
//
// What two ends say about a layout of which they have different ones (docs/wire_format.md, section
// 10), so that the log of each names the first difference:
//
//     10 refused layout   u32 name hash, explanation up to the end: of a server that refuses a
//     client 11 difference       u8 aspect, four texts: what the client found, before its goodbye
#pragma once

#include <replayout/layout_difference.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace replayout {

/// A layout with a longer explanation is refused with a goodbye alone.
inline constexpr std::size_t explanation_bytes_max = 16 * 1'024;

struct RefusedLayout {
    std::uint32_t name_hash = 0;
    /// Lies in the message. Empty: the server has no layout of a class with that name.
    std::span<const std::byte> explanation;
};

[[nodiscard]] Vector<std::byte> refused_layout_message(const RefusedLayout& refused,
                                                       MemoryResource* resource);
/// The explanation is not looked at.
[[nodiscard]] bool read_refused_layout(std::span<const std::byte> message,
                                       RefusedLayout& refused) noexcept;

/// A difference with the class that it is of.
struct ClassDifference {
    std::string class_name;
    LayoutDifference difference;
};

/// Texts are cut, so that the message is no longer than `bytes_max`, which is 32 or more.
[[nodiscard]] Vector<std::byte> layout_difference_message(const ClassDifference& difference,
                                                          std::size_t bytes_max,
                                                          MemoryResource* resource);
/// `here` is what it is at the end that receives it. A text may hold anything.
[[nodiscard]] bool read_layout_difference(std::span<const std::byte> message,
                                          ClassDifference& difference);

}  // namespace replayout
