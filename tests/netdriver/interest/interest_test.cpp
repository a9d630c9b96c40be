// SPDX-License-Identifier: MIT
//
// Who is to have what: relevancy, places, groups and what the game says, and what that comes to at
// clients.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

/// A server and two clients, who look from the origin and from far away.
class InterestStage {
  public:
    static constexpr float far_away = 10'000;

    explicit InterestStage(const LinkSettings& link = {}) : game(link) {
        (void)game.join();
        (void)game.join();
        REQUIRE(game.settle());
        interest().set_viewer(peer(0), {0, 0, 0});
        interest().set_viewer(peer(1), {far_away, 0, 0});
    }

    [[nodiscard]] Interest interest() { return game.server().driver.interest(); }
    [[nodiscard]] static PeerId peer(std::size_t client) { return SpawnGame::peer_of(client); }
    [[nodiscard]] NetObjectId id(ObjectHandle object) const { return game.id_of(object); }
    ObjectHandle add(NetRelevancy relevancy, float x = 0) {
        const ObjectHandle object = game.add_at(x);
        interest().set_relevancy(id(object), relevancy);
        return object;
    }
    /// Who has it once everything has arrived: "", "0", "1" or "01".
    [[nodiscard]] std::string who_has(ObjectHandle object) {
        REQUIRE(game.settle());
        std::string clients;
        for (std::size_t client = 0; client < 2; ++client) {
            const bool has_it = !game.find_on(client, object).is_null();
            CHECK(has_it == game.server().driver.is_relevant_for(peer(client), id(object)));
            clients += has_it ? std::to_string(client) : "";
        }
        return clients;
    }
    [[nodiscard]] const InterestCounters& counters() {
        return game.server().driver.stats().interest;
    }

    SpawnGame game;
};

[[nodiscard]] std::size_t count_told(PropHost& host, const std::string& line) {
    return static_cast<std::size_t>(
        std::count(host.world.told.begin(), host.world.told.end(), line));
}

/// In each of so many ticks client 0 is shown them, or not, in turn; and some of them change.
void flicker(InterestStage& stage, int ticks, bool is_shown_at_last,
             std::initializer_list<ObjectHandle> shown,
             std::initializer_list<ObjectHandle> changing) {
    for (int tick = ticks; tick > 0; --tick) {
        const bool is_shown = (tick % 2 == 1) == is_shown_at_last;
        stage.game.tick([&] {
            for (const ObjectHandle object : shown) {
                stage.interest().set_relevant_for(InterestStage::peer(0), stage.id(object),
                                                  is_shown);
            }
            for (const ObjectHandle object : changing) {
                ++stage.game.prop(object).hp;
            }
        });
    }
    REQUIRE(stage.game.settle());
}

}  // namespace

TEST_CASE("Interest: an object is for whom its relevancy says", "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle always = stage.add(NetRelevancy::Always);
    const ObjectHandle owners = stage.add(NetRelevancy::OnlyToOwner);
    const ObjectHandle by_distance = stage.add(NetRelevancy::Distance, 100);
    const ObjectHandle by_cell = stage.add(NetRelevancy::Grid, 100);
    const ObjectHandle custom = stage.add(NetRelevancy::Custom);
    stage.game.server().world.on_relevancy_asked = [](ObjectHandle, PeerId peer) {
        return peer == InterestStage::peer(1);
    };
    CHECK(stage.who_has(always) == "01");
    CHECK(stage.who_has(owners).empty());
    CHECK(stage.who_has(by_distance) == "0");
    CHECK(stage.who_has(by_cell) == "0");
    CHECK(stage.who_has(custom) == "1");
    for (const ObjectHandle object : {owners, by_distance, by_cell, custom}) {
        stage.interest().set_relevancy(stage.id(object), NetRelevancy::Always);
        CHECK(stage.who_has(object) == "01");
    }
}

