// SPDX-License-Identifier: MIT
#include <replayout/scan_plan.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_sender.h"
#include "support/types/random_editor.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout::scan_plan_test {
namespace {

/// Runs of many lengths, broken by gaps, by texts, by bits, and by what is the game's alone.
struct Guard {
    std::uint8_t kind = 0;
    std::array<float, 9> place{};
    std::uint16_t rank = 0;
    std::string name;
    double weight = 0;
    std::uint32_t own = 0;  // not replicated
    std::uint16_t ammo = 0;
    std::uint32_t owner = 0;
    bool is_lit = false;
    bool is_asleep : 1 = false;
    bool is_own : 1 = false;  // not replicated
    std::string title;
    float turn = 0;
    std::array<std::uint64_t, 20> scores{};
    std::uint8_t last = 0;
};

[[nodiscard]] Result<const Type*> build_guard(TypeRegistry& registry) {
    return class_builder<Guard>(registry, "Guard")
        .property<&Guard::kind>()
        .property<&Guard::place>()
        .property<&Guard::rank>()
        .property<&Guard::name>()
        .property<&Guard::weight>()
        .property<&Guard::ammo>()
        .property<&Guard::owner>()
        .property<&Guard::is_lit>()
        .bit<[](Guard& guard, bool is_set) { guard.is_asleep = is_set; }>("is_asleep")
        .property<&Guard::title>()
        .property<&Guard::turn>()
        .quantised(Quantisation::steps(0, 360, 0.5))
        .property<&Guard::scores>()
        .property<&Guard::last>()
        .build();
}

/// References in rows of many lengths, and alone.
struct Rack {
    std::array<ObjectHandle, 21> slots{};
    std::uint16_t count = 0;
    std::array<ObjectHandle, 3> spare{};
    std::uint32_t own = 0;  // not replicated
    std::array<ObjectHandle, 4> shelf{};
    std::uint64_t weight = 0;
    ObjectHandle owner;
};

[[nodiscard]] Result<const Type*> build_rack(TypeRegistry& registry) {
    return class_builder<Rack>(registry, "Rack")
        .property<&Rack::slots>()
        .property<&Rack::count>()
        .property<&Rack::spare>()
        .property<&Rack::shelf>()
        .property<&Rack::weight>()
        .property<&Rack::owner>()
        .build();
}

/// One object, compared by a scan first, as a server does, and by itself.
class TwinSenders {
  public:
    explicit TwinSenders(const RepLayout& layout) : scanned_(layout), compared_(layout) {
        REQUIRE(layout.scan_plan() != nullptr);
    }

    /// Both find the same. Returns whether anything changed.
    bool update(const void* object) {
        const bool is_changed = compared_.update(object);
        REQUIRE(update_scanned(object) == is_changed);
        const ChangelistState& left = scanned_.state;
        const ChangelistState& right = compared_.state;
        REQUIRE(left.version() == right.version());
        REQUIRE(scanned_.counters.properties_changed == compared_.counters.properties_changed);
        REQUIRE(scanned_.counters.objects_changed == compared_.counters.objects_changed);
        for (std::uint32_t handle = 1; handle <= left.layout().handle_count(); ++handle) {
            REQUIRE(left.last_changed(RepHandle{handle}) == right.last_changed(RepHandle{handle}));
            for (Version version = 0; version < left.version(); ++version) {
                REQUIRE(left.previous().is_back(RepHandle{handle}, version) ==
                        right.previous().is_back(RepHandle{handle}, version));
            }
        }
        REQUIRE(scanned_.block(since(0)) == compared_.block(since(0)));
        if (is_changed) {
            const OwedVersions newest = since(left.version() - 1);
            REQUIRE(scanned_.block(newest) == compared_.block(newest));
        }
        return is_changed;
    }

    /// Updates by the shortest way.
    [[nodiscard]] int few_words_count() const noexcept { return few_words_count_; }

  private:
    bool update_scanned(const void* object) {
        const ScannedObject scanned = scanned_.state.scanned();
        REQUIRE(scanned.plan != nullptr);
        const bool is_same = scanned.plan->is_same(object, scanned.shadow);
        const ScanPlan::Findings found = find_changed(&scanned, &object, 1);
        REQUIRE(found.changed == (is_same ? 0u : 1u));
        REQUIRE((found.long_runs & ~found.changed) == 0);
        using Known = ChangelistState::Known;
        const ChangelistState::ToUpdate one{
            &scanned_.state, object, found.long_runs != 0 ? Known::LongRunsDiffer : Known::Differs};
        if (!is_same && ChangelistState::update_few_words({&one, 1}, scanned_.counters) != 0) {
            ++few_words_count_;
            return true;
        }
        return !is_same &&
               scanned_.state.update_changed(object, scanned_.package_map, scanned_.counters);
    }

