// SPDX-License-Identifier: MIT
//
// Host mode: the server plays, too, and shows its objects themselves.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/type_builder.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE("U54 Host: callbacks of both kinds, in their order", "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    ArenaGame game(options);
    NetworkConnection& host = game.server().start_host();
    CHECK(host.is_host());
    CHECK(host.is_ready());
    NetworkIdentity* player = host.identity();
    REQUIRE(player != nullptr);
    Fighter& fighter = player->component<Fighter>(0);
    CHECK(take_told(fighter) == Told{"start server"});
    CHECK(player->is_server());
    CHECK(player->is_client());
    game.tick();
    CHECK(take_told(fighter) ==
          Told{"shown to host", "start client", "start authority", "start local player"});
    CHECK(player->is_owned());
    CHECK(player->is_local_player());
    game.tick(5);
    CHECK(take_told(fighter).empty());
    game.server().unspawn(*player);
    CHECK(take_told(fighter) ==
          Told{"stop local player", "stop client", "stop authority", "stop server"});
    CHECK_FALSE(player->is_client());
    CHECK(host.identity() == nullptr);
}

TEST_CASE("U52 Host: destroying what it owns stops its authority", "[behaviours]") {
    ArenaGame game;
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &host);
    NetworkIdentity& other = game.spawn(game.types().pawn());
    game.tick();
    Fighter& fighter = pawn.component<Fighter>(0);
    CHECK(take_told(fighter) ==
          Told{"start server", "shown to host", "start client", "start authority"});
    CHECK(take_told(other.component<Fighter>(0)) ==
          Told{"start server", "shown to host", "start client"});
    REQUIRE(game.server().assign_client_authority(other, host));
    CHECK(other.is_owned());
    game.tick();
    CHECK(take_told(other.component<Fighter>(0)) == Told{"start authority"});
    REQUIRE(game.server().remove_client_authority(other));
    game.tick();
    CHECK(take_told(other.component<Fighter>(0)) == Told{"stop authority"});
    game.server().destroy(pawn);
    CHECK(take_told(fighter) == Told{"stop client", "stop authority", "stop server"});
    game.tick();
}

TEST_CASE("U28 Host: a setter runs the hook once, and a server that does not play runs none",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    Fighter& fighter = pawn.component<Fighter>(0);
    fighter.health = 90;
    game.tick();
    CHECK(take_told(fighter) == Told{"start server"});  // U27
    game.server().start_host();
    game.tick();
    CHECK(take_told(fighter) == Told{"shown to host", "health 100 -> 90", "start client"});
    fighter.health = 80;
    fighter.health = 80;
    CHECK(take_told(fighter) == Told{"health 90 -> 80"});
    fighter.speed = 3.0f;
    CHECK(take_told(fighter).empty());
}

TEST_CASE("U29 HookGuard: a variable that is set within its own hook runs no hook, another does",
          "[behaviours]") {
    ArenaGame game;
    game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.tick();
    Fighter& fighter = pawn.component<Fighter>(0);
    take_told(fighter);
    fighter.during_hook = [](Fighter& self) {
        self.health = self.health + 1;
        self.name = "set within";
    };
    fighter.health = 10;
    CHECK(fighter.health == 11);
    CHECK(take_told(fighter) == Told{"health 100 -> 10", "name set within"});
}

TEST_CASE("U28 Host: hooks of UNet's style run before the assignment, also of the same value",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.hook_style = HookStyle::UNet;
    ArenaGame game(options);
    game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.tick();
    Fighter& fighter = pawn.component<Fighter>(0);
    take_told(fighter);
    fighter.health = 100;
    fighter.health = 50;
    CHECK(take_told(fighter) == Told{"health 100 -> 100", "health 100 -> 50, not assigned"});
    CHECK(fighter.health == 50);
}

