// SPDX-License-Identifier: MIT
//
// An object in parts is one update: values as they arrive, everything else after the last part.
#include <replayout/change_mask.h>
#include <replayout/receive_properties.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"
#include "support/checks/counting_resource.h"
#include "support/checks/refusals.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/fast_array_types.h"
#include "support/types/test_layout.h"

namespace replayout::test {

struct Sailor {
    std::uint32_t id = 0;
    std::uint8_t rank = 0;
};

/// Right only as a whole: the sailors and how many they are.
struct Watch {
    std::vector<Sailor> sailors;
    std::uint32_t count = 0;
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Watch> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {
namespace {

using Calls = std::vector<std::string>;

struct Barge {
    std::string name;
    std::vector<std::uint32_t> cargo;
    ObjectHandle captain;
    Inventory stock;
    std::uint32_t tons = 0;
    Calls calls;

    void pre_net_receive() { calls.push_back("pre, tons " + std::to_string(tons)); }
    void post_net_receive() { calls.push_back("post, tons " + std::to_string(tons)); }
    void post_rep_notifies() { calls.push_back("last"); }
    void on_rep_name(const std::string& previous) { calls.push_back("name was " + previous); }
    void on_rep_cargo(const std::vector<std::uint32_t>& previous) {
        calls.push_back("cargo was " + std::to_string(previous.size()) + ", is " +
                        std::to_string(cargo.size()));
    }
    void on_rep_captain(const ObjectHandle& previous) {
        calls.push_back("captain was " + std::to_string(previous.value) + ", is " +
                        std::to_string(captain.value));
    }
    void on_rep_tons(const std::uint32_t& previous) {
        calls.push_back("tons were " + std::to_string(previous));
    }
};

[[nodiscard]] Result<const Type*> build_barge(TypeRegistry& registry) {
    REQUIRE(build_trader(registry));
    return class_builder<Barge>(registry, "Barge")
        .property<&Barge::name>()
        .on_rep<&Barge::on_rep_name>()
        .property<&Barge::cargo>()
        .on_rep<&Barge::on_rep_cargo>()
        .property<&Barge::captain>()
        .on_rep<&Barge::on_rep_captain>()
        .property<&Barge::stock>()
        .property<&Barge::tons>()
        .on_rep<&Barge::on_rep_tons>()
        .pre_net_receive<&Barge::pre_net_receive>()
        .post_net_receive<&Barge::post_net_receive>()
        .post_rep_notifies<&Barge::post_rep_notifies>()
        .build();
}

/// A sender of parts, and a receiver to which they are given one by one.
struct Line {
    static constexpr std::size_t capacity_bytes = 60;

    /// What brings a receiver, which has everything up to now, up to date.
    std::vector<SentPart> update() {
        REQUIRE(sender.update(&server));
        OwedVersions position = since(sender.state.version() - 1);
        position.held_version = position.sent_version;
        return sender.parts(position, capacity_bytes);
    }
    bool give(const SentPart& part, bool more_parts_follow) {
        return receiver.receive(&client, part.bytes, more_parts_follow);
    }
    void give_all(const std::vector<SentPart>& parts) {
        for (const SentPart& part : parts) {
            REQUIRE(give(part, &part != &parts.back()));
        }
    }
    void finish() {
        ReceiveContext context = receiver.context();
        finish_update(*layout, &client, receiver.state, context);
    }
    [[nodiscard]] bool is_under_way() const { return receiver.scratch.is_update_under_way(); }

    TestLayout layout{build_barge};
    Barge server;
    Barge client;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
};

/// With `count` items of cargo, so that the object takes several parts.
std::vector<SentPart> load(Line& line, std::uint32_t count) {
    line.server.name = "Anna";
    line.server.cargo.assign(count, 0xABCD'EF01);
    line.server.tons = count;
    std::vector<SentPart> parts = line.update();
    REQUIRE(parts.size() >= 3);
    return parts;
}

}  // namespace

TEST_CASE("Updates in parts: hooks and notifies run once, after the last part",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    for (const SentPart& part : parts) {
        CHECK(line.client.calls.size() == (&part == &parts.front() ? 0u : 1u));
        REQUIRE(line.give(part, &part != &parts.back()));
    }
    CHECK(line.client.calls == Calls{"pre, tons 0", "post, tons 50", "name was ",
                                     "cargo was 0, is 50", "tons were 0", "last"});
    CHECK(line.client.cargo == line.server.cargo);
    CHECK_FALSE(line.is_under_way());
}

TEST_CASE("Updates in parts: values are there as soon as their part is",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    REQUIRE(line.give(parts[0], true));
    CHECK(line.client.name == "Anna");
    CHECK(line.is_under_way());
}

TEST_CASE("Updates in parts: a part that does not go on behind the last one begins another update",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    // Backwards, and each of them twice: none belongs to the one before it.
    for (std::size_t i = parts.size(); i > 0; --i) {
        for (std::uint32_t repeat = 0; repeat < 2; ++repeat) {
            const auto count =
                std::count(line.client.calls.begin(), line.client.calls.end(), std::string("last"));
            const bool is_first = i == parts.size() && repeat == 0;
            REQUIRE(line.give(parts[i - 1], true));
            CHECK(std::count(line.client.calls.begin(), line.client.calls.end(),
                             std::string("last")) == count + (is_first ? 0 : 1));
        }
    }
    line.finish();
    CHECK(line.client.cargo == line.server.cargo);
}

TEST_CASE("Updates in parts: an update whose end is lost does not run on into the next one",
          "[replayout][receive_updates]") {
    // However many parts of it arrive, and whatever the next one begins with.
    const std::size_t part_count = [] {
        Line line;
        return load(line, 50).size();
    }();
    for (std::size_t arrived = 1; arrived < part_count; ++arrived) {
        for (const bool is_name_changed : {true, false}) {
            INFO(arrived << " parts, the name " << is_name_changed);
            Line line;
            const std::vector<SentPart> parts = load(line, 50);
            if (!is_name_changed && parts[arrived - 1].range.handle_end <= 2) {
                continue;  // only the name came, and the next one goes on behind it
            }
            for (std::size_t i = 0; i < arrived; ++i) {
                REQUIRE(line.give(parts[i], true));
            }
            line.client.calls.clear();
            line.server.name = is_name_changed ? "Berta" : line.server.name;
            line.server.cargo.assign(50, 0);
            line.server.cargo.resize(52);
            line.server.tons = 0;
            const std::vector<SentPart> next = line.update();
            REQUIRE(next.size() >= 2);
            REQUIRE(line.give(next.front(), true));
            REQUIRE_FALSE(line.client.calls.empty());
            CHECK(line.client.calls.front().starts_with("post"));
            CHECK(line.client.calls.back().starts_with("pre"));
            line.give_all({next.begin() + 1, next.end()});
            CHECK(line.client.calls.back() == "last");
        }
    }
}

TEST_CASE("Updates in parts: what is lost of one and sent again later goes on with it",
          "[replayout][receive_updates]") {
    // It brings nothing twice, so whether it is one update or two makes no difference to a notify.
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    for (std::size_t i = 0; i < parts.size(); i += 2) {
        REQUIRE(line.give(parts[i], true));
    }
    CHECK(line.client.calls == Calls{"pre, tons 0"});
}

TEST_CASE("Updates in parts: a change back is an update of its own, and told of",
          "[replayout][receive_updates]") {
    Line line;
    for (const std::uint32_t tons : {7u, 0u, 7u}) {
        line.server.tons = tons;
        REQUIRE(line.sender.update(&line.server));
        const Bytes block = line.sender.block(since(line.sender.state.version() - 1));
        REQUIRE(line.receiver.receive(&line.client, block, true));
    }
    line.finish();
    CHECK(line.client.calls == Calls{"pre, tons 0", "post, tons 7", "tons were 0", "last",
                                     "pre, tons 7", "post, tons 0", "tons were 7", "last",
                                     "pre, tons 0", "post, tons 7", "tons were 0", "last"});
}

TEST_CASE("Updates in parts: what a part changes and a binding changes back is not told",
          "[replayout][receive_updates]") {
    Line line;
    line.server.captain = ObjectHandle{9};
    REQUIRE(line.sender.update(&line.server));
    REQUIRE(line.receiver.receive(&line.client, line.sender.block(since(0))));
    const NetGUID first = line.sender.package_map.guid_of(ObjectHandle{9});
    CHECK(line.receiver.rebind(&line.client, first, ObjectHandle{4}) == 1);
    line.client.calls.clear();
    // Another one takes the handle over.
    line.server.captain = ObjectHandle{10};
    REQUIRE(line.sender.update(&line.server));
    REQUIRE(line.receiver.receive(&line.client, line.sender.block(since(1)), true));
    const NetGUID second = line.sender.package_map.guid_of(ObjectHandle{10});
    CHECK(line.receiver.rebind(&line.client, second, ObjectHandle{4}) == 1);
    CHECK(line.client.calls == Calls{"pre, tons 0", "post, tons 0", "last"});
}

TEST_CASE("Updates in parts: what a part changes and the game changes back is not told",
          "[replayout][receive_updates]") {
    for (const bool is_back : {false, true}) {
        Line line;
        line.client.name = line.server.name = "Argo";
        REQUIRE(line.sender.update(&line.server));
        line.server.name = "Nautilus";
        REQUIRE(line.sender.update(&line.server));
        REQUIRE(line.receiver.receive(&line.client, line.sender.block(since(1)), true));
        CHECK(line.client.name == "Nautilus");
        if (is_back) {
            line.client.name = "Argo";
        }
        line.finish();
        const Calls expected = is_back
                                   ? Calls{"pre, tons 0", "post, tons 0", "last"}
                                   : Calls{"pre, tons 0", "post, tons 0", "name was Argo", "last"};
        CHECK(line.client.calls == expected);
    }
}

TEST_CASE("Updates in parts: items that were to go, and that the game took away, go but once",
          "[replayout][receive_updates]") {
    Line line;
    line.server.stock.add(1, 10);
    line.server.stock.add(2, 20);
    line.give_all(line.update());
    line.server.stock.remove(0);
    const std::vector<SentPart> parts = line.update();
    REQUIRE(parts.size() == 1);
    REQUIRE(line.give(parts[0], true));
    CHECK(line.client.stock.items.size() == 2);
    line.client.stock.items.erase(line.client.stock.items.begin());
    line.client.stock.told.clear();
    line.finish();
    CHECK(line.client.stock.told == Calls{"receive"});
    CHECK(line.client.stock.content() == line.server.stock.content());
}

TEST_CASE("Updates in parts: a part that goes back ends one, whatever it takes away besides",
          "[replayout][receive_updates]") {
    Line line;
    line.server.stock.add(1, 10);
    line.give_all(line.update());
    line.server.tons = 7;
    for (const SentPart& part : line.update()) {
        REQUIRE(line.give(part, true));
    }
    line.client.calls.clear();
    line.server.name = "Argo";
    line.server.stock.remove(0);
    const std::vector<SentPart> parts = line.update();
    REQUIRE(parts.size() == 1);
    REQUIRE(line.give(parts[0], true));
    CHECK(line.client.calls == Calls{"post, tons 7", "tons were 0", "last", "pre, tons 7"});
}

TEST_CASE("Updates in parts: an array goes on with as many elements, behind the last that came",
          "[replayout][receive_updates]") {
    constexpr std::uint32_t none = ~0u;
    struct Part {
        std::uint32_t count;
        std::uint32_t element;  // that is set
    };
    const auto block_of = [](const Part& part, std::uint32_t value) {
        Bytes memory(64);
        BitWriter writer(memory);
        ChangeMask mask;
        mask.reset(5);
        mask.set(1);  // the cargo
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_packed_uint(part.count);
        mask.reset(part.count);
        if (part.element != none) {
            mask.set(part.element);
        }
        write_change_mask(writer, mask, EmptySet::Possible);
        writer.write_bits(value, part.element == none ? 0 : 32);
        writer.finish_byte();
        return to_bytes(writer.bytes());
    };
    struct Case {
        Part first;
        Part second;
        bool goes_on;
    };
    const Case cases[] = {{{5, 1}, {5, 2}, true},        {{5, 1}, {5, 4}, true},
                          {{5, none}, {5, 0}, true},     {{5, 1}, {6, 2}, false},
                          {{5, 1}, {4, 2}, false},       {{5, 2}, {5, 1}, false},
                          {{5, 2}, {5, 2}, false},       {{5, 2}, {5, none}, false},
                          {{5, none}, {5, none}, false}, {{5, none}, {6, 0}, false}};
    for (const Case& each : cases) {
        for (const bool is_last : {false, true}) {
            INFO(each.first.count << "," << each.first.element << " " << each.second.count << ","
                                  << each.second.element << " " << is_last);
            Line line;
            line.client.cargo.assign(5, 0);
            REQUIRE(line.receiver.receive(&line.client, block_of(each.first, 7), true));
            REQUIRE(line.receiver.receive(&line.client, block_of(each.second, 8), !is_last));
            line.finish();
            CHECK(std::count(line.client.calls.begin(), line.client.calls.end(),
                             std::string("last")) == (each.goes_on ? 1 : 2));
            if (each.second.element != none) {
                CHECK(line.client.cargo[each.second.element] == 8);
            }
            const auto told =
                std::count_if(line.client.calls.begin(), line.client.calls.end(),
                              [](const std::string& call) { return call.starts_with("cargo"); });
            const bool is_first_told = each.first.element != none;
            const bool is_second_told = each.second.element != none || each.second.count != 5;
            CHECK(told == (each.goes_on ? 1 : (is_first_told ? 1 : 0) + (is_second_told ? 1 : 0)));
        }
    }
}

TEST_CASE("Updates in parts: a block that is not marked ends what came before it",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    REQUIRE(line.give(parts[0], true));
    line.server.tons = 60;
    REQUIRE(line.sender.update(&line.server));
    const Bytes block = line.sender.block(since(line.sender.state.version() - 1));
    REQUIRE(line.receiver.receive(&line.client, block));
    CHECK(line.client.calls.front() == "pre, tons 0");
    CHECK(line.client.calls.back() == "last");
    CHECK_FALSE(line.is_under_way());
}

TEST_CASE("Updates in parts: one whose last part is lost ends with what has arrived",
          "[replayout][receive_updates]") {
    Line line;
    line.server.tons = 0;
    const std::vector<SentPart> parts = load(line, 50);
    REQUIRE(line.give(parts[0], true));
    line.finish();
    CHECK(line.client.calls.front() == "pre, tons 0");
    CHECK(line.client.calls[1] == "post, tons 0");
    CHECK(line.client.calls.back() == "last");
    const std::size_t count = line.client.calls.size();
    line.finish();
    CHECK(line.client.calls.size() == count);
    CHECK_FALSE(line.is_under_way());
}

TEST_CASE("Updates in parts: a part that is refused leaves the update as it is",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    REQUIRE(line.give(parts[0], true));
    SentPart cut = parts[1];
    cut.bytes.resize(cut.bytes.size() / 2);
    const Barge before = line.client;
    CHECK_FALSE(line.give(cut, true));
    CHECK_FALSE(line.give(cut, false));
    CHECK(line.client.calls == before.calls);
    CHECK(line.client.cargo == before.cargo);
    CHECK(line.is_under_way());
    line.give_all({parts.begin() + 1, parts.end()});
    CHECK(line.client.calls == Calls{"pre, tons 0", "post, tons 50", "name was ",
                                     "cargo was 0, is 50", "tons were 0", "last"});
}

TEST_CASE("Updates in parts: one whose object is gone is dropped, and calls nothing",
          "[replayout][receive_updates]") {
    Line line;
    const std::vector<SentPart> parts = load(line, 50);
    REQUIRE(line.give(parts[0], true));
    line.receiver.scratch.drop_update();
    CHECK(line.client.calls == Calls{"pre, tons 0"});
    CHECK_FALSE(line.is_under_way());
    // Nor does one that nobody ends keep memory, or need its layout to go.
    CountingResource memory;
    {
        auto layout = std::make_unique<TestLayout>(build_barge);
        BlockReceiver other(**layout, &memory);
        Barge client;
        REQUIRE(other.receive(&client, parts[0].bytes, true));
        layout.reset();
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("Updates in parts: another object may not go on where nobody ended one",
          "[replayout][receive_updates]") {
    if (REPLAYOUT_ASSERTIONS == 0) {
        return;  // nobody refuses it then
    }
    const auto line = std::make_unique<Line>();
    const auto other = std::make_unique<Line>();
    const std::vector<SentPart> parts = load(*line, 50);
    REQUIRE(line->give(parts[0], true));
    // Of the same class, by the same layout; the object is told apart by its state.
    CHECK(failure_in([&] {
              ReceiveContext context = line->receiver.context();
              finish_update(*line->layout, &other->client, other->receiver.state, context);
          }) != "");
    CHECK(other->client.calls.empty());
    CHECK(line->is_under_way());
    line->finish();
    CHECK(line->client.calls.back() == "last");
}

TEST_CASE("Updates in parts: a reference that is bound ends the update, and is told of with it",
          "[replayout][receive_updates]") {
    Line line;
    line.server.captain = ObjectHandle{9};
    const std::vector<SentPart> parts = load(line, 50);
    for (const SentPart& part : parts) {
        REQUIRE(line.give(part, true));
    }
    const NetGUID guid = line.sender.package_map.guid_of(ObjectHandle{9});
    CHECK(line.receiver.rebind(&line.client, guid, ObjectHandle{4}) == 1);
    CHECK(line.client.calls == Calls{"pre, tons 0", "post, tons 50", "name was ",
                                     "cargo was 0, is 50", "captain was 0, is 4", "tons were 0",
                                     "last"});
    CHECK_FALSE(line.is_under_way());
}

TEST_CASE("Updates in parts: a fast array is told once, and loses its items at the end",
          "[replayout][receive_updates]") {
    Line line;
    for (std::uint32_t kind = 0; kind < 8; ++kind) {
        line.server.stock.add(kind, 1);
    }
    line.give_all(line.update());
    CHECK(line.client.stock.told.size() == 8 + 1);
    line.client.stock.told.clear();

    line.server.stock.remove(0);
    line.server.stock.remove(0);
    for (std::size_t i = 0; i < 6; ++i) {
        line.server.stock.change(i, 70);
        line.server.stock.items[i].label += " in a warehouse";
    }
    line.server.stock.add(8, 1);
    const std::vector<SentPart> parts = line.update();
    REQUIRE(parts.size() >= 3);
    for (const SentPart& part : parts) {
        CHECK(line.client.stock.told.empty());
        CHECK(line.client.stock.items.size() >= 8);
        REQUIRE(line.give(part, &part != &parts.back()));
    }
    CHECK(line.client.stock.told == Calls{"remove 0", "remove 1", "add 8", "change 2 to 70",
                                          "change 3 to 70", "change 4 to 70", "change 5 to 70",
                                          "change 6 to 70", "change 7 to 70", "receive"});
    CHECK(line.client.stock.content() == line.server.stock.content());
}

TEST_CASE("Updates in parts: one that never ends does not let an array grow beyond twice its limit",
          "[replayout][receive_updates]") {
    constexpr std::uint32_t limit = 8;
    RepLayoutOptions options;
    options.limits.array_count_max = limit;
    const TestLayout layout(build_barge, options);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Barge server;
    Barge client;
    for (std::uint32_t round = 0; round < 50; ++round) {
        server.stock.items.clear();
        server.stock.mark_array_dirty();
        for (std::uint32_t i = 0; i < limit; ++i) {
            server.stock.add(round, static_cast<std::int32_t>(i));
        }
        REQUIRE(sender.update(&server));
        OwedVersions position = since(round);
        position.held_version = round;
        REQUIRE(receiver.receive(&client, sender.block(position), true));
        REQUIRE(client.stock.items.size() <= 2 * limit);
    }
    ReceiveContext context = receiver.context();
    finish_update(*layout, &client, receiver.state, context);
    CHECK(client.stock.content() == server.stock.content());
}

TEST_CASE("Updates in parts: what comes back with the key of what goes is another element",
          "[replayout][receive_updates]") {
    Line line;
    line.server.stock.add(1, 10).label = "first";
    line.server.stock.add(2, 20);
    REQUIRE(line.sender.update(&line.server));
    REQUIRE(line.receiver.receive(&line.client, line.sender.block(since(0))));
    const Bytes whole = line.sender.block(since(0));
    line.server.stock.remove(0);
    REQUIRE(line.sender.update(&line.server));
    OwedVersions position = since(1);
    position.held_version = 1;
    line.client.stock.told.clear();
    REQUIRE(line.receiver.receive(&line.client, line.sender.block(position), true));
    CHECK(line.client.stock.items.size() == 2);
    REQUIRE(line.receiver.receive(&line.client, whole, true));
    CHECK(line.client.stock.told == Calls{"remove 1", "receive"});
    line.finish();
    CHECK(line.client.stock.told == Calls{"remove 1", "receive", "add 1", "receive"});
    CHECK(line.client.stock.items.size() == 2);
}

TEST_CASE("Updates in parts: what comes back is there, though the game took away what was to go",
          "[replayout][receive_updates]") {
    Line line;
    line.server.stock.add(1, 10).label = "first";
    line.server.stock.add(2, 20);
    REQUIRE(line.sender.update(&line.server));
    const Bytes whole = line.sender.block(since(0));
    REQUIRE(line.receiver.receive(&line.client, whole));
    line.server.stock.remove(0);
    REQUIRE(line.sender.update(&line.server));
    OwedVersions position = since(1);
    position.held_version = 1;
    REQUIRE(line.receiver.receive(&line.client, line.sender.block(position), true));
    auto& items = line.client.stock.items;
    REQUIRE(items.size() == 2);
    items.erase(items.begin());
    line.client.stock.told.clear();
    REQUIRE(line.receiver.receive(&line.client, whole, true));
    line.finish();
    CHECK(line.client.stock.items.size() == 2);
    CHECK(line.client.stock.told == Calls{"receive", "add 1", "receive"});
}

namespace {

struct Frigate {
    Watch watch;
    std::string log;
};

[[nodiscard]] Result<const Type*> build_frigate(TypeRegistry& registry) {
    REQUIRE(struct_builder<Sailor>(registry, "Sailor")
                .property<&Sailor::id>()
                .property<&Sailor::rank>()
                .build());
    REQUIRE(struct_builder<Watch>(registry, "Watch")
                .property<&Watch::sailors>()
                .keyed_by<&Sailor::id>(ArrayOrder::Kept)
                .property<&Watch::count>()
                .build());
    return class_builder<Frigate>(registry, "Frigate")
        .property<&Frigate::watch>()
        .property<&Frigate::log>()
        .build();
}

[[nodiscard]] std::vector<std::uint32_t> ids_of(const Watch& watch) {
    std::vector<std::uint32_t> ids;
    for (const Sailor& sailor : watch.sailors) {
        ids.push_back(sailor.id);
    }
    return ids;
}

}  // namespace

TEST_CASE("Updates in parts: a keyed array of an atomic struct waits for no other part",
          "[replayout][receive_updates]") {
    const TestLayout layout(build_frigate);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Frigate server;
    Frigate client;
    server.watch = {{{1, 5}, {2, 6}, {3, 7}}, 3};
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    server.watch = {{{3, 7}, {2, 6}, {4, 8}, {5, 9}}, 4};
    server.log = std::string(40, 'l');
    REQUIRE(sender.update(&server));
    OwedVersions position = since(1);
    position.held_version = 1;
    const auto parts = sender.parts(position, 50);
    REQUIRE(parts.size() == 2);
    REQUIRE(receiver.receive(&client, parts[0].bytes, true));
    CHECK(ids_of(client.watch) == std::vector<std::uint32_t>{3, 2, 4, 5});
    CHECK(client.watch.count == 4);
    CHECK(receiver.scratch.is_update_under_way());
    REQUIRE(receiver.receive(&client, parts[1].bytes));
    CHECK(client.log == server.log);
    CHECK(ids_of(client.watch) == std::vector<std::uint32_t>{3, 2, 4, 5});
}

TEST_CASE("Updates in parts: a block of another object is refused until the update has ended",
          "[replayout][receive_updates][misuse]") {
    const Refusals refusals;
    Line line;
    const std::vector<SentPart> parts = load(line, 40);
    REQUIRE(line.give(parts.front(), true));
    Barge other;
    ReceivingRepState other_state(std::pmr::get_default_resource());
    ReceiveContext context = line.receiver.context();
    BitReader reader(parts.front().bytes);
    CHECK(receive_properties(*line.layout, reader, &other, other_state, context));
    CHECK(reader.bits_left() < 8);
    CHECK(other.name.empty());
    finish_update(*line.layout, &other, other_state, context);
    CHECK(other.calls.empty());
    CHECK(line.is_under_way());
    if (Refusals::are_told) {
        CHECK(refusals.count("receive_properties: a part of another object was received") == 1);
        CHECK(refusals.count("finish_update: the update under way is not of this \"Barge\"") == 1);
    }
    line.finish();
    CHECK_FALSE(line.is_under_way());
    BitReader again(parts.front().bytes);
    CHECK(receive_properties(*line.layout, again, &other, other_state, context));
    CHECK(other.name == "Anna");
}

}  // namespace replayout::test
