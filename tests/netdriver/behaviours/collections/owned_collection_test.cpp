// SPDX-License-Identifier: MIT
//
// Collections of SyncDirection::ClientToServer: the owner writes them.
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/seeded_random.h"
#include "support/networks/call_rate.h"
#include "support/worlds/arena_game.h"

namespace replayout::test::owned_collection_test {
namespace {

using Cards = std::vector<std::int32_t>;
using CardChange = detail::ListChange<std::int32_t>;
using OnCard = SyncListOperation;

class Hand : public NetworkBehaviour {
  public:
    SyncList<std::int32_t> cards;
    SyncDictionary<std::string, std::int32_t> bids;
    SyncSet<std::uint32_t> marks;
    SyncVar<std::int32_t> top;
};

[[nodiscard]] const BehaviourType* describe_hand(NetworkTypes& types) {
    const auto hand = BehaviourBuilder<Hand>(types, "Hand")
                          .sync_list<&Hand::cards>()
                          .sync_dictionary<&Hand::bids>()
                          .sync_set<&Hand::marks>()
                          .sync_var<&Hand::top>()
                          .build();
    REQUIRE(hand.has_value());
    return *hand;
}

void add_hand_of(NetworkTypes& types, std::int64_t sync_interval_us) {
    SyncSettings settings;
    settings.sync_direction = SyncDirection::ClientToServer;
    settings.sync_interval_us = sync_interval_us;
    PrefabOptions options;
    options.limits.array_count_max = 64;
    REQUIRE(types.add_prefab("Hand", {{describe_hand(types), settings}}, options).has_value());
}

void add_hand(NetworkTypes& types) {
    add_hand_of(types, 0);
}

[[nodiscard]] bool equal(const Hand& left, const Hand& right) {
    return left.cards.items() == right.cards.items() && left.bids.items() == right.bids.items() &&
           left.marks.items() == right.marks.items() && left.top == right.top;
}

/// Two clients, and a hand that the first of them owns.
struct Table {
    explicit Table(const ArenaOptions& options = {}, std::int64_t sync_interval_us = 0)
        : game(options, [&](NetworkTypes& types) { add_hand_of(types, sync_interval_us); }) {
        game.join();
        game.join();
        game.settle();
        object = &game.server().instantiate(game.types().find("Hand"));
        hand().cards.add(1);
        REQUIRE(game.server().spawn(*object, &game.connection(0)));
        game.settle();
    }
    [[nodiscard]] Hand& hand() { return object->component<Hand>(0); }
    [[nodiscard]] Hand& hand_on(std::size_t client) {
        NetworkIdentity* shown = game.on_client(client, *object);
        REQUIRE(shown != nullptr);
        return shown->component<Hand>(0);
    }
    /// Calls the server as if the owner had done that.
    CallResult forge(std::size_t client, std::uint32_t epoch, std::vector<CardChange> operations) {
        const detail::CollectionChanges<CardChange> changes{epoch, std::move(operations)};
        return game.client(client).driver().call_function(
            ObjectHandle{reinterpret_cast<std::uintptr_t>(game.on_client(client, *object))},
            "0.cards.to_server", &changes);
    }
    [[nodiscard]] NetObjectId id() {
        return game.server().driver().find_object({reinterpret_cast<std::uintptr_t>(object)});
    }
    /// Tells the owner as if the server had begun that ownership.
    template <typename Parameters>
    void tell_owner(const char* function, const Parameters& params) {
        const RepLayout& layout = object->prefab().layout();
        const auto found = layout.find_function(function);
        REQUIRE(found.has_value());
        // A section has no C++ type of its own.
        const Type* const type = layout.functions()[found->value].function->parameters;
        REQUIRE(game.server().driver().call_function(
                    id(), function, CallArguments(&params, type)) == CallResult::Sent);
        game.settle();
    }
    /// The same of the SyncVars, of which none changed.
    void tell_owner_epoch(std::uint32_t epoch) {
        const RepLayout& layout = object->prefab().layout();
        const auto function = layout.find_function("0.sync_to_owner");
        REQUIRE(function.has_value());
        Hand section;
        for (const Property& property :
             layout.functions()[function->value].parameters->type().properties()) {
            if (property.name == "#epoch") {
                std::memcpy(reinterpret_cast<std::byte*>(&section) + property.offset, &epoch,
                            sizeof(epoch));
            }
        }
        tell_owner("0.sync_to_owner", section);
    }
    /// All that is sent from one end to the other is lost, until the network heals.
    void cut(PeerId from, PeerId to) {
        LinkSettings dead;
        dead.loss = 1;
        game.network().set_settings(from, to, dead);
    }

