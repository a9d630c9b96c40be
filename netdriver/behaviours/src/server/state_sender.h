// SPDX-License-Identifier: MIT
//
// Hands what changed in spawned objects to the driver: with each late_update() the components whose
// sync interval is over, and ahead of a call all components of the object that is called.
//
//     SyncVars                           their properties are marked
//     collections                        operations go by calls, and the items are marked
//     behaviours that write themselves   one section goes by a call, and the initial one is marked
//
// What finds no room in the calls waits for the next late_update().
#pragma once

#include <replayout/behaviours/network_server.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "inside.h"
#include "part_of.h"

namespace replayout {

class NetworkServer::StateSender : detail::PartOf<detail::ServerParts> {
  public:
    using PartOf::PartOf;

    /// The object was spawned: clients are sent all that its components have, so nothing of it
    /// waits.
    void begin(NetworkIdentity& object);
    /// A component of the object changed.
    void add(NetworkIdentity& object) {
        if (!std::exchange(detail::Inside::of(object).is_queued, true)) {
            changed_.push_back(&object);
        }
    }
    /// With each late_update().
    void send_changed();
    /// Sends what the object holds back, whatever its sync intervals are, before the call made
    /// next. False: a part of it found no room.
    [[nodiscard]] bool send_ahead(NetworkIdentity& object);
    /// The object is about to be unspawned: behaviours that write themselves do so once more, for
    /// clients that still get the object with its reliable calls.
    void keep_last_sections(NetworkIdentity& object);
    /// Forgets the objects that are gone. Call it before they are freed.
    void forget_gone() { detail::erase_gone(changed_); }

  private:
    void send(NetworkIdentity& object, detail::ObjectComponent& component);
    void mark_sync_vars(NetworkIdentity& object, detail::ObjectComponent& component);
    void send_collections(NetworkIdentity& object, detail::ObjectComponent& component);
    void send_section(NetworkIdentity& object, detail::ObjectComponent& component);
    /// False: nothing is to be sent, or not now.
    [[nodiscard]] bool write_section(detail::ObjectComponent& component);

    std::vector<NetworkIdentity*> changed_;
    std::vector<NetworkIdentity*> sending_;      // in send_changed()
    std::unique_ptr<std::byte[]> section_room_;  // made with the first section
    bool is_sending_ = false;                    // a behaviour that writes itself may be running
};

}  // namespace replayout
