// SPDX-License-Identifier: MIT
//
// Honest clients behind slow lines: whatever the game does, they stay connected, hear the calls of
// objects that go, and end equal.
#include <replayout/behaviours/sync_list.h>
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"

namespace replayout::test::slow_lines_test {
namespace {

struct Note {
    std::int32_t number = 0;
    std::string text;
};

class Shelf : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> value;
    SyncVar<std::string> label;
    SyncList<std::string> left;
    SyncList<std::string> right;

    /// What clients heard: the number of the call, and `value` as they had it.
    static inline std::vector<std::string> heard;

    void rpc_ring(const Note& note) { hear("ring", note); }
    void rpc_hint(const Note& note) { hear("hint", note); }
    void hear(const std::string& what, const Note& note) const {
        if (!is_server()) {
            heard.push_back(what + " " + std::to_string(note.number) + " at " +
                            std::to_string(value.get()));
        }
    }
};

void add_shelf(NetworkTypes& types) {
    REQUIRE(struct_builder<Note>(types.registry(), "Note")
                .property<&Note::number>()
                .property<&Note::text>()
                .build()
                .has_value());
    const auto shelf = BehaviourBuilder<Shelf>(types, "Shelf")
                           .sync_var<&Shelf::value>()
                           .sync_var<&Shelf::label>()
                           .sync_list<&Shelf::left>()
                           .sync_list<&Shelf::right>()
                           .client_rpc<&Shelf::rpc_ring>()
                           .client_rpc<&Shelf::rpc_hint>()
                           .unreliable()
                           .build();
    REQUIRE(shelf.has_value());
    PrefabOptions options;
    options.limits.array_count_max = 4'000;
    REQUIRE(types.add_prefab("ShelfPrefab", {{*shelf}}, options).has_value());
}

/// The server's packets have a cap, those of clients have none.
[[nodiscard]] ArenaOptions capped(std::uint32_t bytes_per_second) {
    ArenaOptions options;
    options.tick_ms = 33;
    options.client_config = NetConfig();
    options.config.bytes_per_second_max = bytes_per_second;
    Shelf::heard.clear();
    return options;
}

[[nodiscard]] NetworkIdentity& fill_shelf(ArenaGame& game, std::uint32_t count) {
    NetworkIdentity& object = game.server().instantiate(game.types().find("ShelfPrefab"));
    Shelf& shelf = object.component<Shelf>(0);
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(shelf.left.add(std::string(50, static_cast<char>('a' + i % 26))));
        REQUIRE(shelf.right.add(std::string(50, 'r')));
    }
    REQUIRE(game.server().spawn(object));
    return object;
}

void set_some(Shelf& shelf, std::uint32_t number) {
    const std::string text(50, static_cast<char>('A' + number % 26));
    REQUIRE(shelf.left.set(number % shelf.left.size(), text));
    REQUIRE(shelf.right.set(number % shelf.right.size(), text));
}

void check_shelf(ArenaGame& game, NetworkIdentity& object) {
    REQUIRE(game.client(0).is_connected());
    NetworkIdentity* const shown = game.on_client(0, object);
    REQUIRE(shown != nullptr);
    const Shelf& here = object.component<Shelf>(0);
    const Shelf& there = shown->component<Shelf>(0);
    CHECK(there.left.items() == here.left.items());
    CHECK(there.right.items() == here.right.items());
    CHECK(there.left.refused_count() + there.right.refused_count() == 0);
}

void join_ready(ArenaGame& game) {
    game.join();
    for (int i = 0; i < 200 && game.server().find_connection(ArenaGame::client_peer(0)) == nullptr;
         ++i) {
        game.tick();
    }
    game.server().set_client_ready(game.connection(0));
}

}  // namespace

