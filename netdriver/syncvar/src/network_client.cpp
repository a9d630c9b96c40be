// SPDX-License-Identifier: MIT
#include "connection_channel.h"
#include "scene_name.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_client.h>

#include <algorithm>
#include <string>

namespace replayout::syncvar {

namespace {

/// Whether `info` is of the object by which client and server speak of the connection.
[[nodiscard]] bool is_channel(const SpawnInfo& info, const NetworkTypes& types) noexcept {
    return &info.layout == &types.connection_prefab().layout();
}

}  // namespace

NetworkClient::NetworkClient(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager)
    : types_(types),
      manager_(manager),
      resource_(settings.resource),
      driver_(settings, transport, *this) {}

NetworkClient::~NetworkClient() = default;

Status NetworkClient::connect(PeerId server, NetTime now) {
    if (Status added = types_.add_layouts_to(driver_); !added) {
        return added;
    }
    return driver_.connect(server, now);
}

void NetworkClient::disconnect() {
    driver_.disconnect({});
}

void NetworkClient::early_update(NetTime now) {
    now_ = now;
    driver_.tick_dispatch(now);
    start_spawned();
    if (channel_ != nullptr && !std::exchange(is_connected_, true)) {
        manager_.on_client_connect(*this);
    }
    free_what_is_gone();
}

void NetworkClient::late_update(NetTime now) {
    now_ = now;
    driver_.tick_flush(now);
    free_what_is_gone();
}

// ----- objects

void NetworkClient::register_spawn_handler(std::uint32_t asset_id, NetworkSpawnHandler handler) {
    spawn_handlers_.insert_or_assign(asset_id, std::move(handler));
}

void NetworkClient::unregister_spawn_handler(std::uint32_t asset_id) {
    spawn_handlers_.erase(asset_id);
}

NetworkIdentity& NetworkClient::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    return object;
}

NetworkIdentity& NetworkClient::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    REPLAYOUT_ASSERT(scene_id != 0);
    NetworkIdentity& object = instantiate(prefab);
    object.scene_id_ = scene_id;
    scene_objects_.insert_or_assign(scene_id, &object);
    return object;
}

void NetworkClient::destroy(NetworkIdentity& object) {
    REPLAYOUT_ASSERT(!object.is_spawned());
    object.is_gone_ = true;
    has_gone_ = true;
}

void NetworkClient::free_what_is_gone() {
    if (std::exchange(has_gone_, false)) {
        std::erase_if(objects_, [](const auto& entry) { return entry.second->is_gone_; });
    }
}

NetworkIdentity* NetworkClient::find(std::uint64_t net_id) const noexcept {
    const auto found = spawned_.find(net_id);
    return found == spawned_.end() ? nullptr : found->second;
}

NetworkIdentity* NetworkClient::find_or_spawn_object(const SpawnInfo& info) {
    // One that it kept while it was not ready.
    if (NetworkIdentity* known = find(info.guid.value)) {
        return known;
    }
    if (!info.parameters.stable_name.empty()) {
        return take_scene_object(info);
    }
    const auto prefab =
        std::find_if(types_.prefabs().begin(), types_.prefabs().end(),
                     [&](const auto& candidate) { return &candidate->layout() == &info.layout; });
    REPLAYOUT_ASSERT(prefab != types_.prefabs().end());
    const auto handler = spawn_handlers_.find((*prefab)->asset_id());
    if (handler == spawn_handlers_.end()) {
        return &instantiate(**prefab);
    }
    NetworkIdentity* made = handler->second.spawn(*this, info);
    if (made == nullptr || made->is_spawned() || &made->prefab() != prefab->get()) {
        log(LogLevel::Error, "the spawn handler of prefab \"" + (*prefab)->name() +
                                 "\" gave no object of it that is free");
        return nullptr;
    }
    return made;
}

NetworkIdentity* NetworkClient::take_scene_object(const SpawnInfo& info) {
    const auto found = scene_objects_.find(SceneName::parse(info.parameters.stable_name));
    if (found == scene_objects_.end() || &found->second->prefab().layout() != &info.layout) {
        log(LogLevel::Error, "the server spawned an object of a scene that is not here");
        return nullptr;
    }
    NetworkIdentity* object = found->second;
    scene_objects_.erase(found);
    return object;
}

ObjectHandle NetworkClient::spawn(const SpawnInfo& info) {
    NetworkIdentity* object = find_or_spawn_object(info);
    if (object == nullptr) {
        return {};
    }
    object->reset_values();
    object->transform = {info.parameters.location.value_or(Vector3{}),
                         info.parameters.rotation.value_or(Quat{0, 0, 0, 1}),
                         info.parameters.scale.value_or(Vector3{1, 1, 1})};
    object->net_id_ = info.guid.value;
    object->client_ = this;
    object->role_ = info.role;
    object->is_client_ = true;
    object->is_initial_ = true;
    if (is_channel(info, types_)) {
        channel_ = object;
        return object->handle();
    }
    spawned_.insert_or_assign(object->net_id_, object);
    spawned_now_.push_back(object);
    return object->handle();
}