    BlockSender scanned_;
    BlockSender compared_;
    int few_words_count_ = 0;
};

[[nodiscard]] bool is_same(const ChangelistState& state, const void* object) {
    const ScannedObject scanned = state.scanned();
    REQUIRE(scanned.plan != nullptr);
    return scanned.plan->is_same(object, scanned.shadow);
}

TEST_CASE("ScanPlan: every value that changes is found, wherever it lies",
          "[replayout][scan_plan]") {
    const TestLayout layout(build_guard);
    TwinSenders twins(*layout);
    Guard guard;
    REQUIRE_FALSE(twins.update(&guard));
    const auto check = [&](auto&& change) {
        change();
        CHECK(twins.update(&guard));
        CHECK_FALSE(twins.update(&guard));
    };
    check([&] { guard.kind = 1; });
    for (float& coordinate : guard.place) {
        check([&] { coordinate = 2.5f; });
    }
    check([&] { guard.rank = 0x100; });
    check([&] { guard.name = "a"; });
    check([&] { guard.name = "b"; });
    check([&] { guard.name = "a name of twelve and more"; });
    check([&] { guard.weight = 1; });
    check([&] { guard.ammo = 0x8000; });
    check([&] { guard.owner = 0x8000'0000; });
    check([&] { guard.is_lit = true; });
    check([&] { guard.is_asleep = true; });
    check([&] { guard.title = "sergeant"; });
    check([&] { guard.turn = 90; });
    for (std::uint64_t& score : guard.scores) {
        check([&] { score = std::uint64_t{1} << 63; });
    }
    check([&] { guard.last = 255; });
}

TEST_CASE("ScanPlan: every reference that changes is found, in a row of them or alone",
          "[replayout][scan_plan]") {
    const TestLayout layout(build_rack);
    TwinSenders twins(*layout);
    Rack rack;
    REQUIRE_FALSE(twins.update(&rack));
    const auto check = [&](ObjectHandle& reference) {
        for (const std::uint64_t handle : {std::uint64_t{1}, std::uint64_t{1} << 63}) {
            reference = ObjectHandle{handle};
            CHECK(twins.update(&rack));
            CHECK_FALSE(twins.update(&rack));
        }
    };
    std::for_each(rack.slots.begin(), rack.slots.end(), check);
    std::for_each(rack.spare.begin(), rack.spare.end(), check);
    std::for_each(rack.shelf.begin(), rack.shelf.end(), check);
    check(rack.owner);
    rack.weight = 1;
    CHECK(twins.update(&rack));
    rack.own = 1;
    CHECK_FALSE(twins.update(&rack));
}

TEST_CASE("ScanPlan: what is not replicated never counts, nor what lies in a gap",
          "[replayout][scan_plan]") {
    const TestLayout layout(build_guard);
    BlockSender sender(*layout);
    Guard guard;
    REQUIRE(is_same(sender.state, &guard));
    guard.own = 0xFFFF'FFFF;
    guard.is_own = true;
    CHECK(is_same(sender.state, &guard));
    // Of the members before and behind a gap; that of texts is the library's.
    auto* const bytes = reinterpret_cast<unsigned char*>(&guard);
    const std::size_t gap_begin = offsetof(Guard, kind) + sizeof(guard.kind);
    for (std::size_t i = gap_begin; i < offsetof(Guard, place); ++i) {
        bytes[i] = 0xFF;
    }
    for (std::size_t i = offsetof(Guard, ammo) + 2; i < offsetof(Guard, owner); ++i) {
        bytes[i] = 0xFF;
    }
    CHECK(is_same(sender.state, &guard));
    CHECK_FALSE(sender.update(&guard));
}

TEST_CASE("ScanPlan: numbers are compared by their bits", "[replayout][scan_plan]") {
    const TestLayout layout(build_guard);
    TwinSenders twins(*layout);
    Guard guard;
    guard.place[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(twins.update(&guard));
    CHECK_FALSE(twins.update(&guard));  // the same NaN
    guard.place[4] = -0.0f;
    CHECK(twins.update(&guard));
    guard.place[4] = 0.0f;
    CHECK(twins.update(&guard));
    CHECK_FALSE(twins.update(&guard));
}

TEST_CASE("ScanPlan: a text that cannot be sent is looked at in each update, and never taken",
          "[replayout][scan_plan]") {
    const TestLayout layout(build_guard);
    BlockSender sender(*layout);
    Guard guard;
    guard.title = "\xFF";
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(is_same(sender.state, &guard));
        CHECK_FALSE(sender.state.update_changed(&guard, sender.package_map, sender.counters));
    }
    CHECK(sender.counters.values_over_limit == 2);
    CHECK(sender.state.version() == 0);
}

struct Stock {
    std::uint32_t id = 0;
    std::uint32_t count = 0;
};

struct Store {
    std::vector<Stock> stocks;
};

[[nodiscard]] Result<const Type*> build_store(TypeRegistry& registry) {
    (void)struct_builder<Stock>(registry, "Stock")
        .property<&Stock::id>()
        .property<&Stock::count>()
        .build();
    return class_builder<Store>(registry, "Store")
        .property<&Store::stocks>()
        .keyed_by<&Stock::id>()
        .build();
}

TEST_CASE("ScanPlan: a class with a keyed array has no scan plan", "[replayout][scan_plan]") {
    CHECK(TestLayout(build_store)->scan_plan() == nullptr);
}

TEST_CASE(
    "ScanPlan: references, arrays, optional values and structs that serialize themselves are found",
    "[replayout][scan_plan][random]") {
    const auto play = [&]<typename Object>(Object&&, Result<const Type*> (*build)(TypeRegistry&)) {
        const TestLayout layout(build);
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            CAPTURE(layout->name(), seed);
            std::mt19937_64 random(seed);
            RandomEditor editor(random, 5);
            TwinSenders twins(*layout);
            Object object;
            int changed_count = 0;
            for (int tick = 0; tick < 60; ++tick) {
                for (std::uint64_t edits = random() % 4; edits > 0; --edits) {
                    editor.edit(layout->type(), &object);
                }
                changed_count += twins.update(&object) ? 1 : 0;
            }
            CHECK(changed_count > 20);
        }
    };
    play(Soldier(), build_soldier);
    play(Ledger(), build_ledger);
    play(Locker(), build_locker);
    play(Drone(), build_drone);
    play(Depot(), build_depot);
}

TEST_CASE("ScanPlan: of a row of objects those that changed are told, and no others",
          "[replayout][scan_plan]") {
    const TestLayout layout(build_guard);
    test::SeededRandom random(7);
    std::vector<Guard> guards(64);
    std::vector<std::unique_ptr<BlockSender>> senders;
    std::vector<ScannedObject> scanned;
    std::vector<const void*> objects;
    for (Guard& guard : guards) {
        senders.push_back(std::make_unique<BlockSender>(*layout));
        scanned.push_back(senders.back()->state.scanned());
        objects.push_back(&guard);
    }
    for (int round = 0; round < 20; ++round) {
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < guards.size(); ++i) {
            if (random.percent(30)) {
                guards[i].last = static_cast<std::uint8_t>(guards[i].last + 1);
                changed |= std::uint64_t{1} << i;
            }
        }
        const std::uint64_t asked = random.bits();
        CHECK(find_changed(scanned.data(), objects.data(), asked).changed == (asked & changed));
        for (std::size_t i = 0; i < guards.size(); ++i) {
            (void)senders[i]->update(&guards[i]);
        }
    }
}

TEST_CASE("ScanPlan: what an update leaves behind is the same with a scan and without",
          "[replayout][scan_plan][random]") {
    const TestLayout layout(build_guard);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        test::SeededRandom random(seed);
        TwinSenders twins(*layout);
        Guard guard;
        for (int tick = 0; tick < 60; ++tick) {
            // Few values, so that many come back to what they were.
            const std::uint32_t begin = random.below(9);
            const std::uint32_t end = random.between(begin, 9);
            for (std::uint32_t i = begin; i < end; ++i) {
                guard.place[i] = static_cast<float>(random.below(3));
            }
            guard.rank = static_cast<std::uint16_t>(random.percent(20) ? random.below(3) : 0);
            guard.is_asleep = random.percent(10);
            guard.scores[random.below(20)] += random.percent(20) ? 1u : 0u;
            guard.turn = static_cast<float>(random.percent(20) ? random.below(4) * 90 : 0);
            guard.name = random.percent(10) ? "somebody" : "nobody";
            (void)twins.update(&guard);
        }
    }
}