TEST_CASE("U62 Host: what is near is visible, what is far is there and hidden", "[behaviours]") {
    ArenaOptions options;
    options.interest = {InterestKind::Distance, 10};
    ArenaGame game(options);
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& player = game.server().instantiate(game.types().pawn());
    REQUIRE(game.server().add_player_for_connection(host, player));
    NetworkIdentity& near = game.server().instantiate(game.types().pawn());
    NetworkIdentity& far = game.server().instantiate(game.types().pawn());
    near.set_position({5, 0, 0});
    far.set_position({50, 0, 0});
    REQUIRE(game.server().spawn(near));
    REQUIRE(game.server().spawn(far));
    game.tick();
    CHECK(near.is_visible_to_host());
    CHECK_FALSE(far.is_visible_to_host());
    Fighter& near_fighter = near.component<Fighter>(0);
    Fighter& far_fighter = far.component<Fighter>(0);
    CHECK(take_told(near_fighter) == Told{"start server", "shown to host", "start client"});
    CHECK(take_told(far_fighter) == Told{"start server", "hidden from host"});
    far_fighter.health = 1;
    CHECK(take_told(far_fighter).empty());  // nobody looks at it
    CHECK(game.server().find(far.net_id()) == &far);

    player.set_position({46, 0, 0});
    game.tick();
    CHECK(take_told(near_fighter) == Told{"hidden from host"});
    CHECK(take_told(far_fighter) == Told{"shown to host", "health 100 -> 1", "start client"});
    far_fighter.health = 2;
    CHECK(take_told(far_fighter) == Told{"health 1 -> 2"});
    player.set_position({1, 0, 0});
    game.tick();
    CHECK(take_told(far_fighter) == Told{"hidden from host"});
    CHECK(take_told(near_fighter) == Told{"shown to host"});  // started once
    near.set_visibility(Visibility::ForceHidden);
    far.set_visibility(Visibility::ForceShown);
    game.tick();
    CHECK(take_told(near_fighter) == Told{"hidden from host"});
    CHECK(take_told(far_fighter) == Told{"shown to host", "health 100 -> 2"});
}

TEST_CASE("Host: it sees what a client at the same place sees, wherever things and players move",
          "[behaviours][random]") {
    constexpr float range = 100.0f;
    for (const InterestKind kind : {InterestKind::Distance, InterestKind::SpatialHashing}) {
        SeededRandom random(run_seed());
        ArenaOptions options;
        options.interest = {kind, range};
        ArenaGame game(options);
        NetworkConnection& host = game.server().start_host();
        NetworkIdentity& host_player = game.server().instantiate(game.types().pawn());
        REQUIRE(game.server().add_player_for_connection(host, host_player));
        game.join_settled();
        NetworkIdentity& client_player = game.server().instantiate(game.types().pawn());
        REQUIRE(game.server().add_player_for_connection(game.connection(0), client_player));
        std::vector<NetworkIdentity*> objects;
        for (int i = 0; i < 30; ++i) {
            objects.push_back(&game.spawn(game.types().pawn()));
            objects.back()->set_position({static_cast<float>(random.below(400)), 0, 0});
        }
        const auto step = [&] { return 0.25f * (static_cast<float>(random.below(81)) - 40.0f); };
        Vector3 place{200, 0, 0};
        std::uint32_t shown_count = 0;
        std::uint32_t change_count = 0;
        for (int round = 0; round < 400; ++round) {
            if (random.percent(3)) {
                place = {static_cast<float>(random.below(400)), 0, 0};
            }
            // Over the borders of cells, and back.
            place = {place.x + step(), place.y + step(), place.z + step()};
            host_player.set_position(place);
            client_player.set_position(place);
            for (int i = 0; i < 5; ++i) {
                NetworkIdentity& moved = *objects[random.below(30)];
                const Vector3& from = moved.transform.position;
                moved.set_position({from.x + step(), from.y + step(), from.z + step()});
            }
            std::vector<bool> before;
            for (const NetworkIdentity* object : objects) {
                before.push_back(object->is_visible_to_host());
            }
            game.tick();
            for (std::size_t i = 0; i < objects.size(); ++i) {
                const NetworkIdentity& object = *objects[i];
                const bool is_seen = object.is_visible_to_host();
                INFO("seed " << run_seed() << ", round " << round << ", object " << i);
                REQUIRE(is_seen == game.server().driver().is_relevant_for(
                                       game.connection(0).peer(),
                                       game.server().driver().find_object(
                                           {reinterpret_cast<std::uintptr_t>(&object)})));
                shown_count += is_seen ? 1u : 0u;
                change_count += is_seen != before[i] ? 1u : 0u;
            }
        }
        CHECK(shown_count > 1'000);
        CHECK(change_count > 20);
        game.settle();
        for (const NetworkIdentity* object : objects) {
            CHECK(object->is_visible_to_host() == (game.on_client(0, *object) != nullptr));
        }
    }
}

TEST_CASE("Host: on a grid it sees its cell and those beside it, and what it sees stays a while",
          "[behaviours]") {
    ArenaOptions options;
    options.interest = {InterestKind::SpatialHashing, 20};  // cells of 10
    ArenaGame game(options);
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& player = game.server().instantiate(game.types().pawn());
    player.set_position({5, 5, 5});
    REQUIRE(game.server().add_player_for_connection(host, player));
    NetworkIdentity& beside = game.spawn(game.types().pawn());
    NetworkIdentity& beyond = game.spawn(game.types().pawn());
    beside.set_position({19, 5, 5});  // farther than `beyond` in the corner would be by distance
    beyond.set_position({21, 5, 5});
    game.tick();
    CHECK(beside.is_visible_to_host());
    CHECK_FALSE(beyond.is_visible_to_host());
    player.set_position({11, 5, 5});  // an eighth of a cell counts as the one before
    game.tick();
    CHECK_FALSE(beyond.is_visible_to_host());
    player.set_position({12, 5, 5});
    game.tick();
    CHECK(beyond.is_visible_to_host());
    for (int i = 0; i < 20; ++i) {
        player.set_position({i % 2 == 0 ? 9.0f : 10.5f, 5, 5});
        game.tick();
        CHECK(beyond.is_visible_to_host());
    }
    player.set_position({8, 5, 5});
    game.tick();
    CHECK_FALSE(beyond.is_visible_to_host());
}

TEST_CASE("Host: what it sees at the edge of its range stays, as it does for a client",
          "[behaviours]") {
    ArenaOptions options;
    options.interest = {InterestKind::Distance, 100};
    ArenaGame game(options);
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& player = game.server().instantiate(game.types().pawn());
    REQUIRE(game.server().add_player_for_connection(host, player));
    NetworkIdentity& post = game.spawn(game.types().pawn());
    post.set_position({99, 0, 0});
    game.tick();
    (void)take_told(post.component<Fighter>(0));
    CHECK(post.is_visible_to_host());
    for (int i = 0; i < 20; ++i) {
        player.set_position({i % 2 == 0 ? -6.0f : 4.0f, 0, 0});  // 105 and 95 away
        game.tick();
        CHECK(post.is_visible_to_host());
    }
    CHECK(take_told(post.component<Fighter>(0)).empty());
    player.set_position({-15, 0, 0});
    game.tick();
    CHECK_FALSE(post.is_visible_to_host());
    player.set_position({-6, 0, 0});  // beyond the range, and not seen
    game.tick();
    CHECK_FALSE(post.is_visible_to_host());
}

TEST_CASE("Host: commands and functions for its client run here, those for all where it sees them",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn(), &host);
    NetworkIdentity& hidden = game.spawn(game.types().pawn());
    REQUIRE(game.server().hide_from(hidden, host));
    game.settle();
    Fighter& fighter = pawn.component<Fighter>(0);
    take_told(fighter);
    CHECK(fighter.call("target_whisper") == CallResult::Ran);
    CHECK(fighter.call("cmd_shout") == CallResult::Ran);
    CHECK(fighter.call("rpc_cheer") == CallResult::Sent);
    CHECK(take_told(fighter) == Told{"whisper", "shout", "cheer"});
    take_told(hidden.component<Fighter>(0));
    CHECK(hidden.component<Fighter>(0).call("rpc_cheer") == CallResult::Sent);
    CHECK(take_told(hidden.component<Fighter>(0)).empty());
    game.settle();
    CHECK(game.fighter_on(0, pawn).told == Told{"start client", "cheer"});
    CHECK(game.fighter_on(0, hidden).told == Told{"start client", "cheer"});
}

