// SPDX-License-Identifier: MIT
//
// Dormancy beyond what Unreal promises: what clients keep, removal, what changes meanwhile, and
// what it costs. The promises are in unreal_conformance_dormancy_test.cpp.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"
#include "support/worlds/door_game.h"
#include "support/worlds/net_fixture.h"
#include "support/worlds/spawn_game.h"
#include "support/worlds/tank_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::size_t make_dormant(DoorGame& game, ObjectHandle door) {
    const std::size_t client = game.join();
    game.set_dormancy(door, NetDormancy::DormantAll);
    REQUIRE(game.settle());
    REQUIRE(game.is_dormant_on(client, door));
    return client;
}

/// Drops the first packet of the server's for which `is_meant` holds. Whether it came.
class DropOnce {
  public:
    DropOnce(NetFixture& net, bool (*is_meant)(const Packet&)) : net_(net) {
        net.server().transport.set_script([this, is_meant](Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            const bool is_it = !has_dropped && packet && is_meant(*packet);
            has_dropped = has_dropped || is_it;
            return !is_it;
        });
    }
    ~DropOnce() { net_.server().transport.set_script({}); }
    DropOnce(const DropOnce&) = delete;
    DropOnce& operator=(const DropOnce&) = delete;

    bool has_dropped = false;

  private:
    NetFixture& net_;
};

[[nodiscard]] bool has_close(const Packet& packet) {
    return packet.has_close(1);
}
[[nodiscard]] bool has_any_open(const Packet& packet) {
    return packet.has_open();
}

/// A client joins and is sent a pawn, which goes dormant; the close is lost, and its channel is
/// still closing.
[[nodiscard]] ObjectHandle lose_close(NetFixture& net) {
    net.join();
    const ObjectHandle pawn = net.add_pawn();
    REQUIRE(net.settle());
    net.server_driver().set_dormancy(net.id_of(pawn), NetDormancy::DormantAll);
    DropOnce drop(net, has_close);
    REQUIRE(net.tick_until([&] { return drop.has_dropped; }));
    return pawn;
}

}  // namespace

