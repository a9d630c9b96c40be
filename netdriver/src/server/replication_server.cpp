// SPDX-License-Identifier: MIT
#include "layout_messages.h"
#include "refusal_text.h"
#include "replication_server_client.h"

#include <algorithm>
#include <span>
#include <string>

namespace replayout {

namespace {

[[nodiscard]] bool is_of_other_session(std::span<const std::byte> datagram,
                                       std::uint16_t session) noexcept {
    // Of most packets it is the session that decides, so it alone is looked at first.
    if (datagram.size() >= 2 && std::to_integer<unsigned>(datagram[0]) == (session & 0xffu) &&
        std::to_integer<unsigned>(datagram[1]) == session >> 8) {
        return false;
    }
    PacketHeader header;
    return read_packet_header(datagram, header) != 0 && header.session != session;
}

/// Most packets do, so it is looked at before anything else of a hello.
[[nodiscard]] bool acknowledges_nothing(std::span<const std::byte> datagram,
                                        const NetConfig& config) noexcept {
    const std::uint32_t none = config.first_sequence - 1;
    return datagram.size() >= packet_header_bytes_min &&
           std::to_integer<unsigned>(datagram[4]) == (none & 0xffu) &&
           std::to_integer<unsigned>(datagram[5]) == (none >> 8 & 0xffu);
}

}  // namespace

ReplicationServer::Client::Client(ReplicationServer& server, const PacketSender::Settings& settings,
                                  ServerLane& client_lane, NetTime now, Transport* recording)
    : server_(server),
      is_replay(recording != nullptr),
      lane(client_lane),
      connection(server.settings_.config, settings,
                 ReceiveLimits::of_client_control(server.settings_.config),
                 recording != nullptr ? *recording : lane.client_transport, lane.stats,
                 ConnectionState::Joined, now, server.memory_, server.close_log_),
      sender(server.objects_, connection.packets(), lane.context, lane.stats,
             {server.settings_.config,
              settings.peer,
              {server.type_counters_.data(), server.type_counters_.size()},
              lane.candidates,
              lane.bundle_bytes,
              lane.bundle_choice,
              server.changes_,
              connection.now(),
              server.waiting_pool_},
             server.memory_),
      interest(settings.peer, server.memory_),
      other_versions(&server.memory_.connections),
      call_limiter(server.settings_.config, CallLimiter::Side::Server, now,
                   &server.memory_.connections),
      strikes(server.settings_.config.client_strikes_per_second_max,
              server.settings_.config.client_strikes_per_second_max, now) {
    if (server.settings_.is_validating) {
        sender.start_validating(server.guids_);
    }
}

CloseReason ReplicationServer::Client::handle_control(std::span<const std::byte> message) {
    ClassDifference told;
    if (may_tell_difference && read_layout_difference(message, told)) {
        may_tell_difference = false;
        server_.close_log_.difference_told(connection.peer(), told.class_name,
                                           to_sentence(told.difference), connection.now());
        return CloseReason::None;
    }
    Hello hello;
    return read_hello(message, hello) ? CloseReason::None : CloseReason::NotAllowed;
}

ReplicationServer::ReplicationServer(const NetDriverSettings& settings, const LayoutTable& layouts,
                                     Transport& transport, NetWorld& world, NetGUIDCache& guids,
                                     NetStats& stats, MemoryMeters& memory, bool& is_calling_out)
    : settings_(settings),
      layouts_(layouts),
      transport_(transport),
      world_(world),
      guids_(guids),
      stats_(stats),
      memory_(memory),
      schema_(layouts.digest()),
      lanes_(settings, guids, stats, transport, memory),
      objects_(&memory.objects),
      shadow_ids_(guids),
      live_(&memory.objects),
      due_(&memory.objects),
      calendar_(&memory.objects),
      class_frequencies_(Allocator<NetUpdateFrequency>(&memory.layout_table)),
      class_bands_(Allocator<std::uint8_t>(&memory.layout_table)),
      compared_alone_(&memory.scratch),
      written_alone_(&memory.scratch),
      shared_values_(&memory.scratch),
      polled_(&memory.objects),
      tolerated_(&memory.objects),
      changes_(&memory.objects),
      bundles_(objects_, changes_, shared_values_.unasked(),
               settings.config.packet_bytes_max - PacketBuilder::reserved_bytes, memory),
      dormancy_(&memory.objects),
      torn_off_(&memory.objects),
      departures_(Allocator<Departure>(&memory.objects)),
      told_of_dropped_calls_(&memory.objects),
      interest_(settings.interest, objects_, world, stats.interest, memory),
      bundle_order_(objects_, interest_, &memory.scratch),
      conditional_(&memory.objects),
      new_objects_(&memory.objects),
      family_(Allocator<std::uint32_t>(&memory.scratch)),
      destroyed_names_(&memory.objects),
      mark_validator_(settings.mark_validation_ticks, &memory.objects),
      type_counters_(Allocator<TypeCounters>(&memory.layout_table)),
      waiting_pool_(settings.config.clients_waiting_bytes_max),
      clients_(Allocator<Client*>(&memory.connections)),
      clients_by_peer_(&memory.connections),
      replaced_(Allocator<ReplacedPeer>(&memory.connections)),
      ended_sessions_(settings.config.connections_max + refused_max, &memory.connections),
      descriptions_(Allocator<Vector<std::byte>>(&memory.layout_table)),
      call_ids_(objects_, guids, &memory.scratch),
      called_(Allocator<Client*>(&memory.scratch)),
      call_scratch_(&memory.scratch),
      call_context_{call_ids_,        stats.replication, call_scratch_,
                    settings.sharing, nullptr,           settings.is_validating},
      call_encoder_(ReceiveLimits::of_server(settings.config), &memory.scratch),
      call_runner_(settings.config, guids, stats, memory, is_calling_out, peer_log_, now_),
      is_calling_out_(is_calling_out),
      close_log_(layouts, now_) {
    if (settings.is_counting_types) {
        type_counters_.reserve(layouts.count());
        for (std::uint32_t number = 0; number < layouts.count(); ++number) {
            type_counters_.emplace_back(*layouts.find(number), &memory.layout_table);
        }
    }
    for (std::uint32_t number = 0; number < layouts.count(); ++number) {
        if (is_compared_alone(*layouts.find(number))) {
            compared_alone_.insert(number);
        }
    }
    if (settings.layout_policy == LayoutPolicy::SkipUnknown) {
        describe_layouts();
    }
}

ReplicationServer::~ReplicationServer() {
    for (Client* client : clients_) {
        destroy(client);
    }
}

void ReplicationServer::destroy(Client* client) noexcept {
    interest_.remove_client(client->interest);
    --client->lane.client_count;
    std::destroy_at(client);
    memory_.connections.deallocate(client, sizeof(Client), alignof(Client));
}

void ReplicationServer::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    now_ = now;
    Client* const client = find_sender(peer);
    if (client == nullptr || is_of_other_session(datagram, client->connection.session())) {
        receive_hello(peer, datagram, now);
        return;
    }
    // The peer has acknowledged packets before, so this hello comes late, or is of a process that
    // began anew with the same number. The session must not hear of it.
    if (acknowledges_nothing(datagram, settings_.config) && client->connection.is_acknowledged()) {
        PacketHeader header;
        if (is_hello(datagram, header)) {
            refuse_session(peer, header);
            return;
        }
    }
    // Calls were put off: what comes before they ran is lost, and comes again.
    if (client->may_have_due_calls && client->sender.incoming_calls().is_full()) {
        ++stats_.packets_dropped;
        ++stats_.packets_over_rate;
        return;
    }
    client->connection.receive(datagram, now, *client, client->sender);
}