    ArenaGame game;
    NetworkIdentity* object = nullptr;
};

void change(Hand& hand, SeededRandom& random) {
    const auto number = static_cast<std::int32_t>(random.below(8));
    switch (random.below(7)) {
        case 0:
        case 1:
            hand.cards.add(number);
            break;
        case 2:
            if (!hand.cards.empty()) {
                hand.cards.set(static_cast<std::uint32_t>(random.below(hand.cards.size())), number);
            }
            break;
        case 3:
            if (!hand.cards.empty()) {
                hand.cards.remove_at(static_cast<std::uint32_t>(random.below(hand.cards.size())));
            }
            break;
        case 4:
            hand.bids.set(std::to_string(number), number);
            break;
        case 5:
            hand.bids.remove(std::to_string(number));
            hand.marks.remove(static_cast<std::uint32_t>(number));
            break;
        default:
            hand.marks.add(static_cast<std::uint32_t>(number));
            hand.top = hand.marks.is_read_only() ? hand.top.get() : number;
    }
}

TEST_CASE("OwnedCollection: what comes behind a callback that takes the object away is not done",
          "[behaviours]") {
    Table table;
    table.hand().cards.on_change = [&](SyncListOperation, std::uint32_t, std::int32_t) {
        table.hand().cards.on_change = {};
        table.game.server().remove_client_authority(*table.object);
    };
    Hand& owner = table.hand_on(0);
    owner.cards.add(2);
    owner.cards.add(3);
    owner.cards.add(4);
    table.game.settle();
    CHECK(table.hand().cards.items() == std::vector{1, 2});
    CHECK(table.hand_on(1).cards.items() == std::vector{1, 2});
}

TEST_CASE("Owned collections: what the owner does arrives at the server and at all others",
          "[behaviours]") {
    Table table;
    CHECK(table.hand_on(0).cards.items() == Cards{1});
    CHECK_FALSE(table.hand_on(0).cards.is_read_only());
    std::vector<std::string> told;
    const auto tell = [&](const char* who) {
        return [&told, who](std::uint32_t index) { told.push_back(who + std::to_string(index)); };
    };
    table.hand().cards.on_add = tell("server ");
    table.hand_on(0).cards.on_add = tell("owner ");
    table.hand_on(1).cards.on_add = tell("other ");
    CHECK(table.hand_on(0).cards.add(2));
    CHECK(table.hand_on(0).marks.add(9));
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1, 2});
    CHECK(table.hand_on(1).cards.items() == Cards{1, 2});
    CHECK(table.hand_on(0).cards.items() == Cards{1, 2});
    CHECK(equal(table.hand(), table.hand_on(1)));
    // Told where it arrives, and not at who did it.
    CHECK(told == std::vector<std::string>{"server 1", "other 1"});
    table.game.join();
    table.game.settle();
    CHECK(equal(table.hand(), table.hand_on(2)));
}

TEST_CASE("Owned collections: who does not own them may not write, the server neither",
          "[behaviours]") {
    Table table;
    CHECK(table.hand_on(1).cards.is_read_only());
    CHECK_FALSE(table.hand_on(1).cards.add(5));
    CHECK(table.hand().cards.is_read_only());
    CHECK_FALSE(table.hand().cards.add(5));
    REQUIRE(table.game.server().remove_client_authority(*table.object));
    CHECK(table.hand().cards.add(6));
    table.game.settle();
    CHECK_FALSE(table.hand_on(0).cards.add(7));
    CHECK(table.hand_on(0).cards.items() == Cards{1, 6});
    CHECK(table.hand_on(1).cards.items() == Cards{1, 6});
    REQUIRE(table.game.server().assign_client_authority(*table.object, table.game.connection(1)));
    table.game.settle();
    CHECK(table.hand_on(1).cards.add(8));
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1, 6, 8});
    CHECK(table.hand_on(0).cards.items() == Cards{1, 6, 8});
}