/// One long run, of which words are the begin.
struct Walker {
    std::array<float, 9> place{};
    std::uint16_t rank = 0;
    std::uint32_t owner = 0;
    std::string name;
};

[[nodiscard]] Result<const Type*> build_walker(TypeRegistry& registry) {
    return class_builder<Walker>(registry, "Walker")
        .property<&Walker::place>()
        .property<&Walker::rank>()
        .property<&Walker::owner>()
        .property<&Walker::name>()
        .build();
}

[[nodiscard]] Result<const Type*> build_marked_walker(TypeRegistry& registry) {
    return class_builder<Walker>(registry, "Walker")
        .property<&Walker::place>()
        .push_based()
        .property<&Walker::rank>()
        .push_based()
        .property<&Walker::owner>()
        .push_based()
        .property<&Walker::name>()
        .push_based()
        .build();
}

/// Some that lie side by side become something else, as few as may become what they were.
void move(Walker& walker, std::uint32_t begin, std::uint32_t end, test::SeededRandom& random) {
    for (std::uint32_t i = begin; i < end; ++i) {
        walker.place[i] = static_cast<float>(random.below(4));
    }
}

TEST_CASE("ScanPlan: a few words that change alone are updated as all else is",
          "[replayout][scan_plan][random]") {
    const TestLayout layout(build_walker);
    int few_words_count = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        test::SeededRandom random(seed);
        TwinSenders twins(*layout);
        Walker walker;
        for (int tick = 0; tick < 100; ++tick) {
            const std::uint32_t begin = random.below(6);
            move(walker, begin, random.between(begin + 3, 9), random);
            walker.rank = static_cast<std::uint16_t>(random.percent(20) ? random.below(3) : 0);
            walker.owner = random.percent(10) ? 1 : 0;
            walker.name = random.percent(10) ? "somebody" : "nobody";
            (void)twins.update(&walker);
        }
        few_words_count += twins.few_words_count();
    }
    CHECK(few_words_count > 100);
}

