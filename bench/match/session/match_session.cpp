// SPDX-License-Identifier: MIT
#include "match/session/match_session.h"

#include "match/judge/client_judge.h"
#include "match/session/progress.h"

#include <replayout/netdriver/net_rates.h>
#include <replayout/reflection/hash.h>

#include <algorithm>
#include <string>

namespace replayout::match {

namespace {

constexpr PeerId server_peer = MatchNetwork::server_peer;
// After the network has healed: enough for every backoff to run out and for a large world to go out
// once more through windows of 224 packets a round trip.
constexpr std::uint64_t uncapped_settle_ticks_max = 3'000;
constexpr std::uint64_t quiescent_ticks = 90;
constexpr std::uint64_t ticks_per_second = 30;
// Under a cap the ticks behind a packet pay for it, so in those in which nothing is left waiting
// most is sent. A wait lasts for a few ticks beyond it, or it would seem to use less than it does.
constexpr std::uint64_t ticks_of_wait = 5;

[[nodiscard]] PeerId client_peer(std::uint32_t index) noexcept {
    return MatchNetwork::client_peer(index);
}

}  // namespace

MatchSession::Client::Client(const NetDriverSettings& settings, Transport& transport,
                             const MatchSchema& schema)
    : world(schema), driver(settings, transport, world) {}

MatchSession::MatchSession(const MatchOptions& options, std::span<const Recording> recordings,
                           const MatchSchema& schema, MatchNetwork& network)
    : options_(options),
      schema_(schema),
      network_(network),
      network_endpoint_(network.endpoint(server_peer)),
      server_(options, recordings, schema, result_),
      next_churn_s_(options.churn_s),
      next_owners_s_(options.owners_s),
      cap_meter_(options.clients) {
    server_.listen();
    if (!options_.record_path.empty()) {
        recorder_ = std::make_unique<MatchRecorder>(options_, recordings, server_.tick_count(),
                                                    server_.driver());
    }
    for (std::uint32_t i = 0; i < options_.clients; ++i) {
        peers_.push_back(client_peer(i));
        clients_.push_back(make_client(i));
    }
}

MatchSession::~MatchSession() = default;

std::unique_ptr<MatchSession::Client> MatchSession::make_client(std::uint32_t index) {
    // Another seed than that of all others, who came before under this address or are there now.
    const std::uint64_t seed = options_.seed + index + 1 + replaced_count_ * clients_.size();
    auto client = std::make_unique<Client>(match_driver_settings(seed),
                                           network_.endpoint(client_peer(index)), schema_);
    require(add_match_layouts(schema_, client->driver));
    return client;
}

MatchResult MatchSession::run(Progress& progress) {
    for (std::uint64_t tick = 0; tick < tick_count(); ++tick) {
        play_tick(tick, true);
        progress.advance(tick + 1);
    }
    result_.play_seconds = now_s();
    server_.finish_play();
    result_.staleness = staleness_.summary();
    settle();
    judge();
    server_.finish(peers_);
    return result_;
}

void MatchSession::start_clients(std::uint64_t tick) {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        const double join_s = options_.join_over_s * i / options_.clients;
        const bool is_last_chance = tick + 1 >= tick_count();
        if (!clients_[i]->is_started && (now_s() >= join_s || is_last_chance)) {
            clients_[i]->is_started = true;
            require(clients_[i]->driver.connect(server_peer, now_));
        }
    }
}

void MatchSession::replace_client() {
    const auto index = static_cast<std::uint32_t>(replaced_count_ % clients_.size());
    ++replaced_count_;
    std::unique_ptr<Client>& client = clients_[index];
    if (!client->is_started) {
        return;
    }
    if (replaced_count_ % 2 == 0) {
        client->driver.disconnect(server_peer);
        client->driver.tick_flush(now_);
    }
    client = make_client(index);
    client->is_started = true;
    staleness_.forget_client(index);
    require(client->driver.connect(server_peer, now_));
}

void MatchSession::play_tick(std::uint64_t tick, bool has_ops) {
    now_.microseconds += match_tick_us;
    network_.advance(now_);
    start_clients(tick);
    if (has_ops && options_.churn_s > 0 && now_s() >= next_churn_s_) {
        next_churn_s_ += options_.churn_s;
        replace_client();
    }
    inbox_.clear();
    inbox_.add_all(network_endpoint_);
    server_.begin_tick();
    server_.dispatch(inbox_, now_);
    if (has_ops) {
        apply_ops(tick);
    }
    server_.flush(now_);
    server_.end_tick(tick);
    deliver_outbox();
    tick_clients(now_);
    if (options_.bandwidth_bytes_per_second != 0) {
        measure_bytes(has_ops);
        if (has_ops) {
            measure_staleness(tick);
        }
    }
}

void MatchSession::apply_ops(std::uint64_t tick) {
    server_.apply_ops(tick);
    for (const ObjectHandle destroyed : server_.destroyed()) {
        staleness_.forget(destroyed);
    }
    if (options_.owners_s > 0 && now_s() >= next_owners_s_) {
        next_owners_s_ += options_.owners_s;
        server_.change_owners(peers_);
    }
    server_.set_viewers(peers_);
}

