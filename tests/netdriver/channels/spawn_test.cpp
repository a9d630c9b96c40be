// SPDX-License-Identifier: MIT
//
// What an object is spawned with, who spawns it, and what it goes by.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

class BarrelHandler final : public SpawnHandler {
  public:
    explicit BarrelHandler(PropWorld& world) : world_(world) {}

    ObjectHandle spawn(const SpawnInfo& info) override {
        told.push_back("handler: #" + std::to_string(info.archetype.value));
        return is_refusing ? ObjectHandle{} : world_.add(info.layout);
    }
    void despawn(ObjectHandle object, ChannelCloseReason reason) override {
        told.push_back("handler: " + std::string(to_string(reason)));
        world_.remove(object);
    }

    bool is_refusing = false;
    Told told;

  private:
    PropWorld& world_;
};

}  // namespace

TEST_CASE("Spawn: an object comes with its location, rotation, scale and velocity",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    (void)take_told(game.client(client));
    SpawnParameters parameters;
    SECTION("all of it") {
        parameters.location = Vector3{1, 2, 3};
        parameters.rotation = Quat{0, 0, 1, 0};
        parameters.scale = Vector3{2, 2, 2};
        parameters.velocity = Vector3{0, 0, -9};
        (void)game.add(game.layouts().prop(), parameters);
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)) ==
              Told{"spawn at 1,2,3 turned scaled 2,2,2 moving 0,0,-9"});
    }
    SECTION("a part of it") {
        parameters.velocity = Vector3{4, 5, 6};
        (void)game.add(game.layouts().prop(), parameters);
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)) == Told{"spawn moving 4,5,6"});
    }
    SECTION("nothing") {
        (void)game.add(game.layouts().prop());
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)) == Told{"spawn"});
    }
}

TEST_CASE("Spawn: an object begins as its archetype, and only what differs is sent",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle barrel = game.add(game.layouts().barrel());
    const ObjectHandle dented = game.add(game.layouts().barrel());
    game.prop(dented).hp = 20;
    REQUIRE(game.settle());
    CHECK(game.prop_on(client, barrel).hp == 25);
    CHECK(game.prop_on(client, dented).hp == 20);
    CHECK(game.server().driver.stats().replication.blocks_sent == 1);
    game.prop(barrel).hp = 100;  // what the class begins with
    REQUIRE(game.settle());
    CHECK(game.prop_on(client, barrel).hp == 100);
}

TEST_CASE("Spawn: an archetype is added once, under an id, of a class that was added",
          "[netdriver][spawn]") {
    const PropLayouts layouts;
    const PropLayouts others;
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    PropWorld world(1, layouts);
    NetDriver driver(NetDriverSettings(), network.endpoint(PeerId{1}), world);
    CHECK_FALSE(driver.add_archetype(ArchetypeId{7}, layouts.barrel()));  // its class is not there
    REQUIRE(driver.add_layout(layouts.prop()));
    CHECK_FALSE(driver.add_archetype(ArchetypeId{0}, layouts.barrel()));
    CHECK_FALSE(driver.add_archetype(ArchetypeId{7}, layouts.prop()));
    CHECK(driver.add_archetype(ArchetypeId{7}, layouts.barrel()));
    CHECK_FALSE(driver.add_archetype(ArchetypeId{7}, others.barrel()));
    CHECK_FALSE(driver.add_archetype(ArchetypeId{8}, layouts.barrel()));
    CHECK(driver.add_archetype(ArchetypeId{8}, others.barrel()));
    REQUIRE(driver.listen());
    CHECK_FALSE(driver.add_archetype(ArchetypeId{9}, others.prop()));
}

TEST_CASE("Spawn: a client knows its archetypes before it connects", "[netdriver][spawn]") {
    const PropLayouts layouts;
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    PropWorld world(1, layouts);
    NetDriver driver(NetDriverSettings(), network.endpoint(PeerId{2}), world);
    REQUIRE(driver.add_layout(layouts.prop()));
    REQUIRE(driver.connect(PeerId{1}, {}));
    const Status late = driver.add_archetype(ArchetypeId{7}, layouts.barrel());
    REQUIRE(!late);
    CHECK(late.error().code == ErrorCode::InvalidArgument);
}