TEST_CASE("Owned collections: on a host its own are written there", "[behaviours]") {
    ArenaGame game({}, add_hand);
    game.join();
    NetworkConnection& host = game.server().start_host();
    game.settle();
    NetworkIdentity& object = game.spawn(game.types().find("Hand"), &host);
    game.settle();
    CHECK(object.component<Hand>(0).cards.add(3));
    game.settle();
    CHECK(game.on_client(0, object)->component<Hand>(0).cards.items() == Cards{3});
}

TEST_CASE("Owned collections: owners that come and go end equal, whatever is lost",
          "[behaviours]") {
    const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{21}));
    CAPTURE(seed);
    ArenaOptions options;
    options.seed = seed;
    options.link.loss = 0.25;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.25;
    Table table(options);
    SeededRandom random(seed);
    for (int step = 0; step < 500; ++step) {
        if (step == 250) {
            table.game.join();  // late
        }
        if (random.below(40) == 0) {
            NetworkServer& server = table.game.server();
            if (table.object->connection_to_client().value != 0) {
                (void)server.remove_client_authority(*table.object);
            } else {
                REQUIRE(server.assign_client_authority(*table.object,
                                                       table.game.connection(random.below(2))));
            }
        }
        if (random.below(60) == 0) {  // also while it is under way
            NetworkConnection& connection = table.game.connection(0);
            connection.is_ready() ? table.game.server().set_client_not_ready(connection)
                                  : table.game.server().set_client_ready(connection);
        }
        change(table.hand(), random);
        for (const std::size_t client : {0u, 1u}) {
            if (NetworkIdentity* shown = table.game.on_client(client, *table.object)) {
                change(shown->component<Hand>(0), random);
            }
        }
        table.game.tick();
    }
    table.game.server().set_client_ready(table.game.connection(0));
    // What an owner has not told yet the server knows nothing of: a lost call may take seconds.
    table.game.tick(1'000);
    table.game.settle();
    for (const std::size_t client : {0u, 1u, 2u}) {
        CAPTURE(client);
        // Not the SyncVar: what it is set to between two ownerships may stay (docs/unity.md).
        const Hand& shown = table.hand_on(client);
        CHECK(shown.cards.items() == table.hand().cards.items());
        CHECK(shown.bids.items() == table.hand().bids.items());
        CHECK(shown.marks.items() == table.hand().marks.items());
    }
    CHECK(table.game.server().counters().collections_refused < 100);
    CHECK(table.game.client(0).counters().collections_refused == 0);
}

TEST_CASE("Owned collections: many changes in a tick go in calls that the server takes",
          "[behaviours]") {
    Table table;
    Hand& own = table.hand_on(0);
    for (std::int32_t i = 0; i < 60; ++i) {
        CHECK(own.cards.add(i));
    }
    CHECK_FALSE((own.cards.add(0) && own.cards.add(0) && own.cards.add(0) && own.cards.add(0)));
    for (int i = 0; i < 2'000; ++i) {
        own.cards.insert(0, 7);
        own.cards.remove_at(0);
    }
    table.game.settle();
    table.game.tick(1'000);
    table.game.settle();
    CHECK(table.hand().cards.items() == own.cards.items());
    CHECK(equal(table.hand(), table.hand_on(1)));
    CHECK(own.cards.waiting_count() == 0);
}

TEST_CASE("Hostile owner: operations that cannot be are refused whole, and it is told all again",
          "[behaviours]") {
    Table table;
    const std::uint32_t epoch = 1;
    CHECK(table.forge(0, epoch, {{OnCard::Add, 1, 2}, {OnCard::Set, 9, 9}}) == CallResult::Sent);
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1});
    CHECK(table.game.server().counters().collections_refused == 1);
    CHECK(table.hand_on(0).cards.add(2));  // under the next epoch
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1, 2});
    for (const auto& operations :
         std::vector<std::vector<CardChange>>{{{static_cast<OnCard>(9), 0, 0}},
                                              {{OnCard::RemoveAt, 2, 0}},
                                              {{OnCard::Insert, 3, 0}},
                                              {{OnCard::Add, 0, 0}},
                                              {{OnCard::Set, ~0u, 0}},
                                              {{OnCard::Clear, 0, 0}, {OnCard::RemoveAt, 0, 0}}}) {
        // With every epoch that may be the one, of which one is.
        for (std::uint32_t guess = 0; guess < 12; ++guess) {
            (void)table.forge(0, guess, operations);
            table.game.tick(3);
        }
    }
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1, 2});
    CHECK(table.hand_on(1).cards.items() == Cards{1, 2});
    CHECK(table.hand_on(0).cards.items() == Cards{1, 2});
    CHECK(table.game.server().counters().collections_refused >= 60);
}

