// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/reflection/hash.h>

#include "layout_table.h"
#include "replication_client.h"
#include "replication_server.h"
#include "value_scope.h"

#include <array>
#include <cstdint>
#include <string>

namespace replayout {

namespace {

// No byte hangs on it, so it need not be the same each time, and nobody has to think of it: the
// system lays out memory by chance.
[[nodiscard]] std::uint64_t table_secret(std::uint64_t seed, const void* driver) noexcept {
    return hash64(seed, std::uint64_t{reinterpret_cast<std::uintptr_t>(driver)});
}

}  // namespace

NetDriver::NetDriver(const NetDriverSettings& settings, Transport& transport, NetWorld& world)
    : settings_(settings),
      transport_(transport),
      world_(world),
      memory_(settings.resource, settings.executor != nullptr ? &memory_mutex_ : nullptr),
      guids_(NetGUIDCache::Authority::Assigns, table_secret(settings.seed, this), &memory_.guids),
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

Interest NetDriver::interest() {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return {*server_, is_calling_out_};
}

NetRates NetDriver::rates() {
    REPLAYOUT_ASSERT(server_ != nullptr);
    return NetRates(*server_, is_calling_out_);
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

void NetDriver::set_is_replay(PeerId peer, bool is_replay) {
    REPLAYOUT_ASSERT(!is_calling_out_);
    REPLAYOUT_ASSERT(server_ != nullptr);
    server_->set_is_replay(peer, is_replay);
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
