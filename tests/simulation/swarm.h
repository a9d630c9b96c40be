// SPDX-License-Identifier: MIT
//
// What one simulated run is made of: its features, which are faults and kinds of work, and how
// strong each is. All of it follows from the seed. Runs that lack half of the features find more
// than runs that have them all (swarm testing): some hide what others would show.
#pragma once

#include "support/checks/choices.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

enum class Feature : std::uint8_t {
    // Faults.
    Loss,
    BurstLoss,
    Duplicates,
    Jitter,
    DelaySpikes,
    Corruption,
    Asymmetric,
    Partitions,
    Replays,
    Rebinding,
    Crashes,
    Leaves,
    ServerHitches,
    ClientHitches,
    Bandwidth,
    ClockSkew,
    ClockSteps,
    SmallLimits,
    HostilePeer,
    SchemaSkew,
    MissingClass,
    TightMemory,
    LateSequences,
    // Work.
    Churn,
    Texts,
    LargeTexts,
    Arrays,
    StructArrays,
    AtomicStructs,
    References,
    FastArrays,
    Quantised,
    PushModel,
    Secrets,
    Owners,
    Conditions,
    Reverts,
    Dormancy,
    Relevancy,
    Places,
    Subobjects,
    TearOff,
    Rates,
    LateJoins,
    ReliableCalls,
    UnreliableCalls,
    ServerCalls,
    LargeCalls,
    NestedCalls,
    DestroyInCalls,
    Recording,
    Workers,
};
inline constexpr std::size_t feature_count = 52;
inline constexpr std::size_t fault_count = 23;  ///< those that stand first

[[nodiscard]] std::string_view to_string(Feature feature) noexcept;

class FeatureSet {
  public:
    [[nodiscard]] bool has(Feature feature) const noexcept { return (bits_ & bit(feature)) != 0; }
    void add(Feature feature) noexcept { bits_ |= bit(feature); }
    void remove(Feature feature) noexcept { bits_ &= ~bit(feature); }
    [[nodiscard]] std::vector<Feature> list() const;
    /// Separated by commas; "none".
    [[nodiscard]] std::string text() const;
    /// Bit i is feature i; bits that are none are passed over.
    [[nodiscard]] static FeatureSet of_bits(std::uint64_t bits) noexcept {
        FeatureSet features;
        features.bits_ = bits & (~std::uint64_t{0} >> (64 - feature_count));
        return features;
    }
    /// Every kind of work, and no fault.
    [[nodiscard]] static FeatureSet all_work() noexcept {
        return of_bits(~std::uint64_t{0} << fault_count);
    }
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
    /// Of a text as text() gives it; false where it names what is no feature.
    [[nodiscard]] static bool read(std::string_view text, FeatureSet& features);

    friend bool operator==(const FeatureSet&, const FeatureSet&) = default;

  private:
    [[nodiscard]] static std::uint64_t bit(Feature feature) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(feature);
    }

    std::uint64_t bits_ = 0;
};
static_assert(feature_count <= 64 && feature_count == std::size_t(Feature::Workers) + 1);
static_assert(fault_count == std::size_t(Feature::LateSequences) + 1);

/// How one direction of a link behaves. Shares are per mille of datagrams.
struct LinkFaults {
    std::uint32_t loss = 0;
    std::uint32_t burst = 0;  ///< a burst begins
    std::uint32_t burst_length_max = 0;
    std::uint32_t duplicate = 0;
    std::uint32_t copies_max = 1;
    std::uint32_t corrupt = 0;
    std::uint32_t spike = 0;
    std::uint32_t spike_ms = 0;
    std::uint32_t latency_ms = 0;
    std::uint32_t jitter_ms = 0;         ///< on top, in any order
    std::uint32_t bytes_per_second = 0;  ///< 0: no bottleneck
    std::uint32_t queue_datagrams = 0;   ///< at the bottleneck; what comes to a full one is dropped
};

/// Parts of a run whose choices can be taken away tick by tick, so that a run can be made smaller.
enum class RunPart : std::uint8_t { Network, Events, Game, Clients };
inline constexpr std::size_t run_part_count = 4;
[[nodiscard]] std::string_view to_string(RunPart part) noexcept;

/// Ticks in which a part makes no choice but the first one: first to last - 1.
struct RunCut {
    RunPart part = RunPart::Network;
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    friend bool operator==(const RunCut&, const RunCut&) = default;
};

/// Rows of a run that come from elsewhere than its seed, a fuzzer: those of each tick one behind
/// the other. Behind the last one every choice is the first one.
class RunScript {
  public:
    static constexpr std::size_t rows_per_tick = 8;