TEST_CASE("Slow lines: large collections that change are equal after they were hidden and shown",
          "[behaviours]") {
    for (const std::uint32_t cap : {8'000u, 20'000u}) {
        for (const std::uint32_t hidden_at : {60u, 90u, 150u}) {
            CAPTURE(cap, hidden_at);
            ArenaGame game(capped(cap), add_shelf);
            NetworkIdentity& object = fill_shelf(game, 1'200);
            join_ready(game);
            for (std::uint32_t i = 0; i < 900; ++i) {
                if (i % 30 == 0) {
                    set_some(object.component<Shelf>(0), i / 30);
                }
                if (i == hidden_at) {
                    REQUIRE(game.server().hide_from(object, game.connection(0)));
                }
                if (i == hidden_at + 30) {
                    REQUIRE(game.server().show_to(object, game.connection(0)));
                }
                game.tick();
            }
            game.settle(4'000);
            game.tick(400);  // a client asks again after a while
            game.settle(4'000);
            check_shelf(game, object);
        }
    }
}

TEST_CASE(
    "Slow lines: a client that joins a large collection that keeps changing stays, and is equal",
    "[behaviours]") {
    ArenaGame game(capped(10'000), add_shelf);
    NetworkIdentity& object = fill_shelf(game, 1'750);
    join_ready(game);
    for (std::uint32_t i = 0; i < 1'500; ++i) {
        set_some(object.component<Shelf>(0), i);
        if (i % 30 == 0) {
            (void)object.component<Shelf>(0).call<&Shelf::rpc_ring>({1, ""});
        }
        game.tick();
        REQUIRE(game.client(0).driver().state() == ConnectionState::Joined);
    }
    game.settle(8'000);
    game.tick(400);
    game.settle(4'000);
    check_shelf(game, object);
}

TEST_CASE("Slow lines: a large collection is sent once to a client that joins", "[behaviours]") {
    ArenaGame game(capped(5'000), add_shelf);
    NetworkIdentity& object = fill_shelf(game, 1'000);
    join_ready(game);
    game.settle(8'000);
    game.tick(400);
    game.settle(4'000);
    check_shelf(game, object);
    // Two lists of 1,000 items of 50 bytes.
    CHECK(game.server().driver().stats().bytes_sent < 150'000);
}

TEST_CASE("Slow lines: a client hears that it is not ready, however many calls go before that",
          "[behaviours]") {
    ArenaGame game(capped(1'800), add_shelf);
    NetworkIdentity& object = fill_shelf(game, 1);
    join_ready(game);
    game.settle();
    for (std::int32_t i = 0; i < 60; ++i) {
        REQUIRE(object.component<Shelf>(0).call<&Shelf::rpc_ring>({i, std::string(500, 'n')}) ==
                CallResult::Sent);
    }
    game.server().set_client_not_ready(game.connection(0));
    game.tick(1'200);
    CHECK(game.client(0).is_connected());
    CHECK_FALSE(game.client(0).is_ready());
    CHECK(Shelf::heard.size() == 60);
    CHECK(game.server().counters().answers_missing == 0);
}

TEST_CASE("Slow lines: a call of an object that goes does not wait for a batch of others",
          "[behaviours]") {
    ArenaGame game(capped(1'800), add_shelf);
    NetworkIdentity& small = fill_shelf(game, 1);
    for (int i = 0; i < 60; ++i) {
        NetworkIdentity& object = fill_shelf(game, 1);
        object.component<Shelf>(0).label = std::string(1'000, 'z');
    }
    join_ready(game);
    game.tick(60);
    REQUIRE(game.on_client(0, small) != nullptr);
    REQUIRE_FALSE(game.client(0).is_spawn_finished());
    REQUIRE(small.component<Shelf>(0).call<&Shelf::rpc_ring>({7, ""}) == CallResult::Sent);
    game.server().destroy(small);
    game.tick(270);
    REQUIRE_FALSE(game.client(0).is_spawn_finished());
    CHECK(Shelf::heard == std::vector<std::string>{"ring 7 at 0"});
    CHECK(game.server().driver().stats().calls_dropped == 0);
}

TEST_CASE("Slow lines: an unreliable call finds its state, if its object goes in the same tick",
          "[behaviours]") {
    for (const int end : {0, 1, 2}) {
        CAPTURE(end);
        ArenaOptions options = capped(0);
        options.link.latency_ms = 60;
        ArenaGame game(options, add_shelf);
        NetworkIdentity& object = fill_shelf(game, 1);
        join_ready(game);
        game.settle();
        Shelf& shelf = object.component<Shelf>(0);
        // A reliable call that is under way keeps the object.
        REQUIRE(shelf.call<&Shelf::rpc_ring>({1, ""}) == CallResult::Sent);
        game.tick();
        shelf.value = 2;
        (void)shelf.call<&Shelf::rpc_hint>({2, ""});
        if (end == 0) {
            game.server().destroy(object);
        } else if (end == 1) {
            game.server().unspawn(object);
        } else {
            REQUIRE(game.server().hide_from(object, game.connection(0)));
        }
        game.settle();
        for (const std::string& heard : Shelf::heard) {
            CHECK((heard == "ring 1 at 0" || heard == "hint 2 at 2"));
        }
    }
}

}  // namespace replayout::test::slow_lines_test
