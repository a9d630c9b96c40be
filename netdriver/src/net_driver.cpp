// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include "layout_table.h"
#include "replication_client.h"
#include "replication_server.h"
#include "value_scope.h"

#include <array>
#include <string>

namespace replayout {

NetDriver::NetDriver(const NetDriverSettings& settings, Transport& transport, NetWorld& world)
    : settings_(settings),
      transport_(transport),
      world_(world),
      memory_(settings.resource, settings.executor != nullptr ? &memory_mutex_ : nullptr),
      guids_(NetGUIDCache::Authority::Assigns, &memory_.guids),
      spawn_handlers_(&memory_.layout_table),
      layouts_(std::make_unique<LayoutTable>(&memory_.layout_table)) {
    guids_.set_keeps_names(settings.is_keeping_names || settings.is_validating);
}

NetDriver::~NetDriver() = default;

Status NetDriver::add_layout(const RepLayout& layout) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    if (server_ != nullptr || client_ != nullptr) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: a layout was added after listen() or connect()"};
    }
    return layouts_->add(layout);
}

Status NetDriver::add_archetype(ArchetypeId id, const RepLayout& layout) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    if (server_ != nullptr || client_ != nullptr) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: an archetype was added after listen() or connect()"};
    }
    return layouts_->add_archetype(id, layout);
}

void NetDriver::set_spawn_handler(const RepLayout& layout, SpawnHandler* handler) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    if (handler != nullptr) {
        spawn_handlers_[&layout] = handler;
    } else {
        spawn_handlers_.erase(&layout);
    }
}

Status NetDriver::check_start() const {
    if (server_ != nullptr || client_ != nullptr) {
        return Error{ErrorCode::InvalidArgument, "net driver: started twice"};
    }
    Status status = settings_.config.validate();
    if (status) {
        status = settings_.interest.validate();
    }
    if (!status) {
        return status;
    }
    if (transport_.datagram_bytes_max() < settings_.config.packet_bytes_max) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: the transport carries " +
                         std::to_string(transport_.datagram_bytes_max()) +
                         " bytes, less than packet_bytes_max"};
    }
    return {};
}

Status NetDriver::listen() {
    REPLAYOUT_ASSERT(!is_calling_out_);
    Status status = check_start();
    if (!status) {
        return status;
    }
    for (std::uint32_t number = 0; number < layouts_->count(); ++number) {
        if (status = check_array_growth(*layouts_->find(number), settings_.config); !status) {
            return status;
        }
    }
    server_ = std::make_unique<ReplicationServer>(settings_, *layouts_, transport_, world_, guids_,
                                                  stats_, memory_, is_calling_out_);
    return {};
}

Status NetDriver::connect(PeerId server, NetTime now) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    Status status = check_start();
    if (!status) {
        return status;
    }
    now_ = now;
    guids_.set_authority(NetGUIDCache::Authority::Learns);
    client_ = std::make_unique<ReplicationClient>(settings_, *layouts_, transport_, world_, guids_,
                                                  stats_, server, now, memory_, spawn_handlers_,
                                                  is_calling_out_);
    return {};
}

void NetDriver::tick_dispatch(NetTime now) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(!is_ticking_);
    REPLAYOUT_ASSERT(server_ != nullptr || client_ != nullptr);
    const ValueScope calling_out(is_calling_out_, true);
    const ValueScope ticking(is_ticking_, true);
    now_ = now;
    receive_datagrams();
    if (server_ != nullptr) {
        server_->receive_held(now);
        server_->collect_stats();
    } else {
        client_->receive_held(now);
    }
    tell_of_peers();
}

void NetDriver::receive_datagrams() {
    std::array<std::byte, 2'048> buffer;
    for (std::uint32_t i = 0; i < settings_.config.datagrams_per_dispatch_max; ++i) {
        PeerId peer;
        const std::size_t size = transport_.receive(peer, buffer);
        if (size == Transport::nothing_received) {
            return;
        }
        const auto datagram = std::span<const std::byte>(buffer).first(size);
        if (server_ != nullptr) {
            server_->receive(peer, datagram, now_);
        } else {
            client_->receive(peer, datagram, now_);
        }
    }
}

void NetDriver::tell_of_peers() {
    const ValueScope calls_allowed(is_calling_out_, false);
    if (server_ != nullptr) {
        server_->tell_of_peers();
    } else {
        client_->tell_of_peers();
    }
}

