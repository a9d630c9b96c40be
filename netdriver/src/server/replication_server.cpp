// SPDX-License-Identifier: MIT
#include "replication_server.h"

#include "client_payloads.h"
#include "refusal_text.h"

#include <algorithm>
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

}  // namespace

ReplicationServer::ReplicationServer(const ServerEnvironment& environment)
    : environment_(environment),
      log_(environment_.layouts),
      lanes_(environment_.settings, environment_.guids, environment_.stats, environment_.transport,
             environment_.memory),
      objects_(environment_.guids, environment_.memory),
      interest_(environment_.settings.interest, objects_.store, environment_.world,
                environment_.stats.interest, environment_.memory),
      clients_(environment_, objects_, lanes_, interest_, log_),
      compare_(environment_, objects_, lanes_),
      values_(environment_, objects_),
      priorities_(environment_, objects_, clients_, compare_, interest_),
      dormancy_(environment_, objects_, clients_, compare_),
      waits_(environment_, objects_, clients_, log_),
      relevancy_(environment_, objects_, clients_, interest_, dormancy_, waits_),
      ownership_(objects_, clients_, relevancy_),
      properties_(objects_, clients_, compare_),
      departures_(environment_, objects_, clients_, relevancy_, waits_),
      notices_(environment_, objects_, clients_),
      lives_(environment_, {objects_, clients_, compare_, values_, priorities_, dormancy_,
                            relevancy_, departures_, notices_}),
      calls_(environment_, {objects_.store, clients_, compare_, dormancy_, relevancy_}, log_),
      client_calls_(environment_, objects_, clients_, calls_.runner(), log_),
      batches_(environment_, objects_, clients_, interest_),
      fan_out_(environment_,
               {objects_, clients_, lanes_, interest_, values_, priorities_, notices_, batches_}),
      recording_(environment_, clients_, lives_, batches_, fan_out_),
      admission_(environment_, clients_, client_calls_, lives_, log_) {}

// Clients hold what the parts lent them.
ReplicationServer::~ReplicationServer() {
    clients_.end_all();
}

void ReplicationServer::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    log_.now = now;
    ServerClient* const client = clients_.find_sender(peer);
    if (client == nullptr || is_of_other_session(datagram, client->connection.session())) {
        admission_.receive(peer, datagram, now);
        return;
    }
    if (admission_.refuse_late_hello(*client, datagram)) {
        return;
    }
    // Calls were put off: what comes before they ran is lost, and comes again.
    if (client->due_calls.may_exist &&
        (client->sender.incoming_calls().is_full() || client_calls_.have_waited_long(*client))) {
        ++environment_.stats.packets_dropped;
        ++environment_.stats.packets_over_rate;
        return;
    }
    client->due_calls.fates_before = client->connection.packets().sent().fate_units();
    ClientPayloads payloads(*client, client_calls_, log_);
    client->connection.receive(datagram, now, payloads, client->sender);
}

void ReplicationServer::receive_held(NetTime now) {
    for (ServerClient* client : clients_) {
        ClientPayloads payloads(*client, client_calls_, log_);
        client->due_calls.fates_before = client->connection.packets().sent().fate_units();
        client->connection.receive_held(now, payloads, client->sender);
    }
    admission_.end_dispatch();
}

void ReplicationServer::flush(NetTime now) {
    recording_.begin_flush(now);
    const bool is_any_joining = begin_flush(now);
    check_clients(now);
    departures_.close_left();
    relevancy_.update();
    server_replicate_actors(now, is_any_joining);
    for (ServerClient* client : clients_) {
        client->connection.flush(now);
    }
    recording_.end_flush(now);
    collect_stats();
    give_back_room();
}

bool ReplicationServer::begin_flush(NetTime now) {
    bool is_any_joining = false;
    for (ServerClient* client : clients_) {
        const InitialBatch& batch = client->sender.initial_batch();
        is_any_joining = is_any_joining || batch.state() != InitialBatch::State::Finished;
        client->connection.begin_flush(now);
        if (client->sender.begin_flush(now) && client->is_joined()) {
            client->connection.close(CloseReason::CallsStalled, now);
        }
    }
    return is_any_joining;
}

