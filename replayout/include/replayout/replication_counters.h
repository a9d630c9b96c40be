// SPDX-License-Identifier: MIT
//
// Exact counts of what replication did. Part of the interface: tests and benchmarks hold them, so
// they mean the same in every version.
#pragma once

#include <cstdint>

namespace replayout {

struct ReplicationCounters {
    std::uint64_t objects_compared = 0;    ///< by ChangelistState::update
    std::uint64_t objects_skipped = 0;     ///< not compared: nothing was marked, or they sleep
    std::uint64_t objects_changed = 0;     ///< of these, found something changed
    std::uint64_t properties_changed = 0;  ///< handles that differed, an array as one
    std::uint64_t serializer_calls = 0;    ///< property values encoded, an array as one
    std::uint64_t pieces_built = 0;        ///< values encoded into a shared buffer
    /// Values copied instead of being encoded, alone or in a payload.
    std::uint64_t pieces_reused = 0;
    std::uint64_t payloads_built = 0;   ///< blocks kept for the next receiver
    std::uint64_t payloads_reused = 0;  ///< blocks copied whole, alone or in a bundle
    std::uint64_t bundles_built = 0;    ///< rows of blocks laid down for all connections
    /// Of a bundle, or as much of it as went into one packet of one connection.
    std::uint64_t bundles_copied = 0;
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
};

}  // namespace replayout
