// SPDX-License-Identifier: MIT
#include "match/session/match_server.h"

#include "support/report/percentile.h"
#include "support/stop_watch.h"

#include <replayout/dump.h>

#include <algorithm>
#include <iterator>

namespace replayout::match {

namespace {

[[nodiscard]] NetDriverSettings server_settings(const MatchOptions& options, SharingLevel sharing,
                                                MemoryResource* resource, Executor& executor) {
    NetDriverSettings settings = match_driver_settings(options.seed, sharing, resource);
    settings.executor = options.workers > 1 ? &executor : nullptr;
    settings.executor_work_min = options.executor_work_min;
    settings.is_counting_types = options.is_counting_types;
    settings.interest.view_radius = static_cast<float>(options.radius);
    settings.interest.cell_size = static_cast<float>(std::max(0.001, options.radius / 2));
    settings.config.bytes_per_second_max = options.bandwidth_bytes_per_second;
    if (!options.serve.empty()) {
        set_timeout(options, settings.config);
    }
    return settings;
}

[[nodiscard]] TypeCost cost_of(const TypeCounters& counters) {
    TypeCost cost{std::string(counters.layout->type().name()), dump(counters), {}, {}};
    cost.blocks = {counters.blocks_sent,     counters.block_bytes_sent,     counters.payloads_built,
                   counters.payloads_reused, counters.payload_bytes_reused, counters.block_misses};
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

}  // namespace

MatchServer::Side::Side(const MatchOptions& options, SharingLevel sharing, MatchWorld& world,
                        Executor& executor)
    : transport(NetConfig().packet_bytes_max),
      driver(server_settings(options, sharing, &memory, executor), transport, world) {}

MatchServer::MatchServer(const MatchOptions& options, std::span<const Recording> recordings,
                         const MatchSchema& schema, MatchResult& result)
    : options_(options),
      result_(result),
      recorded_(recordings, schema),
      executor_(options.workers),
      main_(options, options.sharing, recorded_.world(), executor_),
      tick_count_(recorded_.tick_count()),
      owner_random_(options.seed) {
    if (options_.ticks != 0) {
        tick_count_ = std::min(tick_count_, options_.ticks);
    }
    if (options_.has_twin) {
        twin_ = std::make_unique<Side>(options, sharing_level(options.sharing == SharingLevel::Off),
                                       recorded_.world(), executor_);
        result_.has_twin = true;
        result_.is_twin_equal = true;
    }
    for_each_side([&](Side& side) {
        require(add_match_layouts(schema, side.driver));
        side.tick_ns.reserve(tick_count_);
    });
}

void MatchServer::listen() {
    for_each_driver([&](NetDriver& driver) {
        require(driver.listen());
        set_up_interest(driver);
    });
}

void MatchServer::set_up_interest(NetDriver& driver) const {
    if (options_.interest == MatchInterest::All) {
        return;
    }
    Interest interest = driver.interest();
    for (const auto& match_class : recorded_.schema().classes()) {
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

template <typename Call>
void MatchServer::measure(Side& side, Call&& call) {
    const bench::AllocationWatch allocations;
    const bench::StopWatch watch;
    call();
    side.tick_ns.back() += watch.nanoseconds();
    side.tick_allocations += allocations.count();
}

void MatchServer::begin_tick() {
    has_lifetime_ops_ = false;
    destroyed_.clear();
    for_each_side([](Side& side) {
        side.tick_ns.push_back(0);
        side.tick_allocations = 0;
    });
}

void MatchServer::dispatch(const DatagramList& inbox, NetTime now) {
    for_each_side([&](Side& side) {
        side.transport.begin_dispatch(inbox);
        measure(side, [&] { side.driver.tick_dispatch(now); });
    });
}

void MatchServer::flush(NetTime now) {
    for_each_side([&](Side& side) {
        side.transport.outbox().clear();
        measure(side, [&] { side.driver.tick_flush(now); });
    });
    compare_twin();
}

void MatchServer::end_tick(std::uint64_t tick) {
    current_tick_ = tick + 1;
    const bool is_steady =
        tick < tick_count_ && !has_lifetime_ops_ && tick >= tick_count_ - tick_count_ / 10;
    if (is_steady) {
        ++result_.steady_ticks;
        result_.allocations_steady += main_.tick_allocations;
    }
}

void MatchServer::compare_twin() {
    if (twin_ != nullptr && result_.is_twin_equal &&
        main_.transport.outbox() != twin_->transport.outbox()) {
        result_.is_twin_equal = false;
        result_.twin_difference = "tick " + std::to_string(current_tick_) +
                                  ": the packets differ with sharing on and off";
    }
}

void MatchServer::apply_ops(std::uint64_t tick) {
    recorded_.apply_tick(tick, [&](const RecordedChange& change) { tell(change); });
}

void MatchServer::tell(const RecordedChange& change) {
    switch (change.kind) {
        case OpKind::Spawn:
            spawn(change);
            return;
        case OpKind::Destroy:
            destroy(change);
            return;
        case OpKind::Set:
            set(change);
            return;
    }
}

void MatchServer::spawn(const RecordedChange& change) {
    const MatchClass& match_class = change.object.match_class();
    for_each_side([&](Side& side) {
        side.ids.emplace(change.handle.value,
                         side.driver.add_object(*match_class.layout, change.handle));
    });
    if (match_class.is_player) {
        players_.insert(change.handle.value);
        ++result_.players_spawned;
    }
    ++result_.objects_spawned;
    result_.positioned_spawned += match_class.position.has_value() ? 1u : 0u;
    has_lifetime_ops_ = true;
}

void MatchServer::destroy(const RecordedChange& change) {
    for_each_side([&](Side& side) {
        const auto found = side.ids.find(change.handle.value);
        side.driver.remove_object(found->second);
        side.ids.erase(found);
    });
    players_.erase(change.handle.value);
    destroyed_.push_back(change.handle);
    has_lifetime_ops_ = true;
}

void MatchServer::set(const RecordedChange& change) {
    const MatchClass& match_class = change.object.match_class();
    const bool is_moved =
        options_.interest != MatchInterest::All && change.field == match_class.position;
    for_each_side([&](Side& side) {
        if (options_.is_push_based) {
            side.driver.mark_property_dirty(side.ids.at(change.handle.value),
                                            match_class.fields[change.field].parent);
        }
        if (is_moved) {
            side.driver.interest().set_location(side.ids.at(change.handle.value),
                                                change.object.position());
        }
    });
    ++result_.sets_applied;
}

void MatchServer::set_viewers(std::span<const PeerId> peers) {
    if (options_.interest == MatchInterest::All || players_.empty()) {
        return;
    }
    auto player = players_.begin();
    for (const PeerId peer : peers) {
        const Vector3 location = world().find({*player})->position();
        for_each_driver([&](NetDriver& driver) { driver.interest().set_viewer(peer, location); });
        player = std::next(player) == players_.end() ? players_.begin() : std::next(player);
    }
}

void MatchServer::change_owners(std::span<const PeerId> peers) {
    std::vector<std::uint64_t> handles;  // in order: a map has none that two compilers share
    for (const auto& [handle, id] : main_.ids) {
        handles.push_back(handle);
    }
    std::sort(handles.begin(), handles.end());
    for (const std::uint64_t handle : handles) {
        const std::uint64_t random = owner_random_();
        if (random % 10 != 0 || peers.empty()) {
            continue;
        }
        const PeerId owner = peers[random / 10 % peers.size()];
        for_each_side([&](Side& side) { side.driver.set_owner(side.ids.at(handle), owner); });
    }
}

std::uint64_t MatchServer::content_sent() const noexcept {
    const NetStats& stats = main_.driver.stats();
    return stats.replication.block_bytes_sent + stats.bunches_sent;
}

void MatchServer::finish_play() {
    result_.ticks = tick_count_;
    result_.times = summarize(main_.tick_ns);
    if (twin_ != nullptr) {
        result_.twin_times = summarize(twin_->tick_ns);
    }
}

void MatchServer::count_relevant_pairs(std::span<const PeerId> peers) {
    for (const PeerId peer : peers) {
        for (const auto& [handle, id] : main_.ids) {
            const bool is_relevant = main_.driver.is_relevant_for(peer, id);
            const bool has_position = world().find({handle})->match_class().position.has_value();
            ++result_.pairs;
            result_.pairs_relevant += is_relevant ? 1u : 0u;
            result_.pairs_positioned += has_position ? 1u : 0u;
            result_.pairs_positioned_relevant += has_position && is_relevant ? 1u : 0u;
        }
    }
    result_.positioned_live = result_.pairs_positioned / std::max<std::size_t>(peers.size(), 1);
}

std::vector<TypeCost> MatchServer::costs_of(const NetDriver& driver) const {
    std::vector<TypeCost> costs;
    for (const auto& match_class : recorded_.schema().classes()) {
        if (const TypeCounters* counters = driver.type_counters(*match_class->layout)) {
            costs.push_back(cost_of(*counters));
        }
    }
    return costs;
}

void MatchServer::finish(std::span<const PeerId> peers) {
    result_.objects_live = world().object_count();
    count_relevant_pairs(peers);
    result_.stats = main_.driver.stats();
    result_.executor_rounds = executor_.rounds();
    result_.memory = main_.driver.memory_report();
    result_.types = costs_of(main_.driver);
    if (twin_ != nullptr) {
        result_.twin_types = costs_of(twin_->driver);
        result_.twin_stats = twin_->driver.stats();
    }
}

}  // namespace replayout::match
