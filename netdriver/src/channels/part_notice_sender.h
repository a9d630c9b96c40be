// SPDX-License-Identifier: MIT
//
// Parts that their outer makes itself, at both ends, and that were destroyed: a client that is not
// shown the end of one is told it by a message on the outer's channel, so behind its open, whatever
// is lost. While the outer is dormant that waits for it to wake, as all that happens to it does.
#pragma once

#include <replayout/reflection/memory.h>

#include "closing_names.h"
#include "connection_pairs.h"
#include "object_store.h"
#include "packet_stream.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class PartNoticeSender {
  public:
    /// What it works with, all of which outlives it.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        PacketStream& packets;
        const ClosingNames& closing_names;
        const NetConfig& config;
    };
    PartNoticeSender(const Parts& parts, MemoryResource* resource);

    /// The names from `number` on, of the destroyed parts of an outer that the client has, are to
    /// be told.
    void add(ObjectIndex outer, std::size_t number) { notices_.emplace(outer, Notice{number, 0}); }
    /// There is a part of the name at `number` again, which is taken back; those after it move up.
    /// no_number: nothing happens.
    void forget_name(ObjectIndex outer, std::size_t number) noexcept;
    /// The channel opens for an object that the client does not have.
    void object_opened(ObjectIndex index);
    /// The channel closes.
    void forget_object(ObjectIndex index) noexcept { notices_.erase(index); }
    /// As far as the window of bunches has room.
    void send_part_notices();
    void notice_delivered(ObjectIndex index) noexcept { --notices_.at(index).under_way_count; }

    /// The client is to be told, or a message is under way.
    [[nodiscard]] bool is_telling(ObjectIndex index) const noexcept {
        return notices_.contains(index);
    }
    /// Nothing waits, and nothing is under way.
    [[nodiscard]] bool is_empty() const noexcept { return notices_.empty(); }
    /// Nothing waits, but for objects to wake.
    [[nodiscard]] bool is_idle() const noexcept;

  private:
    struct Notice {
        std::size_t next = 0;  ///< the first name that is not under way
        std::uint32_t under_way_count = 0;
    };
    /// Messages of one object at once: enough for a thousand names in a round trip, and few beside
    /// the other bunches of its channel.
    static constexpr std::uint32_t under_way_max = 32;

    Parts parts_;
    // By index of the outer, from which of its names on (ObjectStore::destroyed_parts_of). The
    // client was told all of one that is not here, or has not got it.
    FlatMap<ObjectIndex, Notice> notices_;
};

}  // namespace replayout
