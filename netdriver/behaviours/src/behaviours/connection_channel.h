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

#include "collection_parts.h"

namespace replayout {

class NetworkPrefab;
class NetworkTypes;

namespace detail {

class ConnectionChannel final : public NetworkBehaviour {
  public:
    [[nodiscard]] static Result<const NetworkPrefab*> add_to(NetworkTypes& types);

    // They run on the server.
    void ready();
    void add_player();
    void not_ready_heard();
    void collections_wanted(const CollectionsWanted& wanted);

    // They run on the client.
    void spawn_started();
    void spawn_batch(const SpawnBatch& batch);
    void spawn_finished();
    void not_ready();
    void collection_part(const CollectionPart& part);
};

}  // namespace detail

}  // namespace replayout
