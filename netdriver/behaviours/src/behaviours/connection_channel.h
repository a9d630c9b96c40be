// SPDX-License-Identifier: MIT
//
// The object by which a client and its server speak of the connection itself: ready, players, and
// the initial batch. One for each client, which owns it and alone is sent it. A behaviour like any
// other, so these messages are remote functions: reliable, in order, and behind the objects that
// they name.
//
//     client                          server
//       ready             ---->         set_client_ready
//       spawn_started     <----         ... and all objects that it is to see are on their way
//       spawn_batch       <----         names some of them: runs once they are there
//       spawn_finished    <----
//       add_player        ---->         on_server_add_player
//       not_ready         <----         set_client_not_ready
//       not_ready_heard   ---->         hides objects, which the client keeps
//       collections_wanted  ---->       ... and their items (collection_parts.h)
//       collection_part   <----
#pragma once

#include <replayout/behaviours/network_behaviour.h>
#include <replayout/reflection/error.h>

#include "client_parts.h"
#include "collection_parts.h"
#include "server_parts.h"

namespace replayout {

class NetworkPrefab;
class NetworkTypes;

namespace detail {

class ConnectionChannel final : public NetworkBehaviour {
  public:
    [[nodiscard]] static Result<const NetworkPrefab*> add_to(NetworkTypes& types);

    // They run on the server.
    void ready() { server_parts_of(identity()).phases.ready(identity().connection_to_client()); }
    void add_player() {
        server_parts_of(identity()).phases.add_player(identity().connection_to_client());
    }
    void not_ready_heard() {
        server_parts_of(identity()).phases.not_ready_heard(identity().connection_to_client());
    }
    void collections_wanted(const CollectionsWanted& wanted) {
        server_parts_of(identity()).part_sender.wanted(identity().connection_to_client(), wanted);
    }

    // They run on the client.
    void spawn_started() { client_parts_of(identity()).readiness.spawn_started(); }
    /// That it ran is all: the objects that it names are there.
    void spawn_batch(const SpawnBatch& /*batch*/) {}
    void spawn_finished() { client_parts_of(identity()).readiness.spawn_finished(); }
    void not_ready() { client_parts_of(identity()).readiness.not_ready(); }
    void collection_part(const CollectionPart& part) {
        client_parts_of(identity()).wanted.part_received(part);
    }
};

}  // namespace detail

}  // namespace replayout
