// SPDX-License-Identifier: MIT
//
// Flattening of a type into commands. The only code that recurses over types; their depth was
// bounded when they were registered.
#pragma once

#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace replayout {

// Handles and commands are 16 bit; one value each is kept free as a sentinel.
inline constexpr std::size_t cmd_count_max = 65'534;

// Handles inside one array: 2,048 elements of 512 leaves. A set of them is 128 KiB, which is what a
// few bytes from a peer can make a receiver touch.
inline constexpr std::uint64_t array_handles_max = 1'048'576;

/// Where in the elements of a keyed array something lies; of anything else nothing is a key.
struct KeyLocation {
    const ArrayKey* key = nullptr;
    std::uint32_t offset = 0;  ///< in the element, bytes

    [[nodiscard]] KeyLocation within(std::uint32_t inner) const noexcept {
        return {key, offset + inner};
    }
    /// The property, which lies here, is what tells the elements apart: no leaf.
    [[nodiscard]] bool is_of(const Property& property) const noexcept {
        return key != nullptr && *key && property.array_dim == 1 && is_plain(property.kind) &&
               property.size == key->size && offset == key->offset;
    }
};

/// Flattens the type. Requires that its registry is frozen.
[[nodiscard]] Result<std::unique_ptr<RepLayout>> build_layout(const Type& type,
                                                              const RepLayoutOptions& options,
                                                              MemoryResource* resource);

/// Shadow memory that a leaf of this type takes; for a NetSerializer struct that of the struct.
struct ShadowFootprint {
    std::uint32_t size;       ///< bytes
    std::uint32_t alignment;  ///< bytes
};
[[nodiscard]] ShadowFootprint shadow_footprint(RepLayoutCmdType type, const Property& property);

/// The quantisation as the fingerprint has it.
void describe_quantisation(const Quantisation& quantisation, Fingerprint& description);

/// Builds the archetype's shadow from an object, or from a default-constructed one.
[[nodiscard]] Status make_archetype(const RepLayout& layout, const void* archetype,
                                    MemoryResource* resource, std::unique_ptr<ShadowState>& result);

}  // namespace replayout
