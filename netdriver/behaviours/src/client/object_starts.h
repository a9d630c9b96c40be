// SPDX-License-Identifier: MIT
//
// Starts the objects that came: in order of their ids, once the initial batch is there. A call that
// cannot wait any longer starts its object earlier.
#pragma once

#include <replayout/behaviours/network_client.h>

#include <vector>

#include "part_of.h"

namespace replayout {

class NetworkClient::ObjectStarts : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    void object_spawned(NetworkIdentity& object) { spawned_now_.push_back(&object); }
    void forget(const NetworkIdentity& object) { std::erase(spawned_now_, &object); }
    /// What the driver received is complete. Starts the objects if `is_spawn_finished`; then hooks
    /// and calls that waited run, also those of objects that were shown all the while.
    void start_all(bool is_spawn_finished);
    /// Starts one object before the batch is whole. False: it ended.
    [[nodiscard]] bool start_early(NetworkIdentity& object);

  private:
    /// Tells the object that it is there, and then runs the calls that waited for that.
    void start(NetworkIdentity& object);

    std::vector<NetworkIdentity*> spawned_now_;  // in this early_update(), to be started
};

}  // namespace replayout
