// SPDX-License-Identifier: MIT
//
// What is back at a value that a receiver holds is not owed: A to B to A.
#include <replayout/changelist_state.h>
#include <replayout/connection_shadow.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_sender.h"

namespace replayout::test::previous_values_test {
namespace {

struct Turret {
    std::int32_t mode = 0;        // handle 1
    std::string label;            // handle 2
    ObjectHandle target;          // handle 3
    bool is_armed = false;        // handle 4
    std::vector<float> readings;  // handle 5
};

constexpr RepHandle mode{1};
constexpr RepHandle label{2};
constexpr RepHandle readings{5};

struct TurretLayout {
    TurretLayout() {
        const auto type = class_builder<Turret>(registry, "Turret")
                              .property<&Turret::mode>()
                              .property<&Turret::label>()
                              .property<&Turret::target>()
                              .property<&Turret::is_armed>()
                              .property<&Turret::readings>()
                              .build();
        REQUIRE(type);
        REQUIRE(registry.freeze());
        Result<std::unique_ptr<RepLayout>> made = RepLayout::create(registry, **type);
        REQUIRE(made);
        layout = std::move(*made);
    }

    TypeRegistry registry;
    std::unique_ptr<RepLayout> layout;
};

[[nodiscard]] OwedVersions at(Version sent_version, bool is_exact = true) {
    OwedVersions position;
    position.sent_version = sent_version;
    position.is_exact = is_exact;
    return position;
}

/// A turret of which every version is remembered.
class Chronicle {
  public:
    Chronicle() : sender_(*turret_layout_.layout) { past_.push_back(turret); }

    void update() {
        if (sender_.update(&turret)) {
            past_.push_back(turret);
        }
        REQUIRE(sender_.state.version() + 1 == past_.size());
    }
    [[nodiscard]] bool owes(Version sent_version, RepHandle handle, bool is_exact = true) {
        return sender_.state.owes(at(sent_version, is_exact), handle);
    }
    [[nodiscard]] const ChangelistState& state() const { return sender_.state; }
    [[nodiscard]] const Turret& past(Version version) const { return past_[version]; }

    Turret turret;

  private:
    TurretLayout turret_layout_;
    BlockSender sender_;
    std::vector<Turret> past_;
};

[[nodiscard]] bool is_equal(const Turret& left, const Turret& right, RepHandle handle) {
    switch (handle.value) {
        case 1:
            return left.mode == right.mode;
        case 2:
            return left.label == right.label;
        case 3:
            return left.target == right.target;
        case 4:
            return left.is_armed == right.is_armed;
        default:
            return left.readings == right.readings;
    }
}

TEST_CASE("PreviousValues: what is back at what an exact receiver holds is not owed",
          "[replayout][previous_values]") {
    Chronicle chronicle;
    chronicle.turret.label = "east";
    chronicle.update();  // version 1
    chronicle.turret.mode = 7;
    chronicle.turret.label = "a label that needs memory of its own";
    chronicle.update();  // version 2
    CHECK(chronicle.owes(1, mode));
    CHECK(chronicle.owes(1, label));
    chronicle.turret.mode = 0;
    chronicle.turret.label = "east";
    chronicle.update();  // version 3
    CHECK_FALSE(chronicle.owes(1, mode));
    CHECK_FALSE(chronicle.owes(1, label));
    CHECK_FALSE(chronicle.owes(0, mode));
    CHECK(chronicle.owes(0, label));
    CHECK(chronicle.owes(2, mode));
    CHECK(chronicle.owes(2, label));
    ChangeMask owed(std::pmr::get_default_resource());
    chronicle.state().collect_owed(at(1), owed);
    CHECK_FALSE(owed.any());
}

TEST_CASE("PreviousValues: to a receiver that is not exact it is owed",
          "[replayout][previous_values]") {
    Chronicle chronicle;
    chronicle.turret.mode = 7;
    chronicle.update();
    chronicle.turret.mode = 0;
    chronicle.update();
    CHECK_FALSE(chronicle.owes(0, mode));
    CHECK(chronicle.owes(0, mode, false));
    OwedVersions lost = at(2, false);
    lost.lost = {0, 2};
    CHECK(chronicle.state().owes(lost, mode));
}

TEST_CASE("PreviousValues: an array that is back counts as changed",
          "[replayout][previous_values]") {
    Chronicle chronicle;
    chronicle.turret.readings = {1.0f};
    chronicle.update();
    chronicle.turret.readings = {2.0f};
    chronicle.update();
    chronicle.turret.readings = {1.0f};
    chronicle.update();
    CHECK(chronicle.owes(1, readings));
}

TEST_CASE("PreviousValues: over random games nothing that differs is called back",
          "[replayout][previous_values]") {
    const std::uint64_t first_seed = run_seed();
    std::uint64_t back_count = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + 100; ++seed) {
        INFO("--rng-seed " << seed);
        SeededRandom random(seed);
        Chronicle chronicle;
        for (int step = 0; step < 40; ++step) {
            Turret& turret = chronicle.turret;
            turret.mode = static_cast<std::int32_t>(random.below(2));
            turret.is_armed = random.below(3) == 0;
            turret.label = random.below(3) == 0 ? "a" : "b";
            turret.target = ObjectHandle{random.below(3)};
            turret.readings.resize(random.below(2));
            chronicle.update();
            for (Version version = 0; version <= chronicle.state().version(); ++version) {
                for (std::uint32_t value = 1; value <= 5; ++value) {
                    const RepHandle handle{value};
                    const bool is_same =
                        is_equal(chronicle.past(version), chronicle.turret, handle);
                    if (!chronicle.owes(version, handle)) {
                        CHECK(is_same);
                        back_count += chronicle.state().last_changed(handle) > version ? 1u : 0u;
                    }
                }
            }
        }
    }
    CHECK(back_count > 1'000);
}

TEST_CASE("ConnectionShadow: knows what an exact receiver holds, three values back",
          "[replayout][previous_values]") {
    Chronicle chronicle;
    for (std::int32_t value = 1; value <= 4; ++value) {
        chronicle.turret.mode = value * 10;
        chronicle.update();
    }
    const LifetimeConditionSet passing = passing_conditions(ReplicationFlags());
    const auto held = [&](const OwedVersions& position) -> std::int32_t {
        const ConnectionShadow shadow(chronicle.state(), position, passing);
        const ConstShadowBuffer memory = shadow.held(mode);
        if (memory.is_null()) {
            return -1;
        }
        std::int32_t value = 0;
        std::memcpy(&value, memory.data(), sizeof(value));
        return value;
    };
    CHECK(held(at(4)) == 40);
    CHECK(held(at(3)) == 30);
    CHECK(held(at(2)) == 20);
    CHECK(held(at(1)) == -1);  // not kept
    CHECK(held(at(4, false)) == -1);
    const ConnectionShadow behind(chronicle.state(), at(3), passing);
    CHECK(behind.is_exact());
    CHECK(behind.owes(mode));
    CHECK_FALSE(behind.owes(label));
}

}  // namespace
}  // namespace replayout::test::previous_values_test