TEST_CASE("Spawn: an object of the map is found by its name, and stays when it goes out of sight",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle door = game.announce("door");
    game.prop(door).hp = 7;
    REQUIRE(game.settle());
    PropHost& host = game.client(client);
    const ObjectHandle shown = game.find_on(client, door);
    CHECK(shown == host.world.named("door"));
    CHECK(game.prop_on(client, door).hp == 7);
    CHECK(take_told(host) == Told{"find door", "1 joined"});

    game.server().driver.interest().set_relevant_for(SpawnGame::peer_of(client), game.id_of(door),
                                                     false);
    REQUIRE(game.settle());
    CHECK(take_told(host) == Told{"despawn: relevancy"});
    CHECK(game.find_on(client, door).is_null());
    CHECK(host.world.contains(shown));

    game.remove(door);
    REQUIRE(game.settle());
    CHECK(take_told(host) == Told{"destroyed door"});
    CHECK_FALSE(host.world.contains(shown));
}

TEST_CASE("Spawn: what cannot be made or found is logged with its ids, and does no harm",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    const LogSpy log;
    SpawnParameters parameters;
    const ObjectHandle statue = game.server().world.place("statue");
    parameters.stable_name = "statue";
    (void)game.add(game.layouts().prop(), parameters);
    game.prop(statue).hp = 3;
    const ObjectHandle other = game.add(game.layouts().prop());
    game.prop(other).link = statue;
    REQUIRE(game.settle());
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages().front() ==
          "nothing was found for object 1 of class \"Prop\", stable name \"statue\"");
    CHECK(game.prop_on(client, other).link.is_null());
    game.remove(statue);
    REQUIRE(game.settle());
    CHECK(game.client(client).driver.state() == ConnectionState::Joined);
}

TEST_CASE("Spawn: a handler makes and takes back what is of its archetype, and nothing else",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.add_client();
    PropHost& host = game.client(client);
    BarrelHandler handler(host.world);
    host.driver.set_spawn_handler(game.layouts().barrel(), &handler);
    game.connect(client);
    const ObjectHandle barrel = game.add(game.layouts().barrel());
    const ObjectHandle prop = game.add(game.layouts().prop());
    REQUIRE(game.settle());
    CHECK(handler.told == Told{"handler: #7"});
    CHECK(host.world.told == Told{"spawn", "1 joined"});
    CHECK(game.prop_on(client, barrel).hp == 25);

    SECTION("whoever made it takes it back") {
        host.driver.set_spawn_handler(game.layouts().barrel(), nullptr);
        (void)take_told(host);
        game.remove(barrel);
        game.remove(prop);
        REQUIRE(game.settle());
        CHECK(handler.told.back() == "handler: destroyed");
        CHECK(take_told(host) == Told{"despawn: destroyed"});
    }
    SECTION("what it refuses is logged") {
        const LogSpy log;
        handler.is_refusing = true;
        (void)game.add(game.layouts().barrel());
        REQUIRE(game.settle());
        REQUIRE(LogSpy::messages().size() == 1);
        CHECK(LogSpy::messages().front() ==
              "nothing was spawned for object 3 of class \"Prop\", archetype 7");
    }
    SECTION("a connection that ends says so") {
        host.driver.disconnect(PeerId{1});
        CHECK(handler.told.back() == "handler: disconnected");
    }
}

TEST_CASE("Spawn: a client is told why an object goes", "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle one = game.add(game.layouts().prop());
    const ObjectHandle two = game.add(game.layouts().prop());
    const ObjectHandle three = game.add(game.layouts().prop());
    REQUIRE(game.settle());
    (void)take_told(game.client(client));
    game.remove(one, ChannelCloseReason::LevelUnloaded);
    game.remove(two, ChannelCloseReason::Migrated);
    game.remove(three);
    REQUIRE(game.settle());
    CHECK(take_told(game.client(client)) ==
          Told{"despawn: level unloaded", "despawn: migrated", "despawn: destroyed"});
}

