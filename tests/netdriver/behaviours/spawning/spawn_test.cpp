// SPDX-License-Identifier: MIT
//
// Spawning: what makes an object at a client, what it is told, and how it goes.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <string>
#include <vector>

#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

/// A pool that notes what it does.
struct Pool {
    Told told;
    NetworkIdentity* kept = nullptr;
    bool is_empty = false;

    [[nodiscard]] NetworkSpawnHandler handler(const NetworkPrefab& prefab) {
        return {[this, &prefab](NetworkClient& client, const SpawnInfo&) {
                    told.push_back(kept == nullptr ? "made" : "reused");
                    NetworkIdentity* object = kept == nullptr ? &client.instantiate(prefab) : kept;
                    kept = nullptr;
                    return is_empty ? nullptr : object;
                },
                [this](NetworkClient&, NetworkIdentity& object, ChannelCloseReason reason) {
                    told.push_back("back: " + std::string(to_string(reason)));
                    kept = &object;
                }};
    }
};

/// Leaves as soon as it comes.
class ShyOne : public NetworkBehaviour {
  public:
    NetworkServer* server = nullptr;
    void on_start_server() override { server->unspawn(identity()); }
};

/// Ends itself once more while it ends.
class StubbornOne : public NetworkBehaviour {
  public:
    int stops = 0;
    bool is_destroying = false;
    void on_stop_server() override {
        ++stops;
        if (is_destroying) {
            server().destroy(identity());
        } else {
            server().unspawn(identity());
        }
    }
};

/// Assigns what others would hear of, when nobody hears any more.
class Untidy : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 100;
    static inline int hooks = 0;
    ~Untidy() override { health = 0; }
    void on_health(std::int32_t /*current*/) { ++hooks; }
};

TEST_CASE("U44 FindOrSpawnObject: an object that is known is refreshed and not made again",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    pawn.component<Fighter>(0).health = 70;
    game.settle();
    NetworkIdentity* shown = game.on_client(0, pawn);
    Fighter& fighter = game.fighter_on(0, pawn);
    fighter.told.clear();

    game.server().set_client_not_ready(game.connection(0));
    game.tick(10);
    CHECK(game.on_client(0, pawn) == shown);
    pawn.component<Fighter>(0).health = 100;  // as in the prefab
    pawn.component<Fighter>(0).name = "cid";
    game.tick(10);
    CHECK(fighter.health == 70);

    REQUIRE(game.client(0).ready());
    game.settle();
    CHECK(game.on_client(0, pawn) == shown);
    CHECK(fighter.told == Told{"health 70 -> 100", "name cid"});
    pawn.component<Fighter>(0).health = 5;
    game.settle();
    CHECK(fighter.health == 5);
}

TEST_CASE("U45 FindOrSpawnObject: an asset that no prefab has cannot be handled", "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    LogSpy spy;
    Pool pool;
    CHECK_FALSE(game.client(client).register_spawn_handler(0, pool.handler(game.types().pawn())));
    CHECK_FALSE(
        game.client(client).register_spawn_handler(12'345, pool.handler(game.types().pawn())));
    CHECK_FALSE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(), {}));
    CHECK(LogSpy::messages().size() == 3);
    // Half of a handler is none.
    NetworkSpawnHandler half = pool.handler(game.types().pawn());
    half.unspawn = nullptr;
    CHECK_FALSE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(), half));
    half = pool.handler(game.types().pawn());
    half.spawn = nullptr;
    CHECK_FALSE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(), half));
    CHECK(LogSpy::messages().size() == 5);
}

TEST_CASE("U46 FindOrSpawnObject: the handler is asked before the prefab, and takes objects back",
          "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    Pool pool;
    REQUIRE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(),
                                                       pool.handler(game.types().pawn())));
    NetworkIdentity& first = game.spawn(game.types().pawn());
    first.component<Fighter>(0).health = 1;
    game.settle();
    CHECK(pool.told == Told{"made"});
    game.server().destroy(first);
    game.settle();
    CHECK(pool.told == Told{"made", "back: destroyed"});

    NetworkIdentity& second = game.spawn(game.types().pawn());
    game.settle();
    CHECK(pool.told == Told{"made", "back: destroyed", "reused"});
    CHECK(game.fighter_on(0, second).health == 100);
    second.set_visibility(Visibility::ForceHidden);
    game.settle();
    CHECK(pool.told.back() == "back: relevancy");
    CHECK(game.client_manager().told.back() == "unspawned: relevancy");
}