struct Pointing {
    NetworkIdentity* object = nullptr;
    std::vector<NetworkIdentity*> others;
};

class Pointer : public NetworkBehaviour {
  public:
    std::vector<const NetworkIdentity*> pointed_at;

    void rpc_point(const Pointing& at) {
        pointed_at.push_back(at.object);
        pointed_at.insert(pointed_at.end(), at.others.begin(), at.others.end());
    }
};

void add_pointer(NetworkTypes& types) {
    REQUIRE(struct_builder<Pointing>(types.registry(), "Pointing")
                .property<&Pointing::object>()
                .property<&Pointing::others>()
                .build());
    const auto pointer =
        BehaviourBuilder<Pointer>(types, "Pointer").client_rpc<&Pointer::rpc_point>().build();
    REQUIRE(pointer.has_value());
    REQUIRE(types.add_prefab("Pointer", {{*pointer}}).has_value());
}

// As for a client that does not have the object any more when it is called.
TEST_CASE("Host: a call that waits for its object names null for what went meanwhile",
          "[behaviours]") {
    ArenaGame game({}, add_pointer);
    (void)game.server().start_host();
    NetworkIdentity& stays = game.spawn(game.types().pawn());
    NetworkIdentity& unspawned = game.spawn(game.types().pawn());
    NetworkIdentity& destroyed = game.spawn(game.types().pawn());
    game.tick(3);
    NetworkIdentity& pointer = game.spawn(game.types().find("Pointer"));
    (void)pointer.component<Pointer>(0).call<&Pointer::rpc_point>(
        {&destroyed, {&stays, &unspawned}});
    REQUIRE(pointer.component<Pointer>(0).pointed_at.empty());
    game.server().unspawn(unspawned);
    game.server().destroy(destroyed);
    game.tick(3);
    CHECK(pointer.component<Pointer>(0).pointed_at ==
          std::vector<const NetworkIdentity*>{nullptr, &stays, nullptr});
}

