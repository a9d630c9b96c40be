// SPDX-License-Identifier: MIT
#include "connection_channel.h"
#include "host_calls.h"
#include "part_sender.h"
#include "scene_name.h"
#include "stored_references.h"
#include "sync_section.h"
#include "update_scope.h"

#include <replayout/netdriver/peer_log.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/syncvar/network_server.h>
#include <replayout/syncvar/sync_collection.h>

#include <algorithm>
#include <bit>
#include <string>

namespace replayout::syncvar {

namespace {

[[nodiscard]] NetDriverSettings with_interest(NetDriverSettings settings,
                                              const InterestManagement& interest) {
    settings.interest = interest.settings(settings.interest);
    return settings;
}

}  // namespace

NetworkServer::NetworkServer(const NetDriverSettings& settings, Transport& transport,
                             const NetworkTypes& types, NetworkManager& manager,
                             const InterestManagement& interest)
    : types_(types),
      manager_(manager),
      resource_(resource_of(settings)),
      driver_(with_interest(settings, interest), transport, *this),
      interest_(interest),
      sections_(std::make_unique<SectionSender>(resource_of(settings))),
      references_(std::make_unique<StoredReferences>(objects_, nullptr, resource_of(settings))),
      parts_(std::make_unique<PartSender>(*this, settings.config)),
      log_(std::make_unique<PeerLog>()),
      host_calls_(std::make_unique<HostCalls>()) {}

NetworkServer::~NetworkServer() {
    // A destructor of the game that assigns a SyncVar is to mark nothing, and to run no hook.
    for (const auto& [key, object] : objects_) {
        object->net_id_ = 0;
        object->server_ = nullptr;
        object->references_ = nullptr;
    }
}

Status NetworkServer::listen() {
    if (Status added = types_.add_layouts_to(driver_); !added) {
        return added;
    }
    Status status = driver_.listen();
    is_listening_ = is_listening_ || status.has_value();
    return status;
}

void NetworkServer::early_update(NetTime now) {
    REPLAYOUT_EXPECT(
        is_listening_, void(),
        "early_update: the server does not listen: call listen() before, and look at its "
        "Status");
    REPLAYOUT_EXPECT(!is_updating_, void(),
                     "early_update: called from within a callback; do it after the update");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    driver_.tick_dispatch(now);
    free_what_is_gone();
}

void NetworkServer::late_update(NetTime now) {
    REPLAYOUT_EXPECT(
        is_listening_, void(),
        "late_update: the server does not listen: call listen() before, and look at its "
        "Status");
    REPLAYOUT_EXPECT(!is_updating_, void(),
                     "late_update: called from within a callback; do it after the update");
    const detail::UpdateScope updating(is_updating_);
    now_ = now;
    ++flush_number_;
    references_->settle();
    update_host();
    update_phases();
    send_batches();
    serve_owners();
    send_owner_states();
    mark_changed();
    parts_->send();
    driver_.tick_flush(now);
    free_what_is_gone();
}

// Objects.

NetworkIdentity& NetworkServer::instantiate(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    object.references_ = references_.get();
    references_->object_made(object);
    return object;
}

NetworkIdentity& NetworkServer::add_scene_object(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    NetworkIdentity& object = instantiate(prefab);
    REPLAYOUT_EXPECT(
        scene_id != 0, object,
        "add_scene_object: a \"%s\" of id 0 is made, and is none of the scene: give it "
        "an id that is not 0",
        prefab.name().c_str());
    object.scene_id_ = scene_id;
    return object;
}

bool NetworkServer::owns(const NetworkIdentity& object) const noexcept {
    return objects_.contains(&object);
}

bool NetworkServer::owns(const NetworkConnection& connection) const noexcept {
    return owned_connections_.contains(&connection);
}

bool NetworkServer::refuse(PeerId peer, std::string_view why) {
    log_->write(LogLevel::Warning, peer, why, now_);
    return false;
}

std::string NetworkServer::name_of(const NetworkIdentity& object) {
    std::string name = "an object of prefab \"" + object.prefab().name() + "\"";
    if (object.net_id_ != 0) {
        name += " (net id " + std::to_string(object.net_id_) + ")";
    } else if (object.scene_id_ != 0) {
        name += " (scene id " + std::to_string(object.scene_id_) + ")";
    }
    return name;
}

bool NetworkServer::spawn(NetworkIdentity& object, NetworkConnection* owner) {
    REPLAYOUT_EXPECT(may_change(), false, "spawn: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), false, "spawn: %s", another_servers);
    REPLAYOUT_EXPECT(owner == nullptr || owns(*owner), false, "spawn: %s", another_connection);
    if (!is_listening_) {
        return refuse(PeerId{}, "spawn: " + name_of(object) +
                                    ": the server does not listen: call listen() before");
    }
    if (object.is_spawned() || object.is_gone_ || is_channel(object)) {
        return refuse(object.owner_,
                      "spawn: " + name_of(object) +
                          (object.is_gone_ ? " was destroyed" : " is spawned already"));
    }
    const auto twin = spawned_in_scene_.find(object.scene_id_);
    if (twin != spawned_in_scene_.end()) {
        log_->write(LogLevel::Warning, PeerId{},
                    "an object of prefab \"" + object.prefab().name() +
                        "\" is not spawned: its scene id " + std::to_string(object.scene_id_) +
                        " is that of a spawned object of prefab \"" +
                        twin->second->prefab().name() + "\"",
                    now_);
        return false;
    }
    if (references_->has_left(object)) {
        references_->settle();  // It is another object from now on.
    }
    object.keep_own_values();
    const SceneName name(object.scene_id_);
    SpawnParameters parameters;
    parameters.stable_name = name.text();
    parameters.location = object.transform.position;
    parameters.rotation = object.transform.rotation;
    parameters.scale = object.transform.scale;
    object.object_ = driver_.add_object(object.prefab().layout(), object.handle(), parameters);
    if (object.object_.generation == 0) {
        return refuse(owner == nullptr ? PeerId{} : owner->peer(),
                      "an object is not spawned: the line before says why");
    }
    object.net_id_ = driver_.guid_of(object.object_).value;
    object.server_ = this;
    object.is_client_ = host_ != nullptr;
    spawned_.emplace(object.net_id_, &object);
    if (object.scene_id_ != 0) {
        spawned_in_scene_.emplace(object.scene_id_, &object);
    }
    apply_visibility(object);
    for (const auto& [peer, connection] : connections_) {
        if (connection->phase_ == Phase::Leaving) {
            apply_shown(*connection, object);
        }
    }
    if (owner != nullptr) {
        set_owner(object, *owner);
    }
    begin_components(object);
    object.for_each_component(&NetworkBehaviour::on_start_server);
    return object.is_spawned();  // It may have ended itself.
}

void NetworkServer::begin_components(NetworkIdentity& object) {
    for (NetworkBehaviour* component : object.components()) {
        component->forget_changes();  // All of it is new.
        for (std::size_t i = 0; i < component->type_->collections.size(); ++i) {
            component->collection(i).update_opening(parts_->whole_bytes_max());
        }
    }
    if (object.prefab().has_calls_for_owner()) {
        with_calls_for_owner_.push_back(&object);
    }
}

bool NetworkServer::is_channel(const NetworkIdentity& object) const noexcept {
    return &object.prefab() == &types_.connection_prefab();
}

void NetworkServer::unspawn(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), void(), "unspawn: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), void(), "unspawn: %s", another_servers);
    if (!object.is_spawned() || object.is_stopping_ || is_channel(object)) {
        refuse(object.owner_, "unspawn: " + name_of(object) + " is not spawned");
        return;
    }
    object.is_stopping_ = true;
    if (std::any_of(host_calls_->begin(), host_calls_->end(),
                    [&](const HostCall& call) { return &call.object() == &object; })) {
        show_to_host(object);  // so that the calls that wait for it run
        run_host_calls(&object);
    }
    object.stop_client();
    object.for_each_component(&NetworkBehaviour::on_stop_server);
    keep_last_sections(object);
    object.is_stopping_ = false;
    if (NetworkConnection* owner = owner_of(object)) {
        if (owner->identity_ == &object) {
            set_player(*owner, nullptr);
        }
        clear_owner(object);
    }
    for (const auto& [peer, connection] : connections_) {
        connection->shown_.erase(object.net_id());
    }
    driver_.remove_object(object.object_);
    driver_.forget_destroyed(SceneName(object.scene_id_).text());
    spawned_.erase(object.net_id_);
    if (object.scene_id_ != 0) {
        spawned_in_scene_.erase(object.scene_id_);
    }
    object.net_id_ = 0;
    object.object_ = {};
    object.server_ = nullptr;
    object.owner_ = {};
    object.served_owner_ = {};
    object.was_open_for_owner_ = false;
    std::erase(with_calls_for_owner_, &object);
    object.group_ = {};
    object.is_client_ = false;
    object.is_host_visible_ = false;
    object.is_host_told_ = false;
    for (NetworkBehaviour* component : object.components()) {
        component->forget_changes();
    }
    references_->object_left(object);
}

void NetworkServer::keep_last_sections(NetworkIdentity& object) {
    if (!has_connections()) {
        return;
    }
    const bool was_sending = std::exchange(is_sending_state_, true);
    for (NetworkBehaviour* component : object.components()) {
        if (component->type_->has_custom_serialization) {
            component->keep_last_section();
        }
    }
    is_sending_state_ = was_sending;
}

void NetworkServer::destroy(NetworkIdentity& object) {
    REPLAYOUT_EXPECT(may_change(), void(), "destroy: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(object), void(), "destroy: %s", another_servers);
    if (object.is_gone_ || is_channel(object)) {
        refuse(PeerId{}, "destroy: " + name_of(object) +
                             (object.is_gone_ ? " was destroyed already" : " is the server's own"));
        return;
    }
    if (object.is_spawned() && !object.is_stopping_) {
        unspawn(object);
    }
    if (object.scene_id_ != 0) {
        object.keep_own_values();
        object.reset_values(*object.own_values_);
        return;
    }
    object.is_gone_ = true;
    has_gone_ = true;
    references_->object_left(object);
}

void NetworkServer::destroy_owned(NetworkConnection& connection) {
    REPLAYOUT_EXPECT(may_change(), void(), "destroy_owned: %s", within_a_question);
    REPLAYOUT_EXPECT(owns(connection), void(), "destroy_owned: %s", another_connection);
    while (!connection.owned_.empty()) {
        NetworkIdentity* object = connection.owned_.back();
        destroy(*object);
        if (!connection.owned_.empty() && connection.owned_.back() == object) {
            connection.owned_.pop_back();
        }
    }
}

void NetworkServer::free_what_is_gone() {
    if (!references_->settle_all()) {
        log_->write(LogLevel::Warning, {}, StoredReferences::endless_hooks, now_);
    }
    ended_connections_.clear();
    // A call that waits for the host may name what is gone.
    if (host_calls_->empty() && std::exchange(has_gone_, false)) {
        references_->forget_gone();
        for (std::vector<NetworkIdentity*>* row : {&changed_, &owner_states_, &host_queue_}) {
            std::erase_if(*row, [](const NetworkIdentity* object) { return object->is_gone_; });
        }
        std::erase_if(objects_, [](const auto& entry) { return entry.second->is_gone_; });
    }
}

NetworkIdentity* NetworkServer::find(std::uint64_t net_id) const noexcept {
    const auto found = spawned_.find(net_id);
    return found == spawned_.end() ? nullptr : found->second;
}

// What changed.

void NetworkServer::component_changed(NetworkIdentity& object) {
    if (!std::exchange(object.is_queued_, true)) {
        changed_.push_back(&object);
    }
}

bool NetworkServer::send_state_of(NetworkIdentity& object) {
    if (is_sending_state_ || !object.is_spawned()) {
        return true;  // within on_serialize() nothing is whole
    }
    const bool was_sending = std::exchange(is_sending_state_, true);
    if (object.prefab().has_calls_for_owner()) {
        serve_owner_ahead(object);
    }
    bool is_sent = !object.is_state_due_ || must_owner_wait(object) || tell_owner(object);
    for (NetworkBehaviour* component : object.components()) {
        if (!component->has_changes()) {
            continue;
        }
        mark(object, *component);
        is_sent =
            is_sent && !component->has_waiting_section_ && component->collection_dirty_bits_ == 0;
        for (std::size_t i = 0; i < component->type_->collections.size(); ++i) {
            // The object is compared in the flush, after more may have changed.
            component->collection(i).may_coalesce_ = false;
        }
    }
    is_sending_state_ = was_sending;
    return is_sent;
}

void NetworkServer::mark_changed() {
    is_sending_state_ = true;
    // A behaviour that serializes itself may change others.
    marking_.swap(changed_);
    for (NetworkIdentity* object : marking_) {
        object->is_queued_ = false;
        bool is_waiting = false;
        for (NetworkBehaviour* component : object->components()) {
            if (component->is_dirty()) {
                mark(*object, *component);
            }
            is_waiting = is_waiting || component->has_changes();
        }
        if (is_waiting) {
            component_changed(*object);  // It is not due yet.
        }
    }
    marking_.clear();
    is_sending_state_ = false;
}

void NetworkServer::mark(NetworkIdentity& object, NetworkBehaviour& component) {
    const BehaviourType& type = *component.type_;
    if (type.has_custom_serialization) {
        send_section(object, component);
    } else {
        mark_sync_vars(object, component);
    }
    send_collections(object, component);
    component.last_sync_us_ = now_.microseconds;
}

void NetworkServer::mark_sync_vars(NetworkIdentity& object, NetworkBehaviour& component) {
    const NetworkPrefab::Component& placed =
        object.prefab().components()[component.component_index()];
    std::uint64_t bits = component.dirty_bits_;
    for (; bits != 0; bits &= bits - 1) {
        const auto variable = static_cast<std::size_t>(std::countr_zero(bits));
        if (variable >= placed.parents.size()) {
            break;  // Bits of the game's own, without a variable.
        }
        const std::uint32_t first = placed.parents[variable].value;
        const std::uint32_t count = placed.type->sync_vars[variable].property.array_dim;
        for (std::uint32_t i = 0; i < count; ++i) {
            driver_.mark_property_dirty(object.object_,
                                        ParentIndex{static_cast<std::uint16_t>(first + i)});
        }
    }
    component.dirty_bits_ = 0;
}

// NetWorld.

bool NetworkServer::holds_back(ObjectHandle handle, ParentIndex property) {
    const NetworkIdentity& object = NetworkIdentity::of(handle);
    for (const NetworkBehaviour* component : object.components()) {
        if (component->holds_back(property)) {
            return true;  // Its sync interval is not over.
        }
    }
    return false;
}

bool NetworkServer::has_object(ObjectHandle object) {
    return objects_.contains(
        reinterpret_cast<const NetworkIdentity*>(static_cast<std::uintptr_t>(object.value)));
}

void* NetworkServer::object_memory(ObjectHandle object) {
    return NetworkIdentity::of(object).block();
}

ObjectHandle NetworkServer::spawn(const SpawnInfo& /*info*/) {
    return {};
}

void NetworkServer::despawn(ObjectHandle /*object*/, ChannelCloseReason /*reason*/) {}

}  // namespace replayout::syncvar