TEST_CASE("U46 FindOrSpawnObject: a handler that gives nothing leaves the object out, and no other",
          "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    Pool pool;
    pool.is_empty = true;
    REQUIRE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(),
                                                       pool.handler(game.types().pawn())));
    LogSpy spy;
    NetworkIdentity& missing = game.spawn(game.types().pawn());
    NetworkIdentity& there = game.spawn(game.types().twins());
    game.settle();
    CHECK(game.on_client(0, missing) == nullptr);
    CHECK(game.on_client(0, there) != nullptr);
    CHECK(game.client(0).counters().handlers_failed == 1);
    CHECK_FALSE(LogSpy::messages().empty());
    missing.component<Fighter>(0).health = 3;
    game.server().destroy(missing);
    game.settle();
    CHECK(game.on_client(0, there) != nullptr);
}

TEST_CASE("U47 SpawnSceneObject: by its scene id, and an error where the scene has none",
          "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    NetworkIdentity& door = game.client(client).add_scene_object(game.types().twins(), 77);
    CHECK_FALSE(door.is_active());
    LogSpy spy;
    NetworkIdentity& known = game.server().add_scene_object(game.types().twins(), 77);
    NetworkIdentity& unknown = game.server().add_scene_object(game.types().twins(), 78);
    NetworkIdentity& other = game.server().add_scene_object(game.types().pawn(), 79);
    std::ignore = game.client(client).add_scene_object(game.types().twins(), 79);
    REQUIRE(game.server().spawn(known));
    REQUIRE(game.server().spawn(unknown));
    REQUIRE(game.server().spawn(other));
    game.settle();
    CHECK(game.on_client(0, known) == &door);
    CHECK(door.is_active());
    CHECK(game.on_client(0, unknown) == nullptr);
    CHECK(game.on_client(0, other) == nullptr);
    CHECK(game.client(client).counters().scene_objects_missing == 2);
}

TEST_CASE("U48 OnSpawn: before spawn finished objects are there, and are told nothing",
          "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.30;
    ArenaGame game(options);
    std::vector<NetworkIdentity*> pawns;
    for (int i = 0; i < 200; ++i) {
        pawns.push_back(&game.spawn(game.types().pawn()));
        pawns.back()->component<Fighter>(0).health = i;
        pawns.back()->component<Fighter>(0).target = pawns[0];
    }
    game.join();
    bool is_any_early = false;
    for (int i = 0; i < 2'000 && !game.client(0).is_spawn_finished(); ++i) {
        game.tick();
        for (const NetworkIdentity* pawn : pawns) {
            const NetworkIdentity* shown = game.on_client(0, *pawn);
            if (!game.client(0).is_spawn_finished() && shown != nullptr) {
                is_any_early = true;
                CHECK(shown->component<Fighter>(0).told.empty());
            }
        }
    }
    CHECK(is_any_early);
    game.settle();
    for (std::size_t i = 0; i < pawns.size(); ++i) {
        const Fighter& fighter = game.fighter_on(0, *pawns[i]);
        const std::string hook = "health 100 -> " + std::to_string(i);
        CHECK(fighter.told == (i == 100 ? Told{"start client"} : Told{hook, "start client"}));
        CHECK(fighter.target.get() == game.on_client(0, *pawns[0]));
    }
    CHECK(game.client_manager().told == Told{"spawn started", "spawn finished"});
}

TEST_CASE("U50 Destroy: a scene object is not active then, and can be spawned again",
          "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    NetworkIdentity& door = game.client(client).add_scene_object(game.types().twins(), 5);
    NetworkIdentity& object = game.server().add_scene_object(game.types().twins(), 5);
    CHECK_FALSE(object.is_active());
    for (int round = 0; round < 3; ++round) {
        REQUIRE(game.server().spawn(object));
        CHECK(object.is_active());
        object.component<Fighter>(0).health = round;
        game.settle();
        CHECK(game.on_client(0, object) == &door);
        CHECK(door.is_active());
        CHECK(door.component<Fighter>(0).health == round);
        if (round == 0) {
            game.server().unspawn(object);
            CHECK(object.component<Fighter>(0).health == 0);
        } else {
            game.server().destroy(object);
            CHECK(object.component<Fighter>(0).health == 100);
        }
        CHECK_FALSE(object.is_active());
        game.settle();
        CHECK_FALSE(door.is_active());
        CHECK(door.component<Fighter>(0).health == 100);
    }
    // Who joins later finds it, too.
    const std::size_t late = game.join();
    NetworkIdentity& late_door = game.client(late).add_scene_object(game.types().twins(), 5);
    REQUIRE(game.server().spawn(object));
    game.settle();
    CHECK(game.on_client(late, object) == &late_door);
}

