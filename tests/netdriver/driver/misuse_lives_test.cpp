// SPDX-License-Identifier: MIT
//
// Wrong calls that concern what lives how long: memory that is gone, a recorder that goes before
// its recording, one name for two objects. They are refused, in every build, and the game goes on.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/replay_recorder.h>
#include <replayout/netdriver/replay_stream.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/types/test_layout.h"
#include "support/worlds/call_game.h"
#include "support/worlds/class_game.h"
#include "support/worlds/typed_world.h"

namespace replayout::test::misuse_lives_test {
namespace {

/// Its object has memory as long as the test wants it to.
class LooseWorld final : public SoleWorld<Turret> {
  public:
    LooseWorld() { object.world = &heard_; }

    void* object_memory(ObjectHandle) override {
        if (during_question) {
            during_question();
        }
        return has_memory ? &object : nullptr;
    }

    bool has_memory = true;
    std::function<void()> during_question;

  private:
    CallWorld heard_{1};
};

struct LooseGame {
    LooseGame() {
        REQUIRE(server.add_layout(turret_layout()));
        REQUIRE(client.add_layout(turret_layout()));
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, now));
        id = server.add_object(turret_layout(), LooseWorld::handle);
        tick(4);
        REQUIRE(server.is_settled());
    }
    void tick(int count = 1) {
        for (int i = 0; i < count; ++i) {
            now = now.plus_milliseconds(33);
            for (NetDriver* driver : {&server, &client}) {
                driver->tick_dispatch(now);
                driver->tick_flush(now);
            }
        }
    }

    LoopbackNetwork network{{}, std::pmr::get_default_resource()};
    LooseWorld server_world;
    LooseWorld client_world;
    NetDriver server{{}, network.endpoint(PeerId{1}), server_world};
    NetDriver client{{}, network.endpoint(PeerId{2}), client_world};
    NetTime now = NetTime::from_milliseconds(1'000);
    NetObjectId id;
};

struct Door {
    std::string sign;
};

[[nodiscard]] Result<const Type*> build_door(TypeRegistry& registry) {
    return class_builder<Door>(registry, "Door").property<&Door::sign>().build();
}

}  // namespace

TEST_CASE("Misuse: a recorder that goes while it records ends its recording",
          "[netdriver][misuse]") {
    LooseGame game;
    const Refusals refusals;
    ReplayMemory file;
    {
        ReplayRecorder recorder(file);
        REQUIRE(game.server.start_recording(recorder));
        game.tick(3);
        CHECK(game.server.is_recording());
    }
    CHECK(refusals.line_count("a ReplayRecorder went while it recorded") == 1);
    CHECK_FALSE(game.server.is_recording());
    game.tick(3);
    game.server.stop_recording();
    // Another one may follow, and outlive the driver.
    ReplayMemory second_file;
    ReplayRecorder second(second_file);
    {
        LooseGame other;
        REQUIRE(other.server.start_recording(second));
        other.tick(3);
    }
    REQUIRE(game.server.start_recording(second).has_value() == false);  // it is for one recording
    CHECK(refusals.line_count("a ReplayRecorder went") == 1);
}

TEST_CASE("Misuse: a client calls nothing while it is asked for the memory of an object",
          "[netdriver][misuse]") {
    LooseGame game;
    const Refusals refusals;
    int asked = 0;
    std::vector<CallResult> results;
    game.client_world.during_question = [&] {
        REQUIRE(++asked < 50);
        results.push_back(
            game.client.call<&Turret::multicast_boom>(LooseWorld::handle, Order{1, {}, ""}));
    };
    CHECK(game.client.call<&Turret::multicast_boom>(LooseWorld::handle, Order{2, {}, ""}) ==
          CallResult::Ran);
    game.server_world.object.power = 5;
    game.tick(3);
    game.client_world.during_question = nullptr;
    REQUIRE_FALSE(results.empty());
    for (const CallResult result : results) {
        CHECK(result == CallResult::Misused);
    }
    CHECK(game.client_world.object.power == 5);
    CHECK(game.client_world.object.heard.size() == 1);
    if (Refusals::are_told) {
        CHECK(refusals.count("call_function: called from within object_memory()") ==
              results.size());
    }
    // The same on a server.
    results.clear();
    game.server_world.during_question = [&] {
        REQUIRE(++asked < 100);
        results.push_back(game.server.call<&Turret::multicast_boom>(game.id, Order{3, {}, ""}));
    };
    CHECK(game.server.call<&Turret::multicast_boom>(game.id, Order{4, {}, ""}) == CallResult::Sent);
    game.tick(2);
    game.server_world.during_question = nullptr;
    REQUIRE_FALSE(results.empty());
    for (const CallResult result : results) {
        CHECK(result == CallResult::Misused);
    }
}

TEST_CASE("Misuse: settings without a memory resource get the default one, and are logged",
          "[netdriver][misuse]") {
    const Refusals refusals;
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    LooseWorld world;
    NetDriverSettings settings;
    settings.resource = nullptr;
    NetDriver driver(settings, network.endpoint(PeerId{1}), world);
    REQUIRE(driver.add_layout(turret_layout()));
    REQUIRE(driver.listen());
    CHECK(driver.add_object(turret_layout(), LooseWorld::handle).generation != 0);
    driver.tick_flush(NetTime::from_milliseconds(1));
    CHECK(refusals.line_count("NetDriverSettings::resource is null") == 1);
}

