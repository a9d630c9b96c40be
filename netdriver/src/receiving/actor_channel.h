// SPDX-License-Identifier: MIT
//
// The receiving end of one object: what the server opened, updates and closes.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/rep_layout.h>

#include "reliable_receiver.h"

namespace replayout {

class ActorChannel {
  public:
    enum class State : std::uint8_t {
        Closed,   ///< nothing, or bunches that wait for the open
        Open,     ///< the object is there
        Refused,  ///< the world could not make it; what comes is checked and thrown away
        /// Closed, and the object is there, or refused, as before. All that is known of it is kept,
        /// and the channel opens again for no other; so a server that lets objects sleep without
        /// end takes no more memory than one that keeps them awake.
        Dormant,
    };

    ActorChannel(ReliableAccount& account, MemoryResource* resource)
        : receiver(account, resource), references(resource) {}

    [[nodiscard]] bool is_open() const noexcept {
        return state == State::Open || state == State::Refused;
    }

    State state = State::Closed;
    NetGUID guid;
    std::uint64_t class_number = 0;     ///< the server's, of an open, refused or dormant one
    const RepLayout* layout = nullptr;  ///< null while closed
    const RepLayout* local = nullptr;   ///< ours of its class; null while closed, or unknown here
    ObjectHandle object;                ///< null while closed, and when refused
    SpawnHandler* handler = nullptr;    ///< who made the object
    ObjectRole role;
    NetGUID outer;                 ///< of a subobject that is there
    std::uint64_t name_key = 0;    ///< of its stable name within that; 0: none
    NetGUID awaited;               ///< the outer that an open waits for; null: none does
    std::uint64_t name_hash = 0;   ///< of an object that is there under a stable name of its own
    bool is_destroyed = false;     ///< the server said so otherwise; its close is on the way
    bool is_carried_over = false;  ///< dormant, and the connection in its place did not open it
    bool is_closing = false;       ///< a close is here, and its open is not, or waits
    bool is_marked = false;        ///< it is in the list that is being collected
    std::uint32_t departure_number = 0;  ///< in the order in which objects despawn; 0: it stays
    std::uint8_t block_count = 0;        ///< that were read of `last_packet`
    std::uint32_t last_packet = 0;       ///< with a block of it, by the count of packets; wraps
    std::uint32_t reference_count = 0;   ///< that `references` had when it was counted last
    std::size_t value_bytes = 0;         ///< likewise
    /// Bytes of the object's arrays and texts: the last measure, and what they asked for since. So
    /// at most twice what they have.
    std::uint64_t dynamic_bytes = 0;
    std::uint64_t measured_bytes = 0;  ///< of these, when they were measured last
    ReliableReceiver receiver;
    ReceivingRepState references;
};

}  // namespace replayout
