// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/reflection/hash.h>

#include "call_refusals.h"
#include "driver_end.h"
#include "layout_table.h"
#include "scoped_value.h"

#include <array>
#include <string>

namespace replayout {

namespace {

// No byte hangs on it, so it need not be the same each time, and nobody has to think of it: the
// system lays out memory by chance.
[[nodiscard]] std::uint64_t table_secret(std::uint64_t seed, const void* driver) noexcept {
    return hash64(seed, std::uint64_t{reinterpret_cast<std::uintptr_t>(driver)});
}

[[nodiscard]] NetDriverSettings with_resource(NetDriverSettings settings) {
    if (settings.resource == nullptr) {
        log(LogLevel::Error,
            "NetDriverSettings::resource is null: the driver takes the default resource");
        settings.resource = resource_of(settings);
    }
    return settings;
}

}  // namespace

NetDriver::NetDriver(const NetDriverSettings& settings, Transport& transport, NetWorld& world)
    : settings_(with_resource(settings)),
      transport_(transport),
      world_(world),
      memory_(settings_.resource, settings.executor != nullptr ? &memory_mutex_ : nullptr),
      guids_(NetGUIDCache::Authority::Assigns, table_secret(settings.seed, this), &memory_.guids),
      spawn_handlers_(&memory_.layout_table),
      layouts_(std::make_unique<LayoutTable>(&memory_.layout_table)) {
    guids_.set_keeps_names(settings.is_keeping_names || settings.is_validating);
}

NetDriver::~NetDriver() = default;

void NetDriver::advance_to(NetTime now) {
    REPLAYOUT_EXPECT(!has_time_ || now >= now_, void(),
                     "now went back by %lld us: a driver takes the time of a clock that only goes "
                     "forward, so no time has passed",
                     static_cast<long long>(now_.microseconds_since(now)));
    now_ = now;
    has_time_ = true;
}

Status NetDriver::add_layout(const RepLayout& layout) {
    if (server_ != nullptr || client_ != nullptr) {
        return Error{
            ErrorCode::InvalidArgument,
            "net driver: add_layout() after listen() or connect(): add all layouts before, "
            "and call each of these once"};
    }
    return layouts_->add(layout);
}

Status NetDriver::add_archetype(ArchetypeId id, const RepLayout& layout) {
    if (server_ != nullptr || client_ != nullptr) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: an archetype was added after listen() or connect()"};
    }
    return layouts_->add_archetype(id, layout);
}

void NetDriver::set_spawn_handler(const RepLayout& layout, SpawnHandler* handler) {
    REPLAYOUT_EXPECT(!is_calling_out_, void(), "%s", DriverEnd::refusal_within(__func__).c_str());
    REPLAYOUT_EXPECT(layouts_->number_of_added(layout) != LayoutTable::no_number, void(), "%s",
                     unknown_layout(__func__, layout).c_str());
    if (handler != nullptr) {
        spawn_handlers_[&layout] = handler;
    } else {
        spawn_handlers_.erase(&layout);
    }
}

Status NetDriver::check_start() const {
    if (is_players_) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: it belongs to a ReplayPlayer, which starts it"};
    }
    if (server_ != nullptr || client_ != nullptr) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: listen() or connect() was called before: a driver "
                     "starts once, so make another one"};
    }
    return check_settings();
}

Status NetDriver::check_settings() const {
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
    if (settings_.may_leave_out_texts || is_players_) {  // a player sends nothing
        return {};
    }
    return layouts_->check_texts(settings_.config);
}

Status NetDriver::listen() {
    Status status = check_start();
    if (status) {
        status = layouts_->check_array_growth(settings_.config);
    }
    if (!status) {
        return status;
    }
    server_ = std::make_unique<ReplicationServer>(ServerEnvironment{
        settings_, *layouts_, transport_, world_, guids_, stats_, memory_, is_calling_out_});
    return {};
}

Status NetDriver::connect(PeerId server, NetTime now) {
    if (Status checked = check_start(); !checked) {
        return checked;
    }
    if (server == PeerId{}) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: connect() to peer 0, which no transport has"};
    }
    advance_to(now);
    guids_.set_authority(NetGUIDCache::Authority::Learns);
    client_ = std::make_unique<ReplicationClient>(settings_, *layouts_, transport_, world_, guids_,
                                                  stats_, server, now, memory_, spawn_handlers_,
                                                  is_calling_out_);
    return {};
}