TEST_CASE("Relevancy: an object goes at one client alone, and comes anew with its values",
          "[netdriver][spawn]") {
    SpawnGame game(bad_link());
    const std::size_t one = game.join();
    const std::size_t other = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    const ObjectHandle looker = game.add(game.layouts().prop());
    game.prop(looker).link = prop;
    REQUIRE(game.settle());
    NetDriver& driver = game.server().driver;
    driver.interest().set_relevant_for(SpawnGame::peer_of(one), game.id_of(prop), false);
    CHECK_FALSE(driver.is_relevant_for(SpawnGame::peer_of(one), game.id_of(prop)));
    CHECK(driver.is_relevant_for(SpawnGame::peer_of(other), game.id_of(prop)));
    game.prop(prop).hp = 50;
    REQUIRE(game.settle());
    CHECK(game.find_on(one, prop).is_null());
    CHECK(game.prop_on(one, looker).link.is_null());
    CHECK(game.prop_on(other, prop).hp == 50);
    CHECK(driver.call_function(game.id_of(prop), "multicast_boom") == CallResult::Sent);
    REQUIRE(game.settle());
    CHECK(game.prop_on(other, prop).heard == Told{"boom"});

    driver.interest().set_relevant_for(SpawnGame::peer_of(one), game.id_of(prop), true);
    REQUIRE(game.settle());
    CHECK(game.prop_on(one, prop).hp == 50);
    CHECK(game.prop_on(one, prop).heard.empty());
    CHECK(game.prop_on(one, looker).link == game.find_on(one, prop));
}

TEST_CASE("Relevancy: one that sleeps goes and comes as well, and sleeps again",
          "[netdriver][spawn]") {
    SpawnGame game(bad_link());
    const std::size_t client = game.join();
    const PeerId peer = SpawnGame::peer_of(client);
    const ObjectHandle prop = game.add(game.layouts().prop());
    game.prop(prop).hp = 50;
    NetDriver& driver = game.server().driver;
    driver.set_dormancy(game.id_of(prop), NetDormancy::DormantAll);
    REQUIRE(game.settle());
    game.tick(50);
    REQUIRE(driver.is_dormant_for(peer, game.id_of(prop)));
    driver.interest().set_relevant_for(peer, game.id_of(prop), false);
    REQUIRE(game.settle());
    CHECK(game.find_on(client, prop).is_null());
    driver.interest().set_relevant_for(peer, game.id_of(prop), true);
    REQUIRE(game.settle());
    game.tick(50);
    CHECK(game.prop_on(client, prop).hp == 50);
    CHECK(driver.is_dormant_for(peer, game.id_of(prop)));
}

TEST_CASE("Tear-off: who has the object gets all of it, and keeps it", "[netdriver][spawn]") {
    SpawnGame game(bad_link());
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    const ObjectHandle looker = game.add(game.layouts().prop());
    game.prop(looker).link = prop;
    const bool is_dormant = GENERATE(false, true);
    REQUIRE(game.settle());
    if (is_dormant) {
        game.server().driver.set_dormancy(game.id_of(prop), NetDormancy::DormantAll);
        game.tick(50);
    }
    const ObjectHandle shown = game.find_on(client, prop);
    game.prop(prop).hp = 1;
    game.server().driver.tear_off(game.id_of(prop));
    game.tick();
    game.server().world.remove(prop);  // its memory is not asked for any more
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    PropHost& host = game.client(client);
    CHECK(host.world.told.back() == "despawn: tear-off");
    CHECK(host.world.at(shown).hp == 1);
    CHECK(host.driver.role_of(shown).role == NetRole::None);
    CHECK(game.prop_on(client, looker).link.is_null());
    CHECK(game.find_on(late, prop).is_null());
    CHECK(game.server().driver.object_count() == 1);
}

