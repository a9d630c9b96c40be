// SPDX-License-Identifier: MIT
#include "connection_channel.h"

#include "client_parts.h"
#include "server_parts.h"
#include "wanted_collections.h"

#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/reflection/type_builder.h>

namespace replayout::detail {

Result<const NetworkPrefab*> ConnectionChannel::add_to(NetworkTypes& types) {
    const Result<const Type*> batch = struct_builder<SpawnBatch>(types.registry(), "SpawnBatch")
                                          .property<&SpawnBatch::objects>()
                                          .build();
    if (!batch) {
        return batch.error();
    }
    const Result<const BehaviourType*> type =
        BehaviourBuilder<ConnectionChannel>(types, "NetworkConnection")
            .command<&ConnectionChannel::ready>()
            .command<&ConnectionChannel::add_player>()
            .command<&ConnectionChannel::not_ready_heard>()
            .command<&ConnectionChannel::collections_wanted>()
            .target_rpc<&ConnectionChannel::spawn_started>()
            .target_rpc<&ConnectionChannel::spawn_batch>()
            .target_rpc<&ConnectionChannel::spawn_finished>()
            .target_rpc<&ConnectionChannel::not_ready>()
            .target_rpc<&ConnectionChannel::collection_part>()
            .build();
    if (!type) {
        return type.error();
    }
    return types.add_prefab("NetworkConnection", {{*type}});
}

void ConnectionChannel::ready() {
    server_parts_of(identity()).phases.ready(identity().connection_to_client());
}

void ConnectionChannel::add_player() {
    server_parts_of(identity()).phases.add_player(identity().connection_to_client());
}

void ConnectionChannel::not_ready_heard() {
    server_parts_of(identity()).phases.not_ready_heard(identity().connection_to_client());
}

void ConnectionChannel::collections_wanted(const CollectionsWanted& wanted) {
    server_parts_of(identity()).part_sender.wanted(identity().connection_to_client(), wanted);
}

void ConnectionChannel::spawn_started() {
    client_parts_of(identity()).readiness.spawn_started();
}

void ConnectionChannel::spawn_batch(const SpawnBatch& /*batch*/) {
    // That it ran is all: the objects that it names are there.
}

void ConnectionChannel::spawn_finished() {
    client_parts_of(identity()).readiness.spawn_finished();
}

void ConnectionChannel::not_ready() {
    client_parts_of(identity()).readiness.not_ready();
}

void ConnectionChannel::collection_part(const CollectionPart& part) {
    client_parts_of(identity()).wanted.part_received(part);
}

}  // namespace replayout::detail
