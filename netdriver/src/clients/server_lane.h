// SPDX-License-Identifier: MIT
//
// A share of a flush, which one thread at a time works on (executor.h), and all that this thread
// writes and others must not: counters, scratch, datagrams. A connection belongs to one lane for
// its life; objects are dealt out anew in each flush, in ranges.
//
// A server without an executor has one lane, which counts where the driver does.
#pragma once

#include <replayout/netdriver/executor.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_choice.h"
#include "due_objects.h"
#include "flush_copy.h"
#include "lane_ids.h"
#include "lane_range.h"
#include "lane_transport.h"
#include "open_runs.h"
#include "send_order.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace replayout {

struct alignas(64) ServerLane {
    /// `total`: where it counts; null: for itself, until add_stats_to().
    ServerLane(const NetDriverSettings& settings, std::uint32_t lane_number, NetGUIDCache& guids,
               NetStats* total, Transport& driver_transport, MemoryMeters& memory);

    /// Counters begin anew.
    void add_stats_to(NetStats& total) noexcept;
    /// Its connections are about to be sent.
    void begin_sending() noexcept {
        if (client_count > 1) {
            open_runs.begin_flush();
            flush_copies.begin_flush();
        }
    }
    /// Behind a flush, on the driver's thread: the connection that was served last is nobody's
    /// business any more, and states that others may hold, which are counted by one thread at a
    /// time (NetDeltaStatePtr), are let go of.
    void end_flush() noexcept {
        context.receiver = nullptr;
        context.type_counters = nullptr;
        context.delta_states = nullptr;
        scratch.forget_deltas();
        open_runs.end_flush();
        flush_copies.end_flush();
    }

    /// Between flushes, see KeptRoom.
    void trim() { trim_all(due, candidates, open_runs, flush_copies, transport, bundle_choice); }

    const std::uint32_t number;  ///< among the server's lanes
    NetStats own_stats;
    NetStats& stats;
    SendScratch scratch;
    SendContext context;
    SendOrder::Candidates candidates;  // scratch
    OpenRuns open_runs;
    FlushCopies flush_copies;
    LaneTransport transport;
    /// What its connections send by: `transport` where there are several lanes, else the driver's.
    Transport& client_transport;
    LaneIds ids;
    DueObjects due;                        // scratch
    Vector<std::uint32_t> client_numbers;  // likewise: connections that are its to serve
    BundleChoice bundle_choice;            // scratch
    std::uint32_t client_count = 0;        // that belong to it
};

/// All of a server: at least one. They stay where they are.
class ServerLanes {
  public:
    static constexpr std::uint32_t count_max = lane_count_max;

    ServerLanes(const NetDriverSettings& settings, NetGUIDCache& guids, NetStats& stats,
                Transport& transport, MemoryMeters& memory);
    ~ServerLanes();
    ServerLanes(const ServerLanes&) = delete;
    ServerLanes& operator=(const ServerLanes&) = delete;

    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(lanes_.size());
    }
    [[nodiscard]] ServerLane& operator[](std::size_t lane) const noexcept { return *lanes_[lane]; }
    /// The one with the fewest clients.
    [[nodiscard]] ServerLane& emptiest() const noexcept;
    /// There is enough to do to split it.
    [[nodiscard]] bool is_worth(std::uint64_t work) const noexcept {
        return count() > 1 && work > 0 && work >= work_min_;
    }
    /// How many lanes run at once.
    [[nodiscard]] std::uint32_t worker_count() const noexcept { return worker_count_; }
    /// Adds up what the lanes counted for themselves. Not while they run.
    void collect_stats() noexcept;

    /// Calls `job(lane)` for each lane, on the threads of the executor, and returns when all are
    /// done. `job` throws nothing. Requires more than one lane.
    template <typename Job>
    void run(Job job) {
        struct Call {
            Job& job;
            ServerLanes& lanes;
        } call{job, *this};
        run_all(ExecutorJob(
            [](void* context, std::uint32_t index) noexcept {
                Call& called = *static_cast<Call*>(context);
                const std::uint64_t bit = std::uint64_t{1} << index;
                const std::uint64_t begun =
                    called.lanes.begun_.fetch_or(bit, std::memory_order_relaxed);
                REPLAYOUT_ASSERT(index < called.lanes.count() && (begun & bit) == 0);
                (void)begun;
                called.job(index);
            },
            &call));
    }

  private:
    void run_all(ExecutorJob job);

    Executor* executor_;
    NetStats& stats_;
    MemoryResource* resource_;
    std::uint32_t worker_count_;
    std::uint64_t work_min_;
    Vector<ServerLane*> lanes_;
    bool are_running_ = false;
    std::atomic<std::uint64_t> begun_{0};  // jobs of this call, a bit each
    static_assert(count_max <= 64);
};

}  // namespace replayout
