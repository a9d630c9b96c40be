// SPDX-License-Identifier: MIT
//
// A client that is told that it is not ready has to answer.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

TEST_CASE("Ready: a client that does not answer that it is not is disconnected, and no other",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled(2);
    game.server().set_answer_wait_ms(500);
    LinkSettings dead;
    dead.loss = 1.0;
    game.network().set_settings(ArenaGame::client_peer(0), PeerId{1}, dead);
    game.server().set_client_not_ready(game.connection(0));
    game.server().set_client_not_ready(game.connection(1));
    game.tick(22);
    CHECK(game.server().find_connection(ArenaGame::client_peer(0)) != nullptr);
    game.tick(8);
    CHECK(game.server().find_connection(ArenaGame::client_peer(0)) == nullptr);
    CHECK(game.server().counters().answers_missing == 1);
    CHECK_FALSE(game.connection(1).is_ready());
    game.tick(100);
    CHECK(game.server().find_connection(ArenaGame::client_peer(1)) != nullptr);
    CHECK(game.server().counters().answers_missing == 1);
}

TEST_CASE("Ready: also who is made ready again meanwhile owes its answer", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    game.server().set_answer_wait_ms(500);
    LinkSettings dead;
    dead.loss = 1.0;
    game.network().set_settings(ArenaGame::client_peer(0), PeerId{1}, dead);
    game.server().set_client_not_ready(game.connection(0));
    game.tick();
    game.server().set_client_ready(game.connection(0));
    game.tick(30);
    CHECK(game.server().find_connection(ArenaGame::client_peer(0)) == nullptr);
}

TEST_CASE("Ready: what a client kept while it was not ready goes within disconnect()",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    game.server().set_client_ready(game.connection(0));
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    REQUIRE(game.server().add_player_for_connection(game.connection(0), pawn));
    game.settle();
    game.server().set_client_not_ready(game.connection(0));
    game.tick(10);
    NetworkClient& client = game.client(0);
    REQUIRE(client.local_player() != nullptr);
    game.client_manager().told.clear();
    client.disconnect();
    CHECK(client.local_player() == nullptr);
    CHECK(client.find(pawn.net_id()) == nullptr);
    CHECK(game.client_manager().told ==
          std::vector<std::string>{"unspawned: " +
                                   std::string(to_string(ChannelCloseReason::Disconnected))});
    game.tick(10);
    CHECK(game.client_manager().told.size() == 1);
}

TEST_CASE("Ready: an answer that finds no room is given later", "[behaviours]") {
    ArenaOptions options;
    options.config.calls_waiting_max = 1;
    options.link.latency_ms = 50;
    ArenaGame game(options);
    game.join_settled();
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &game.connection(0));
    game.settle();
    game.server().set_answer_wait_ms(1'500);
    game.server().set_client_not_ready(game.connection(0));
    int full_count = 0;
    for (int i = 0; i < 150; ++i) {
        if (NetworkIdentity* shown = game.on_client(0, pawn)) {
            const CallResult result = shown->component<Fighter>(0).call("cmd_shout");
            full_count += result == CallResult::Full ? 1 : 0;
        }
        game.tick();
    }
    CHECK(full_count > 0);
    CHECK(game.server().counters().answers_missing == 0);
    CHECK(game.server().find_connection(ArenaGame::client_peer(0)) != nullptr);
    CHECK_FALSE(game.server().driver().is_relevant_for(
        ArenaGame::client_peer(0),
        game.server().driver().find_object(ObjectHandle{reinterpret_cast<std::uintptr_t>(&pawn)})));
}

}  // namespace
}  // namespace replayout::test