TEST_CASE("U50 Destroy: of what was never shown nothing happens", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    pawn.set_visibility(Visibility::ForceHidden);
    REQUIRE(game.server().spawn(pawn));
    game.settle();
    CHECK(game.on_client(0, pawn) == nullptr);
    game.server().destroy(pawn);
    game.server().destroy(pawn);
    game.settle();
    CHECK(game.client_manager().told == Told{"spawn started", "spawn finished"});
}

TEST_CASE("U55 Spawn and delete: who joins later never sees it, who is there is told",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& first = game.spawn(game.types().pawn());
    game.settle();
    game.server().destroy(first);
    game.settle();
    CHECK(game.client_manager().told.back() == "unspawned: destroyed");
    game.client_manager().told.clear();
    game.join_settled();
    CHECK(game.client_manager().told == Told{"spawn started", "spawn finished"});
}

TEST_CASE("U57 Many objects that are spawned at once are all there", "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.20;
    ArenaGame game(options);
    game.join_settled();
    std::vector<NetworkIdentity*> pawns;
    for (int i = 0; i < 1'000; ++i) {
        pawns.push_back(&game.spawn(game.types().pawn()));
        pawns.back()->component<Fighter>(0).health = i;
    }
    game.settle();
    for (std::size_t i = 0; i < pawns.size(); ++i) {
        CHECK(game.fighter_on(0, *pawns[i]).health == static_cast<std::int32_t>(i));
    }
}

TEST_CASE("U27 Hooks run on clients, and not on a server that does not play", "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    pawn.component<Fighter>(0).health = 1;
    game.settle();
    CHECK(pawn.component<Fighter>(0).told == Told{"start server"});
    CHECK(game.fighter_on(0, pawn).told == Told{"start client", "health 100 -> 1"});
}

TEST_CASE("U30 References: one to what is not spawned yet can be read, and arrives when it is",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.server().instantiate(game.types().pawn());
    NetworkIdentity& target = game.server().instantiate(game.types().pawn());
    Fighter& fighter = pawn.component<Fighter>(0);
    fighter.target = &target;
    CHECK(fighter.target.get() == &target);
    REQUIRE(game.server().spawn(pawn));
    game.settle();
    CHECK(game.fighter_on(0, pawn).target.get() == nullptr);
    REQUIRE(game.server().spawn(target));
    game.settle();
    CHECK(game.fighter_on(0, pawn).target.get() == game.on_client(0, target));
    // It is null while the target is hidden, and heals without another value.
    target.set_visibility(Visibility::ForceHidden);
    game.settle();
    CHECK(game.fighter_on(0, pawn).target.get() == nullptr);
    target.set_visibility(Visibility::Default);
    game.settle();
    CHECK(game.fighter_on(0, pawn).target.get() == game.on_client(0, target));
}

TEST_CASE("U32 Hook deferral: after the initial batch hooks run as values arrive", "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    Fighter& shown = game.fighter_on(0, pawn);
    bool is_seen_in_hook = false;
    shown.during_hook = [&](Fighter& fighter) { is_seen_in_hook = fighter.health == 7; };
    pawn.component<Fighter>(0).health = 7;
    for (int i = 0; i < 10 && shown.health != 7; ++i) {
        game.tick();
    }
    CHECK(is_seen_in_hook);
    NetworkIdentity& late = game.server().instantiate(game.types().pawn());
    late.component<Fighter>(0).health = 8;
    REQUIRE(game.server().spawn(late));
    game.settle();
    CHECK(game.fighter_on(0, late).told == Told{"health 100 -> 8", "start client"});
}

