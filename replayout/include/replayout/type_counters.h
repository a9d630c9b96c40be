// SPDX-License-Identifier: MIT
//
// Exact counts of what the properties of one type cost, and why a value was encoded although values
// are shared. Counted where SendContext::type_counters says so, and nowhere else; never changes a
// byte.
//
// The sums over all properties are those of ReplicationCounters:
//
//     values_encoded   the calls of all reasons
//     values_unshared  those with the reason NotShared
//     serializer_calls serializer_calls
//     pieces_built     pieces_built
//     values_reused    values_reused + payload_reuses
//     properties_sent  values_sent
//
// and so are, over all types, payloads, blocks, block_bytes and block_misses.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>
#include <replayout/replication_counters.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace replayout {

/// Why a value was encoded and not copied. Each value that was encoded has exactly one reason.
enum class EncodeReason : std::uint8_t {
    SharingOff,  ///< the driver does not share
    /// The property is not shared (a NetSerializer without the promise), or its bits depend on what
    /// this receiver holds as on no other's (an array of which it lost several parts).
    NotShared,
    FirstUse,       ///< no piece of it is kept
    ValueChanged,   ///< the piece kept is of an older value
    OtherPosition,  ///< an array: what is kept answers what other receivers are owed
    Cut,            ///< some elements of an array, for a part of a large object
    Measured,       ///< only to learn how long it is, before an object is cut
};
inline constexpr std::size_t encode_reason_count = 7;

/// The enumerator's name.
[[nodiscard]] std::string_view to_string(EncodeReason reason) noexcept;

struct PropertyCounters {
    /// How often it was encoded, by EncodeReason.
    std::array<std::uint64_t, encode_reason_count> encoded{};
    std::uint64_t serializer_calls = 0;  ///< see ReplicationCounters
    std::uint64_t pieces_built = 0;    ///< how often its bits were kept: not those of plain memory
    std::uint64_t values_reused = 0;   ///< copied alone
    std::uint64_t payload_reuses = 0;  ///< copied with a whole block
    std::uint64_t values_sent = 0;     ///< in blocks, for all receivers
    /// Of the values sent that were encoded or copied alone. A value that was copied with a whole
    /// block has no bits of its own there: payload_bytes_reused of the type counts these blocks.
    std::uint64_t bits_sent = 0;
    std::uint64_t bits_copied = 0;  ///< of these, those of values that were copied alone

    [[nodiscard]] std::uint64_t values_encoded() const noexcept {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : encoded) {
            sum += count;
        }
        return sum;
    }
};

struct TypeCounters {
    TypeCounters(const RepLayout& counted, MemoryResource* resource)
        : layout(&counted), properties(Allocator<PropertyCounters>(resource)) {
        properties.resize(counted.handle_count());
    }

    [[nodiscard]] PropertyCounters& of(RepHandle handle) noexcept {
        return properties[handle.value - 1];
    }

    /// A value stands in a block that was sent, and was not copied there with all the block.
    void count_sent(RepHandle handle, std::uint64_t bits, std::uint64_t bits_copied) noexcept {
        PropertyCounters& property = of(handle);
        ++property.values_sent;
        property.bits_sent += bits;
        property.bits_copied += bits_copied;
    }
    /// `block`, as it stands on the wire, was copied whole. `handles` becomes what is in it.
    void count_payload_reuse(std::span<const std::byte> block, ChangeMask& handles);
    void count_miss(BlockMiss miss) noexcept { ++block_misses[static_cast<std::size_t>(miss)]; }

    const RepLayout* layout;
    Vector<PropertyCounters> properties;  ///< by handle
    std::uint64_t payloads_built = 0;
    std::uint64_t payloads_reused = 0;
    std::uint64_t payload_bytes_reused = 0;
    std::uint64_t blocks_sent = 0;
    std::uint64_t block_bytes_sent = 0;
    BlockMisses block_misses{};  ///< by BlockMiss: blocks sent that were not copied whole
};

}  // namespace replayout
