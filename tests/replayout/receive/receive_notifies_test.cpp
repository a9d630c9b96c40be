// SPDX-License-Identifier: MIT
//
// Notifies: which run, in which order, with which previous value, and on which object.
#include <replayout/receive_properties.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::receive_notifies_test {
namespace {

struct Point {
    std::int32_t x = 0;
    std::int32_t y = 0;

    friend bool operator==(const Point&, const Point&) = default;
};

/// Not registered: it moves the base away from the start of the object.
struct Bookkeeping {
    std::vector<std::string> calls;
};

struct Entity {
    std::int32_t id = 0;
    std::vector<std::string>* calls = nullptr;

    void on_rep_id(const std::int32_t& previous) {
        calls->push_back("id " + std::to_string(previous) + " -> " + std::to_string(id));
    }
};

struct Tank : Bookkeeping, Entity {
    std::int32_t health = 100;
    std::int32_t armour = 5;
    Point place;
    std::string title;
    std::int32_t slots[3] = {};
    std::array<std::string, 2> crew;
    std::int16_t wheels[2] = {};
    bool hatches[2] = {};
    std::vector<std::int32_t> shells;
    std::int32_t quiet = 0;

    Tank() { Entity::calls = &(Bookkeeping::calls); }
    Tank(const Tank&) = delete;
    Tank& operator=(const Tank&) = delete;

    void note(const std::string& call) { Bookkeeping::calls.push_back(call); }

    void on_rep_health(const std::int32_t& previous) {
        note("health " + std::to_string(previous) + ", armour is " + std::to_string(armour));
    }
    void on_rep_armour() { note("armour"); }
    void on_rep_place(const Point& previous) {
        note("place " + std::to_string(previous.x) + "," + std::to_string(previous.y));
    }
    void on_rep_title(const std::string& previous) { note("title \"" + previous + '"'); }
    void on_rep_slots(const std::int32_t (&previous)[3]) {
        std::string call = "slots";
        for (std::size_t i = 0; i < std::size(previous); ++i) {
            call += ' ' + std::to_string(previous[i]) + "->" + std::to_string(slots[i]);
        }
        note(call);
    }
    void on_rep_crew(std::span<const std::string> previous) {
        note("crew \"" + previous[0] + "\" \"" + previous[1] + '"');
    }
    void on_rep_wheels(std::span<const std::int16_t> previous) {
        note("wheels " + std::to_string(previous[0]) + ' ' + std::to_string(previous[1]));
    }
    void on_rep_hatches() { note("hatches"); }
    void on_rep_shells(const std::vector<std::int32_t>& previous) {
        note("shells " + std::to_string(previous.size()));
    }
};

Result<const Type*> build_tank(TypeRegistry& registry) {
    (void)struct_builder<Point>(registry, "Point")
        .property<&Point::x>()
        .property<&Point::y>()
        .build();
    (void)class_builder<Entity>(registry, "Entity")
        .property<&Entity::id>()
        .on_rep<&Entity::on_rep_id>()
        .build();
    return class_builder<Tank>(registry, "Tank")
        .base<Entity>()
        .property<&Tank::health>()
        .on_rep<&Tank::on_rep_health>()
        .property<&Tank::armour>()
        .on_rep<&Tank::on_rep_armour>()
        .property<&Tank::place>()
        .on_rep<&Tank::on_rep_place>()
        .property<&Tank::title>()
        .on_rep<&Tank::on_rep_title>()
        .property<&Tank::slots>()
        .on_rep<&Tank::on_rep_slots>()
        .property<&Tank::crew>()
        .on_rep<&Tank::on_rep_crew>()
        .property<&Tank::wheels>()
        .on_rep<&Tank::on_rep_wheels>()
        .property<&Tank::hatches>()
        .on_rep<&Tank::on_rep_hatches>(RepNotify::Always)
        .property<&Tank::shells>()
        .on_rep<&Tank::on_rep_shells>()
        .property<&Tank::quiet>()
        .build();
}

using Calls = std::vector<std::string>;

struct TankPair {
    /// Sends what changed since the last time; answers which notifies ran.
    Calls replicate() {
        client.Bookkeeping::calls.clear();
        if (sender.update(&server)) {
            const Version version = sender.state.version();
            REQUIRE(receiver.receive(&client, sender.block(since(version - 1))));
        }
        return client.Bookkeeping::calls;
    }

    /// The same in blocks of so many bytes, of which the client is told at the last.
    Calls replicate_in_parts(std::size_t capacity_bytes) {
        client.Bookkeeping::calls.clear();
        REQUIRE(sender.update(&server));
        const auto parts = sender.parts(since(sender.state.version() - 1), capacity_bytes);
        part_count = parts.size();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            CHECK(client.Bookkeeping::calls.empty());
            REQUIRE(receiver.receive(&client, parts[i].bytes, i + 1 < parts.size()));
        }
        return client.Bookkeeping::calls;
    }

    std::size_t part_count = 0;
    TestLayout layout{build_tank};
    Tank server;
    Tank client;
    BlockSender sender{*layout};
    BlockReceiver receiver{*layout};
};

