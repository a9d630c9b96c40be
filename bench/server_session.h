// SPDX-License-Identifier: MIT
//
// A server of pawns whose clients have joined and hold everything, ready for tick after tick of the
// workload (pawn.h). Only the driver's part is timed: the scene, the game's marks and the clients
// are not.
//
//     ServerSession session({.objects = 1'000, .connections = 64});
//     if (!session.error().empty()) { ... }
//     const NetStats before = session.stats();
//     const PawnChanges changed = session.changes();
//     for (...) { const TickCost cost = session.tick(); ... }
//     if (!session.has_sent_all(before, changed)) { ... }
#pragma once

#include "pawn.h"
#include "scripted_clients.h"

#include <replayout/changelist_history.h>
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace replayout::bench {

struct ServerSessionSettings {
    std::uint32_t objects = 1'000;  ///< a multiple of 50
    std::uint32_t connections = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    /// The properties are push based, and the game marks each that it sets.
    bool is_push_based = false;
    std::uint64_t scene_seed = 1;
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
    // Until every buffer has its size: a pawn's history holds 64 changes, and it changes in every
    // fifth tick. That goes on before anybody joins, which is cheap; the rest needs receivers.
    static constexpr std::uint32_t lonely_ticks = 6 * ChangelistHistory::count_max;
    static constexpr std::uint32_t crowded_ticks = 5 * PawnScene::period_ticks;
    /// Ticks that the scene has played when the session is ready.
    static constexpr std::uint32_t warm_up_ticks = lonely_ticks + crowded_ticks;

    /// Plays until it is ready, which takes as long as some hundred ticks.
    explicit ServerSession(const ServerSessionSettings& settings);

    /// Why it is not ready; empty when it is.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const NetStats& stats() const noexcept { return driver_.stats(); }
    [[nodiscard]] MemoryReport memory_report() const noexcept { return driver_.memory_report(); }
    /// Since the clients have joined.
    [[nodiscard]] const PawnChanges& changes() const noexcept { return changes_; }
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

    /// Whether the ticks since `before` sent everything that changed to everyone, and no more.
    [[nodiscard]] bool has_sent_all(const NetStats& before, const PawnChanges& changed) const;

  private:
    [[nodiscard]] static NetDriverSettings driver_settings(const ServerSessionSettings& settings);

    class World final : public NetWorld {
      public:
        explicit World(std::span<Pawn> pawns) : pawns_(pawns) {}

        [[nodiscard]] void* object_memory(ObjectHandle object) override {
            return &pawns_[object.value - 1];
        }
        [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return {}; }
        void despawn(ObjectHandle, ChannelCloseReason) override {}

      private:
        std::span<Pawn> pawns_;
    };

    void start();
    [[nodiscard]] bool join();
    void play_scene(TickCost& cost);
    void mark();
    void dispatch(TickCost& cost);
    void flush(TickCost& cost);
    void count_packets();

    ServerSessionSettings settings_;
    PawnSchema schema_;
    PawnScene scene_;
    World world_;
    ScriptedClients clients_;
    NetDriver driver_;
    std::vector<NetObjectId> ids_;  // by pawn
    std::array<ParentIndex, pawn_transform_count> transform_{};
    ParentIndex health_;
    NetTime now_;
    PawnChanges changes_;
    std::vector<std::uint32_t> packets_of_client_;  // in the last tick
    std::uint32_t packets_of_tick_max_ = 0;
    std::string error_;
};

}  // namespace replayout::bench
