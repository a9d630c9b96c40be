// SPDX-License-Identifier: MIT
#include <replayout/reflection/lifetime_condition.h>

#include <array>

namespace replayout {

std::string_view to_string(LifetimeCondition condition) noexcept {
    static constexpr std::array<std::string_view, lifetime_condition_count> names{
        "None",
        "InitialOnly",
        "OwnerOnly",
        "SkipOwner",
        "SimulatedOnly",
        "AutonomousOnly",
        "SimulatedOrPhysics",
        "InitialOrOwner",
        "Custom",
        "ReplayOrOwner",
        "ReplayOnly",
        "SimulatedOnlyNoReplay",
        "SimulatedOrPhysicsNoReplay",
        "SkipReplay",
        "Dynamic",
        "Never",
        "NetGroup",
    };
    const auto index = static_cast<std::size_t>(condition);
    return index < names.size() ? names[index] : "?";
}

}  // namespace replayout
