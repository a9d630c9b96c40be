// SPDX-License-Identifier: MIT
//
// SyncDirection::ClientToServer: the owner decides, and the server passes it on to all others.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/checks/seeded_random.h"
#include "support/networks/call_rate.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

[[nodiscard]] ArenaOptions owners_decide() {
    ArenaOptions options;
    options.fighter.sync_direction = SyncDirection::ClientToServer;
    return options;
}

/// Two clients, and a pawn that the first of them owns.
struct Duel {
    ArenaGame game;
    NetworkIdentity* pawn = nullptr;

    explicit Duel(const ArenaOptions& options = owners_decide()) : game(options) {
        game.join_settled(2);
        pawn = &game.server().instantiate(game.types().pawn());
        pawn->component<Fighter>(0).health = 70;
        pawn->component<Fighter>(0).name = "server's";
        REQUIRE(game.server().spawn(*pawn, &game.connection(0)));
        game.settle();
    }
    [[nodiscard]] Fighter& server() { return pawn->component<Fighter>(0); }
    [[nodiscard]] Fighter& owner() { return game.fighter_on(0, *pawn); }
    [[nodiscard]] Fighter& other() { return game.fighter_on(1, *pawn); }

    /// Calls a function of the pawn from a client with a section of the test's own making.
    CallResult forge(std::size_t client, const char* function, std::uint64_t mask,
                     std::uint32_t epoch, std::int32_t health) {
        const Type* type = nullptr;
        for (const RepFunction& known : game.types().pawn().layout().functions()) {
            if (known.function->name == "0.sync_to_server") {
                type = &known.parameters->type();
            }
        }
        REQUIRE(type != nullptr);
        Fighter section;
        section.health = health;
        auto* bytes = reinterpret_cast<std::byte*>(&section);
        for (const Property& property : type->properties()) {
            if (property.name == "#mask") {
                std::memcpy(bytes + property.offset, &mask, sizeof(mask));
            } else if (property.name == "#epoch") {
                std::memcpy(bytes + property.offset, &epoch, sizeof(epoch));
            }
        }
        const auto* shown = game.on_client(client, *pawn);
        return game.client(client).driver().call_function(
            ObjectHandle{reinterpret_cast<std::uintptr_t>(shown)}, function,
            CallArguments(&section, type));
    }
};

TEST_CASE("U09 ClientToServer: what the owner sets arrives at the server and at all others",
          "[behaviours]") {
    Duel duel;
    CHECK(duel.owner().health == 70);
    CHECK(duel.owner().name.get() == "server's");
    duel.owner().told.clear();
    duel.other().told.clear();
    duel.server().told.clear();
    duel.owner().health = 60;
    CHECK(duel.owner().sync_var_dirty_bits() == 1);
    CHECK(duel.owner().is_dirty());
    duel.game.settle();
    CHECK(duel.owner().sync_var_dirty_bits() == 0);
    CHECK(duel.server().health == 60);
    CHECK(duel.other().health == 60);
    // Hooks run where it is received, and not at who set it.
    CHECK(duel.server().told == Told{"health 70 -> 60"});
    CHECK(duel.other().told == Told{"health 70 -> 60"});
    CHECK(duel.owner().told.empty());
}

TEST_CASE("U09 ClientToServer: only what changed travels, and is not sent back to its owner",
          "[behaviours]") {
    Duel duel;
    const auto sent_before = duel.game.server().driver().stats().records_sent;
    duel.server().name = "as the server has it";  // on its way to the other client only
    duel.game.settle();
    CHECK(duel.owner().name.get() == "server's");
    duel.owner().health = 1;
    duel.game.settle();
    CHECK(duel.server().name.get() == "as the server has it");
    CHECK(duel.other().name.get() == "as the server has it");
    CHECK(duel.game.server().driver().stats().records_sent == sent_before + 2);
}

