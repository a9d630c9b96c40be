// SPDX-License-Identifier: MIT
#include <replayout/changelist_state.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

using Handles = std::vector<std::uint32_t>;

struct LedgerSender {
    bool update() { return sender.update(&ledger); }
    Handles owed(const OwedVersions& position) { return handles_of(sender.collect(position)); }
    [[nodiscard]] const ShadowArray& array(std::uint32_t handle) const {
        return shadow_value<ShadowArray>(sender.state.shadow() + layout.cmd(handle).shadow_offset);
    }

    TestLayout layout{build_ledger};
    BlockSender sender{*layout};
    Ledger ledger;
};

TEST_CASE("ChangelistState: an object like its archetype has version 0 and owes nothing",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    CHECK_FALSE(sender.update());
    CHECK(sender.sender.state.version() == 0);
    CHECK(sender.owed(since(0)).empty());
    CHECK(sender.sender.counters.objects_compared == 1);
    CHECK(sender.sender.counters.objects_changed == 0);
}

TEST_CASE("ChangelistState: the version grows by one with each update that finds a change",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.page = 5;
    CHECK(sender.update());
    CHECK(sender.sender.state.version() == 1);
    CHECK_FALSE(sender.update());
    CHECK(sender.sender.state.version() == 1);
    sender.ledger.page = 6;
    sender.ledger.bytes = {1};
    CHECK(sender.update());
    CHECK(sender.sender.state.version() == 2);
    CHECK(sender.sender.state.last_changed(RepHandle{page_handle}) == 2);
    CHECK(sender.sender.state.last_changed(RepHandle{bytes_handle}) == 2);
    CHECK(sender.sender.state.last_changed(RepHandle{lines_handle}) == 0);
    CHECK(sender.sender.counters.objects_compared == 3);
    CHECK(sender.sender.counters.objects_changed == 2);
    CHECK(sender.sender.counters.properties_changed == 3);
}

TEST_CASE("ChangelistState: every kind of value is found to differ, alone and whole",
          "[replayout][changelist_state]") {
    TestLayout layout(build_soldier);
    BlockSender sender(*layout);
    Soldier soldier;
    Version version = 0;
    const auto check_change = [&](std::string_view name) {
        CAPTURE(std::string(name));
        REQUIRE(sender.update(&soldier));
        const Handles changed = handles_of(sender.collect(since(version)));
        REQUIRE(changed.size() == 1);
        const ParentIndex parent = layout.cmd(changed[0]).parent_index;
        CHECK(layout->parents()[parent.value].property->name == name);
        ++version;
    };
    soldier.serial = -1;
    check_change("serial");
    soldier.owner = ObjectHandle{9};
    check_change("owner");
    soldier.is_hidden = true;
    check_change("is_hidden");
    soldier.stance = Stance::Lying;
    check_change("stance");
    soldier.position.z = 1.0f;
    check_change("position");
    soldier.turn.w = -1.0f;
    check_change("turn");
    soldier.title = "captain";
    check_change("title");
    soldier.tag = layout.registry().names().intern("alpha").value();
    check_change("tag");
    soldier.target = ObjectHandle{8};
    check_change("target");
    soldier.health = 1;
    check_change("health");
    soldier.last_wound.damage = 3;
    check_change("last_wound");
    soldier.last_wound.source = ObjectHandle{9};
    check_change("last_wound");
    soldier.scores[2] = 5;
    check_change("scores");
    soldier.wounds.resize(1);
    check_change("wounds");
    soldier.words.resize(1);
    check_change("words");
    soldier.pouches.resize(1);
    check_change("pouches");
    soldier.pouches[0].routes.resize(1);
    check_change("pouches");
    soldier.aim.range = 4;
    check_change("aim");
    soldier.secret.word = "sesame";
    check_change("secret");
    soldier.weight = 81.0;
    check_change("weight");
    soldier.stamina = 0.5f;
    check_change("stamina");
}

TEST_CASE("ChangelistState: numbers are compared by their bits", "[replayout][changelist_state]") {
    const TestLayout layout(build_beacon);
    BlockSender sender(*layout);
    Beacon beacon;
    beacon.single = std::numeric_limits<float>::quiet_NaN();
    CHECK(sender.update(&beacon));
    CHECK_FALSE(sender.update(&beacon));
    beacon.single = 0.0f;
    CHECK(sender.update(&beacon));
    beacon.single = -0.0f;
    CHECK(sender.update(&beacon));
    beacon.twice = std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0001});
    CHECK(sender.update(&beacon));
    CHECK_FALSE(sender.update(&beacon));
}

