// SPDX-License-Identifier: MIT
//
// Properties that are compared only where the game has marked them.
#include <replayout/changelist_state.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_sender.h"
#include "support/types/delta_types.h"
#include "support/types/fast_array_types.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

using Handles = std::vector<std::uint32_t>;

/// Polled and push based properties by turns, so that both kinds end runs of the other.
struct MarkedTurret {
    std::int32_t heat = 0;                 // handle 1
    std::int32_t ammo = 0;                 // handle 2, push
    std::int32_t kills = 0;                // handle 3, push
    std::int32_t angle = 0;                // handle 4
    std::array<std::uint16_t, 3> locks{};  // handles 5 to 7, push
    std::uint16_t power = 0;               // handle 8
    std::string name;                      // handle 9, push
    std::int32_t secret = 0;               // handle 10, push, Custom
};

enum class Marking : std::uint8_t { Pushed, Polled };

[[nodiscard]] Result<const Type*> describe_turret(TypeRegistry& registry, Marking marking) {
    const bool is_pushed = marking == Marking::Pushed;
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Turret", sizeof(MarkedTurret),
                               alignof(MarkedTurret));
    const auto push = [&] {
        if (is_pushed) {
            builder.push_based();
        }
    };
    builder.ops(make_class_ops<MarkedTurret>());
    builder.property("heat", PropertyKind::Int32, offsetof(MarkedTurret, heat));
    builder.property("ammo", PropertyKind::Int32, offsetof(MarkedTurret, ammo));
    push();
    builder.property("kills", PropertyKind::Int32, offsetof(MarkedTurret, kills));
    push();
    builder.property("angle", PropertyKind::Int32, offsetof(MarkedTurret, angle));
    builder.property("locks", PropertyKind::UInt16, offsetof(MarkedTurret, locks), 3);
    push();
    builder.property("power", PropertyKind::UInt16, offsetof(MarkedTurret, power));
    builder.property(string_property<std::string>("name", offsetof(MarkedTurret, name)));
    push();
    builder.property("secret", PropertyKind::Int32, offsetof(MarkedTurret, secret));
    builder.condition(LifetimeCondition::Custom);
    push();
    return builder.build();
}

[[nodiscard]] Result<const Type*> build_pushed_turret(TypeRegistry& registry) {
    return describe_turret(registry, Marking::Pushed);
}
[[nodiscard]] Result<const Type*> build_polled_turret(TypeRegistry& registry) {
    return describe_turret(registry, Marking::Polled);
}

/// A soldier of whom every property is push based.
[[nodiscard]] Result<const Type*> build_pushed_soldier(TypeRegistry& registry) {
    const Result<const Type*> polled = build_soldier(registry);
    REQUIRE(polled);
    const Type& soldier = **polled;
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Pushed", soldier.size(),
                               soldier.alignment());
    builder.ops(soldier.ops());
    const auto add = [&](const Type& type, std::uint32_t offset) {
        for (Property property : type.properties()) {
            property.offset += offset;
            builder.property(std::move(property)).push_based();
        }
    };
    add(*soldier.base(), soldier.base_offset());
    add(soldier, 0);
    return builder.build();
}

/// What marks itself, and what compares itself, as push based properties.
struct Stall {
    test::Inventory stock;  // handle 1
    test::Scores scores;    // handle 2
};

[[nodiscard]] Result<const Type*> build_stall(TypeRegistry& registry) {
    REQUIRE(test::build_trader(registry));
    REQUIRE(struct_builder<test::Scores>(registry, "Scores").build());
    return class_builder<Stall>(registry, "Stall")
        .property<&Stall::stock>()
        .push_based()
        .property<&Stall::scores>()
        .push_based()
        .build();
}

struct TurretSender {
    explicit TurretSender(BuildType build = build_pushed_turret) : layout(build) {}

    [[nodiscard]] ParentIndex parent(std::string_view name) const {
        const auto found = layout->find_parent(name);
        REQUIRE(found);
        return *found;
    }
    void mark(std::string_view name) { sender.state.mark_dirty(parent(name)); }
    /// Handles that an update found changed.
    Handles update() {
        const Version before = sender.state.version();
        (void)sender.update(&turret);
        return handles_of(sender.collect(since(before)));
    }

    TestLayout layout;
    BlockSender sender{*layout};
    MarkedTurret turret;
};

