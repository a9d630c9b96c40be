// SPDX-License-Identifier: MIT
#include <replayout/reflection/value_copy.h>
#include "connection_channel.h"
#include "network_client_waiting.h"
#include "scene_name.h"
#include "stored_references.h"
#include "sync_section.h"
#include "update_scope.h"
#include "wanted_collections.h"

#include <replayout/netdriver/peer_log.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_client.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace replayout::syncvar {

namespace {

/// Whether `info` is of the object by which client and server speak of the connection.
[[nodiscard]] bool is_channel(const SpawnInfo& info, const NetworkTypes& types) noexcept {
    return &info.layout == &types.connection_prefab().layout();
}

/// Time between two updates at the rate that a server takes.
[[nodiscard]] std::int64_t update_interval_us(const NetConfig& config) noexcept {
    const std::int64_t per_second = config.client_updates_per_second_max;
    return (1'000'000 + per_second - 1) / per_second;
}

}  // namespace

NetworkClient::NetworkClient(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager)
    : types_(types),
      manager_(manager),
      resource_(resource_of(settings)),
      settings_(settings),
      transport_(transport),
      driver_(settings, transport, *this),
      sections_(std::make_unique<SectionSender>(resource_of(settings))),
      references_(std::make_unique<StoredReferences>(objects_, this, resource_of(settings))),
      wanted_(std::make_unique<WantedCollections>(*this)),
      log_(std::make_unique<PeerLog>()),
      update_interval_us_(update_interval_us(settings.config)),
      update_burst_us_(update_interval_us_ * settings.config.client_updates_burst_max) {}

NetworkClient::~NetworkClient() {
    for (const auto& [key, object] : objects_) {
        object->net_id_ = 0;
        object->client_ = nullptr;
        object->references_ = nullptr;
    }
}

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
    if (is_connected_) {
        peer_left({}, CloseReason::Requested);
    }
    is_updating_ = false;
    // A session of its own: the server may not have heard of the end of the one before.
    settings_.seed = settings_.seed * 0x9E37'79B9'7F4A'7C15u + 1;
    std::destroy_at(&driver_);
    std::construct_at(&driver_, settings_, transport_, static_cast<NetWorld&>(*this));
    next_update_us_ = std::numeric_limits<std::int64_t>::min();
    is_update_refused_ = false;
    return {};
}

void NetworkClient::disconnect() {
    const bool was_updating = std::exchange(is_updating_, true);
    driver_.disconnect({});
    const ConnectionState state = driver_.state();
    const bool is_over = state == ConnectionState::Closing || state == ConnectionState::Closed;
    // What it kept while it was not ready has no channel that ends.
    while (is_over && !spawned_.empty()) {
        unspawn(*spawned_.begin()->second, ChannelCloseReason::Disconnected);
    }
    is_updating_ = was_updating;
}

void NetworkClient::early_update(NetTime now) {
    REPLAYOUT_EXPECT(
        is_started_, void(),
        "early_update: the client was never connected: call connect() before, and look at "
        "its Status");
    REPLAYOUT_EXPECT(!is_updating_, void(),
                     "early_update: called from within a callback; do it after the update");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    driver_.tick_dispatch(now);
    references_->settle();
    start_spawned();
    // The object may come before the word that this client may join; it calls nothing until then.
    const bool is_there = channel_ != nullptr && driver_.state() == ConnectionState::Joined;
    if (is_there && !std::exchange(is_connected_, true)) {
        manager_.on_client_connect(*this);
    }
    free_what_is_gone();
}

void NetworkClient::late_update(NetTime now) {
    REPLAYOUT_EXPECT(
        is_started_, void(),
        "late_update: the client was never connected: call connect() before, and look at "
        "its Status");
    REPLAYOUT_EXPECT(!is_updating_, void(),
                     "late_update: called from within a callback; do it after the update");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    references_->settle();
    send_answers();
    wanted_->ask();
    send_updates();
    driver_.tick_flush(now);
    free_what_is_gone();
}

