// SPDX-License-Identifier: MIT
//
// Collections of a hostile server: what cannot be is refused whole, and counted.
#include <replayout/behaviours/sync_collection.h>
#include <replayout/bit_reader.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

using Price = SyncDictionaryEntry<std::string, std::int32_t>;
using PriceChange = detail::DictionaryChange<std::string, std::int32_t>;
using KeyChange = detail::SetChange<std::uint32_t>;
using OnPrice = SyncDictionaryOperation;
using OnKey = SyncSetOperation;

struct HostileServer {
    explicit HostileServer(const BagOptions& options = {}) : game(options) {
        game.join();
        chest = &game.spawn(game.chest());
    }

    template <typename Change>
    void send(const char* function, std::uint32_t first, std::vector<Change> operations) {
        const detail::CollectionChanges<Change> changes{first, std::move(operations)};
        REQUIRE(game.server().driver().call_function(game.id_of(*chest), function, &changes) ==
                CallResult::Sent);
        game.settle();
    }
    void send_prices(std::uint32_t first, std::vector<PriceChange> operations) {
        send("0.prices.changes", first, std::move(operations));
    }
    void send_keys(std::uint32_t first, std::vector<KeyChange> operations) {
        send("0.keys.changes", first, std::move(operations));
    }
    [[nodiscard]] Bag& shown() { return game.bag_on(0, *chest); }
    [[nodiscard]] std::uint64_t refused_count() {
        return game.client(0).counters().collections_refused;
    }

    BagGame game;
    NetworkIdentity* chest = nullptr;
};

TEST_CASE("Hostile collections: operations that are none are refused, with all that came with them",
          "[behaviours]") {
    HostileServer hostile;
    hostile.game.settle();
    hostile.send_prices(0, {{OnPrice::Add, "a", 1}, {static_cast<OnPrice>(9), "b", 2}});
    hostile.send_keys(0, {{OnKey::Add, 1}, {static_cast<OnKey>(3), 2}, {OnKey::Add, 3}});
    CHECK(hostile.shown().prices.empty());
    CHECK(hostile.shown().keys.empty());
    CHECK(hostile.refused_count() == 2);
    CHECK(hostile.shown().prices.refused_count() == 1);
    // What is right goes on from there.
    hostile.send_prices(0, {{OnPrice::Add, "a", 1}});
    hostile.send_keys(0, {{OnKey::Add, 1}});
    CHECK(hostile.shown().prices.size() == 1);
    CHECK(hostile.shown().keys.size() == 1);
    CHECK(hostile.refused_count() == 2);
}

TEST_CASE("Hostile collections: more than there is room for is refused whole", "[behaviours]") {
    BagOptions options;
    options.limits.array_count_max = 8;
    HostileServer hostile(options);
    hostile.game.settle();
    std::vector<PriceChange> prices;
    std::vector<KeyChange> keys;
    for (std::uint32_t i = 0; i < 8; ++i) {
        prices.push_back({OnPrice::Set, "key " + std::to_string(i), 1});
        keys.push_back({OnKey::Add, i});
    }
    hostile.send_prices(0, prices);
    hostile.send_keys(0, keys);
    CHECK(hostile.shown().prices.size() == 8);
    CHECK(hostile.shown().keys.size() == 8);
    hostile.send_prices(8, {{OnPrice::Remove, "key 1", 0},
                            {OnPrice::Add, "one more", 1},
                            {OnPrice::Add, "too many", 1}});
    hostile.send_keys(8, {{OnKey::Remove, 1}, {OnKey::Add, 100}, {OnKey::Add, 101}});
    CHECK(hostile.shown().prices.contains("key 1"));
    CHECK(hostile.shown().keys.contains(1));
    CHECK(hostile.refused_count() == 2);
    // The same key over and over takes no room, nor does what takes the place of another.
    hostile.send_prices(8, prices);
    hostile.send_keys(8, {{OnKey::Remove, 1}, {OnKey::Remove, 1}, {OnKey::Add, 100}});
    hostile.send_keys(11, {{OnKey::Clear, 0}, {OnKey::Add, 7}});
    CHECK(hostile.shown().prices.size() == 8);
    CHECK(hostile.shown().keys.items() == std::vector<std::uint32_t>{7});
    CHECK(hostile.refused_count() == 2);
}

