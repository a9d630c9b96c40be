// SPDX-License-Identifier: MIT
//
// Point 8 of docs/unreal.md, "Conformance": what an object must wait for before it goes dormant,
// and what wakes it.
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/types/delta_types.h"
#include "support/worlds/call_game.h"
#include "support/worlds/door_game.h"

namespace replayout::test {
namespace {

/// A door that one client has, and that goes dormant there when nothing speaks against it.
struct Scene {
    explicit Scene(const ClassGameOptions& options = {}) : game(options) {
        client = game.join();
        REQUIRE(game.settle());
        door = game.add();
        game.door(door).skin = 1;
    }
    void begin() {
        REQUIRE(game.settle());
        game.set_dormancy(door, NetDormancy::DormantAll);
    }
    void sleep() {
        game.set_dormancy(door, NetDormancy::DormantAll);
        REQUIRE(game.settle());
        REQUIRE(is_dormant());
    }
    [[nodiscard]] bool is_dormant() { return game.is_dormant_on(client, door); }
    [[nodiscard]] const Door& shown() { return game.door_on(client, door); }
    /// Whatever it waits for does not come; then it does.
    void check_waits() {
        game.tick_times(50);
        CHECK_FALSE(is_dormant());
        game.mend();
        REQUIRE(game.settle());
        CHECK(is_dormant());
    }

    DoorGame game;
    std::size_t client = 0;
    ObjectHandle door;
};

/// A turret of the first of two clients, which sleeps at both.
struct CallScene {
    explicit CallScene(const CallFixtureOptions& options = {}) : net(options) {
        net.join();
        net.join();
        turret = net.add_owned(0);
        REQUIRE(net.settle());
        sleep();
    }
    void sleep() {
        net.server().driver.set_dormancy(net.id_of(turret), NetDormancy::DormantAll);
        REQUIRE(net.settle());
        REQUIRE(is_dormant_on(0));
    }
    [[nodiscard]] bool is_dormant_on(std::size_t client) {
        return net.server().driver.is_dormant_for(CallFixture::client_peer(client),
                                                  net.id_of(turret));
    }

