// SPDX-License-Identifier: MIT
//
// Calls of a server that a client's world keeps: NetWorld::may_run_call().
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// A client that lets calls wait, of all functions but "client_hint".
struct PatientGame {
    explicit PatientGame(const CallFixtureOptions& options = {}) : net(options) {
        turret = net.join_with_turret();
        world().may_run = [this](ObjectHandle, const Function& function, bool is_last) {
            last_chances += is_last ? 1u : 0u;
            return is_ready || (is_last && is_taking_last) || function.name == "client_hint";
        };
    }
    [[nodiscard]] CallWorld& world() { return net.client(0).world; }
    void call(const char* function, std::uint32_t number) {
        (void)net.call(turret, function, {number, {}, ""});
    }

    CallFixture net;
    ObjectHandle turret;
    bool is_ready = false;
    bool is_taking_last = true;
    std::uint32_t last_chances = 0;
};

}  // namespace

TEST_CASE("Kept calls: what the world lets wait runs in order, when the world lets it",
          "[netdriver][rpc]") {
    PatientGame game;
    for (std::uint32_t i = 0; i < 10; ++i) {
        game.call(i % 3 == 2 ? "multicast_boom" : "client_tell", i);
        game.call("client_hint", 100 + i);
        game.net.tick();
    }
    REQUIRE(game.net.settle());
    CHECK(game.world().heard.size() == 10);  // the hints
    game.net.client(0).driver.run_kept_calls();
    CHECK(game.world().heard.size() == 10);
    game.is_ready = true;
    const ObjectHandle shown = game.net.find_on(0, game.turret);
    game.net.client(0).driver.run_kept_calls(shown);
    REQUIRE(game.world().heard.size() == 20);
    for (std::uint32_t i = 0; i < 10; ++i) {
        CHECK(game.world().heard[10 + i].number == i);
    }
    CHECK(game.last_chances == 0);
    game.call("client_tell", 50);
    REQUIRE(game.net.settle());
    CHECK(game.world().heard.back().number == 50);
}

TEST_CASE("Kept calls: what comes when the world is ready comes after what was kept",
          "[netdriver][rpc]") {
    PatientGame game;
    game.call("client_tell", 1);
    REQUIRE(game.net.settle());
    game.is_ready = true;
    game.call("client_tell", 2);
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(0), "tell") == Numbers{1, 2});
}

TEST_CASE("Kept calls: beyond the limit the world gets one last chance to run what is kept",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options;
    options.client.reliable_waiting_max = 5;
    const bool is_taking = GENERATE(true, false);
    CAPTURE(is_taking);
    PatientGame game(options);
    game.is_taking_last = is_taking;
    for (std::uint32_t i = 0; i < 5; ++i) {
        game.call("client_tell", i);
        game.net.tick(2);
    }
    CHECK(game.world().heard.empty());
    CHECK(game.last_chances == 0);
    game.call("client_tell", 5);
    game.net.tick(2);
    CHECK(game.last_chances > 0);
    CHECK(game.net.client(0).driver.stats().calls_dropped == (is_taking ? 0u : 6u));
    CHECK(heard(game.net.client(0), "tell") == (is_taking ? Numbers{0, 1, 2, 3, 4, 5} : Numbers{}));
    CHECK(game.net.server().driver.connection_count() == 1);
}

TEST_CASE("Kept calls: they run before their object goes, or are dropped", "[netdriver][rpc]") {
    const bool is_taking = GENERATE(true, false);
    CAPTURE(is_taking);
    PatientGame game;
    game.is_taking_last = is_taking;
    game.call("client_tell", 7);
    REQUIRE(game.net.settle());
    CHECK(game.world().heard.empty());
    game.net.remove(game.turret);
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(0), "tell") == (is_taking ? Numbers{7} : Numbers{}));
    CHECK(game.net.client(0).driver.stats().calls_dropped == (is_taking ? 0u : 1u));
}

TEST_CASE("Kept calls: the end of the connection drops them", "[netdriver][rpc]") {
    PatientGame game;
    game.call("client_tell", 7);
    REQUIRE(game.net.settle());
    game.net.client(0).driver.disconnect({});
    game.net.tick(3);
    CHECK(game.world().heard.empty());
    CHECK(game.world().object_count() == 0);
}

}  // namespace replayout::test
