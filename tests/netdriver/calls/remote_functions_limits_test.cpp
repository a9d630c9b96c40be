// SPDX-License-Identifier: MIT
//
// Which remote calls are refused, dropped, or close the connection that they came on.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/worlds/call_game.h"

namespace replayout::test {

TEST_CASE("Remote functions: parameters that are missing are refused, wherever the call would run",
          "[netdriver][rpc]") {
    const char* const server_calls[] = {"server_fire", "client_tell", "multicast_boom",
                                        "remote_ping"};
    const char* const client_calls[] = {"server_fire", "client_tell", "multicast_boom"};
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle shown = net.find_on(0, turret);
    const Refusals refusals;
    for (const char* const name : server_calls) {
        CHECK(net.server().driver.call_function(net.id_of(turret), name) == CallResult::Misused);
    }
    for (const char* const name : client_calls) {
        CHECK(net.client(0).driver.call_function(shown, name) == CallResult::Misused);
    }
    if (Refusals::are_told) {
        CHECK(refusals.count("takes a \"Order\" and was given null") ==
              std::size(server_calls) + std::size(client_calls));
    }
    CHECK(net.server().world.heard.empty());
}

TEST_CASE("Remote functions: only the owner's calls run", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
    net.server().driver.clear_owner(net.id_of(turret));
    (void)net.call_from(0, turret, "server_aim", {2, {}, ""});
    net.tick(3);
    CHECK(net.server().world.heard.empty());
    CHECK(net.server().driver.stats().calls_not_owned == 2);
    // Not a reason to close, and the order of the channel goes on.
    net.server().driver.set_owner(net.id_of(turret), CallFixture::client_peer(0));
    net.tick(3);  // until he knows
    (void)net.call_from(0, turret, "server_fire", {3, {}, ""});
    net.tick(3);
    CHECK(heard(net.server(), "fire") == Numbers{3});
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Remote functions: what the validation refuses closes the connection, and does not run",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call_from(0, turret, "server_fire", {665, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {Turret::refused_number, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {667, {}, ""});
    net.tick(3);
    CHECK(heard(net.server(), "fire") == Numbers{665});
    CHECK(net.client(0).driver.close_reason() == CloseReason::CallRefused);
    CHECK(net.server().driver.stats().closed[static_cast<std::size_t>(CloseReason::CallRefused)] ==
          1);
}

TEST_CASE("Remote functions: beyond the rate unreliable calls are dropped, reliable ones close",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.function_calls_per_second_max = 10;
    options.server.function_calls_burst_max = 5;
    options.server.client_waiting_max = 1;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    for (std::uint32_t i = 0; i < 6; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(2);
    CHECK(heard(net.server(), "aim") == Numbers{0, 1, 2, 3, 4});
    CHECK(net.server().driver.stats().calls_over_rate == 1);
    net.tick(10);  // 200 ms: two more
    for (std::uint32_t i = 10; i < 14; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(2);
    CHECK(heard(net.server(), "aim") == Numbers{0, 1, 2, 3, 4, 10, 11});
    CHECK(net.server().driver.connection_count() == 1);
    for (std::uint32_t i = 0; i < 7; ++i) {
        (void)net.call_from(0, turret, "server_fire", {i, {}, ""});
    }
    net.tick(3);
    // The server takes as many more reliable calls as may be under way.
    CHECK(heard(net.server(), "fire") == Numbers{0, 1, 2, 3, 4, 5});
    CHECK(net.client(0).driver.close_reason() == CloseReason::TooManyCalls);
}

TEST_CASE("Remote functions: a client's calls of all functions together are limited, too",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_per_second_max = 1;
    options.server.calls_burst_max = 3;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
    (void)net.call_from(0, turret, "remote_ping", {2, {}, ""});
    for (std::uint32_t i = 3; i < 8; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(3);
    // Reliable and unreliable ones apart.
    CHECK(net.server().world.heard.size() == 2 + 3);
    CHECK(net.server().driver.stats().calls_over_rate == 2);
}

TEST_CASE("Remote functions: too many that wait are refused, not dropped", "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 3;
    options.client.calls_waiting_max = 2;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(net.call(turret, "client_tell", {i, {}, ""}) == CallResult::Sent);
    }
    CHECK(net.call(turret, "client_tell", {9, {}, ""}) == CallResult::Full);
    CHECK(net.call(turret, "multicast_boom", {9, {}, ""}) == CallResult::Full);
    CHECK(net.server().world.heard.empty());  // nor did it run here
    CHECK(net.call_from(0, turret, "server_fire", {0, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "server_fire", {2, {}, ""}) == CallResult::Full);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{0, 1, 2});
    CHECK(heard(net.server(), "fire") == Numbers{0, 1});
    CHECK(net.call(turret, "client_tell", {4, {}, ""}) == CallResult::Sent);
}

TEST_CASE("Remote functions: what cannot be sent is refused, and runs nowhere",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const std::string long_text(1'025, 'x');
    CHECK(net.call(turret, "multicast_boom", {1, {}, long_text}) == CallResult::ValueOverLimit);
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, long_text}) ==
          CallResult::ValueOverLimit);
    CHECK(net.call(turret, "client_tell", {1, {}, "\xff"}) == CallResult::ValueOverLimit);
    CHECK(net.call(turret, "client_tell", {1, {}, std::string(1'024, 'x')}) == CallResult::Sent);
    CHECK(net.client(0).driver.call_function(ObjectHandle{5}, "server_reset") ==
          CallResult::NoChannel);
    CHECK(net.call(turret, "no_such", {1, {}, ""}) == CallResult::UnknownFunction);
    CHECK(net.call_from(0, turret, "no_such", {1, {}, ""}) == CallResult::UnknownFunction);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.server().world.heard.empty());
}

TEST_CASE("Remote functions: a call that is as large as a packet goes in one piece",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = 512;
    options.client.packet_bytes_max = 512;
    const bool may_be_larger = GENERATE(true, false);
    CAPTURE(may_be_larger);
    if (!may_be_larger) {
        options.server.call_bytes_max = 0;
        options.client.client_call_bytes_max = 0;
    }
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    // 448 bytes are left by headers: one of the function, one of the set, four of the number, two
    // of the length.
    const std::string fits(448 - 8, 'x');
    CHECK(net.call(turret, "client_tell", {0xFFFF'FFFF, {}, fits}) == CallResult::Sent);
    net.turret(turret).power = 3;
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, fits}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(net.server().driver.stats().call_parts_sent == 0);
    CHECK(net.client(0).driver.stats().call_parts_sent == 0);
    const CallResult larger = may_be_larger ? CallResult::Sent : CallResult::TooLarge;
    CHECK(net.call(turret, "client_tell", {0xFFFF'FFFE, {}, fits + "x"}) == larger);
    CHECK(net.call_from(0, turret, "server_fire", {2, {}, fits + "xxxx"}) == larger);
    REQUIRE(net.settle());
    net.tick(2);
    CHECK(net.server().driver.stats().call_parts_sent == (may_be_larger ? 2 : 0));
    CHECK(net.client(0).driver.stats().call_parts_sent == (may_be_larger ? 2 : 0));
    CHECK(heard(net.client(0), "tell").size() == (may_be_larger ? 2 : 1));
    CHECK(heard(net.server(), "fire").size() == (may_be_larger ? 2 : 1));
}

}  // namespace replayout::test
