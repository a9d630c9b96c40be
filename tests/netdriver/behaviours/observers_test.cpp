// SPDX-License-Identifier: MIT
//
// Who sees what: visibility, interest management, ready or not, shown and hidden by the game.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/type_builder.h>

#include <string>
#include <vector>

#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test::observers_test {
namespace {

struct Aim {
    NetworkIdentity* target = nullptr;
};

/// Does to what its owner names all that says who sees it.
class Wizard : public NetworkBehaviour {
  public:
    std::uint32_t spells = 0;

    void cmd_vanish(const Aim& aim) {
        REQUIRE(aim.target != nullptr);
        ++spells;
        NetworkConnection* owner = server().find_connection(identity().connection_to_client());
        aim.target->set_visibility(Visibility::ForceShown);
        aim.target->set_interest_group(7);
        aim.target->set_position({1, 2, 3});
        server().rebuild_observers(*aim.target);
        server().forget_shown(*aim.target, *owner);
        CHECK_FALSE(server().hide_from(*aim.target, *owner));
        CHECK_FALSE(server().show_to(*aim.target, *owner));
        CHECK_FALSE(server().assign_client_authority(*aim.target, *owner));
        CHECK_FALSE(server().remove_client_authority(*aim.target));
        CHECK_FALSE(server().replace_player_for_connection(*owner, *aim.target,
                                                           ReplacePlayerOptions::KeepActive));
        CHECK_FALSE(server().spawn(*aim.target, owner));
        server().unspawn(*aim.target);
        server().destroy(*aim.target);
    }
};

/// A game with two clients, each with a player: the first at x = 0, the second at x = 1000.
struct TwoPlayers {
    ArenaGame game;
    std::vector<NetworkIdentity*> players;

    explicit TwoPlayers(const ArenaOptions& options) : game(options) {
        for (int client = 0; client < 2; ++client) {
            game.join();
        }
        game.settle();
        for (std::size_t client = 0; client < 2; ++client) {
            NetworkIdentity& player = game.server().instantiate(game.types().pawn());
            player.set_position({static_cast<float>(client) * 1'000, 0, 0});
            REQUIRE(game.server().add_player_for_connection(game.connection(client), player));
            players.push_back(&player);
        }
        game.settle();
    }

    /// Spawned at that place of the x axis.
    NetworkIdentity& at(float x, Visibility visibility = Visibility::Default) {
        NetworkIdentity& object = game.server().instantiate(game.types().pawn());
        object.set_position({x, 0, 0});
        object.set_visibility(visibility);
        REQUIRE(game.server().spawn(object));
        return object;
    }
    /// Which clients see it: "", "0", "1" or "01".
    [[nodiscard]] std::string seen(const NetworkIdentity& object) {
        game.settle();
        std::string clients;
        for (std::size_t client = 0; client < 2; ++client) {
            if (game.on_client(client, object) != nullptr) {
                clients += std::to_string(client);
            }
        }
        return clients;
    }
};

[[nodiscard]] ArenaOptions with(const InterestManagement& interest) {
    ArenaOptions options;
    options.interest = interest;
    return options;
}

TEST_CASE("U58 Distance: in range and out of range, at first and later", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Distance, 100}));
    NetworkIdentity& object = two.at(60);
    CHECK(two.seen(object) == "0");
    NetworkIdentity& far = two.at(300);
    CHECK(two.seen(far).empty());
    object.set_position({940, 0, 0});
    CHECK(two.seen(object) == "1");
    far.set_interest_range(2'000);
    CHECK(two.seen(far) == "01");
    two.players[0]->set_position({900, 0, 0});
    CHECK(two.seen(object) == "01");
    CHECK(two.seen(*two.players[0]) == "01");
}

TEST_CASE("Position: who is shown an object later is told where it was spawned", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Distance, 100}));
    NetworkIdentity& object = two.at(300);
    object.set_position({980, 0, 0});
    CHECK(two.seen(object) == "1");
    CHECK(two.game.on_client(1, object)->transform.position == Vector3{300, 0, 0});
}