TEST_CASE("U56 Values that overtake the spawn of their object are not lost", "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.4;
    options.link.reorder = 0.5;
    options.link.reorder_ms = 100;
    ArenaGame game(options);
    game.join_settled();
    std::vector<NetworkIdentity*> pawns;
    for (int i = 0; i < 50; ++i) {
        pawns.push_back(&game.spawn(game.types().pawn()));
        game.tick();
        for (NetworkIdentity* pawn : pawns) {
            pawn->component<Fighter>(0).health = i;
        }
    }
    game.settle(20'000);
    for (const NetworkIdentity* pawn : pawns) {
        CHECK(game.fighter_on(0, *pawn).health == 49);
    }
}

TEST_CASE("Spawn: twice, unspawned twice and destroyed twice is refused, and harmless",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    CHECK_FALSE(game.server().spawn(pawn));
    game.settle();
    game.server().unspawn(pawn);
    game.server().unspawn(pawn);
    CHECK(pawn.component<Fighter>(0).told == Told{"start server", "stop server"});
    game.settle();
    CHECK(game.client(0).find(pawn.net_id()) == nullptr);
    REQUIRE(game.server().spawn(pawn));
    game.settle();
    CHECK(game.on_client(0, pawn) != nullptr);
    game.server().destroy(pawn);
    CHECK_FALSE(game.server().spawn(pawn));
    game.settle();
}

TEST_CASE("Ready: what it is not shown when it is ready again it loses then", "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.20;
    ArenaGame game(options);
    game.join();
    NetworkIdentity& stays = game.spawn(game.types().pawn());
    NetworkIdentity& goes = game.spawn(game.types().pawn());
    const std::uint64_t id_of_goes = goes.net_id();
    game.settle();
    Fighter& fighter = game.fighter_on(0, stays);
    game.server().set_client_not_ready(game.connection(0));
    game.tick(100);
    CHECK(game.client_manager().told.back() == "not ready");
    CHECK_FALSE(game.client(0).is_ready());
    game.server().destroy(goes);
    NetworkIdentity& comes = game.spawn(game.types().pawn());
    stays.component<Fighter>(0).health = 9;
    game.tick(100);
    CHECK(game.client(0).find(id_of_goes) != nullptr);
    CHECK(game.on_client(0, comes) == nullptr);
    CHECK(fighter.health == 100);

    game.client_manager().told.clear();
    REQUIRE(game.client(0).ready());
    CHECK_FALSE(game.client(0).ready());
    game.settle();
    CHECK(game.client(0).find(id_of_goes) == nullptr);
    CHECK(game.on_client(0, comes) != nullptr);
    CHECK(fighter.told == Told{"start client", "health 100 -> 9"});
    CHECK(game.client_manager().told ==
          Told{"spawn started", "unspawned: relevancy", "spawn finished"});
    CHECK(game.client(0).counters().requests_refused == 1);
}

TEST_CASE("Ready: what a client kept ends with its connection", "[behaviours]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    game.server().set_client_not_ready(game.connection(0));
    game.tick(10);
    CHECK(game.on_client(0, pawn) != nullptr);
    game.client(0).disconnect();
    game.tick(10);
    CHECK(game.on_client(0, pawn) == nullptr);
    CHECK(game.client_manager().told.back() == "unspawned: disconnected");
}

TEST_CASE("Ready: not ready and ready again at once, many times, ends in what there is",
          "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.20;
    options.link.duplicate = 0.1;
    ArenaGame game(options);
    game.join();
    std::vector<NetworkIdentity*> pawns;
    for (int i = 0; i < 20; ++i) {
        pawns.push_back(&game.spawn(game.types().pawn()));
    }
    game.settle();
    for (int round = 0; round < 30; ++round) {
        game.server().set_client_not_ready(game.connection(0));
        game.tick(static_cast<std::uint32_t>(round % 4));
        pawns[static_cast<std::size_t>(round) % 20]->component<Fighter>(0).health = round;
        game.server().set_client_ready(game.connection(0));
        game.tick(static_cast<std::uint32_t>(round % 7));
    }
    game.settle();
    for (const NetworkIdentity* pawn : pawns) {
        CHECK(game.fighter_on(0, *pawn).health.get() == pawn->component<Fighter>(0).health.get());
    }
}

TEST_CASE("Spawn: an object that ends itself as it starts is not spawned, and nobody owns it",
          "[behaviours]") {
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto shy = BehaviourBuilder<ShyOne>(types, "ShyOne").build();
        REQUIRE(shy.has_value());
        REQUIRE(types.add_prefab("ShyOne", {{*shy}}).has_value());
    });
    game.join_settled();
    NetworkIdentity& shy = game.server().instantiate(game.types().find("ShyOne"));
    shy.component<ShyOne>(0).server = &game.server();
    CHECK_FALSE(game.server().spawn(shy, &game.connection(0)));
    CHECK_FALSE(game.server().add_player_for_connection(game.connection(0), shy));
    CHECK(game.connection(0).owned().empty());
    game.server().destroy_owned(game.connection(0));
    game.settle();
}