[[nodiscard]] Handles missed_of(const BlockSender& sender, const void* object) {
    ChangeMask missed;
    sender.state.find_missed_marks(object, missed);
    Handles parents;
    for (std::uint32_t bit = missed.next(0); bit < missed.bit_count(); bit = missed.next(bit + 1)) {
        parents.push_back(bit);
    }
    return parents;
}

/// Changes of a soldier, each with the property it is to.
struct Edit {
    std::string_view property;
    std::function<void(Soldier&, std::uint32_t)> apply;
};

[[nodiscard]] const std::vector<Edit>& edits() {
    static const std::vector<Edit> list{
        {"serial",
         [](Soldier& s, std::uint32_t v) { s.serial = static_cast<decltype(s.serial)>(v); }},
        {"owner", [](Soldier& s, std::uint32_t v) { s.owner = ObjectHandle{v}; }},
        {"is_hidden", [](Soldier& s, std::uint32_t v) { s.is_hidden = v % 2 != 0; }},
        {"health", [](Soldier& s, std::uint32_t v) { s.health = static_cast<std::int32_t>(v); }},
        {"position", [](Soldier& s, std::uint32_t v) { s.position.y = static_cast<float>(v); }},
        {"title", [](Soldier& s, std::uint32_t v) { s.title = std::to_string(v); }},
        {"target", [](Soldier& s, std::uint32_t v) { s.target = ObjectHandle{v + 3}; }},
        {"last_wound", [](Soldier& s, std::uint32_t v) { s.last_wound.source = ObjectHandle{v}; }},
        {"wounds", [](Soldier& s, std::uint32_t v) { s.wounds.resize(v % 5); }},
        {"words", [](Soldier& s, std::uint32_t v) { s.words.assign(v % 3, std::to_string(v)); }},
        {"pouches",
         [](Soldier& s, std::uint32_t v) {
             s.pouches.resize(1);
             s.pouches[0].routes.resize(v % 4);
         }},
        {"aim", [](Soldier& s, std::uint32_t v) { s.aim.range = v; }},
        {"secret", [](Soldier& s, std::uint32_t v) { s.secret.word = std::to_string(v); }},
        {"weight", [](Soldier& s, std::uint32_t v) { s.weight = v; }},
    };
    return list;
}

}  // namespace

TEST_CASE("Push model: the layout knows what is push based, and the fingerprint does not",
          "[replayout][push_model]") {
    const TestLayout pushed(build_pushed_turret);
    const TestLayout polled(build_polled_turret);
    const TestLayout soldier(build_pushed_soldier);
    CHECK(pushed->fingerprint() == polled->fingerprint());
    CHECK(pushed->has_push_based());
    CHECK(pushed->is_polled());
    CHECK_FALSE(polled->has_push_based());
    CHECK(polled->is_polled());
    CHECK_FALSE(soldier->is_polled());
    CHECK(pushed->find_parent("power") == ParentIndex{7});
    CHECK_FALSE(pushed->find_parent("pow"));
}

TEST_CASE("Push model: what is marked is compared, and what is not push based always",
          "[replayout][push_model]") {
    TurretSender sender;
    CHECK(sender.update().empty());
    sender.turret = {1, 1, 1, 1, {1, 1, 1}, 1, "one", 1};
    CHECK(sender.update() == Handles{1, 4, 8});
    sender.mark("kills");
    sender.sender.state.mark_dirty(ParentIndex{5});  // the second of the locks
    CHECK(sender.update() == Handles{3, 6});
    sender.mark("name");
    sender.mark("angle");  // is compared anyway
    sender.turret.angle = 2;
    CHECK(sender.update() == Handles{4, 9});
    sender.sender.state.mark_all_dirty();
    CHECK(sender.update() == Handles{2, 5, 7, 10});
    CHECK(sender.update().empty());
}

TEST_CASE("Push model: fast arrays and deltas are compared where their property is marked",
          "[replayout][push_model]") {
    const TestLayout layout(build_stall);
    BlockSender sender(*layout);
    Stall stall;
    CHECK_FALSE(sender.update(&stall));
    stall.stock.add(7, 1);  // marks the item and the array
    stall.scores.values = {{1, 10}};
    CHECK_FALSE(sender.update(&stall));
    sender.state.mark_dirty(*layout->find_parent("stock"));
    REQUIRE(sender.update(&stall));
    CHECK(handles_of(sender.collect(since(0))) == Handles{1});
    sender.state.mark_dirty(*layout->find_parent("scores"));
    REQUIRE(sender.update(&stall));
    CHECK(handles_of(sender.collect(since(1))) == Handles{2});
}