TEST_CASE("ClientToServer: what an owner sets within its sync interval goes at its end",
          "[behaviours]") {
    ArenaOptions options = owners_decide();
    options.fighter.sync_interval_us = 10 * options.tick_ms * 1'000;
    Duel duel(options);
    const std::uint64_t before = duel.game.client(0).driver().stats().calls_sent;
    std::int32_t health = 100;
    for (int i = 0; i < 100; ++i) {
        duel.owner().health = ++health;
        duel.game.tick();
    }
    const std::uint64_t sent = duel.game.client(0).driver().stats().calls_sent - before;
    CHECK(sent >= 9);
    CHECK(sent <= 11);
    duel.game.settle();
    CHECK(duel.server().health == health);
}

TEST_CASE("ClientToServer: what comes behind a hook that takes the object away is not written",
          "[behaviours]") {
    for (const bool is_destroyed : {false, true}) {
        INFO(is_destroyed);
        ArenaGame game(owners_decide());
        game.join();
        game.join();
        NetworkIdentity& pawn = game.server().add_scene_object(game.types().pawn(), 7);
        for (const std::size_t client : {0u, 1u}) {
            (void)game.client(client).add_scene_object(game.types().pawn(), 7);
        }
        game.settle();
        REQUIRE(game.server().spawn(pawn, &game.connection(0)));
        game.settle();
        Fighter& fighter = pawn.component<Fighter>(0);
        fighter.during_hook = [&](Fighter& hit) {
            if (is_destroyed) {
                game.server().destroy(pawn);
            } else {
                game.server().remove_client_authority(pawn);
                hit.speed = 1.0f;
                hit.name = "server's";
            }
        };
        Fighter& owner = game.fighter_on(0, pawn);
        owner.health = 1;
        owner.speed = 66.0f;
        owner.name = "owner's";
        game.settle();
        fighter.during_hook = {};
        CHECK(fighter.speed == 1.0f);
        CHECK(fighter.name.get() == (is_destroyed ? "" : "server's"));
        if (is_destroyed) {
            CHECK(fighter.told.back() == "stop server");
            REQUIRE(game.server().spawn(pawn));
            game.settle();
        }
        CHECK(game.fighter_on(1, pawn).speed == 1.0f);
        CHECK(game.fighter_on(1, pawn).name.get() == fighter.name.get());
        CHECK(game.fighter_on(1, pawn).health == (is_destroyed ? 100 : 1));
    }
}

TEST_CASE("U03 ClientToServer: an owner that changes nothing writes nothing", "[behaviours]") {
    Duel duel;
    const std::uint64_t before = duel.game.client(0).driver().stats().calls_sent;
    for (int i = 0; i < 20; ++i) {
        duel.owner().health = duel.owner().health.get();
        duel.game.tick();
    }
    CHECK(duel.game.client(0).driver().stats().calls_sent == before);
    duel.owner().health = 5;
    duel.game.settle();
    CHECK(duel.game.client(0).driver().stats().calls_sent == before + 1);
    CHECK(duel.server().health == 5);
}

TEST_CASE("U07 ClientToServer: who does not own the object tells nobody anything", "[behaviours]") {
    Duel duel;
    duel.other().health = 5;
    CHECK(duel.other().sync_var_dirty_bits() == 0);
    duel.game.settle();
    CHECK(duel.server().health == 70);
    CHECK(duel.owner().health == 70);
    const auto calls = duel.game.client(1).driver().stats().calls_sent;
    duel.other().set_dirty_bit(~std::uint64_t{0});
    duel.game.settle();
    CHECK(duel.game.client(1).driver().stats().calls_sent == calls);
}

TEST_CASE("U08 ClientToServer: what is forged changes nothing, and is counted", "[behaviours]") {
    Duel duel;
    duel.owner().health = 69;
    duel.game.settle();
    const auto& counters = duel.game.server().counters();
    // By who does not own the object.
    CHECK(duel.forge(1, "0.sync_to_server", 1, 1, 5) == CallResult::NotOwned);
    duel.game.settle();
    CHECK(duel.game.server().driver().stats().calls_not_owned == 0);
    // By the owner: variables that are none, a time that is over.
    CHECK(duel.forge(0, "0.sync_to_server", 0x11, 1, 5) == CallResult::Sent);
    CHECK(duel.forge(0, "0.sync_to_server", 1, 99, 5) == CallResult::Sent);
    CHECK(duel.forge(0, "0.sync_to_server", 1, 0, 5) == CallResult::Sent);
    duel.game.settle();
    CHECK(counters.sections_refused == 3);
    // The purse is the server's: there is no such function.
    CHECK(duel.forge(0, "1.sync_to_server", 1, 1, 5) == CallResult::UnknownFunction);
    CHECK(duel.server().health == 69);
    CHECK(duel.pawn->component<Purse>(1).gold == 0);
    // The neighbours, and the owner, go on.
    duel.owner().health = 68;
    duel.game.settle();
    CHECK(duel.server().health == 68);
    CHECK(duel.other().health == 68);
}

