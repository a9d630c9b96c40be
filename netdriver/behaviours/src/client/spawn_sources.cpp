// SPDX-License-Identifier: MIT
#include "spawn_sources.h"

#include "client_log.h"
#include "client_objects.h"
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
    if (types_.find_prefab(asset_id) == nullptr || !handler.spawn || !handler.unspawn) {
        log(LogLevel::Error,
            "a spawn handler needs the asset id of a prefab, and two functions: "
            "asset id " +
                std::to_string(asset_id) +
                (types_.find_prefab(asset_id) == nullptr ? " is that of no prefab"
                                                         : " has a function missing"));
        return false;
    }
    const bool is_new = handlers_.insert_or_assign(asset_id, std::move(handler)).second;
    if (!is_new) {
        log(LogLevel::Warning, "a spawn handler takes the place of another");
    }
    return true;
}

void NetworkClient::SpawnSources::unregister_handler(std::uint32_t asset_id) {
    handlers_.erase(asset_id);
}

NetworkIdentity& NetworkClient::SpawnSources::add_scene_object(const NetworkPrefab& prefab,
                                                               std::uint64_t scene_id) {
    NetworkIdentity& object = objects_.instantiate(prefab);
    REPLAYOUT_EXPECT(
        scene_id != 0, object,
        "add_scene_object: a \"%s\" of id 0 is made, and is none of the scene: give it "
        "an id that is not 0",
        prefab.name().c_str());
    detail::Inside::of(object).scene_id = scene_id;
    if (!scene_objects_.emplace(scene_id, &object).second) {
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
        log_.write_failure(
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
        return &objects_.instantiate(prefab);
    }
    const auto spawn = handler->second.spawn;  // It may unregister itself.
    NetworkIdentity* made = spawn(client_, info);
    // Only an object of this client may be looked into.
    if (made == nullptr || !objects_.contains(made) || made->is_spawned() ||
        detail::Inside::of(*made).is_gone || &made->prefab() != &prefab) {
        log_.write_failure(&NetworkClientCounters::handlers_failed,
                           "the spawn handler of prefab \"" + prefab.name() + "\" (asset id " +
                               std::to_string(prefab.asset_id()) +
                               ") gave no free object of it that this client made");
        return nullptr;
    }
    return made;
}

const NetworkPrefab* NetworkClient::SpawnSources::prefab_of(
    const RepLayout& layout) const noexcept {
    const auto found =
        std::find_if(types_.prefabs().begin(), types_.prefabs().end(),
                     [&](const auto& candidate) { return &candidate->layout() == &layout; });
    return found == types_.prefabs().end() ? nullptr : found->get();
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
        unspawn(client_, object, reason);
        return;
    }
    objects_.destroy(object);
}

}  // namespace replayout
