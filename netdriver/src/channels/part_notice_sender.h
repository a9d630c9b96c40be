// SPDX-License-Identifier: MIT
//
// Parts that their outer makes itself, at both ends, and that were destroyed: a client that is not
// shown the end of one is told it by a message on the outer's channel, so behind its open, whatever
// is lost. While the outer is dormant that waits for it to wake, as all that happens to it does.
#pragma once

#include "closing_names.h"
#include "connection_pairs.h"
#include "object_store.h"
#include "packet_stream.h"
#include "part_notices.h"

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

    /// The names from `place` on, of the destroyed parts of an outer that the client has, are to be
    /// told.
    void add(ObjectIndex outer, std::size_t place) { notices_.add(outer, place); }
    /// There is a part of the name at `place` again; no_place: nothing happens.
    void forget_name(ObjectIndex outer, std::size_t place) noexcept {
        notices_.forget(outer, place);
    }
    /// The channel opens for an object that the client does not have.
    void object_opened(ObjectIndex index);
    /// The channel closes.
    void forget_object(ObjectIndex index) noexcept { notices_.erase(index); }
    /// As far as the window of bunches has room.
    void send_part_notices();
    void notice_delivered(ObjectIndex index) noexcept { notices_.delivered(index); }

    /// The client is to be told, or a message is under way.
    [[nodiscard]] bool is_telling(ObjectIndex index) const noexcept {
        return notices_.contains(index);
    }
    /// Nothing waits, but for objects to wake.
    [[nodiscard]] bool is_idle() const noexcept;

  private:
    Parts parts_;
    PartNotices notices_;
};

}  // namespace replayout