TEST_CASE("Tear-off: the handle is the game's again behind the next flush", "[netdriver][spawn]") {
    SpawnGame game(bad_link());
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    NetDriver& driver = game.server().driver;
    driver.set_owner(game.id_of(prop), SpawnGame::peer_of(client));
    REQUIRE(game.settle());
    const ObjectHandle shown = game.find_on(client, prop);
    CHECK(game.client(client).driver.call_function(shown, "server_use") == CallResult::Sent);
    game.prop(prop).hp = 1;
    driver.tear_off(game.id_of(prop));
    CHECK(driver.find_object(prop) == NetObjectId{});
    game.tick();
    game.server().world.at(prop).hp = 2;  // another object, in the same memory
    game.server().world.at(prop).heard.clear();
    const NetObjectId again = driver.add_object(game.layouts().prop(), prop);
    CHECK(driver.find_object(prop) == again);
    REQUIRE(game.settle());
    CHECK(game.client(client).world.at(shown).hp == 1);
    const ObjectHandle other =
        game.client(client).driver.guids().find_object(driver.guid_of(again));
    REQUIRE_FALSE(other.is_null());
    CHECK(game.client(client).world.at(other).hp == 2);
    CHECK(game.server().world.at(prop).heard.empty());  // that call was of the one before
}

TEST_CASE("Destroyed names: who did not see it happen is told, and nobody twice",
          "[netdriver][spawn]") {
    SpawnGame game(bad_link());
    const std::size_t witness = game.join();
    const ObjectHandle door = game.announce("door");
    const ObjectHandle lamp = game.announce("lamp");
    REQUIRE(game.settle());
    game.remove(door);
    game.remove(lamp, ChannelCloseReason::LevelUnloaded);
    REQUIRE(game.settle());
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(take_told(game.client(witness)) == Told{"find door", "find lamp", "1 joined",
                                                  "despawn: destroyed", "despawn: level unloaded"});
    CHECK(take_told(game.client(late)) == Told{"1 joined", "destroyed door"});

    game.server().driver.forget_destroyed("door");
    const std::size_t later = game.join();
    REQUIRE(game.settle());
    CHECK(take_told(game.client(later)) == Told{"1 joined"});
}

TEST_CASE("Destroyed names: any number is told, beside everything else", "[netdriver][spawn]") {
    constexpr std::size_t count = 5'000;
    SpawnGame game(bad_link());
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "wall_" + std::to_string(i) + "/brick";
        (void)game.server().world.place(name);
        game.remove(game.announce(name));
    }
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told.size() == count + 1);
    game.server().driver.forget_all_destroyed();
    const std::size_t later = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(later).world.told == Told{"1 joined"});
}

TEST_CASE("Roles: a client is told what it is to an object, at the spawn and when it changes",
          "[netdriver][roles]") {
    SpawnGame game(bad_link());
    const std::size_t client = game.join();
    const PeerId peer = SpawnGame::peer_of(client);
    NetDriver& driver = game.server().driver;
    REQUIRE(game.settle());
    PropHost& host = game.client(client);
    (void)take_told(host);

    const ObjectHandle prop = game.add(game.layouts().prop());
    driver.set_owner(game.id_of(prop), peer);
    driver.set_autonomous(game.id_of(prop), true);
    driver.set_player(game.id_of(prop), true);
    REQUIRE(game.settle());
    CHECK(take_told(host) == Told{"spawn, autonomous owned player"});
    CHECK(driver.role_for(peer, game.id_of(prop)) ==
          ObjectRole{NetRole::AutonomousProxy, true, true});

    driver.set_autonomous(game.id_of(prop), false);
    REQUIRE(game.settle());
    CHECK(take_told(host) == Told{"autonomous owned player -> simulated owned player"});
    driver.clear_owner(game.id_of(prop));
    REQUIRE(game.settle());
    CHECK(take_told(host) == Told{"simulated owned player -> simulated"});
    CHECK(host.driver.role_of(game.find_on(client, prop)) == ObjectRole());
    driver.set_owner(game.id_of(prop), PeerId{99});
    REQUIRE(game.settle());
    CHECK(take_told(host).empty());
}

