// SPDX-License-Identifier: MIT
//
// Within an object and a tick things come in the order of the program: state, then the call that
// was made after it; and calls wait for the start of their object.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/ledger_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

[[nodiscard]] Ledger& ledger_on(ArenaGame& game, std::size_t client, const NetworkIdentity& object,
                                std::size_t component = 0) {
    NetworkIdentity* shown = game.on_client(client, object);
    REQUIRE(shown != nullptr);
    return shown->component<Ledger>(component);
}

[[nodiscard]] SyncSettings each_100_ms() {
    SyncSettings how;
    how.sync_interval_us = 100'000;
    return how;
}

}  // namespace

TEST_CASE("Program order: a call finds the collections and sections that were changed before it",
          "[behaviours]") {
    const bool has_interval = GENERATE(false, true);
    CAPTURE(has_interval);
    ArenaGame game({}, add_ledgers(has_interval ? each_100_ms() : SyncSettings{}));
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Ledger"));
    game.settle();
    Ledger& server = object.component<Ledger>(0);
    Note& note = object.component<Note>(2);
    for (std::int32_t count = 1; count <= 20; ++count) {
        write(server, count);
        note.count = count;
        note.set_dirty_bit(1);
        CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Sent);
        game.tick();
    }
    game.settle();
    const Ledger& shown = ledger_on(game, 0, object);
    CHECK(shown.call_count == 20);
    CHECK(shown.stale_count == 0);
}

TEST_CASE("Program order: between two calls of a tick each finds what was written before it",
          "[behaviours]") {
    ArenaGame game({}, add_ledgers({}));
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Plain"));
    game.settle();
    Ledger& server = object.component<Ledger>(0);
    (void)server.list.add(1);
    (void)server.call<&Ledger::rpc_check>(counts_of(server));
    (void)server.list.add(2);
    (void)server.call<&Ledger::rpc_check>(counts_of(server));
    (void)server.list.add(3);
    game.settle();
    // A collection comes in its operations, and so exactly in the order of the program.
    CHECK(ledger_on(game, 0, object).told == Told{"start client", "call 0,1", "call 0,2"});
    CHECK(ledger_on(game, 0, object).list.items() == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("Program order: what an owner assigns, then calls, the server finds in that order",
          "[behaviours]") {
    const bool has_interval = GENERATE(false, true);
    CAPTURE(has_interval);
    ArenaGame game({}, add_ledgers(has_interval ? each_100_ms() : SyncSettings{}));
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Ledger"), &game.connection(0));
    game.settle();
    Ledger& own = ledger_on(game, 0, object, 1);
    Ledger& server = object.component<Ledger>(1);
    for (std::int32_t count = 1; count <= 20; ++count) {
        write(own, count);
        CHECK(own.call<&Ledger::cmd_check>(counts_of(own)) == CallResult::Sent);
        game.tick();
    }
    game.settle();
    CHECK(server.call_count == 20);
    CHECK(server.stale_count == 0);

    // A command that takes the object from its owner finds what was assigned, and it stays.
    server.on_call = [&](Ledger&) { game.server().remove_client_authority(object); };
    own.value = 77;
    (void)own.call<&Ledger::cmd_check>(counts_of(own));
    game.settle();
    game.tick(50);
    CHECK(server.value == 77);
    CHECK(ledger_on(game, 0, object, 1).value == 77);
}

TEST_CASE("Program order: whatever is written and lost, no call finds less than when it was made",
          "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        CAPTURE(seed);
        const std::uint64_t round = seed % 6;
        SeededRandom random(seed);
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.05 * static_cast<double>(round);
        options.link.reorder = 0.1;
        options.tick_ms = round % 2 == 0 ? 20 : 7;
        SyncSettings how;
        how.sync_interval_us = round % 3 == 2 ? 60'000 : 0;
        ArenaGame game(options, add_ledgers(how));
        game.join_settled(2);
        std::vector<NetworkIdentity*> objects;
        for (int i = 0; i < 3; ++i) {
            objects.push_back(&game.spawn(game.types().find("Ledger"), &game.connection(0)));
        }
        game.settle();
        game.tick(30);
        std::int32_t count = 0;
        for (int tick = 0; tick < 400; ++tick) {
            for (NetworkIdentity* object : objects) {
                for (std::uint32_t i = random.below(4); i > 0; --i) {
                    write_some(object->component<Ledger>(0), ++count, random);
                    if (random.below(6) == 0) {
                        Ledger& ledger = object->component<Ledger>(0);
                        (void)ledger.call<&Ledger::rpc_check>(counts_of(ledger));
                    }
                }
                NetworkIdentity* shown = game.on_client(0, *object);
                for (std::uint32_t i = random.below(3); i > 0; --i) {
                    write_some(shown->component<Ledger>(1), ++count, random);
                    if (random.below(9) == 0) {
                        Ledger& own = shown->component<Ledger>(1);
                        Counts counts = counts_of(own);
                        counts.note = 0;
                        (void)own.call<&Ledger::cmd_check>(counts);
                    }
                }
            }
            game.tick();
        }
        game.settle();
        game.tick(100);
        for (NetworkIdentity* object : objects) {
            CHECK(object->component<Ledger>(1).call_count > 0);
            CHECK(object->component<Ledger>(1).stale_count == 0);
            for (std::size_t client = 0; client < 2; ++client) {
                const Ledger& shown = ledger_on(game, client, *object);
                CHECK(shown.call_count > 0);
                CHECK(shown.stale_count == 0);
                CHECK(shown.list.items() == object->component<Ledger>(0).list.items());
                CHECK(ledger_on(game, client, *object, 1).list.items() ==
                      object->component<Ledger>(1).list.items());
            }
        }
    }
}

TEST_CASE("Program order: a call of the tick of the spawn runs after hooks and start",
          "[behaviours]") {
    ArenaGame game({}, add_ledgers({}));
    game.join_settled();
    NetworkIdentity& object = game.server().instantiate(game.types().find("Plain"));
    Ledger& server = object.component<Ledger>(0);
    server.value = 7;
    REQUIRE(game.server().spawn(object));
    CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Sent);
    game.settle();
    CHECK(ledger_on(game, 0, object).told == Told{"hook 7", "start client", "call 7,0"});
}