TEST_CASE("U58 SpatialHashing: the cell and those beside it", "[behaviours]") {
    TwoPlayers two(with({InterestKind::SpatialHashing, 100}));
    NetworkIdentity& object = two.at(40);
    CHECK(two.seen(object) == "0");
    NetworkIdentity& far = two.at(300);
    CHECK(two.seen(far).empty());
    far.set_position({960, 0, 0});
    CHECK(two.seen(far) == "1");
    object.set_position({500, 0, 0});
    CHECK(two.seen(object).empty());
}

TEST_CASE("U58 ForceShown and ForceHidden stand above where things are", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Distance, 100}));
    NetworkIdentity& shown = two.at(5'000, Visibility::ForceShown);
    NetworkIdentity& hidden = two.at(0, Visibility::ForceHidden);
    CHECK(two.seen(shown) == "01");
    CHECK(two.seen(hidden).empty());
    shown.set_visibility(Visibility::Default);
    hidden.set_visibility(Visibility::Default);
    CHECK(two.seen(shown).empty());
    CHECK(two.seen(hidden) == "0");
}

TEST_CASE("U59 A player sees itself, and an owner what is hidden from all others", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Distance, 100}));
    CHECK(two.seen(*two.players[0]) == "0");
    two.players[0]->set_visibility(Visibility::ForceHidden);
    CHECK(two.seen(*two.players[0]) == "0");
    NetworkIdentity& pet = two.at(5'000, Visibility::ForceHidden);
    CHECK(two.seen(pet).empty());
    REQUIRE(two.game.server().assign_client_authority(pet, two.game.connection(1)));
    CHECK(two.seen(pet) == "1");
    REQUIRE(two.game.server().remove_client_authority(pet));
    CHECK(two.seen(pet).empty());
}

TEST_CASE("U60 Show: works for who is ready, and waits for who is not, an owner too",
          "[behaviours]") {
    TwoPlayers two({});
    ArenaGame& game = two.game;
    NetworkConnection& connection = game.connection(1);
    game.server().set_client_not_ready(connection);
    game.tick(10);
    NetworkIdentity& object = two.at(0);
    NetworkIdentity& pet = game.spawn(game.types().pawn(), &connection);
    CHECK(game.server().show_to(object, connection));
    game.tick(20);
    CHECK(game.on_client(1, object) == nullptr);
    CHECK(game.on_client(1, pet) == nullptr);
    CHECK(game.on_client(0, object) != nullptr);
    two.players[1]->component<Fighter>(0).health = 33;
    game.tick(20);
    CHECK(game.fighter_on(1, *two.players[1]).health == 100);
    CHECK(game.fighter_on(0, *two.players[1]).health == 33);
    game.server().set_client_ready(connection);
    CHECK(two.seen(object) == "01");
    CHECK(two.seen(pet) == "01");
    CHECK(game.fighter_on(1, *two.players[1]).health == 33);
    NetworkIdentity& unspawned = game.server().instantiate(game.types().pawn());
    CHECK_FALSE(game.server().show_to(unspawned, connection));
}

TEST_CASE("U61 Observers: what was destroyed leaves nothing behind", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Team}));
    ArenaGame& game = two.game;
    for (int round = 0; round < 20; ++round) {
        NetworkIdentity& object = two.at(0);
        object.set_interest_group(static_cast<std::uint32_t>(round % 3));
        REQUIRE(game.server().hide_from(object, game.connection(0)));
        REQUIRE(game.server().assign_client_authority(object, game.connection(1)));
        game.tick(static_cast<std::uint32_t>(round % 3));
        game.server().destroy(object);
    }
    game.settle();
    CHECK(game.connection(1).owned().size() == 1);
    NetworkIdentity& object = two.at(0);
    CHECK(two.seen(object) == "01");
    object.set_interest_group(1);
    CHECK(two.seen(object).empty());
}

