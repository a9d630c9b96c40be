// SPDX-License-Identifier: MIT
#include "spawn_sources.h"

#include "client_parts.h"
#include "inside.h"
#include "scene_name.h"

#include <replayout/behaviours/network_prefab.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

bool NetworkClient::SpawnSources::register_handler(std::uint32_t asset_id,
                                                   NetworkSpawnHandler handler) {
    if (parts_.types.find_prefab(asset_id) == nullptr || !handler.spawn || !handler.unspawn) {
        log(LogLevel::Error,
            "a spawn handler needs the asset id of a prefab, and two functions: "
            "asset id " +
                std::to_string(asset_id) +
                (parts_.types.find_prefab(asset_id) == nullptr ? " is that of no prefab"
                                                               : " has a function missing"));
        return false;
    }
    const bool is_new = handlers_.insert_or_assign(asset_id, std::move(handler)).second;
    if (!is_new) {
        log(LogLevel::Warning, "a spawn handler takes the place of another");
    }
    return true;
}

NetworkIdentity& NetworkClient::SpawnSources::add_scene_object(const NetworkPrefab& prefab,
                                                               std::uint64_t scene_id) {
    NetworkIdentity& object = parts_.objects.make_of_scene(prefab, scene_id);
    if (scene_id != 0 && !scene_objects_.emplace(scene_id, &object).second) {
        log(LogLevel::Error, "a scene has two objects of id " + std::to_string(scene_id) +
                                 ": the second, of prefab \"" + prefab.name() +
                                 "\", is never spawned");
    }
    return object;
}

NetworkIdentity* NetworkClient::SpawnSources::take(const SpawnInfo& info) {
    if (!info.parameters.stable_name.empty()) {
        return take_scene_object(info);
    }
    const NetworkPrefab* const prefab = prefab_of(info.layout);
    REPLAYOUT_ASSERT(prefab != nullptr);
    return make(*prefab, info);
}

NetworkIdentity* NetworkClient::SpawnSources::take_scene_object(const SpawnInfo& info) {
    const std::uint64_t scene_id = SceneName::parse(info.parameters.stable_name);
    const auto found = scene_objects_.find(scene_id);
    if (found == scene_objects_.end() || &found->second->prefab().layout() != &info.layout) {
        const std::string here =
            found == scene_objects_.end()
                ? std::string("that this client does not have")
                : "that is of prefab \"" + found->second->prefab().name() + "\" here";
        const NetworkPrefab* const prefab = prefab_of(info.layout);
        parts_.log.write_failure(
            &NetworkClientCounters::scene_objects_missing,
            "the server spawned an object of a scene " + here + ": scene id " +
                std::to_string(scene_id) + ", prefab \"" + std::string(info.layout.name()) + "\"" +
                (prefab == nullptr ? std::string()
                                   : " (asset id " + std::to_string(prefab->asset_id()) + ")"));
        return nullptr;
    }
    NetworkIdentity* object = found->second;
    scene_objects_.erase(found);
    return object;
}

NetworkIdentity* NetworkClient::SpawnSources::make(const NetworkPrefab& prefab,
                                                   const SpawnInfo& info) {
    const auto handler = handlers_.find(prefab.asset_id());
    if (handler == handlers_.end()) {
        return &parts_.objects.make(prefab);
    }
    const auto spawn = handler->second.spawn;  // It may unregister itself.
    NetworkIdentity* made = spawn(parts_.client, info);
    // Only an object of this client may be looked into.
    if (made == nullptr || !parts_.objects.contains(made) || made->is_spawned() ||
        detail::Inside::of(*made).is_gone || &made->prefab() != &prefab) {
        parts_.log.write_failure(&NetworkClientCounters::handlers_failed,
                                 "the spawn handler of prefab \"" + prefab.name() +
                                     "\" (asset id " + std::to_string(prefab.asset_id()) +
                                     ") gave no free object of it that this client made");
        return nullptr;
    }
    return made;
}

const NetworkPrefab* NetworkClient::SpawnSources::prefab_of(
    const RepLayout& layout) const noexcept {
    const auto found =
        std::find_if(parts_.types.prefabs().begin(), parts_.types.prefabs().end(),
                     [&](const auto& candidate) { return &candidate->layout() == &layout; });
    return found == parts_.types.prefabs().end() ? nullptr : found->get();
}

void NetworkClient::SpawnSources::give_back(NetworkIdentity& object, ChannelCloseReason reason) {
    if (object.scene_id() != 0) {
        detail::Inside::of(object).components.restore_own_values();
        scene_objects_.insert_or_assign(object.scene_id(), &object);
        return;
    }
    const auto handler = handlers_.find(object.asset_id());
    if (handler != handlers_.end()) {
        const auto unspawn = handler->second.unspawn;  // It may unregister itself.
        unspawn(parts_.client, object, reason);
        return;
    }
    parts_.client.destroy(object);
}

}  // namespace replayout