TEST_CASE("Program order: a client that joins runs no call of an object before its start",
          "[behaviours]") {
    ArenaOptions options;
    options.config.bytes_per_second_max = GENERATE(0u, 60'000u);
    ArenaGame game(options, add_ledgers({}));
    std::vector<NetworkIdentity*> objects;
    for (int i = 0; i < 300; ++i) {
        objects.push_back(&game.spawn(game.types().find("Plain")));
    }
    game.join();
    std::uint32_t called = 0;
    for (int tick = 0; tick < 400; ++tick) {
        Ledger& one = objects[static_cast<std::size_t>(tick * 7 % 300)]->component<Ledger>(0);
        one.value = tick + 1;
        const CallResult result = tick % 2 == 0 ? one.call<&Ledger::rpc_check>(counts_of(one))
                                                : one.call<&Ledger::rpc_glance>(counts_of(one));
        called += result == CallResult::Sent ? 1u : 0u;
        game.tick();
    }
    game.settle();
    std::uint32_t heard = 0;
    for (const NetworkIdentity* object : objects) {
        const Ledger& shown = ledger_on(game, 0, *object);
        CHECK(shown.early_count == 0);
        CHECK(shown.stale_count == 0);
        heard += shown.call_count;
    }
    CHECK(heard == called);
}

TEST_CASE("Program order: where more waits than may, the object starts before its batch is whole",
          "[behaviours]") {
    ArenaOptions options;
    options.config.reliable_waiting_max = 16;
    options.config.bytes_per_second_max = 20'000;
    ArenaGame game(options, add_ledgers({}));
    std::vector<NetworkIdentity*> objects;
    for (int i = 0; i < 300; ++i) {
        objects.push_back(&game.spawn(game.types().find("Plain")));
    }
    game.join();
    for (int tick = 0; tick < 400; ++tick) {
        Ledger& first = objects[0]->component<Ledger>(0);
        (void)first.call<&Ledger::rpc_check>(counts_of(first));
        game.tick();
        REQUIRE((tick < 5 || game.server().driver().connection_count() == 1));
    }
    game.settle();
    CHECK(ledger_on(game, 0, *objects[0]).early_count == 0);
    CHECK(ledger_on(game, 0, *objects[0]).call_count > 100);
}

TEST_CASE("Program order: an object that comes and goes at once starts, hears, and stops",
          "[behaviours]") {
    ArenaGame game({}, add_ledgers({}));
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Plain"));
    Ledger& server = object.component<Ledger>(0);
    CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Sent);
    game.tick_server();
    game.server().destroy(object);
    game.tick_server();
    game.tick_server();
    Ledger::last_told.clear();
    game.settle();
    CHECK(Ledger::last_told == Told{"start client", "call 0,0", "stop client"});
}