void NetDriver::tick_flush(NetTime now) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(!is_ticking_);
    REPLAYOUT_ASSERT(server_ != nullptr || client_ != nullptr);
    const ValueScope calling_out(is_calling_out_, true);
    const ValueScope ticking(is_ticking_, true);
    now_ = now;
    if (server_ != nullptr) {
        server_->flush(now);
    } else {
        client_->flush(now);
    }
    tell_of_peers();
    if (server_ != nullptr) {
        server_->remove_closed(now);
    }
}

NetObjectId NetDriver::add_object(const RepLayout& layout, ObjectHandle object,
                                  const SpawnParameters& parameters) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->add_object(layout, object, parameters);
}

NetObjectId NetDriver::add_subobject(NetObjectId outer, const RepLayout& layout,
                                     ObjectHandle object, const SubobjectParameters& parameters) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->add_subobject(outer, layout, object, parameters);
}

void NetDriver::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->remove_object(id, reason);
}

void NetDriver::tear_off(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->tear_off(id);
}

void NetDriver::forget_destroyed(std::string_view stable_name) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->forget_destroyed(stable_name);
}

void NetDriver::forget_all_destroyed() {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->forget_all_destroyed();
}

Interest NetDriver::interest() {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return {*server_, is_calling_out_};
}

bool NetDriver::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->is_relevant_for(peer, id);
}

void NetDriver::mark_property_dirty(NetObjectId id, std::string_view property) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->mark_object_dirty(id);
}

NetRates NetDriver::rates() {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return NetRates(*server_, is_calling_out_);
}

void NetDriver::set_owner(NetObjectId id, PeerId owner) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.owner = owner;
    facts.has_owner = true;
    server_->set_facts(id, facts);
}

void NetDriver::clear_owner(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.owner = PeerId{};
    facts.has_owner = false;
    server_->set_facts(id, facts);
}

void NetDriver::set_autonomous(NetObjectId id, bool is_autonomous) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.is_autonomous = is_autonomous;
    server_->set_facts(id, facts);
}

void NetDriver::set_player(NetObjectId id, bool is_player) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.is_player = is_player;
    server_->set_facts(id, facts);
}

ObjectRole NetDriver::role_for(PeerId peer, NetObjectId id) const {
    return server_->role_for(peer, facts_of(id));
}

void NetDriver::set_host(PeerId host) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_host(host);
}

void NetDriver::clear_host() {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->clear_host();
}

void NetDriver::set_replicates_physics(NetObjectId id, bool has_physics) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    ObjectFacts facts = facts_of(id);
    facts.has_physics = has_physics;
    server_->set_facts(id, facts);
}

void NetDriver::set_property_active(NetObjectId id, std::string_view property, bool is_active) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_property_active(id, property, is_active);
}

void NetDriver::set_dynamic_condition(NetObjectId id, std::string_view property,
                                      LifetimeCondition condition) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dynamic_condition(id, property, condition);
}

LifetimeCondition NetDriver::dynamic_condition_of(NetObjectId id, std::string_view property) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->dynamic_condition_of(id, property);
}

void NetDriver::set_is_replay(PeerId peer, bool is_replay) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_is_replay(peer, is_replay);
}

void NetDriver::set_dormancy(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dormancy(id, dormancy);
}

NetDormancy NetDriver::dormancy_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->dormancy();
}

void NetDriver::set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_dormant_for(peer, id, is_dormant);
}

void NetDriver::flush_dormancy(NetObjectId id) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->flush_dormancy(id);
}

bool NetDriver::is_dormant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->is_dormant_for(peer, id);
}

const ObjectFacts& NetDriver::facts_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->facts();
}

CallResult NetDriver::call_function(NetObjectId id, std::string_view function, const void* params,
                                    RemoteFunctionSendPolicy policy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    const std::optional<FunctionIndex> found =
        server_->objects().at(id.index)->changelist_state().layout().find_function(function);
    return found.has_value() ? server_->call_function(id, *found, params, policy)
                             : CallResult::UnknownFunction;
}

CallResult NetDriver::call_function(NetObjectId id, FunctionIndex function, const void* params,
                                    RemoteFunctionSendPolicy policy) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->call_function(id, function, params, policy);
}