// Objects.

bool NetworkClient::register_spawn_handler(std::uint32_t asset_id, NetworkSpawnHandler handler) {
    if (types_.find_prefab(asset_id) == nullptr || !handler.spawn || !handler.unspawn) {
        log(LogLevel::Error,
            "a spawn handler needs the asset id of a prefab, and two functions: "
            "asset id " +
                std::to_string(asset_id) +
                (types_.find_prefab(asset_id) == nullptr ? " is that of no prefab"
                                                         : " has a function missing"));
        return false;
    }
    const bool is_new = spawn_handlers_.insert_or_assign(asset_id, std::move(handler)).second;
    if (!is_new) {
        log(LogLevel::Warning, "a spawn handler takes the place of another");
    }
    return true;
}

void NetworkClient::unregister_spawn_handler(std::uint32_t asset_id) {
    spawn_handlers_.erase(asset_id);
}

NetworkIdentity& NetworkClient::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    object.references_ = references_.get();
    references_->object_made(object);
    return object;
}

NetworkIdentity& NetworkClient::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    NetworkIdentity& object = instantiate(prefab);
    REPLAYOUT_EXPECT(
        scene_id != 0, object,
        "add_scene_object: a \"%s\" of id 0 is made, and is none of the scene: give it "
        "an id that is not 0",
        prefab.name().c_str());
    object.scene_id_ = scene_id;
    if (!scene_objects_.emplace(scene_id, &object).second) {
        log(LogLevel::Error, "a scene has two objects of id " + std::to_string(scene_id) +
                                 ": the second, of prefab \"" + prefab.name() +
                                 "\", is never spawned");
    }
    return object;
}

void NetworkClient::destroy(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(
        objects_.contains(&object), void(),
        "destroy: the object is none of this client: use one that it made, and did not "
        "destroy");
    REPLAYOUT_EXPECT(!object.is_spawned(), void(),
                     "destroy: the server shows net id %llu, a \"%s\": only it destroys that",
                     static_cast<unsigned long long>(object.net_id()),
                     object.prefab().name().c_str());
    object.is_gone_ = true;
    has_gone_ = true;
    references_->object_left(object);
}

void NetworkClient::free_what_is_gone() {
    if (!references_->settle_all()) {
        log_->write(LogLevel::Warning, {}, StoredReferences::endless_hooks, now_);
    }
    if (std::exchange(has_gone_, false)) {
        references_->forget_gone();
        std::erase_if(changed_, [](const NetworkIdentity* object) { return object->is_gone_; });
        std::erase_if(objects_, [](const auto& entry) { return entry.second->is_gone_; });
    }
}

NetworkIdentity* NetworkClient::find(std::uint64_t net_id) const noexcept {
    const auto found = spawned_.find(net_id);
    return found == spawned_.end() ? nullptr : found->second;
}

