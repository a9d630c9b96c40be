// SPDX-License-Identifier: MIT
#include "simulation/simulation.h"

#include "support/checks/marked_bytes.h"

#include <algorithm>
#include <string>

namespace replayout::test {

namespace {

constexpr std::uint32_t attempts_max = 4;       ///< to be quiet
constexpr std::size_t empty_bytes_max = 1'024;  ///< lists without anything in them

[[nodiscard]] bool happens(Choices& row, bool may, std::uint32_t per_mille) {
    const bool is_drawn = row.below(1'000) + per_mille >= 1'000;
    return may && is_drawn;
}

/// Mostly short, now and then long.
[[nodiscard]] std::uint32_t some_ticks(Choices& row, std::uint32_t most) {
    return 1 + row.below(row.percent(80) ? most / 8 + 1 : most);
}

}  // namespace

Simulation::Simulation(const SwarmConfig& swarm, const TwinSettings& twin, std::FILE* trace)
    : swarm_(swarm),
      trace_(trace),
      network_(swarm.to_client, swarm.to_server, SimServer::peer),
      server_(swarm_, twin, network_.endpoint(SimServer::peer), verdict_, digest_, trace_),
      packets_(server_, verdict_),
      staleness_(swarm_, server_, verdict_),
      to_client_(swarm.to_client),
      to_server_(swarm.to_server) {
    network_.on_sent = [this](PeerId from, PeerId to, std::span<const std::byte> datagram) {
        judge_packet(from, to, datagram);
    };
    server_.connection_at = [this](PeerId address) {
        const SimClient* client = client_at(address);
        return client == nullptr ? 0 : client->connection();
    };
    if (swarm.has(Feature::Recording) && !swarm.has(Feature::Rates)) {
        recorded_.emplace(server_, swarm_, verdict_);
        is_recorded_ = true;
    }
    Choices row = Choices::from_seed(swarm.seed, ~std::uint64_t{2}, 128);
    for (std::uint32_t i = 0; i < swarm.client_count; ++i) {
        const bool is_hostile = swarm.has(Feature::HostilePeer) && i + 1 == swarm.client_count;
        clients_.push_back(std::make_unique<SimClient>(swarm_, PeerId{2 + i}, network_, server_,
                                                       is_hostile ? hostile_verdict_ : verdict_,
                                                       digest_, trace_));
        SimClient& client = *clients_.back();
        client.is_hostile = is_hostile;
        client.is_older = swarm.has(Feature::SchemaSkew) && i % 2 == 0;
        client.is_lacking_barges = swarm.has(Feature::MissingClass) && i % 3 != 2;
        const std::uint32_t late = row.below(300);
        client.absent_ticks = swarm.has(Feature::LateJoins) && i > 0 ? late : 0;
        const std::uint32_t skewed = row.between(900, 1'100);
        client.clock_per_mille = swarm.has(Feature::ClockSkew) ? skewed : 1'000;
        if (is_hostile) {
            server_.hostile.insert(client.peer());
            network_.set_hostile(client.peer(), row.between(50, 1'000));
        }
    }
}

RunResult Simulation::run() {
    while (tick_ < swarm_.tick_count && verdict_.is_good()) {
        tick(true);
    }
    if (recorded_ && planted == PlantedFault::Recording) {
        recorded_->plant_change();
    }
    if (verdict_.is_good() && recorded_) {
        result_.seeks = recorded_->play(Choices::from_seed(swarm_.seed, ~std::uint64_t{3}, 128));
    }
    recorded_.reset();
    if (verdict_.is_good()) {
        heal();
        await_converged();
    }
    if (verdict_.is_good()) {
        end_all();
    }
    for (const std::unique_ptr<SimClient>& client : clients_) {
        client->crash();
        result_.clients.add(client->counts());
    }
    result_.finding = verdict_.finding();
    result_.digest = digest_.value();
    result_.faults = network_.counts();
    result_.game = server_.counts();
    result_.closed = server_.driver().stats().closed;
    result_.secrets_seen = packets_.secrets_seen();
    result_.waits = staleness_.percents();
    return result_;
}

void Simulation::plant_secret() {
    for (const auto& [handle, craft] : server_.crafts()) {
        const std::uint64_t bits = MarkedValue{craft.number, orders_mark, 1}.bits();
        Bytes datagram(3);
        for (std::uint32_t i = 0; i < 64; i += 8) {
            datagram.push_back(static_cast<std::byte>(bits >> i & 0xFF));
        }
        packets_.sent(PeerId{777}, datagram, true);
    }
}

std::vector<PeerId> Simulation::players() const {
    std::vector<PeerId> players;
    for (const std::unique_ptr<SimClient>& client : clients_) {
        players.push_back(client->address());
    }
    return players;
}

SimClient* Simulation::client_at(PeerId address) {
    for (const std::unique_ptr<SimClient>& client : clients_) {
        if (client->address() == address) {
            return client.get();
        }
    }
    return nullptr;
}

void Simulation::judge_packet(PeerId from, PeerId to, std::span<const std::byte> datagram) {
    digest_.add(from.value << 32 ^ to.value);
    digest_.add(datagram);
    if (from == SimServer::peer) {
        staleness_.sent(to);
        packets_.sent(to, datagram, swarm_.has(Feature::Secrets));
    }
}

// A tick.

void Simulation::tick(bool is_safety) {
    verdict_.begin_tick(tick_);
    trace_.begin_tick(tick_);
    now_.microseconds += swarm_.tick_us;
    network_.advance(now_, is_safety ? swarm_.row(RunPart::Network, tick_) : Choices({}));
    if (is_safety) {
        disturb();
    }
    if (server_hitch_ticks_ > 0) {
        --server_hitch_ticks_;
    } else {
        tick_server(is_safety);
    }
    for (const std::unique_ptr<SimClient>& client : clients_) {
        tick_client(*client, is_safety);
        if (is_safety && swarm_.is_judging_staleness) {
            staleness_.look(*client, tick_);
        }
    }
    if (planted == PlantedFault::Slow && tick_ == 60) {
        for (const PeerId player : players()) {
            server_.driver().rates().set_bytes_per_second_max(player, 1'800);
        }
    }
    if (planted == PlantedFault::Counter) {
        packets_.sent(PeerId{2}, {}, false);
    }
    packets_.check_counters(server_.driver().stats(), network_.received_by(SimServer::peer),
                            is_recorded_);
    packets_.check_memory();
    result_.tick_digests.push_back(digest_.value());
    ++tick_;
}

void Simulation::tick_server(bool is_safety) {
    Choices row = is_safety ? swarm_.row(RunPart::Game, tick_) : Choices({});
    const bool is_hashed = swarm_.has(Feature::HostilePeer);
    const std::uint64_t before = is_hashed ? server_.state_hash() : 0;
    const std::uint64_t reactions = server_.counts().reactions;
    const std::uint64_t received = network_.received_by(SimServer::peer);
    server_.dispatch(now_, row);
    if (planted == PlantedFault::Rejected) {
        server_.plant_write();
    }
    const std::uint64_t taken = network_.received_by(SimServer::peer) - received +
                                (planted == PlantedFault::ManyDatagrams ? 1u << 20 : 0u);
    verdict_.require(Invariant::DatagramsOfTick,
                     taken <= net_config(swarm_).datagrams_per_dispatch_max,
                     [] { return "more datagrams are read in one tick than may be"; });
    verdict_.require(
        Invariant::RejectedInput,
        !is_hashed || server_.counts().reactions != reactions || server_.state_hash() == before,
        [] { return "what arrived changed the server's crafts"; });
    if (planted == PlantedFault::Secret) {
        plant_secret();
    }
    if (is_safety) {
        server_.play(tick_, row, players());
    }
    if (!is_safety && swarm_.is_busy) {
        server_.lift_caps(players());  // also of players that joined since
    }
    server_.flush(now_);
    if (recorded_) {
        recorded_->note(now_);
    }
    const MemoryReport memory = server_.driver().memory_report();
    verdict_.require(Invariant::Memory,
                     memory.connection_bytes + memory.in_flight_bytes + memory.bundle_bytes <=
                         (memory.connection_count + 1) * (1u << 20),
                     [] { return "the server holds more than 1 MiB for a connection"; });
    // Of a long run: what it needed in its first thousand ticks is what it needs.
    memory_of_warm_server_ =
        tick_ <= 1'000 ? std::max<std::uint64_t>(memory_of_warm_server_, memory.total_bytes())
                       : memory_of_warm_server_;
    verdict_.require(Invariant::Memory,
                     memory.total_bytes() <= 2 * memory_of_warm_server_ + (1u << 20),
                     [] { return "the server's memory grows and grows"; });
}

void Simulation::tick_client(SimClient& client, bool is_safety) {
    if (!client.is_playing()) {
        if (client.absent_ticks > 0) {
            --client.absent_ticks;
        } else if (is_safety || !client.is_hostile) {
            join(client, is_safety);
        }
        return;
    }
    if (client.hitch_ticks > 0) {
        --client.hitch_ticks;
        return;
    }
    Choices row = is_safety ? swarm_.client_row(client.peer().value, tick_) : Choices({});
    client.tick(swarm_.tick_us, row);
    if (client.is_closed()) {
        const CloseReason reason = client.driver()->close_reason();
        const bool is_of_bytes =
            reason == CloseReason::MalformedBlock || reason == CloseReason::MalformedBunch;
        result_.tight_ends += client.has_tight_memory && is_of_bytes ? 1u : 0u;
        client.crash();
        client.absent_ticks = is_safety ? 10 : 1;
    }
}

void Simulation::join(SimClient& client, bool is_safety) {
    client.is_talking = true;
    // An older one is refused for it when it joins: a layout that is described has long arrays.
    client.has_tight_memory = is_safety && swarm_.has(Feature::TightMemory) && !client.is_older &&
                              last_connection_ % 3 == 0;
    result_.tight_joins += client.has_tight_memory ? 1u : 0u;
    client.join(++last_connection_);
}

// Faults.

void Simulation::disturb() {
    Choices row = swarm_.row(RunPart::Events, tick_);
    if (happens(row, swarm_.has(Feature::Replays), swarm_.replay_per_mille)) {
        for (std::uint32_t i = row.below(4) + 1; i > 0; --i) {
            network_.replay();
        }
    }
    if (happens(row, swarm_.has(Feature::ServerHitches), 4)) {
        server_hitch_ticks_ = some_ticks(row, 200);
        ++result_.hitches;
    }
    if (happens(row, swarm_.has(Feature::Bandwidth), 5)) {
        to_client_.bytes_per_second = row.between(4, 1'000) * 1'000;
        to_server_.bytes_per_second = row.between(4, 1'000) * 1'000;
        network_.set_faults(to_client_, to_server_);
    }
    for (const std::unique_ptr<SimClient>& client : clients_) {
        disturb(*client, row);
    }
}

void Simulation::disturb(SimClient& client, Choices& row) {
    if (client.parted_ticks > 0 && --client.parted_ticks == 0) {
        network_.set_parted(client.peer(), false, false);
    }
    if (happens(row, swarm_.has(Feature::Partitions), 5)) {
        const std::uint32_t direction = row.below(3);
        network_.set_parted(client.peer(), direction != 1, direction != 2);
        client.parted_ticks = some_ticks(row, 900);
        ++result_.partitions;
    }
    if (happens(row, swarm_.has(Feature::Rebinding), 3) && !client.is_hostile) {
        client.move_to(PeerId{++last_address_});
        ++result_.rebinds;
    }
    if (!client.is_playing()) {
        return;
    }
    // A client that is to be shown all of a busy world stays for a while.
    const bool may_end =
        !swarm_.is_busy || static_cast<std::int64_t>(tick_) % (2'000'000 / swarm_.tick_us) == 0;
    const std::uint32_t end_per_mille = swarm_.is_busy ? 40 : 4;
    if (happens(row, may_end && swarm_.has(Feature::Crashes), end_per_mille)) {
        client.crash();
        client.absent_ticks = some_ticks(row, 100);
        ++result_.crashes;
        return;
    }
    if (happens(row, may_end && swarm_.has(Feature::Leaves), end_per_mille)) {
        client.say_goodbye();
        client.absent_ticks = some_ticks(row, 100);
        return;
    }
    if (happens(row, swarm_.has(Feature::ClientHitches), 6)) {
        client.hitch_ticks = some_ticks(row, 200);
        network_.set_queue_max(client.peer(), row.between(4, 64));
        ++result_.hitches;
    }
    if (happens(row, swarm_.has(Feature::ClockSteps), 3)) {
        move_clock(client, row);
    }
}

void Simulation::move_clock(SimClient& client, Choices& row) {
    ++result_.clock_steps;
    if (row.percent(50)) {
        client.frozen_ticks = some_ticks(row, 200);
        return;
    }
    client.step_clock(std::int64_t{1'000} * row.between(10, row.percent(80) ? 1'000 : 60'000));
}

// Liveness.

void Simulation::heal() {
    network_.heal();
    server_hitch_ticks_ = 0;
    for (const std::unique_ptr<SimClient>& client : clients_) {
        client->hitch_ticks = 0;
        client->frozen_ticks = 0;
        client->absent_ticks = 0;
        client->parted_ticks = 0;
        client->clock_per_mille = 1'000;
        client->is_talking = false;
        if (client->is_hostile || client->has_tight_memory) {
            client->crash();
        }
        if (planted == PlantedFault::Unreachable) {
            network_.set_parted(client->peer(), true, false);
        }
    }
    server_.wake_all(players());
}

std::uint64_t Simulation::ended_connections() {
    const auto& closed = server_.driver().stats().closed;
    std::uint64_t count = 0;
    for (const std::uint64_t reason : closed) {
        count += reason;
    }
    return count + last_connection_;
}

void Simulation::await_converged() {
    // Whoever was silent when all was healed may be given up a moment later, and joins again; what
    // was delayed arrives within seconds; what waits at a bottleneck has none any more.
    const std::int64_t bound_us =
        std::int64_t{5'000} * swarm_.timeout_ms + 15'000'000 + 20'000 * swarm_.to_client.latency_ms;
    const NetTime end{std::max(now_, network_.last_due()).microseconds + bound_us};
    const NetTime begin = now_;
    last_due_ = network_.last_due();
    const std::uint64_t bytes_before = network_.counts().bytes;
    const std::uint64_t ended_before = ended_connections();
    std::uint32_t attempts = 0;
    std::uint32_t settled_ticks = 0;
    while (verdict_.is_good()) {
        tick(false);
        settled_ticks = is_converged() ? settled_ticks + 1 : 0;
        if (settled_ticks >= 3) {
            if (result_.healed_ms == 0) {
                result_.healed_ms =
                    static_cast<std::uint64_t>(now_.microseconds - begin.microseconds) / 1'000;
                judge_healing(ended_before, network_.counts().bytes - bytes_before);
            }
            if (stay_quiet() || ++attempts == attempts_max) {
                break;
            }
            settled_ticks = 0;
        }
        verdict_.require(Invariant::Healing, now_ < end, [this] {
            std::string text = "not all have what they are to have";
            for (const std::unique_ptr<SimClient>& client : clients_) {
                text +=
                    client->is_playing()
                        ? ", state " + std::to_string(static_cast<int>(client->driver()->state()))
                        : ", absent";
            }
            return text;
        });
    }
    if (verdict_.is_good()) {
        for (const std::unique_ptr<SimClient>& client : clients_) {
            if (client->is_playing()) {
                if (planted == PlantedFault::WrongValue) {
                    client->plant_value();
                }
                client->check_converged();
            }
        }
        trace_.healed();
    }
}

void Simulation::judge_healing(std::uint64_t ended_before, std::uint64_t bytes) {
    // A rate that congestion control found is not lifted by healing.
    if (ended_connections() != ended_before || swarm_.has_congestion_control) {
        return;
    }
    const std::int64_t round_trip_ms =
        swarm_.to_client.latency_ms + swarm_.to_server.latency_ms + 3 * swarm_.tick_us / 1'000;
    // What was owed goes by windows; large values have a part of one.
    const std::int64_t windows =
        static_cast<std::int64_t>(bytes) / (32 * net_config(swarm_).packet_bytes_max);
    const std::int64_t bound_ms = (10 + windows) * round_trip_ms + 4'000;
    verdict_.require(
        Invariant::Healing, now_.microseconds <= last_due_.microseconds + bound_ms * 1'000, [&] {
            return "healing took " + std::to_string(result_.healed_ms) + " ms, and may take " +
                   std::to_string(bound_ms) + " from when the last datagram arrived";
        });
}

bool Simulation::is_converged() {
    NetDriver& driver = server_.driver();
    // Connections of who is gone, hostile or forged, end first.
    const auto honest = std::count_if(clients_.begin(), clients_.end(),
                                      [](const auto& client) { return !client->is_hostile; });
    // What is still delayed may be a hello of who is gone.
    return driver.is_settled() && now_ > last_due_ &&
           driver.memory_report().connection_count == static_cast<std::uint64_t>(honest) &&
           std::all_of(clients_.begin(), clients_.end(), [&](const auto& client) {
               return client->is_hostile ||
                      (client->is_playing() &&
                       client->driver()->state() == ConnectionState::Joined &&
                       driver.connection_state(client->address()) == ConnectionState::Joined);
           });
}

bool Simulation::stay_quiet() {
    const std::uint64_t ended = ended_connections();
    const NetStats before = server_.driver().stats();
    const FaultCounts sent = network_.counts();
    constexpr std::uint32_t quiet_ticks = 90;
    for (std::uint32_t i = 0; i < quiet_ticks && verdict_.is_good(); ++i) {
        if (planted == PlantedFault::Noise) {
            server_.plant_write();
        }
        tick(false);
    }
    if (ended_connections() != ended) {
        return false;
    }
    const NetStats& after = server_.driver().stats();
    const std::uint64_t records = after.records_sent - before.records_sent;
    const std::uint64_t bunches = after.bunches_sent - before.bunches_sent;
    const std::uint64_t calls = after.calls_sent - before.calls_sent;
    verdict_.require(Invariant::Silence, records + bunches + calls == 0, [&] {
        return "sent though nothing changes: " + std::to_string(records) + " records, " +
               std::to_string(bunches) + " bunches, " + std::to_string(calls) + " calls";
    });
    const std::uint64_t packets = network_.counts().sent - sent.sent;
    const std::uint64_t keep_alives = quiet_ticks * static_cast<std::uint64_t>(swarm_.tick_us) /
                                          1'000 / net_config(swarm_).keep_alive_ms +
                                      2;
    // A keep-alive may ask for an answer.
    const std::uint64_t most = 4 * keep_alives * (clients_.size() + 1);
    verdict_.require(Invariant::Silence, packets <= most, [&] {
        return std::to_string(packets) + " packets are sent though nothing changes, " +
               std::to_string(most) + " would do";
    });
    return true;
}

void Simulation::end_all() {
    for (const std::unique_ptr<SimClient>& client : clients_) {
        client->planted_bytes = planted == PlantedFault::KeptMemory ? 8 : 0;
        client->say_goodbye();
        client->absent_ticks = 1'000'000;
    }
    server_.remove_all();
    NetDriver& driver = server_.driver();
    const std::int64_t bound_us = std::int64_t{3'000} * swarm_.timeout_ms;
    for (const NetTime begin = now_;
         driver.memory_report().connection_count != 0 && verdict_.is_good();) {
        tick(false);
        verdict_.require(Invariant::Memory, now_.microseconds - begin.microseconds <= bound_us,
                         [] { return "who left is remembered for too long"; });
    }
    server_hitch_ticks_ = 0;
    tick(false);  // with the last client goes, in a flush, what the server keeps for all of them
    const MemoryReport memory = driver.memory_report();
    verdict_.require(Invariant::Memory, memory.object_count == 0 && memory.pair_count == 0,
                     [] { return "something is left of objects"; });
    const std::size_t bytes = memory.in_flight_bytes + memory.bundle_bytes;
    verdict_.require(Invariant::Memory, bytes <= empty_bytes_max,
                     [&] { return "in flight to nobody: " + std::to_string(bytes) + " bytes"; });
}

}  // namespace replayout::test