TEST_CASE("ChangelistState: changes are counted from the archetype",
          "[replayout][changelist_state]") {
    Ledger archetype;
    archetype.page = 7;
    archetype.bytes = {1, 2};
    archetype.pouches.resize(1);
    archetype.pouches[0].rounds = {3};
    RepLayoutOptions options;
    options.archetype = &archetype;
    const TestLayout layout(build_ledger, options);
    BlockSender sender(*layout);
    Ledger ledger = archetype;
    CHECK_FALSE(sender.update(&ledger));
    ledger.pouches[0].rounds[0] = 4;
    ledger.page = 0;
    CHECK(sender.update(&ledger));
    CHECK(handles_of(sender.collect(since(0))) == Handles{pouches_handle, page_handle});
}

TEST_CASE("ChangelistState: a receiver is owed what changed after its version, and what it lost",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.page = 1;
    sender.update();  // 1
    sender.ledger.lines = {"a"};
    sender.update();  // 2
    sender.ledger.bytes = {1};
    sender.update();  // 3
    sender.ledger.page = 2;
    sender.update();  // 4
    CHECK(sender.owed(since(0)) == Handles{bytes_handle, lines_handle, page_handle});
    CHECK(sender.owed(since(2)) == Handles{bytes_handle, page_handle});
    CHECK(sender.owed(since(4)).empty());
    CHECK(sender.owed(since(4, 1, 2)) == Handles{lines_handle});
    // Version 1 was lost, and what changed in it has changed again since: nothing is owed of it.
    CHECK(sender.owed(since(4, 0, 1)).empty());
    CHECK(sender.owed(since(3, 0, 1)) == Handles{page_handle});
    CHECK(sender.owed(since(4, 0, 4)) == Handles{bytes_handle, lines_handle, page_handle});
}

TEST_CASE("ChangelistState: of a lost part only its handles are owed, and what is new anyway",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.page = 1;
    sender.ledger.bytes = {1};
    sender.ledger.lines = {"a"};
    sender.update();  // 1
    OwedVersions position = since(1, 0, 1);
    position.lost_range = RepRange::of(RepHandle{2});
    CHECK(sender.owed(position) == Handles{lines_handle});
    sender.ledger.page = 2;
    sender.update();  // 2
    CHECK(sender.owed(position) == Handles{lines_handle, page_handle});
}

TEST_CASE("ChangelistState: a lost change inside an array is owed though the array changed again",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.wounds.resize(3);
    sender.update();  // 1
    sender.ledger.wounds[0].damage = 5;
    sender.update();  // 2
    sender.ledger.wounds[1].damage = 6;
    sender.update();  // 3
    CHECK(sender.owed(since(3, 1, 2)) == Handles{wounds_handle});
    sender.ledger.wounds[0].damage = 7;
    sender.update();  // 4
    // Of version 2 nothing is left now.
    CHECK(sender.owed(since(4, 1, 2)).empty());
    CHECK(sender.owed(since(4, 2, 3)) == Handles{wounds_handle});
}

TEST_CASE("ChangelistState: a lost change of a count is owed though elements changed again",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.bytes = {1, 2, 3};
    sender.update();  // 1
    sender.ledger.bytes = {1, 2};
    sender.update();  // 2
    sender.ledger.bytes = {5, 2};
    sender.update();  // 3
    CHECK(sender.array(bytes_handle).count_version == 2);
    CHECK(sender.owed(since(3, 1, 2)) == Handles{bytes_handle});
    CHECK(sender.owed(since(3)).empty());
}

TEST_CASE("ChangelistState: a lost change deep inside of arrays is owed",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.cubes = {{{1, 2}, {3}}, {{4}}};
    sender.update();  // 1
    sender.ledger.cubes[0][0][1] = 9;
    sender.update();  // 2
    sender.ledger.cubes[1][0].push_back(5);
    sender.update();  // 3
    sender.ledger.cubes[0][1][0] = 8;
    sender.update();  // 4
    CHECK(sender.owed(since(4, 1, 2)) == Handles{cubes_handle});
    CHECK(sender.owed(since(4, 2, 3)) == Handles{cubes_handle});
    sender.ledger.cubes[1][0].push_back(6);
    sender.ledger.cubes[1][0][1] = 7;
    sender.update();  // 5
    CHECK(sender.owed(since(5, 2, 3)).empty());
}