    void add_row(std::span<const std::byte> bytes) { rows_.emplace_back(bytes); }
    [[nodiscard]] std::size_t row_count() const noexcept { return rows_.size(); }
    [[nodiscard]] std::uint32_t tick_count() const noexcept {
        return static_cast<std::uint32_t>((rows_.size() + rows_per_tick - 1) / rows_per_tick);
    }
    /// Clients beyond the fifth share a row with another one.
    [[nodiscard]] Choices row(RunPart part, std::uint32_t tick, std::uint64_t whose) const {
        const std::size_t clients = run_part_count - 1;
        const std::size_t place = part == RunPart::Clients
                                      ? clients + whose % (rows_per_tick - clients)
                                      : static_cast<std::size_t>(part);
        const std::size_t index = tick * rows_per_tick + place;
        return index < rows_.size() ? rows_[index] : Choices({});
    }

  private:
    std::vector<Choices> rows_;
};

/// Faults that a driver once had, planted into a busy run to see that its judges find them.
enum class BusyPlant : std::uint8_t {
    None,
    Starvation,  ///< new objects wait for everything that changed (planted_fault.h)
    CallLoss,    ///< a close does not wait for calls
};

struct SwarmConfig {
    std::uint64_t seed = 1;
    std::uint32_t tick_count = 600;
    FeatureSet features;
    std::vector<RunCut> cuts;
    std::optional<RunScript> script;

    std::uint32_t client_count = 1;  ///< 0 to 16
    std::uint32_t object_max = 8;
    std::uint32_t acts_max = 4;    ///< of the game, a tick
    std::uint32_t writes_max = 6;  ///< likewise
    LinkFaults to_client;
    LinkFaults to_server;
    std::uint32_t replay_per_mille = 0;  ///< a tick
    std::uint32_t limit_divisor = 1;
    std::uint32_t timeout_ms = 10'000;
    std::uint32_t cap_bytes_per_second = 0;
    bool has_congestion_control = false;
    std::uint32_t reorder_packets_max = 0;
    std::uint32_t first_sequence = 1;  ///< late ones pass the end of 16 bits in the run
    /// decode_allocation_bytes_max of a client with tight memory; 0: none has.
    std::uint32_t tight_allocation_bytes_max = 0;
    std::int64_t tick_us = 33'000;
    /// The world never settles: every craft changes in every tick, crafts come and go all the time,
    /// and each connection has a cap.
    bool is_busy = false;
    bool has_priorities = false;  ///< of a busy world: crafts have several
    // What is judged besides; on in a busy world.
    bool is_judging_staleness = false;  ///< StalenessJudge
    bool is_judging_closes = false;     ///< CallJudge::closed()
    BusyPlant plant = BusyPlant::None;

    [[nodiscard]] static SwarmConfig draw(std::uint64_t seed, std::uint32_t tick_count);
    /// With other features than the seed's.
    [[nodiscard]] static SwarmConfig draw(std::uint64_t seed, std::uint32_t tick_count,
                                          const FeatureSet& features);

    /// Draws a busy world. With a `tick_count` of 0 it plays 5 to 20 s.
    [[nodiscard]] static SwarmConfig draw_busy(std::uint64_t seed, std::uint32_t tick_count);
    [[nodiscard]] static SwarmConfig draw_busy(std::uint64_t seed, std::uint32_t tick_count,
                                               const FeatureSet& features);

    /// With the same seed, ticks, features, clients, objects and cuts, and strengths that fit them.
    [[nodiscard]] SwarmConfig redrawn() const;
    [[nodiscard]] bool has(Feature feature) const noexcept { return features.has(feature); }
    /// Every tick of it is cut already.
    [[nodiscard]] bool is_cut(RunPart part, std::uint32_t first, std::uint32_t last) const;
    /// False: it was cut already.
    bool add_cut(const RunCut& cut);
    /// The choices of a part in a tick.
    [[nodiscard]] Choices row(RunPart part, std::uint32_t tick, std::uint64_t whose = 0) const;
    [[nodiscard]] Choices client_row(std::uint64_t client, std::uint32_t tick) const {
        return row(RunPart::Clients, tick, client);
    }
    /// As draw() or draw_busy() has it, with these features.
    [[nodiscard]] SwarmConfig drawn_with(const FeatureSet& set) const {
        return is_busy ? draw_busy(seed, tick_count, set) : draw(seed, tick_count, set);
    }
    /// The arguments of `./run simulate` that play this run.
    [[nodiscard]] std::string arguments() const;
};

}  // namespace replayout::test
