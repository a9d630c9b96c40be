// SPDX-License-Identifier: MIT
#include <replayout/dump.h>
#include <replayout/materialized_shadow.h>
#include <replayout/receive_properties.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {

namespace {

/// A sender, and beside it what its one receiver holds.
struct Watched {
    explicit Watched(const RepLayout& layout)
        : sender(layout), copy(layout, sender.package_map, std::pmr::get_default_resource()) {}

    /// The receiver is sent all that it lacks.
    void send(const void* object) {
        sender.update(object);
        const Bytes block = sender.block(since(sent_version));
        sent_version = sender.state.version();
        REQUIRE((block.empty() || copy.apply(block)));
    }

    /// Handles that differ, one after another.
    [[nodiscard]] std::vector<std::uint32_t> differences() const {
        std::vector<std::uint32_t> handles;
        ChangeMask excused;
        excused.reset(sender.state.layout().handle_count());
        for (RepHandle handle = copy.find_difference(sender.state, excused); handle.value != 0;
             handle = copy.find_difference(sender.state, excused)) {
            handles.push_back(handle.value);
            excused.set(handle.value - 1);
        }
        return handles;
    }

    BlockSender sender;
    MaterializedShadow copy;
    Version sent_version = 0;
};

void fill(Soldier& soldier) {
    soldier.serial = -5'000'000'000;
    soldier.owner = ObjectHandle{11};
    soldier.is_hidden = true;
    soldier.health = 55;
    soldier.stance = Stance::Lying;
    soldier.position = {1.5f, -2.5f, 3.25f};
    soldier.turn = {0.5f, -0.5f, 0.5f, -0.5f};
    soldier.title = "Korporal M\xC3\xBCller";
    soldier.target = ObjectHandle{12};
    soldier.last_wound = {{9, 8, 7}, ObjectHandle{13}, 40, true, Stance::Kneeling};
    soldier.scores = {-1, 0, 32'767};
    soldier.wounds = {soldier.last_wound, Wound()};
    soldier.words = {"", "first", "second"};
    soldier.pouches.resize(2);
    soldier.pouches[1] = {"left", {1, 2, 3}, {{}, {500, 600}}, {ObjectHandle{12}}, {-9, 70'000}};
    soldier.aim = {77, 1u << 30};
    soldier.secret = {"swordfish", 9};
    soldier.weight = 1e-300;
    soldier.stamina = -0.0f;
}

}  // namespace

TEST_CASE("MaterializedShadow: begins as a fresh object, the archetype",
          "[replayout][materialized_shadow]") {
    TypeRegistry registry;
    const Result<const Type*> type = build_beacon(registry);
    REQUIRE(type);
    REQUIRE(registry.freeze());
    Beacon archetype;
    archetype.int32 = -17;
    archetype.points[1] = {1, 2, 3};
    RepLayoutOptions options;
    options.archetype = &archetype;
    const auto layout = RepLayout::create(registry, **type, options);
    REQUIRE(layout);

    Watched watched(**layout);
    CHECK(watched.copy.equals(watched.sender.state));
    watched.sender.update(&archetype);
    CHECK(watched.copy.equals(watched.sender.state));

    const Beacon other;
    watched.sender.update(&other);
    CHECK_FALSE(watched.copy.equals(watched.sender.state));
}

TEST_CASE("MaterializedShadow: with every block taken it is the object, value by value",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_soldier);
    Watched watched(*layout);
    Soldier soldier;
    fill(soldier);
    watched.send(&soldier);
    CHECK(watched.differences().empty());

    soldier.words.pop_back();
    soldier.words.front() = "zeroth";
    soldier.pouches.push_back(soldier.pouches[1]);
    soldier.pouches[1].routes[1].push_back(700);
    soldier.pouches[0].owners = {ObjectHandle{40}, ObjectHandle{12}};
    soldier.wounds.clear();
    watched.send(&soldier);
    CHECK(watched.differences().empty());

    soldier = Soldier();
    watched.send(&soldier);
    CHECK(watched.differences().empty());
}

TEST_CASE("MaterializedShadow: arrays in arrays in arrays grow, shrink and change in the middle",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_ledger);
    Watched watched(*layout);
    Ledger ledger;
    for (std::uint32_t step = 0; step < 40; ++step) {
        ledger.cubes.resize((step * 7) % 5);
        for (auto& plane : ledger.cubes) {
            plane.resize((step * 3) % 4);
            for (auto& row : plane) {
                row.resize(step % 3 + 1, step);
                row.back() += step % 2;
            }
        }
        ledger.lines.assign(step % 4, "line " + std::to_string(step / 2));
        ledger.bytes.resize((step * 13) % 50, static_cast<std::uint8_t>(step));
        ledger.pouches.resize(step % 3);
        for (Pouch& pouch : ledger.pouches) {
            pouch.routes.resize((step + 1) % 3, {1, 2});
            pouch.aim.range = step / 5;
        }
        watched.send(&ledger);
        INFO("step " << step);
        REQUIRE(watched.copy.equals(watched.sender.state));
    }
}

TEST_CASE("MaterializedShadow: a value of any kind that did not arrive is found",
          "[replayout][materialized_shadow]") {
    struct Change {
        std::string_view path;
        void (*make)(Soldier& soldier);
    };
    const Change changes[] = {
        {"serial", [](Soldier& soldier) { soldier.serial += std::int64_t{1} << 60; }},
        {"owner", [](Soldier& soldier) { soldier.owner = ObjectHandle{99}; }},
        {"is_hidden", [](Soldier& soldier) { soldier.is_hidden = false; }},
        {"health", [](Soldier& soldier) { ++soldier.health; }},
        {"stance", [](Soldier& soldier) { soldier.stance = Stance::Standing; }},
        {"position", [](Soldier& soldier) { soldier.position.z += 1; }},
        {"turn", [](Soldier& soldier) { soldier.turn.w += 1; }},
        {"title", [](Soldier& soldier) { soldier.title += "!"; }},
        {"target", [](Soldier& soldier) { soldier.target = ObjectHandle{}; }},
        {"last_wound.damage", [](Soldier& soldier) { ++soldier.last_wound.damage; }},
        {"scores[2]", [](Soldier& soldier) { --soldier.scores[2]; }},
        {"wounds", [](Soldier& soldier) { soldier.wounds[1].source = ObjectHandle{5}; }},
        {"words", [](Soldier& soldier) { soldier.words.emplace_back(); }},
        {"words", [](Soldier& soldier) { soldier.words.pop_back(); }},
        {"words", [](Soldier& soldier) { soldier.words[1] = "1st"; }},
        {"pouches", [](Soldier& soldier) { soldier.pouches[1].routes[1][0] = 501; }},
        {"pouches", [](Soldier& soldier) { soldier.pouches[0].routes.emplace_back(); }},
        {"pouches", [](Soldier& soldier) { soldier.pouches[1].owners[0] = ObjectHandle{1}; }},
        {"pouches", [](Soldier& soldier) { soldier.pouches[1].aim.yaw = 9; }},
        {"aim", [](Soldier& soldier) { ++soldier.aim.range; }},
        {"secret", [](Soldier& soldier) { soldier.secret.word = "Swordfish"; }},
        {"weight", [](Soldier& soldier) { soldier.weight = -soldier.weight; }},
        {"stamina", [](Soldier& soldier) { soldier.stamina = 0.0f; }},
    };
    const TestLayout layout(build_soldier);
    for (const Change& change : changes) {
        INFO(change.path);
        Watched watched(*layout);
        Soldier soldier;
        fill(soldier);
        watched.send(&soldier);
        REQUIRE(watched.copy.equals(watched.sender.state));

        change.make(soldier);
        watched.sender.update(&soldier);
        const std::vector<std::uint32_t> differences = watched.differences();
        REQUIRE(differences.size() == 1);
        CHECK(property_path(*layout, RepHandle{differences[0]}) == change.path);
        CHECK(differences == handles_of(watched.sender.collect(since(watched.sent_version))));
        CHECK_FALSE(watched.copy.equals(watched.sender.state));

        watched.send(&soldier);
        CHECK(watched.copy.equals(watched.sender.state));
    }
}

TEST_CASE("MaterializedShadow: a value that was never changed and still differs is found",
          "[replayout][materialized_shadow]") {
    // The receiver took another object's block.
    const TestLayout layout(build_beacon);
    Watched watched(*layout);
    BlockSender other(*layout);
    Beacon beacon;
    beacon.uint16 = 3;
    other.update(&beacon);
    REQUIRE(watched.copy.apply(other.block(since(0))));
    CHECK(watched.differences() == std::vector<std::uint32_t>{5});
}

TEST_CASE("MaterializedShadow: what is excused is not looked at",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_beacon);
    Watched watched(*layout);
    Beacon beacon;
    beacon.int8 = 1;
    beacon.uint64 = 2;
    watched.sender.update(&beacon);
    ChangeMask excused;
    excused.reset(layout->handle_count());
    CHECK(watched.copy.find_difference(watched.sender.state, excused) == RepHandle{2});
    excused.set(2 - 1);
    CHECK(watched.copy.find_difference(watched.sender.state, excused) == RepHandle{9});
    excused.set(9 - 1);
    CHECK(watched.copy.find_difference(watched.sender.state, excused) == RepHandle{});
    CHECK(watched.copy.equals(RepHandle{3}, watched.sender.state));
    CHECK_FALSE(watched.copy.equals(RepHandle{9}, watched.sender.state));
}