NetworkIdentity* NetworkClient::find_or_spawn_object(const SpawnInfo& info) {
    // One that it kept while it was not ready.
    NetworkIdentity* known = find(info.guid.value);
    if (known != nullptr && &known->prefab().layout() == &info.layout) {
        return known;
    }
    if (known != nullptr) {
        unspawn(*known, ChannelCloseReason::Destroyed);
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
    const auto spawn = handler->second.spawn;  // It may unregister itself.
    NetworkIdentity* made = spawn(*this, info);
    // Only an object of this client may be looked into.
    if (made == nullptr || !objects_.contains(made) || made->is_spawned() || made->is_gone_ ||
        &made->prefab() != prefab->get()) {
        log_->write(LogLevel::Error, {},
                    "the spawn handler of prefab \"" + (*prefab)->name() + "\" (asset id " +
                        std::to_string((*prefab)->asset_id()) +
                        ") gave no free object of it that this client made",
                    now_);
        ++counters_.handlers_failed;
        return nullptr;
    }
    return made;
}

std::string NetworkClient::asset_id_text(const RepLayout& layout) const {
    for (const auto& prefab : types_.prefabs()) {
        if (&prefab->layout() == &layout) {
            return " (asset id " + std::to_string(prefab->asset_id()) + ")";
        }
    }
    return {};
}

NetworkIdentity* NetworkClient::take_scene_object(const SpawnInfo& info) {
    const std::uint64_t scene_id = SceneName::parse(info.parameters.stable_name);
    const auto kept = std::find_if(spawned_.begin(), spawned_.end(), [&](const auto& entry) {
        return entry.second->is_kept_ && entry.second->scene_id() == scene_id;
    });
    if (scene_id != 0 && kept != spawned_.end()) {
        unspawn(*kept->second, ChannelCloseReason::Destroyed);  // and spawned again meanwhile
    }
    const auto found = scene_objects_.find(scene_id);
    if (found == scene_objects_.end() || &found->second->prefab().layout() != &info.layout) {
        const std::string here =
            found == scene_objects_.end()
                ? std::string("that this client does not have")
                : "that is of prefab \"" + found->second->prefab().name() + "\" here";
        log_->write(LogLevel::Error, {},
                    "the server spawned an object of a scene " + here + ": scene id " +
                        std::to_string(scene_id) + ", prefab \"" + std::string(info.layout.name()) +
                        "\"" + asset_id_text(info.layout),
                    now_);
        ++counters_.scene_objects_missing;
        return nullptr;
    }
    NetworkIdentity* object = found->second;
    scene_objects_.erase(found);
    return object;
}

ObjectHandle NetworkClient::spawn(const SpawnInfo& info) {
    if (is_channel(info, types_) && channel_ != nullptr) {
        log_->write(LogLevel::Error, {},
                    "the server gave this client a second object of its connection", now_);
        return {};
    }
    NetworkIdentity* object = find_or_spawn_object(info);
    if (object == nullptr) {
        return {};
    }
    if (references_->has_left(*object)) {
        references_->settle();  // It is another object from now on.
    }
    object->keep_own_values();
    object->net_id_ = info.guid.value;
    object->client_ = this;
    if (object->is_started_ || object->scene_id_ != 0) {
        keep_values(*object);  // Hooks run for what differs from these.
    }
    object->reset_values(object->prefab().archetype(),
                         object->is_kept_ && object->is_owned() && info.role.is_owned);
    object->transform = {info.parameters.location.value_or(Vector3{}),
                         info.parameters.rotation.value_or(Quat{0, 0, 0, 1}),
                         info.parameters.scale.value_or(Vector3{1, 1, 1})};
    object->role_ = info.role;
    object->is_client_ = true;
    object->is_initial_ = true;
    object->is_kept_ = false;
    for (NetworkBehaviour* component : object->components()) {
        component->dirty_bits_ = 0;
        component->collection_dirty_bits_ = 0;
        component->received_bits_ = 0;
        component->authority_epoch_ = 0;
        component->is_state_missed_ = false;
    }
    if (is_channel(info, types_)) {
        channel_ = object;
        return object->handle();
    }
    if (object->is_local_player()) {
        local_player_ = object;
    }
    spawned_.insert_or_assign(object->net_id_, object);
    spawned_now_.push_back(object);
    return object->handle();
}

void NetworkClient::despawn(ObjectHandle handle, ChannelCloseReason reason) {
    NetworkIdentity& object = NetworkIdentity::of(handle);
    if (&object == channel_) {
        channel_ = nullptr;
        is_ready_ = false;
        answers_due_ = 0;
        object.net_id_ = 0;
        destroy(object);
        return;
    }
    if (reason == ChannelCloseReason::Relevancy && !is_spawn_finished_ && object.is_started_) {
        // Who is not ready keeps what it has. Whether it is shown it again is known when all are
        // there. What it was never told of is nothing that it has.
        object.is_kept_ = true;
        references_->note_all(object);
        std::erase(spawned_now_, &object);
        return;
    }
    unspawn(object, reason);
}

void NetworkClient::unspawn(NetworkIdentity& object, ChannelCloseReason reason) {
    std::erase(spawned_now_, &object);
    waiting_.erase(object.net_id());
    wanted_->forget(object.net_id());
    object.stop_client();
    forget_local_player(object);
    manager_.on_client_unspawn(*this, object, reason);
    spawned_.erase(object.net_id_);
    object.net_id_ = 0;
    object.is_client_ = false;
    object.is_kept_ = false;
    object.is_refreshed_ = false;
    for (NetworkBehaviour* component : object.components()) {
        component->dirty_bits_ = 0;
        component->collection_dirty_bits_ = 0;
        component->waiting_hooks_ = 0;
        component->authority_epoch_ = 0;
    }
    references_->object_left(object);
    StoredReferences::clear_all(object);
    if (object.scene_id_ != 0) {
        object.reset_values(*object.own_values_);
        scene_objects_.insert_or_assign(object.scene_id_, &object);
        return;
    }
    const auto handler = spawn_handlers_.find(object.asset_id());
    if (handler != spawn_handlers_.end()) {
        const auto unspawn = handler->second.unspawn;
        unspawn(*this, object, reason);
        return;
    }
    destroy(object);
}

void NetworkClient::unspawn_kept() {
    std::vector<NetworkIdentity*> kept;
    for (const auto& [net_id, object] : spawned_) {
        if (object->is_kept_) {
            kept.push_back(object);
        }
    }
    for (NetworkIdentity* object : kept) {
        if (object->is_kept_) {  // The end of another one may have ended it.
            unspawn(*object, ChannelCloseReason::Relevancy);
        }
    }
}

// What objects are told.

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
        if (object->is_spawned()) {
            start(*object);
        }
    }
    // Of objects that were shown all the while.
    while (!waiting_.empty()) {
        run_waiting(waiting_.begin()->first);
    }
    driver_.run_kept_calls();
}

