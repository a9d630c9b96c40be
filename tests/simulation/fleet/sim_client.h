// SPDX-License-Identifier: MIT
//
// A client of a simulation: a place from which somebody plays, with a driver while he does. What it
// shows and what it is called is judged; what it sends may be anybody's.
#pragma once

#include "simulation/faulty_network.h"
#include "simulation/fleet/craft.h"
#include "simulation/fleet/sim_server.h"
#include "simulation/judges/call_judge.h"
#include "simulation/judges/value_judge.h"
#include "support/checks/counting_resource.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <memory>

namespace replayout::test {

struct ClientCounts {
    std::uint64_t joins = 0;
    std::uint64_t values_judged = 0;
    std::uint64_t notifies_judged = 0;
    std::uint64_t calls_judged = 0;
    std::uint64_t calls_made = 0;
    std::uint64_t crafts_lacked = 0;  ///< not shown in the end, for want of their class

    void add(const ClientCounts& other);
};

class SimClient final : public CraftListener {
  public:
    SimClient(const SwarmConfig& swarm, PeerId peer, FaultyNetwork& network, SimServer& server,
              Verdict& verdict, TraceDigest& digest, HistoryTrace& trace);
    ~SimClient();
    SimClient(const SimClient&) = delete;
    SimClient& operator=(const SimClient&) = delete;

    /// Somebody begins to play; `connection` is a number that nobody had before.
    void join(std::uint32_t connection);
    /// All of him is gone, without a word.
    void crash();
    void say_goodbye();
    /// From now on he speaks from another address.
    void move_to(PeerId address);
    /// One tick of his own clock, which goes on by so many microseconds.
    void tick(std::int64_t elapsed_us, Choices& row);
    /// His clock goes on by that much at once.
    void step_clock(std::int64_t microseconds) { now_.microseconds += microseconds; }
    /// For tests of the judges: he shows what was never sent to him; he keeps memory.
    void plant_value();
    std::int64_t planted_bytes = 0;
    /// When all is healed: he shows what the server has.
    void check_converged();

    [[nodiscard]] PeerId peer() const noexcept { return peer_; }
    /// As the server knows him.
    [[nodiscard]] PeerId address() const { return network_.address_of(peer_); }
    /// Which write the cargo of a craft is of, by the handle of the craft at the client.
    [[nodiscard]] std::uint32_t cargo_version(ObjectHandle handle) const {
        return cargo_version_of(world_->crafts().at(handle)->cargo);
    }
    /// The number of signals of a craft that ran here, or were made before the client had it.
    [[nodiscard]] std::size_t signals_ran(ObjectHandle handle) const {
        return calls_->signals_ran(handle);
    }
    [[nodiscard]] std::uint32_t connection() const noexcept { return connection_; }
    [[nodiscard]] bool is_playing() const noexcept { return driver_ != nullptr; }
    [[nodiscard]] NetDriver* driver() noexcept { return driver_.get(); }
    [[nodiscard]] const CountingResource& memory() const noexcept { return memory_; }
    [[nodiscard]] const ClientCounts& counts() const noexcept { return counts_; }
    /// Its driver gave up, or was given up.
    [[nodiscard]] bool is_closed() const noexcept {
        return driver_ != nullptr && driver_->state() == ConnectionState::Closed;
    }

    bool is_older = false;           ///< his classes are CraftVersion::Older
    bool is_lacking_barges = false;  ///< he has no such class
    bool has_tight_memory = false;   ///< SwarmConfig::tight_allocation_bytes_max is for him
    bool is_hostile = false;         ///< what he shows is his own affair
    bool is_talking = true;          ///< he may call functions
    std::uint32_t absent_ticks = 0;
    std::uint32_t hitch_ticks = 0;
    std::uint32_t parted_ticks = 0;
    std::uint32_t frozen_ticks = 0;
    std::uint32_t clock_per_mille = 1'000;  ///< of what passes

  private:
    void updated(Craft& craft) override;
    void notified(Craft& craft, std::uint32_t property, std::uint64_t previous) override;
    void called(Craft& craft, CraftFunction function, const Report& report) override;
    void call_server(Choices& row);
    void end_judging();
    void check_craft(const CraftState& state);

    const SwarmConfig& swarm_;
    PeerId peer_;
    FaultyNetwork& network_;
    SimServer& server_;
    Verdict& verdict_;
    TraceDigest& digest_;
    HistoryTrace& trace_;
    std::uint32_t connection_ = 0;
    NetTime now_{1'000'000};
    CountingResource memory_;
    std::unique_ptr<CraftWorld> world_;
    std::unique_ptr<NetDriver> driver_;
    std::unique_ptr<ValueJudge> values_;
    std::unique_ptr<CallJudge> calls_;
    bool has_joined_ = false;  // calls_ was told
    Choices* row_ = nullptr;
    std::uint32_t next_call_ = 0;
    ClientCounts counts_;
};

}  // namespace replayout::test
