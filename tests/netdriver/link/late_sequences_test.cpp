// SPDX-License-Identifier: MIT
//
// Sessions that pass the end of the 16 bits that the wire has of a number: of packets, of the
// bunches of a channel, and of its calls. They begin next to it (NetConfig::first_sequence).
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

[[nodiscard]] NetConfig config_from(std::uint32_t first_sequence) {
    NetConfig config;
    config.first_sequence = first_sequence;
    return config;
}

[[nodiscard]] NetFixtureOptions options_from(std::uint32_t server, std::uint32_t client) {
    NetFixtureOptions options;
    options.server = config_from(server);
    options.client = config_from(client);
    return options;
}

}  // namespace

TEST_CASE("Late sequences: objects come, change, sleep and go beyond the end of 16 bits",
          "[netdriver][late_sequences]") {
    for (const std::uint32_t first : {65'535u, 65'534u, 65'530u, 65'500u}) {
        INFO("first " << first);
        NetFixture net(options_from(first, first));
        const ObjectHandle pawn = net.add_pawn();
        const ObjectHandle archive = net.add_archive();
        net.join_settled(2);
        for (std::int32_t round = 0; round < 40; ++round) {
            net.pawn(pawn).health = round;
            net.archive(archive).pages[0].assign(5'000, static_cast<char>('a' + round % 26));
            const ObjectHandle other = net.add_pawn();
            net.pawn(other).health = round;
            REQUIRE(net.settle());
            net.server_driver().set_dormancy(
                net.id_of(pawn), round % 2 == 0 ? NetDormancy::DormantAll : NetDormancy::Awake);
            net.remove(other);
            REQUIRE(net.settle());
            REQUIRE(net.client_text(0) == net.server_text());
            REQUIRE(net.client_text(1) == net.server_text());
        }
        CHECK(net.server_driver().stats().packets_sent > 80);
        CHECK(net.client_driver(0).stats().packets_dropped == 0);
    }
}

TEST_CASE("Late sequences: calls run once and in order beyond the end of 16 bits, also in parts",
          "[netdriver][late_sequences]") {
    for (const std::uint32_t first : {65'535u, 65'530u}) {
        INFO("first " << first);
        CallFixtureOptions options;
        options.server = config_from(first);
        options.client = config_from(first);
        options.server.calls_burst_max = options.server.function_calls_burst_max = 1'000;
        options.link.loss = 0.2;
        CallFixture net(options);
        const ObjectHandle turret = net.join_with_turret();
        Numbers all;
        for (std::uint32_t number = 1; number <= 20; ++number) {
            // Five parts each way for every other one.
            const Cargo cargo = make_cargo(number, number % 2 == 0 ? 5'000 : 50);
            CHECK(net.call_with(turret, "client_deliver", cargo) == CallResult::Sent);
            CHECK(net.call_with_from(0, turret, "server_deliver", cargo) == CallResult::Sent);
            all.push_back(number);
            REQUIRE(net.settle());
        }
        net.tick(200);
        CHECK(heard(net.client(0), "deliver") == all);
        CHECK(heard(net.server(), "deliver") == all);
    }
}

TEST_CASE("Late sequences: ends that begin at different numbers do not hear each other",
          "[netdriver][late_sequences]") {
    for (const bool is_server_late : {false, true}) {
        NetFixture net(options_from(is_server_late ? 65'000 : 1, is_server_late ? 1 : 65'000));
        net.join();
        net.tick_for_ms(500);
        CHECK(net.client_driver(0).state() == ConnectionState::Connecting);
        CHECK(net.server_driver().stats().packets_dropped > 0);
        CHECK(net.server_driver().memory_report().connection_count == 0);
    }
}

}  // namespace replayout::test