TEST_CASE("Server: a function for all clients does not run on a server that does not play",
          "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    pawn.component<Fighter>(0).call("rpc_cheer");
    game.settle();
    CHECK(pawn.component<Fighter>(0).told == Told{"start server"});
    CHECK(game.fighter_on(0, pawn).told == Told{"start client", "cheer"});
}

TEST_CASE("Host: while it is not ready it is shown nothing", "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
    CHECK(pawn.is_visible_to_host());
    game.server().set_client_not_ready(host);
    game.tick();
    CHECK_FALSE(pawn.is_visible_to_host());
    game.server().set_client_ready(host);
    game.tick();
    CHECK(pawn.is_visible_to_host());
    CHECK(game.on_client(0, pawn) != nullptr);
}

TEST_CASE("Host: at its end the manager is told first, what it owned goes, and all else stays",
          "[behaviours]") {
    ArenaOptions options;
    options.auto_create_player = true;
    ArenaGame game(options);
    game.join_settled();
    NetworkConnection& host = game.server().start_host();
    NetworkIdentity& player = *host.identity();
    NetworkIdentity& crate = game.spawn(game.types().pawn(), &host);
    NetworkIdentity& other = game.spawn(game.types().pawn());
    game.settle();
    Fighter& of_player = player.component<Fighter>(0);
    Fighter& of_crate = crate.component<Fighter>(0);
    Fighter& of_other = other.component<Fighter>(0);
    take_told(of_player);
    take_told(of_crate);
    take_told(of_other);
    game.fighter_on(0, other).told.clear();
    game.server_manager().told.clear();

    game.server().stop_host();
    CHECK(game.server_manager().told == Told{"host stops", "left, owning 2"});
    CHECK(take_told(of_player) ==
          Told{"stop local player", "stop client", "stop authority", "stop server"});
    CHECK(take_told(of_crate) == Told{"stop client", "stop authority", "stop server"});
    CHECK(take_told(of_other) == Told{"stop client"});
    CHECK(game.server().host() == nullptr);
    CHECK(game.server().find_connection(PeerId{~std::uint64_t{0}}) == nullptr);
    CHECK_FALSE(other.is_client());
    CHECK_FALSE(other.is_visible_to_host());
    CHECK(other.is_server());
    game.server().stop_host();  // nothing
    CHECK(game.server_manager().told.size() == 2);

    // It serves on: hooks do not run here any more, and clients are sent what changes.
    of_other.health = 7;
    game.settle();
    CHECK(take_told(of_other).empty());
    CHECK(game.fighter_on(0, other).told == Told{"health 100 -> 7"});
    CHECK(game.client(0).find(other.net_id()) != nullptr);

    // And may play again.
    game.server().start_host();
    game.tick();
    CHECK(take_told(of_other) == Told{"shown to host", "health 100 -> 7", "start client"});
    CHECK(game.server().host()->identity() != nullptr);
}

TEST_CASE("Host: what a manager keeps of it is nobody's at its end", "[behaviours]") {
    struct Keeper final : ArenaManager {
        void on_server_disconnect(NetworkServer&, NetworkConnection&) override {}
    };
    ArenaTypes types;
    Keeper manager;
    SimulatedNetwork network(wide_network({}), 1, std::pmr::get_default_resource());
    NetworkServer server(host_settings({}, 1, SharingLevel::Bundles, true),
                         network.endpoint(PeerId{1}), types.get(), manager);
    REQUIRE(server.listen().has_value());
    manager.auto_create_player = false;
    NetworkConnection& host = server.start_host();
    NetworkIdentity& pawn = server.instantiate(types.pawn());
    REQUIRE(server.add_player_for_connection(host, pawn));
    server.late_update(NetTime::from_milliseconds(20));
    Fighter& fighter = pawn.component<Fighter>(0);
    take_told(fighter);
    server.stop_host();
    CHECK(take_told(fighter) == Told{"stop local player", "stop client", "stop authority"});
    CHECK(pawn.is_spawned());
    CHECK_FALSE(pawn.is_owned());
    CHECK(pawn.connection_to_client() == PeerId{});
    CHECK(fighter.call("target_whisper") == CallResult::NotOwned);
    server.late_update(NetTime::from_milliseconds(40));
    CHECK(take_told(fighter).empty());
}

}  // namespace
}  // namespace replayout::test