TEST_CASE("ChangelistState: of a lost span of elements only its own elements are owed",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.bytes.resize(10);
    sender.update();  // 1
    sender.ledger.bytes[7] = 1;
    sender.update();  // 2
    OwedVersions position = since(2, 1, 2);
    position.lost_range = {bytes_handle, bytes_handle + 1, 5, 10};
    CHECK(sender.owed(position) == Handles{bytes_handle});
    position.lost_range = {bytes_handle, bytes_handle + 1, 0, 5};
    CHECK(sender.owed(position).empty());
}

TEST_CASE("ChangelistState: elements that an array grows by have changed, whatever their value",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.bytes = {0, 7, 0};
    sender.update();  // 1
    sender.ledger.bytes.resize(1);
    sender.update();  // 2
    CHECK(sender.array(bytes_handle).versions[0] == 1);
    sender.ledger.bytes.resize(3);
    sender.update();  // 3: the new elements are 0, as a fresh shadow is
    const ShadowArray& bytes = sender.array(bytes_handle);
    CHECK(bytes.count_version == 3);
    CHECK(bytes.versions[0] == 1);
    CHECK(bytes.versions[1] == 3);
    CHECK(bytes.versions[2] == 3);
}

TEST_CASE("ChangelistState: a regrown element is new at every depth",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.pouches.resize(2);
    sender.ledger.pouches[1].rounds = {1, 2};
    sender.ledger.pouches[1].routes = {{3}};
    sender.update();  // 1
    const Pouch kept = sender.ledger.pouches[1];
    sender.ledger.pouches.resize(1);
    sender.update();  // 2
    sender.ledger.pouches.push_back(kept);
    sender.update();  // 3
    const RepScope& pouch = sender.layout.element_scope(pouches_handle);
    const ShadowArray& pouches = sender.array(pouches_handle);
    for (std::uint32_t leaf = 0; leaf < pouch.handle_count; ++leaf) {
        CHECK(pouches.versions[leaf] == 1);
        CHECK(pouches.versions[pouch.handle_count + leaf] == 3);
    }
    const RepLayoutCmd& rounds_cmd = sender.layout->cmd(sender.layout->cmd_of(pouch, RepHandle{2}));
    const auto& rounds = shadow_value<ShadowArray>(
        ConstShadowBuffer(pouches.elements + pouch.shadow_size) + rounds_cmd.shadow_offset);
    REQUIRE(rounds.count == 2);
    CHECK(rounds.versions[0] == 3);
    CHECK(rounds.versions[1] == 3);
}

TEST_CASE(
    "ChangelistState: an array that is emptied and refilled between two updates is compared "
    "by value",
    "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.lines = {"a", "b", "c"};
    sender.update();  // 1
    sender.ledger.lines.clear();
    sender.ledger.lines = {"a", "x", "c"};
    sender.update();  // 2
    const ShadowArray& lines = sender.array(lines_handle);
    CHECK(lines.count_version == 1);
    CHECK(lines.versions[0] == 1);
    CHECK(lines.versions[1] == 2);
    CHECK(lines.versions[2] == 1);
}

TEST_CASE(
    "ChangelistState: a value beyond its limit is left out and counted, and sent once it fits",
    "[replayout][changelist_state]") {
    RepLayoutOptions options;
    options.limits = {4, 3};
    const TestLayout layout(build_ledger, options);
    BlockSender sender(*layout);
    Ledger ledger;
    ledger.bytes = {1, 2, 3, 4};
    ledger.page = 1;
    CHECK(sender.update(&ledger));
    CHECK(handles_of(sender.collect(since(0))) == Handles{page_handle});
    CHECK(sender.counters.values_over_limit == 1);
    ledger.lines = {"fits", "fits not"};
    CHECK(sender.update(&ledger));
    CHECK(sender.counters.values_over_limit == 3);
    CHECK(handles_of(sender.collect(since(1))) == Handles{lines_handle});
    ledger.bytes.pop_back();
    ledger.lines[1] = "four";
    CHECK(sender.update(&ledger));
    CHECK(sender.counters.values_over_limit == 3);
    CHECK(handles_of(sender.collect(since(2))) == Handles{bytes_handle, lines_handle});
    CHECK_FALSE(sender.update(&ledger));
}