ReplicationServer::Client* ReplicationServer::find_client(PeerId peer) const {
    const auto found = clients_by_peer_.find(peer.value);
    return found == clients_by_peer_.end() ? nullptr : found->second;
}

ReplicationServer::Client* ReplicationServer::find_sender(PeerId peer) {
    Client* client = next_sender_ < clients_.size() ? clients_[next_sender_] : nullptr;
    if (client == nullptr || client->connection.peer() != peer || !client->is_addressed) {
        client = find_client(peer);
    }
    REPLAYOUT_ASSERT(client == find_client(peer));
    if (client != nullptr) {
        next_sender_ = client->place + 1 < clients_.size() ? client->place + 1 : 0;
    }
    return client;
}

ReplicationServer::Client* ReplicationServer::find_joined(PeerId peer) const {
    Client* const client = find_client(peer);
    return client != nullptr && is_joined(*client) ? client : nullptr;
}

void ReplicationServer::add_client(Client& client) {
    clients_.push_back(&client);
    number_clients(clients_.size() - 1);
}

void ReplicationServer::number_clients(std::size_t begin) noexcept {
    for (std::size_t i = begin; i < clients_.size(); ++i) {
        clients_[i]->place = static_cast<std::uint32_t>(i);
    }
}

void ReplicationServer::receive_held(NetTime now) {
    for (Client* client : clients_) {
        client->connection.receive_held(now, *client, client->sender);
    }
    ++dispatch_;
}

