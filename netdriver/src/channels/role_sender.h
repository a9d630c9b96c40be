// SPDX-License-Identifier: MIT
//
// The role of this client to each object: told with the open, and by a message of the object's
// channel when it changes while that is open. One that changes while the object is dormant is told
// with the open by which it wakes.
#pragma once

#include <replayout/netdriver/transport.h>

#include "connection_pairs.h"
#include "packet_stream.h"
#include "told_roles.h"

#include <cstdint>

namespace replayout {

class RoleSender {
  public:
    RoleSender(const ObjectStore& objects, ConnectionPairs& pairs, PacketStream& packets,
               PeerId peer, MemoryMeters& memory);

    /// The object of that slot is something else to this connection from now on than it was.
    void ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                           const ObjectOwnership& after);
    /// As far as the window of bunches has room.
    void send_roles();
    /// The client was told, and may be told again.
    void role_delivered(ObjectIndex index) noexcept { told_roles_.delivered(index); }
    /// The channel closes.
    void forget_object(ObjectIndex index) noexcept { told_roles_.erase(index); }

    /// The client is to be told, or the message is under way.
    [[nodiscard]] bool is_telling(ObjectIndex index) const noexcept {
        return told_roles_.contains(index);
    }
    [[nodiscard]] bool is_idle() const noexcept { return told_roles_.is_empty(); }

  private:
    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    PacketStream& packets_;
    PeerId peer_;
    ToldRoles told_roles_;
};

}  // namespace replayout