TEST_CASE("ChangelistState: the first value beyond its limit is logged, once for each object",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    const test::LogSpy log;
    sender.ledger.lines = {"fine"};
    sender.update();
    CHECK(test::LogSpy::messages().empty());
    sender.ledger.lines[0] = "ab\xff";
    sender.update();
    sender.ledger.lines[0] = "cd\xff";
    sender.update();
    CHECK(test::LogSpy::messages() ==
          std::vector<std::string>{"a value of property \"lines\" of a \"Ledger\" is not UTF-8, "
                                   "so what it was stays in force"});
}

TEST_CASE(
    "ChangelistState: what is logged of a value beyond its limit tells its size and the limit",
    "[replayout][changelist_state]") {
    RepLayoutOptions options;
    options.limits = {4, 3};
    const TestLayout layout(build_ledger, options);
    const auto logged = [&](const auto& edit) {
        BlockSender sender(*layout);
        Ledger ledger;
        edit(ledger);
        const test::LogSpy log;
        sender.update(&ledger);
        REQUIRE(test::LogSpy::messages().size() == 1);
        return test::LogSpy::messages()[0];
    };
    CHECK(logged([](Ledger& ledger) {
              ledger.lines = {"fits", "fits not"};
          }) ==
          "a value of property \"lines\" of a \"Ledger\" has 8 bytes, and its limit is 4 "
          "(RepLimits::string_bytes_max), so what it was stays in force");
    CHECK(logged([](Ledger& ledger) {
              ledger.bytes = {1, 2, 3, 4};
          }) ==
          "a value of property \"bytes\" of a \"Ledger\" has 4 elements, and its limit is 3 "
          "(RepLimits::array_count_max), so what it was stays in force");
}

TEST_CASE("ChangelistState: text that is not UTF-8 is left out and counted",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.lines = {"fine"};
    sender.update();
    sender.ledger.lines[0] = "ab\xff";
    CHECK_FALSE(sender.update());
    CHECK(sender.sender.counters.values_over_limit == 1);
    sender.ledger.lines[0] = "fine";
    CHECK_FALSE(sender.update());
    CHECK(sender.sender.counters.values_over_limit == 1);
}

TEST_CASE("ChangelistState: a receiver behind the history is owed exactly what changed since",
          "[replayout][changelist_state]") {
    const TestLayout layout(build_depot);
    BlockSender sender(*layout);
    Depot depot;
    constexpr std::uint32_t leaves = 5;
    for (Version version = 1; version <= 300; ++version) {
        depot.places[version % 30].damage = static_cast<std::uint16_t>(version);
        REQUIRE(sender.update(&depot));
    }
    CHECK(sender.state.history().count() == ChangelistHistory::count_max);
    CHECK(sender.collect(since(0)).count() == 30);
    CHECK(sender.collect(since(290)).count() == 10);
    // Far behind what the history tells apart, the last change of each property does.
    const auto lost = handles_of(sender.collect(since(300, 200, 275)));
    CHECK(lost ==
          Handles{1 * leaves + 3, 2 * leaves + 3, 3 * leaves + 3, 4 * leaves + 3, 5 * leaves + 3});
}

TEST_CASE("ChangelistState: a reference keeps the id it was sent with",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.wounds.resize(2);
    sender.ledger.wounds[1].source = ObjectHandle{70};
    sender.update();
    const RepScope& wound = sender.layout.element_scope(wounds_handle);
    const RepLayoutCmd& source = sender.layout->cmd(sender.layout->cmd_of(wound, RepHandle{2}));
    const auto& reference = shadow_value<ShadowReference>(
        ConstShadowBuffer(sender.array(wounds_handle).elements + wound.shadow_size) +
        source.shadow_offset);
    CHECK(reference.object == ObjectHandle{70});
    CHECK(reference.guid == NetGUID{1});
}

TEST_CASE("owes_array: asks the count, every leaf, and arrays below",
          "[replayout][changelist_state]") {
    LedgerSender sender;
    sender.ledger.cubes = {{{1}}};
    sender.update();  // 1
    sender.ledger.cubes[0][0][0] = 2;
    sender.update();  // 2
    const CmdIndex cubes = sender.layout->cmd_of(sender.layout->root(), RepHandle{cubes_handle});
    const auto owes = [&](const OwedVersions& position) {
        return owes_array(*sender.layout, cubes, sender.array(cubes_handle),
                          position.at(RepHandle{cubes_handle}));
    };
    CHECK(owes(since(0)));
    CHECK(owes(since(1)));
    CHECK_FALSE(owes(since(2)));
    CHECK(owes(since(2, 1, 2)));
    CHECK(owes(since(2, 0, 1)));
}

}  // namespace
}  // namespace replayout