void NetDriver::tick_dispatch(NetTime now) {
    const DriverEnd::Ticks ticks{is_ticking_, is_players_};
    REPLAYOUT_EXPECT(end().may_tick(ticks), void(), "%s",
                     end().refusal_of_tick(__func__, ticks).c_str());
    advance_to(now);
    const ScopedValue calling_out(is_calling_out_, true);
    const ScopedValue ticking(is_ticking_, true);
    if (client_ != nullptr) {
        client_->run_put_off_calls();
    }
    receive_datagrams();
    if (server_ != nullptr) {
        server_->receive_held(now_);
        server_->run_put_off_calls(now_);
        server_->collect_stats();
    } else {
        client_->receive_held(now_);
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
    const ScopedValue calls_allowed(is_calling_out_, false);
    if (server_ != nullptr) {
        server_->clients().tell_world();
    } else {
        client_->tell_of_peers();
    }
}

void NetDriver::tick_flush(NetTime now) {
    const DriverEnd::Ticks ticks{is_ticking_, is_players_};
    REPLAYOUT_EXPECT(end().may_tick(ticks), void(), "%s",
                     end().refusal_of_tick(__func__, ticks).c_str());
    advance_to(now);
    const ScopedValue calling_out(is_calling_out_, true);
    const ScopedValue ticking(is_ticking_, true);
    if (server_ != nullptr) {
        server_->flush(now_);
    } else {
        client_->flush(now_);
    }
    tell_of_peers();
    if (server_ != nullptr) {
        server_->remove_closed(now_);
    }
}

// Objects of a server.

NetObjectId NetDriver::add_object(const RepLayout& layout, ObjectHandle object,
                                  const SpawnParameters& parameters) {
    REPLAYOUT_EXPECT_MAY(NetObjectId(), may_change);
    return server_->lives().add(layout, object, parameters);
}

NetObjectId NetDriver::add_subobject(NetObjectId outer, const RepLayout& layout,
                                     ObjectHandle object, const SubobjectParameters& parameters) {
    REPLAYOUT_EXPECT_MAY(NetObjectId(), may_change, outer);
    return server_->lives().add_part(outer, layout, object, parameters);
}

void NetDriver::remove_object(NetObjectId id, ChannelCloseReason reason) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->lives().remove(id, reason);
}

void NetDriver::tear_off(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->lives().tear_off(id);
}

void NetDriver::forget_destroyed(std::string_view stable_name) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->notices().forget(stable_name);
}

void NetDriver::forget_all_destroyed() {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->notices().forget_all();
}

NetObjectId NetDriver::find_object(ObjectHandle object) const noexcept {
    REPLAYOUT_EXPECT_MAY(NetObjectId(), may_read);
    const ObjectStore& objects = server_->objects();
    const ObjectIndex index = objects.find_index(guids_.find_guid(object));
    return index == no_object || objects.at(index)->is_departing() ? NetObjectId{}
                                                                   : objects.id_at(index);
}

NetGUID NetDriver::guid_of(NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(NetGUID(), may_read, id);
    return server_->objects().at(slot_of(id))->guid();
}

bool NetDriver::is_relevant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(false, may_read, id);
    return server_->relevancy().is_relevant_for(peer, id);
}

void NetDriver::mark_property_dirty(NetObjectId id, std::string_view property) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->properties().mark_dirty(id, property);
}

void NetDriver::mark_property_dirty(NetObjectId id, ParentIndex property) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->mark_property_dirty(id, property);
}

void NetDriver::mark_object_dirty(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->properties().mark_all_dirty(id);
}

void NetDriver::set_owner(NetObjectId id, PeerId owner) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(owner != PeerId{}, void(), "%s: peer 0 is nobody: use clear_owner()",
                     end().named(__func__, id).c_str());
    server_->ownership().set_owner(id, owner);
}

void NetDriver::clear_owner(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->ownership().clear_owner(id);
}

void NetDriver::set_autonomous(NetObjectId id, bool is_autonomous) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->ownership().set_flag(id, &ObjectOwnership::is_autonomous, is_autonomous);
}

void NetDriver::set_player(NetObjectId id, bool is_player) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->ownership().set_flag(id, &ObjectOwnership::is_player, is_player);
}

ObjectRole NetDriver::role_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(nobodys_role, may_read, id);
    return server_->clients().host().role_for(peer,
                                              server_->objects().at(slot_of(id))->ownership());
}

void NetDriver::set_replicates_physics(NetObjectId id, bool has_physics) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->ownership().set_flag(id, &ObjectOwnership::has_physics, has_physics);
}

void NetDriver::set_property_active(NetObjectId id, std::string_view property, bool is_active) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->properties().set_active(id, property, is_active);
}

