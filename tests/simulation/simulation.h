// SPDX-License-Identifier: MIT
//
// One simulated run: a server, its clients, a network that does what it can to hinder them, on a
// virtual clock, all from a seed.
//
//     safety       so many ticks of work under faults; everything that is shown, called and sent is
//                  judged as it happens
//     liveness     all is healed, nobody writes; within a bound each client is what the server says
//     quiescence   nothing but keep-alives is sent; then all leave, and nothing of them is left
//
// The same configuration gives the same digest, everywhere and each time.
#pragma once

#include "simulation/faulty_network.h"
#include "simulation/fleet/sim_client.h"
#include "simulation/fleet/sim_server.h"
#include "simulation/judges/packet_judge.h"
#include "simulation/judges/staleness_judge.h"
#include "simulation/judges/verdict.h"
#include "simulation/recorded_run.h"
#include "simulation/swarm.h"
#include "simulation/trace_digest.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

namespace replayout::test {

struct RunResult {
    Finding finding;
    std::uint64_t digest = 0;
    std::vector<std::uint64_t> tick_digests;
    FaultCounts faults;
    ClientCounts clients;
    GameCounts game;
    std::array<std::uint64_t, close_reason_count> closed{};
    std::uint64_t partitions = 0;
    std::uint64_t rebinds = 0;
    std::uint64_t crashes = 0;
    std::uint64_t hitches = 0;
    std::uint64_t clock_steps = 0;
    std::uint64_t tight_joins = 0;  ///< of clients with tight memory
    std::uint64_t tight_ends = 0;   ///< of these, for want of it
    std::uint64_t secrets_seen = 0;
    std::uint64_t seeks = 0;
    std::uint64_t healed_ms = 0;  ///< until all had converged
    WaitPercents waits{};         ///< of the bounds, where StalenessJudge judges

    [[nodiscard]] bool is_good() const noexcept { return finding.invariant == Invariant::None; }
};

/// Faults of the harness, for tests of what it judges.
enum class PlantedFault : std::uint8_t {
    None,
    WrongValue,     ///< a client shows what nobody sent
    KeptMemory,     ///< of a client that left
    ManyDatagrams,  ///< in one tick of the server
    Noise,          ///< the game writes when it is to be quiet
    Secret,         ///< a packet tells it
    Rejected,       ///< what arrives changes a craft
    Unreachable,    ///< a client after all was healed
    Recording,      ///< shows something else
    Counter,        ///< a packet that is not counted
    Slow,           ///< clients have much less than their cap from the sixtieth tick on
};

class Simulation {
  public:
    explicit Simulation(const SwarmConfig& swarm, const TwinSettings& twin = {},
                        std::FILE* trace = nullptr);

    [[nodiscard]] RunResult run();

    PlantedFault planted = PlantedFault::None;

  private:
    void tick(bool is_safety);
    void tick_server(bool is_safety);
    void tick_client(SimClient& client, bool is_safety);
    void join(SimClient& client, bool is_safety);
    /// What happens to the network and to those at it.
    void disturb();
    void disturb(SimClient& client, Choices& row);
    void move_clock(SimClient& client, Choices& row);
    void heal();
    void await_converged();
    /// Within the bound that holds where no connection had to end.
    /// `bytes`: sent meanwhile.
    void judge_healing(std::uint64_t ended_before, std::uint64_t bytes);
    [[nodiscard]] bool is_converged();
    /// False: a connection that was silent before has ended, so not all are healed any more.
    [[nodiscard]] bool stay_quiet();
    void end_all();
    [[nodiscard]] std::vector<PeerId> players() const;
    [[nodiscard]] std::uint64_t ended_connections();
    void judge_packet(PeerId from, PeerId to, std::span<const std::byte> datagram);
    [[nodiscard]] SimClient* client_at(PeerId address);
    void plant_secret();

    const SwarmConfig swarm_;
    Verdict verdict_;
    Verdict hostile_verdict_;  // of what hostile peers show, which nobody asks for
    TraceDigest digest_;
    HistoryTrace trace_;
    FaultyNetwork network_;
    SimServer server_;
    PacketJudge packets_;
    StalenessJudge staleness_;
    std::optional<RecordedRun> recorded_;
    bool is_recorded_ = false;  ///< or was
    std::vector<std::unique_ptr<SimClient>> clients_;
    NetTime now_{1'000'000};
    std::uint32_t tick_ = 0;
    std::uint32_t last_connection_ = 0;
    std::uint64_t last_address_ = 1'000;
    std::uint32_t server_hitch_ticks_ = 0;
    LinkFaults to_client_;
    LinkFaults to_server_;
    NetTime last_due_;  ///< of what was under way when all was healed
    std::uint64_t memory_of_warm_server_ = 0;
    RunResult result_;
};

}  // namespace replayout::test