void ReplicationServer::check_clients(NetTime now) {
    constexpr std::uint64_t period = 64;  // flushes from one check of a client to the next
    const std::int64_t timeout_ms{environment_.settings.config.waiting_timeout_ms};
    const NetTime since = now.plus_milliseconds(-timeout_ms);
    for (std::uint64_t i = objects_.changes.flush % period; i < clients_.size(); i += period) {
        ServerClient& client = clients_[i];
        if (client.is_joined() && client.sender.incoming_calls().is_stuck_since(since)) {
            client.connection.close(CloseReason::ReliableOverflow, now);
        }
        look_for_viewer(client);
    }
}

void ReplicationServer::look_for_viewer(ServerClient& client) {
    constexpr std::uint8_t looks_max = 3;  // so it had 128 flushes to be given one
    const bool has_viewer =
        std::any_of(client.interest.viewers.begin(), client.interest.viewers.end(),
                    [](std::uint32_t viewer) { return viewer != InterestGrid::no_viewer; });
    if (has_viewer || client.is_replay || !client.is_joined() ||
        client.looks_without_viewer == looks_max || !interest_.grid().has_objects()) {
        return;
    }
    if (++client.looks_without_viewer == looks_max) {
        log_.peers.write(
            LogLevel::Warning, client.connection.peer(),
            "peer " + std::to_string(client.connection.peer().value) +
                " has no viewer, so of objects of NetRelevancy::Grid and Distance it is "
                "shown those alone that it owns: call Interest::set_viewer() for it",
            log_.now);
    }
}

void ReplicationServer::server_replicate_actors(NetTime now, bool is_any_joining) {
    // Phase A: what changed, once for all connections.
    compare_.take_due(now);
    compare_.run();
    lives_.hand_back_torn_off();
    objects_.changes.finish();
    fan_out_.lay_down();
    // Phase B: what each connection is owed.
    if (is_any_joining) {
        batches_.begin();
    }
    fan_out_.replicate(is_any_joining);
    objects_.changes.clear();
    dormancy_.rest_dormant_objects();
    lives_.remove_torn_off();
}

// In each flush of one connection, so that no flush has all to do.
void ReplicationServer::give_back_room() {
    const std::uint64_t turn = objects_.changes.flush % KeptRoom::period;
    for (std::uint64_t i = turn; i < clients_.size(); i += KeptRoom::period) {
        clients_[i].connection.packets().trim();
        clients_[i].sender.trim();
    }
    if (turn == 0) {
        fan_out_.trim();
        recording_.trim();
    }
}

void ReplicationServer::remove_closed(NetTime now) {
    admission_.forget_old_sessions(now);
    clients_.end_closed([&](ServerClient& client) { admission_.note_ended(client, now); });
}

const TypeCounters* ReplicationServer::type_counters(const RepLayout& layout) const noexcept {
    const std::uint32_t number = environment_.layouts.number_of_added(layout);
    REPLAYOUT_EXPECT(number != LayoutTable::no_number, nullptr, "%s",
                     unknown_layout("type_counters", layout).c_str());
    return clients_.type_counters(number);
}

void ReplicationServer::count_memory(MemoryReport& report) const noexcept {
    report.object_count = objects_.store.object_count();
    report.connection_count = clients_.size();
    report.pair_count = report.object_count * report.connection_count;
}

bool ReplicationServer::is_settled() const noexcept {
    return lives_.are_settled() &&
           std::all_of(clients_.begin(), clients_.end(), [&](const ServerClient* client) {
               return client->is_joined() && client->sender.is_settled() &&
                      notices_.has_sent_all(*client) &&
                      !client->connection.packets().sent().awaits_ack();
           });
}

}  // namespace replayout