TEST_CASE("Misuse: a call of an object without memory is not made, on either end",
          "[netdriver][misuse]") {
    LooseGame game;
    const Refusals refusals;
    game.server_world.has_memory = false;
    CHECK(game.server.call<&Turret::multicast_boom>(game.id, Order{1, {}, ""}) ==
          CallResult::Misused);
    CHECK(game.server.call_function(game.id, "server_reset") == CallResult::Misused);
    game.server_world.has_memory = true;
    game.client_world.has_memory = false;
    CHECK(game.client.call<&Turret::multicast_boom>(LooseWorld::handle, Order{2, {}, ""}) ==
          CallResult::Misused);
    game.client_world.has_memory = true;
    game.tick(4);
    CHECK(game.client_world.object.heard.empty());
    CHECK(game.server.is_settled());
    if (Refusals::are_told) {
        CHECK(refusals.count("call_function: object_memory() of the world is null for object 0.1, "
                             "a \"Turret\", handle 7") == 2);
        CHECK(refusals.count("of object 1, a \"Turret\": object_memory()") == 1);
    }
}

TEST_CASE("Misuse: an object that is removed or hidden without memory after a call is named",
          "[netdriver][misuse]") {
    for (const bool is_hidden : {false, true}) {
        LooseGame game;
        const Refusals refusals;
        game.server_world.object.power = 9;
        REQUIRE(game.server.call<&Turret::multicast_boom>(game.id, Order{1, {}, ""}) ==
                CallResult::Sent);
        game.server_world.has_memory = false;
        if (is_hidden) {
            game.server.interest().set_relevant_for(PeerId{2}, game.id, false);
        } else {
            game.server.remove_object(game.id);
        }
        if (Refusals::are_told) {
            CHECK(refusals.count(std::string(is_hidden ? "set_relevant_for" : "remove_object") +
                                 ": object_memory() of the world is null for object 0.1, a "
                                 "\"Turret\", handle 7") == 1);
        }
        game.server_world.has_memory = true;
        game.tick(6);
        CHECK(game.server.is_settled());
        CHECK(game.client_world.object.heard.size() == 1);
    }
}

TEST_CASE("Misuse: two objects that are there never have the same stable name",
          "[netdriver][misuse]") {
    const Refusals refusals;
    ClassGame<Door> game(build_door);
    game.join();
    NetDriver& driver = game.driver();
    const ObjectHandle outer = game.add();
    const NetObjectId first = game.id_of(outer);
    SubobjectParameters part;
    part.stable_name = "hinge";
    const ObjectHandle hinge = game.add_part(outer, part);
    CHECK(game.id_of(hinge).generation != 0);
    const ObjectHandle twin = game.add_part(outer, part);
    CHECK(game.id_of(twin).generation == 0);
    if (Refusals::are_told) {
        CHECK(refusals.count(
                  "add_subobject: a \"Door\" of the stable name \"hinge\", which object") == 1);
    }
    // Within another object the name is another one, and it is free when the first part goes.
    const ObjectHandle other = game.add();
    CHECK(game.id_of(game.add_part(other, part)).generation != 0);
    driver.remove_object(game.id_of(hinge));
    CHECK(game.id_of(game.add_part(outer, part)).generation != 0);
    CHECK(driver.guid_of(first).value != 0);
    REQUIRE(game.settle());
}

TEST_CASE("Misuse: the roles of objects that are not there are nobody's", "[netdriver][misuse]") {
    LooseGame game;
    const Refusals refusals;
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    LooseWorld world;
    const NetDriver idle({}, network.endpoint(PeerId{1}), world);
    CHECK(idle.role_of(LooseWorld::handle).role == NetRole::None);
    CHECK(game.server.role_of(LooseWorld::handle).role == NetRole::None);
    CHECK(game.server.role_for(PeerId{2}, {90, 1}).role == NetRole::None);
    CHECK(game.client.role_of(ObjectHandle{8}).role == NetRole::None);
    CHECK(game.client.role_of(LooseWorld::handle).role == NetRole::SimulatedProxy);
}

TEST_CASE("Misuse: numbers that are no enumerator are refused, with the object's name",
          "[netdriver][misuse]") {
    LooseGame game;
    const Refusals refusals;
    CHECK(game.server.call_function(game.id, "multicast_boom", {},
                                    static_cast<CallSendPolicy>(9)) == CallResult::Misused);
    for (const unsigned condition : {17u, 29u, 88u}) {
        SubobjectParameters part;
        part.condition = static_cast<LifetimeCondition>(condition);
        CHECK(
            game.server.add_subobject(game.id, turret_layout(), ObjectHandle{8}, part).generation ==
            0);
    }
    game.server.set_dormancy(game.id, static_cast<NetDormancy>(77));
    game.server.rates().set_net_priority(game.id, 0);
    game.server.interest().set_cull_distance(game.id, 0);
    game.server.interest().set_location(game.id, {std::numeric_limits<float>::quiet_NaN(), 0, 0});
    game.server.mark_property_dirty(game.id, "powr");
    if (Refusals::are_told) {
        CHECK(refusals.count("has condition") == 3);
        CHECK(refusals.count("set_dormancy: object 0.1, a \"Turret\": 77 is no") == 1);
        CHECK(refusals.count("set_net_priority: object 0.1, a \"Turret\": 0 is") == 1);
        CHECK(refusals.count("set_cull_distance: object 0.1, a \"Turret\": 0 is") == 1);
        CHECK(refusals.count("set_location: object 0.1, a \"Turret\": (") == 1);
        CHECK(refusals.count("mark_property_dirty: object 0.1, a \"Turret\", has no property") ==
              1);
    }
}

}  // namespace replayout::test::misuse_lives_test