TEST_CASE("MaterializedShadow: every part of an object that was cut must arrive",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_ledger);
    Ledger ledger;
    ledger.bytes.assign(500, 7);
    ledger.lines.assign(60, "a line of text in the ledger");
    ledger.wounds.assign(80, {{1, 2, 3}, ObjectHandle{4}, 5, true, Stance::Lying});
    ledger.page = 12;

    BlockSender sender(*layout);
    sender.update(&ledger);
    std::vector<Bytes> parts;
    const OwedVersions position = since(0);
    sender.collect(position);
    RepCursor cursor;
    for (SendResult result = SendResult::Part; result == SendResult::Part;) {
        Bytes memory(200);
        BitWriter writer(memory);
        RepRange range;
        SendContext context = sender.context();
        result =
            send_part(sender.state, position, sender.scratch.owed, cursor, range, writer, context)
                .result;
        REQUIRE(result != SendResult::ValueTooLarge);
        parts.push_back(to_bytes(writer.bytes()));
    }
    REQUIRE(parts.size() > 5);
    for (std::size_t missing = 0; missing <= parts.size(); ++missing) {
        MaterializedShadow copy(*layout, sender.package_map, std::pmr::get_default_resource());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            REQUIRE((i == missing || copy.apply(parts[i])));
        }
        INFO("part " << missing << " of " << parts.size());
        CHECK(copy.equals(sender.state) == (missing == parts.size()));
    }
}