CallResult NetDriver::call_function(ObjectHandle object, std::string_view function,
                                    const void* params) {
    // From a notify or a hook too: a call is encoded and queued, and touches no object and no
    // channel.
    REPLAYOUT_ASSERT(client_ != nullptr);
    return client_->call_function(object, function, params);
}

Status NetDriver::start_recording(ReplayRecorder& recorder) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->start_recording(recorder, now_);
}

void NetDriver::stop_recording() {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->stop_recording(now_);
}

bool NetDriver::is_recording() const noexcept {
    return server_ != nullptr && server_->is_recording();
}

NetObjectId NetDriver::find_object(ObjectHandle object) const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    const ObjectStore& objects = server_->objects();
    const std::uint32_t index = objects.find_index(guids_.find_guid(object));
    return index == ObjectStore::no_index || objects.at(index)->is_torn_off()
               ? NetObjectId{}
               : objects.id_at(index);
}

NetGUID NetDriver::guid_of(NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->objects().at(id.index)->guid();
}

std::optional<ConnectionShadow> NetDriver::connection_shadow(PeerId peer, NetObjectId id) const {
    REPLAYOUT_ASSERT(server_ != nullptr && server_->objects().contains(id));
    return server_->connection_shadow(peer, id);
}

std::uint32_t NetDriver::object_count() const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->objects().object_count();
}

std::uint32_t NetDriver::connection_count() const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->connection_count();
}

ConnectionState NetDriver::connection_state(PeerId peer) const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    const NetConnection* connection = server_->find(peer);
    return connection == nullptr ? ConnectionState::Closed : connection->state();
}

void NetDriver::disconnect(PeerId peer) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    const ValueScope calling_out(is_calling_out_, true);
    if (server_ != nullptr) {
        server_->disconnect(peer, now_);
    } else if (client_ != nullptr) {
        client_->disconnect(now_);
    }
}

bool NetDriver::is_settled() const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->is_settled();
}

const NetStats& NetDriver::stats() const noexcept {
    if (server_ != nullptr) {
        server_->collect_stats();
    }
    return stats_;
}

const TypeCounters* NetDriver::type_counters(const RepLayout& layout) const noexcept {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return server_->type_counters(layout);
}

MemoryReport NetDriver::memory_report() const noexcept {
    MemoryReport report;
    report.object_bytes = memory_.objects.bytes_in_use();
    report.pair_bytes = memory_.pairs.bytes_in_use();
    report.connection_bytes = memory_.connections.bytes_in_use();
    report.in_flight_bytes = memory_.in_flight.bytes_in_use();
    report.channel_bytes = memory_.channels.bytes_in_use();
    report.guid_bytes = memory_.guids.bytes_in_use();
    report.layout_table_bytes = memory_.layout_table.bytes_in_use();
    report.scratch_bytes = memory_.scratch.bytes_in_use();
    report.validation_bytes = memory_.validation.bytes_in_use();
    if (server_ != nullptr) {
        server_->count_memory(report);
    } else if (client_ != nullptr) {
        report.connection_count = 1;
    }
    return report;
}

const RemoteFunctionCall* NetDriver::current_call() const noexcept {
    if (server_ != nullptr) {
        return server_->current_call();
    }
    return client_ != nullptr ? client_->receiver().current_call() : nullptr;
}

ConnectionState NetDriver::state() const noexcept {
    return client_ == nullptr ? ConnectionState::Closed : client_->connection().state();
}

CloseReason NetDriver::close_reason() const noexcept {
    return client_ == nullptr ? CloseReason::None : client_->connection().close_reason();
}

InitialBatchProgress NetDriver::initial_batch() const noexcept {
    return client_ != nullptr ? client_->initial_batch() : InitialBatchProgress();
}

ObjectRole NetDriver::role_of(ObjectHandle object) const noexcept {
    REPLAYOUT_ASSERT(client_ != nullptr);
    return client_->receiver().role_of(object);
}

const RepLayout* NetDriver::server_layout(std::string_view class_name) const noexcept {
    REPLAYOUT_ASSERT(client_ != nullptr);
    return client_->server_layout(class_name);
}

NetGUID NetDriver::find_reference(ObjectHandle object, const RepPath& path) const noexcept {
    REPLAYOUT_ASSERT(client_ != nullptr);
    return client_->receiver().find_reference(object, path);
}

}  // namespace replayout
