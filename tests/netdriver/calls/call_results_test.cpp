// SPDX-License-Identifier: MIT
//
// What call_function() answers is true, and calls_dropped counts what did not run.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/worlds/call_game.h"

namespace replayout::test {

TEST_CASE("Call results: a client's call of what it does not own is refused, and logged",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add();
    REQUIRE(net.settle());
    const LogSpy spy(LogLevel::Warning);
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, ""}) == CallResult::NotOwned);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), "\"server_fire\""));
    CHECK(contains(LogSpy::messages().front(), "\"Turret\""));
    CHECK(contains(LogSpy::messages().front(), "set_owner"));
    net.tick(5);
    CHECK(net.server().driver.stats().calls_not_owned == 0);
    CHECK(net.client(0).driver.stats().calls_sent == 0);

    net.server().driver.set_owner(net.id_of(turret), CallFixture::client_peer(0));
    REQUIRE(net.settle());
    CHECK(net.call_from(0, turret, "server_fire", {2, {}, ""}) == CallResult::Sent);
    net.tick(5);
    CHECK(heard(net.server(), "fire") == Numbers{2});
    // One that runs here alone needs no owner.
    net.server().driver.clear_owner(net.id_of(turret));
    REQUIRE(net.settle());
    CHECK(net.call_from(0, turret, "client_hint", {3, {}, ""}) == CallResult::Ran);
}

TEST_CASE("Call results: each has a name of its own", "[netdriver][rpc]") {
    std::set<std::string_view> names;
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(CallResult::Full); ++i) {
        names.insert(to_string(static_cast<CallResult>(i)));
    }
    CHECK(names.size() == static_cast<std::size_t>(CallResult::Full) + 1);
    CHECK(to_string(CallResult::NotOwned) == "not owned");
    CHECK(to_string(static_cast<CallResult>(200)) == "unknown");
}

TEST_CASE("Call results: calls under way when their object goes count when their fate is known",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.close_waits_for_calls_ms = 0;
    options.link.latency_ms = 100;
    for (const bool is_lost : {false, true}) {
        CallFixture net(options);
        const ObjectHandle turret = net.join_with_turret();
        bool is_dropping = is_lost;
        net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
        for (std::uint32_t i = 1; i <= 3; ++i) {
            (void)net.call(turret, "client_tell", {i, {}, ""});
            net.tick();
            is_dropping = false;  // so the first is lost, and the others come and do not run
        }
        net.remove(turret);
        REQUIRE(net.settle());
        CHECK(heard(net.client(0), "tell") == (is_lost ? Numbers{} : Numbers{1, 2, 3}));
        CHECK(net.server().driver.stats().calls_dropped == (is_lost ? 3u : 0u));
    }
}

TEST_CASE("Call results: a client's calls under way when it loses the object are not lost for sure",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 100;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    net.server().driver.set_dormancy(net.id_of(turret), NetDormancy::Awake);
    (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
    net.tick(6);
    net.remove(turret);
    REQUIRE(net.settle());
    net.tick(50);
    CHECK(heard(net.server(), "fire") == Numbers{1});
    CHECK(net.client(0).driver.stats().calls_dropped == 0);
    CHECK(net.server().driver.stats().calls_dropped == 0);
}

}  // namespace replayout::test