    CallFixture net;
    ObjectHandle turret;
};

}  // namespace

TEST_CASE("Unreal conformance 8: an object whose open is not delivered stays awake",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    scene.game.set_dormancy(scene.door, NetDormancy::DormantAll);
    scene.game.cut();
    scene.check_waits();
    CHECK(scene.shown().skin == 1);
}

TEST_CASE("Unreal conformance 8: an object whose update is not empty stays awake",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    scene.begin();
    for (std::int32_t step = 1; step <= 100; ++step) {
        scene.game.door(scene.door).state = step;
        scene.game.tick();
        CHECK_FALSE(scene.is_dormant());
    }
    REQUIRE(scene.game.settle());
    CHECK(scene.is_dormant());
    CHECK(scene.shown().state == 100);
}

TEST_CASE("Unreal conformance 8: an object with values in flight stays awake",
          "[netdriver][unreal][dormancy]") {
    ClassGameOptions options;
    options.link.latency_ms = 300;
    Scene scene(options);
    scene.begin();
    scene.game.door(scene.door).state = 7;
    scene.game.tick_times(10);
    CHECK_FALSE(scene.is_dormant());
    REQUIRE(scene.game.settle());
    CHECK(scene.is_dormant());
    CHECK(scene.shown().state == 7);
}

TEST_CASE("Unreal conformance 8: an object with a loss that was not made good stays awake",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    REQUIRE(scene.game.settle());
    scene.game.door(scene.door).state = 7;
    scene.game.cut();
    scene.game.tick();
    scene.game.set_dormancy(scene.door, NetDormancy::DormantAll);
    scene.check_waits();
    CHECK(scene.shown().state == 7);
}

TEST_CASE("Unreal conformance 8: an object with a reliable value under way stays awake",
          "[netdriver][unreal][dormancy]") {
    ClassGameOptions options;
    options.layout.limits.string_bytes_max = 8'000;
    Scene scene(options);
    scene.game.door(scene.door).note = "short";
    scene.begin();
    scene.game.door(scene.door).note = std::string(1'000, 'n') + std::string(1'000, 'o');
    scene.game.cut();
    scene.check_waits();
    CHECK(scene.shown().note == scene.game.door(scene.door).note);
}

TEST_CASE(
    "Unreal conformance 8: an object with a custom delta that is not acknowledged stays awake",
    "[netdriver][unreal][dormancy]") {
    ClassGameOptions options;
    options.link.latency_ms = 300;
    ClassGame<Table> game(build_table, options);
    const std::size_t client = game.join();
    const ObjectHandle table = game.add();
    game.object(table).scores.values = {{1, 10}};
    REQUIRE(game.settle());
    game.driver().set_dormancy(game.id_of(table), NetDormancy::DormantAll);
    game.object(table).scores.values[2] = 20;
    for (int i = 0; i < 10; ++i) {
        game.tick();
    }
    const auto is_dormant = [&] {
        return game.driver().is_dormant_for(game.peer_of(client), game.id_of(table));
    };
    CHECK_FALSE(is_dormant());
    REQUIRE(game.settle());
    CHECK(is_dormant());
    CHECK(game.object_on(client, table).scores == game.object(table).scores);
    // A delta is right on its base only, so both ends kept that.
    game.driver().flush_dormancy(game.id_of(table));
    game.object(table).scores.values.erase(1);
    REQUIRE(game.settle());
    CHECK(is_dormant());
    CHECK(game.object_on(client, table).scores == game.object(table).scores);
}

TEST_CASE("Unreal conformance 8: an object with a value that waits for another stays awake",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    constexpr ObjectHandle nobody{77};
    scene.game.door(scene.door).leash.target = nobody;
    scene.begin();
    REQUIRE(scene.game.settle());
    scene.game.tick_times(50);
    CHECK_FALSE(scene.is_dormant());
    scene.game.door(scene.door).leash.target = {};
    REQUIRE(scene.game.settle());
    CHECK(scene.is_dormant());
}

TEST_CASE("Unreal conformance 8: a change of a dormant object is not sent before it is flushed",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    scene.sleep();
    scene.game.door(scene.door).state = 1;
    scene.game.tick_times(50);
    CHECK(scene.shown().state == 0);
    scene.game.flush(scene.door);
    REQUIRE(scene.game.settle());
    CHECK(scene.shown().state == 1);
}

TEST_CASE("Unreal conformance 8: a flush sends changes made before and behind it, then it sleeps",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    scene.sleep();
    scene.game.door(scene.door).state = 1;
    scene.game.flush(scene.door);
    scene.game.door(scene.door).note = "open";
    CHECK_FALSE(scene.is_dormant());
    REQUIRE(scene.game.settle());
    CHECK(scene.shown().state == 1);
    CHECK(scene.shown().note == "open");
    CHECK(scene.is_dormant());
    CHECK(scene.game.driver().dormancy_of(scene.game.id_of(scene.door)) == NetDormancy::DormantAll);
}

TEST_CASE("Unreal conformance 8: the first update behind a flush counts as initial",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    REQUIRE(scene.game.settle());
    scene.game.door(scene.door).skin = 2;
    scene.sleep();
    CHECK(scene.shown().skin == 1);  // it was sent before, and only at first
    scene.game.flush(scene.door);
    REQUIRE(scene.game.settle());
    CHECK(scene.shown().skin == 2);
}

TEST_CASE("Unreal conformance 8: an object that is set awake is sent again, and stays so",
          "[netdriver][unreal][dormancy]") {
    for (const NetDormancy awake : {NetDormancy::Awake, NetDormancy::Never}) {
        Scene scene;
        scene.sleep();
        scene.game.door(scene.door).state = 1;
        scene.game.set_dormancy(scene.door, awake);
        REQUIRE(scene.game.settle());
        CHECK(scene.shown().state == 1);
        CHECK_FALSE(scene.is_dormant());
        scene.game.door(scene.door).state = 2;
        REQUIRE(scene.game.settle());
        CHECK(scene.shown().state == 2);
    }
}

TEST_CASE("Unreal conformance 8: an object that is never dormant is not put to sleep",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    scene.game.set_dormancy(scene.door, NetDormancy::Never);
    for (const NetDormancy dormancy :
         {NetDormancy::DormantAll, NetDormancy::DormantPartial, NetDormancy::Initial}) {
        scene.game.set_dormancy(scene.door, dormancy);
        CHECK(scene.game.driver().dormancy_of(scene.game.id_of(scene.door)) == NetDormancy::Never);
    }
    scene.game.set_dormancy(scene.door, NetDormancy::Awake);
    scene.sleep();
}

TEST_CASE("Unreal conformance 8: partial dormancy is asked for each connection",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    DoorGame& game = scene.game;
    const std::size_t other = game.join();
    REQUIRE(game.settle());
    const NetObjectId id = game.id_of(scene.door);
    game.driver().set_dormant_for(game.peer_of(scene.client), id, true);
    game.set_dormancy(scene.door, NetDormancy::DormantPartial);
    REQUIRE(game.settle());
    CHECK(scene.is_dormant());
    CHECK_FALSE(game.is_dormant_on(other, scene.door));

    game.door(scene.door).state = 1;
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 0);
    CHECK(game.door_on(other, scene.door).state == 1);