void NetworkClient::despawn(ObjectHandle handle, ChannelCloseReason reason) {
    NetworkIdentity& object = NetworkIdentity::of(handle);
    if (&object == channel_) {
        channel_ = nullptr;
        object.net_id_ = 0;
        destroy(object);
        return;
    }
    if (reason == ChannelCloseReason::Relevancy && !is_ready_) {
        return;  // Who is not ready keeps what it has.
    }
    stop(object);
    unspawn(object);
}

void NetworkClient::stop(NetworkIdentity& object) {
    std::erase(spawned_now_, &object);
    std::erase_if(deferred_hooks_,
                  [&](const DeferredHook& hook) { return hook.object == &object; });
    if (local_player_ == &object) {
        local_player_ = nullptr;
        object.for_each_component(&NetworkBehaviour::on_stop_local_player);
    }
    if (std::exchange(object.is_started_, false)) {
        if (object.is_owned()) {
            object.for_each_component(&NetworkBehaviour::on_stop_authority);
        }
        object.for_each_component(&NetworkBehaviour::on_stop_client);
    }
}

void NetworkClient::unspawn(NetworkIdentity& object) {
    spawned_.erase(object.net_id_);
    object.net_id_ = 0;
    object.is_client_ = false;
    object.role_ = {};
    if (object.scene_id_ != 0) {
        object.reset_values();
        scene_objects_.insert_or_assign(object.scene_id_, &object);
        return;
    }
    const auto handler = spawn_handlers_.find(object.asset_id());
    if (handler != spawn_handlers_.end()) {
        handler->second.unspawn(*this, object);
        return;
    }
    destroy(object);
}

// ----- what objects are told

void NetworkClient::start_spawned() {
    for (NetworkIdentity* object : spawned_now_) {
        object->is_initial_ = false;
    }
    if (!is_spawn_finished_) {
        return;
    }
    std::vector<NetworkIdentity*> objects;
    objects.swap(spawned_now_);
    std::sort(objects.begin(), objects.end(),
              [](const auto* left, const auto* right) { return left->net_id() < right->net_id(); });
    for (NetworkIdentity* object : objects) {
        run_deferred_hooks(*object);
        start(*object);
    }
}

void NetworkClient::start(NetworkIdentity& object) {
    if (!std::exchange(object.is_started_, true)) {
        object.for_each_component(&NetworkBehaviour::on_start_client);
        if (object.is_owned()) {
            object.for_each_component(&NetworkBehaviour::on_start_authority);
        }
    }
    if (object.is_local_player() && local_player_ != &object) {
        local_player_ = &object;
        object.for_each_component(&NetworkBehaviour::on_start_local_player);
    }
}

void NetworkClient::defer(NetworkIdentity& object, std::function<void()> hook) {
    deferred_hooks_.push_back({&object, std::move(hook)});
}

void NetworkClient::run_deferred_hooks(const NetworkIdentity& object) {
    for (const DeferredHook& hook : deferred_hooks_) {
        if (hook.object == &object) {
            hook.run();
        }
    }
    std::erase_if(deferred_hooks_,
                  [&](const DeferredHook& hook) { return hook.object == &object; });
}

void NetworkClient::role_changed(ObjectHandle handle, const ObjectRole& previous,
                                 const ObjectRole& role) {
    NetworkIdentity& object = NetworkIdentity::of(handle);
    object.role_ = role;
    if (!object.is_started_) {
        return;
    }
    if (previous.is_player && !role.is_player) {
        local_player_ = nullptr;
        object.for_each_component(&NetworkBehaviour::on_stop_local_player);
    }
    if (!previous.is_owned && role.is_owned) {
        object.for_each_component(&NetworkBehaviour::on_start_authority);
    } else if (previous.is_owned && !role.is_owned) {
        object.for_each_component(&NetworkBehaviour::on_stop_authority);
    }
    if (!previous.is_player && role.is_player) {
        local_player_ = &object;
        object.for_each_component(&NetworkBehaviour::on_start_local_player);
    }
}

// ----- the connection

bool NetworkClient::ready() {
    if (channel_ == nullptr || is_ready_) {
        return false;
    }
    is_ready_ = true;
    channel_->components().front()->call("ready");
    return true;
}

bool NetworkClient::add_player() {
    if (!is_ready_ || local_player_ != nullptr) {
        log(LogLevel::Error, "a client that is not ready, or has a player, asks for a player");
        return false;
    }
    channel_->components().front()->call("add_player");
    return true;
}

void NetworkClient::spawn_started() {
    is_ready_ = true;
    is_spawn_finished_ = false;
    manager_.on_client_spawn_started(*this);
}

void NetworkClient::spawn_finished() {
    is_spawn_finished_ = true;
    start_spawned();
    manager_.on_client_spawn_finished(*this);
}

void NetworkClient::not_ready() {
    is_ready_ = false;
    is_spawn_finished_ = false;
    manager_.on_client_not_ready(*this);
}

void NetworkClient::peer_left(PeerId /*peer*/, CloseReason reason) {
    is_connected_ = false;
    is_ready_ = false;
    is_spawn_finished_ = false;
    manager_.on_client_disconnect(*this, reason);
}

// ----- NetWorld

void* NetworkClient::object_memory(ObjectHandle object) {
    return NetworkIdentity::of(object).block();
}

}  // namespace replayout::syncvar
