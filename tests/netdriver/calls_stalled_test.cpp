// SPDX-License-Identifier: MIT
//
// One client who does not take its reliable calls, and what that means for all others.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/call_game.h"
#include "support/catch.h"
#include "support/golden.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::uint64_t stalled_count(CallHost& host) {
    return host.driver.stats().closed[static_cast<std::size_t>(CloseReason::CallsStalled)];
}

/// Two clients, of which the second takes nothing, says so, and is there all the while.
struct StalledGame {
    explicit StalledGame(const CallFixtureOptions& options) : net(options) {
        turret = net.join_with_turret();
        net.join();
        REQUIRE(net.settle());
        net.server().transport.is_recording = true;
    }

    void stop_second() {
        LinkSettings dead;
        dead.loss = 1.0;
        net.network().set_settings(PeerId{1}, CallFixture::client_peer(1), dead);
    }
    /// One call in each tick. How many were taken.
    std::uint32_t call_for(int ticks) {
        std::uint32_t taken = 0;
        for (int i = 0; i < ticks; ++i) {
            if (net.call(turret, "multicast_boom", {number, {}, ""}) == CallResult::Sent) {
                ++taken;
                ++number;
            }
            net.tick();
        }
        return taken;
    }

    CallFixture net;
    ObjectHandle turret;
    std::uint32_t number = 0;
};

[[nodiscard]] CallFixtureOptions few_calls() {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 8;
    options.server.calls_full_timeout_ms = 1'000;
    return options;
}

}  // namespace

TEST_CASE("Calls: who takes none is closed after a while, and all others go on",
          "[netdriver][rpc]") {
    StalledGame game(few_calls());
    game.stop_second();
    CHECK(game.call_for(40) == 8);  // 800 ms
    CHECK(stalled_count(game.net.server()) == 0);
    CHECK(game.net.server().driver.connection_count() == 2);
    (void)game.call_for(20);
    CHECK(stalled_count(game.net.server()) == 1);
    CHECK(game.net.server().driver.connection_count() == 1);
    CHECK(game.net.server().driver.connection_state(CallFixture::client_peer(1)) !=
          ConnectionState::Joined);
    const std::uint32_t before = game.number;
    CHECK(game.call_for(30) == 30);
    game.net.tick(10);
    CHECK(heard(game.net.client(0), "boom").size() == before + 30);
}

TEST_CASE("Calls: who takes them late, but all of them, is not closed", "[netdriver][rpc]") {
    CallFixtureOptions options = few_calls();
    options.server.calls_full_timeout_ms = 3'000;
    StalledGame game(options);
    for (int i = 0; i < 300; ++i) {
        if (i % 50 == 0) {
            game.net.network().heal();
        } else if (i % 50 == 25) {
            game.stop_second();
        }
        (void)game.call_for(1);
    }
    CHECK(stalled_count(game.net.server()) == 0);
    CHECK(game.number > 60);
    game.net.network().heal();
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(1), "boom").size() == game.number);
}

TEST_CASE("Calls: what waits without a refusal closes nothing", "[netdriver][rpc]") {
    StalledGame game(few_calls());
    game.stop_second();
    CHECK(game.call_for(8) == 8);
    game.net.tick(200);  // 4 s
    CHECK(stalled_count(game.net.server()) == 0);
    game.net.network().heal();
    REQUIRE(game.net.settle());
    CHECK(heard(game.net.client(1), "boom").size() == 8);
}

TEST_CASE("Calls: the goodbye of a client that is closed for them says so", "[netdriver][rpc]") {
    StalledGame game(few_calls());
    game.stop_second();
    (void)game.call_for(70);
    REQUIRE(stalled_count(game.net.server()) == 1);
    game.net.network().heal();
    game.net.tick(20);
    CHECK(game.net.client(1).driver.state() == ConnectionState::Closed);
    CHECK(game.net.client(1).driver.close_reason() == CloseReason::CallsStalled);
    const auto& sent = game.net.server().transport.sent;
    const auto goodbye = std::find_if(sent.rbegin(), sent.rend(), [](const SeenDatagram& datagram) {
        return datagram.peer == CallFixture::client_peer(1) && datagram.bytes.size() > 20;
    });
    REQUIRE(goodbye != sent.rend());
    check_golden("goodbye_calls_stalled", Bytes(goodbye->bytes.end() - 6, goodbye->bytes.end()));
}

}  // namespace replayout::test