void NetDriver::set_dynamic_condition(NetObjectId id, std::string_view property,
                                      LifetimeCondition condition) {
    REPLAYOUT_EXPECT_MAY(void(), may_change, id);
    server_->properties().set_dynamic_condition(id, property, condition);
}

LifetimeCondition NetDriver::dynamic_condition_of(NetObjectId id, std::string_view property) const {
    REPLAYOUT_EXPECT_MAY(LifetimeCondition::None, may_read, id);
    return server_->properties().dynamic_condition_of(id, property);
}

void NetDriver::set_dormancy(NetObjectId id, NetDormancy dormancy) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    REPLAYOUT_EXPECT(dormancy <= NetDormancy::Initial, void(), "%s: %u is no NetDormancy",
                     end().named(__func__, id).c_str(), static_cast<unsigned>(dormancy));
    server_->dormancy().set(id, dormancy);
}

NetDormancy NetDriver::dormancy_of(NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(NetDormancy::Awake, may_read, id);
    return server_->objects().at(slot_of(id))->dormancy();
}

void NetDriver::set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->dormancy().set_for(peer, id, is_dormant);
}

void NetDriver::flush_dormancy(NetObjectId id) {
    REPLAYOUT_EXPECT_MAY(void(), may_change_whole, id);
    server_->dormancy().flush(id);
}

bool NetDriver::is_dormant_for(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(false, may_read, id);
    return server_->dormancy().is_for(peer, id);
}

CallResult NetDriver::call_function(NetObjectId id, std::string_view function, CallArguments params,
                                    CallSendPolicy policy) {
    return call_named(id, {function, {}}, params, policy);
}

CallResult NetDriver::call_function(NetObjectId id, FunctionIndex function, CallArguments params,
                                    CallSendPolicy policy) {
    REPLAYOUT_EXPECT_MAY(CallResult::Misused, may_change, id);
    const RepLayout& layout = server_->objects().at(slot_of(id))->changelist_state().layout();
    REPLAYOUT_EXPECT(is_callable(layout, function, params), CallResult::Misused,
                     "%s (object %u.%u)", uncallable(layout, function, params).c_str(), id.index,
                     id.generation);
    REPLAYOUT_EXPECT(policy <= CallSendPolicy::ForceQueue, CallResult::Misused,
                     "%s: %u is no CallSendPolicy", end().named(__func__, id).c_str(),
                     static_cast<unsigned>(policy));
    return server_->calls().call(id, function, params.memory(), policy);
}

CallProgress NetDriver::call_progress(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(CallProgress::Arrived, may_read, id);
    return server_->calls().progress(peer, id);
}

CallResult NetDriver::call_named(NetObjectId id, const CalledFunction& function,
                                 CallArguments params, CallSendPolicy policy) {
    REPLAYOUT_EXPECT(end().may_change(id), CallResult::Misused, "%s",
                     end().refusal("call_function", id).c_str());
    const RepLayout& layout = server_->objects().at(slot_of(id))->changelist_state().layout();
    const std::optional<FunctionIndex> found = find_called(layout, function);
    if (!found.has_value()) {
        server_->calls().log_unknown_function(layout, function.name);
        return CallResult::UnknownFunction;
    }
    return call_function(id, *found, params, policy);
}

// All else of a server.

Interest NetDriver::interest() {
    return {server_.get(), is_calling_out_};
}

NetRates NetDriver::rates() {
    return {server_.get(), is_calling_out_};
}

void NetDriver::set_host(PeerId host) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    REPLAYOUT_EXPECT(
        host != PeerId{}, void(),
        "set_host: peer 0 is nobody: choose an id that your transport gives to nobody");
    server_->clients().set_host(host);
}

void NetDriver::clear_host() {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->clients().host().clear();
}

void NetDriver::set_is_replay(PeerId peer, bool is_replay) {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->relevancy().set_is_replay(peer, is_replay);
}

Status NetDriver::start_recording(ReplayRecorder& recorder) {
    if (!end().may_change()) {
        return Error{ErrorCode::InvalidArgument,
                     "net driver: " + std::string(end().refusal("start_recording").c_str())};
    }
    return server_->recording().start(recorder, now_);
}

void NetDriver::stop_recording() {
    REPLAYOUT_EXPECT_MAY(void(), may_change);
    server_->recording().stop(now_);
}

bool NetDriver::is_recording() const noexcept {
    return server_ != nullptr && server_->recording().is_on();
}