TEST_CASE("Notifies: may wait until others are written, and then know the value before",
          "[replayout][notify]") {
    const TestLayout layout(build_tank);
    Tank server;
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Tank client;
    const auto receive = [&] {
        REQUIRE(sender.update(&server));
        const Bytes block = sender.block(since(sender.state.version() - 1));
        DecodeBudget budget;
        BitReader reader(block, &budget);
        ReceiveContext context = receiver.context();
        context.must_fill_reader = true;
        context.waits_to_notify = true;
        REQUIRE(receive_properties(*layout, reader, &client, receiver.state, context));
    };
    server.health = 60;
    server.title = "heavy";
    receive();
    server.health = 50;
    receive();
    server.quiet = 1;  // no notify runs for that
    receive();
    CHECK(client.health == 50);
    CHECK(client.Bookkeeping::calls.empty());
    REQUIRE(receiver.scratch.waiting_count() == 2);
    run_waiting_notifies(receiver.scratch, 0, *layout, &client);
    CHECK(client.Bookkeeping::calls ==
          std::vector<std::string>{"health 100, armour is 5", "title \"\""});
    client.Bookkeeping::calls.clear();
    run_waiting_notifies(receiver.scratch, 1, *layout, &client);
    CHECK(client.Bookkeeping::calls == std::vector<std::string>{"health 60, armour is 5"});
    receiver.scratch.drop_waiting();
    CHECK(receiver.scratch.waiting_count() == 0);
    // What nobody ran is forgotten, with its values.
    server.title = "light";
    receive();
    CHECK(receiver.scratch.waiting_count() == 1);
}

TEST_CASE("Notifies: run in the order of declaration, base first, after all values are there",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.title = "tiger";
    pair.server.armour = 9;
    pair.server.health = 70;
    pair.server.id = 4;
    CHECK(pair.replicate() ==
          Calls{"id 0 -> 4", "health 100, armour is 9", "armour", "title \"\""});
}

TEST_CASE("Notifies: one of a base finds the base, wherever that lies in the object",
          "[replayout][receive_notifies]") {
    TankPair pair;
    REQUIRE(pair.layout->type().base_offset() > 0);
    pair.server.id = 4;
    CHECK(pair.replicate() == Calls{"id 0 -> 4"});
    pair.server.id = 6;
    CHECK(pair.replicate() == Calls{"id 4 -> 6"});
}

TEST_CASE("Notifies: run once for a property, with its value before the block",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.place = {1, 2};
    CHECK(pair.replicate() == Calls{"place 0,0"});
    pair.server.place = {1, 3};
    CHECK(pair.replicate() == Calls{"place 1,2"});
    pair.server.shells = {1, 2, 3};
    CHECK(pair.replicate() == Calls{"shells 0"});
    pair.server.shells = {1, 5, 6, 7};
    CHECK(pair.replicate() == Calls{"shells 3"});
    pair.server.shells.pop_back();
    CHECK(pair.replicate() == Calls{"shells 4"});
}

TEST_CASE("Notifies: a C array is told of once, with all of it before the block",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.slots[0] = 10;
    pair.server.slots[2] = 30;
    pair.server.hatches[1] = true;
    CHECK(pair.replicate() == Calls{"slots 0->10 0->0 0->30", "hatches"});
    pair.server.slots[1] = 21;
    pair.server.slots[2] = 31;
    CHECK(pair.replicate() == Calls{"slots 10->10 0->21 30->31"});
    pair.server.crew[1] = "a loader whose name no string holds in itself";
    CHECK(pair.replicate() == Calls{"crew \"\" \"\""});
    pair.server.crew = {"gunner", "driver"};
    CHECK(pair.replicate() == Calls{"crew \"\" \"a loader whose name no string holds in itself\""});
    pair.server.wheels[1] = 4;
    CHECK(pair.replicate() == Calls{"wheels 0 0"});
    pair.server.wheels[0] = 3;
    CHECK(pair.replicate() == Calls{"wheels 0 4"});
}

TEST_CASE("Notifies: a C array of which no element differs is told of only by Always",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.slots[0] = pair.client.slots[0] = 10;
    pair.server.slots[2] = pair.client.slots[2] = 30;
    pair.server.hatches[0] = pair.client.hatches[0] = true;
    pair.server.hatches[1] = pair.client.hatches[1] = true;
    CHECK(pair.replicate() == Calls{"hatches"});
}

TEST_CASE("Notifies: a C array in parts is told of once, with all of it before the first",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.slots[0] = 10;
    pair.server.slots[1] = 20;
    pair.server.slots[2] = 30;
    pair.server.crew[0] = "gunner";
    const Calls calls = pair.replicate_in_parts(5);
    CHECK(pair.part_count > 3);
    CHECK(calls == Calls{"slots 0->10 0->20 0->30", "crew \"\" \"\""});
    CHECK(pair.client.slots[1] == 20);
}

TEST_CASE("Notifies: do not run for a value that was there already",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.client.health = 70;
    pair.client.place = {1, 2};
    pair.client.title = "tiger";
    pair.client.shells = {1};
    pair.server.health = 70;
    pair.server.place = {1, 2};
    pair.server.title = "tiger";
    pair.server.shells = {1};
    CHECK(pair.replicate().empty());
}

TEST_CASE("Notifies: do not run for properties that have none", "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.quiet = 8;
    CHECK(pair.replicate().empty());
    CHECK(pair.client.quiet == 8);
}

TEST_CASE("Notifies: do not run for a block that is refused", "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.health = 70;
    pair.server.title = "tiger";
    REQUIRE(pair.sender.update(&pair.server));
    Bytes block = pair.sender.block(since(0));
    block.pop_back();
    CHECK_FALSE(pair.receiver.receive(&pair.client, block));
    CHECK(pair.client.Bookkeeping::calls.empty());
    CHECK(pair.client.health == 100);
}

TEST_CASE("Notifies: of a block sent twice run the first time only",
          "[replayout][receive_notifies]") {
    TankPair pair;
    pair.server.health = 70;
    CHECK(pair.replicate().size() == 1);
    pair.client.Bookkeeping::calls.clear();
    REQUIRE(pair.receiver.receive(&pair.client, pair.sender.block(since(0))));
    CHECK(pair.client.Bookkeeping::calls.empty());
}

}  // namespace
}  // namespace replayout::receive_notifies_test
