// SPDX-License-Identifier: MIT
#include "match/match_session.h"

#include <replayout/dump.h>

#include "match/allocation_counter.h"
#include "match/client_judge.h"
#include "match/progress.h"
#include "percentile.h"

#include <replayout/netdriver/net_rates.h>

#include <replayout/reflection/hash.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

namespace replayout::match {

namespace {

constexpr std::int64_t tick_us = 33'333;
constexpr PeerId server_peer{1};
// After the network has healed: enough for every backoff to run out and for a large world to go out
// once more through windows of 224 packets a round trip.
constexpr std::uint64_t uncapped_settle_ticks_max = 3'000;
constexpr std::uint64_t quiescent_ticks = 90;
constexpr std::uint64_t ticks_per_second = 30;
// Under a cap the ticks behind a packet pay for it, so in those in which nothing is left waiting
// most is sent. A wait lasts for a few ticks beyond it, or it would seem to use less than it does.
constexpr std::uint64_t ticks_of_wait = 5;

[[nodiscard]] PeerId client_peer(std::uint32_t index) noexcept {
    return {index + 2};
}

[[nodiscard]] SimulatedNetworkSettings network_settings(const MatchOptions& options) {
    SimulatedNetworkSettings settings;
    settings.link.loss = options.loss;
    settings.link.burst_packets = options.burst_packets;
    settings.link.duplicate = options.duplicate;
    settings.link.reorder = options.reorder;
    settings.link.latency_ms = options.latency_ms;
    settings.link.jitter_ms = options.jitter_ms;
    settings.link.bandwidth_bytes_per_second = options.bandwidth_bytes_per_second;
    return settings;
}

[[nodiscard]] NetDriverSettings driver_settings(std::uint64_t seed, SharingLevel sharing,
                                                MemoryResource* resource) {
    NetDriverSettings settings;
    settings.resource = resource;
    settings.seed = seed;
    settings.sharing = sharing;
    settings.is_keeping_names = true;  // for the judge
    // A recording may hold whatever its format can: texts of 65,535 bytes, and a class of as many
    // references.
    settings.config.bunch_bytes_max = 128 * 1024;
    settings.config.references_per_object_max = 65'536;
    return settings;
}

[[nodiscard]] NetDriverSettings server_settings(const MatchOptions& options, SharingLevel sharing,
                                                MemoryResource* resource, Executor& executor) {
    NetDriverSettings settings = driver_settings(options.seed, sharing, resource);
    settings.executor = options.workers > 1 ? &executor : nullptr;
    settings.executor_work_min = options.executor_work_min;
    settings.is_counting_types = options.is_counting_types;
    settings.interest.view_radius = static_cast<float>(options.radius);
    settings.interest.cell_size = static_cast<float>(std::max(0.001, options.radius / 2));
    settings.config.bytes_per_second_max = options.bandwidth_bytes_per_second;
    return settings;
}

[[nodiscard]] TypeCost cost_of(const TypeCounters& counters) {
    TypeCost cost{std::string(counters.layout->type().name()), dump(counters), {}};
    cost.blocks_sent = counters.blocks_sent;
    cost.block_bytes_sent = counters.block_bytes_sent;
    cost.payloads_built = counters.payloads_built;
    cost.payloads_reused = counters.payloads_reused;
    cost.payload_bytes_reused = counters.payload_bytes_reused;
    cost.block_misses = counters.block_misses;
    for (std::uint32_t handle = 1; handle <= counters.layout->handle_count(); ++handle) {
        cost.properties.push_back(
            {property_path(*counters.layout, RepHandle{handle}), counters.properties[handle - 1]});
    }
    return cost;
}

[[nodiscard]] ServerTimes summarize(std::vector<std::uint64_t> tick_ns) {
    ServerTimes times;
    times.p50_ns = bench::percentile(tick_ns, 50);
    times.p99_ns = bench::percentile(tick_ns, 99);
    for (const std::uint64_t ns : tick_ns) {
        times.total_ns += ns;
    }
    return times;
}

/// Set-up that only a mistake of ours can make fail.
void check(const Status& status) {
    if (!status) {
        std::fprintf(stderr, "%s\n", status.error().message.c_str());
        std::abort();
    }
}

/// Property bytes and reliable bunches: everything that is not an ack or a keep-alive.
[[nodiscard]] std::uint64_t content_sent(const NetStats& stats) noexcept {
    return stats.replication.block_bytes_sent + stats.bunches_sent;
}

}  // namespace

MatchSession::Server::Server(const MatchOptions& options, SharingLevel sharing, MatchWorld& world,
                             Executor& executor)
    : transport(NetConfig().packet_bytes_max),
      driver(server_settings(options, sharing, &memory, executor), transport, world) {}

MatchSession::Client::Client(const NetDriverSettings& settings, Transport& transport,
                             const MatchSchema& schema)
    : world(schema), driver(settings, transport, world) {}

MatchSession::MatchSession(const MatchOptions& options, std::span<const Recording> recordings,
                           const MatchSchema& schema)
    : options_(options),
      recordings_(recordings),
      schema_(schema),
      network_(network_settings(options), options.seed, std::pmr::get_default_resource()),
      network_endpoint_(network_.endpoint(server_peer)),
      world_(schema),
      executor_(options.workers),
      server_(options, options.sharing, world_, executor_),
      next_churn_s_(options.churn_s),
      next_owners_s_(options.owners_s),
      owner_random_(options.seed),
      cap_meter_(options.clients) {
    for (const Recording& recording : recordings_) {
        tick_count_ = std::max<std::uint64_t>(tick_count_, recording.tick_count());
        end_states_.emplace_back(recording);
    }
    if (options_.ticks != 0) {
        tick_count_ = std::min(tick_count_, options_.ticks);
    }
    if (options_.has_twin) {
        twin_ = std::make_unique<Server>(
            options, sharing_level(options.sharing == SharingLevel::Off), world_, executor_);
        result_.has_twin = true;
        result_.is_twin_equal = true;
    }
    for (Server* server : {&server_, twin_.get()}) {
        if (server != nullptr) {
            add_layouts(server->driver);
            server->tick_ns.reserve(tick_count_);
            check(server->driver.listen());
            set_up_interest(server->driver);
        }
    }
    if (!options_.record_path.empty()) {
        recorder_ =
            std::make_unique<MatchRecorder>(options_, recordings_, tick_count_, server_.driver);
    }
    for (std::uint32_t i = 0; i < options_.clients; ++i) {
        clients_.push_back(make_client(i));
    }
}

MatchSession::~MatchSession() = default;

std::unique_ptr<MatchSession::Client> MatchSession::make_client(std::uint32_t index) {
    // Another seed than that of all others, who came before under this address or are there now.
    const std::uint64_t seed = options_.seed + index + 1 + replaced_count_ * clients_.size();
    auto client = std::make_unique<Client>(
        driver_settings(seed, SharingLevel::Bundles, std::pmr::get_default_resource()),
        network_.endpoint(client_peer(index)), schema_);
    add_layouts(client->driver);
    return client;
}

void MatchSession::add_layouts(NetDriver& driver) const {
    for (const auto& match_class : schema_.classes()) {
        check(driver.add_layout(*match_class->layout));
    }
}

MatchResult MatchSession::run(Progress& progress) {
    for (std::uint64_t tick = 0; tick < tick_count_; ++tick) {
        play_tick(tick, true);
        progress.advance(tick + 1);
    }
    result_.ticks = tick_count_;
    result_.play_seconds = now_s();
    result_.times = summarize(server_.tick_ns);
    if (twin_ != nullptr) {
        result_.twin_times = summarize(twin_->tick_ns);
    }
    result_.staleness = staleness_.summary();
    settle();
    judge();
    finish_result();
    return result_;
}

void MatchSession::start_clients(std::uint64_t tick) {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        const double join_s = options_.join_over_s * i / options_.clients;
        const bool is_last_chance = tick + 1 >= tick_count_;
        if (!clients_[i]->is_started && (now_s() >= join_s || is_last_chance)) {
            clients_[i]->is_started = true;
            check(clients_[i]->driver.connect(server_peer, now_));
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
    check(client->driver.connect(server_peer, now_));
}

void MatchSession::change_owners() {
    std::vector<std::uint64_t> handles;  // in order: a map has none that two compilers share
    for (const auto& [handle, id] : server_.ids) {
        handles.push_back(handle);
    }
    std::sort(handles.begin(), handles.end());
    for (const std::uint64_t handle : handles) {
        const std::uint64_t random = owner_random_();
        if (random % 10 != 0) {
            continue;
        }
        const auto owner = client_peer(static_cast<std::uint32_t>(random / 10 % clients_.size()));
        for (Server* server : {&server_, twin_.get()}) {
            if (server != nullptr) {
                server->driver.set_owner(server->ids.at(handle), owner);
            }
        }
    }
}

void MatchSession::set_up_interest(NetDriver& driver) const {
    if (options_.interest == MatchInterest::All) {
        return;
    }
    Interest interest = driver.interest();
    for (const auto& match_class : schema_.classes()) {
        if (match_class->position.has_value()) {
            interest.set_class_relevancy(*match_class->layout,
                                         options_.interest == MatchInterest::Grid
                                             ? NetRelevancy::Grid
                                             : NetRelevancy::Distance);
            interest.set_class_cull_distance(*match_class->layout,
                                             static_cast<float>(options_.radius));
        }
    }
}

void MatchSession::moved(ObjectHandle handle, const MatchObject& object) {
    for (Server* server : {&server_, twin_.get()}) {
        if (server != nullptr) {
            server->driver.interest().set_location(server->ids.at(handle.value), object.position());
        }
    }
}

void MatchSession::set_viewers() {
    if (options_.interest == MatchInterest::All) {
        return;
    }
    auto player = players_.begin();
    for (std::uint32_t i = 0; i < clients_.size() && !players_.empty(); ++i) {
        const Vector3 location = world_.find({*player})->position();
        for (Server* server : {&server_, twin_.get()}) {
            if (server != nullptr) {
                server->driver.interest().set_viewer(client_peer(i), location);
            }
        }
        player = std::next(player) == players_.end() ? players_.begin() : std::next(player);
    }
}

void MatchSession::count_relevant_pairs() {
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        for (const auto& [handle, id] : server_.ids) {
            const bool is_relevant = server_.driver.is_relevant_for(client_peer(i), id);
            const bool has_position = world_.find({handle})->match_class().position.has_value();
            ++result_.pairs;
            result_.pairs_relevant += is_relevant ? 1u : 0u;
            result_.pairs_positioned += has_position ? 1u : 0u;
            result_.pairs_positioned_relevant += has_position && is_relevant ? 1u : 0u;
        }
    }
    result_.positioned_live = result_.pairs_positioned / clients_.size();
}

void MatchSession::play_tick(std::uint64_t tick, bool has_ops) {
    current_tick_ = tick;
    now_.microseconds += tick_us;
    network_.advance(now_);
    start_clients(tick);
    if (has_ops && options_.churn_s > 0 && now_s() >= next_churn_s_) {
        next_churn_s_ += options_.churn_s;
        replace_client();
    }
    inbox_.clear();
    std::byte buffer[2'048];
    PeerId peer;
    for (std::size_t size = network_endpoint_.receive(peer, buffer);
         size != Transport::nothing_received; size = network_endpoint_.receive(peer, buffer)) {
        inbox_.add(peer, std::span(buffer).first(size));
    }
    dispatch(server_);
    if (twin_ != nullptr) {
        dispatch(*twin_);
    }
    has_lifetime_ops_ = false;
    if (has_ops) {
        apply_ops(tick);
        if (options_.owners_s > 0 && now_s() >= next_owners_s_) {
            next_owners_s_ += options_.owners_s;
            change_owners();
        }
        set_viewers();
    }
    flush(server_, now_);
    if (twin_ != nullptr) {
        flush(*twin_, now_);
        compare_twin();
    }
    deliver_outbox();
    tick_clients(now_);
    if (options_.bandwidth_bytes_per_second != 0) {
        measure_bytes(has_ops);
        if (has_ops) {
            measure_staleness(tick);
        }
    }
}

void MatchSession::measure_bytes(bool is_playing) {
    for (const DatagramList::Entry& entry : server_.transport.outbox().entries()) {
        cap_meter_.add(static_cast<std::uint32_t>(entry.peer.value - client_peer(0).value),
                       server_.transport.outbox().bytes(entry).size());
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
    const NetRates rates = server_.driver.rates();
    return std::any_of(server_.ids.begin(), server_.ids.end(), [&](const auto& object) {
        const OwedReason reason = rates.owed_to(client_peer(client), object.second).reason;
        return reason == OwedReason::SteppedDown || reason == OwedReason::NoBudget ||
               reason == OwedReason::Joining;
    });
}

void MatchSession::measure_staleness(std::uint64_t tick) {
    const NetGUIDCache& guids = server_.driver.guids();
    for (const auto& [handle, id] : server_.ids) {
        staleness_.look_at_server({handle}, *world_.find({handle}), tick);
        if (tick % ticks_between_looks != 0) {
            continue;
        }
        const NetGUID guid = guids.find_guid({handle});
        for (std::uint32_t i = 0; i < clients_.size(); ++i) {
            if (!server_.driver.is_relevant_for(client_peer(i), id)) {
                staleness_.forget_pair(i, {handle});
            } else if (clients_[i]->driver.state() == ConnectionState::Joined) {
                const ObjectHandle held = clients_[i]->driver.guids().find_object(guid);
                staleness_.look_at_client(
                    i, {handle}, held.is_null() ? nullptr : clients_[i]->world.find(held), tick);
            }
        }
    }
}

void MatchSession::dispatch(Server& server) {
    server.transport.begin_dispatch(inbox_);
    const std::uint64_t allocations = allocation_count();
    const auto start = std::chrono::steady_clock::now();
    server.driver.tick_dispatch(now_);
    const auto end = std::chrono::steady_clock::now();
    server.dispatch_allocations = allocation_count() - allocations;
    server.tick_ns.push_back(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count()));
}

void MatchSession::flush(Server& server, NetTime now) {
    server.transport.outbox().clear();
    const std::uint64_t allocations = allocation_count();
    const auto start = std::chrono::steady_clock::now();
    server.driver.tick_flush(now);
    const auto end = std::chrono::steady_clock::now();
    const std::uint64_t flush_allocations = allocation_count() - allocations;
    server.tick_ns.back() += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
    const bool is_steady = current_tick_ < tick_count_ && !has_lifetime_ops_ &&
                           current_tick_ >= tick_count_ - tick_count_ / 10;
    if (&server == &server_ && is_steady) {
        ++result_.steady_ticks;
        result_.allocations_steady += server.dispatch_allocations + flush_allocations;
    }
}

void MatchSession::deliver_outbox() {
    const DatagramList& outbox = server_.transport.outbox();
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

void MatchSession::compare_twin() {
    if (result_.is_twin_equal && server_.transport.outbox() != twin_->transport.outbox()) {
        result_.is_twin_equal = false;
        result_.twin_difference = "tick " + std::to_string(current_tick_) +
                                  ": the packets differ with sharing on and off";
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

void MatchSession::apply_ops(std::uint64_t tick) {
    for (std::uint32_t index = 0; index < recordings_.size(); ++index) {
        if (tick >= recordings_[index].tick_count()) {
            continue;
        }
        for (const Op& op : recordings_[index].ops_of_tick(tick)) {
            apply_op(index, op);
            end_states_[index].apply(op);
        }
    }
}

void MatchSession::apply_op(std::uint32_t recording_index, const Op& op) {
    const ObjectHandle handle = schema_.server_handle(recording_index, op.object);
    switch (op.kind) {
        case OpKind::Spawn:
            spawn(recording_index, op);
            return;
        case OpKind::Destroy:
            destroy(handle);
            return;
        case OpKind::Set: {
            MatchObject& object = *world_.find(handle);
            const MatchClass::Field& field = object.match_class().fields[op.class_or_field];
            const auto value = recordings_[recording_index].value(op);
            ObjectHandle target;
            if (field.type == FieldType::ObjectRef) {
                std::uint32_t id = 0;
                std::memcpy(&id, value.data(), sizeof(id));
                target = schema_.server_handle(recording_index, id);
            }
            object.set(field, value, target);
            mark(handle, field);
            if (options_.interest != MatchInterest::All &&
                op.class_or_field == object.match_class().position) {
                moved(handle, object);
            }
            ++result_.sets_applied;
            return;
        }
    }
}

void MatchSession::mark(ObjectHandle handle, const MatchClass::Field& field) {
    for (Server* server : {&server_, twin_.get()}) {
        if (options_.is_push_based && server != nullptr) {
            server->driver.mark_property_dirty(server->ids.at(handle.value), field.parent);
        }
    }
}

void MatchSession::spawn(std::uint32_t recording_index, const Op& op) {
    const ObjectHandle handle = schema_.server_handle(recording_index, op.object);
    const MatchClass& match_class = schema_.find(recording_index, op.class_or_field);
    world_.add(handle, match_class);
    server_.ids.emplace(handle.value, server_.driver.add_object(*match_class.layout, handle));
    if (twin_ != nullptr) {
        twin_->ids.emplace(handle.value, twin_->driver.add_object(*match_class.layout, handle));
    }
    if (match_class.is_player) {
        players_.insert(handle.value);
        ++result_.players_spawned;
    }
    ++result_.objects_spawned;
    result_.positioned_spawned += match_class.position.has_value() ? 1u : 0u;
    has_lifetime_ops_ = true;
}

void MatchSession::destroy(ObjectHandle handle) {
    for (Server* server : {&server_, twin_.get()}) {
        if (server != nullptr) {
            const auto found = server->ids.find(handle.value);
            server->driver.remove_object(found->second);
            server->ids.erase(found);
        }
    }
    world_.remove(handle);
    players_.erase(handle.value);
    staleness_.forget(handle);
    has_lifetime_ops_ = true;
}

std::uint64_t MatchSession::settle_ticks_max() const {
    const std::uint64_t cap = options_.bandwidth_bytes_per_second;
    if (cap == 0) {
        return uncapped_settle_ticks_max;
    }
    // A client is owed the whole world at most, and what was lost of it on its way; a quarter more
    // goes into packets and acks, and 29/32 of a cap are used.
    return uncapped_settle_ticks_max + 3 * world_.bytes_to_send() * ticks_per_second / cap;
}

void MatchSession::settle() {
    network_.heal();
    std::uint64_t tick = tick_count_;
    for (const std::uint64_t end = tick + settle_ticks_max(); tick < end && !result_.is_settled;) {
        play_tick(tick++, false);
        const bool all_joined = server_.driver.connection_count() == options_.clients;
        result_.is_settled = all_joined && server_.driver.is_settled();
    }
    result_.settle_ticks = tick - tick_count_;
    if (recorder_ != nullptr) {  // a checkpoint would be no quiet
        result_.recorded = recorder_->stop();
    }
    const std::uint64_t before = content_sent(server_.driver.stats());
    for (std::uint64_t i = 0; i < quiescent_ticks; ++i) {
        play_tick(tick++, false);
    }
    result_.quiescent_ticks = quiescent_ticks;
    result_.quiescent_bytes = content_sent(server_.driver.stats()) - before;
}

void MatchSession::judge() {
    const ClientJudge judge(schema_, end_states_, world_, server_.driver);
    EndStateCrc all;
    for (std::uint32_t index = 0; index < recordings_.size(); ++index) {
        judge.add_server_crc(index, all);
        EndStateCrc own;
        judge.add_server_crc(index, own);
        result_.recordings.push_back({recordings_[index].name, own.value()});
    }
    result_.server_crc32 = all.value();
    for (std::uint32_t i = 0; i < clients_.size(); ++i) {
        const Client& client = *clients_[i];
        const ClientVerdict verdict =
            judge.judge(client.world, client.driver, client.is_started, client_peer(i));
        result_.client_crc32.push_back(verdict.crc32);
        result_.clients_joined += verdict.is_joined ? 1 : 0;
        const bool is_equal = verdict.difference.empty() && verdict.crc32 == verdict.server_crc32;
        result_.clients_equal += is_equal ? 1 : 0;
        if (!is_equal && result_.first_difference.empty()) {
            result_.first_difference =
                "client " + std::to_string(i) + ": " +
                (verdict.difference.empty() ? "its checksum differs" : verdict.difference);
        }
    }
}

std::vector<TypeCost> MatchSession::costs_of(const NetDriver& driver) const {
    std::vector<TypeCost> costs;
    for (const auto& match_class : schema_.classes()) {
        if (const TypeCounters* counters = driver.type_counters(*match_class->layout)) {
            costs.push_back(cost_of(*counters));
        }
    }
    return costs;
}

void MatchSession::finish_result() {
    result_.objects_live = world_.object_count();
    count_relevant_pairs();
    result_.stats = server_.driver.stats();
    result_.executor_rounds = executor_.rounds();
    result_.memory = server_.driver.memory_report();
    result_.types = costs_of(server_.driver);
    if (twin_ != nullptr) {
        result_.twin_types = costs_of(twin_->driver);
        result_.twin_stats = twin_->driver.stats();
    }
}

}  // namespace replayout::match