TEST_CASE("Push model: a new object is dirty", "[replayout][push_model]") {
    TurretSender sender;
    sender.turret = {1, 1, 1, 1, {1, 1, 1}, 1, "one", 1};
    CHECK(sender.update() == Handles{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    sender.turret.ammo = 2;
    CHECK(sender.update().empty());
}

TEST_CASE("Push model: a mark without a change sends nothing, and ends with the compare",
          "[replayout][push_model]") {
    TurretSender sender;
    (void)sender.update();
    sender.mark("ammo");
    CHECK(sender.update().empty());
    CHECK(sender.sender.state.version() == 0);
    sender.turret.ammo = 5;
    CHECK(sender.update().empty());
    sender.mark("ammo");
    CHECK(sender.update() == Handles{2});
}

namespace {

template <std::size_t Before, std::size_t Count>
struct Row {
    std::array<std::int32_t, Before + 1> before{};
    std::array<std::int32_t, Count> row{};
};

template <std::size_t Before, std::size_t Count>
[[nodiscard]] Result<const Type*> build_row(TypeRegistry& registry) {
    using Class = Row<Before, Count>;
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Row", sizeof(Class), alignof(Class));
    builder.ops(make_class_ops<Class>());
    if (Before > 0) {
        builder.property("before", PropertyKind::Int32, offsetof(Class, before), Before);
    }
    builder.property("row", PropertyKind::Int32, offsetof(Class, row), Count);
    builder.push_based();
    return builder.build();
}

/// Each element is found alone, and all of them at once.
template <std::size_t Before, std::size_t Count>
void check_row() {
    CAPTURE(Before, Count);
    const TestLayout layout(build_row<Before, Count>);
    BlockSender sender(*layout);
    Row<Before, Count> object;
    const auto update = [&] {
        const Version version = sender.state.version();
        (void)sender.update(&object);
        return handles_of(sender.collect(since(version)));
    };
    CHECK(update().empty());
    for (std::size_t i = 0; i < Count; ++i) {
        object.row[i] = 1;
        sender.state.mark_dirty(ParentIndex{static_cast<std::uint16_t>(Before + i)});
        CHECK(update() == Handles{static_cast<std::uint32_t>(Before + i + 1)});
    }
    object.row.fill(2);
    CHECK(update().empty());
    sender.state.mark_all_dirty();
    CHECK(update().size() == Count);
    CHECK(update().empty());
}

}  // namespace

TEST_CASE("Push model: rows of any length are compared, wherever they begin",
          "[replayout][push_model]") {
    check_row<0, 1>();
    check_row<0, 63>();
    check_row<0, 64>();
    check_row<0, 65>();
    check_row<0, 128>();
    check_row<1, 63>();
    check_row<1, 64>();
    check_row<1, 130>();
    check_row<63, 2>();
    check_row<64, 64>();
}

TEST_CASE("Push model: an object of push based properties without a mark is not looked at",
          "[replayout][push_model]") {
    const TestLayout layout(build_pushed_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    CHECK(sender.state.is_due());
    CHECK_FALSE(sender.update(&soldier));
    CHECK_FALSE(sender.state.is_due());
    soldier.health = 1;
    for (int i = 0; i < 10; ++i) {
        CHECK_FALSE(sender.update(&soldier));
    }
    CHECK(sender.counters.objects_compared == 1);
    CHECK(sender.counters.objects_skipped == 10);
    sender.state.mark_dirty(*layout->find_parent("health"));
    CHECK(sender.state.is_due());
    CHECK(sender.update(&soldier));
    CHECK(sender.counters.objects_compared == 2);
}

TEST_CASE("Push model: what is switched off and on again is compared, marked or not",
          "[replayout][push_model]") {
    TurretSender sender;
    (void)sender.update();
    ChangelistState& state = sender.sender.state;
    state.set_active(sender.parent("secret"), false);
    sender.turret.secret = 1;
    sender.mark("secret");
    CHECK(sender.update() == Handles{10});  // the last change before the switch
    sender.turret.secret = 2;
    sender.mark("secret");
    sender.mark("ammo");
    sender.turret.ammo = 1;
    CHECK(sender.update() == Handles{2});
    state.set_active(sender.parent("secret"), true);
    CHECK(sender.update() == Handles{10});
    state.set_active(sender.parent("secret"), false);
    CHECK(sender.update().empty());
    sender.turret.secret = 3;
    CHECK(sender.update().empty());
    CHECK(missed_of(sender.sender, &sender.turret).empty());  // nobody is to be sent it
    state.set_active(sender.parent("secret"), true);
    CHECK(sender.update() == Handles{10});
}

TEST_CASE("Push model: a forgotten mark is found for every kind of value, and changes nothing",
          "[replayout][push_model]") {
    TestLayout layout(build_pushed_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    (void)sender.update(&soldier);
    for (const Edit& edit : edits()) {
        CAPTURE(std::string(edit.property));
        edit.apply(soldier, 7);
        const ParentIndex parent = *layout->find_parent(edit.property);
        CHECK(missed_of(sender, &soldier) == Handles{parent.value});
        CHECK_FALSE(sender.update(&soldier));
        sender.state.mark_dirty(parent);
        CHECK(missed_of(sender, &soldier).empty());
        CHECK(sender.update(&soldier));
        CHECK(missed_of(sender, &soldier).empty());
    }
    // Inside of an element, and what no compare would take.
    soldier.wounds[1].damage = 4;
    CHECK(missed_of(sender, &soldier) == Handles{layout->find_parent("wounds")->value});
    soldier.wounds[1].damage = 0;
    soldier.title = "\xff";
    CHECK(missed_of(sender, &soldier).empty());
}

TEST_CASE("Push model: with every change marked an object changes as if it were polled",
          "[replayout][push_model]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    const TestLayout pushed_layout(build_pushed_soldier);
    const TestLayout polled_layout(build_soldier);
    BlockSender pushed(*pushed_layout);
    BlockSender polled(*polled_layout);
    Soldier soldier;
    for (int tick = 0; tick < 300; ++tick) {
        const Version before = polled.state.version();
        for (std::uint32_t i = random.below(4); i > 0; --i) {
            const Edit& edit = random.pick(edits());
            edit.apply(soldier, random.below(50));
            pushed.state.mark_dirty(*pushed_layout->find_parent(edit.property));
        }
        if (random.percent(30)) {
            pushed.state.mark_dirty(*pushed_layout->find_parent(random.pick(edits()).property));
        }
        REQUIRE(pushed.update(&soldier) == polled.update(&soldier));
        REQUIRE(pushed.state.version() == polled.state.version());
        // Ids of references are given in the order of the compare, so they are in the bytes.
        REQUIRE(pushed.block(since(before)) == polled.block(since(before)));
        REQUIRE(pushed.block(since(0)) == polled.block(since(0)));
    }
    CHECK(pushed.counters.properties_changed == polled.counters.properties_changed);
}

namespace {

/// A row of words that moves as a whole or in parts, and what else ends runs.
struct WordGauge {
    static constexpr std::uint32_t word_count = 13;

    std::array<std::int32_t, word_count> words{};  // handles 1 to 13
    std::uint8_t flag = 0;                         // handle 14
    std::uint16_t level = 0;                       // handle 15
    std::string name;                              // handle 16
    std::int32_t last = 0;                         // handle 17
};
constexpr std::uint32_t gauge_handle_count = 17;

[[nodiscard]] Result<const Type*> describe_gauge(TypeRegistry& registry, Marking marking) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Gauge", sizeof(WordGauge),
                               alignof(WordGauge));
    builder.ops(make_class_ops<WordGauge>());
    const auto add = [&](std::string_view name, PropertyKind kind, std::uint32_t offset,
                         std::uint32_t count) {
        builder.property(name, kind, offset, count);
        if (marking == Marking::Pushed) {
            builder.push_based();
        }
    };
    add("words", PropertyKind::Int32, offsetof(WordGauge, words), WordGauge::word_count);
    add("flag", PropertyKind::UInt8, offsetof(WordGauge, flag), 1);
    add("level", PropertyKind::UInt16, offsetof(WordGauge, level), 1);
    builder.property(string_property<std::string>("name", offsetof(WordGauge, name)));
    if (marking == Marking::Pushed) {
        builder.push_based();
    }
    add("last", PropertyKind::Int32, offsetof(WordGauge, last), 1);
    return builder.build();
}

[[nodiscard]] Result<const Type*> build_pushed_gauge(TypeRegistry& registry) {
    return describe_gauge(registry, Marking::Pushed);
}
[[nodiscard]] Result<const Type*> build_polled_gauge(TypeRegistry& registry) {
    return describe_gauge(registry, Marking::Polled);
}

/// Handles of what differs.
[[nodiscard]] Handles differing(const WordGauge& left, const WordGauge& right) {
    Handles handles;
    const auto add_if = [&](bool differs, std::uint32_t handle) {
        if (differs) {
            handles.push_back(handle);
        }
    };
    for (std::uint32_t i = 0; i < WordGauge::word_count; ++i) {
        add_if(left.words[i] != right.words[i], i + 1);
    }
    add_if(left.flag != right.flag, 14);
    add_if(left.level != right.level, 15);
    add_if(left.name != right.name, 16);
    add_if(left.last != right.last, 17);
    return handles;
}

/// Few values, so that many are what they were.
void change_some(WordGauge& gauge, test::SeededRandom& random) {
    const std::uint32_t first = random.below(WordGauge::word_count);
    const std::uint32_t count = random.below(WordGauge::word_count - first + 1);
    const bool is_all = random.percent(50);
    for (std::uint32_t i = first; i < first + count; ++i) {
        const auto value = static_cast<std::int32_t>(random.below(3));
        gauge.words[i] = is_all ? (gauge.words[i] + 1) % 3 : value;
    }
    switch (random.below(8)) {
        case 0:
            gauge.flag ^= 1;
            break;
        case 1:
            gauge.level ^= 1;
            break;
        case 2:
            gauge.name = random.percent(50) ? "north" : "south";
            break;
        case 3:
            gauge.last ^= 1;
            break;
        default:
            break;
    }
}

struct GaugeSender {
    explicit GaugeSender(BuildType build) : layout(build) {}

    Handles owed(Version version, bool is_exact) {
        OwedVersions position = since(version);
        position.is_exact = is_exact;
        return handles_of(sender.collect(position));
    }

    TestLayout layout;
    BlockSender sender{*layout};
};

}  // namespace

TEST_CASE("Push model: of words all, some or none change, pushed and polled the same",
          "[replayout][push_model]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    GaugeSender pushed(build_pushed_gauge);
    GaugeSender polled(build_polled_gauge);
    WordGauge gauge;
    std::vector<WordGauge> versions{gauge};
    std::uint64_t properties_changed = 0;
    for (int tick = 0; tick < 1'000; ++tick) {
        change_some(gauge, random);
        const Handles changed = differing(gauge, versions.back());
        for (const std::uint32_t handle : changed) {
            pushed.sender.state.mark_dirty(ParentIndex{static_cast<std::uint16_t>(handle - 1)});
        }
        if (random.percent(20)) {
            pushed.sender.state.mark_dirty(
                ParentIndex{static_cast<std::uint16_t>(random.below(gauge_handle_count))});
        }
        REQUIRE(pushed.sender.update(&gauge) == !changed.empty());
        REQUIRE(polled.sender.update(&gauge) == !changed.empty());
        if (changed.empty()) {
            continue;
        }
        versions.push_back(gauge);
        properties_changed += changed.size();
        const auto newest = static_cast<Version>(versions.size() - 1);
        REQUIRE(pushed.sender.state.version() == newest);
        REQUIRE(pushed.owed(newest - 1, false) == changed);
        REQUIRE(polled.owed(newest - 1, false) == changed);
        REQUIRE(pushed.sender.block(since(0)) == polled.sender.block(since(0)));
        // What is back at what an exact receiver holds is not owed; of the last two values all is.
        REQUIRE(pushed.owed(newest - 1, true) == changed);
        const Version held = newest - std::min<Version>(newest, 2);
        REQUIRE(pushed.owed(held, true) == differing(gauge, versions[held]));
        const Version far = newest - std::min<Version>(newest, 7);
        REQUIRE(pushed.owed(far, true) == polled.owed(far, true));
    }
    CHECK(pushed.sender.counters.properties_changed == properties_changed);
    CHECK(polled.sender.counters.properties_changed == properties_changed);
}

}  // namespace replayout