TEST_CASE("ScanPlan: a few words that are marked alone are updated as all else is",
          "[replayout][scan_plan][push][random]") {
    const TestLayout layout(build_marked_walker);
    int few_words_count = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        test::SeededRandom random(seed);
        BlockSender at_once(*layout);
        BlockSender alone(*layout);
        Walker walker;
        for (int tick = 0; tick < 100; ++tick) {
            const std::uint32_t begin = random.below(6);
            const std::uint32_t end = random.between(begin + 3, 9);
            move(walker, begin, end, random);
            for (BlockSender* sender : {&at_once, &alone}) {
                for (std::uint32_t i = begin; i < end; ++i) {
                    sender->state.mark_dirty(ParentIndex{static_cast<std::uint16_t>(i)});
                }
            }
            const bool is_changed = alone.update(&walker);
            const ChangelistState::ToUpdate one{&at_once.state, &walker,
                                                ChangelistState::Known::Nothing};
            if (ChangelistState::update_few_words({&one, 1}, at_once.counters) != 0) {
                ++few_words_count;
                REQUIRE(is_changed);
            } else {
                REQUIRE(at_once.update(&walker) == is_changed);
            }
            REQUIRE_FALSE(at_once.state.is_due());
            REQUIRE(at_once.state.version() == alone.state.version());
            REQUIRE(at_once.counters.properties_changed == alone.counters.properties_changed);
            REQUIRE(at_once.counters.objects_compared == alone.counters.objects_compared);
            for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
                REQUIRE(at_once.state.last_changed(RepHandle{handle}) ==
                        alone.state.last_changed(RepHandle{handle}));
                for (Version version = 0; version < alone.state.version(); ++version) {
                    REQUIRE(at_once.state.previous().is_back(RepHandle{handle}, version) ==
                            alone.state.previous().is_back(RepHandle{handle}, version));
                }
            }
            REQUIRE(at_once.block(since(0)) == alone.block(since(0)));
        }
    }
    CHECK(few_words_count > 100);
}

}  // namespace
}  // namespace replayout::scan_plan_test