TEST_CASE("Destroy: an object that ends itself as it stops is told so once", "[behaviours]") {
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto stubborn = BehaviourBuilder<StubbornOne>(types, "StubbornOne").build();
        REQUIRE(stubborn.has_value());
        REQUIRE(types.add_prefab("StubbornOne", {{*stubborn}}).has_value());
    });
    game.join_settled();
    NetworkIdentity& kept = game.spawn(game.types().find("StubbornOne"), &game.connection(0));
    NetworkIdentity& gone = game.spawn(game.types().find("StubbornOne"), &game.connection(0));
    game.settle();
    const std::uint64_t kept_id = kept.net_id();
    const std::uint64_t gone_id = gone.net_id();

    game.server().unspawn(kept);
    CHECK(kept.component<StubbornOne>(0).stops == 1);
    CHECK_FALSE(kept.is_spawned());
    gone.component<StubbornOne>(0).is_destroying = true;
    game.server().unspawn(gone);
    CHECK(gone.component<StubbornOne>(0).stops == 1);  // freed behind the update
    CHECK(game.connection(0).owned().empty());
    CHECK(game.server().spawn(kept));
    CHECK_FALSE(game.server().spawn(gone));
    game.settle();
    CHECK(game.client(0).find(kept_id) == nullptr);
    CHECK(game.client(0).find(gone_id) == nullptr);
    CHECK(game.on_client(0, kept) != nullptr);
}

TEST_CASE("NetworkTypes: a prefab of a class that was built for others is refused",
          "[behaviours]") {
    NetworkTypes others;
    const auto shy = BehaviourBuilder<ShyOne>(others, "ShyOne").build();
    REQUIRE(shy.has_value());
    NetworkTypes types;
    const auto prefab = types.add_prefab("ShyOne", {{*shy}});
    REQUIRE_FALSE(prefab.has_value());
    CHECK(prefab.error().code == ErrorCode::UnknownType);
    CHECK(types.find_prefab("ShyOne") == nullptr);
}

TEST_CASE("Spawn: a server that does not listen refuses it", "[behaviours]") {
    const ArenaTypes types;
    SimulatedNetwork network(wide_network({}), 1, std::pmr::get_default_resource());
    NetworkManager manager;
    NetworkServer server({}, network.endpoint(PeerId{1}), types.get(), manager);
    NetworkIdentity& pawn = server.instantiate(types.pawn());
    CHECK_FALSE(server.spawn(pawn));
    CHECK_FALSE(pawn.is_spawned());
    REQUIRE(server.listen().has_value());
    CHECK(server.spawn(pawn));
}

TEST_CASE("Server: to destructors of its objects at its end they are not spawned", "[behaviours]") {
    const ArenaTypes types({}, [](NetworkTypes& more) {
        const auto untidy = BehaviourBuilder<Untidy>(more, "Untidy")
                                .sync_var<&Untidy::health, &Untidy::on_health>()
                                .build();
        REQUIRE(untidy.has_value());
        REQUIRE(more.add_prefab("Untidy", {{*untidy}}).has_value());
    });
    Untidy::hooks = 0;
    {
        SimulatedNetwork network(wide_network({}), 1, std::pmr::get_default_resource());
        NetworkManager manager;
        manager.auto_create_player = false;
        NetworkServer server({}, network.endpoint(PeerId{1}), types.get(), manager);
        REQUIRE(server.listen().has_value());
        NetworkConnection& host = server.start_host();
        server.set_client_ready(host);
        NetworkIdentity& untidy = server.instantiate(types.find("Untidy"));
        REQUIRE(server.spawn(untidy, &host));
        NetTime now;
        for (int tick = 0; tick < 3; ++tick, now = now.plus_milliseconds(20)) {
            server.early_update(now);
            server.late_update(now);
        }
        untidy.component<Untidy>(0).health = 50;
        REQUIRE(Untidy::hooks == 1);
    }
    CHECK(Untidy::hooks == 1);
}

}  // namespace
}  // namespace replayout::test
