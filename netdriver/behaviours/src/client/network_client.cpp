// SPDX-License-Identifier: MIT
#include <replayout/behaviours/network_client.h>

#include "client_parts.h"
#include "inside.h"
#include "update_scope.h"

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/network_prefab.h>
#include <replayout/reflection/diagnostics.h>

#include <utility>

namespace replayout {

NetworkClient::NetworkClient(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager)
    : types_(types),
      settings_(settings),
      transport_(transport),
      driver_(settings, transport, *this),
      parts_(std::make_unique<detail::ClientParts>(*this, settings, driver_, types, manager)) {}

NetworkClient::~NetworkClient() {
    parts_->objects.disown_all();
}

// The connection.

Status NetworkClient::connect(PeerId server, NetTime now) {
    if (is_started_) {
        if (Status begun = begin_anew(now); !begun) {
            return begun;
        }
    }
    if (Status added = types_.add_layouts_to(driver_); !added) {
        return added;
    }
    Status connected = driver_.connect(server, now);
    is_started_ = true;
    return connected;
}

Status NetworkClient::begin_anew(NetTime now) {
    if (is_updating_) {
        return Error{ErrorCode::InvalidArgument,
                     "connect() is called within a callback of this client: call it after the "
                     "update that is under way"};
    }
    const ConnectionState state = driver_.state();
    if (state == ConnectionState::Connecting || state == ConnectionState::Joined) {
        return Error{ErrorCode::InvalidArgument,
                     "the client is connected, or connecting: call disconnect() first"};
    }
    is_updating_ = true;
    if (state == ConnectionState::Closing) {
        driver_.tick_flush(now);  // says goodbye
    }
    if (is_connected()) {
        peer_left({}, CloseReason::Requested);
    }
    is_updating_ = false;
    // A session of its own: the server may not have heard of the end of the one before.
    settings_.seed = settings_.seed * 0x9E37'79B9'7F4A'7C15u + 1;
    std::destroy_at(&driver_);
    std::construct_at(&driver_, settings_, transport_, static_cast<NetWorld&>(*this));
    parts_->updates.begin_anew();
    return {};
}

void NetworkClient::disconnect() {
    const bool was_updating = std::exchange(is_updating_, true);
    driver_.disconnect({});
    const ConnectionState state = driver_.state();
    if (state == ConnectionState::Closing || state == ConnectionState::Closed) {
        // What it kept while it was not ready has no channel that ends.
        parts_->spawned.unspawn_all();
    }
    is_updating_ = was_updating;
}

bool NetworkClient::ready() {
    return parts_->readiness.ready();
}

bool NetworkClient::add_player() {
    return parts_->readiness.add_player();
}

bool NetworkClient::is_connected() const noexcept {
    return parts_->readiness.is_connected();
}

bool NetworkClient::is_ready() const noexcept {
    return parts_->readiness.is_ready();
}

bool NetworkClient::is_spawn_finished() const noexcept {
    return parts_->readiness.is_spawn_finished();
}

// Updates.

void NetworkClient::early_update(NetTime now) {
    REPLAYOUT_EXPECT_UPDATE(is_started_, "the client was never connected: call connect()");
    const detail::UpdateScope updating(is_updating_);
    parts_->now = now;
    driver_.tick_dispatch(now);
    parts_->objects.settle();
    parts_->spawned.start_all(is_spawn_finished());
    // The object may come before the word that this client may join; it calls nothing until then.
    if (driver_.state() == ConnectionState::Joined) {
        parts_->readiness.joined();
    }
    free_what_is_gone();
}

void NetworkClient::late_update(NetTime now) {
    REPLAYOUT_EXPECT_UPDATE(is_started_, "the client was never connected: call connect()");
    const detail::UpdateScope updating(is_updating_);
    parts_->now = now;
    parts_->objects.settle();
    parts_->readiness.send_answers();
    parts_->wanted.ask();
    parts_->updates.send();
    driver_.tick_flush(now);
    free_what_is_gone();
}

void NetworkClient::free_what_is_gone() {
    if (!parts_->objects.settle_all()) {
        parts_->log.write(LogLevel::Warning, StoredReferences::endless_hooks);
    }
    if (parts_->objects.has_gone()) {
        parts_->updates.forget_gone();
        parts_->objects.free_gone();
    }
}

const NetworkClientCounters& NetworkClient::counters() const noexcept {
    return parts_->log.counters();
}

NetTime NetworkClient::now() const noexcept {
    return parts_->now;
}

// Objects.

bool NetworkClient::register_spawn_handler(std::uint32_t asset_id, NetworkSpawnHandler handler) {
    return parts_->sources.register_handler(asset_id, std::move(handler));
}

void NetworkClient::unregister_spawn_handler(std::uint32_t asset_id) {
    parts_->sources.unregister_handler(asset_id);
}

NetworkIdentity& NetworkClient::instantiate(const NetworkPrefab& prefab) {
    return parts_->objects.make(prefab);
}

NetworkIdentity& NetworkClient::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    return parts_->sources.add_scene_object(prefab, scene_id);
}

