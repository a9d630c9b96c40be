// SPDX-License-Identifier: MIT
#include "server_lane.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <new>

namespace replayout {

namespace {

// More lanes than workers: one whose objects or connections take longer does not hold up all. Each
// has scratch memory, and more of them than this gain nothing.
constexpr std::uint32_t lanes_per_worker = 4;

[[nodiscard]] std::uint32_t workers_of(Executor* executor) {
    const std::uint32_t workers = executor == nullptr ? 1 : executor->worker_count();
    REPLAYOUT_ASSERT(workers >= 1);
    return workers;
}

[[nodiscard]] std::uint32_t lane_count(std::uint32_t workers) noexcept {
    return workers == 1 ? 1
                        : std::min(std::min(workers, ServerLanes::count_max) * lanes_per_worker,
                                   ServerLanes::count_max);
}

// All of it is counters of one type, and nothing else.
using Counts = std::array<std::uint64_t, sizeof(NetStats) / sizeof(std::uint64_t)>;

}  // namespace

ServerLane::ServerLane(const NetDriverSettings& settings, std::uint32_t lane_number,
                       NetGUIDCache& guids, NetStats* total, Transport& driver_transport,
                       MemoryMeters& memory)
    : number(lane_number),
      stats(total != nullptr ? *total : own_stats),
      scratch(&memory.scratch),
      context{guids, stats.replication, scratch, settings.sharing, nullptr, settings.is_validating},
      candidates(&memory.scratch),
      open_runs(&memory.scratch),
      flush_copies(&memory.scratch),
      transport(driver_transport, &memory.scratch),
      client_transport(total != nullptr ? driver_transport : transport),
      ids(guids),
      due(&memory.scratch),
      client_numbers(Allocator<std::uint32_t>(&memory.scratch)),
      bundle_choice(&memory.scratch) {}

void ServerLane::add_stats_to(NetStats& total) noexcept {
    const auto counted = std::bit_cast<Counts>(stats);
    auto sums = std::bit_cast<Counts>(total);
    std::transform(counted.begin(), counted.end(), sums.begin(), sums.begin(), std::plus<>());
    total = std::bit_cast<NetStats>(sums);
    stats = NetStats();
}

ServerLanes::ServerLanes(const NetDriverSettings& settings, NetGUIDCache& guids, NetStats& stats,
                         Transport& transport, MemoryMeters& memory)
    : executor_(settings.executor),
      stats_(stats),
      resource_(&memory.scratch),
      worker_count_(workers_of(executor_)),
      work_min_(settings.executor_work_min),
      lanes_(Allocator<ServerLane*>(resource_)) {
    const std::uint32_t count = lane_count(worker_count_);
    lanes_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        void* storage = resource_->allocate(sizeof(ServerLane), alignof(ServerLane));
        lanes_.push_back(::new (storage) ServerLane(
            settings, i, guids, count == 1 ? &stats : nullptr, transport, memory));
    }
}

ServerLanes::~ServerLanes() {
    for (ServerLane* lane : lanes_) {
        std::destroy_at(lane);
        resource_->deallocate(lane, sizeof(ServerLane), alignof(ServerLane));
    }
}

ServerLane& ServerLanes::emptiest() const noexcept {
    return **std::min_element(lanes_.begin(), lanes_.end(),
                              [](const ServerLane* left, const ServerLane* right) {
                                  return left->client_count < right->client_count;
                              });
}

void ServerLanes::collect_stats() noexcept {
    if (count() == 1 || are_running_) {
        return;
    }
    for (ServerLane* lane : lanes_) {
        lane->add_stats_to(stats_);
    }
}

void ServerLanes::run_all(ExecutorJob job) {
    REPLAYOUT_ASSERT(executor_ != nullptr && count() > 1);
    begun_.store(0, std::memory_order_relaxed);
    are_running_ = true;
    executor_->run(count(), job);
    are_running_ = false;
    REPLAYOUT_ASSERT(static_cast<std::uint32_t>(std::popcount(begun_.load())) == count());
}

}  // namespace replayout