TEST_CASE("U63 Show and hide: in one tick the last counts, and values are those of now",
          "[behaviours]") {
    TwoPlayers two({});
    ArenaGame& game = two.game;
    NetworkServer& server = game.server();
    NetworkIdentity& object = two.at(0);
    CHECK(two.seen(object) == "01");
    REQUIRE(server.hide_from(object, game.connection(0)));
    object.component<Fighter>(0).health = 12;
    CHECK(two.seen(object) == "1");
    REQUIRE(server.show_to(object, game.connection(0)));
    CHECK(two.seen(object) == "01");
    CHECK(game.fighter_on(0, object).health == 12);
    REQUIRE(server.hide_from(object, game.connection(0)));
    object.component<Fighter>(0).health = 13;
    REQUIRE(server.show_to(object, game.connection(0)));
    CHECK(two.seen(object) == "01");
    CHECK(game.fighter_on(0, object).health == 13);
    // An owner can be kept from what it owns.
    REQUIRE(server.hide_from(*two.players[0], game.connection(0)));
    CHECK(two.seen(*two.players[0]) == "1");
    server.forget_shown(*two.players[0], game.connection(0));
    CHECK(two.seen(*two.players[0]) == "01");
}

TEST_CASE("U64 Relevancy: half is shown, half is not, and many change in one tick, at 33 % loss",
          "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.33;
    TwoPlayers two(options);
    ArenaGame& game = two.game;
    std::vector<NetworkIdentity*> objects;
    for (int i = 0; i < 200; ++i) {
        objects.push_back(&two.at(0));
    }
    for (const std::size_t half : {0u, 1u, 0u}) {
        for (std::size_t i = 0; i < objects.size(); ++i) {
            objects[i]->component<Fighter>(0).health = static_cast<std::int32_t>(i + half);
            if (i % 2 == half) {
                REQUIRE(game.server().show_to(*objects[i], game.connection(0)));
            } else {
                REQUIRE(game.server().hide_from(*objects[i], game.connection(0)));
            }
        }
        game.settle(20'000);
        for (std::size_t i = 0; i < objects.size(); ++i) {
            const NetworkIdentity* shown = game.on_client(0, *objects[i]);
            REQUIRE((shown != nullptr) == (i % 2 == half));
            if (shown != nullptr) {
                CHECK(shown->component<Fighter>(0).health == static_cast<std::int32_t>(i + half));
            }
        }
    }
}

TEST_CASE("Team: who is in it, and what is in none", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Team}));
    NetworkIdentity& flag = two.at(0);
    CHECK(two.seen(flag) == "01");
    flag.set_interest_group(1);
    CHECK(two.seen(flag).empty());
    two.players[1]->set_interest_group(1);
    CHECK(two.seen(flag) == "1");
    CHECK(two.seen(*two.players[1]) == "1");
    CHECK(two.seen(*two.players[0]) == "01");
    two.players[0]->set_interest_group(1);
    CHECK(two.seen(flag) == "01");
    two.players[1]->set_interest_group(2);
    CHECK(two.seen(flag) == "0");
    flag.set_visibility(Visibility::ForceShown);
    CHECK(two.seen(flag) == "01");
}

TEST_CASE("Match: only those of one match see each other, and what is in none nobody",
          "[behaviours]") {
    TwoPlayers two(with({InterestKind::Match}));
    NetworkIdentity& board = two.at(0);
    CHECK(two.seen(board).empty());
    CHECK(two.seen(*two.players[0]) == "0");
    board.set_interest_group(7);
    two.players[0]->set_interest_group(7);
    CHECK(two.seen(board) == "0");
    two.players[1]->set_interest_group(7);
    CHECK(two.seen(board) == "01");
    CHECK(two.seen(*two.players[0]) == "01");
}