void ReplicationServer::flush(NetTime now) {
    if (replay_ != nullptr) {  // a server that stood still has its recording, as it has its clients
        replay_->connection.acknowledge_all(now, replay_->sender);
    }
    is_any_joining_ = false;
    for (Client* client : clients_) {
        const InitialBatch& batch = client->sender.initial_batch();
        is_any_joining_ = is_any_joining_ || batch.state() != InitialBatch::State::Finished;
        client->connection.begin_flush(now);
        if (client->sender.begin_flush(now) && is_joined(*client)) {
            client->connection.close(CloseReason::CallsStalled, now);
        }
    }
    check_clients(now);
    close_left();
    update_relevancy();
    server_replicate_actors(now);
    for (Client* client : clients_) {
        client->connection.flush(now);
    }
    if (recorder_ != nullptr) {
        record_flush(now);
    }
    collect_stats();
    give_back_room();
}

void ReplicationServer::check_clients(NetTime now) {
    constexpr std::uint64_t period = 64;  // flushes from one check of a client to the next
    const NetTime since = now.plus_milliseconds(-std::int64_t{settings_.config.waiting_timeout_ms});
    for (std::uint64_t i = changes_.flush % period; i < clients_.size(); i += period) {
        Client& client = *clients_[i];
        if (is_joined(client) && client.sender.incoming_calls().is_stuck_since(since)) {
            client.connection.close(CloseReason::ReliableOverflow, now);
        }
        look_for_viewer(client);
    }
}

void ReplicationServer::look_for_viewer(Client& client) {
    constexpr std::uint8_t looks_max = 3;  // so it had 128 flushes to be given one
    const bool has_viewer =
        std::any_of(client.interest.viewers.begin(), client.interest.viewers.end(),
                    [](std::uint32_t viewer) { return viewer != InterestGrid::no_viewer; });
    if (has_viewer || client.is_replay || !is_joined(client) ||
        client.looks_without_viewer == looks_max || !interest_.grid().has_objects()) {
        return;
    }
    if (++client.looks_without_viewer == looks_max) {
        peer_log_.write(
            LogLevel::Warning, client.connection.peer(),
            "peer " + std::to_string(client.connection.peer().value) +
                " has no viewer, so of objects of NetRelevancy::Grid and Distance it is "
                "shown those alone that it owns: call Interest::set_viewer() for it",
            now_);
    }
}

// In each flush of one connection, so that no flush has all to do.
void ReplicationServer::give_back_room() {
    const std::uint64_t turn = changes_.flush % KeptRoom::period;
    for (std::uint64_t i = turn; i < clients_.size(); i += KeptRoom::period) {
        clients_[i]->connection.packets().trim();
        clients_[i]->sender.trim();
    }
    if (turn == 0) {
        bundles_.trim();
        bundle_order_.trim();
        lanes_.trim();
        for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
            lanes_[i].trim();
        }
        if (replay_tap_.has_value()) {
            replay_tap_->trim();
        }
    }
}

