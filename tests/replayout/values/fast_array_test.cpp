// SPDX-License-Identifier: MIT
//
// Fast arrays: ids, marks, callbacks and their order.
#include <replayout/fast_array.h>
#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/fast_array_types.h"
#include "support/types/test_layout.h"

namespace replayout::test::fast_array_test {
namespace {

/// A sender, and a receiver that gets everything.
struct Line {
    Line() : layout(build_trader), sender(*layout), receiver(*layout) {}

    /// Bytes of the block that brings the receiver up to date.
    std::size_t sync() {
        sender.update(&trader);
        OwedVersions position = since(version);
        position.held_version = version;
        const Bytes block = sender.block(position);
        version = sender.state.version();
        remote.stock.told.clear();
        if (!block.empty()) {
            REQUIRE(receiver.receive(&remote, block));
        }
        return block.size();
    }

    TestLayout layout;
    BlockSender sender;
    BlockReceiver receiver;
    Trader trader;
    Trader remote;
    Version version = 0;
};

using Told = std::vector<std::string>;

struct Passenger : FastArraySerializerItem {
    std::uint32_t seat = 0;
};

/// Is told as a whole, by index, and not item by item.
struct Cabin : FastArraySerializer<Passenger> {
    Told told;

    void pre_replicated_remove(std::span<const std::uint32_t> indices) { note("remove", indices); }
    void post_replicated_add(std::span<const std::uint32_t> indices) { note("add", indices); }
    void post_replicated_change(std::span<const std::uint32_t> indices) { note("change", indices); }
    void post_replicated_receive() { told.push_back("of " + std::to_string(items.size())); }

    void add(std::uint32_t seat) {
        items.emplace_back().seat = seat;
        mark_item_dirty(items.back());
    }