TEST_CASE("Program order: the callback that adds a player may greet it", "[behaviours]") {
    class Greeter : public ArenaManager {
      public:
        std::vector<CallResult> answers;
        void on_server_add_player(NetworkServer& server, NetworkConnection& connection) override {
            NetworkIdentity& player = server.instantiate(*player_prefab);
            REQUIRE(server.add_player_for_connection(connection, player));
            Ledger& ledger = player.component<Ledger>(0);
            write(ledger, 5);
            answers.push_back(ledger.call<&Ledger::target_check>(counts_of(ledger)));
            answers.push_back(ledger.call<&Ledger::rpc_check>(counts_of(ledger)));
        }
    };
    const bool is_host = GENERATE(false, true);
    CAPTURE(is_host);
    ArenaTypes types({}, add_ledgers({}));
    Greeter manager;
    manager.player_prefab = &types.find("Ledger");
    manager.auto_create_player = true;
    SimulatedNetwork network({{}, 1'200, 1u << 16}, 1, std::pmr::get_default_resource());
    NetDriverSettings settings;
    settings.seed = 1;
    NetworkServer server(settings, network.endpoint(PeerId{1}), types.get(), manager);
    REQUIRE(server.listen().has_value());
    NetTime now;
    settings.seed = 2;
    NetworkClient client(settings, network.endpoint(PeerId{2}), types.get(), manager);
    if (is_host) {
        server.start_host();
    } else {
        REQUIRE(client.connect(PeerId{1}, now).has_value());
    }
    for (int tick = 0; tick < 40; ++tick) {
        now = now.plus_milliseconds(20);
        network.advance(now);
        server.early_update(now);
        server.late_update(now);
        if (!is_host) {
            client.early_update(now);
            client.late_update(now);
        }
    }
    REQUIRE(manager.answers.size() == 2);
    CHECK(manager.answers.back() == (is_host ? CallResult::Ran : CallResult::Sent));
    const NetworkIdentity* player = is_host ? server.host()->identity() : client.local_player();
    REQUIRE(player != nullptr);
    const Ledger& ledger = player->component<Ledger>(0);
    CHECK(ledger.call_count == 2);
    CHECK(ledger.stale_count == 0);
    Told told = ledger.told;
    std::erase(told, "hook 5");
    CHECK(told == Told{"start client", "start local player", "call 5,5", "call 5,5"});
}

TEST_CASE("Host: its player hears what the others hear, after the start of the object",
          "[behaviours]") {
    ArenaGame game({}, add_ledgers({}));
    game.join_settled();
    game.server().start_host();
    game.settle();
    NetworkIdentity& object = game.spawn(game.types().find("Plain"));
    Ledger& server = object.component<Ledger>(0);
    write(server, 3);
    CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Sent);
    CHECK(server.call_count == 0);
    write(server, 4);
    game.settle();
    CHECK(server.call_count == 1);
    CHECK(server.early_count == 0);
    CHECK(ledger_on(game, 0, object).call_count == 1);
    (void)server.call<&Ledger::rpc_check>(counts_of(server));
    CHECK(server.call_count == 2);

    // It goes before it was shown: it starts, hears, and stops.
    NetworkIdentity& brief = game.spawn(game.types().find("Plain"));
    Ledger& short_lived = brief.component<Ledger>(0);
    (void)short_lived.call<&Ledger::rpc_check>(counts_of(short_lived));
    game.server().unspawn(brief);
    CHECK(short_lived.told == Told{"start client", "call 0,0", "stop client"});
    game.settle();
}

TEST_CASE("Sync interval: it begins wherever the clock begins", "[behaviours]") {
    ArenaOptions options;
    options.start_ms = GENERATE(std::int64_t{-3'600'000}, std::int64_t{-100}, std::int64_t{0},
                                std::int64_t{5'000'000'000});
    CAPTURE(options.start_ms);
    ArenaGame game(options, add_ledgers(each_100_ms()));
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Ledger"), &game.connection(0));
    game.settle();
    for (std::int32_t count = 1; count <= 50; ++count) {
        write(object.component<Ledger>(0), count);
        write(ledger_on(game, 0, object, 1), count);
        game.tick();
        CHECK(count - ledger_on(game, 0, object).value.get() <= 6);
        CHECK(count - object.component<Ledger>(1).value.get() <= 7);
    }
}

}  // namespace replayout::test