void NetworkClient::destroy(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(
        parts_->objects.contains(&object), void(),
        "destroy: the object is none of this client: use one that it made, and did not "
        "destroy");
    REPLAYOUT_EXPECT(!object.is_spawned(), void(),
                     "destroy: the server shows net id %llu, a \"%s\": only it destroys that",
                     static_cast<unsigned long long>(object.net_id()),
                     object.prefab().name().c_str());
    parts_->objects.destroy(object);
}

NetworkIdentity* NetworkClient::find(std::uint64_t net_id) const noexcept {
    return parts_->spawned.find(net_id);
}

NetworkIdentity* NetworkClient::local_player() const noexcept {
    return parts_->spawned.local_player();
}

// NetWorld.

ObjectHandle NetworkClient::spawn(const SpawnInfo& info) {
    const bool is_channel = &info.layout == &types_.connection_prefab().layout();
    if (is_channel && parts_->readiness.channel() != nullptr) {
        parts_->log.write(LogLevel::Error,
                          "the server gave this client a second object of its connection");
        return {};
    }
    NetworkIdentity* const object =
        is_channel ? parts_->spawned.prepare(info) : parts_->spawned.spawn(info);
    if (object == nullptr) {
        return {};
    }
    if (is_channel) {
        parts_->readiness.channel_came(*object);
    }
    return detail::handle_of(*object);
}

void NetworkClient::despawn(ObjectHandle handle, ChannelCloseReason reason) {
    NetworkIdentity& object = *detail::object_of(handle);
    if (&object == parts_->readiness.channel()) {
        parts_->readiness.channel_left();
        detail::Inside::of(object).net_id = 0;
        destroy(object);
        return;
    }
    parts_->spawned.despawn(object, reason);
}

void NetworkClient::role_changed(ObjectHandle object, const ObjectRole& /*previous*/,
                                 const ObjectRole& role) {
    parts_->spawned.role_changed(*detail::object_of(object), role);
}

void NetworkClient::peer_left(PeerId /*peer*/, CloseReason reason) {
    parts_->readiness.connection_ended(reason);
}

bool NetworkClient::may_run_call(ObjectHandle handle, const Function& function, bool is_last) {
    NetworkIdentity& object = *detail::object_of(handle);
    // What brings state is taken at once, and waits by itself where it has something to tell.
    if (!detail::Inside::is_games(function) || &object == parts_->readiness.channel() ||
        !detail::Inside::of(object).must_wait()) {
        return true;
    }
    // It goes, or too many wait: it starts before the batch is whole.
    return is_last && parts_->spawned.start_early(object);
}

void* NetworkClient::object_memory(ObjectHandle object) {
    return detail::Inside::of(*detail::object_of(object)).components.block();
}

std::uint64_t NetworkClient::kept_bytes(ObjectHandle handle) {
    const NetworkIdentity& object = *detail::object_of(handle);
    const NetworkPrefab& prefab = object.prefab();
    std::uint64_t bytes = 0;
    for (NetworkBehaviour* behaviour : object.components()) {
        const detail::ObjectComponent& component = detail::Inside::of(*behaviour);
        const NetworkPrefab::Component& entry = prefab.components()[component.index()];
        for (std::size_t i = 0; i < entry.collections.size(); ++i) {
            const FunctionIndex changes = entry.collections[i].changes;
            bytes += component.collection(i).kept_bytes(
                *prefab.layout().functions()[changes.value].parameters,
                entry.settings.sync_mode == SyncMode::Owner);
        }
    }
    return bytes;
}

}  // namespace replayout
