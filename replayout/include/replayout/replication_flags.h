// SPDX-License-Identifier: MIT
//
// What a receiver is to an object, and which conditions it meets by that.
#pragma once

#include <replayout/reflection/lifetime_condition.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// One receiver and one object, as the conditions ask (Unreal: FReplicationFlags).
struct ReplicationFlags {
    /// The receiver has not been sent the object since it was opened for it, or what it was sent
    /// then was lost.
    bool is_initial = false;
    bool is_owner = false;
    /// It moves the object by what it is told. Otherwise it is autonomous: it controls the object.
    /// An owner simulates, too, unless this is false.
    bool is_simulated = true;
    /// It records instead of playing.
    bool is_replay = false;
    /// The object replicates its physics.
    bool has_physics = false;

    friend constexpr bool operator==(const ReplicationFlags&,
                                     const ReplicationFlags&) noexcept = default;
};

/// Whether a receiver is sent properties of that condition. Custom always passes, because what is
/// inactive is not compared; Dynamic stands for the condition that was chosen and must not come
/// here; NetGroup is no condition of a property.
[[nodiscard]] constexpr bool passes(LifetimeCondition condition,
                                    const ReplicationFlags& flags) noexcept {
    switch (condition) {
        case LifetimeCondition::None:
        case LifetimeCondition::Custom:
            return true;
        case LifetimeCondition::InitialOnly:
            return flags.is_initial;
        case LifetimeCondition::OwnerOnly:
            return flags.is_owner;
        case LifetimeCondition::SkipOwner:
            return !flags.is_owner;
        case LifetimeCondition::SimulatedOnly:
            return flags.is_simulated;
        case LifetimeCondition::AutonomousOnly:
            return !flags.is_simulated;
        case LifetimeCondition::SimulatedOrPhysics:
            return flags.is_simulated || flags.has_physics;
        case LifetimeCondition::InitialOrOwner:
            return flags.is_initial || flags.is_owner;
        case LifetimeCondition::ReplayOrOwner:
            return flags.is_replay || flags.is_owner;
        case LifetimeCondition::ReplayOnly:
            return flags.is_replay;
        case LifetimeCondition::SimulatedOnlyNoReplay:
            return flags.is_simulated && !flags.is_replay;
        case LifetimeCondition::SimulatedOrPhysicsNoReplay:
            return (flags.is_simulated || flags.has_physics) && !flags.is_replay;
        case LifetimeCondition::SkipReplay:
            return !flags.is_replay;
        case LifetimeCondition::Dynamic:
        case LifetimeCondition::Never:
        case LifetimeCondition::NetGroup:
            return false;
    }
    return false;
}

/// Depends on whether the object was just opened: its value goes out once, and again only if that
/// was lost.
[[nodiscard]] constexpr bool is_initial_condition(LifetimeCondition condition) noexcept {
    return condition == LifetimeCondition::InitialOnly ||
           condition == LifetimeCondition::InitialOrOwner;
}

/// A set of conditions, in a word.
class LifetimeConditionSet {
  public:
    constexpr LifetimeConditionSet() noexcept = default;

    constexpr void insert(LifetimeCondition condition) noexcept { bits_ |= bit(condition); }
    [[nodiscard]] constexpr bool contains(LifetimeCondition condition) const noexcept {
        return (bits_ & bit(condition)) != 0;
    }
    /// Nothing but None.
    [[nodiscard]] constexpr bool is_trivial() const noexcept {
        return (bits_ & ~bit(LifetimeCondition::None)) == 0;
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return bits_ == 0; }

    [[nodiscard]] constexpr LifetimeConditionSet operator&(
        LifetimeConditionSet other) const noexcept {
        return LifetimeConditionSet(bits_ & other.bits_);
    }
    [[nodiscard]] constexpr LifetimeConditionSet operator|(
        LifetimeConditionSet other) const noexcept {
        return LifetimeConditionSet(bits_ | other.bits_);
    }
    /// What is in this set and not in the other.
    [[nodiscard]] constexpr LifetimeConditionSet without(
        LifetimeConditionSet other) const noexcept {
        return LifetimeConditionSet(bits_ & ~other.bits_);
    }

    friend constexpr bool operator==(LifetimeConditionSet, LifetimeConditionSet) noexcept = default;

  private:
    constexpr explicit LifetimeConditionSet(std::uint32_t bits) noexcept : bits_(bits) {}
    [[nodiscard]] static constexpr std::uint32_t bit(LifetimeCondition condition) noexcept {
        return std::uint32_t{1} << static_cast<std::uint32_t>(condition);
    }

    std::uint32_t bits_ = 0;
};

/// All conditions that a receiver meets.
[[nodiscard]] constexpr LifetimeConditionSet passing_conditions(
    const ReplicationFlags& flags) noexcept {
    LifetimeConditionSet set;
    for (std::size_t i = 0; i < lifetime_condition_count; ++i) {
        const auto condition = static_cast<LifetimeCondition>(i);
        if (passes(condition, flags)) {
            set.insert(condition);
        }
    }
    return set;
}

}  // namespace replayout
