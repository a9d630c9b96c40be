// SPDX-License-Identifier: MIT
//
// Why connections were closed, in the log.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/types/test_layout.h"
#include "support/worlds/call_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

struct Lantern {
    std::uint32_t colour = 0;
    bool is_lit = false;
};

[[nodiscard]] Result<const Type*> build_old_lamp(TypeRegistry& registry) {
    return class_builder<Lantern>(registry, "Lamp").property<&Lantern::is_lit>().build();
}

[[nodiscard]] Result<const Type*> build_new_lamp(TypeRegistry& registry) {
    return class_builder<Lantern>(registry, "Lamp")
        .property<&Lantern::colour>()
        .property<&Lantern::is_lit>()
        .build();
}

}  // namespace

TEST_CASE("Close log: tells once of each connection whose it was, why it ended, and where",
          "[netdriver][close_log]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const std::string object = std::to_string(net.server().driver.guid_of(net.id_of(turret)).value);
    const LogSpy spy(LogLevel::Warning);
    (void)net.call_from(0, turret, "server_fire", {Turret::refused_number, {}, ""});
    net.tick(10);
    REQUIRE(LogSpy::messages().size() == 2);
    CHECK(LogSpy::messages()[0] ==
          "the connection of peer 2 was closed: call refused, in a call of "
          "\"server_fire\", object " +
              object + " of class \"Turret\"");
    CHECK(LogSpy::messages()[1] == "peer 1 closed the connection: call refused");
}

TEST_CASE("Close log: who leaves, or is asked to, is no warning", "[netdriver][close_log]") {
    CallFixture net;
    net.join_settled(2);
    const LogSpy spy(LogLevel::Warning);
    net.client(0).driver.disconnect({});
    net.server().driver.disconnect(CallFixture::client_peer(1));
    net.tick(10);
    CHECK(net.server().driver.connection_count() == 0);
    CHECK(LogSpy::messages().empty());
}

TEST_CASE("Close log: silence is told of", "[netdriver][close_log]") {
    CallFixtureOptions options;
    options.server.timeout_ms = options.client.timeout_ms = 2'000;
    CallFixture net(options);
    net.join_settled();
    LinkSettings link;
    link.loss = 1;
    net.network().set_settings(link);
    const LogSpy spy(LogLevel::Warning);
    net.tick(200);
    REQUIRE(LogSpy::messages().size() == 2);
    CHECK(LogSpy::messages()[0].find("the connection of peer ") == 0);
    CHECK(LogSpy::messages()[0].find(" was closed: timeout") != std::string::npos);
    CHECK(LogSpy::messages()[1].find(" was closed: timeout") != std::string::npos);
}

TEST_CASE("Close log: peers that are closed by the dozen do not fill it, and are counted",
          "[netdriver][close_log]") {
    CallFixture net;
    std::vector<ObjectHandle> turrets;
    for (std::size_t i = 0; i < 30; ++i) {
        turrets.push_back(net.add_owned(net.join()));
    }
    REQUIRE(net.settle());
    for (std::size_t i = 0; i < 29; ++i) {
        (void)net.call_from(i, turrets[i], "server_fire", {Turret::refused_number, {}, ""});
    }
    std::vector<std::string> lines;
    const auto take_lines = [&] {
        lines.clear();
        for (const std::string& message : LogSpy::messages()) {
            if (message.find("the connection of peer ") == 0) {
                lines.push_back(message);
            }
        }
    };
    {
        const LogSpy spy(LogLevel::Warning);
        net.tick(3);
        take_lines();
    }
    CHECK(lines.size() == 10);
    CHECK(net.server().driver.stats().closed[static_cast<std::size_t>(CloseReason::CallRefused)] ==
          29);
    net.tick(10);
    (void)net.call_from(29, turrets[29], "server_fire", {Turret::refused_number, {}, ""});
    const LogSpy spy(LogLevel::Warning);
    net.tick(3);
    take_lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("(19 lines like this were left out before)") != std::string::npos);
}

