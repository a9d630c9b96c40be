// SPDX-License-Identifier: MIT
//
// A server whose clients have joined and hold everything, ready for tick after tick of a workload.
// Only the driver's part is timed: the workload, the game's marks and the clients are not.
//
//     PawnWorkload workload(1'000, false, seed);
//     ServerSession session({.connections = 64}, workload);
//     if (!session.error().empty()) { ... }
//     const NetStats before = session.stats();
//     const Changes changed = session.changes();
//     for (...) { const TickCost cost = session.tick(); ... }
//     if (!session.has_sent_all(before, changed)) { ... }
#pragma once

#include "support/scripted_clients.h"
#include "support/workloads/workload.h"

#include <replayout/netdriver/executor.h>
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

struct ServerSessionSettings {
    std::uint32_t connections = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    NetConfig config{};
    InterestSettings interest{};
    /// Outlives the session.
    Executor* executor = nullptr;
    /// Its jobs hand datagrams over themselves; else the driver's thread does, behind them.
    bool is_transport_concurrent = true;
    /// Ticks with all clients before it is ready: until every buffer has its size.
    std::uint32_t crowded_ticks = 250;
};

/// Of one tick.
struct TickCost {
    double dispatch_seconds = 0;
    double flush_seconds = 0;
    /// Of these: until the first datagram was handed to the transport. Compare and encode, as far
    /// as they come before all that is a connection's own.
    double first_packet_seconds = 0;
    double marking_seconds = 0;  ///< of the game, in neither
    std::uint64_t allocations = 0;

    [[nodiscard]] double seconds() const noexcept { return dispatch_seconds + flush_seconds; }
};

class ServerSession {
  public:
    /// Plays until it is ready: first without receivers, since to fill the histories of all objects
    /// is cheap then, and then with all of them. The workload outlives it.
    ServerSession(const ServerSessionSettings& settings, Workload& workload);

    /// Why it is not ready; empty when it is.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const NetStats& stats() const noexcept { return driver_.stats(); }
    [[nodiscard]] MemoryReport memory_report() const noexcept { return driver_.memory_report(); }
    [[nodiscard]] std::uint32_t connection_count() const noexcept { return settings_.connections; }
    /// To begin what is measured beside; the session ticks it.
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    /// Since the clients have joined.
    [[nodiscard]] const Changes& changes() const noexcept { return changes_; }
    /// Ticks that the workload has played, until it was ready and since.
    [[nodiscard]] std::uint32_t ticks_played() const noexcept { return ticks_played_; }
    /// Of the last tick, in the order in which they were sent.
    [[nodiscard]] std::span<const ScriptedClients::Packet> packets() const noexcept {
        return clients_.packets();
    }
    /// Packets to any one client in any one tick since they have joined, also where that is the
    /// error.
    [[nodiscard]] std::uint32_t packets_of_tick_max() const noexcept {
        return packets_of_tick_max_;
    }

    TickCost tick();

    /// From the next tick on clients do not get so many of their packets. 0 to 1, at random, and
    /// the same each time. Acks are never lost.
    void set_loss(double loss) noexcept { clients_.set_loss(loss); }
    /// Plays ticks in which nothing changes, until the driver is settled. False where that takes
    /// more than so many.
    [[nodiscard]] bool settle(std::uint64_t ticks_max);

    /// Whether the ticks since `before` sent everything that changed to everyone, and no more. Not
    /// where packets were lost.
    [[nodiscard]] bool has_sent_all(const NetStats& before, const Changes& changed) const;

  private:
    [[nodiscard]] static NetDriverSettings driver_settings(const ServerSessionSettings& settings);
    [[nodiscard]] static std::vector<std::byte> hello_of(const Workload& workload);

    class World final : public NetWorld {
      public:
        World(Workload& workload, NetDriver& driver) : workload_(workload), driver_(driver) {}

        [[nodiscard]] void* object_memory(ObjectHandle object) override {
            return workload_.object_memory(static_cast<std::uint32_t>(object.value) - 1);
        }
        [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return {}; }
        void despawn(ObjectHandle, ChannelCloseReason) override {}
        void peer_joined(PeerId peer) override { workload_.welcome(driver_, peer); }

      private:
        Workload& workload_;
        NetDriver& driver_;  // made after this one, and no sooner called
    };

    void start();
    void play_workload(TickCost& cost);
    void dispatch(TickCost& cost);
    void flush(TickCost& cost);
    void count_packets();

    ServerSessionSettings settings_;
    Workload& workload_;
    World world_;
    ScriptedClients clients_;
    NetDriver driver_;
    std::vector<NetObjectId> ids_;  // by object
    NetTime now_;
    Changes changes_;
    std::uint32_t ticks_played_ = 0;
    std::vector<std::uint32_t> packets_of_client_;  // in the last tick
    std::uint32_t packets_of_tick_max_ = 0;
    std::string error_;
};

}  // namespace replayout::bench