void ReplicationServer::tell_of_peers() {
    if (host_.has_value() && !is_host_told_of_) {
        is_host_told_of_ = true;
        world_.peer_joined(*host_);
    }
    for (const ReplacedPeer& replaced : replaced_) {
        world_.peer_left(replaced.peer, replaced.reason);
    }
    replaced_.clear();
    for (Client* client : clients_) {
        const NetConnection& connection = client->connection;
        if (client->is_replay || is_joined(*client) == client->is_told_of) {
            continue;
        }
        client->is_told_of = is_joined(*client);
        if (client->is_told_of) {
            world_.peer_joined(connection.peer());
        } else {
            world_.peer_left(connection.peer(), connection.close_reason());
        }
    }
}

void ReplicationServer::server_replicate_actors(NetTime now) {
    take_due(now);
    mark_validator_.validate(objects_, live_, dormancy_.dormant, world_, stats_.replication);
    // Phase A: what changed, once for all connections.
    compare_due_objects();
    hand_back_torn_off_objects();
    changes_.finish();
    ask_shared_values();
    build_bundles();
    // Phase B: who is owed what, connection by connection.
    if (is_any_joining_) {
        begin_initial_batches();
    }
    replicate_to_all();
    changes_.clear();
    rest_dormant_objects();
    remove_torn_off_objects();
}

void ReplicationServer::ask_shared_values() {
    if (!shared_values_.has_objects()) {
        return;
    }
    shared_values_.note(changes_);
    const auto shown_of = [&](std::size_t word, std::uint64_t objects) {
        std::uint64_t shown = 0;
        for (const Client* client : clients_) {
            if ((objects & ~shown) == 0) {
                break;
            }
            if (is_joined(*client)) {
                const PairDormancy& resting = client->sender.dormancy();
                shown |= ~(resting.dormant.word(word) | resting.irrelevant.word(word));
            }
        }
        return shown;
    };
    shared_values_.ask(objects_, lanes_[0].context, {type_counters_.data(), type_counters_.size()},
                       shown_of);
}

void ReplicationServer::build_bundles() {
    bundles_.thin_old_runs([this](const BundleRun& run, std::span<std::uint64_t> held) {
        for (const Client* client : clients_) {
            client->connection.packets().mark_held(run, held);
        }
    });
    const auto is_taker = [](const Client* client) {
        return client->connection.state() == ConnectionState::Joined &&
               client->sender.takes_bundles();
    };
    const auto is_capped_taker = [&](const Client* client) {
        return client->sender.is_capped() && is_taker(client);
    };
    if (std::all_of(clients_.begin(), clients_.end(),
                    [](const Client* client) { return client->is_replay; })) {
        bundles_.give_back();
        return;
    }
    if (!changes_.has_any() || std::none_of(clients_.begin(), clients_.end(), is_taker)) {
        bundles_.clear();
        return;
    }
    using Contents = BundleBuilder::Contents;
    Contents contents = Contents::Bytes;
    if (settings_.sharing != SharingLevel::Bundles) {
        contents = std::any_of(clients_.begin(), clients_.end(), is_capped_taker)
                       ? Contents::Measured
                       : Contents::Objects;
    }
    bundle_order_.find(changes_);
    // What is counted by type all lanes have in common.
    const bool may_split = lanes_.count() > 1 && type_counters_.empty() &&
                           !changes_.objects.intersects(written_alone_);
    if (is_worth_lanes(may_split ? changes_.objects.count() : 0)) {
        bundles_.build_in_lanes(lanes_, contents, bundle_order_.indices());
    } else {
        bundles_.build(lanes_[0].context, contents, bundle_order_.indices(),
                       {type_counters_.data(), type_counters_.size()});
    }
}

void ReplicationServer::replicate_to_all() {
    const std::uint32_t initial_opens = is_any_joining_ ? initial_opens_per_client() : 0;
    if (is_worth_lanes(lanes_.count() > 1 ? sending_work(initial_opens) : 0)) {
        replicate_in_lanes(initial_opens);
    } else {
        for_each_joined([&](Client& client) { replicate_to(client, initial_opens); });
    }
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        lanes_[i].end_flush();
    }
}