TEST_CASE("Hostile collections: items with a key twice, or out of order, are those of the prefab",
          "[behaviours]") {
    const bool is_twice = GENERATE(true, false);
    CAPTURE(is_twice);
    BagGame game;
    game.join_settled();
    NetworkIdentity& chest = game.server().instantiate(game.chest());
    Bag& bag = chest.component<Bag>(0);
    auto& prices = const_cast<std::vector<Price>&>(bag.prices.items());
    auto& keys = const_cast<std::vector<std::uint32_t>&>(bag.keys.items());
    prices =
        is_twice ? std::vector<Price>{{"a", 1}, {"a", 2}} : std::vector<Price>{{"b", 1}, {"a", 2}};
    keys = is_twice ? std::vector<std::uint32_t>{1, 2, 2} : std::vector<std::uint32_t>{2, 1};
    bag.numbers.add(5);
    REQUIRE(game.server().spawn(chest));
    const LogSpy log;
    game.settle();
    const Bag& shown = game.bag_on(0, chest);
    CHECK(shown.prices.empty());
    CHECK(shown.keys.empty());
    CHECK(shown.numbers.size() == 1);
    CHECK(game.client(0).counters().collections_refused == 2);
    CHECK(LogSpy::messages().size() == 2);

    // What comes next builds on what is not there.
    const auto send = [&](std::uint32_t first, std::vector<KeyChange> operations) {
        const detail::CollectionChanges<KeyChange> changes{first, std::move(operations)};
        REQUIRE(game.server().driver().call_function(game.id_of(chest), "0.keys.changes",
                                                     &changes) == CallResult::Sent);
        game.settle();
    };
    send(0, {{OnKey::Add, 9}});
    CHECK(shown.keys.empty());
    CHECK(game.client(0).counters().collections_refused == 3);
    send(1, {{OnKey::Add, 8}, {OnKey::Clear, 0}, {OnKey::Add, 9}});
    CHECK(shown.keys.items() == std::vector<std::uint32_t>{9});
    send(4, {{OnKey::Add, 10}});
    CHECK(shown.keys.items() == std::vector<std::uint32_t>{9, 10});
    CHECK(game.client(0).counters().collections_refused == 3);
}

TEST_CASE("Hostile collections: a flood of what cannot be is a few lines in the log",
          "[behaviours]") {
    HostileServer hostile;
    hostile.game.settle();
    const LogSpy log;
    for (std::uint32_t i = 0; i < 300; ++i) {
        const detail::CollectionChanges<KeyChange> changes{50, {{OnKey::Add, 1}}};
        (void)hostile.game.server().driver().call_function(hostile.game.id_of(*hostile.chest),
                                                           "0.keys.changes", &changes);
        if (i % 10 == 0) {
            hostile.game.tick();
        }
    }
    hostile.game.settle();
    CHECK(hostile.refused_count() == 300);
    CHECK(LogSpy::messages().size() >= 10);
    CHECK(LogSpy::messages().size() <= 30);  // within a second or two
}

// A server of ours gives no id twice. The new object has no collection where the old one had some.
TEST_CASE("Hostile collections: parts are asked for no object that takes the id of another",
          "[behaviours]") {
    BagGame game;
    game.join_settled();
    NetworkIdentity& chest = game.server().instantiate(game.chest());
    for (int i = 0; i < 2'000; ++i) {
        chest.component<Bag>(2).things.add({std::string(900, 'x'), i});
    }
    REQUIRE(game.server().spawn(chest));
    while (game.on_client(0, chest) == nullptr) {
        game.tick();
    }
    REQUIRE(game.bag_on(0, chest, 2).things.empty());  // it waits for parts
    const NetGUID guid{chest.net_id()};
    std::vector<Bunch> closes;
    bool is_opened = false;
    game.transport().set_script([&](Bytes& datagram) {
        std::optional<Packet> packet = parse_packet(datagram);
        if (!packet) {
            return true;
        }
        std::vector<Bunch> bunches;
        std::vector<Bunch> opens;
        for (Bunch& bunch : packet->bunches) {
            (bunch.header.is_open    ? opens
             : bunch.header.is_close ? closes
                                     : bunches)
                .push_back(std::move(bunch));
        }
        if (!opens.empty() && !closes.empty()) {
            is_opened = true;
            bunches.insert(bunches.end(), closes.begin(), closes.end());
            closes.clear();
            for (Bunch& open : opens) {
                BitReader reader(open.payload);
                (void)reader.read_packed_uint();
                const std::size_t begin = open.payload.size() - reader.bits_left() / 8;
                const Bytes rest(open.payload.begin() + static_cast<std::ptrdiff_t>(begin),
                                 open.payload.end());
                open = make_bunch(open.header, written([&](BitWriter& writer) {
                                      writer.write_packed_uint(guid.value);
                                      writer.write_bytes(rest);
                                  }));
            }
        }
        bunches.insert(bunches.end(), opens.begin(), opens.end());
        PacketForge forge(packet->header.session);
        forge.header() = packet->header;
        --forge.header().sequence;
        datagram = forge.make(bunches, packet->blocks);
        return true;
    });
    game.server().destroy(chest);
    NetworkIdentity& shelf = game.spawn(game.shelf());
    for (int i = 0; i < 100 && !is_opened; ++i) {
        game.tick();
    }
    REQUIRE(is_opened);
    game.tick(20);
    const NetworkIdentity* shown = game.client(0).find(guid.value);
    REQUIRE(shown != nullptr);
    CHECK(shown->asset_id() == shelf.asset_id());
    CHECK(game.client(0).is_connected());
}

}  // namespace
}  // namespace replayout::test
