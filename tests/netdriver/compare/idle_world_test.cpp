// SPDX-License-Identifier: MIT
//
// When nothing changes any more nothing is said but that one is there: to many clients, of a world
// of everything that waits for something.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/packet_notify.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t ticks_per_second = 50;  // of a SpawnGame

/// Sleeping, hidden from some, torn off, destroyed, with references that never bind.
void fill_world(SpawnGame& game) {
    NetDriver& driver = game.server().driver;
    std::vector<ObjectHandle> props;
    for (std::int32_t i = 0; i < 60; ++i) {
        props.push_back(game.add_at(static_cast<float>(i)));
        game.prop(props.back()).hp = i;
    }
    SubobjectParameters named;
    named.stable_name = "turret";
    for (std::size_t i = 0; i < props.size(); i += 6) {
        driver.set_dormancy(game.id_of(props[i]), NetDormancy::DormantAll);
        driver.set_dormancy(game.id_of(props[i + 1]), NetDormancy::Initial);
        game.prop(props[i + 2]).link = ObjectHandle{999'999};          // nobody's, ever
        game.prop(props[i + 3]).link = props[(i + 7) % props.size()];  // one that is kept back
        driver.tear_off(game.id_of(props[i + 4]));
        const ObjectHandle part = game.add_part(props[i + 5], named);
        game.remove(part);
    }
    game.remove(game.announce("door"));
}

}  // namespace

TEST_CASE("Idle world: to 64 clients no property goes out, and keep-alives alone",
          "[netdriver][idle]") {
    constexpr std::uint64_t client_count = 64;
    SpawnGame game;
    fill_world(game);
    NetDriver& server = game.server().driver;
    const std::size_t early = client_count / 2;
    for (std::size_t i = 0; i < early; ++i) {
        (void)game.join();
    }
    REQUIRE(game.settle());
    const ObjectHandle hidden = game.add_at(5);
    const ObjectHandle gone = game.add_at(6);
    game.prop(hidden).link = gone;
    for (std::size_t i = early; i < client_count; ++i) {
        (void)game.join();  // into a world that is there, and torn off objects that are not
    }
    REQUIRE(game.settle());
    for (std::size_t i = 0; i < client_count; i += 2) {
        server.interest().set_relevant_for(SpawnGame::peer_of(i), game.id_of(hidden), false);
    }
    game.remove(gone);
    REQUIRE(game.settle());
    REQUIRE(server.connection_count() == client_count);
    game.tick(3 * ticks_per_second);

    constexpr std::uint32_t seconds = 10;
    const NetStats before = server.stats();
    std::vector<NetStats> clients_before;
    for (std::size_t i = 0; i < client_count; ++i) {
        clients_before.push_back(game.client(i).driver.stats());
    }
    game.tick(seconds * ticks_per_second);
    const NetStats& after = server.stats();
    CHECK(after.replication.properties_sent == before.replication.properties_sent);
    CHECK(after.replication.block_bytes_sent == before.replication.block_bytes_sent);
    CHECK(after.replication.values_encoded == before.replication.values_encoded);
    CHECK(after.bunches_sent == before.bunches_sent);
    const std::uint64_t packets = after.packets_sent - before.packets_sent;
    CHECK(packets <= std::uint64_t{client_count} * seconds);
    CHECK(packets >= client_count * seconds / 2);
    CHECK(after.bytes_sent - before.bytes_sent == packets * packet_header_bytes_min);
    for (std::size_t i = 0; i < client_count; ++i) {
        const NetStats& client = game.client(i).driver.stats();
        const std::uint64_t said = client.packets_sent - clients_before[i].packets_sent;
        CHECK(said <= seconds);
        CHECK(said >= seconds / 2);
        CHECK(client.bytes_sent - clients_before[i].bytes_sent == said * packet_header_bytes_min);
    }

    // And that it was the world, and not the network, that was silent:
    game.prop(hidden).hp = 77;
    game.tick(2);
    CHECK(after.replication.properties_sent ==
          before.replication.properties_sent + client_count / 2);
}

}  // namespace replayout::test