TEST_CASE("Roles: of changes faster than the network a client is told the last",
          "[netdriver][roles]") {
    SpawnGame game(bad_link());
    const std::size_t one = game.join();
    const std::size_t other = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    NetDriver& driver = game.server().driver;
    for (int i = 0; i < 999; ++i) {
        driver.set_owner(game.id_of(prop), SpawnGame::peer_of(i % 2 == 0 ? one : other));
        game.tick();
    }
    REQUIRE(game.settle());
    CHECK(game.client(one).driver.role_of(game.find_on(one, prop)).is_owned);
    CHECK_FALSE(game.client(other).driver.role_of(game.find_on(other, prop)).is_owned);
    CHECK(game.client(one).world.told.size() < 300);
}

TEST_CASE("Roles: one that changes while the object sleeps is told when it wakes",
          "[netdriver][roles]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    NetDriver& driver = game.server().driver;
    REQUIRE(game.settle());
    driver.set_dormancy(game.id_of(prop), NetDormancy::DormantAll);
    game.tick(50);
    (void)take_told(game.client(client));
    driver.set_owner(game.id_of(prop), SpawnGame::peer_of(client));
    game.tick(50);
    CHECK(take_told(game.client(client)).empty());
    driver.flush_dormancy(game.id_of(prop));
    game.tick(50);
    CHECK(take_told(game.client(client)) == Told{"simulated -> simulated owned"});
    CHECK(driver.is_dormant_for(SpawnGame::peer_of(client), game.id_of(prop)));
}

TEST_CASE("Host mode: the server's own player joins, and its objects' functions run here",
          "[netdriver][roles]") {
    SpawnGame game;
    constexpr PeerId host{1'000};
    NetDriver& driver = game.server().driver;
    driver.set_host(host);
    const std::size_t client = game.join();
    const ObjectHandle prop = game.add(game.layouts().prop());
    driver.set_owner(game.id_of(prop), host);
    REQUIRE(game.settle());
    CHECK(game.server().world.told == Told{"1000 joined", "2 joined"});
    CHECK(driver.call_function(game.id_of(prop), "client_tell") == CallResult::Ran);
    CHECK(driver.call_function(game.id_of(prop), "server_use") == CallResult::Ran);
    CHECK(driver.call_function(game.id_of(prop), "multicast_boom") == CallResult::Sent);
    REQUIRE(game.settle());
    CHECK(game.prop(prop).heard == Told{"tell", "use", "boom"});
    CHECK(game.prop_on(client, prop).heard == Told{"boom"});
    driver.set_owner(game.id_of(prop), SpawnGame::peer_of(client));
    CHECK(driver.call_function(game.id_of(prop), "client_tell") == CallResult::Sent);
}

TEST_CASE("Spawn: a handle may be used again, and references mean the object that has it now",
          "[netdriver][spawn]") {
    SpawnGame game;
    const std::size_t client = game.join();
    const ObjectHandle from = game.add(game.layouts().prop());
    ObjectHandle target = game.add(game.layouts().prop());
    game.prop(from).link = target;
    REQUIRE(game.settle());
    REQUIRE(game.prop_on(client, from).link == game.find_on(client, target));
    const int ticks_between = GENERATE(0, 1, 10);
    NetDriver& driver = game.server().driver;
    driver.remove_object(game.id_of(target));
    game.tick(static_cast<std::uint32_t>(ticks_between));
    game.prop(target).hp = 5;
    const NetObjectId again = driver.add_object(game.layouts().prop(), target);
    REQUIRE(game.settle());
    const ObjectHandle found =
        game.client(client).driver.guids().find_object(driver.guid_of(again));
    REQUIRE_FALSE(found.is_null());
    CHECK(game.prop_on(client, from).link == found);
    CHECK(game.client(client).world.at(found).hp == 5);
    const std::uint64_t properties = driver.stats().replication.properties_sent;
    (void)game.add(game.layouts().prop());  // another id, and no reason to send the reference
    REQUIRE(game.settle());
    CHECK(driver.stats().replication.properties_sent == properties);
}

}  // namespace replayout::test
