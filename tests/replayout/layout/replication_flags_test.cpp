// SPDX-License-Identifier: MIT
#include <replayout/object_conditions.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/replication_flags.h>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"
#include "support/types/test_layout.h"

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

struct Hinted {
    std::int32_t hint = 0;
};

[[nodiscard]] Result<const Type*> build_hinted(TypeRegistry& registry) {
    return class_builder<Hinted>(registry, "Guard")
        .property<&Hinted::hint>()
        .condition(Condition::Dynamic)
        .build();
}

TEST_CASE("Conditions: what no property can be is no choice", "[replayout][replication_flags]") {
    if (REPLAYOUT_ASSERTIONS == 0) {
        return;  // nobody refuses it then
    }
    const TestLayout layout(build_hinted);
    ObjectConditions conditions(*layout, std::pmr::get_default_resource());
    unsigned refused_count = 0;
    for (std::size_t i = 0; i < lifetime_condition_count; ++i) {
        const auto condition = static_cast<Condition>(i);
        if (test::failure_in([&] { conditions.set_dynamic(ParentIndex{0}, condition); }) != "") {
            ++refused_count;
            CHECK((condition == Condition::Custom || condition == Condition::Dynamic ||
                   condition == Condition::NetGroup));
        }
    }
    CHECK(refused_count == 3);
    CHECK(conditions.condition_of(ParentIndex{0}) == Condition::Never);  // the last that was taken
}

}  // namespace
}  // namespace replayout
