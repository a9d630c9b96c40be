// SPDX-License-Identifier: MIT
//
// The objects that the server shows to a client, by net id, as they come and go.
//
//     spawn()      an object of SpawnSources gets a net id, its values, and its entry here
//     start_all()  the objects that came are started: in order of their ids, once the initial batch
//                  is there. A call that cannot wait any longer starts its object earlier
//     despawn()    the object is unspawned: stop callbacks run, and it returns to its source. A
//                  client that is not ready keeps its objects, until it is known whether they are
//                  shown again
//
// And their roles: which ones the client owns, and which one is its local player. Callbacks run
// when a role begins or ends.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/net_world.h>

#include <cstdint>
#include <map>
#include <vector>

#include "part_of.h"

namespace replayout {

class NetworkClient::SpawnedObjects : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    /// Null: no object of that id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept {
        const auto found = spawned_.find(net_id);
        return found == spawned_.end() ? nullptr : found->second;
    }
    /// Null: there is none.
    [[nodiscard]] NetworkIdentity* local_player() const noexcept { return local_player_; }
    /// The object ends within the driver's call that is under way.
    [[nodiscard]] bool is_leaving(ObjectHandle handle) const noexcept;

    /// An object with a net id and the values with which it begins, which is not shown. Null: there
    /// is none, which was logged.
    [[nodiscard]] NetworkIdentity* prepare(const SpawnInfo& info);
    /// As prepare(); the object is shown.
    [[nodiscard]] NetworkIdentity* spawn(const SpawnInfo& info);
    /// What the driver received is complete. Starts the objects if `is_spawn_finished`; then hooks
    /// and calls that waited run, also those of objects that were shown all the while.
    void start_all(bool is_spawn_finished);
    /// Starts one object before the batch is whole. False: it ended.
    [[nodiscard]] bool start_early(NetworkIdentity& object);
    void despawn(NetworkIdentity& object, ChannelCloseReason reason);
    /// The server gave the object another role.
    void role_changed(NetworkIdentity& object, const ObjectRole& role);
    /// Ends objects that were kept and are not shown again.
    void unspawn_kept();
    /// The connection ended.
    void unspawn_all();

  private:
    [[nodiscard]] NetworkIdentity* find_or_take(const SpawnInfo& info);
    /// Runs the callbacks of what begins and ends with `role`.
    void tell(NetworkIdentity& object, const ObjectRole& role);
    /// The object is the local player no longer.
    void forget_player(const NetworkIdentity& object);
    /// Tells the object that it is there, and then runs the calls that waited for that.
    void start(NetworkIdentity& object);
    /// Tells the object that it ends here, and gives it back to its source.
    void unspawn(NetworkIdentity& object, ChannelCloseReason reason);

    std::map<std::uint64_t, NetworkIdentity*> spawned_;
    std::vector<NetworkIdentity*> spawned_now_;  // in this early_update(), to be started
    NetworkIdentity* local_player_ = nullptr;
};

}  // namespace replayout