TEST_CASE("Hostile client: who does not own a collection calls nothing of it", "[behaviours]") {
    Table table;
    (void)table.forge(1, 1, {{OnCard::Clear, 0, 0}});
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1});
    CHECK(table.hand_on(0).cards.items() == Cards{1});
}

TEST_CASE("Hostile server: items that an owner cannot have are refused, and what it has stays",
          "[behaviours]") {
    using Entry = SyncDictionaryEntry<std::string, std::int32_t>;
    Table table;
    const NetObjectId id =
        table.game.server().driver().find_object({reinterpret_cast<std::uintptr_t>(table.object)});
    const auto send = [&](const char* function, const auto& state) {
        REQUIRE(table.game.server().driver().call_function(id, function, &state) ==
                CallResult::Sent);
        table.game.settle();
    };
    Hand& own = table.hand_on(0);
    REQUIRE(own.bids.set("a", 1));
    table.game.settle();
    const detail::CollectionState<Entry> twice{{{"b", 1}, {"b", 2}}, 5};
    const detail::CollectionState<std::uint32_t> unsorted{{2, 1}, 5};
    const detail::CollectionState<std::int32_t> none{{}, 0};
    for (const char* suffix : {"to_owner", "to_last_owner"}) {
        send(("0.bids." + std::string(suffix)).c_str(), twice);
        send(("0.marks." + std::string(suffix)).c_str(), unsorted);
    }
    send("0.cards.to_owner", none);  // of no ownership
    CHECK(own.bids.items() == std::vector<Entry>{{"a", 1}});
    CHECK(own.marks.empty());
    CHECK(own.cards.items() == Cards{1});
    CHECK(table.game.client(0).counters().collections_refused == 4);
}

TEST_CASE("Owned collections: audiences that cannot be are refused by name", "[behaviours]") {
    NetworkTypes types;
    SyncSettings settings;
    settings.sync_direction = SyncDirection::ClientToServer;
    settings.sync_mode = SyncMode::Owner;
    const BehaviourType* hand = describe_hand(types);
    const auto prefab = types.add_prefab("Hand", {{hand, settings}});
    REQUIRE((!prefab || !types.freeze()));
    NetworkTypes others;
    settings.sync_direction = SyncDirection::ServerToClient;
    settings.sync_mode = SyncMode::ExcludeOwner;
    const auto excluded = others.add_prefab("Hand", {{describe_hand(others), settings}});
    REQUIRE((!excluded || !others.freeze()));
}

TEST_CASE("Owned collections: operations go as often as the server takes updates", "[behaviours]") {
    Table table(options_of_1000_updates({}));
    check_1000_updates_a_second(
        table.game, table.game.types().find("Hand"),
        [](NetworkIdentity& hand) { REQUIRE(hand.component<Hand>(0).cards.add(3)); },
        [](const NetworkIdentity& hand) {
            return hand.component<Hand>(0).cards.items() == Cards{3};
        });
}

TEST_CASE("Owned collections: an owner writes under the ownership of which it was told all",
          "[behaviours]") {
    Table table;
    Hand& own = table.hand_on(0);
    table.tell_owner_epoch(7);
    CHECK(own.cards.is_read_only());  // It has the items of another one.
    table.tell_owner("0.cards.to_owner", detail::CollectionState<std::int32_t>{{4}, 8});
    CHECK(own.cards.items() == Cards{4});
    CHECK(own.cards.is_read_only());  // also if that is later than what was said of the rest
    table.tell_owner("0.cards.to_owner", detail::CollectionState<std::int32_t>{{5}, 7});
    CHECK_FALSE(own.cards.is_read_only());
}