void NetworkClient::start(NetworkIdentity& object) {
    // Each of these may end the object.
    object.is_refreshed_ = false;
    run_waiting(object.net_id());
    if (object.is_spawned()) {
        object.start_client();
    }
    if (object.is_spawned()) {
        tell_role(object, object.role_);
    }
    if (object.is_spawned()) {
        driver_.run_kept_calls(object.handle());
    }
}

bool NetworkClient::may_run_call(ObjectHandle handle, const Function& function, bool is_last) {
    NetworkIdentity& object = NetworkIdentity::of(handle);
    // What brings state is taken at once, and waits by itself where it has something to tell.
    const bool is_games = function.thunk.call == NetworkPrefab::call_function;
    if (!is_games || &object == channel_ || !object.must_wait()) {
        return true;
    }
    if (!is_last) {
        return false;
    }
    // It goes, or too many wait: it starts before the batch is whole.
    const std::uint64_t net_id = object.net_id();
    std::erase(spawned_now_, &object);
    object.is_initial_ = false;
    start(object);
    return find(net_id) == &object;
}

void NetworkClient::tell_role(NetworkIdentity& object, const ObjectRole& role) {
    if (role.is_player) {
        local_player_ = &object;
    }
    object.tell_role(role);
    if (!role.is_player) {
        forget_local_player(object);
    }
}

void NetworkClient::forget_local_player(const NetworkIdentity& object) {
    if (local_player_ != &object) {
        return;
    }
    // The one before it, where both changed back before this client was told of that.
    const auto other = std::find_if(spawned_.begin(), spawned_.end(), [&](const auto& entry) {
        return entry.second != &object && entry.second->is_told_player_;
    });
    local_player_ = other == spawned_.end() ? nullptr : other->second;
}