std::optional<ConnectionShadow> NetDriver::connection_shadow(PeerId peer, NetObjectId id) const {
    REPLAYOUT_EXPECT_MAY(std::nullopt, may_read, id);
    return server_->clients().connection_shadow(peer, id);
}

std::uint32_t NetDriver::object_count() const noexcept {
    REPLAYOUT_EXPECT_MAY(0, may_read);
    return server_->lives().count();
}

std::uint32_t NetDriver::connection_count() const noexcept {
    REPLAYOUT_EXPECT_MAY(0, may_read);
    return server_->clients().joined_count();
}

ConnectionState NetDriver::connection_state(PeerId peer) const noexcept {
    REPLAYOUT_EXPECT_MAY(ConnectionState::Closed, may_read);
    const NetConnection* connection = server_->clients().find_connection(peer);
    return connection == nullptr ? ConnectionState::Closed : connection->state();
}

bool NetDriver::is_settled() const noexcept {
    REPLAYOUT_EXPECT_MAY(true, may_read);
    return server_->is_settled();
}

// A client.

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
    REPLAYOUT_EXPECT(client_ != nullptr, nobodys_role, "%s",
                     end().refusal_of_client(__func__).c_str());
    return client_->receiver().role_of(object);
}

const RepLayout* NetDriver::server_layout(std::string_view class_name) const noexcept {
    REPLAYOUT_EXPECT(client_ != nullptr, nullptr, "%s", end().refusal_of_client(__func__).c_str());
    return client_->server_layout(class_name);
}

NetGUID NetDriver::find_reference(ObjectHandle object, const RepPath& path) const noexcept {
    REPLAYOUT_EXPECT(client_ != nullptr, NetGUID(), "%s",
                     end().refusal_of_client(__func__).c_str());
    return client_->receiver().find_reference(object, path);
}

CallResult NetDriver::call_function(ObjectHandle object, std::string_view function,
                                    CallArguments params) {
    return call_named(object, {function, {}}, params);
}

CallResult NetDriver::call_named(ObjectHandle object, const CalledFunction& function,
                                 CallArguments params) {
    // From a notify or a hook too: a call is encoded and queued, and touches no object and no
    // channel.
    REPLAYOUT_EXPECT(client_ != nullptr, CallResult::Misused, "%s",
                     end().refusal_of_client("call_function of an ObjectHandle").c_str());
    return client_->call_function(object, function, params);
}

void NetDriver::run_kept_calls(ObjectHandle object) {
    REPLAYOUT_EXPECT(client_ != nullptr, void(), "%s", end().refusal_of_client(__func__).c_str());
    REPLAYOUT_EXPECT(!is_calling_out_, void(), "%s", DriverEnd::refusal_within(__func__).c_str());
    client_->run_kept_calls(object);
}

void NetDriver::values_grew(ObjectHandle object, std::uint64_t bytes) {
    REPLAYOUT_EXPECT(client_ != nullptr, void(), "%s", end().refusal_of_client(__func__).c_str());
    client_->values_grew(object, bytes);
}

// Both.

void NetDriver::disconnect(PeerId peer) {
    REPLAYOUT_EXPECT(!is_calling_out_, void(), "%s", DriverEnd::refusal_within(__func__).c_str());
    REPLAYOUT_EXPECT(!is_players_, void(),
                     "disconnect: the driver belongs to a ReplayPlayer, which has no server");
    const ScopedValue calling_out(is_calling_out_, true);
    if (server_ != nullptr) {
        server_->clients().disconnect(peer, now_);
    } else if (client_ != nullptr) {
        client_->disconnect(now_);
    }
}

const NetStats& NetDriver::stats() const noexcept {
    if (server_ != nullptr) {
        server_->collect_stats();
    }
    return stats_;
}

const TypeCounters* NetDriver::type_counters(const RepLayout& layout) const noexcept {
    REPLAYOUT_EXPECT_MAY(nullptr, may_read);
    return server_->type_counters(layout);
}

MemoryReport NetDriver::memory_report() const noexcept {
    MemoryReport report;
    report.object_bytes = memory_.objects.bytes_in_use();
    report.pair_bytes = memory_.pairs.bytes_in_use();
    report.connection_bytes = memory_.connections.bytes_in_use();
    report.in_flight_bytes = memory_.in_flight.bytes_in_use();
    report.bundle_bytes = memory_.bundles.bytes_in_use();
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

const CurrentCall* NetDriver::current_call() const noexcept {
    if (server_ != nullptr) {
        return server_->calls().runner().current_call();
    }
    return client_ != nullptr ? client_->receiver().calls().current() : nullptr;
}

}  // namespace replayout