TEST_CASE("Dormancy: 50,000 dormant objects are not looked at, not compared and not sent",
          "[netdriver][dormancy]") {
    ClassGameOptions options;
    options.is_validating = false;  // it would keep a copy of each
    DoorGame game(options);
    const std::size_t client = game.join();
    constexpr std::uint32_t count = 50'000;
    std::vector<ObjectHandle> doors;
    for (std::uint32_t i = 0; i < count; ++i) {
        doors.push_back(game.add());
        game.set_dormancy(doors.back(), NetDormancy::DormantAll);
    }
    REQUIRE(game.settle());
    REQUIRE(game.driver().stats().channels_dormant == count);
    const NetStats before = game.driver().stats();
    const std::uint64_t lookups = game.lookup_count();
    for (const ObjectHandle door : doors) {
        game.door(door).state = 1;
    }
    constexpr std::uint32_t ticks = 20;
    game.tick_times(ticks);
    const NetStats& after = game.driver().stats();
    CHECK(game.lookup_count() == lookups);
    CHECK(after.replication.objects_compared == before.replication.objects_compared);
    CHECK(after.replication.objects_skipped - before.replication.objects_skipped ==
          std::uint64_t{count} * ticks);
    CHECK(after.packets_sent - before.packets_sent <= 1);  // a keep-alive
    CHECK(after.bunches_sent == before.bunches_sent);
    CHECK(after.records_sent == before.records_sent);

    game.flush(doors[40'000]);
    REQUIRE(game.settle());
    CHECK(game.door_on(client, doors[40'000]).state == 1);
    CHECK(game.door_on(client, doors[39'999]).state == 0);
    CHECK(after.replication.objects_changed - before.replication.objects_changed == 1);
    CHECK(after.records_sent - before.records_sent == 1);
    CHECK(after.bunches_sent - before.bunches_sent == 2);  // open, close
}

TEST_CASE("Dormancy: an object is compared while it is awake for anybody, and not beyond",
          "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    const std::size_t client = make_dormant(game, door);
    const std::size_t laggard = game.join();
    game.driver().set_dormant_for(game.peer_of(client), game.id_of(door), true);
    game.set_dormancy(door, NetDormancy::DormantPartial);
    game.door(door).state = 1;
    REQUIRE(game.settle());
    CHECK(game.door_on(client, door).state == 0);
    CHECK(game.door_on(laggard, door).state == 1);
    const auto compared = [&] { return game.driver().stats().replication.objects_compared; };
    const std::uint64_t while_awake = compared();
    game.tick_times(10);
    CHECK(compared() == while_awake + 10);
    game.driver().disconnect(game.peer_of(laggard));
    game.tick_times(10);
    const std::uint64_t when_gone = compared();
    game.tick_times(10);
    CHECK(compared() == when_gone);
}

TEST_CASE("Dormancy: an object does not wake for who is about to leave", "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    const PeerId peer = game.peer_of(make_dormant(game, door));
    const PeerId leaving = game.peer_of(game.join());
    REQUIRE(game.settle());
    for (const PeerId client : {peer, leaving}) {
        game.driver().set_dormant_for(client, game.id_of(door), true);
    }
    game.set_dormancy(door, NetDormancy::DormantPartial);
    REQUIRE(game.settle());
    game.tick_times(2);
    const std::uint64_t compared = game.driver().stats().replication.objects_compared;
    game.driver().disconnect(leaving);
    game.driver().set_dormant_for(leaving, game.id_of(door), false);
    game.tick_times(10);
    CHECK(game.driver().stats().replication.objects_compared == compared);
}

TEST_CASE("Dormancy: an object of which a client is not told its role stays awake",
          "[netdriver][dormancy]") {
    DoorGame game;
    const std::size_t client = game.join();
    const ObjectHandle door = game.add();
    REQUIRE(game.settle());
    game.driver().set_owner(game.id_of(door), DoorGame::peer_of(client));
    game.set_dormancy(door, NetDormancy::DormantAll);
    game.cut();
    game.tick_times(50);
    CHECK_FALSE(game.is_dormant_on(client, door));
    game.mend();
    REQUIRE(game.settle());
    CHECK(game.is_dormant_on(client, door));
    CHECK(game.client_driver(client).role_of(game.handle_on(client, door)).is_owned);
}

TEST_CASE("Dormancy: an object with a call that is not delivered stays awake",
          "[netdriver][dormancy][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const NetObjectId id = net.id_of(turret);
    NetDriver& driver = net.server().driver;
    const PeerId peer = CallFixture::client_peer(0);
    CHECK(net.call(turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
    driver.set_dormancy(id, NetDormancy::DormantAll);
    net.server().transport.set_script([](Bytes&) { return false; });
    net.tick(50);
    CHECK_FALSE(driver.is_dormant_for(peer, id));
    net.server().transport.set_script({});
    REQUIRE(net.settle());
    CHECK(driver.is_dormant_for(peer, id));
    CHECK(heard(net.client(0), "tell") == Numbers{1});
}

TEST_CASE("Dormancy: an object of which a client does not know the end of a part stays awake",
          "[netdriver][dormancy][subobjects]") {
    TankGame game;
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    const NetObjectId id = game.id_of(tank);
    const PeerId peer = TankGame::peer_of(client);
    REQUIRE(game.settle());
    game.add_part(tank, "gun", LifetimeCondition::OwnerOnly);  // the client does not have it
    game.destroy_part(tank, "gun");
    game.server().set_dormancy(id, NetDormancy::DormantAll);
    game.cut();
    game.tick(50);
    CHECK_FALSE(game.server().is_dormant_for(peer, id));
    game.network().heal();
    REQUIRE(game.settle());
    CHECK(game.server().is_dormant_for(peer, id));
    CHECK_FALSE(game.parts_on(client, tank).contains("gun"));
}

TEST_CASE("Dormancy: a call to an initially dormant object shows it first",
          "[netdriver][dormancy][rpc]") {
    CallFixture net;
    net.join_settled();
    const ObjectHandle turret = net.add();
    NetDriver& driver = net.server().driver;
    driver.set_dormancy(net.id_of(turret), NetDormancy::Initial);
    REQUIRE(net.settle());
    CHECK(net.find_on(0, turret).is_null());
    net.turret(turret).power = 6;
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    REQUIRE(net.client(0).world.heard.size() == 1);
    CHECK(net.client(0).world.heard[0].power == 6);
    CHECK(driver.dormancy_of(net.id_of(turret)) == NetDormancy::DormantAll);
    CHECK(driver.is_dormant_for(CallFixture::client_peer(0), net.id_of(turret)));
}

TEST_CASE("Dormancy: a call to a sleeper that comes into sight again shows it as it is now",
          "[netdriver][dormancy][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add();
    NetDriver& driver = net.server().driver;
    const PeerId peer = CallFixture::client_peer(0);
    REQUIRE(net.settle());
    driver.set_dormancy(net.id_of(turret), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    driver.interest().set_relevant_for(peer, net.id_of(turret), false);
    REQUIRE(net.settle());
    net.turret(turret).power = 50;  // nobody says so: it sleeps
    REQUIRE(net.settle());
    driver.interest().set_relevant_for(peer, net.id_of(turret), true);
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    REQUIRE(net.client(0).world.heard.size() == 1);
    CHECK(net.client(0).world.heard[0].power == 50);
    CHECK(driver.is_dormant_for(peer, net.id_of(turret)));
}

TEST_CASE(
    "Dormancy: a sleeper that is called and removed is not shown to a client that never had it",
    "[netdriver][dormancy][rpc]") {
    CallFixture net;
    net.join_settled(2);
    const ObjectHandle turret = net.add();
    NetDriver& driver = net.server().driver;
    const PeerId other = CallFixture::client_peer(1);
    driver.interest().set_relevant_for(other, net.id_of(turret), false);
    REQUIRE(net.settle());
    driver.set_dormancy(net.id_of(turret), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    std::size_t spawn_count = 0;
    net.client(1).world.on_told = [&](const std::string& what, ObjectHandle) {
        spawn_count += what == "spawn" ? 1u : 0u;
    };
    driver.interest().set_relevant_for(other, net.id_of(turret), true);
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.size() == 1);
    CHECK(net.client(1).world.heard.empty());
    CHECK(spawn_count == 0);
    CHECK(net.client(1).world.object_count() == 0);
}

TEST_CASE("Dormancy: no call passes over a client that joins and has the sleeper it is of",
          "[netdriver][dormancy][rpc]") {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 8;
    options.server.bytes_per_second_max = 5'000;
    CallFixture net(options);
    net.join();
    const ObjectHandle sleeper = net.add();
    NetDriver& driver = net.server().driver;
    REQUIRE(net.settle());
    driver.set_dormancy(net.id_of(sleeper), NetDormancy::DormantAll);
    std::vector<ObjectHandle> others;
    for (int i = 0; i < 300; ++i) {
        others.push_back(net.add());
        net.turret(others.back()).label = std::string(100, 'l');
    }
    REQUIRE(net.settle());
    net.join();
    const PeerId joiner = CallFixture::client_peer(1);
    const auto has_sleeper = [&] {
        return !net.find_on(1, sleeper).is_null() &&
               driver.is_dormant_for(joiner, net.id_of(sleeper));
    };
    for (int tick = 0; tick < 100 && !has_sleeper(); ++tick) {
        net.tick();
    }
    net.tick(20);
    REQUIRE(has_sleeper());
    REQUIRE(net.find_on(1, others.back()).is_null());
    std::size_t sent_count = 0;
    for (std::uint32_t call = 0; call < 20; ++call) {
        (void)net.call(others[299 - call], "multicast_boom", {100 + call, {}, ""});
        const CallResult result = net.call(sleeper, "multicast_boom", {200 + call, {}, ""});
        sent_count += result == CallResult::Sent ? 1u : 0u;
        net.tick(2);
    }
    REQUIRE(net.find_on(1, others[150]).is_null());
    REQUIRE(sent_count > 10);
    REQUIRE(net.settle());
    const std::vector<HeardCall>& heard = net.client(1).world.heard;
    const auto of_sleeper = std::count_if(heard.begin(), heard.end(),
                                          [](const HeardCall& call) { return call.number >= 200; });
    CHECK(static_cast<std::size_t>(of_sleeper) == sent_count);
    CHECK(heard.size() < 20 + sent_count);  // some of the others passed it over
}

TEST_CASE("Dormancy: what comes into sight is awake for who was not said to let it sleep",
          "[netdriver][dormancy][interest]") {
    SpawnGame game;
    const std::size_t sleeper = game.join();
    const std::size_t other = game.join();
    REQUIRE(game.settle());
    const ObjectHandle prop = game.add(game.layouts().prop());
    const NetObjectId id = game.id_of(prop);
    NetDriver& driver = game.server().driver;
    driver.interest().set_relevant_for(SpawnGame::peer_of(other), id, false);
    driver.set_dormant_for(SpawnGame::peer_of(sleeper), id, true);
    driver.set_dormancy(id, NetDormancy::DormantPartial);
    REQUIRE(game.settle());
    CHECK(driver.is_dormant_for(SpawnGame::peer_of(sleeper), id));
    game.prop(prop).hp = 7;
    driver.interest().set_relevant_for(SpawnGame::peer_of(other), id, true);
    REQUIRE(game.settle());
    CHECK(game.prop_on(other, prop).hp == 7);
    CHECK_FALSE(driver.is_dormant_for(SpawnGame::peer_of(other), id));
    CHECK(driver.is_dormant_for(SpawnGame::peer_of(sleeper), id));
    game.prop(prop).hp = 8;
    REQUIRE(game.settle());
    CHECK(game.prop_on(other, prop).hp == 8);
    CHECK(game.prop_on(sleeper, prop).hp == 100);
}

TEST_CASE("Dormancy: of what woke only what changed is sent", "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    game.door(door).state = 1;
    game.door(door).note = "oak";
    (void)make_dormant(game, door);
    const auto sent = [&] { return game.driver().stats().replication.properties_sent; };
    const std::uint64_t before = sent();
    game.flush(door);
    REQUIRE(game.settle());
    CHECK(sent() == before);
    game.flush(door);
    game.door(door).state = 2;
    REQUIRE(game.settle());
    CHECK(sent() == before + 1);
    game.flush(door);
    game.door(door).state = 3;
    game.tick();
    game.door(door).state = 2;  // back at what the client holds, while the change is on its way
    REQUIRE(game.settle());
    CHECK(game.door_on(0, door).state == 2);
}

TEST_CASE("Dormancy: references to and from a dormant object live on", "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    const ObjectHandle room = game.add();
    const ObjectHandle watcher = game.add();
    game.door(door).room = room;
    const std::size_t client = make_dormant(game, door);
    CHECK(game.door_on(client, door).room == game.handle_on(client, room));
    game.door(watcher).room = door;
    game.door(watcher).leash.target = door;
    REQUIRE(game.settle());
    CHECK(game.door_on(client, watcher).room == game.handle_on(client, door));
    CHECK(game.door_on(client, watcher).leash.target == game.handle_on(client, door));
    game.remove(room);
    REQUIRE(game.settle());
    CHECK(game.door_on(client, door).room.is_null());
    CHECK(game.is_dormant_on(client, door));
    game.remove(door);
    REQUIRE(game.settle());
    CHECK(game.door_on(client, watcher).room.is_null());
    CHECK(game.door_on(client, watcher).leash.target.is_null());
    CHECK(game.object_count_on(client) == 1);
}

TEST_CASE("Dormancy: what a client becomes to an object meanwhile counts when it wakes",
          "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    game.door(door).key = 5;
    const std::size_t client = make_dormant(game, door);
    game.driver().set_owner(game.id_of(door), DoorGame::peer_of(client));
    REQUIRE(game.settle());
    CHECK(game.door_on(client, door).key == 0);
    CHECK(game.is_dormant_on(client, door));
    game.flush(door);
    REQUIRE(game.settle());
    CHECK(game.door_on(client, door).key == 5);
    game.driver().clear_owner(game.id_of(door));
    game.flush(door);
    game.door(door).key = 6;
    REQUIRE(game.settle());
    CHECK(game.door_on(client, door).key == 5);
}

TEST_CASE("Dormancy: an object that is removed while it sleeps goes at every client",
          "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    const std::size_t client = make_dormant(game, door);
    const std::size_t other = game.join();
    REQUIRE(game.settle());
    const NetObjectId id = game.id_of(door);
    game.remove(door);
    const ObjectHandle next = game.add();  // in the same slot
    REQUIRE(game.id_of(next).index == id.index);
    game.door(next).state = 9;
    REQUIRE(game.settle());
    for (const std::size_t index : {client, other}) {
        CHECK(game.object_count_on(index) == 1);
        CHECK(game.door_on(index, next).state == 9);
        CHECK_FALSE(game.is_dormant_on(index, next));
    }
}

TEST_CASE("Dormancy: an initially dormant object in a slot that is used again is not sent",
          "[netdriver][dormancy]") {
    DoorGame game;
    const std::size_t client = game.join();
    const ObjectHandle door = game.add();
    REQUIRE(game.settle());
    const NetObjectId id = game.id_of(door);
    game.remove(door);
    const ObjectHandle next = game.add();  // while the slot's channel is closing
    REQUIRE(game.id_of(next).index == id.index);
    game.set_dormancy(next, NetDormancy::Initial);
    REQUIRE(game.settle());
    CHECK(game.object_count_on(client) == 0);
    game.flush(next);
    REQUIRE(game.settle());
    CHECK(game.object_count_on(client) == 1);
}

TEST_CASE("Dormancy: who disconnects despawns what is dormant too", "[netdriver][dormancy]") {
    DoorGame game;
    const ObjectHandle door = game.add();
    const std::size_t client = make_dormant(game, door);
    CHECK(game.object_count_on(client) == 1);
    game.client_driver(client).disconnect(PeerId{1});
    CHECK(game.object_count_on(client) == 0);
}

TEST_CASE("Dormancy: an object that is woken while its channel closes is sent",
          "[netdriver][dormancy]") {
    NetFixture net;
    const ObjectHandle pawn = lose_close(net);
    CHECK(net.server_driver().is_dormant_for(NetFixture::client_peer(0), net.id_of(pawn)));
    net.server_driver().flush_dormancy(net.id_of(pawn));
    net.pawn(pawn).health = 3;
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, pawn).health == 3);
    CHECK(net.client(0).world.spawn_count == 1);
    CHECK(net.client_driver(0).stats().channels_dormant == 2);
}

TEST_CASE("Dormancy: an object that is removed while its channel closes goes at the client",
          "[netdriver][dormancy]") {
    NetFixture net;
    const ObjectHandle pawn = lose_close(net);
    const std::uint32_t index = net.id_of(pawn).index;
    net.remove(pawn);
    const ObjectHandle next = net.add_pawn();
    REQUIRE(net.id_of(next).index == index);
    net.server_driver().set_dormancy(net.id_of(next), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.despawn_count == 1);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("Dormancy: an open that is lost keeps what the client had", "[netdriver][dormancy]") {
    NetFixture net;
    net.join();
    const ObjectHandle pawn = net.add_pawn();
    net.pawn(pawn).name = "Ann";
    net.pawn(pawn).hits.resize(3);
    net.server_driver().set_dormancy(net.id_of(pawn), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    DropOnce drop(net, has_any_open);
    net.server_driver().flush_dormancy(net.id_of(pawn));
    for (std::int32_t step = 1; step <= 20; ++step) {
        net.pawn(pawn).health = step;
        net.pawn(pawn).hits.resize(static_cast<std::size_t>(step % 4));
        net.tick();
    }
    CHECK(drop.has_dropped);
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
    CHECK(net.client(0).world.spawn_count == 1);
}

TEST_CASE("Dormancy: an object that a client cannot make sleeps, wakes and goes all the same",
          "[netdriver][dormancy]") {
    NetFixture net;
    net.join();
    net.client(0).world.refused_layout = &TestSchema::get().pawn();
    const ObjectHandle pawn = net.add_pawn();
    net.server_driver().set_dormancy(net.id_of(pawn), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    net.client(0).world.refused_layout = nullptr;
    net.server_driver().flush_dormancy(net.id_of(pawn));
    net.pawn(pawn).health = 3;
    REQUIRE(net.settle());
    // It would lack all that was sent before.
    CHECK(net.client(0).world.object_count() == 0);
    net.remove(pawn);
    REQUIRE(net.settle());
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
}

TEST_CASE("Dormancy: what a driver holds for it is in its report, and a tick takes nothing more",
          "[netdriver][dormancy]") {
    NetFixture net;
    net.join_settled();
    std::vector<ObjectHandle> pawns;
    for (int i = 0; i < 40; ++i) {
        pawns.push_back(net.add_pawn());
        net.server_driver().set_dormancy(
            net.id_of(pawns.back()),
            i % 2 == 0 ? NetDormancy::DormantAll : NetDormancy::DormantPartial);
        net.server_driver().set_dormant_for(NetFixture::client_peer(0), net.id_of(pawns.back()),
                                            true);
    }
    REQUIRE(net.settle());
    for (const ObjectHandle pawn : pawns) {
        REQUIRE(net.server_driver().is_dormant_for(NetFixture::client_peer(0), net.id_of(pawn)));
    }
    for (NetHost* host : {&net.server(), &net.client(0)}) {
        CHECK(static_cast<std::int64_t>(host->driver->memory_report().total_bytes()) ==
              host->memory.bytes_in_use());
    }
    const std::uint64_t allocations = net.server().memory.allocation_count();
    net.tick(20);
    CHECK(net.server().memory.allocation_count() == allocations);
}

}  // namespace replayout::test
