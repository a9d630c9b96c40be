// SPDX-License-Identifier: MIT
//
// Spawning: what makes an object at a client, what it is told, and how it goes.
#include <replayout/syncvar/network_client.h>
#include <replayout/syncvar/network_server.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "support/arena_game.h"
#include "support/log_spy.h"

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
          "[syncvar]") {
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

TEST_CASE("U45 FindOrSpawnObject: an asset that no prefab has cannot be handled", "[syncvar]") {
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
          "[syncvar]") {
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
          "[syncvar]") {
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

TEST_CASE("U46 FindOrSpawnObject: a handler that gives what is not free, or another's, gives nothing",
          "[syncvar]") {
    ArenaGame game;
    NetworkClient& client = game.client(game.join());
    NetworkIdentity* given = nullptr;
    bool is_destroying = false;
    const NetworkSpawnHandler handler{[&](NetworkClient& asked, const SpawnInfo&) {
                                          if (is_destroying) {
                                              asked.destroy(*given);
                                          }
                                          return given;
                                      },
                                      [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {}};
    REQUIRE(client.register_spawn_handler(game.types().pawn().asset_id(), handler));
    const LogSpy spy;
    given = &client.instantiate(game.types().pawn());
    NetworkIdentity& first = game.spawn(game.types().pawn());
    game.settle();
    REQUIRE(game.on_client(0, first) == given);

    const NetworkIdentity& second = game.spawn(game.types().pawn());  // the one that is spawned
    game.settle();
    CHECK(client.counters().handlers_failed == 1);
    given = &client.instantiate(game.types().twins());
    const NetworkIdentity& third = game.spawn(game.types().pawn());
    game.settle();
    CHECK(client.counters().handlers_failed == 2);
    given = &client.instantiate(game.types().pawn());
    is_destroying = true;
    const NetworkIdentity& fourth = game.spawn(game.types().pawn());
    game.settle();
    CHECK(client.counters().handlers_failed == 3);
    for (const NetworkIdentity* missing : {&second, &third, &fourth}) {
        CHECK(game.on_client(0, *missing) == nullptr);
    }
    first.component<Fighter>(0).health = 3;
    game.settle();
    CHECK(game.fighter_on(0, first).health == 3);
}

TEST_CASE("U47 SpawnSceneObject: by its scene id, and an error where the scene has none",
          "[syncvar]") {
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
          "[syncvar]") {
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

TEST_CASE("U50 Destroy: a scene object is not active then, and can be spawned again", "[syncvar]") {
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

TEST_CASE("U50 Destroy: of what was never shown nothing happens", "[syncvar]") {
    ArenaGame game;
    game.join();
    game.settle();
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
          "[syncvar]") {
    ArenaGame game;
    game.join();
    game.settle();
    NetworkIdentity& first = game.spawn(game.types().pawn());
    game.settle();
    game.server().destroy(first);
    game.settle();
    CHECK(game.client_manager().told.back() == "unspawned: destroyed");
    game.client_manager().told.clear();
    game.join();
    game.settle();
    CHECK(game.client_manager().told == Told{"spawn started", "spawn finished"});
}

TEST_CASE("U57 Many objects that are spawned at once are all there", "[syncvar]") {
    ArenaOptions options;
    options.link.loss = 0.20;
    ArenaGame game(options);
    game.join();
    game.settle();
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

TEST_CASE("U27 Hooks run on clients, and not on a server that does not play", "[syncvar]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
    pawn.component<Fighter>(0).health = 1;
    game.settle();
    CHECK(pawn.component<Fighter>(0).told == Told{"start server"});
    CHECK(game.fighter_on(0, pawn).told == Told{"start client", "health 100 -> 1"});
}

TEST_CASE("U30 References: one to what is not spawned yet can be read, and arrives when it is",
          "[syncvar]") {
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

TEST_CASE("U32 Hook deferral: after the initial batch hooks run as values arrive", "[syncvar]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
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

TEST_CASE("U56 Values that overtake the spawn of their object are not lost", "[syncvar]") {
    ArenaOptions options;
    options.link.loss = 0.4;
    options.link.reorder = 0.5;
    options.link.reorder_ms = 100;
    ArenaGame game(options);
    game.join();
    game.settle();
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
          "[syncvar]") {
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

TEST_CASE("Ready: what it is not shown when it is ready again it loses then", "[syncvar]") {
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

TEST_CASE("Ready: what a client kept ends with its connection", "[syncvar]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
    game.server().set_client_not_ready(game.connection(0));
    game.tick(10);
    CHECK(game.on_client(0, pawn) != nullptr);
    game.client(0).disconnect();
    game.tick(10);
    CHECK(game.on_client(0, pawn) == nullptr);
    CHECK(game.client_manager().told.back() == "unspawned: disconnected");
}

TEST_CASE("Ready: not ready and ready again at once, many times, ends in what there is",
          "[syncvar]") {
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
          "[syncvar]") {
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto shy = BehaviourBuilder<ShyOne>(types, "ShyOne").build();
        REQUIRE(shy.has_value());
        REQUIRE(types.add_prefab("ShyOne", {{*shy}}).has_value());
    });
    game.join();
    game.settle();
    NetworkIdentity& shy = game.server().instantiate(game.types().find("ShyOne"));
    shy.component<ShyOne>(0).server = &game.server();
    CHECK_FALSE(game.server().spawn(shy, &game.connection(0)));
    CHECK_FALSE(game.server().add_player_for_connection(game.connection(0), shy));
    CHECK(game.connection(0).owned().empty());
    game.server().destroy_owned(game.connection(0));
    game.settle();
}

TEST_CASE("Destroy: an object that ends itself as it stops is told so once", "[syncvar]") {
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto stubborn = BehaviourBuilder<StubbornOne>(types, "StubbornOne").build();
        REQUIRE(stubborn.has_value());
        REQUIRE(types.add_prefab("StubbornOne", {{*stubborn}}).has_value());
    });
    game.join();
    game.settle();
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

TEST_CASE("NetworkTypes: a prefab of a class that was built for others is refused", "[syncvar]") {
    NetworkTypes others;
    const auto shy = BehaviourBuilder<ShyOne>(others, "ShyOne").build();
    REQUIRE(shy.has_value());
    NetworkTypes types;
    const auto prefab = types.add_prefab("ShyOne", {{*shy}});
    REQUIRE_FALSE(prefab.has_value());
    CHECK(prefab.error().code == ErrorCode::UnknownType);
    CHECK(types.find_prefab("ShyOne") == nullptr);
}

TEST_CASE("Spawn: a server that does not listen refuses it", "[syncvar]") {
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

TEST_CASE("Server: to destructors of its objects at its end they are not spawned", "[syncvar]") {
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

TEST_CASE("Ready: a scene object that was spawned anew meanwhile is taken, and no other",
          "[syncvar]") {
    const std::vector<std::uint64_t> scene_ids = {9, 5, 7};
    for (const bool are_others_hidden : {false, true}) {
        for (std::size_t anew = 0; anew < scene_ids.size(); ++anew) {
            CAPTURE(are_others_hidden, scene_ids[anew]);
            ArenaGame game;
            game.join();
            std::vector<NetworkIdentity*> doors;
            std::vector<NetworkIdentity*> shown;
            for (const std::uint64_t scene_id : scene_ids) {
                doors.push_back(&game.server().add_scene_object(game.types().pawn(), scene_id));
                shown.push_back(&game.client(0).add_scene_object(game.types().pawn(), scene_id));
                REQUIRE(game.server().spawn(*doors.back()));
            }
            game.settle();
            for (NetworkIdentity* door : shown) {
                std::ignore = take_told(door->component<Fighter>(0));
            }
            game.server().set_client_not_ready(game.connection(0));
            game.tick(20);
            game.server().unspawn(*doors[anew]);
            REQUIRE(game.server().spawn(*doors[anew]));
            for (std::size_t i = 0; are_others_hidden && i < doors.size(); ++i) {
                REQUIRE((i == anew || game.server().hide_from(*doors[i], game.connection(0))));
            }
            REQUIRE(game.client(0).ready());
            game.settle();
            for (std::size_t i = 0; i < doors.size(); ++i) {
                CAPTURE(scene_ids[i]);
                const bool is_there = i == anew || !are_others_hidden;
                CHECK(game.on_client(0, *doors[i]) == (is_there ? shown[i] : nullptr));
                Told expected = i == anew ? Told{"stop client", "start client"} : Told{};
                if (!is_there) {
                    expected = {"stop client"};
                }
                CHECK(take_told(shown[i]->component<Fighter>(0)) == expected);
            }
            CHECK(game.client(0).counters().scene_objects_missing == 0);
        }
    }
}

TEST_CASE("Hostile server: a second object of one scene id is left out, and the first stays",
          "[syncvar]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& door = game.client(0).add_scene_object(game.types().twins(), 9);
    NetworkIdentity& first = game.server().add_scene_object(game.types().twins(), 9);
    NetworkIdentity& second = game.server().add_scene_object(game.types().twins(), 9);
    const LogSpy spy;
    REQUIRE(game.server().spawn(first));
    game.settle();
    REQUIRE(game.server().spawn(second));
    game.settle();
    CHECK(game.on_client(0, first) == &door);
    CHECK(game.on_client(0, second) == nullptr);
    CHECK(game.client(0).counters().scene_objects_missing == 1);
}

TEST_CASE("Hostile server: a second object of the connection is left out, and the first stays",
          "[syncvar]") {
    ArenaGame game;
    game.join();
    game.settle();
    const LogSpy spy;
    NetDriver& driver = game.server().driver();
    const NetworkPrefab& prefab = game.types().get().connection_prefab();
    NetworkIdentity& second = game.server().instantiate(prefab);
    const NetObjectId id =
        driver.add_object(prefab.layout(), {reinterpret_cast<std::uintptr_t>(&second)});
    driver.interest().set_relevancy(id, NetRelevancy::OnlyToOwner);
    driver.set_owner(id, ArenaGame::client_peer(0));
    game.settle();
    CHECK_FALSE(LogSpy::messages().empty());
    driver.remove_object(id);
    game.settle();
    CHECK(game.client(0).is_ready());
    game.server().set_client_not_ready(game.connection(0));
    game.tick(20);
    CHECK_FALSE(game.client(0).is_ready());
    REQUIRE(game.client(0).ready());
    game.settle();
}

/// Notes when it is started.
class Runner : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> number;
    static inline std::vector<std::uint64_t> started;
    void on_start_client() override { started.push_back(identity().net_id()); }
};

TEST_CASE("U48 OnSpawn: objects are started in the order in which the server spawned them",
          "[syncvar]") {
    Runner::started.clear();
    ArenaOptions options;
    options.link.loss = 0.3;
    options.link.reorder = 0.3;
    options.link.latency_ms = 20;
    ArenaGame game(options, [](NetworkTypes& types) {
        const auto runner =
            BehaviourBuilder<Runner>(types, "Runner").sync_var<&Runner::number>().build();
        REQUIRE(runner.has_value());
        REQUIRE(types.add_prefab("Runner", {{*runner}}).has_value());
    });
    std::vector<std::uint64_t> spawned;
    for (int i = 0; i < 200; ++i) {
        NetworkIdentity& runner = game.spawn(game.types().find("Runner"));
        runner.component<Runner>(0).number = i;
        spawned.push_back(runner.net_id());
    }
    game.join();
    game.settle();
    CHECK(Runner::started == spawned);
}

/// A server beneath the door, which gives a client the object of its connection when the test says,
/// and hears nothing of it from when it is connected: it could not run what that calls.
class BareServer final : public NetWorld {
  public:
    explicit BareServer(const ArenaTypes& types)
        : types_(types),
          network_(wide_network({}), 1, std::pmr::get_default_resource()),
          transport_(network_.endpoint(PeerId{1})),
          driver_(host_settings({}, 1, SharingLevel::Bundles, true), transport_, *this),
          client_(host_settings({}, 2, SharingLevel::Bundles, true), network_.endpoint(PeerId{2}),
                  types.get(), manager_) {
        REQUIRE(types.get().add_layouts_to(driver_).has_value());
        REQUIRE(driver_.listen().has_value());
        REQUIRE(client_.connect(PeerId{1}, now_).has_value());
    }

    void give_connection() {
        const NetObjectId id = driver_.add_object(types_.get().connection_prefab().layout(), {1});
        driver_.set_owner(id, PeerId{2});
    }
    void tick() {
        now_ = now_.plus_milliseconds(20);
        network_.advance(now_);
        driver_.tick_dispatch(now_);
        driver_.tick_flush(now_);
        client_.early_update(now_);
        client_.late_update(now_);
    }
    void tick(int count) {
        for (int i = 0; i < count; ++i) {
            tick();
        }
    }
    [[nodiscard]] bool has_joined() const noexcept { return has_joined_; }
    [[nodiscard]] ScriptedTransport& transport() noexcept { return transport_; }
    [[nodiscard]] NetworkClient& client() noexcept { return client_; }

    void* object_memory(ObjectHandle) override { return memory_.data(); }
    ObjectHandle spawn(const SpawnInfo&) override { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
    void peer_joined(PeerId) override { has_joined_ = true; }

  private:
    struct Manager final : NetworkManager {
        explicit Manager(SimulatedNetwork& network) : network_(network) {}
        void on_client_connect(NetworkClient& client) override {
            NetworkManager::on_client_connect(client);
            LinkSettings dead;
            dead.loss = 1;
            network_.set_settings(PeerId{2}, PeerId{1}, dead);
        }
        SimulatedNetwork& network_;
    };

    const ArenaTypes& types_;
    SimulatedNetwork network_;
    ScriptedTransport transport_;
    NetTime now_;
    NetDriver driver_;
    Manager manager_{network_};
    NetworkClient client_;
    bool has_joined_ = false;
    alignas(std::max_align_t) std::array<std::byte, 1'024> memory_{};
};

TEST_CASE("Connect: a client is connected once it may join and has the object of its connection",
          "[syncvar]") {
    const ArenaTypes types;
    for (const bool is_object_first : {false, true}) {
        CAPTURE(is_object_first);
        BareServer server(types);
        NetworkClient& client = server.client();
        if (is_object_first) {
            // That it may join is said once, and lost, and then once more.
            server.transport().set_script([&](Bytes&) { return !server.has_joined(); });
            for (int i = 0; i < 20 && !server.has_joined(); ++i) {
                server.tick();
            }
            REQUIRE(server.has_joined());
            server.transport().set_script({});
            REQUIRE(client.driver().state() == ConnectionState::Connecting);
            server.give_connection();
            server.tick(2);
        } else {
            server.tick(20);
            REQUIRE(client.driver().state() == ConnectionState::Joined);
            CHECK_FALSE(client.is_connected());
            server.give_connection();
        }
        server.tick(20);
        CHECK(client.is_connected());
        CHECK(client.is_ready());
        CHECK(client.counters().requests_refused == 0);
    }
}

}  // namespace
}  // namespace replayout::test
