// SPDX-License-Identifier: MIT
//
// One client who does not take its reliable calls, and what that means for all others.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/checks/run_seed.h"
#include "support/worlds/call_game.h"

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

TEST_CASE("Calls: one that is lost alone is repeated in a time that no longest probe has a part in",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.probe_ms = 100;
    options.server.probe_max_ms = options.server.keep_alive_ms;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    REQUIRE(net.settle());
    net.tick(50);
    // The call, and five questions after it.
    int dropped_count = 0;
    net.server().transport.set_script([&](Bytes&) { return ++dropped_count > 6; });
    REQUIRE(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    int ticks = 0;
    while (heard(net.client(0), "boom").empty() && ticks < 200) {
        net.tick();
        ++ticks;
    }
    CHECK(ticks <= 35);  // of 20 ms; with doubled waits the sixth question goes after 3.5 s
}

TEST_CASE("Calls: at a loss of 30 % the few that may wait end no client, and all of them run",
          "[netdriver][rpc][random]") {
    for (const std::uint64_t seed : seed_range(1, 12)) {
        INFO("seed " << seed);
        CallFixtureOptions options;
        options.seed = seed;
        options.server.calls_waiting_max = 1 + static_cast<std::uint32_t>(seed % 4);
        options.link.loss = 0.3;
        options.link.latency_ms = 40;
        StalledGame game(options);
        // Nothing else is on its way, so each loss is noticed by an answer to a question.
        const std::uint32_t taken = game.call_for(1'500);
        CHECK(stalled_count(game.net.server()) == 0);
        CHECK(taken > 30);
        game.net.network().heal();
        REQUIRE(game.net.settle());
        for (std::size_t client = 0; client < 2; ++client) {
            const auto numbers = heard(game.net.client(client), "boom");
            REQUIRE(numbers.size() == game.number);
            CHECK(std::is_sorted(numbers.begin(), numbers.end()));
        }
    }
}

TEST_CASE(
    "Calls: a client that says of each call that it was lost is closed after four times as long",
    "[netdriver][rpc][hostile]") {
    StalledGame game(few_calls());
    // The server's packets with calls to the second client are lost, and no other packets.
    game.net.server().transport.set_script([&](Bytes& datagram) {
        return game.net.server().transport.sent.back().peer != CallFixture::client_peer(1) ||
               datagram.size() < 20;
    });
    (void)game.call_for(150);  // 3 s
    CHECK(stalled_count(game.net.server()) == 0);
    (void)game.call_for(75);
    CHECK(stalled_count(game.net.server()) == 1);
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
    const auto goodbye = std::find_if(sent.rbegin(), sent.rend(), [](const Datagram& datagram) {
        return datagram.peer == CallFixture::client_peer(1) && datagram.bytes.size() > 20;
    });
    REQUIRE(goodbye != sent.rend());
    check_golden("goodbye_calls_stalled", Bytes(goodbye->bytes.end() - 6, goodbye->bytes.end()));
}

}  // namespace replayout::test
