// SPDX-License-Identifier: MIT
#include "connection_channel.h"

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

}  // namespace replayout::detail