TEST_CASE("Scene: who has an object there sees what is there, also in the first", "[behaviours]") {
    TwoPlayers two(with({InterestKind::Scene}));
    NetworkIdentity& lamp = two.at(0);
    CHECK(two.seen(lamp) == "01");
    two.players[0]->set_interest_group(3);
    CHECK(two.seen(lamp) == "1");
    CHECK(two.seen(*two.players[0]) == "0");
    lamp.set_interest_group(3);
    CHECK(two.seen(lamp) == "0");
}

TEST_CASE("SceneDistance: there, and near", "[behaviours]") {
    TwoPlayers two(with({InterestKind::SceneDistance, 100}));
    NetworkIdentity& lamp = two.at(50);
    CHECK(two.seen(lamp) == "0");
    two.players[0]->set_interest_group(1);
    CHECK(two.seen(lamp).empty());
    lamp.set_interest_group(1);
    CHECK(two.seen(lamp) == "0");
    lamp.set_position({400, 0, 0});
    CHECK(two.seen(lamp).empty());
}

TEST_CASE("Custom: behaviours say who sees their object, and are asked again when it is rebuilt",
          "[behaviours]") {
    TwoPlayers two(with({InterestKind::Custom}));
    NetworkIdentity& object = two.at(0);
    std::uint64_t peer = ArenaGame::client_peer(1).value;
    object.component<Fighter>(0).may_see = [&](const NetworkConnection& connection) {
        return connection.peer().value == peer;
    };
    two.game.server().rebuild_observers(object);
    CHECK(two.seen(object) == "1");
    peer = ArenaGame::client_peer(0).value;
    CHECK(two.seen(object) == "1");
    two.game.server().rebuild_observers(object);
    CHECK(two.seen(object) == "0");
}

TEST_CASE("Hostile: who names the object of its connection in a command changes nothing of it",
          "[behaviours]") {
    for (const InterestKind kind : {InterestKind::Everybody, InterestKind::Team}) {
        ArenaOptions options;
        options.interest.kind = kind;
        ArenaGame game(options, [](NetworkTypes& types) {
            REQUIRE(struct_builder<Aim>(types.registry(), "Aim")
                        .property<&Aim::target>()
                        .build()
                        .has_value());
            const auto wizard =
                BehaviourBuilder<Wizard>(types, "Wizard").command<&Wizard::cmd_vanish>().build();
            REQUIRE(wizard.has_value());
            REQUIRE(types.add_prefab("Wizard", {{*wizard}}).has_value());
        });
        game.join_settled(2);
        NetworkIdentity& wizard = game.spawn(game.types().find("Wizard"), &game.connection(0));
        game.settle();
        NetworkIdentity* channel = nullptr;
        for (std::uint64_t id = 1; id < 20; ++id) {
            const ObjectHandle found = game.client(0).driver().guids().find_object(NetGUID{id});
            auto* object = reinterpret_cast<NetworkIdentity*>(found.value);
            if (object != nullptr && &object->prefab() == &game.types().get().connection_prefab()) {
                channel = object;
            }
        }
        REQUIRE(channel != nullptr);
        Wizard& shown = game.on_client(0, wizard)->component<Wizard>(0);
        REQUIRE(shown.call<&Wizard::cmd_vanish>({channel}) == CallResult::Sent);
        game.settle();
        REQUIRE(wizard.component<Wizard>(0).spells == 1);

        for (const bool is_ready : {false, true}) {
            if (is_ready) {
                game.server().set_client_ready(game.connection(0));
            } else {
                game.server().set_client_not_ready(game.connection(0));
            }
            game.tick(20);
        }
        game.settle();
        CHECK(game.on_client(0, wizard) != nullptr);
        CHECK(game.connection(0).is_ready());
    }
}

}  // namespace
}  // namespace replayout::test::observers_test
