// SPDX-License-Identifier: MIT
//
// Calls that a server makes: which of them are queued, for whom there is no room, in whose name
// they run here, and whose calls of a client do not.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <optional>
#include <string>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

using Policy = CallSendPolicy;

/// Two clients; the turret is the first one's.
struct TwoClients {
    explicit TwoClients(const CallFixtureOptions& options = {}) : net(options) {
        turret = net.join_with_turret();
        net.join();
        REQUIRE(net.settle());
    }

    [[nodiscard]] std::uint64_t dropped_count() {
        return net.server().driver.stats().calls_dropped;
    }

    CallFixture net;
    ObjectHandle turret;
};

/// What is on its way to a client, or waits, may be so many parts.
[[nodiscard]] CallFixtureOptions with_window(std::uint32_t parts) {
    CallFixtureOptions options;
    options.server.reliable_waiting_max = parts;
    options.client.reliable_waiting_max = parts;
    return options;
}

}  // namespace

TEST_CASE("Calls of servers: what is unreliable is queued as the caller says, or as its kind does",
          "[netdriver][rpc]") {
    const struct {
        const char* function;
        Policy policy;
        CallResult result;
    } cases[] = {
        {"multicast_flash", Policy::Default, CallResult::Queued},
        {"multicast_flash", Policy::ForceQueue, CallResult::Queued},
        {"multicast_flash", Policy::ForceSend, CallResult::Sent},
        {"client_hint", Policy::Default, CallResult::Sent},
        {"client_hint", Policy::ForceQueue, CallResult::Queued},
        {"client_hint", Policy::ForceSend, CallResult::Sent},
        {"multicast_boom", Policy::ForceQueue, CallResult::Sent},
        {"client_tell", Policy::ForceQueue, CallResult::Sent},
    };
    for (const auto& test : cases) {
        INFO(test.function << ", policy " << static_cast<int>(test.policy));
        CallFixture net;
        const ObjectHandle turret = net.join_with_turret();
        CHECK(net.call(turret, test.function, {1, {}, ""}, test.policy) == test.result);
        REQUIRE(net.settle());
        CHECK(net.client(0).world.heard.size() == 1);
    }
}

TEST_CASE("Calls of servers: the bound of what is queued is for what is queued alone",
          "[netdriver][rpc][limits]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    CHECK(net.call(turret, "multicast_flash", {1, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "multicast_flash", {2, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "multicast_flash", {3, {}, ""}) == CallResult::Full);
    CHECK(net.call(turret, "multicast_flash", {4, {}, ""}, Policy::ForceSend) == CallResult::Sent);
    CHECK(net.call(turret, "multicast_flash", {5, {}, ""}, Policy::ForceSend) == CallResult::Sent);
    CHECK(net.server().driver.stats().calls_dropped == 0);  // its caller was told
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "flash") == Numbers{4, 5, 1, 2});
    CHECK(heard(net.server(), "flash") == Numbers{1, 2, 4, 5});
}

TEST_CASE("Calls of servers: unreliable ones beyond what may wait are refused to their caller",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 2;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    CHECK(net.call(turret, "client_hint", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "client_hint", {2, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "client_hint", {3, {}, ""}) == CallResult::Full);
    CHECK(net.call(turret, "multicast_flash", {4, {}, ""}) == CallResult::Full);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "hint") == Numbers{1, 2});
    CHECK(net.server().world.heard.empty());
}

TEST_CASE("Calls of servers: of an unreliable one for all, who has no room is left out and counted",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 2;
    TwoClients game(options);
    CHECK(game.net.call(game.turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
    CHECK(game.net.call(game.turret, "client_tell", {2, {}, ""}) == CallResult::Sent);
    CHECK(game.net.call(game.turret, "multicast_flash", {3, {}, ""}) == CallResult::Queued);
    CHECK(game.dropped_count() == 1);
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(0), "flash").empty());
    CHECK(heard(game.net.client(1), "flash") == Numbers{3});
    CHECK(heard(game.net.server(), "flash") == Numbers{3});
}

