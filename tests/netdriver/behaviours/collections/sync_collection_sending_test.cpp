// SPDX-License-Identifier: MIT
//
// Synchronized collections: what is sent, to whom, how often, and what is refused.
#include <replayout/behaviours/sync_collection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/heap_count.h"
#include "support/checks/log_spy.h"
#include "support/checks/marked_bytes.h"
#include "support/worlds/bag_game.h"

namespace replayout::test::sync_collection_sending_test {
namespace {

using Numbers = std::vector<std::int32_t>;

TEST_CASE("Collections: what would be as before is no operation", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    bag.prices.set("rope", 1);
    bag.keys.add(1);
    game.settle();
    CHECK(bag.numbers.set(0, 1));
    CHECK(bag.prices.set("rope", 1));
    CHECK_FALSE(bag.keys.add(1));
    CHECK_FALSE(bag.keys.remove(2));
    CHECK(bag.sync_collection_dirty_bits() == 0);
    CHECK(bag.numbers.waiting_count() == 0);
}

TEST_CASE("Collections: sets of one place are one operation, where nothing lies between",
          "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    bag.numbers.add(0);
    bag.numbers.add(0);
    bag.prices.set("rope", 0);
    game.settle();
    for (std::int32_t i = 1; i <= 100; ++i) {
        bag.numbers.set(0, i);
        bag.numbers.set(1, i);
        bag.prices.set("rope", i);
        bag.prices.set("axe", i);
    }
    CHECK(bag.numbers.waiting_count() == 2);
    CHECK(bag.prices.waiting_count() == 2);
    bag.numbers.insert(0, 5);
    bag.numbers.set(1, 300);
    CHECK(bag.numbers.waiting_count() == 4);
    bag.prices.remove("rope");
    bag.prices.set("rope", 7);
    bag.prices.set("rope", 8);
    CHECK(bag.prices.waiting_count() == 4);
    game.settle();
    game.check_equal(chest);
    bag.numbers.add(1);
    bag.numbers.clear();
    bag.numbers.add(2);
    CHECK(bag.numbers.waiting_count() == 2);
    game.settle();
    game.check_equal(chest);
}

TEST_CASE("Collections: operations become one only where nobody begins between them",
          "[behaviours]") {
    // Who is opened the object begins with what was compared last: an operation that this contains
    // must not change any more. Here that is compared as new, and the interval is not over.
    BagOptions options;
    options.bag.sync_interval_us = 200'000;
    for (std::uint32_t wait = 0; wait < 6; ++wait) {
        BagGame game(options);
        game.join_settled(2);
        NetworkIdentity& chest = game.spawn(game.chest());
        Bag& bag = chest.component<Bag>(0);
        game.settle();
        game.tick(20);
        bag.numbers.add(9);
        game.tick();
        game.server().unspawn(chest);
        bag.numbers.clear();
        REQUIRE(game.server().spawn(chest));
        game.show(1, chest, false);
        bag.numbers.add(1);
        game.tick();
        bag.numbers.set(0, 2);
        game.tick(wait);
        game.show(1, chest, true);
        game.tick();
        bag.numbers.set(0, 3);
        game.tick(20);
        game.settle();
        game.check_equal(chest);
    }
}

TEST_CASE("Collections: the sync interval holds back what changes", "[behaviours]") {
    BagOptions options;
    options.bag.sync_interval_us = 100'000;
    BagGame game(options);
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    game.tick(10);
    bag.numbers.add(1);
    game.tick();
    bag.numbers.add(2);
    game.tick(2);
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{1});
    game.tick(8);
    CHECK(game.bag_on(0, chest).numbers.items() == Numbers{1, 2});
}

TEST_CASE("Collections: who was not ready for a while begins anew", "[behaviours]") {
    BagGame game;
    game.join();
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    bag.numbers.add(1);
    game.settle();
    bag.keys.add(1);
    game.settle();
    game.server().set_client_not_ready(game.connection(0));
    game.tick(5);
    bag.numbers.add(2);
    bag.keys.clear();
    game.tick(5);
    CHECK(game.bag_on(1, chest).numbers.items() == Numbers{1, 2});
    REQUIRE(game.client(0).ready());
    bag.numbers.insert(0, 3);
    game.settle();
    game.check_equal(chest);
}

TEST_CASE("Collections: without observers nothing is kept", "[behaviours]") {
    BagGame game;
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    const auto play = [&](std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            bag.numbers.set(0, static_cast<std::int32_t>(i) + 1'000);
            (void)bag.keys.remove(i % 8);
            bag.keys.add(i % 8);
            bag.prices.set("rope", static_cast<std::int32_t>(i) + 1'000);
            game.tick();
        }
    };
    bag.numbers.add(1);
    play(300);
    CHECK(bag.numbers.waiting_count() == 0);
    CHECK(bag.keys.waiting_count() == 0);
    const std::uint64_t before = heap_allocation_count();
    play(200);
    CHECK(heap_allocation_count() == before);

    // For the owner: while there is none.
    game.join_settled();
    Pouch& pouch = chest.component<Pouch>(1);
    for (std::int32_t i = 0; i < 50; ++i) {
        pouch.secrets.add("word");
    }
    CHECK(pouch.secrets.waiting_count() == 0);
}

TEST_CASE("Collections: a steady tick of changes takes no memory", "[behaviours]") {
    BagOptions options;
    options.is_validating = false;
    BagGame game(options);
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    const auto play = [&](std::int32_t count) {
        for (std::int32_t i = 0; i < count; ++i) {
            bag.numbers.set(0, i);
            bag.numbers.set(1, i);
            bag.keys.remove(3);
            bag.keys.add(3);
            game.tick();
        }
    };
    bag.numbers.add(1);
    bag.numbers.add(1);
    bag.keys.add(3);
    game.settle();
    play(200);
    const std::uint64_t before = game.server_allocations();
    play(100);
    CHECK(game.server_allocations() == before);
}

/// Operations for the numbers of the first bag, as a hostile server may send them.
class ForgedNumbers {
  public:
    using Change = detail::ListChange<std::int32_t>;

    ForgedNumbers(BagGame& game, const NetworkIdentity& chest) : game_(game), chest_(chest) {}

    void send(std::uint32_t first, std::vector<Change> operations) {
        const detail::CollectionChanges<Change> changes{first, std::move(operations)};
        REQUIRE(game_.server().driver().call_function(game_.id_of(chest_), "0.numbers.changes",
                                                      &changes) == CallResult::Sent);
        game_.settle();
    }

  private:
    BagGame& game_;
    const NetworkIdentity& chest_;
};

TEST_CASE("Collections: an operation that cannot be is counted, and a clear heals it",
          "[behaviours]") {
    using Operation = SyncListOperation;
    BagGame game;
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    bag.numbers.add(1);
    game.settle();
    const SyncList<std::int32_t>& shown = game.bag_on(0, chest).numbers;
    ForgedNumbers forged(game, chest);
    const LogSpy log;
    forged.send(0, {{Operation::Clear, 0, 0}});  // it has that one
    CHECK(shown.refused_count() == 0);
    CHECK(shown.items() == Numbers{1});
    forged.send(1, {{Operation::RemoveAt, 1, 0}});
    forged.send(1, {{Operation::Set, 0xFFFF'FFFF, 2}});
    forged.send(1, {{Operation::Insert, 2, 2}});
    forged.send(1, {{Operation::Add, 0, 2}});
    forged.send(1, {{static_cast<Operation>(77), 0, 2}});
    forged.send(5, {{Operation::Set, 0, 2}});
    CHECK(shown.refused_count() == 6);
    CHECK(shown.items() == Numbers{1});
    REQUIRE(LogSpy::messages().size() == 6);
    CHECK(LogSpy::messages()[0].find("\"Bag.numbers\"") != std::string::npos);
    CHECK(game.client(0).counters().collections_refused == 6);
    // Of what came with a bad one nothing is done.
    forged.send(1, {{Operation::Add, 1, 2}, {Operation::RemoveAt, 9, 0}, {Operation::Add, 2, 3}});
    CHECK(shown.items() == Numbers{1});
    bag.numbers.clear();
    bag.numbers.clear();
    bag.numbers.add(7);
    game.settle();
    forged.send(40, {{Operation::Clear, 0, 0}, {Operation::Add, 0, 5}});
    CHECK(shown.items() == Numbers{5});
}

TEST_CASE("Collections: beside a client who takes nothing the row of operations is bounded",
          "[behaviours]") {
    BagOptions options;
    options.config.calls_waiting_max = 4;
    options.config.calls_full_timeout_ms = 0;  // nobody gives up the client
    BagGame game(options);
    game.join();
    game.join();
    NetworkIdentity& chest = game.spawn(game.chest());
    Bag& bag = chest.component<Bag>(0);
    game.settle();
    LinkSettings dead;
    dead.loss = 1.0;
    game.network().set_settings(PeerId{1}, BagGame::peer_of(1), dead);
    std::size_t waiting_max = 0;
    for (std::uint32_t i = 0; i < 6'000; ++i) {
        if (bag.keys.size() > 50) {
            bag.keys.remove(bag.keys.items().front());
        }
        bag.keys.add(i);
        bag.numbers.add(static_cast<std::int32_t>(i));
        if (bag.numbers.size() > 10) {
            bag.numbers.remove_at(0);
        }
        if (i % 30 == 0) {
            game.tick();
        }
        waiting_max = std::max(waiting_max, bag.keys.waiting_count());
    }
    CHECK(waiting_max > 1'024);
    CHECK(waiting_max < 1'200);
    game.join();
    game.tick(10);
    game.network().heal();
    game.settle();
    game.check_equal(chest);
}

TEST_CASE("Collections: operations are encoded once, however many observers there are",
          "[behaviours]") {
    std::vector<std::uint64_t> calls;
    for (const std::size_t clients : {1u, 4u, 16u}) {
        BagOptions options;
        options.is_validating = false;
        BagGame game(options);
        for (std::size_t i = 0; i < clients; ++i) {
            game.join();
        }
        NetworkIdentity& chest = game.spawn(game.chest());
        game.settle();
        const std::uint64_t before = game.server().driver().stats().replication.values_encoded;
        for (std::int32_t i = 0; i < 10; ++i) {
            chest.component<Bag>(0).things.add({"rope", i});
            chest.component<Bag>(0).prices.set("rope", i);
            game.tick();
        }
        calls.push_back(game.server().driver().stats().replication.values_encoded - before);
        game.settle();
        game.check_equal(chest);
    }
    CHECK(calls[0] > 0);
    CHECK(calls[1] == calls[0]);
    CHECK(calls[2] == calls[0]);
}

TEST_CASE("Collections: what is for the owner reaches him whoever he becomes, and nobody else",
          "[behaviours]") {
    BagOptions options;
    options.is_keeping_datagrams = true;
    options.link.loss = 0.2;
    options.link.latency_ms = 30;
    BagGame game(options);
    game.join_settled(2);
    NetworkIdentity& chest = game.spawn(game.chest());
    Pouch& pouch = chest.component<Pouch>(1);
    std::uint32_t number = 0;
    const auto add = [&] { pouch.secrets.add(MarkedValue{number++, 1, 0}.text(2)); };
    const auto words_on = [&](std::size_t client) {
        NetworkIdentity* shown = game.on_client(client, chest);
        REQUIRE(shown != nullptr);
        return shown->component<Pouch>(1).secrets.items();
    };
    const auto is_told = [&](std::size_t client) {
        bool is_any = false;
        for (const Datagram& datagram : game.transport().sent) {
            if (datagram.peer == BagGame::peer_of(client)) {
                for_each_marked(datagram.bytes, [&](const MarkedValue&) { is_any = true; });
            }
        }
        return is_any;
    };
    add();
    game.settle();
    CHECK(words_on(0).empty());
    REQUIRE(game.server().assign_client_authority(chest, game.connection(0)));
    add();
    game.settle();
    CHECK(words_on(0) == pouch.secrets.items());
    for (std::uint32_t i = 0; i < 5; ++i) {
        add();
        game.tick();
    }
    pouch.secrets.remove_at(1);
    game.settle();
    CHECK(words_on(0) == pouch.secrets.items());
    CHECK(is_told(0));
    CHECK_FALSE(is_told(1));
    CHECK(words_on(1).empty());

    // Out of sight, and back; at once, and later.
    game.show(0, chest, false);
    add();
    game.show(0, chest, true);
    game.settle();
    CHECK(words_on(0) == pouch.secrets.items());
    game.show(0, chest, false);
    game.settle();
    add();
    game.show(0, chest, true);
    game.settle();
    CHECK(words_on(0) == pouch.secrets.items());

    // Another owner.
    game.transport().sent.clear();
    REQUIRE(game.server().remove_client_authority(chest));
    game.settle();
    game.transport().sent.clear();
    REQUIRE(game.server().assign_client_authority(chest, game.connection(1)));
    add();
    game.settle();
    add();
    game.settle();
    CHECK(words_on(1) == pouch.secrets.items());
    CHECK_FALSE(is_told(0));

    // It is given with the object.
    NetworkIdentity& other = game.server().instantiate(game.chest());
    other.component<Pouch>(1).secrets.add("given");
    REQUIRE(game.server().spawn(other, &game.connection(0)));
    game.settle();
    CHECK(game.on_client(0, other)->component<Pouch>(1).secrets.items() ==
          std::vector<std::string>{"given"});
    CHECK(game.on_client(1, other)->component<Pouch>(1).secrets.empty());
}

TEST_CASE("U01 Collections: components for the owner and for all, each to whom it is for",
          "[behaviours]") {
    BagGame game;
    game.join_settled(2);
    NetworkIdentity& chest = game.server().instantiate(game.chest());
    chest.component<Bag>(0).numbers.add(1);
    chest.component<Pouch>(1).secrets.add("word");
    chest.component<Bag>(2).numbers.add(2);
    REQUIRE(game.server().spawn(chest, &game.connection(0)));
    game.settle();
    game.check_equal(chest);
    CHECK(game.on_client(0, chest)->component<Pouch>(1).secrets.size() == 1);
    CHECK(game.on_client(1, chest)->component<Pouch>(1).secrets.empty());
}

TEST_CASE("Collections: 64 of a behaviour, and the one too many is named", "[behaviours]") {
    NetworkTypes types;
    BehaviourBuilder<Bag> builder(types, "Bag");
    for (std::uint32_t i = 0; i < 64; ++i) {
        builder.sync_list<&Bag::numbers>("list" + std::to_string(i));
    }
    builder.sync_set<&Bag::keys>("spare");
    const auto built = builder.build();
    REQUIRE_FALSE(built.has_value());
    CHECK(built.error().code == ErrorCode::LimitExceeded);
    CHECK(built.error().message.find("\"spare\"") != std::string::npos);
}

class Leash : public NetworkBehaviour {
  public:
    SyncList<NetworkIdentity*> dogs;
    SyncVar<std::int32_t> length;
    SyncList<std::uint64_t> dog_ids;
};

TEST_CASE("Collections: items with references are refused by name", "[behaviours]") {
    NetworkTypes types;
    const auto built = BehaviourBuilder<Leash>(types, "Leash").sync_list<&Leash::dogs>().build();
    REQUIRE_FALSE(built.has_value());
    CHECK(built.error().message.find("\"dogs\"") != std::string::npos);
    CHECK(built.error().message.find("references") != std::string::npos);
}

TEST_CASE("Collections: settings that cannot be are refused with the prefab", "[behaviours]") {
    NetworkTypes types;
    const auto leash = BehaviourBuilder<Leash>(types, "Leash").sync_list<&Leash::dog_ids>().build();
    REQUIRE(leash.has_value());
    SyncSettings settings;
    settings.sync_mode = SyncMode::ExcludeOwner;
    CHECK_FALSE(types.add_prefab("Dog", {{*leash, settings}}).has_value());
}

}  // namespace
}  // namespace replayout::test::sync_collection_sending_test
