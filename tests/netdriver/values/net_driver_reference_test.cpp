// SPDX-License-Identifier: MIT
//
// References between objects: before, during and after the life of their target.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t target_handle = 4;
constexpr std::uint32_t friends_handle = 6;

[[nodiscard]] RepPath path_of_target() {
    RepPath path;
    path.handles[0] = target_handle;
    return path;
}

[[nodiscard]] RepPath path_of_friend(std::uint32_t element) {
    RepPath path;
    path.handles[0] = friends_handle;
    path.handles[1] = element + 1;
    return path;
}

/// What the client's reference names, mapped or not.
[[nodiscard]] NetGUID named_by(NetFixture& net, ObjectHandle pawn, const RepPath& path) {
    return net.client_driver(0).find_reference(net.find_on(0, pawn), path);
}

}  // namespace

TEST_CASE("NetDriver: a reference binds when its target is spawned", "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    const ObjectHandle prey = net.make_pawn();
    net.pawn(hunter).target = prey;
    net.join_settled();
    CHECK(net.pawn_on(0, hunter).target.is_null());
    CHECK(named_by(net, hunter, path_of_target()) == net.guid_of(prey));
    CHECK(net.pawn_on(0, hunter).heard.empty());

    net.announce(prey);
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target == net.find_on(0, prey));
    CHECK(net.pawn_on(0, hunter).heard == std::vector<std::string>{"target null -> set"});
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a reference to a target that was destroyed is null and still named",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    const ObjectHandle prey = net.add_pawn();
    net.pawn(hunter).target = prey;
    net.join_settled();
    const NetGUID guid = net.guid_of(prey);
    CHECK(net.pawn_on(0, hunter).target == net.find_on(0, prey));

    net.remove(prey);
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target.is_null());
    CHECK(named_by(net, hunter, path_of_target()) == guid);
    const std::vector<std::string> expected = {"target null -> set", "target set -> null"};
    CHECK(net.pawn_on(0, hunter).heard == expected);
    CHECK(net.client_text(0) == net.server_text());

    net.pawn(hunter).target = {};
    REQUIRE(net.settle());
    CHECK(named_by(net, hunter, path_of_target()).is_null());
    CHECK(net.pawn_on(0, hunter).heard == expected);
}

TEST_CASE("NetDriver: when an object is despawned nothing refers to it any more",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle prey = net.add_pawn();
    std::vector<ObjectHandle> hunters;
    for (int i = 0; i < 20; ++i) {
        hunters.push_back(net.add_pawn());
        net.pawn(hunters.back()).target = prey;
        net.pawn(hunters.back()).friends = {prey, hunters.front(), prey};
    }
    net.join_settled();
    int despawns = 0;
    TestWorld& world = net.client(0).world;
    world.on_despawn = [&](ObjectHandle handle) {
        ++despawns;
        for (const ObjectHandle hunter : hunters) {
            const Pawn& pawn = net.pawn_on(0, hunter);
            CHECK(pawn.target != handle);
            CHECK(pawn.friends[0] != handle);
            CHECK(pawn.friends[2] != handle);
        }
    };
    net.remove(prey);
    REQUIRE(net.settle());
    CHECK(despawns == 1);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: an object that comes back under another handle is another object",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    ObjectHandle prey = net.add_pawn();
    net.pawn(hunter).target = prey;
    net.join_settled();
    for (int life = 0; life < 5; ++life) {
        const NetGUID old_guid = net.guid_of(prey);
        net.remove(prey);
        prey = net.add_pawn();
        REQUIRE(net.settle());
        // The server still refers to the one that is no more.
        CHECK(net.pawn_on(0, hunter).target.is_null());
        CHECK(named_by(net, hunter, path_of_target()) == old_guid);
        net.pawn(hunter).target = prey;
        REQUIRE(net.settle());
        CHECK(net.pawn_on(0, hunter).target == net.find_on(0, prey));
        CHECK(net.client_text(0) == net.server_text());
    }
}

TEST_CASE("NetDriver: objects may refer to each other and to themselves",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle left = net.add_pawn();
    const ObjectHandle right = net.add_pawn();
    net.pawn(left).target = right;
    net.pawn(right).target = left;
    net.pawn(right).friends = {right, left, right};
    net.join_settled();
    CHECK(net.pawn_on(0, left).target == net.find_on(0, right));
    CHECK(net.pawn_on(0, right).friends[2] == net.find_on(0, right));
    CHECK(net.client_text(0) == net.server_text());
    net.remove(left);
    net.remove(right);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.object_count() == 0);
}

TEST_CASE("NetDriver: references in an array bind one by one, and end with it",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle leader = net.add_pawn();
    std::vector<ObjectHandle> followers;
    for (int i = 0; i < 4; ++i) {
        followers.push_back(net.make_pawn());
    }
    net.pawn(leader).friends = followers;
    net.join_settled();
    REQUIRE(net.pawn_on(0, leader).friends.size() == 4);
    net.announce(followers[2]);
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, leader).friends[1].is_null());
    CHECK(net.pawn_on(0, leader).friends[2] == net.find_on(0, followers[2]));
    CHECK(named_by(net, leader, path_of_friend(3)) == net.guid_of(followers[3]));

    net.pawn(leader).friends.resize(3);
    REQUIRE(net.settle());
    CHECK(named_by(net, leader, path_of_friend(3)).is_null());
    net.announce(followers[3]);  // nobody names it any more
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());

    net.pawn(leader).friends.clear();
    net.announce(followers[0]);
    net.announce(followers[1]);
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a reference to what a client cannot make stays null and named",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle archive = net.add_archive();
    net.pawn(pawn).target = archive;
    net.join();
    net.client(0).world.refused_layout = &TestSchema::get().archive();
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, pawn).target.is_null());
    CHECK(named_by(net, pawn, path_of_target()) == net.guid_of(archive));
    net.remove(archive);
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, pawn).target.is_null());
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
}