TEST_CASE("Close log: of a client with other layouts each end tells what differs",
          "[netdriver][close_log]") {
    const TestSchema& schema = TestSchema::get();
    NetFixture net;
    TestWorld world(1);
    NetDriver stranger(NetDriverSettings(), net.network().endpoint(PeerId{99}), world);
    REQUIRE(stranger.add_layout(schema.pawn()));
    REQUIRE(stranger.add_layout(schema.marker()));
    const LogSpy spy(LogLevel::Warning);
    REQUIRE(stranger.connect(NetFixture::server_peer, net.now()));
    for (int i = 0; i < 10; ++i) {
        net.tick();
        stranger.tick_dispatch(net.now());
        stranger.tick_flush(net.now());
    }
    const std::string lacking(schema.archive().type().name());
    REQUIRE(LogSpy::messages().size() == 3);
    CHECK(LogSpy::messages()[0] ==
          "the connection of peer 99 was closed: layout mismatch, class \"" + lacking +
              "\", which it lacks: call add_layout() there, too (layouts: it has 2, we have 3)");
    CHECK(LogSpy::messages()[1] ==
          "the connection of peer 1 was closed: layout mismatch, class \"" + lacking +
              "\": the class is missing here: call add_layout() here, too");
    CHECK(LogSpy::messages()[2] == "peer 99 has another layout of class \"" + lacking +
                                       "\": the class is missing there: call add_layout() there, "
                                       "too");
}

TEST_CASE("Close log: a client is told the class of which it has another layout",
          "[netdriver][close_log]") {
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
    const TestLayout old_layout(build_old_lamp);
    const TestLayout new_layout(build_new_lamp);
    TestWorld world(1);
    NetDriver server(settings, network.endpoint(PeerId{1}), world);
    NetDriver client(settings, network.endpoint(PeerId{2}), world);
    REQUIRE(server.add_layout(*new_layout));
    REQUIRE(client.add_layout(*old_layout));
    REQUIRE(server.listen());
    NetTime now = NetTime::from_milliseconds(1'000);
    REQUIRE(client.connect(PeerId{1}, now));
    const LogSpy spy(LogLevel::Warning);
    for (int i = 0; i < 10; ++i) {
        now = now.plus_milliseconds(20);
        network.advance(now);
        for (NetDriver* driver : {&server, &client}) {
            driver->tick_dispatch(now);
            driver->tick_flush(now);
        }
    }
    REQUIRE(LogSpy::messages().size() == 3);
    CHECK(LogSpy::messages()[0] ==
          "the connection of peer 2 was closed: layout mismatch, class \"Lamp\", "
          "which is another one there (layouts: it has 1, we have 1)");
    CHECK(LogSpy::messages()[1] ==
          "the connection of peer 1 was closed: layout mismatch, class \"Lamp\": property "
          "\"colour\" is missing here");
    CHECK(LogSpy::messages()[2] ==
          "peer 2 has another layout of class \"Lamp\": property \"colour\" is missing there");
}

TEST_CASE("Close log: a server that never answers and a line that fell silent log differently",
          "[netdriver][close_log]") {
    SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
    const TestLayout layout(build_new_lamp);
    TestWorld world(1);
    NetDriver client(NetDriverSettings(), network.endpoint(PeerId{2}), world);
    REQUIRE(client.add_layout(*layout));
    NetTime now = NetTime::from_milliseconds(1'000);
    REQUIRE(client.connect(PeerId{1}, now));
    const LogSpy spy(LogLevel::Warning);
    for (int i = 0; i < 400; ++i) {
        now = now.plus_milliseconds(50);
        network.advance(now);
        client.tick_dispatch(now);
        client.tick_flush(now);
    }
    CHECK(client.close_reason() == CloseReason::Timeout);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("was closed: timeout: nothing ever came from it") !=
          std::string::npos);
}

}  // namespace replayout::test