TEST_CASE("Owned collections: what was done under one ownership is not told under another",
          "[behaviours]") {
    Table table({}, 1'000'000);
    table.game.tick(60);
    Hand& own = table.hand_on(0);
    REQUIRE(own.cards.add(2));
    table.game.settle();
    REQUIRE(table.hand().cards.items() == Cards{1, 2});
    REQUIRE(own.cards.add(3));  // due in a second
    table.tell_owner_epoch(7);
    CHECK(own.cards.waiting_count() == 1);
    table.game.tick(100);
    CHECK(own.cards.waiting_count() == 1);
    CHECK(table.hand().cards.items() == Cards{1, 2});
    // Told all of the other one it has that.
    table.tell_owner("0.cards.to_owner", detail::CollectionState<std::int32_t>{{5}, 7});
    CHECK(own.cards.waiting_count() == 0);
    CHECK(own.cards.items() == Cards{5});
    table.game.tick(100);
    CHECK(table.hand().cards.items() == Cards{1, 2});
}

TEST_CASE("Owned collections: who is the owner no more by the server's word may not write",
          "[behaviours]") {
    Table table;
    REQUIRE_FALSE(table.hand_on(0).cards.is_read_only());
    table.game.server().driver().clear_owner(table.id());
    table.game.settle();
    CHECK(table.hand_on(0).cards.is_read_only());
    CHECK_FALSE(table.hand_on(0).cards.add(2));
}

TEST_CASE("Owned collections: operations of another ownership are refused", "[behaviours]") {
    Table table;
    for (const std::uint32_t epoch : {0u, 2u}) {
        CHECK(table.forge(0, epoch, {{OnCard::Add, 1, 5}}) == CallResult::Sent);
        table.game.settle();
        CHECK(table.hand().cards.items() == Cards{1});
    }
    CHECK(table.game.server().counters().collections_refused == 2);
    CHECK(table.forge(0, 1, {{OnCard::Add, 1, 5}}) == CallResult::Sent);
    table.game.settle();
    CHECK(table.hand().cards.items() == Cards{1, 5});
}

TEST_CASE("Owned collections: a callback that ends the object ends what its owner did to it",
          "[behaviours]") {
    Table table;
    table.hand().cards.on_add = [&](std::uint32_t) { table.game.server().unspawn(*table.object); };
    REQUIRE(table.hand_on(0).cards.add(2));
    REQUIRE(table.hand_on(0).cards.add(3));
    table.game.settle();
    CHECK_FALSE(table.object->is_spawned());
    CHECK(table.hand().cards.items() == Cards{1, 2});
    CHECK(table.hand().cards.waiting_count() == 0);
}

TEST_CASE("Owned collections: what an owner did and did not tell is gone with its ownership",
          "[behaviours]") {
    ArenaOptions options;
    options.config.calls_waiting_max = 4;
    Table table(options);
    Hand& own = table.hand_on(0);
    table.cut(ArenaGame::client_peer(0), PeerId{1});
    for (std::int32_t i = 0; i < 10; ++i) {
        REQUIRE(own.cards.add(i));
        table.game.tick();
    }
    REQUIRE(own.cards.waiting_count() > 0);
    REQUIRE(table.game.server().remove_client_authority(*table.object));
    table.game.tick(20);
    CHECK(own.cards.waiting_count() == 0);
    CHECK(own.cards.items() == Cards{1});
}

TEST_CASE("Owned collections: what an owner does while it is not shown the object goes nowhere",
          "[behaviours]") {
    Table table;
    table.game.server().set_client_not_ready(table.game.connection(0));
    table.game.tick(20);
    const LogSpy log;
    REQUIRE(table.hand_on(0).cards.add(2));
    table.game.tick(20);
    CHECK(LogSpy::messages().empty());
    CHECK(table.hand_on(0).cards.items() == Cards{1, 2});
    table.game.server().set_client_ready(table.game.connection(0));
    table.game.settle();
    CHECK(table.hand_on(0).cards.items() == Cards{1});
}

