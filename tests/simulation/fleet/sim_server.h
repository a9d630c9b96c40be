// SPDX-License-Identifier: MIT
//
// The server of a simulation: its driver, its crafts, and the game that does whatever the features
// of the run allow. Each change is written down where the judges look.
#pragma once

#include "simulation/fleet/craft.h"
#include "simulation/fleet/sim_config.h"
#include "simulation/history.h"
#include "simulation/history_trace.h"
#include "simulation/judges/call_judge.h"
#include "simulation/judges/verdict.h"
#include "simulation/swarm.h"
#include "simulation/trace_digest.h"
#include "support/checks/counting_resource.h"
#include "support/checks/executors.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace replayout::test {

/// Crafts with numbers up to it have marked secrets (support/checks/marked_bytes.h).
inline constexpr std::uint32_t secret_crafts_max = 15;
/// The priority of a craft in a busy world with priorities.
[[nodiscard]] constexpr float busy_priority(std::uint32_t number) noexcept {
    constexpr float priorities[] = {0.5f, 1, 1, 2};
    return priorities[number % 4];
}
/// Which write a cargo is of; 0: none.
inline constexpr std::string_view cargo_word = "cargo ";
[[nodiscard]] std::uint32_t cargo_version_of(std::string_view cargo) noexcept;
/// The cargo of one craft.
inline constexpr std::uint32_t cargo_bytes_max = 20'000;
inline constexpr std::uint32_t orders_mark = 1;
inline constexpr std::uint32_t rumour_mark = 2;

struct CraftState {
    std::uint32_t number = 0;
    NetObjectId id;
    PeerId owner{};
    ObjectHandle outer{};          ///< of a part
    std::uint32_t spawned_at = 0;  ///< tick
    bool may_sleep = false;
    std::set<PeerId> owners_of_tick;             ///< since the last flush ended; 0: nobody
    std::map<PeerId, std::uint32_t> owned_last;  ///< the last tick in which each one owned it
    PeerId only_owner{};                         ///< in the last tick, and since when
    std::uint32_t only_owner_since = 0;
};

struct GameCounts {
    std::uint64_t spawned = 0;
    std::uint64_t removed = 0;
    std::uint64_t writes = 0;
    std::uint64_t calls = 0;
    std::uint64_t reactions = 0;

    void add(const GameCounts& other) {
        spawned += other.spawned;
        removed += other.removed;
        writes += other.writes;
        calls += other.calls;
        reactions += other.reactions;
    }
};

class SimServer final : public CraftListener {
  public:
    static constexpr PeerId peer{1};

    SimServer(const SwarmConfig& swarm, const TwinSettings& twin, Transport& transport,
              Verdict& verdict, TraceDigest& digest, HistoryTrace& trace);