TEST_CASE("MaterializedShadow: references are compared by id, whoever is behind it",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_soldier);
    Watched watched(*layout);
    Soldier soldier;
    soldier.target = ObjectHandle{31};
    watched.send(&soldier);
    const RepLayoutCmd& target = layout.cmd(watched.sender.collect(since(0)).next(0) + 1);
    REQUIRE(target.type == RepLayoutCmdType::Object);
    const auto& held = shadow_value<ShadowReference>(watched.copy.buffer() + target.shadow_offset);
    CHECK(held.guid == watched.sender.package_map.guid_of(ObjectHandle{31}));
    CHECK(held.object.is_null());
    CHECK(watched.copy.equals(watched.sender.state));
}

namespace {

/// Sends its heading in steps of a degree, and its remark only when it is loud.
struct Shout {
    float heading = 0.0f;
    bool is_loud = false;
    std::uint32_t remark = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        auto degrees = static_cast<std::int16_t>(std::lround(heading));
        archive.serialize(degrees);
        if (archive.is_loading()) {
            heading = degrees;
        }
        archive.serialize(is_loud);
        if (is_loud) {
            archive.serialize(remark);
        }
        return true;
    }
    friend bool operator==(const Shout&, const Shout&) = default;
};

struct Crier {
    Shout shout;
};