void ReplicationServer::replicate_to(Client& client, std::uint32_t initial_opens) {
    client.sender.mark_changed();
    client.sender.hold_back_initial_batch();
    send_destruction_notices(client);
    finish_initial_batch(client);  // before anything new is under way
    client.sender.tell_wanted();
    const bool is_ready = client.sender.initial_batch().state() != InitialBatch::State::Before;
    bool has_room = client.sender.resend_opens();
    has_room = client.connection.packets().write_first_bunches() && has_room;
    if (!has_room && !client.sender.resend_opens_with_what_is_left()) {
        client.sender.skip_objects(priority_inputs(client));
    } else if (is_ready) {
        client.sender.process_prioritized_actors(initial_opens, bundles_, priority_inputs(client));
    } else {
        client.sender.decline_bundles();
    }
    client.sender.validate_pairs();
}

void ReplicationServer::remove_closed(NetTime now) {
    ended_sessions_.forget_before(
        now.plus_milliseconds(-std::int64_t{settings_.config.timeout_ms}));
    const auto is_closed = [](const Client* client) {
        // That of a recording goes with it.
        return client->connection.state() == ConnectionState::Closed && !client->is_replay;
    };
    for (Client* client : clients_) {
        if (is_closed(client)) {
            ended_sessions_.add(client->connection.peer(), client->connection.session(), now,
                                client->connection.packets().credit());
            if (client->is_addressed) {
                clients_by_peer_.erase(client->connection.peer().value);
            }
        }
    }
    // In place: the algorithms of the standard library would ask the global heap for memory.
    const auto end = std::remove_if(clients_.begin(), clients_.end(), [&](Client* client) {
        const bool is_gone = is_closed(client);
        if (is_gone) {
            destroy(client);
        }
        return is_gone;
    });
    if (end != clients_.end()) {
        clients_.erase(end, clients_.end());
        number_clients();
    }
}

std::optional<ConnectionShadow> ReplicationServer::connection_shadow(PeerId peer,
                                                                     NetObjectId id) const {
    const Client* client = find_joined(peer);
    return client == nullptr ? std::nullopt : client->sender.connection_shadow(id.index);
}

void ReplicationServer::set_is_replay(PeerId peer, bool is_replay) {
    if (Client* client = find_joined(peer)) {
        client->sender.set_is_replay(is_replay);
        show_conditional(*client);
    }
}

std::uint32_t ReplicationServer::connection_count() const noexcept {
    return static_cast<std::uint32_t>(std::count_if(
        clients_.begin(), clients_.end(),
        [](const Client* client) { return is_joined(*client) && !client->is_replay; }));
}

const TypeCounters* ReplicationServer::type_counters(const RepLayout& layout) const noexcept {
    const std::uint32_t number = layouts_.number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, nullptr, "%s",
                     unknown_layout("type_counters", layout).c_str());
    return type_counters_.empty() ? nullptr : &type_counters_[number];
}

void ReplicationServer::count_memory(MemoryReport& report) const noexcept {
    report.object_count = objects_.object_count();
    report.connection_count = clients_.size();
    report.pair_count = report.object_count * report.connection_count;
}

const NetConnection* ReplicationServer::find(PeerId peer) const noexcept {
    const Client* const client = find_client(peer);
    return client == nullptr ? nullptr : &client->connection;
}

void ReplicationServer::disconnect(PeerId peer, NetTime now) {
    if (Client* const client = find_client(peer)) {
        client->connection.close(CloseReason::Requested, now);
    }
}

bool ReplicationServer::is_settled() const noexcept {
    return torn_off_.is_empty() && departures_.empty() &&
           std::all_of(clients_.begin(), clients_.end(), [&](const Client* client) {
               return is_joined(*client) && client->sender.is_settled() &&
                      client->next_notice == destroyed_names_.count() &&
                      !client->connection.packets().awaits_ack();
           });
}

}  // namespace replayout
