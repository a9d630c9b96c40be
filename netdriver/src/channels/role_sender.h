// SPDX-License-Identifier: MIT
//
// The role of this client to each object: told with the open, and by a message of the object's
// channel when it changes while that is open. One that changes while the object is dormant is told
// with the open by which it wakes. One message of a channel is under way at a time, so that a game
// that changes owners in each tick does not fill the channel; the client hears of the last one.
#pragma once

#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include "connection_pairs.h"
#include "packet_stream.h"

#include <cstdint>

namespace replayout {

class RoleSender {
  public:
    RoleSender(const ObjectStore& objects, ConnectionPairs& pairs, PacketStream& packets,
               PeerId peer, MemoryResource* resource);

    /// The object of that slot is something else to this connection from now on than it was.
    void ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                           const ObjectOwnership& after);
    /// As far as the window of bunches has room.
    void send_roles();
    /// The client was told, and may be told again.
    void role_delivered(ObjectIndex index) noexcept;
    /// The channel closes.
    void forget_object(ObjectIndex index) noexcept { told_roles_.erase(index); }

    /// The client is to be told, or the message is under way.
    [[nodiscard]] bool is_telling(ObjectIndex index) const noexcept {
        return told_roles_.contains(index);
    }
    [[nodiscard]] bool is_idle() const noexcept { return told_roles_.empty(); }

  private:
    struct ToldRole {
        ObjectRole told;
        bool is_under_way = false;
    };

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    PacketStream& packets_;
    PeerId peer_;
    FlatMap<ObjectIndex, ToldRole> told_roles_;  // of the objects that changed since their open
};

}  // namespace replayout