    /// Takes what arrived; calls of clients may move the game, by `row`.
    void dispatch(NetTime now, Choices& row);
    /// The game moves.
    void play(std::uint32_t tick, Choices& row, const std::vector<PeerId>& players);
    void flush(NetTime now);
    /// The client at this address has another number now.
    void tell_owner(PeerId address, std::uint32_t connection);
    /// Nothing of the game hinders any client from having all that it is to have.
    void wake_all(const std::vector<PeerId>& players);
    void remove_all();
    /// Nobody has a cap.
    void lift_caps(const std::vector<PeerId>& players);

    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] CraftWorld& world() noexcept { return world_; }
    [[nodiscard]] const Histories& histories() const noexcept { return histories_; }
    [[nodiscard]] CallBook& calls() noexcept { return calls_; }
    [[nodiscard]] const std::map<ObjectHandle, CraftState>& crafts() const noexcept {
        return crafts_;
    }
    /// 0: no such craft.
    [[nodiscard]] std::uint32_t number_of(NetGUID guid) const;
    [[nodiscard]] std::uint32_t number_of(ObjectHandle handle) const;
    [[nodiscard]] ObjectHandle handle_of(std::uint32_t number) const { return handles_.at(number); }
    /// Every fourth, in runs in which clients may lack that class.
    [[nodiscard]] bool is_barge(std::uint32_t number) const noexcept {
        return swarm_.has(Feature::MissingClass) && number % 4 == 3;
    }
    /// It, or what it is a part of.
    [[nodiscard]] bool is_of_barge(const CraftState& state) const;
    [[nodiscard]] const CraftState* find_number(std::uint32_t number) const;
    [[nodiscard]] bool was_torn_off(std::uint32_t number) const {
        return torn_off_.contains(number);
    }
    /// What a craft takes to be sent whole but for its cargo, roughly, and rather more than less.
    [[nodiscard]] std::size_t block_bytes(ObjectHandle handle) const;
    [[nodiscard]] std::size_t cargo_bytes(ObjectHandle handle) const {
        return world_.crafts().at(handle)->cargo.size();
    }
    [[nodiscard]] std::uint32_t cargo_version(ObjectHandle handle) const {
        return cargo_version_of(world_.crafts().at(handle)->cargo);
    }
    [[nodiscard]] const GameCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] const CountingResource& memory() const noexcept { return memory_; }
    /// All that the crafts are.
    [[nodiscard]] std::uint64_t state_hash();
    /// Something that nobody is to do, for tests of the judges.
    void plant_write();

    /// Of the client at an address that speaks now; 0: nobody that we know.
    std::function<std::uint32_t(PeerId)> connection_at;
    /// Calls of these are not judged.
    std::set<PeerId> hostile;
    std::vector<CloseReason> left;  ///< why, of those who were told of since it was cleared

  private:
    using Act = void (SimServer::*)(Choices&, ObjectHandle);
    using Write = void (SimServer::*)(Choices&, Craft&);

    void updated(Craft&) override {}
    void notified(Craft&, std::uint32_t, std::uint64_t) override {}
    void called(Craft& craft, CraftFunction function, const Report& report) override;

    void choose_work();
    [[nodiscard]] static bool is_taken(CallResult result) noexcept;
    void add(Choices& row);
    void add_part(Choices& row, ObjectHandle outer);
    [[nodiscard]] const RepLayout& layout_of(std::uint32_t number) const;
    void begin(ObjectHandle handle, NetObjectId id, ObjectHandle outer);
    /// With all its parts. What is gone lies in the graveyard until the tick ends.
    void forget(ObjectHandle handle);
    void note(ObjectHandle handle);
    void set_owner(ObjectHandle handle, PeerId owner);
    /// For the judge of calls: which crafts became hidden from whom since this ran last.
    void note_hides();
    /// Three of four crafts of a busy world stay, so that no long wait ends because its craft goes.
    [[nodiscard]] bool is_resident(ObjectHandle handle) const {
        return swarm_.is_busy && crafts_.at(handle).number % 4 != 0;
    }
    /// A tick of a busy world, besides what the features do.
    void stir(Choices& row);
    /// Whether a new craft of `bytes` may come to a busy world: in the long run new crafts take at
    /// most a share of the cap.
    [[nodiscard]] bool spend(std::uint64_t bytes) noexcept;
    [[nodiscard]] ObjectHandle any(Choices& row);
    [[nodiscard]] ObjectHandle outermost(ObjectHandle handle) const;
    [[nodiscard]] PeerId any_player(Choices& row);
    void react(Choices& row, ObjectHandle handle);

    // What the game may do.
    void act_remove(Choices& row, ObjectHandle handle);
    void act_spawn(Choices& row, ObjectHandle handle);
    void act_part(Choices& row, ObjectHandle handle);
    void act_owner(Choices& row, ObjectHandle handle);
    void act_conditions(Choices& row, ObjectHandle handle);
    void act_dormancy(Choices& row, ObjectHandle handle);
    void act_relevancy(Choices& row, ObjectHandle handle);
    void act_place(Choices& row, ObjectHandle handle);
    void act_rates(Choices& row, ObjectHandle handle);
    void act_tear_off(Choices& row, ObjectHandle handle);
    void act_signal(Choices& row, ObjectHandle handle);
    void act_flash(Choices& row, ObjectHandle handle);
    void act_order(Choices& row, ObjectHandle handle);

    // What it may write.
    void write_course(Choices& row, Craft& craft);
    void write_heading(Choices& row, Craft& craft);
    void write_scores(Choices& row, Craft& craft);
    void write_reverted(Choices& row, Craft& craft);
    void write_label(Choices& row, Craft& craft);
    void write_cargo(Choices& row, Craft& craft);
    void write_crew(Choices& row, Craft& craft);
    void write_legs(Choices& row, Craft& craft);
    void write_purse(Choices& row, Craft& craft);
    void write_escort(Choices& row, Craft& craft);
    void write_hold(Choices& row, Craft& craft);
    void write_place(Choices& row, Craft& craft);
    void write_gauge(Choices& row, Craft& craft);
    void write_secrets(Choices& row, Craft& craft);
    void write_conditional(Choices& row, Craft& craft);

    const SwarmConfig& swarm_;
    Verdict& verdict_;
    TraceDigest& digest_;
    HistoryTrace& trace_;
    CraftVersion craft_version_;
    CountingResource memory_;
    std::optional<OrderedExecutor> executor_;
    CraftWorld world_;
    NetDriver driver_;
    std::map<ObjectHandle, CraftState> crafts_;
    std::map<NetGUID, std::uint32_t> numbers_;
    std::map<std::uint32_t, ObjectHandle> handles_;
    std::vector<ObjectHandle> graveyard_;
    std::set<std::uint32_t> torn_off_;
    Histories histories_;
    CallBook calls_;
    std::vector<Act> acts_;
    std::vector<Write> writes_;
    std::vector<PeerId> players_;
    std::set<std::pair<PeerId, std::uint32_t>> relevant_;  // player and number, by note_hides()
    Choices* row_ = nullptr;                               // while the game may move
    std::uint32_t tick_ = 0;
    std::uint32_t version_ = 0;
    std::uint64_t credit_bytes_ = 0;  // of a busy world, see spend()
    std::uint32_t last_number_ = 0;
    std::uint32_t depth_ = 0;
    bool is_over_ = false;
    GameCounts counts_;
};

}  // namespace replayout::test
