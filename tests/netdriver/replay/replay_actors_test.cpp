// SPDX-License-Identifier: MIT
//
// What becomes of objects in a recording: names, archetypes, parts, sleep, ends, interest, calls.
#include <algorithm>
#include <map>
#include <string>

#include "support/checks/catch.h"
#include "support/hostile/replay_screen.h"
#include "support/worlds/call_game.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

/// A recording of a SpawnGame, which begins with it.
struct PropTape {
    explicit PropTape(std::uint32_t checkpoint_ms = 0)
        : recorder(sink, settings_of(checkpoint_ms)) {
        REQUIRE(game.server().driver.start_recording(recorder));
    }
    static ReplayRecorderSettings settings_of(std::uint32_t checkpoint_ms) {
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = checkpoint_ms;
        return settings;
    }
    void end() { game.server().driver.stop_recording(); }

    SpawnGame game;
    ReplayMemory sink;
    ReplayRecorder recorder;
};

struct PropScreen {
    explicit PropScreen(PropTape& tape)
        : source(tape.sink.bytes()),
          world(9'000'000, tape.game.layouts()),
          player(NetDriverSettings(), source, world) {
        for (const char* name : SpawnGame::map_names) {
            world.place(name);
        }
        REQUIRE(player.driver().add_layout(tape.game.layouts().prop()));
        REQUIRE(
            player.driver().add_archetype(PropLayouts::barrel_id, tape.game.layouts().barrel()));
        REQUIRE(player.open() == ReplayError::None);
    }
    /// Of the last checkpoint and what follows, to its end.
    void seek_end() { REQUIRE(player.seek(player.end_time()) == ReplayError::None); }
    void play_all() { REQUIRE(player.advance(player.end_time()) == ReplayError::None); }
    [[nodiscard]] const Prop* find(NetGUID guid) {
        const ObjectHandle handle = player.driver().guids().find_object(guid);
        return handle.is_null() ? nullptr : &world.at(handle);
    }

    BytesSource source;
    PropWorld world;
    ReplayPlayer player;
};