    game.driver().set_dormant_for(game.peer_of(scene.client), id, false);
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 1);
    game.door(scene.door).state = 2;
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 2);

    // From dormant for all to partial: it wakes for those for whom it is not said.
    game.driver().set_dormant_for(game.peer_of(other), id, true);
    game.set_dormancy(scene.door, NetDormancy::DormantAll);
    REQUIRE(game.settle());
    CHECK(scene.is_dormant());
    game.set_dormancy(scene.door, NetDormancy::DormantPartial);
    game.door(scene.door).state = 3;
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 3);
    CHECK(game.door_on(other, scene.door).state == 2);
    game.flush(scene.door);
    REQUIRE(game.settle());
    CHECK(game.door_on(other, scene.door).state == 3);
    CHECK(game.is_dormant_on(other, scene.door));
}

TEST_CASE("Unreal conformance 8: an initially dormant object is sent to nobody before a flush",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    DoorGame& game = scene.game;
    game.set_dormancy(scene.door, NetDormancy::Initial);
    REQUIRE(game.settle());
    const std::size_t late = game.join();
    game.tick_times(50);
    CHECK(game.object_count_on(scene.client) == 0);
    CHECK(game.object_count_on(late) == 0);
    CHECK(game.driver().stats().replication.objects_compared == 0);
    game.door(scene.door).state = 1;
    game.flush(scene.door);
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 1);
    CHECK(game.door_on(late, scene.door).state == 1);
    CHECK(scene.is_dormant());
    const std::size_t later = game.join();
    REQUIRE(game.settle());
    CHECK(game.door_on(later, scene.door).state == 1);
}

TEST_CASE("Unreal conformance 8: an initially dormant object is shown when it is so no more",
          "[netdriver][unreal][dormancy]") {
    for (const NetDormancy dormancy :
         {NetDormancy::Awake, NetDormancy::DormantAll, NetDormancy::DormantPartial}) {
        Scene scene;
        scene.game.set_dormancy(scene.door, NetDormancy::Initial);
        REQUIRE(scene.game.settle());
        CHECK(scene.game.object_count_on(scene.client) == 0);
        scene.game.door(scene.door).state = 4;
        scene.game.set_dormancy(scene.door, dormancy);
        REQUIRE(scene.game.settle());
        CHECK(scene.shown().state == 4);
        CHECK(scene.is_dormant() == (dormancy == NetDormancy::DormantAll));
    }
}

TEST_CASE("Unreal conformance 8: an object that clients have stays with them as initially dormant",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    DoorGame& game = scene.game;
    REQUIRE(game.settle());
    game.set_dormancy(scene.door, NetDormancy::Initial);
    REQUIRE(game.settle());
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(scene.is_dormant());
    CHECK(game.object_count_on(scene.client) == 1);
    CHECK(game.object_count_on(late) == 0);
    game.remove(scene.door);
    REQUIRE(game.settle());
    CHECK(game.object_count_on(scene.client) == 0);
}

TEST_CASE("Unreal conformance 8: who joins is sent a dormant object as all others show it",
          "[netdriver][unreal][dormancy]") {
    Scene scene;
    DoorGame& game = scene.game;
    game.door(scene.door).state = 1;
    scene.sleep();
    game.door(scene.door).state = 2;  // and no flush
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(game.door_on(late, scene.door).state == 1);
    CHECK(game.is_dormant_on(late, scene.door));
    CHECK(scene.is_dormant());
    game.flush(scene.door);
    REQUIRE(game.settle());
    CHECK(scene.shown().state == 2);
    CHECK(game.door_on(late, scene.door).state == 2);
}