bool NetworkClient::is_leaving(ObjectHandle handle) const noexcept {
    const auto* named =
        reinterpret_cast<const NetworkIdentity*>(static_cast<std::uintptr_t>(handle.value));
    const auto found = handle.is_null() ? objects_.end() : objects_.find(named);
    return found != objects_.end() && named->is_spawned() && !named->is_kept_ &&
           driver_.role_of(handle).role == NetRole::None;
}

void NetworkClient::section_misread(const std::string& text) {
    ++counters_.sections_misread;
    log_->write(LogLevel::Error, {}, text, now_);
}

void NetworkClient::role_changed(ObjectHandle handle, const ObjectRole& /*previous*/,
                                 const ObjectRole& role) {
    NetworkIdentity& object = NetworkIdentity::of(handle);
    if (role.is_owned && !object.is_owned()) {
        for (NetworkBehaviour* component : object.components()) {
            component->received_bits_ = 0;
        }
        component_changed(object);
    }
    if (object.is_started_) {
        tell_role(object, role);
    } else {
        object.role_ = role;
    }
}

// The connection.

bool NetworkClient::refuse_request(const char* why) {
    ++counters_.requests_refused;
    log_->write(LogLevel::Error, {}, why, now_);
    return false;
}

bool NetworkClient::ready() {
    if (channel_ == nullptr) {
        return refuse_request(
            "ready: this client is not connected yet: call it from "
            "on_client_connect(), or later");
    }
    if (is_ready_) {
        return refuse_request("ready: this client is ready already");
    }
    is_ready_ = channel_->components().front()->call("ready") == CallResult::Sent;
    return is_ready_;
}

bool NetworkClient::add_player() {
    if (!is_ready_ || channel_ == nullptr) {
        return refuse_request("add_player: this client is not ready: call ready() before");
    }
    if (local_player_ != nullptr) {
        return refuse_request("add_player: this client has a player already");
    }
    return channel_->components().front()->call("add_player") == CallResult::Sent;
}

void NetworkClient::spawn_started() {
    is_ready_ = true;
    is_spawn_finished_ = false;
    manager_.on_client_spawn_started(*this);
}

void NetworkClient::spawn_finished() {
    unspawn_kept();
    is_spawn_finished_ = true;
    start_spawned();
    manager_.on_client_spawn_finished(*this);
}

void NetworkClient::not_ready() {
    is_ready_ = false;
    is_spawn_finished_ = false;
    ++answers_due_;
    send_answers();
    manager_.on_client_not_ready(*this);
}

void NetworkClient::send_answers() {
    while (answers_due_ > 0 && channel_ != nullptr &&
           channel_->components().front()->call("not_ready_heard") == CallResult::Sent) {
        --answers_due_;
    }
}

void NetworkClient::peer_left(PeerId /*peer*/, CloseReason reason) {
    is_connected_ = false;
    is_ready_ = false;
    is_spawn_finished_ = false;
    // What it kept while it was not ready; all else is despawned by now.
    while (!spawned_.empty()) {
        unspawn(*spawned_.begin()->second, ChannelCloseReason::Disconnected);
    }
    manager_.on_client_disconnect(*this, reason);
}

// NetWorld.

void* NetworkClient::object_memory(ObjectHandle object) {
    return NetworkIdentity::of(object).block();
}

std::uint64_t NetworkClient::kept_bytes(ObjectHandle handle) {
    const NetworkIdentity& object = NetworkIdentity::of(handle);
    const NetworkPrefab& prefab = object.prefab();
    std::uint64_t bytes = 0;
    for (NetworkBehaviour* component : object.components()) {
        const NetworkPrefab::Component& placed = prefab.components()[component->component_index()];
        for (std::size_t i = 0; i < placed.collections.size(); ++i) {
            const FunctionIndex changes = placed.collections[i].changes;
            bytes += component->collection(static_cast<std::uint8_t>(i))
                         .kept_bytes(*prefab.layout().functions()[changes.value].parameters,
                                     placed.settings.sync_mode == SyncMode::Owner);
        }
    }
    return bytes;
}

}  // namespace replayout::syncvar