  private:
    void note(std::string call, std::span<const std::uint32_t> indices) {
        for (const std::uint32_t index : indices) {
            call += ' ' + std::to_string(items.at(index).seat);  // there is an item at each
        }
        told.push_back(call + " of " + std::to_string(items.size()));
    }
};

struct Plane {
    Cabin cabin;
};

[[nodiscard]] Result<const Type*> build_plane(TypeRegistry& registry) {
    REQUIRE(struct_builder<Passenger>(registry, "Passenger").property<&Passenger::seat>().build());
    REQUIRE(register_fast_array<Cabin>(registry, "Cabin"));
    return class_builder<Plane>(registry, "Plane").property<&Plane::cabin>().build();
}

struct PortDepot {
    Inventory stock;
};

struct Port {
    Inventory stock;
    PortDepot depot;
    Inventory quays[2];
};

[[nodiscard]] Result<const Type*> build_port(TypeRegistry& registry) {
    register_inventory(registry);
    REQUIRE(struct_builder<PortDepot>(registry, "Depot").property<&PortDepot::stock>().build());
    return class_builder<Port>(registry, "Port")
        .property<&Port::stock>()
        .property<&Port::depot>()
        .property<&Port::quays>()
        .build();
}

}  // namespace

TEST_CASE("Fast arrays: items have ids that stay, given by the first mark",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(7, 1);
    line.trader.stock.add(8, 2);
    line.trader.stock.change(0, 5);
    CHECK(line.trader.stock.items[0].replication_id == 0);
    CHECK(line.trader.stock.items[1].replication_id == 1);
    CHECK(line.trader.stock.items[0].replication_key == 1);
    CHECK(line.trader.stock.array_replication_key == 3);
    line.sync();
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Fast arrays: behind the largest id and key come the smallest, and -1 never",
          "[replayout][fast_array]") {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
    Cabin cabin;
    cabin.items.resize(5);
    cabin.id_counter = largest;
    cabin.mark_item_dirty(cabin.items[0]);
    cabin.mark_item_dirty(cabin.items[1]);
    CHECK(cabin.items[0].replication_id == largest);
    CHECK(cabin.items[1].replication_id == smallest);
    cabin.id_counter = -2;
    cabin.mark_item_dirty(cabin.items[2]);
    cabin.mark_item_dirty(cabin.items[3]);
    CHECK(cabin.items[2].replication_id == -2);
    CHECK(cabin.items[3].replication_id == 0);
    Passenger& often = cabin.items[4];
    often.replication_key = largest;
    cabin.mark_item_dirty(often);
    CHECK(often.replication_key == smallest);
    often.replication_key = -2;
    cabin.mark_item_dirty(often);
    CHECK(often.replication_key == 0);
}

TEST_CASE(
    "Fast arrays: of two arrays the counter that is ahead is kept, beyond the largest as well",
    "[replayout][fast_array]") {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
    struct Counters {
        std::int32_t behind;
        std::int32_t ahead;
    };
    for (const Counters& counters :
         {Counters{3, 7}, Counters{largest, smallest + 1}, Counters{-2, 0}}) {
        Cabin behind;
        behind.id_counter = counters.behind;
        Cabin ahead;
        ahead.id_counter = counters.ahead;
        behind.array_replication_key = static_cast<std::uint32_t>(counters.behind);
        ahead.array_replication_key = static_cast<std::uint32_t>(counters.ahead);
        Cabin kept = ahead;
        kept = behind;
        CHECK(kept.id_counter == counters.ahead);
        CHECK(kept.array_replication_key == ahead.array_replication_key + 1);
        behind = std::move(ahead);
        CHECK(behind.id_counter == counters.ahead);
        CHECK(behind.array_replication_key == static_cast<std::uint32_t>(counters.ahead) + 1);
    }
}

TEST_CASE("Fast arrays: a receiver is told item by item, and of the whole at last",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.trader.stock.add(2, 20);
    line.trader.stock.add(3, 30);
    line.sync();
    CHECK(line.remote.stock.told == Told{"add 1", "add 2", "add 3", "receive"});

    line.trader.stock.remove(0);
    line.trader.stock.change(1, 31);
    line.trader.stock.add(4, 40);
    line.sync();
    CHECK(line.remote.stock.told == Told{"remove 1", "add 4", "change 3 to 31", "receive"});
    CHECK(line.remote.stock.content() == line.trader.stock.content());

    line.trader.gold = 1;
    line.sync();
    CHECK(line.remote.stock.told.empty());
}

TEST_CASE("Fast arrays: the array is told of indices, of items that all are there until the end",
          "[replayout][fast_array]") {
    const TestLayout layout(build_plane);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Plane plane;
    Plane remote;
    for (std::uint32_t seat = 10; seat < 14; ++seat) {
        plane.cabin.add(seat);
    }
    REQUIRE(sender.update(&plane));
    REQUIRE(receiver.receive(&remote, sender.block(since(0))));
    CHECK(remote.cabin.told == Told{"add 10 11 12 13 of 4", "of 4"});

    remote.cabin.told.clear();
    plane.cabin.items.erase(plane.cabin.items.begin(), plane.cabin.items.begin() + 2);
    plane.cabin.items[1].seat = 23;
    plane.cabin.mark_item_dirty(plane.cabin.items[1]);
    plane.cabin.add(14);
    REQUIRE(sender.update(&plane));
    REQUIRE(receiver.receive(&remote, sender.block(since(1))));
    // What is removed counts until the receive.
    CHECK(remote.cabin.told == Told{"remove 10 11 of 5", "add 14 of 5", "change 23 of 5", "of 3"});
}

TEST_CASE("Fast arrays: a receiver has the ids of items; keys are the sender's alone",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.trader.stock.add(2, 20);
    line.trader.stock.change(1, 21);
    line.sync();
    REQUIRE(line.remote.stock.items.size() == 2);
    CHECK(line.trader.stock.items[1].replication_key == 1);
    CHECK(line.remote.stock.items[1].replication_id == 1);
    CHECK(line.remote.stock.items[1].replication_key == -1);
    CHECK(line.remote.stock.array_replication_key == 0);
    CHECK(line.remote.stock.id_counter == 0);
}

TEST_CASE("Fast arrays: a reference of an item that is bound, or goes, is told as a change of it",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.trader.stock.add(2, 20).owner = ObjectHandle{5};
    line.trader.stock.add(3, 30);
    line.sync();
    CHECK(line.remote.stock.told == Told{"add 1", "add 2", "add 3", "receive"});
    const NetGUID guid = line.sender.package_map.guid_of(ObjectHandle{5});
    // Wherever it lies meanwhile.
    std::swap(line.remote.stock.items[1], line.remote.stock.items[2]);
    for (const ObjectHandle target : {ObjectHandle{8}, ObjectHandle{}}) {
        line.remote.stock.told.clear();
        CHECK(line.receiver.rebind(&line.remote, guid, target) == 1);
        CHECK(line.remote.stock.told == Told{"change 2 to 20", "receive"});
        CHECK(line.remote.stock.items.back().owner == target);
    }
    // Nobody is told of what stays as it is.
    line.remote.stock.told.clear();
    CHECK(line.receiver.rebind(&line.remote, guid, ObjectHandle{}) == 0);
    CHECK(line.remote.stock.told.empty());
}

TEST_CASE("Fast arrays: what is not marked is not sent", "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.sync();
    line.trader.stock.items[0].count = 11;
    CHECK(line.sync() == 0);
    Stack unmarked;
    unmarked.kind = 9;
    line.trader.stock.items.push_back(std::move(unmarked));
    CHECK(line.sync() == 0);
    line.trader.stock.mark_array_dirty();
    CHECK(line.sync() == 0);
    line.trader.stock.mark_item_dirty(line.trader.stock.items[1]);
    CHECK(line.sync() > 0);
    CHECK(line.remote.stock.items.size() == 2);
    CHECK(line.remote.stock.items[0].count == 10);
}

TEST_CASE("Fast arrays: a mark without a change sends nothing", "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.sync();
    line.trader.stock.mark_item_dirty(line.trader.stock.items[0]);
    CHECK(line.sync() == 0);
}

TEST_CASE("Fast arrays: of an item the members travel that changed", "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10).label = std::string(200, 'x');
    line.trader.stock.mark_item_dirty(line.trader.stock.items[0]);
    line.sync();
    line.trader.stock.change(0, 12);
    CHECK(line.sync() < 12);
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Unreal conformance 7: items that change places in memory send nothing",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.trader.stock.add(2, 20);
    line.sync();
    std::swap(line.trader.stock.items[0], line.trader.stock.items[1]);
    CHECK(line.trader.stock.items[0].replication_id == 1);
    CHECK(line.sync() == 0);
    line.trader.stock.mark_array_dirty();
    CHECK(line.sync() == 0);
    // And both ends know which is which, though their indices differ.
    line.trader.stock.change(0, 21);
    line.sync();
    CHECK(line.remote.stock.told == Told{"change 2 to 21", "receive"});
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Unreal conformance 7: a copy is another item, so assigning one sends it anew",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 10);
    line.trader.stock.add(2, 20);
    line.sync();
    const Stack copy = line.trader.stock.items[1];
    CHECK(copy.replication_id == -1);
    line.trader.stock.items[0] = copy;
    CHECK(line.trader.stock.items[0].replication_id == -1);
    line.trader.stock.mark_item_dirty(line.trader.stock.items[0]);
    line.sync();
    CHECK(line.remote.stock.told == Told{"remove 1", "add 2", "receive"});
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Fast arrays: one that was marked as often as that of the archetype is sent",
          "[replayout][fast_array]") {
    Trader prototype;
    prototype.stock.add(7, 1);
    RepLayoutOptions options;
    options.archetype = &prototype;
    const TestLayout layout(build_trader, options);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Trader trader;  // an object of its own, and no copy of the archetype
    trader.stock.add(8, 2);
    Trader remote;
    remote.stock.add(7, 1);
    sender.update(&trader);
    REQUIRE(receiver.receive(&remote, sender.block(since(0))));
    CHECK(remote.stock.content() == trader.stock.content());
}

TEST_CASE("Fast arrays: one that is replaced by another is sent", "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 1);
    line.sync();
    line.trader.stock = Inventory();  // a new round begins
    line.trader.stock.add(2, 2);
    line.sync();
    CHECK(line.remote.stock.content() == line.trader.stock.content());
    Inventory other;
    other.add(3, 3);
    line.trader.stock = other;
    for (Stack& stack : line.trader.stock.items) {
        line.trader.stock.mark_item_dirty(stack);  // copies are other items
    }
    line.sync();
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Fast arrays: that were moved with their object send nothing",
          "[replayout][fast_array]") {
    Line line;
    line.trader.stock.add(1, 1);
    line.sync();
    Trader other;
    other = std::move(line.trader);
    line.trader = std::move(other);
    CHECK(line.sync() == 0);
}

TEST_CASE("Fast arrays: an item that is moved in under the id of another one is told of, once",
          "[replayout][fast_array]") {
    struct LogLines {
        LogLines() {
            set_log_handler(
                [](LogLevel, std::string_view text, void* context) {
                    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
                },
                &lines);
        }
        ~LogLines() { set_log_handler(nullptr, nullptr); }
        std::vector<std::string> lines;
    };
    Line line;
    Inventory seller;
    seller.add(1, 1);
    line.trader.stock.add(2, 2);
    line.sync();
    line.trader.stock.items.push_back(std::move(seller.items.front()));
    line.trader.stock.mark_item_dirty(line.trader.stock.items.back());
    const LogLines told;
    CHECK(line.sync() == 0);
    CHECK(line.sync() == 0);
    CHECK(line.sender.counters.values_over_limit == 2);
    REQUIRE(told.lines.size() == 1);
    CHECK(told.lines[0].find("\"Trader\" have one key") != std::string::npos);

    // A copy is an item of this array.
    const Stack copy = line.trader.stock.items.back();
    line.trader.stock.items.back() = copy;
    line.trader.stock.mark_item_dirty(line.trader.stock.items.back());
    CHECK(line.sync() > 0);
    CHECK(line.remote.stock.content() == line.trader.stock.content());
}

TEST_CASE("Fast arrays: in a struct, in a C array, and two in a class are told of each by itself",
          "[replayout][fast_array]") {
    const TestLayout layout(build_port);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Port port;
    Port remote;
    const auto stocks = [](Port& of) {
        return std::array{&of.stock, &of.depot.stock, &of.quays[0], &of.quays[1]};
    };
    for (Inventory* stock : stocks(port)) {
        stock->add(1, 10);
        stock->add(2, 20);
    }
    REQUIRE(sender.update(&port));
    REQUIRE(receiver.receive(&remote, sender.block(since(0))));
    for (std::size_t changed = 0; changed < stocks(port).size(); ++changed) {
        for (Inventory* stock : stocks(remote)) {
            stock->told.clear();
        }
        stocks(port)[changed]->change(1, 21);
        stocks(port)[changed]->remove(0);
        const Version version = sender.state.version();
        REQUIRE(sender.update(&port));
        OwedVersions position = since(version);
        position.held_version = version;
        CHECK(handles_of(sender.collect(position)).size() == 1);
        REQUIRE(receiver.receive(&remote, sender.block(position)));
        for (std::size_t i = 0; i < stocks(port).size(); ++i) {
            INFO("of inventory " << changed << ", inventory " << i);
            CHECK(stocks(remote)[i]->told ==
                  (i == changed ? Told{"remove 1", "change 2 to 21", "receive"} : Told{}));
            CHECK(stocks(remote)[i]->content() == stocks(port)[i]->content());
        }
    }
}

TEST_CASE("Fast arrays: are refused where their items would be elements of an array",
          "[replayout][fast_array]") {
    struct Market {
        std::vector<Inventory> stalls;
    };
    TypeRegistry registry;
    REQUIRE(build_trader(registry));
    const auto market =
        class_builder<Market>(registry, "Market").property<&Market::stalls>().build();
    REQUIRE(market);
    REQUIRE(registry.freeze());
    const auto layout = RepLayout::create(registry, **market);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().message ==
          "layout of \"Market\": stalls[].items is a keyed array inside of another array");
}

}  // namespace replayout::test::fast_array_test