[[nodiscard]] bool was_told(const PropWorld& world, const std::string& text) {
    return std::any_of(world.told.begin(), world.told.end(), [&](const std::string& line) {
        return line.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("Replay: a checkpoint has objects of the map, archetypes, parts and places",
          "[netdriver][replay]") {
    PropTape tape;
    SpawnGame& game = tape.game;
    const ObjectHandle door = game.announce("door");
    const ObjectHandle barrel = game.add(game.layouts().barrel());
    const ObjectHandle crate = game.add_at(12);
    const ObjectHandle lid = game.add_part(crate);
    game.prop(lid).link = door;
    game.prop(door).hp = 3;
    game.prop(door).secret = 9;  // its owner's
    game.tick(3);
    tape.recorder.request_checkpoint();
    game.tick(1);
    tape.end();
    REQUIRE(tape.recorder.stats().checkpoints_written == 2);
    for (const bool is_sought : {true, false}) {
        INFO("sought " << is_sought);
        PropScreen screen(tape);
        is_sought ? screen.seek_end() : screen.play_all();
        const NetDriver& server = game.server().driver;
        const Prop* shown = screen.find(server.guid_of(game.id_of(door)));
        REQUIRE(shown != nullptr);
        CHECK(shown == &screen.world.at(screen.world.named("door")));
        CHECK(shown->hp == 3);
        CHECK(shown->secret == 0);
        REQUIRE(screen.find(server.guid_of(game.id_of(barrel))) != nullptr);
        CHECK(screen.find(server.guid_of(game.id_of(barrel)))->hp == 25);
        REQUIRE(screen.find(server.guid_of(game.id_of(lid))) != nullptr);
        CHECK(screen.find(server.guid_of(game.id_of(lid)))->link == screen.world.named("door"));
        CHECK(was_told(screen.world, "at 12,0,0"));
        CHECK(was_told(screen.world, "as a part"));
    }
}

TEST_CASE("Replay: what was destroyed of the map before a checkpoint is told behind it",
          "[netdriver][replay]") {
    PropTape tape;
    SpawnGame& game = tape.game;
    const ObjectHandle door = game.announce("door");
    game.announce("lamp");
    game.tick(3);
    game.remove(door);
    game.tick(3);
    tape.recorder.request_checkpoint();
    game.tick(1);
    tape.end();
    PropScreen screen(tape);
    screen.seek_end();
    CHECK(was_told(screen.world, "door"));
    CHECK_FALSE(was_told(screen.world, "find door"));
    CHECK(was_told(screen.world, "find lamp"));
    // And back to where it was there.
    REQUIRE(screen.player.seek(screen.player.start_time()) == ReplayError::None);
    CHECK(was_told(screen.world, "find door"));
}

TEST_CASE("Replay: what sleeps is in a checkpoint, and asks for no memory for that",
          "[netdriver][replay]") {
    PropTape tape;
    SpawnGame& game = tape.game;
    const ObjectHandle prop = game.add(game.layouts().prop());
    game.prop(prop).hp = 41;
    game.server().driver.set_dormancy(game.id_of(prop), NetDormancy::DormantAll);
    game.tick(5);
    // Nobody is told of what it becomes asleep.
    game.prop(prop).hp = 43;
    tape.recorder.request_checkpoint();
    const std::uint64_t compared = game.server().driver.stats().replication.objects_compared;
    game.tick(5);
    CHECK(game.server().driver.stats().replication.objects_compared == compared);
    tape.end();
    const NetGUID guid = game.server().driver.guid_of(game.id_of(prop));
    {
        PropScreen screen(tape);
        screen.seek_end();
        REQUIRE(screen.find(guid) != nullptr);
        CHECK(screen.find(guid)->hp == 41);
        screen.play_all();
        CHECK(screen.find(guid)->hp == 41);
    }
    PropTape woken;
    const ObjectHandle other = woken.game.add(woken.game.layouts().prop());
    woken.game.server().driver.set_dormancy(woken.game.id_of(other), NetDormancy::DormantAll);
    woken.game.tick(5);
    woken.recorder.request_checkpoint();
    woken.game.tick(2);
    woken.game.prop(other).hp = 8;
    woken.game.server().driver.flush_dormancy(woken.game.id_of(other));
    woken.game.tick(3);
    woken.end();
    PropScreen screen(woken);
    screen.seek_end();
    const NetGUID woken_guid = woken.game.server().driver.guid_of(woken.game.id_of(other));
    CHECK(screen.find(woken_guid)->hp == 8);
    REQUIRE(screen.player.seek(screen.player.start_time()) == ReplayError::None);
    CHECK(screen.find(woken_guid)->hp == 100);
    screen.play_all();
    CHECK(screen.find(woken_guid)->hp == 8);
}

TEST_CASE("Replay: what is torn off stays where it was played, and is in no checkpoint",
          "[netdriver][replay]") {
    PropTape tape;
    SpawnGame& game = tape.game;
    const ObjectHandle prop = game.add(game.layouts().prop());
    game.tick(3);
    game.prop(prop).hp = 6;
    game.server().driver.tear_off(game.id_of(prop));
    game.tick(3);
    tape.recorder.request_checkpoint();
    game.tick(2);
    tape.end();
    PropScreen played(tape);
    played.play_all();
    CHECK(was_told(played.world, "tear-off"));
    CHECK(std::any_of(played.world.objects().begin(), played.world.objects().end(),
                      [](const auto& entry) { return entry.second->hp == 6; }));
    PropScreen sought(tape);
    sought.seek_end();
    CHECK_FALSE(was_told(sought.world, "spawn"));
}

TEST_CASE("Replay: a recording is shown everything, whatever interest says",
          "[netdriver][replay]") {
    PropTape tape;
    SpawnGame& game = tape.game;
    const ObjectHandle far = game.add_at(100'000);
    const ObjectHandle owned = game.add(game.layouts().prop());
    const ObjectHandle custom = game.add(game.layouts().prop());
    Interest interest = game.server().driver.interest();
    interest.set_relevancy(game.id_of(far), NetRelevancy::Grid);
    interest.set_relevancy(game.id_of(owned), NetRelevancy::OnlyToOwner);
    interest.set_relevancy(game.id_of(custom), NetRelevancy::Custom);
    game.tick(5);
    tape.recorder.request_checkpoint();
    game.tick(5);
    tape.end();
    CHECK(game.server().world.relevancy_questions == 0);
    PropScreen screen(tape);
    screen.play_all();
    for (const ObjectHandle object : {far, owned, custom}) {
        CHECK(screen.find(game.server().driver.guid_of(game.id_of(object))) != nullptr);
    }
    screen.seek_end();
    CHECK(screen.world.objects().size() == 3 + 2);  // with those of the map
}

TEST_CASE("Replay: nobody is told of the recording, and it takes no player's place",
          "[netdriver][replay]") {
    NetConfig config;
    config.connections_max = 1;
    SpawnGame game(LinkSettings{}, config);
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(game.server().driver.start_recording(recorder));
    game.tick(3);
    CHECK(game.server().world.told.empty());
    CHECK(game.server().driver.connection_count() == 0);
    game.join();
    REQUIRE(game.settle());
    CHECK(game.server().driver.connection_count() == 1);
    game.server().driver.stop_recording();
    game.tick(3);
    CHECK(game.server().world.told == Told{"2 joined"});
    CHECK(game.server().driver.connection_count() == 1);
}

TEST_CASE("Replay: multicasts run where they were made, behind the state that they mean",
          "[netdriver][replay]") {
    CallFixture net;
    const ObjectHandle turret = net.add();
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 100;
    ReplayRecorder recorder(sink, settings);
    NetDriver& server = net.server().driver;
    REQUIRE(server.start_recording(recorder));
    net.tick();
    std::map<std::uint32_t, NetTime> made;
    for (std::uint32_t i = 1; i <= 60; ++i) {
        net.tick([&] {
            net.turret(turret).power = i;
            const Order order{i, turret, "now"};
            REQUIRE(server.call_function(net.id_of(turret),
                                         i % 2 == 0 ? "multicast_boom" : "multicast_flash",
                                         &order) != CallResult::Full);
        });
        made[i] = net.now();
    }
    server.stop_recording();
    CHECK(recorder.stats().checkpoints_written > 10);

    BytesSource source(sink.bytes());
    CallWorld world(8'000'000);
    ReplayPlayer player(NetDriverSettings(), source, world);
    REQUIRE(player.driver().add_layout(turret_layout()));
    REQUIRE(player.open() == ReplayError::None);
    std::uint32_t seeking_calls = 0;
    world.on_call = [&](const char*, const Order&) { seeking_calls += player.is_seeking(); };
    REQUIRE(player.advance(player.end_time()) == ReplayError::None);
    REQUIRE(world.heard.size() == 60);
    for (std::uint32_t i = 1; i <= 60; ++i) {
        CHECK(world.heard[i - 1].number == i);
        CHECK(world.heard[i - 1].power == i);
        CHECK(world.heard[i - 1].target_power == i);
    }
    CHECK(seeking_calls == 0);
    // Sought: those from the checkpoint on alone, and they know of it.
    world.heard.clear();
    REQUIRE(player.seek(made.at(33)) == ReplayError::None);
    REQUIRE_FALSE(world.heard.empty());
    CHECK(world.heard.size() < 10);
    CHECK(world.heard.back().number == 33);
    CHECK(seeking_calls == world.heard.size());
    // Nobody is there to take a call.
    const Order order{1, {}, {}};
    const ObjectHandle shown =
        player.driver().guids().find_object(server.guid_of(net.id_of(turret)));
    CHECK(player.driver().call_function(shown, "server_fire", &order) == CallResult::NoChannel);
}

}  // namespace replayout::test