// All of a component is more than what a call costs that asks for it.
TEST_CASE("ClientToServer: an owner that asks for everything again is sent it once a second",
          "[behaviours]") {
    Duel duel;
    duel.owner().name = std::string(1'000, 'x');
    duel.game.settle();
    const auto bytes_sent = [&] { return duel.game.server().driver().stats().bytes_sent; };
    const std::uint64_t before = bytes_sent();
    constexpr std::int64_t ms = 5'000;
    for (std::int64_t time = 0; time < ms; time += ArenaOptions().tick_ms) {
        CHECK(duel.forge(0, "0.sync_to_server", 0, 0, 5) == CallResult::Sent);
        duel.game.tick();
    }
    const std::uint64_t sent = bytes_sent() - before;
    CHECK(sent > 3 * 1'000);
    CHECK(sent < 6 * 1'300 + 5'000);
    // It may write, and the server's calls and a new ownership wait for nothing.
    duel.owner().health = 12;
    duel.game.settle();
    CHECK(duel.server().health == 12);
    CHECK(duel.other().health == 12);
}

TEST_CASE("U33 Write permission: what the other side decides can be set, and goes nowhere",
          "[behaviours]") {
    Duel duel;
    duel.game.on_client(0, *duel.pawn)->component<Purse>(1).gold = 99;
    duel.game.settle();
    CHECK(duel.pawn->component<Purse>(1).gold == 0);
    duel.pawn->component<Purse>(1).gold = 3;
    duel.game.settle();
    CHECK(duel.game.on_client(0, *duel.pawn)->component<Purse>(1).gold == 3);
    // As in Mirror the server may set what the owner decides; it reaches all but the owner.
    duel.server().health = 1;
    duel.game.settle();
    CHECK(duel.owner().health == 70);
    CHECK(duel.other().health == 1);
    duel.owner().health = 2;
    duel.game.settle();
    CHECK(duel.server().health == 2);
    CHECK(duel.other().health == 2);
}

TEST_CASE("ClientToServer: while nobody owns it the server decides, and then the next owner",
          "[behaviours]") {
    Duel duel;
    NetworkServer& server = duel.game.server();
    REQUIRE(server.remove_client_authority(*duel.pawn));
    duel.game.settle();
    duel.server().health = 11;
    duel.owner().speed = 9.0f;  // it was the owner
    duel.game.settle();
    CHECK(duel.owner().health == 11);
    CHECK(duel.other().health == 11);
    CHECK(duel.server().speed == 1.0f);

    REQUIRE(server.assign_client_authority(*duel.pawn, duel.game.connection(1)));
    duel.server().name = "set in the same tick";
    duel.game.settle();
    CHECK(duel.other().name.get() == "set in the same tick");
    duel.other().health = 12;
    duel.game.settle();
    CHECK(duel.server().health == 12);
    CHECK(duel.owner().health == 12);
}

TEST_CASE("ClientToServer: an owner that is shown the object later has what the server has",
          "[behaviours]") {
    Duel duel;
    duel.owner().health = 44;
    duel.game.settle();
    duel.game.server().set_client_not_ready(duel.game.connection(0));
    duel.game.tick(20);
    duel.server().speed = 5.0f;
    duel.owner().name = "lost";
    duel.game.tick(20);
    CHECK(duel.owner().sync_var_dirty_bits() == 4);  // It tells nobody.
    CHECK(duel.server().name.get() == "server's");
    duel.game.server().set_client_ready(duel.game.connection(0));
    duel.game.settle();
    CHECK(duel.owner().health == 44);
    CHECK(duel.owner().speed == 5.0f);
    CHECK(duel.owner().name.get() == "server's");
    duel.owner().name = "found";
    duel.game.settle();
    CHECK(duel.server().name.get() == "found");
}

TEST_CASE("ClientToServer: an owner that cannot be told that it is that no more stays it for now",
          "[behaviours]") {
    ArenaOptions options = owners_decide();
    options.config.calls_waiting_max = 2;
    Duel duel(options);
    ArenaGame& game = duel.game;
    NetworkServer& server = game.server();
    const auto fill_calls = [&] {
        LinkSettings dead;
        dead.loss = 1.0;
        game.network().set_settings(PeerId{1}, ArenaGame::client_peer(0), dead);
        CHECK(duel.server().call("target_whisper") == CallResult::Sent);
        CHECK(duel.server().call("target_whisper") == CallResult::Sent);
    };
    fill_calls();
    duel.server().health = 33;
    CHECK_FALSE(server.remove_client_authority(*duel.pawn));
    CHECK(duel.pawn->connection_to_client() == ArenaGame::client_peer(0));
    game.network().heal();
    game.settle();
    duel.owner().name = "owner's";
    game.settle();
    CHECK(duel.server().name.get() == "owner's");
    REQUIRE(server.remove_client_authority(*duel.pawn));
    game.settle();
    CHECK_FALSE(duel.owner().is_owned());
    CHECK(duel.owner().health == 33);

    // A player that is to stay, and not its.
    REQUIRE(server.add_player_for_connection(game.connection(0), *duel.pawn));
    game.settle();
    fill_calls();
    CHECK_FALSE(
        server.remove_player_for_connection(game.connection(0), RemovePlayerOptions::KeepActive));
    CHECK(game.connection(0).identity() == duel.pawn);
    NetworkIdentity& next = server.instantiate(game.types().pawn());
    CHECK_FALSE(server.replace_player_for_connection(game.connection(0), next,
                                                     ReplacePlayerOptions::KeepActive));
    CHECK(game.connection(0).identity() == duel.pawn);
    CHECK_FALSE(next.is_spawned());
    game.network().heal();
    game.settle();
    CHECK(server.remove_player_for_connection(game.connection(0), RemovePlayerOptions::KeepActive));
    game.settle();
    CHECK(game.connection(0).identity() == nullptr);
    CHECK_FALSE(duel.owner().is_owned());
    CHECK(duel.owner().health == duel.server().health);
}

TEST_CASE("ClientToServer: lost, given back and lost again in one flight, the newest value stays",
          "[behaviours]") {
    Duel duel;
    ArenaGame& game = duel.game;
    LinkSettings dead;
    dead.loss = 1.0;
    game.network().set_settings(PeerId{1}, ArenaGame::client_peer(0), dead);
    REQUIRE(game.server().remove_client_authority(*duel.pawn));
    game.tick();
    REQUIRE(game.server().assign_client_authority(*duel.pawn, game.connection(0)));
    game.tick();
    duel.server().health = 50;
    REQUIRE(game.server().remove_client_authority(*duel.pawn));
    game.tick();
    // What says that it was lost is sent again behind what changed since.
    game.network().heal();
    duel.server().health = 60;
    game.tick(100);
    game.settle();
    CHECK_FALSE(duel.owner().is_owned());
    CHECK(duel.owner().health == 60);
    CHECK(duel.other().health == 60);
}

TEST_CASE("ClientToServer: a host that owns the object decides by setting it", "[behaviours]") {
    ArenaGame game(owners_decide());
    game.join();
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &host);
    game.settle();
    pawn.component<Fighter>(0).health = 8;
    game.settle();
    CHECK(game.fighter_on(0, pawn).health == 8);
}

TEST_CASE("ClientToServer: an owner that changes much all the time is not closed out",
          "[behaviours]") {
    ArenaOptions options = owners_decide();
    options.tick_ms = 5;
    options.link.loss = 0.2;
    Duel duel(options);
    for (int i = 0; i < 4'000; ++i) {
        duel.owner().health = i;
        duel.game.tick();
    }
    duel.game.tick(200);
    CHECK(duel.server().health == 3'999);
    CHECK(duel.other().health == 3'999);
}

TEST_CASE("ClientToServer: whoever owns it and writes when, all agree in the end", "[behaviours]") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        ArenaOptions options = owners_decide();
        options.seed = seed;
        options.link.loss = 0.2;
        options.link.duplicate = 0.1;
        options.link.reorder = 0.2;
        options.link.latency_ms = 40;
        options.link.jitter_ms = 30;
        Duel duel(options);
        SeededRandom random(seed);
        NetworkServer& server = duel.game.server();
        for (int step = 0; step < 150; ++step) {
            Fighter& writer = random.percent(50) ? duel.owner() : duel.other();
            switch (random.below(6)) {
                case 0:
                    server.remove_client_authority(*duel.pawn);
                    break;
                case 1:
                    server.assign_client_authority(*duel.pawn,
                                                   duel.game.connection(random.below(2)));
                    break;
                case 2:
                    writer.health = static_cast<std::int32_t>(random.below(1'000));
                    break;
                case 3:
                    writer.speed = static_cast<float>(random.below(1'000));
                    break;
                case 4:
                    if (duel.pawn->connection_to_client() == PeerId{}) {
                        duel.server().health = static_cast<std::int32_t>(random.below(1'000));
                    }
                    break;
                default:
                    duel.game.tick(random.below(8));
                    break;
            }
        }
        // What a client set that never was the owner is its own; so let both have been.
        for (const std::size_t client : {0u, 1u}) {
            server.remove_client_authority(*duel.pawn);
            server.assign_client_authority(*duel.pawn, duel.game.connection(client));
            duel.game.tick(200);
        }
        server.remove_client_authority(*duel.pawn);
        duel.game.tick(200);
        duel.game.settle();
        for (Fighter* fighter : {&duel.owner(), &duel.other()}) {
            CHECK(fighter->health.get() == duel.server().health.get());
            CHECK(fighter->speed.get() == duel.server().speed.get());
        }
    }
}

TEST_CASE("ClientToServer: sections go as often as the server takes updates, not a moment sooner",
          "[behaviours]") {
    Duel duel(options_of_1000_updates(owners_decide()));
    check_1000_updates_a_second(
        duel.game, duel.game.types().pawn(),
        [](NetworkIdentity& pawn) { pawn.component<Fighter>(0).health = 5; },
        [](const NetworkIdentity& pawn) { return pawn.component<Fighter>(0).health == 5; });
}

TEST_CASE("ClientToServer: what an owner sets while there is no room for its calls arrives later",
          "[behaviours]") {
    ArenaOptions options = owners_decide();
    options.config.calls_waiting_max = 2;
    Duel duel(options);
    LinkSettings dead;
    dead.loss = 1.0;
    duel.game.network().set_settings(ArenaGame::client_peer(0), PeerId{1}, dead);
    for (std::int32_t health = 1; health <= 10; ++health) {
        duel.owner().health = health;
        duel.game.tick();
    }
    CHECK(duel.owner().sync_var_dirty_bits() == 1);
    duel.game.network().heal();
    duel.game.settle();
    duel.game.tick(50);
    CHECK(duel.server().health == 10);
    CHECK(duel.owner().sync_var_dirty_bits() == 0);
}

TEST_CASE("ClientToServer: an owner tells nothing before it was told all", "[behaviours]") {
    Duel duel;
    NetworkServer& server = duel.game.server();
    REQUIRE(server.remove_client_authority(*duel.pawn));
    duel.game.settle();
    // The word that it is the owner, and not yet what the server has.
    server.driver().set_owner(
        server.driver().find_object({reinterpret_cast<std::uintptr_t>(duel.pawn)}),
        ArenaGame::client_peer(0));
    duel.game.settle();
    REQUIRE(duel.owner().is_owned());
    duel.owner().health = 5;
    duel.game.settle();
    CHECK(server.counters().sections_refused == 0);
    CHECK(duel.server().health == 70);
    CHECK(duel.owner().sync_var_dirty_bits() == 1);
    REQUIRE(server.assign_client_authority(*duel.pawn, duel.game.connection(0)));
    duel.game.settle();
    CHECK(duel.server().health == 5);
    CHECK(server.counters().sections_refused == 0);
}

}  // namespace
}  // namespace replayout::test
