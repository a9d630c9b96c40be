// SPDX-License-Identifier: MIT
//
// A session over each transport: every client ends equal, and what the server says is the same.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"
#include "support/networks/host_settings.h"
#include "support/networks/scripted_transport.h"
#include "support/worlds/test_world.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

struct End {
    End(Transport& transport, std::uint64_t seed, std::uint64_t first_handle)
        : world(first_handle), recorder(transport) {
        driver = std::make_unique<NetDriver>(host_settings({}, seed, SharingLevel::Bundles, true),
                                             recorder, world);
        TestSchema::get().add_to(*driver);
    }

    /// Objects by their ids, with their values.
    [[nodiscard]] std::map<std::uint64_t, std::string> text() {
        std::map<std::uint64_t, std::string> lines;
        for (const auto& [handle, object] : world.objects()) {
            lines[driver->guids().find_guid(handle).value] =
                TestWorld::text_of(*object, [&](ObjectHandle target) {
                    return std::to_string(driver->guids().find_guid(target).value);
                });
        }
        return lines;
    }

    TestWorld world;
    ScriptedTransport recorder;
    std::unique_ptr<NetDriver> driver;
};

/// Pawns that move and hunt each other, over these ends; what the server sent.
template <typename Ends>
std::vector<Bytes> play(std::uint64_t seed, std::size_t client_count) {
    Ends ends;
    for (std::size_t i = 0; i < client_count; ++i) {
        ends.add_client();
    }
    ends.connect_all();
    End server(ends.server(), 1, 1);
    server.recorder.is_recording = true;
    REQUIRE(server.driver->listen().has_value());
    NetTime now;
    std::vector<std::unique_ptr<End>> clients;
    for (std::size_t i = 0; i < client_count; ++i) {
        clients.push_back(std::make_unique<End>(ends.client(i), 100 + i, 1'000'000 * (i + 1)));
        REQUIRE(clients.back()->driver->connect(ends.server_peer(i), now).has_value());
    }
    const auto tick = [&] {
        now = now.plus_milliseconds(20);
        ends.advance();
        server.driver->tick_dispatch(now);
        server.driver->tick_flush(now);
        ends.advance();
        for (const auto& client : clients) {
            client->driver->tick_dispatch(now);
            client->driver->tick_flush(now);
        }
    };
    SeededRandom random(seed);
    std::vector<std::pair<ObjectHandle, NetObjectId>> pawns;
    for (int i = 0; i < 150; ++i) {
        tick();
        if (pawns.size() < 40 || random.percent(20)) {
            const ObjectHandle pawn = server.world.add(TestSchema::get().pawn());
            pawns.emplace_back(pawn, server.driver->add_object(TestSchema::get().pawn(), pawn));
        }
        for (int change = 0; change < 10; ++change) {
            Pawn& pawn = server.world.pawn(random.pick(pawns).first);
            pawn.health -= 1;
            pawn.name = "pawn " + std::to_string(random.below(1'000));
            pawn.position.x += 0.5f;
            pawn.target = random.pick(pawns).first;
            pawn.hits.resize(random.below(6));
        }
    }
    for (int i = 0; i < 500 && !(i > 10 && server.driver->is_settled()); ++i) {
        tick();
    }
    CHECK(server.driver->connection_count() == client_count);
    for (const auto& client : clients) {
        CHECK(client->text() == server.text());
    }
    std::vector<Bytes> sent;
    for (const Datagram& datagram : server.recorder.sent) {
        sent.push_back(datagram.bytes);
    }
    return sent;
}

TEMPLATE_TEST_CASE("Session: over every transport all clients end equal, by the same packets",
                   "[transport]", REPLAYOUT_ALL_ENDS) {
    const std::vector<Bytes> expected = play<LoopbackEnds>(7, 8);
    CHECK(expected.size() > 1'000);
    CHECK(play<TestType>(7, 8) == expected);
}

}  // namespace
}  // namespace replayout::test