TEST_CASE("NetDriver: who joins later is told of targets that are no more",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    const ObjectHandle prey = net.add_pawn();
    net.pawn(hunter).target = prey;
    net.tick();
    const NetGUID guid = net.guid_of(prey);
    net.remove(prey);
    net.join_settled();
    CHECK(net.pawn_on(0, hunter).target.is_null());
    CHECK(named_by(net, hunter, path_of_target()) == guid);
}

TEST_CASE("NetDriver: a reference that is set to a dead object names nothing, now or later",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle hunter = net.add_pawn();
    const ObjectHandle prey = net.add_pawn();
    net.join_settled();
    const NetGUID guid = net.guid_of(prey);
    net.remove(prey);
    net.tick();
    net.pawn(hunter).target = prey;
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target.is_null());
    const NetGUID named = named_by(net, hunter, path_of_target());
    CHECK_FALSE(named.is_null());
    CHECK(named != guid);
    // Whatever is added afterwards, that id is nobody's.
    for (int i = 0; i < 10; ++i) {
        net.add_pawn();
    }
    REQUIRE(net.settle());
    CHECK(net.pawn_on(0, hunter).target.is_null());
}

TEST_CASE("NetDriver: whoever asks for a reference that is none hears null",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    CHECK(named_by(net, pawn, path_of_target()).is_null());
    CHECK(named_by(net, pawn, path_of_friend(7)).is_null());
    CHECK(net.client_driver(0).find_reference(ObjectHandle{}, path_of_target()).is_null());
    CHECK(net.client_driver(0).find_reference(ObjectHandle{42}, path_of_target()).is_null());
}

namespace {

struct Hunter {
    std::int32_t number = 0;
    std::vector<ObjectHandle> targets;
};

[[nodiscard]] Result<const Type*> build_hunter(TypeRegistry& registry) {
    return class_builder<Hunter>(registry, "Hunter")
        .property<&Hunter::number>()
        .property<&Hunter::targets>()
        .build();
}

}  // namespace

TEST_CASE("NetDriver: a reused handle means its new object also in an array that was too long then",
          "[netdriver][net_driver]") {
    ClassGameOptions options;
    options.layout.limits.array_count_max = 2;
    ClassGame<Hunter> game(build_hunter, options);
    game.join();
    const ObjectHandle hunter = game.add();
    const ObjectHandle prey = game.add();
    game.object(hunter).targets = {prey};
    REQUIRE(game.settle());
    CHECK(game.object_on(0, hunter).targets.front() == game.handle_on(0, prey));
    game.driver().remove_object(game.id_of(prey));
    REQUIRE(game.settle());
    NetObjectId again;
    game.tick([&] {
        game.object(hunter).targets.resize(3, prey);
        again = game.driver().add_object(game.layout(), prey);
    });
    game.tick();
    game.object(hunter).targets.resize(1);
    REQUIRE(game.settle());
    const NetGUID guid = game.driver().guid_of(again);
    CHECK(game.object_on(0, hunter).targets.front() ==
          game.client_driver(0).guids().find_object(guid));
}

TEST_CASE("NetDriver: a reused handle means its new object, while everything moves",
          "[netdriver][net_driver][random]") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(seed);
    SeededRandom random(seed);
    NetFixtureOptions options;
    options.link.loss = 0.05;
    NetFixture net(options);
    std::vector<ObjectHandle> hunters;
    std::vector<ObjectHandle> prey;
    for (int i = 0; i < 30; ++i) {
        hunters.push_back(net.add_pawn());
        prey.push_back(net.add_pawn());
    }
    net.join();
    net.join();
    std::vector<ObjectHandle> gone;  // removed objects keep their memory, and so their handle
    for (int round = 0; round < 20; ++round) {
        for (int tick = 0; tick < 40; ++tick) {
            for (const ObjectHandle hunter : hunters) {
                Pawn& pawn = net.pawn(hunter);
                pawn.health += random.percent(30) ? 1 : 0;
                if (random.percent(5)) {
                    pawn.target = prey[random.below(30)];
                    pawn.friends.assign(random.below(3), prey[random.below(30)]);
                }
            }
            const ObjectHandle one = prey[random.below(30)];
            if (const auto found = std::find(gone.begin(), gone.end(), one); found != gone.end()) {
                gone.erase(found);
                net.announce(one);
            } else {
                net.server_driver().remove_object(net.id_of(one));
                gone.push_back(one);
            }
            net.tick();
        }
        for (const ObjectHandle one : gone) {
            net.announce(one);
        }
        gone.clear();
        REQUIRE(net.settle());
        REQUIRE(net.client_text(0) == net.server_text());
        REQUIRE(net.client_text(1) == net.server_text());
    }
}

}  // namespace replayout::test