void MatchSession::measure_bytes(bool is_playing) {
    for (const DatagramList::Entry& entry : server_.outbox().entries()) {
        cap_meter_.add(static_cast<std::uint32_t>(entry.peer.value - client_peer(0).value),
                       server_.outbox().bytes(entry).size());
    }
    if (is_playing) {
        measure_waiting();
    }
    const std::uint64_t bytes = cap_meter_.end_tick();
    result_.most_bytes_in_second = cap_meter_.most_bytes_in_second();
    if (is_playing) {
        result_.capped_bytes += bytes;
        result_.capped_ticks += static_cast<std::uint64_t>(
            std::count_if(clients_.begin(), clients_.end(),
                          [](const auto& client) { return client->is_started; }));
    }
}

void MatchSession::measure_waiting() {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        std::uint64_t& ticks_left = clients_[i]->waiting_ticks_left;
        ticks_left = is_waiting_for_room(i) ? ticks_of_wait
                                            : ticks_left - std::min<std::uint64_t>(ticks_left, 1);
        if (ticks_left > 0) {
            ++result_.waiting_ticks;
            result_.waiting_bytes += cap_meter_.bytes_of_tick(i);
        }
    }
}

bool MatchSession::is_waiting_for_room(std::uint32_t client) {
    const NetRates rates = server_.driver().rates();
    return std::any_of(server_.ids().begin(), server_.ids().end(), [&](const auto& object) {
        const OwedReason reason = rates.owed_to(client_peer(client), object.second).reason;
        return reason == OwedReason::SteppedDown || reason == OwedReason::NoBudget ||
               reason == OwedReason::Joining;
    });
}

void MatchSession::measure_staleness(std::uint64_t tick) {
    const NetGUIDCache& guids = server_.driver().guids();
    for (const auto& [handle, id] : server_.ids()) {
        staleness_.look_at_server({handle}, *server_.world().find({handle}), tick);
        if (tick % ticks_between_looks != 0) {
            continue;
        }
        const NetGUID guid = guids.find_guid({handle});
        for (std::uint32_t i = 0; i < clients_.size(); ++i) {
            if (!server_.driver().is_relevant_for(client_peer(i), id)) {
                staleness_.forget_pair(i, {handle});
            } else if (clients_[i]->driver.state() == ConnectionState::Joined) {
                const ObjectHandle held = clients_[i]->driver.guids().find_object(guid);
                staleness_.look_at_client(
                    i, {handle}, held.is_null() ? nullptr : clients_[i]->world.find(held), tick);
            }
        }
    }
}

void MatchSession::deliver_outbox() {
    const DatagramList& outbox = server_.outbox();
    for (const DatagramList::Entry& entry : outbox.entries()) {
        const auto bytes = outbox.bytes(entry);
        // Chained: digest of (digest so far, receiver, bytes).
        const std::uint64_t head[2] = {result_.packets_digest, entry.peer.value};
        const auto head_bytes = std::as_bytes(std::span(head));
        digest_input_.assign(head_bytes.begin(), head_bytes.end());
        digest_input_.insert(digest_input_.end(), bytes.begin(), bytes.end());
        result_.packets_digest = hash64(digest_input_);
        network_endpoint_.send(entry.peer, bytes);
    }
}

void MatchSession::tick_clients(NetTime now) {
    for (const auto& client : clients_) {
        if (client->is_started) {
            client->driver.tick_dispatch(now);
            client->driver.tick_flush(now);
        }
    }
}

std::uint64_t MatchSession::settle_ticks_max() const {
    const std::uint64_t cap = options_.bandwidth_bytes_per_second;
    if (cap == 0) {
        return uncapped_settle_ticks_max;
    }
    // A client is owed the whole world at most, and what was lost of it on its way; a quarter more
    // goes into packets and acks, and 29/32 of a cap are used.
    return uncapped_settle_ticks_max + 3 * server_.world().bytes_to_send() * ticks_per_second / cap;
}

void MatchSession::settle() {
    network_.heal();
    std::uint64_t tick = tick_count();
    for (const std::uint64_t end = tick + settle_ticks_max(); tick < end && !result_.is_settled;) {
        play_tick(tick++, false);
        const bool all_joined = server_.driver().connection_count() == options_.clients;
        result_.is_settled = all_joined && server_.driver().is_settled();
    }
    result_.settle_ticks = tick - tick_count();
    if (recorder_ != nullptr) {  // a checkpoint would be no quiet
        result_.recorded = recorder_->stop();
    }
    const std::uint64_t before = server_.content_sent();
    for (std::uint64_t i = 0; i < quiescent_ticks; ++i) {
        play_tick(tick++, false);
    }
    result_.quiescent_ticks = quiescent_ticks;
    result_.quiescent_bytes = server_.content_sent() - before;
}

void MatchSession::judge() {
    const ClientJudge judge(schema_, server_.recorded().end_states(), server_.world(),
                            server_.driver());
    add_server_crcs(judge, server_.recorded().recordings(), result_);
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        const Client& client = *clients_[i];
        const ClientVerdict verdict =
            judge.judge(client.world, client.driver, client.is_started, client_peer(i));
        const bool is_equal = verdict.difference.empty() && verdict.crc32 == verdict.server_crc32;
        result_.add_client(verdict.is_joined, is_equal, verdict.crc32, verdict.difference);
    }
}

}  // namespace replayout::match