TEST_CASE("Unreal conformance 8: a call to a dormant object wakes it, behind its state",
          "[netdriver][unreal][dormancy][rpc]") {
    CallScene scene;
    scene.net.turret(scene.turret).power = 7;
    scene.net.tick(20);
    CHECK(scene.net.turret_on(0, scene.turret).power == 0);
    CHECK(scene.net.call(scene.turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
    REQUIRE(scene.net.settle());
    const std::vector<HeardCall>& told = scene.net.client(0).world.heard;
    REQUIRE(told.size() == 1);
    CHECK(told[0].function == "tell");
    CHECK(told[0].power == 7);
    // It slept on where nobody called, and sleeps again where it was woken.
    CHECK(scene.net.turret_on(1, scene.turret).power == 0);
    CHECK(scene.is_dormant_on(0));
    CHECK(scene.is_dormant_on(1));

    CHECK(scene.net.call(scene.turret, "multicast_boom", {2, {}, ""}) == CallResult::Sent);
    REQUIRE(scene.net.settle());
    CHECK(heard(scene.net.client(0), "boom") == Numbers{2});
    CHECK(heard(scene.net.client(1), "boom") == Numbers{2});
    CHECK(scene.net.turret_on(1, scene.turret).power == 7);
}

TEST_CASE("Unreal conformance 8: a multicast that is refused wakes nothing",
          "[netdriver][unreal][dormancy][rpc]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = 512;
    options.client.packet_bytes_max = 512;
    options.server.call_bytes_max = 0;
    CallScene scene(options);
    const std::string too_long(600, 'x');
    CHECK(scene.net.call(scene.turret, "multicast_boom", {1, {}, too_long}) ==
          CallResult::TooLarge);
    CHECK(scene.is_dormant_on(0));
    CHECK(scene.is_dormant_on(1));

    const ObjectHandle hidden = scene.net.add();
    NetDriver& driver = scene.net.server().driver;
    driver.set_dormancy(scene.net.id_of(hidden), NetDormancy::Initial);
    CHECK(scene.net.call(hidden, "multicast_boom", {2, {}, too_long}) == CallResult::TooLarge);
    CHECK(driver.dormancy_of(scene.net.id_of(hidden)) == NetDormancy::Initial);
    REQUIRE(scene.net.settle());
    CHECK(scene.net.find_on(0, hidden).is_null());
    CHECK(heard(scene.net.server(), "boom").empty());
}

TEST_CASE("Unreal conformance 8: a client's call to a dormant object is dropped",
          "[netdriver][unreal][dormancy][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 100;
    CallScene scene(options);
    CHECK(scene.net.call_from(0, scene.turret, "server_fire", {1, {}, ""}) ==
          CallResult::NoChannel);
    NetDriver& driver = scene.net.server().driver;
    driver.set_dormancy(scene.net.id_of(scene.turret), NetDormancy::Awake);
    REQUIRE(scene.net.settle());
    CHECK(scene.net.call_from(0, scene.turret, "server_fire", {2, {}, ""}) == CallResult::Sent);
    scene.net.tick(20);
    CHECK(heard(scene.net.server(), "fire") == Numbers{2});
    // These are under way while the server closes the channel, and after it did.
    driver.set_dormancy(scene.net.id_of(scene.turret), NetDormancy::DormantAll);
    std::uint32_t number = 10;
    while (scene.net.call_from(0, scene.turret, "server_fire", {number, {}, ""}) ==
           CallResult::Sent) {
        ++number;
        scene.net.tick();
    }
    REQUIRE(number > 12);
    REQUIRE(scene.net.settle());
    CHECK(scene.is_dormant_on(0));
    CHECK(driver.connection_count() == 2);
    CHECK(driver.stats().calls_dropped > 0);
    driver.set_dormancy(scene.net.id_of(scene.turret), NetDormancy::Awake);
    REQUIRE(scene.net.settle());
    scene.net.server().world.heard.clear();
    CHECK(scene.net.call_from(0, scene.turret, "server_fire", {99, {}, ""}) == CallResult::Sent);
    scene.net.tick(20);
    CHECK(heard(scene.net.server(), "fire") == Numbers{99});
}

TEST_CASE("Unreal conformance 8: of calls to what sleeps again at once none is lost or early",
          "[netdriver][unreal][dormancy][rpc]") {
    CallFixtureOptions options;
    options.link.loss = 0.2;
    options.link.latency_ms = 30;
    options.link.jitter_ms = 30;
    CallScene scene(options);
    Numbers sent;
    for (std::uint32_t number = 1; number <= 400; ++number) {
        scene.net.turret(scene.turret).power = number;
        REQUIRE(scene.net.call(scene.turret, "client_tell", {number, {}, ""}) == CallResult::Sent);
        sent.push_back(number);
        scene.net.tick(static_cast<int>(number % 40));
    }
    REQUIRE(scene.net.settle());
    CHECK(heard(scene.net.client(0), "tell") == sent);
    for (const HeardCall& call : scene.net.client(0).world.heard) {
        CHECK(call.power >= call.number);
    }
    CHECK(scene.net.server().driver.stats().channels_dormant > 50);
}

}  // namespace replayout::test