TEST_CASE("Interest: by distance an object comes and goes at its cull distance",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle prop = stage.add(NetRelevancy::Distance, 100);
    CHECK(stage.who_has(prop) == "0");
    stage.interest().set_cull_distance(stage.id(prop), 50);
    CHECK(stage.who_has(prop).empty());
    CHECK(stage.game.client(0).world.told.back() == "despawn: relevancy");
    stage.interest().set_location(stage.id(prop), {45, 0, 0});
    CHECK(stage.who_has(prop) == "0");
    stage.interest().set_location(stage.id(prop), {53, 0, 0});  // still, by the hysteresis
    CHECK(stage.who_has(prop) == "0");
    stage.interest().set_location(stage.id(prop), {62, 0, 0});
    CHECK(stage.who_has(prop).empty());
    stage.interest().set_location(stage.id(prop), {53, 0, 0});  // not yet
    CHECK(stage.who_has(prop).empty());
    stage.game.prop(prop).hp = 7;
    stage.interest().set_viewer(InterestStage::peer(0), {40, 0, 0});
    CHECK(stage.who_has(prop) == "0");
    CHECK(stage.game.prop_on(0, prop).hp == 7);
    stage.interest().set_viewer(InterestStage::peer(1), {60, 10, 0});
    CHECK(stage.who_has(prop) == "01");
    stage.interest().remove_viewer(InterestStage::peer(0));
    CHECK(stage.who_has(prop) == "1");
    stage.interest().set_cull_distance(stage.id(prop), 30'000);
    stage.interest().set_viewer(InterestStage::peer(0), {-InterestStage::far_away, 0, 0});
    CHECK(stage.who_has(prop) == "01");
}

TEST_CASE("Interest: a viewer sees the cells within its radius, with any of its eyes",
          "[netdriver][interest]") {
    InterestStage stage;                                           // cells of 50, a radius of 100
    const ObjectHandle prop = stage.add(NetRelevancy::Grid, 149);  // the third cell from its own
    const ObjectHandle beyond = stage.add(NetRelevancy::Grid, 210);
    CHECK(stage.who_has(prop) == "0");
    CHECK(stage.who_has(beyond).empty());
    stage.interest().set_view_radius(InterestStage::peer(0), 160);
    CHECK(stage.who_has(beyond) == "0");
    stage.interest().set_view_radius(InterestStage::peer(0), 0);  // its cell, and those around it
    CHECK(stage.who_has(prop).empty());
    stage.interest().set_viewer(InterestStage::peer(0), {160, 0, 0}, 3);
    CHECK(stage.who_has(prop) == "0");
    CHECK(stage.who_has(beyond) == "0");
    stage.interest().remove_viewer(InterestStage::peer(0), 3);
    CHECK(stage.who_has(prop).empty());
    CHECK(stage.who_has(beyond).empty());
}

TEST_CASE("Interest: a client always has what it owns, as long as it does",
          "[netdriver][interest]") {
    InterestStage stage;
    std::vector<ObjectHandle> props;
    for (const NetRelevancy relevancy :
         {NetRelevancy::OnlyToOwner, NetRelevancy::UseOwner, NetRelevancy::Distance,
          NetRelevancy::Grid, NetRelevancy::Custom}) {
        props.push_back(stage.add(relevancy, -InterestStage::far_away));
    }
    props.push_back(stage.add(NetRelevancy::Always));
    stage.interest().add_to_group(stage.id(props.back()), NetGroup{1});
    for (const ObjectHandle prop : props) {
        CHECK(stage.who_has(prop).empty());
        stage.game.server().driver.set_owner(stage.id(prop), InterestStage::peer(1));
        CHECK(stage.who_has(prop) == "1");
        stage.game.server().driver.set_owner(stage.id(prop), InterestStage::peer(0));
        CHECK(stage.who_has(prop) == "0");
        stage.game.server().driver.clear_owner(stage.id(prop));
        CHECK(stage.who_has(prop).empty());
    }
}

TEST_CASE("Interest: an object of groups is for who is in any of them, wherever else",
          "[netdriver][interest]") {
    constexpr NetGroup red{1};
    constexpr NetGroup blue{2};
    InterestStage stage;
    const ObjectHandle flag = stage.add(NetRelevancy::Always);
    stage.interest().add_to_group(stage.id(flag), red);
    CHECK(stage.who_has(flag).empty());
    stage.interest().set_in_group(InterestStage::peer(0), red, true);
    stage.interest().set_in_group(InterestStage::peer(1), blue, true);
    CHECK(stage.who_has(flag) == "0");
    stage.interest().add_to_group(stage.id(flag), blue);
    CHECK(stage.who_has(flag) == "01");
    stage.interest().remove_from_group(stage.id(flag), red);
    CHECK(stage.who_has(flag) == "1");
    // Out of the last one is not out of the rule: between two teams it is nobody's.
    stage.interest().remove_from_group(stage.id(flag), blue);
    CHECK(stage.who_has(flag).empty());
    stage.interest().clear_groups(stage.id(flag));
    CHECK(stage.who_has(flag) == "01");
    // With a distance both must hold: two matches in one place.
    const ObjectHandle ball = stage.add(NetRelevancy::Distance);
    stage.interest().set_viewer(InterestStage::peer(1), {0, 0, 0});
    CHECK(stage.who_has(ball) == "01");
    stage.interest().add_to_group(stage.id(ball), blue);
    CHECK(stage.who_has(ball) == "1");
    stage.interest().set_location(stage.id(ball), {5'000, 0, 0});
    CHECK(stage.who_has(ball).empty());
    stage.interest().set_location(stage.id(ball), {0, 0, 0});
    stage.interest().set_in_group(InterestStage::peer(1), blue, false);
    CHECK(stage.who_has(ball).empty());
}

TEST_CASE("Interest: an object that goes with another is for whom that one is",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle pawn = stage.add(NetRelevancy::Distance);
    const ObjectHandle scope = stage.add(NetRelevancy::UseOwner);
    const ObjectHandle rifle = stage.add(NetRelevancy::UseOwner);
    stage.interest().set_owner_object(stage.id(scope), stage.id(rifle));
    CHECK(stage.who_has(rifle).empty());
    stage.interest().set_owner_object(stage.id(rifle), stage.id(pawn));
    for (const ObjectHandle object : {pawn, rifle, scope}) {
        CHECK(stage.who_has(object) == "0");
    }
    stage.interest().set_location(stage.id(pawn), {InterestStage::far_away, 0, 0});
    for (const ObjectHandle object : {pawn, rifle, scope}) {
        CHECK(stage.who_has(object) == "1");
    }
    stage.interest().set_relevant_for(InterestStage::peer(0), stage.id(pawn), true);
    CHECK(stage.who_has(scope) == "01");
    stage.game.remove(pawn);
    CHECK(stage.who_has(rifle).empty());
    CHECK(stage.who_has(scope).empty());
}

TEST_CASE("Interest: a game decides by itself, and is asked when something is new",
          "[netdriver][interest]") {
    InterestStage stage;
    bool is_shown = false;
    PropWorld& world = stage.game.server().world;
    world.on_relevancy_asked = [&](ObjectHandle, PeerId) { return is_shown; };
    const ObjectHandle prop = stage.add(NetRelevancy::Custom);
    CHECK(stage.who_has(prop).empty());
    CHECK(world.relevancy_questions == 2);
    is_shown = true;
    CHECK(stage.who_has(prop).empty());  // nobody asks in between
    CHECK(world.relevancy_questions == 2);
    stage.interest().reconsider(InterestStage::peer(1), stage.id(prop));
    CHECK(stage.who_has(prop) == "1");
    CHECK(world.relevancy_questions == 3);
    stage.interest().reconsider(stage.id(prop));
    CHECK(stage.who_has(prop) == "01");
    const std::size_t late = stage.game.join();
    REQUIRE(stage.game.settle());
    CHECK(!stage.game.find_on(late, prop).is_null());
    CHECK(world.relevancy_questions == 6);
}

TEST_CASE("Interest: what the game says of an object and a client goes before everything",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle here = stage.add(NetRelevancy::Distance);
    const ObjectHandle there = stage.add(NetRelevancy::Grid, InterestStage::far_away);
    const ObjectHandle owned = stage.add(NetRelevancy::OnlyToOwner);
    stage.game.server().driver.set_owner(stage.id(owned), InterestStage::peer(0));
    for (const ObjectHandle object : {here, owned}) {
        stage.interest().set_relevant_for(InterestStage::peer(0), stage.id(object), false);
        CHECK_FALSE(
            stage.game.server().driver.is_relevant_for(InterestStage::peer(0), stage.id(object)));
        CHECK(stage.who_has(object).empty());
    }
    stage.interest().set_relevant_for(InterestStage::peer(0), stage.id(there), true);
    CHECK(stage.who_has(there) == "01");
    stage.interest().set_location(stage.id(there), {0, 5'000, 0});
    CHECK(stage.who_has(there) == "0");
    stage.interest().clear_relevant_for(InterestStage::peer(0), stage.id(there));
    CHECK(stage.who_has(there).empty());
    stage.interest().clear_relevant_for(InterestStage::peer(0), stage.id(here));
    CHECK(stage.who_has(here) == "0");
}

TEST_CASE("Interest: parts follow their outer, and a sleeper is shown as it was",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle pawn = stage.add(NetRelevancy::Distance);
    const ObjectHandle part = stage.game.add_part(pawn);
    SubobjectParameters parameters;
    parameters.condition = LifetimeCondition::NetGroup;
    const ObjectHandle secret = stage.game.add_part(pawn, parameters);
    stage.interest().add_to_group(stage.id(secret), NetGroup{1});
    stage.interest().set_in_group(InterestStage::peer(1), NetGroup{1}, true);
    CHECK(stage.who_has(part) == "0");
    CHECK(stage.who_has(secret).empty());
    NetDriver& driver = stage.game.server().driver;
    stage.game.prop(pawn).hp = 30;
    driver.set_dormancy(stage.id(pawn), NetDormancy::DormantAll);
    REQUIRE(stage.game.settle());
    stage.game.prop(pawn).hp = 20;
    stage.interest().set_viewer(InterestStage::peer(1), {0, 0, 0});
    CHECK(stage.who_has(pawn) == "01");
    CHECK(stage.who_has(part) == "01");
    CHECK(stage.who_has(secret) == "1");
    CHECK(stage.game.prop_on(1, pawn).hp == 30);
    CHECK(driver.is_dormant_for(InterestStage::peer(1), stage.id(pawn)));
    // As in Unreal one that is initially dormant is not even shown to who comes near.
    const ObjectHandle door = stage.add(NetRelevancy::Distance, 5'000);
    driver.set_dormancy(stage.id(door), NetDormancy::Initial);
    REQUIRE(stage.game.settle());
    stage.interest().set_location(stage.id(door), {0, 0, 0});
    REQUIRE(stage.game.settle());
    CHECK(stage.game.find_on(0, door).is_null());
    driver.flush_dormancy(stage.id(door));
    CHECK(stage.who_has(door) == "01");
}

TEST_CASE("Interest: a class may begin with a rule, and who joins late is judged by all of them",
          "[netdriver][interest]") {
    InterestStage stage;
    stage.interest().set_class_relevancy(stage.game.layouts().prop(), NetRelevancy::Distance);
    stage.interest().set_class_cull_distance(stage.game.layouts().prop(), 40);
    const ObjectHandle near = stage.game.add_at(30);
    const ObjectHandle out = stage.game.add_at(60);
    const ObjectHandle nowhere = stage.game.add(stage.game.layouts().barrel());
    CHECK(stage.who_has(near) == "0");
    CHECK(stage.who_has(out).empty());
    CHECK(stage.who_has(nowhere).empty());
    stage.interest().set_location(stage.id(nowhere), {10, 0, 0});
    CHECK(stage.who_has(nowhere) == "0");
    const std::size_t late = stage.game.join();
    REQUIRE(stage.game.settle());
    CHECK(stage.game.find_on(late, near).is_null());  // it does not look at anything yet
    stage.interest().set_viewer(InterestStage::peer(late), {50, 0, 0});
    REQUIRE(stage.game.settle());
    CHECK(!stage.game.find_on(late, near).is_null());
    CHECK(!stage.game.find_on(late, out).is_null());
}

TEST_CASE("Interest: a multicast is for who has the object, also within the tick that adds it",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle prop = stage.add(NetRelevancy::OnlyToOwner);
    stage.game.server().driver.set_owner(stage.id(prop), InterestStage::peer(1));
    CHECK(stage.game.server().driver.call_function(stage.id(prop), "multicast_boom") ==
          CallResult::Sent);
    CHECK(stage.who_has(prop) == "1");
    CHECK(stage.game.prop_on(1, prop).heard == std::vector<std::string>{"boom"});
    CHECK(stage.game.server().driver.stats().calls_dropped == 0);
}

TEST_CASE("Interest: what enters and leaves in each tick ends right over a network that loses",
          "[netdriver][interest]") {
    LinkSettings link;
    link.loss = 0.2;
    link.latency_ms = 30;
    InterestStage stage(link);
    std::vector<ObjectHandle> props;
    for (int i = 0; i < 20; ++i) {
        props.push_back(stage.add(i % 2 == 0 ? NetRelevancy::Distance : NetRelevancy::Grid));
    }
    for (int tick = 0; tick < 300; ++tick) {
        stage.game.tick([&] {
            for (std::size_t i = 0; i < props.size(); ++i) {
                const bool is_here = (tick + static_cast<int>(i)) % 2 == 0;
                stage.interest().set_location(stage.id(props[i]),
                                              {is_here ? 0 : InterestStage::far_away, 0, 0});
                stage.game.prop(props[i]).hp = tick;
            }
        });
    }
    for (std::size_t i = 0; i < props.size(); ++i) {
        const std::size_t client = (299 + i) % 2 == 0 ? 0 : 1;
        CHECK(stage.who_has(props[i]) == std::to_string(client));
        CHECK(stage.game.prop_on(client, props[i]).hp == 299);
    }
    for (std::size_t client = 0; client < 2; ++client) {
        PropHost& host = stage.game.client(client);
        CHECK(count_told(host, "despawn: relevancy") > 10);
        CHECK(count_told(host, "despawn: destroyed") == 0);
    }
}

TEST_CASE("Interest: what enters and leaves in each tick stays at the client as its close says",
          "[netdriver][interest]") {
    LinkSettings link;
    link.loss = 0.2;
    link.duplicate = 0.1;
    link.reorder = 0.2;
    link.latency_ms = 30;
    InterestStage stage(link);
    NetDriver& driver = stage.game.server().driver;
    PropHost& client = stage.game.client(0);
    const ObjectHandle door = stage.game.announce("door");  // of the map: a client keeps it
    const ObjectHandle prop = stage.game.add(stage.game.layouts().prop());
    const ObjectHandle sleeper = stage.game.add(stage.game.layouts().prop());
    driver.set_dormancy(stage.id(sleeper), NetDormancy::DormantAll);
    const ObjectHandle kept = client.world.named("door");
    flicker(stage, 200, true, {door, prop, sleeper}, {door, prop});
    CHECK(stage.game.find_on(0, door) == kept);
    CHECK(client.world.at(kept).hp == stage.game.prop(door).hp);
    CHECK(stage.game.prop_on(0, prop).hp == stage.game.prop(prop).hp);
    CHECK(!stage.game.find_on(0, sleeper).is_null());
    CHECK(client.world.objects().size() == 2 + 2);  // door and lamp
    const std::size_t closed_count = count_told(client, "despawn: relevancy");
    CHECK(closed_count > 20);
    CHECK(closed_count + 3 == count_told(client, "find door") + count_told(client, "spawn"));

    flicker(stage, 200, false, {door, prop, sleeper}, {door, prop});
    CHECK(stage.game.find_on(0, door).is_null());
    CHECK(client.world.contains(kept));
    CHECK(client.world.at(kept).hp > 300);  // what it was when it was seen last
    CHECK(client.world.objects().size() == 2);
    CHECK(count_told(client, "despawn: relevancy") ==
          count_told(client, "find door") + count_told(client, "spawn"));
    // What ends while it is out of sight is told by its name, and what has none is gone already.
    stage.game.remove(door);
    stage.game.remove(prop);
    REQUIRE(stage.game.settle());
    CHECK(count_told(client, "destroyed door") == 1);
    CHECK(client.world.objects().size() == 1);

    const ObjectHandle corpse = stage.game.add(stage.game.layouts().prop());
    flicker(stage, 51, true, {corpse}, {});
    stage.game.prop(corpse).hp = 7;
    driver.tear_off(stage.id(corpse));
    stage.game.tick();
    stage.game.server().world.remove(corpse);
    REQUIRE(stage.game.settle());
    CHECK(count_told(client, "despawn: tear-off") == 1);
    CHECK(client.world.objects().size() == 2);  // the lamp, and what is its own now
    CHECK(client.world.objects().rbegin()->second->hp == 7);
}

TEST_CASE("Interest: a world that moves takes no memory, and little of it for each pair",
          "[netdriver][interest]") {
    NetFixtureOptions options;
    options.is_validating = false;
    NetFixture net(options);
    constexpr std::size_t clients = 8;
    for (std::size_t client = 0; client < clients; ++client) {
        net.join();
    }
    net.tick(5);
    Interest interest = net.server_driver().interest();
    std::vector<NetObjectId> ids;
    for (int number = 0; number < 1'000; ++number) {
        ids.push_back(net.id_of(net.add_pawn()));
        interest.set_relevancy(ids.back(),
                               number % 2 == 0 ? NetRelevancy::Distance : NetRelevancy::Grid);
        interest.set_location(ids.back(), {static_cast<float>(number % 50), 0, 0});
    }
    // Back and forth over many cells, and never out of sight.
    const auto move = [&](int tick) {
        const float along = static_cast<float>(tick % 2) * 60.0f;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            interest.set_location(ids[i], {static_cast<float>(i % 50), along, 0});
        }
        for (std::size_t client = 0; client < clients; ++client) {
            interest.set_viewer(NetFixture::client_peer(client), {along, 0, 0});
        }
    };
    move(0);
    REQUIRE(net.settle());
    for (int tick = 0; tick < 20; ++tick) {
        net.tick([&] { move(tick); });
    }
    const std::uint64_t taken = net.server().memory.allocation_count();
    const NetStats before = net.server_driver().stats();
    for (int tick = 0; tick < 100; ++tick) {
        net.tick([&] { move(tick); });
    }
    const NetStats& after = net.server_driver().stats();
    CHECK(net.server().memory.allocation_count() == taken);
    CHECK(after.interest.cells_crossed - before.interest.cells_crossed > 90'000);
    CHECK(after.interest.pairs_decided == before.interest.pairs_decided);
    CHECK(after.channels_opened == clients * ids.size());
    const MemoryReport report = net.server_driver().memory_report();
    CHECK(report.bytes_per_pair() <= 16.0);
    CHECK(static_cast<std::int64_t>(report.total_bytes()) == net.server().memory.bytes_in_use());
}

TEST_CASE("Interest: what comes and goes is counted, and not how it began",
          "[netdriver][interest]") {
    InterestStage stage;
    const ObjectHandle near = stage.add(NetRelevancy::Distance);
    const ObjectHandle far = stage.add(NetRelevancy::Distance, 500);
    CHECK(stage.who_has(near) == "0");
    CHECK(stage.who_has(far).empty());
    CHECK(stage.counters().pairs_shown == 0);
    CHECK(stage.counters().pairs_hidden == 0);
    stage.interest().set_location(stage.id(far), {10, 0, 0});
    CHECK(stage.who_has(far) == "0");
    CHECK(stage.counters().pairs_shown == 1);
    stage.interest().set_location(stage.id(near), {500, 0, 0});
    CHECK(stage.who_has(near).empty());
    CHECK(stage.counters().pairs_hidden == 1);
    (void)stage.game.join();
    REQUIRE(stage.game.settle());
    CHECK(stage.counters().pairs_shown == 1);
    CHECK(stage.counters().pairs_hidden == 1);
}

TEST_CASE("Interest: settings that make no sense are refused", "[netdriver][interest]") {
    CHECK(InterestSettings().validate());
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {nothing, -1.0f, 1e31f}) {
        InterestSettings settings;
        settings.cull_distance = value;
        CHECK_FALSE(settings.validate());
        settings = {};
        settings.view_radius = value;
        CHECK_FALSE(settings.validate());
        settings = {};
        settings.cell_size = value;
        CHECK_FALSE(settings.validate());
        settings = {};
        settings.hysteresis = value;
        CHECK_FALSE(settings.validate());
    }
    InterestSettings settings;
    settings.cell_size = 0;
    SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
    TestWorld world(1);
    NetDriverSettings driver_settings;
    driver_settings.interest = settings;
    NetDriver driver(driver_settings, network.endpoint(PeerId{1}), world);
    CHECK_FALSE(driver.listen());
}

}  // namespace replayout::test