TEST_CASE("Calls of servers: of a large unreliable one likewise, whose parts find no room",
          "[netdriver][rpc][limits]") {
    TwoClients game(with_window(40));
    CHECK(game.net.call_with(game.turret, "client_deliver", make_cargo(1, 30'000)) ==
          CallResult::Sent);
    CHECK(game.net.call_with(game.turret, "multicast_toss", make_cargo(2, 20'000)) ==
          CallResult::Sent);
    CHECK(game.dropped_count() == 1);
    // A reliable one is for all, or for nobody.
    CHECK(game.net.call_with(game.turret, "multicast_deliver", make_cargo(3, 20'000)) ==
          CallResult::Full);
    CHECK(game.dropped_count() == 1);
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(0), "deliver") == Numbers{1});
    CHECK(heard(game.net.client(0), "toss all").empty());
    CHECK(heard(game.net.client(1), "toss all") == Numbers{2});
    CHECK(heard(game.net.client(1), "deliver all").empty());
}

TEST_CASE("Calls of servers: who takes no parts of large ones is closed after a while",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options = with_window(40);
    options.server.calls_full_timeout_ms = 1'000;
    TwoClients game(options);
    LinkSettings dead;
    dead.loss = 1.0;
    game.net.network().set_settings(PeerId{1}, CallFixture::client_peer(0), dead);
    CHECK(game.net.call_with(game.turret, "client_deliver", make_cargo(1, 30'000)) ==
          CallResult::Sent);
    const auto call_for = [&](int ticks) {
        for (int i = 0; i < ticks; ++i) {
            (void)game.net.call_with(game.turret, "multicast_deliver", make_cargo(2, 20'000));
            game.net.tick();
        }
    };
    call_for(45);  // 900 ms
    CHECK(game.net.server().driver.connection_count() == 2);
    call_for(15);
    CHECK(game.net.server().driver.connection_count() == 1);
    CHECK(game.net.server().driver.stats().closed[static_cast<std::size_t>(
              CloseReason::CallsStalled)] == 1);
}

TEST_CASE("Calls of servers: one for all runs here, if there is nobody else", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.add();
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Ran);
    CHECK(net.call(turret, "multicast_flash", {2, {}, ""}) == CallResult::Ran);
    CHECK(net.call(turret, "client_tell", {3, {}, ""}) == CallResult::NotOwned);
    CHECK(net.server().world.heard.size() == 2);
}

TEST_CASE("Calls of servers: it is the host who calls what runs on servers of an object of his",
          "[netdriver][rpc]") {
    const PeerId host{77};
    CallFixture net;
    net.server().driver.set_host(host);
    const ObjectHandle his = net.add();
    const ObjectHandle nobodys = net.add();
    net.server().driver.set_owner(net.id_of(his), host);
    std::optional<PeerId> caller;
    net.server().world.on_call = [&](const char*, const Order&) {
        caller = net.server().driver.current_call()->caller;
    };
    const auto caller_of = [&](ObjectHandle object, const char* function) {
        caller.reset();
        (void)net.call(object, function, {1, {}, ""});
        REQUIRE(caller.has_value());
        return *caller;
    };
    CHECK(caller_of(his, "server_fire") == host);
    CHECK(caller_of(nobodys, "server_fire") == PeerId{});
    CHECK(caller_of(his, "multicast_boom") == PeerId{});
    CHECK(caller_of(nobodys, "multicast_boom") == PeerId{});
}

TEST_CASE("Calls of servers: a client's on the object of another, or of nobody, does not run",
          "[netdriver][rpc][hostile]") {
    TwoClients game;
    const ObjectHandle nobodys = game.net.add();
    REQUIRE(game.net.settle());
    CHECK(game.net.call_from(1, game.turret, "server_fire", {1, {}, ""}) == CallResult::NotOwned);
    CHECK(game.net.call_from(1, nobodys, "server_fire", {2, {}, ""}) == CallResult::NotOwned);
    // It was his a moment ago, and he does not know.
    const ObjectHandle once = game.net.add_owned(1);
    REQUIRE(game.net.settle());
    game.net.server().driver.clear_owner(game.net.id_of(once));
    CHECK(game.net.call_from(1, once, "server_fire", {4, {}, ""}) == CallResult::Sent);
    (void)game.net.call_from(0, game.turret, "server_fire", {3, {}, ""});
    game.net.tick(3);
    CHECK(heard(game.net.server(), "fire") == Numbers{3});
    CHECK(game.net.server().driver.stats().calls_not_owned == 1);
}

TEST_CASE("Remote functions: under a cap of its own a client sends no more calls than it has room",
          "[netdriver][rpc][limits]") {
    CallFixtureOptions options;
    options.client.bytes_per_second_max = 4'000;
    options.server.calls_per_second_max = 10'000;
    options.server.calls_burst_max = 10'000;
    options.server.function_calls_per_second_max = 10'000;
    options.server.function_calls_burst_max = 10'000;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    net.tick(50);
    const std::uint64_t before = net.client(0).driver.stats().bytes_sent;
    for (std::uint32_t i = 0; i < 40; ++i) {
        CHECK(net.call_from(0, turret, "server_aim", {i, {}, std::string(500, 'x')}) ==
              CallResult::Sent);
    }
    net.tick(50);  // a second
    CHECK(net.client(0).driver.stats().bytes_sent - before <= 4'000 + 1'200);
    CHECK(net.client(0).driver.stats().bytes_sent - before > 2'000);
    net.tick(500);
    CHECK(heard(net.server(), "aim").size() == 40);
}

}  // namespace replayout::test
