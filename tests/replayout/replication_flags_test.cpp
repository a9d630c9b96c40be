// SPDX-License-Identifier: MIT
#include <replayout/object_conditions.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/replication_flags.h>

#include <csetjmp>

#include "support/catch.h"
#include "support/test_layout.h"

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

struct Guard {
    std::int32_t hint = 0;
};

[[nodiscard]] Result<const Type*> build_guard(TypeRegistry& registry) {
    return class_builder<Guard>(registry, "Guard")
        .property<&Guard::hint>()
        .condition(Condition::Dynamic)
        .build();
}

std::jmp_buf after_failure;

void jump_out(const AssertionFailure&) {
    std::longjmp(after_failure, 1);
}

TEST_CASE("Conditions: what no property can be is no choice", "[replayout][replication_flags]") {
    const TestLayout layout(build_guard);
    ObjectConditions conditions(*layout, std::pmr::get_default_resource());
    static unsigned refused_count = 0;  // what setjmp leaves alone
    static std::size_t i = 0;
    refused_count = 0;
    const AssertHandler previous = set_assert_handler(jump_out);
    for (i = 0; i < lifetime_condition_count; ++i) {
        if (setjmp(after_failure) == 0) {
            conditions.set_dynamic(ParentIndex{0}, static_cast<Condition>(i));
        } else {
            ++refused_count;
            const auto refused = static_cast<Condition>(i);
            CHECK((refused == Condition::Custom || refused == Condition::Dynamic ||
                   refused == Condition::NetGroup));
        }
    }
    (void)set_assert_handler(previous);
    CHECK(refused_count == 3);
    CHECK(conditions.condition_of(ParentIndex{0}) == Condition::Never);  // the last that was taken
}

}  // namespace
}  // namespace replayout
