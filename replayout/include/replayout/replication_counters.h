// SPDX-License-Identifier: MIT
//
// Exact counts of what replication did. Part of the interface: tests and benchmarks hold them, so
// they mean the same in every version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

/// Why a block was written for its receiver, and not copied from what was laid down before for
/// another one. Each block that is sent and not copied whole has exactly one reason: the first of
/// these that holds.
enum class BlockMiss : std::uint8_t {
    SharingOff,  ///< whole blocks are not shared at this SharingLevel
    WithCall,    ///< it goes with a remote call that names the object
    /// A part of what no packet holds, a value that no packet holds, or what is sent of an object
    /// while one is under way.
    TooLarge,
    NotShared,      ///< a property of the class is not shared, or its serializer failed
    Lost,           ///< it brings what its receiver lost
    FirstUse,       ///< nothing of the object's newest version was laid down yet
    NewReceiver,    ///< the first block that its receiver gets of the object
    OtherPosition,  ///< others, whose block is kept, were owed something else
};
inline constexpr std::size_t block_miss_count = 8;
using BlockMisses = std::array<std::uint64_t, block_miss_count>;

/// The enumerator's name.
[[nodiscard]] std::string_view to_string(BlockMiss miss) noexcept;

struct ReplicationCounters {
    std::uint64_t objects_compared = 0;    ///< by ChangelistState::update
    std::uint64_t objects_skipped = 0;     ///< not compared: nothing was marked, or they sleep
    std::uint64_t objects_changed = 0;     ///< of these, found something changed
    std::uint64_t properties_changed = 0;  ///< handles that differed, an array as one
    /// Property values encoded, an array as one. Plain memory counts, too.
    std::uint64_t values_encoded = 0;
    /// Calls of the game's net_serialize and net_delta_serialize to write a value, for each struct
    /// in an array one. Those that validate (SendContext::is_validating) do not count.
    std::uint64_t serializer_calls = 0;
    /// Values encoded into a shared buffer. Plain memory is not: its shadow is copied instead.
    std::uint64_t pieces_built = 0;
    /// Values copied instead of being encoded, alone or in a payload.
    std::uint64_t values_reused = 0;
    std::uint64_t payloads_built = 0;   ///< blocks kept for the next receiver
    std::uint64_t payloads_reused = 0;  ///< blocks copied whole, alone or in a bundle
    std::uint64_t bundles_built = 0;    ///< bundles laid down for all connections
    /// Of a bundle, or as much of it as went into one packet of one connection.
    std::uint64_t bundles_copied = 0;
    /// Flushes in which a connection was sent a copy of what another one was sent.
    std::uint64_t flushes_copied = 0;
    /// Blocks in bundles that were looked at one by one, when sent and again when delivered,
    /// because a call or a join asked at which version the client's copy of the object is complete.
    std::uint64_t blocks_accounted = 0;
    /// Values encoded for one receiver, sharing being on: EncodeReason::NotShared.
    std::uint64_t values_unshared = 0;
    std::uint64_t values_over_limit = 0;  ///< left out, once a compare: see RepLimits; or not UTF-8
    std::uint64_t values_failed = 0;      ///< left out, once a try: net_serialize said ok = false
    std::uint64_t values_unmapped = 0;    ///< sent as "not fully mapped" at the receiver
    std::uint64_t marks_missed = 0;  ///< found by a debug mode, once a look: changed, not marked
    std::uint64_t serializers_impure = 0;  ///< found by SendContext::is_validating, once a value
    std::uint64_t properties_sent = 0;     ///< values put into blocks, for all receivers
    std::uint64_t blocks_sent = 0;
    std::uint64_t block_bytes_sent = 0;
    BlockMisses block_misses{};  ///< by BlockMiss: blocks sent that were not copied whole

    void count_miss(BlockMiss miss) noexcept { ++block_misses[static_cast<std::size_t>(miss)]; }
    /// Blocks sent that were copied whole. payloads_reused counts parameters of calls as well.
    [[nodiscard]] std::uint64_t block_hits() const noexcept {
        std::uint64_t hits = blocks_sent;
        for (const std::uint64_t count : block_misses) {
            hits -= count;
        }
        return hits;
    }
};

}  // namespace replayout