Result<const Type*> build_crier(TypeRegistry& registry) {
    (void)struct_builder<Shout>(registry, "Shout")
        .property<&Shout::heading>()
        .property<&Shout::is_loud>()
        .property<&Shout::remark>()
        .build();
    return class_builder<Crier>(registry, "Crier").property<&Crier::shout>().build();
}

}  // namespace

template <>
struct StructTraitsOf<Shout> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

TEST_CASE("MaterializedShadow: a struct is held that rounds what it sends, or leaves it out",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_crier);
    Watched watched(*layout);
    Crier crier;
    crier.shout = {12.3f, true, 5};
    watched.send(&crier);
    CHECK(watched.copy.equals(watched.sender.state));

    crier.shout = {12.3f, false, 6};  // the receiver keeps 5
    watched.send(&crier);
    CHECK(watched.copy.equals(watched.sender.state));

    crier.shout = {14.0f, false, 6};
    watched.sender.update(&crier);
    CHECK_FALSE(watched.copy.equals(watched.sender.state));
}

TEST_CASE("MaterializedShadow: reads what receive_properties() reads",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_ledger);
    Watched watched(*layout);
    BlockReceiver receiver(*layout);
    BlockSender received(*layout);  // the receiver's object, in shadow form
    Ledger ledger;
    Ledger remote;
    Version sent_version = 0;
    for (std::uint32_t step = 1; step < 20; ++step) {
        ledger.page = step;
        ledger.bytes.resize((step * 11) % 30, static_cast<std::uint8_t>(step));
        ledger.lines.assign((step * 3) % 5, std::string(step, 'x'));
        ledger.wounds.resize(step % 4);
        ledger.cubes.resize(step % 3 + 1, {{step}, {}});
        ledger.pouches.resize(step % 2 + 1);
        ledger.pouches.back().rounds.assign(step, 1);
        watched.sender.update(&ledger);
        const Bytes block = watched.sender.block(since(sent_version));
        sent_version = watched.sender.state.version();
        REQUIRE(watched.copy.apply(block));
        REQUIRE(receiver.receive(&remote, block));
        received.update(&remote);
        CHECK(watched.copy.equals(received.state));
    }
}

TEST_CASE("MaterializedShadow: refuses bytes that are not one block",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    fill(soldier);
    sender.update(&soldier);
    const Bytes block = sender.block(since(0));
    const auto is_taken = [&](std::span<const std::byte> bytes) {
        MaterializedShadow copy(*layout, sender.package_map, std::pmr::get_default_resource());
        return copy.apply(bytes);
    };
    CHECK(is_taken(block));
    for (std::size_t count = 0; count < block.size(); ++count) {
        INFO(count << " of " << block.size() << " bytes");
        CHECK_FALSE(is_taken(std::span(block).first(count)));
    }
    Bytes longer = block;
    longer.push_back(std::byte{0});
    CHECK_FALSE(is_taken(longer));
}

TEST_CASE("MaterializedShadow: says what is held and what should be",
          "[replayout][materialized_shadow]") {
    const TestLayout layout(build_soldier);
    Watched watched(*layout);
    Soldier soldier;
    soldier.title = "Major";
    soldier.scores[1] = 0x1234;
    soldier.words = {"a"};
    watched.sender.update(&soldier);
    const std::vector<std::uint32_t> handles = watched.differences();
    REQUIRE(handles.size() == 3);
    const auto text = [&](std::size_t i) {
        return watched.copy.describe(RepHandle{handles[i]}, watched.sender.state);
    };
    CHECK(text(0) == "\"title\" (handle " + std::to_string(handles[0]) +
                         "): the receiver holds \"\", the object \"Major\"");
    CHECK(text(1).find("\"scores[1]\"") == 0);
    CHECK(text(2).find("the receiver holds [], the object [\"a\"]") != std::string::npos);
}

}  // namespace replayout
