// SPDX-License-Identifier: MIT
//
// A NetworkClient that connects again.
#include <string>
#include <vector>

#include "support/checks/contains.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetTime later(ArenaGame& game) {
    return game.client(0).now();
}

TEST_CASE("NetworkClient: connect() works again after disconnect(), with all that it had",
          "[behaviours]") {
    const double loss = GENERATE(0.0, 0.3);
    ArenaOptions options;
    options.auto_create_player = true;
    options.link.loss = loss;
    ArenaGame game(options);
    game.join();
    NetworkIdentity& door = game.client(0).add_scene_object(game.types().twins(), 5);
    NetworkIdentity& object = game.server().add_scene_object(game.types().twins(), 5);
    REQUIRE(game.server().spawn(object));
    game.settle();
    for (int round = 0; round < 3; ++round) {
        INFO("round " << round);
        REQUIRE(game.client(0).local_player() != nullptr);
        CHECK(game.on_client(0, object) == &door);
        object.component<Fighter>(0).health = 10 + round;
        game.settle();
        CHECK(door.component<Fighter>(0).health == 10 + round);
        game.client(0).disconnect();
        CHECK(game.on_client(0, object) == nullptr);
        if (round == 1) {
            game.tick(5);
        }
        REQUIRE(game.client(0).connect(PeerId{1}, later(game)).has_value());
        CHECK_FALSE(game.client(0).is_connected());
        game.tick(20);
        game.settle();
    }
    CHECK(game.server().driver().connection_count() == 1);
}

TEST_CASE("NetworkClient: connect() works again after the server ended the connection",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    game.server().driver().disconnect(ArenaGame::client_peer(0));
    game.tick(20);
    CHECK_FALSE(game.client(0).is_connected());
    REQUIRE(game.client(0).connect(PeerId{1}, later(game)).has_value());
    game.tick(20);
    game.settle();
    CHECK(game.on_client(0, pawn) != nullptr);
}

/// Connects from within the word that the connection ended.
class HastyManager : public ArenaManager {
  public:
    void on_client_disconnect(NetworkClient& client, CloseReason) override {
        const Status status = client.connect(PeerId{1}, client.now());
        errors.push_back(status ? "" : status.error().message);
    }
    std::vector<std::string> errors;
};

TEST_CASE("NetworkClient: connect() says why it cannot be now", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    const Status connected = game.client(0).connect(PeerId{1}, later(game));
    REQUIRE_FALSE(connected.has_value());
    CHECK(contains(connected.error().message, "disconnect() first"));
    CHECK(game.client(0).is_connected());

    HastyManager manager;
    NetworkClient hasty(host_settings({}, 77, SharingLevel::Bundles, true),
                        game.network().endpoint(PeerId{99}), game.types().get(), manager);
    NetTime now = later(game);
    REQUIRE(hasty.connect(PeerId{1}, now).has_value());
    for (int i = 0; i < 20; ++i) {
        game.tick();
        hasty.early_update(later(game));
        hasty.late_update(later(game));
    }
    REQUIRE(hasty.is_connected());
    game.server().driver().disconnect(PeerId{99});
    for (int i = 0; i < 20; ++i) {
        game.tick();
        hasty.early_update(later(game));
        hasty.late_update(later(game));
    }
    REQUIRE(manager.errors.size() == 1);
    CHECK(contains(manager.errors.front(), "within a callback"));
    CHECK(hasty.connect(PeerId{1}, later(game)).has_value());
}

}  // namespace
}  // namespace replayout::test