TEST_CASE("Owned collections: what an owner has stays while it is shown the object anew",
          "[behaviours]") {
    Table table;
    Hand& owner = table.hand_on(0);
    constexpr std::uint32_t bid_count = 60;
    for (std::uint32_t i = 0; i < bid_count; ++i) {
        // More than a message holds, so they come in parts.
        owner.bids.set(std::string(1'000, 'b') + std::to_string(i), static_cast<std::int32_t>(i));
    }
    owner.cards.add(2);
    owner.marks.add(9);
    owner.top = 7;
    table.game.settle();
    REQUIRE(equal(table.hand(), owner));
    for (int round = 0; round < 3; ++round) {
        table.game.server().set_client_not_ready(table.game.connection(0));
        table.game.tick(20);
        table.game.server().set_client_ready(table.game.connection(0));
        for (int i = 0; i < 60; ++i) {
            table.game.tick();
            const Hand& shown = table.hand_on(0);
            REQUIRE(&shown == &owner);
            CHECK(shown.top == 7);
            CHECK(shown.cards.items() == Cards{1, 2});
            CHECK(shown.marks.contains(9));
            CHECK(shown.bids.size() > 0);
        }
        table.game.settle();
        REQUIRE(equal(table.hand(), owner));
        REQUIRE(equal(table.hand(), table.hand_on(1)));
        CHECK_FALSE(owner.bids.is_read_only());
        owner.bids.remove(std::string(1'000, 'b') + std::to_string(round));
        owner.bids.set("new", round);
        table.game.settle();
        REQUIRE(equal(table.hand(), owner));
    }
    CHECK(owner.bids.refused_count() == 0);
}

TEST_CASE("Owned collections: an owner for whose calls there is no room is told all of it later",
          "[behaviours]") {
    ArenaOptions options;
    options.config.calls_waiting_max = 4;
    Table table(options);
    NetworkServer& server = table.game.server();
    REQUIRE(server.remove_client_authority(*table.object));
    table.game.settle();
    // Two calls of four that nobody hears; then all again: SyncVars, cards, bids, marks.
    table.cut(PeerId{1}, ArenaGame::client_peer(0));
    const LogSpy log;
    REQUIRE(table.hand().cards.add(7));
    table.game.tick();
    REQUIRE(table.hand().cards.add(8));
    table.game.tick();
    REQUIRE(server.assign_client_authority(*table.object, table.game.connection(0)));
    table.game.tick(10);
    table.game.network().heal();
    table.game.settle();
    table.game.tick(50);
    CHECK(LogSpy::messages().empty());
    Hand& own = table.hand_on(0);
    CHECK_FALSE(own.cards.is_read_only());
    CHECK_FALSE(own.bids.is_read_only());
    CHECK_FALSE(own.marks.is_read_only());
    CHECK(own.cards.items() == Cards{1, 7, 8});
}

TEST_CASE("Owned collections: who is told all before it knows that it is the owner asks once more",
          "[behaviours]") {
    for (const bool is_lost_again : {false, true}) {
        CAPTURE(is_lost_again);
        ArenaOptions options;
        options.config.client_updates_per_second_max = 45;
        options.config.client_updates_burst_max = 16;
        Table table(options);
        ArenaGame& game = table.game;
        NetworkServer& server = game.server();
        std::vector<NetworkIdentity*> others;
        for (int i = 0; i < 60; ++i) {
            others.push_back(&game.spawn(game.types().find("Hand"), &game.connection(0)));
        }
        REQUIRE(server.remove_client_authority(*table.object));
        game.settle();
        // The word of it is lost, and comes later than what it is told as the owner.
        game.server_transport().set_script([](Bytes&) { return false; });
        server.driver().set_owner(table.id(), ArenaGame::client_peer(0));
        game.tick();
        game.server_transport().set_script({});
        REQUIRE(server.assign_client_authority(*table.object, game.connection(0)));
        // What it says of others is before it in the row.
        for (const NetworkIdentity* other : others) {
            REQUIRE(game.on_client(0, *other)->component<Hand>(0).cards.add(3));
        }
        Hand& own = table.hand_on(0);
        for (int i = 0; i < 20 && !own.is_owned(); ++i) {
            game.tick();
        }
        REQUIRE(own.is_owned());
        CHECK(own.cards.is_read_only());
        if (is_lost_again) {
            server.driver().clear_owner(table.id());
            for (int i = 0; i < 10 && own.is_owned(); ++i) {
                game.tick();
            }
            REQUIRE_FALSE(own.is_owned());
        }
        game.tick(100);
        game.settle();
        CHECK(others.back()->component<Hand>(0).cards.items() == Cards{3});
        CHECK(own.cards.is_read_only() == is_lost_again);
        // Who is no owner any more does not ask.
        CHECK(server.driver().stats().calls_not_owned == 0);
    }
}

}  // namespace
}  // namespace replayout::test::owned_collection_test
