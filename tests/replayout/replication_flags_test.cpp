// SPDX-License-Identifier: MIT
#include <replayout/replication_flags.h>

#include "support/catch.h"

namespace replayout {
namespace {

using Condition = LifetimeCondition;

[[nodiscard]] ReplicationFlags flags_of(unsigned bits) {
    ReplicationFlags flags;
    flags.is_initial = (bits & 1) != 0;
    flags.is_owner = (bits & 2) != 0;
    flags.is_simulated = (bits & 4) != 0;
    flags.is_replay = (bits & 8) != 0;
    flags.has_physics = (bits & 16) != 0;
    return flags;
}

TEST_CASE("ReplicationFlags: a set of passing conditions is that of each of them",
          "[replayout][replication_flags]") {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const ReplicationFlags flags = flags_of(bits);
        const LifetimeConditionSet set = passing_conditions(flags);
        for (std::size_t i = 0; i < lifetime_condition_count; ++i) {
            const auto condition = static_cast<Condition>(i);
            CHECK(set.contains(condition) == passes(condition, flags));
        }
        CHECK(set.contains(Condition::None));
        CHECK(set.contains(Condition::Custom));
        CHECK_FALSE(set.contains(Condition::Never));
    }
}

TEST_CASE("ReplicationFlags: opposite conditions never pass together, and one always does",
          "[replayout][replication_flags]") {
    for (unsigned bits = 0; bits < 32; ++bits) {
        const ReplicationFlags flags = flags_of(bits);
        CHECK(passes(Condition::OwnerOnly, flags) != passes(Condition::SkipOwner, flags));
        CHECK(passes(Condition::SimulatedOnly, flags) != passes(Condition::AutonomousOnly, flags));
        CHECK(passes(Condition::ReplayOnly, flags) != passes(Condition::SkipReplay, flags));
    }
}

TEST_CASE("LifetimeConditionSet: is a set", "[replayout][replication_flags]") {
    LifetimeConditionSet set;
    CHECK(set.is_empty());
    CHECK(set.is_trivial());
    set.insert(Condition::None);
    CHECK(set.is_trivial());
    set.insert(Condition::OwnerOnly);
    CHECK_FALSE(set.is_trivial());
    LifetimeConditionSet other;
    other.insert(Condition::OwnerOnly);
    other.insert(Condition::Never);
    CHECK((set & other).contains(Condition::OwnerOnly));
    CHECK_FALSE((set & other).contains(Condition::Never));
    CHECK((set | other).contains(Condition::Never));
    CHECK(set.without(other).is_trivial());
}

TEST_CASE("LifetimeCondition: has Unreal's numbers and names", "[replayout][replication_flags]") {
    CHECK(static_cast<int>(Condition::InitialOnly) == 1);
    CHECK(static_cast<int>(Condition::Custom) == 8);
    CHECK(static_cast<int>(Condition::NetGroup) == 16);
    CHECK(to_string(Condition::SimulatedOrPhysicsNoReplay) == "SimulatedOrPhysicsNoReplay");
    CHECK(to_string(static_cast<Condition>(99)) == "?");
}

}  // namespace
}  // namespace replayout
