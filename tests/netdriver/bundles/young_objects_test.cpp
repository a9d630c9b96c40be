// SPDX-License-Identifier: MIT
//
// Objects that came a short while ago: what most clients get of them is laid down once and copied,
// from the open on, though no client has acknowledged it.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace young_objects_test {
namespace {

constexpr std::uint32_t client_count = 4;
constexpr std::int64_t latency_ms = 100;
constexpr std::uint32_t round_trip_ticks = 10;  // of 20 ms

/// Clients that have all there is, and whose acks take a while.
class FarCrowd {
  public:
    explicit FarCrowd(SharingLevel sharing = SharingLevel::Bundles) : net(options_of(sharing)) {
        rock = net.add_pawn();
        net.join_settled(client_count);
        ++net.pawn(rock).health;  // it goes pair by pair, and they are regular afterwards
        net.tick(3 * round_trip_ticks);
    }

    /// What `act` and the tick after it add to the counters.
    struct Added {
        std::uint64_t blocks = 0;
        std::uint64_t reused = 0;
        std::uint64_t copies = 0;  // of bundles
        std::uint64_t values = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] Added added_by_tick(const std::function<void()>& act) {
        const NetStats before = net.server_driver().stats();
        net.tick(act);
        const NetStats after = net.server_driver().stats();
        return {after.replication.blocks_sent - before.replication.blocks_sent,
                after.replication.payloads_reused - before.replication.payloads_reused,
                after.replication.bundles_copied - before.replication.bundles_copied,
                after.replication.values_encoded - before.replication.values_encoded,
                after.bytes_sent - before.bytes_sent};
    }
    void check_clients() {
        REQUIRE(net.settle());
        for (std::uint32_t i = 0; i < client_count; ++i) {
            CHECK(net.client_text(i) == net.server_text());
        }
    }

    NetFixture net;
    ObjectHandle rock;

  private:
    [[nodiscard]] static NetFixtureOptions options_of(SharingLevel sharing) {
        NetFixtureOptions options;
        options.link.latency_ms = latency_ms / 2;
        options.sharing = sharing;
        options.is_validating = false;
        return options;
    }
};

}  // namespace

TEST_CASE("Young objects: their first blocks are encoded once and copied for all clients",
          "[netdriver][bundles][spawn]") {
    FarCrowd crowd;
    constexpr std::uint32_t spawned = 5;
    const FarCrowd::Added added = crowd.added_by_tick([&] {
        for (std::uint32_t i = 0; i < spawned; ++i) {
            const ObjectHandle pawn = crowd.net.add_pawn();
            crowd.net.pawn(pawn).health = 7 + static_cast<std::int32_t>(i);
        }
    });
    CHECK(added.blocks == spawned * client_count);
    CHECK(added.reused == spawned * (client_count - 1));
    CHECK(added.values == spawned);
    crowd.check_clients();
}

TEST_CASE(
    "Young objects: their changes go to all clients from bundles before any acknowledged them",
    "[netdriver][bundles][spawn]") {
    FarCrowd crowd;
    ObjectHandle pawn;
    crowd.net.tick([&] {
        pawn = crowd.net.add_pawn();
        crowd.net.pawn(pawn).health = 7;
    });
    std::uint64_t young_bytes = 0;
    for (std::uint32_t tick = 0; tick + 2 < round_trip_ticks; ++tick) {
        const FarCrowd::Added added = crowd.added_by_tick([&] { ++crowd.net.pawn(pawn).health; });
        INFO("tick " << tick);
        CHECK(added.copies == client_count);
        CHECK(added.blocks == client_count);
        CHECK(added.values == 1);
        young_bytes = tick == 1 ? added.bytes : young_bytes;
    }
    crowd.check_clients();
    // Once all have acknowledged it, a block has no length: a byte less for each client.
    const FarCrowd::Added added = crowd.added_by_tick([&] { ++crowd.net.pawn(pawn).health; });
    CHECK(added.copies == client_count);
    CHECK(added.bytes + client_count == young_bytes);
    crowd.check_clients();
}

TEST_CASE("Young objects: sharing changes no byte of them, whatever is lost",
          "[netdriver][bundles][spawn]") {
    std::vector<std::uint64_t> bytes;
    for (const SharingLevel sharing :
         {SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
        FarCrowd crowd(sharing);
        LinkSettings lossy;
        lossy.latency_ms = latency_ms / 2;
        lossy.loss = 0.2;
        for (std::uint32_t i = 0; i < client_count; ++i) {
            crowd.net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(i),
                                             lossy);
        }
        std::vector<ObjectHandle> pawns;
        for (std::uint32_t tick = 0; tick < 100; ++tick) {
            crowd.net.tick([&] {
                for (const ObjectHandle pawn : pawns) {
                    ++crowd.net.pawn(pawn).health;
                }
                pawns.push_back(crowd.net.add_pawn());
                if (pawns.size() > 12) {
                    crowd.net.remove(pawns.front());
                    pawns.erase(pawns.begin());
                }
            });
        }
        bytes.push_back(crowd.net.server_driver().stats().bytes_sent);
        crowd.check_clients();
    }
    CHECK(bytes == std::vector<std::uint64_t>(bytes.size(), bytes.front()));
}

TEST_CASE("Young objects: one that went before its lost open was noticed comes and goes in order",
          "[netdriver][bundles][spawn]") {
    FarCrowd crowd;
    for (std::uint32_t lost_ticks = 1; lost_ticks <= round_trip_ticks + 2; ++lost_ticks) {
        INFO(lost_ticks << " ticks are lost");
        LinkSettings link;
        link.latency_ms = latency_ms / 2;
        link.loss = 1;
        crowd.net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(0), link);
        ObjectHandle pawn;
        crowd.net.tick([&] { pawn = crowd.net.add_pawn(); });
        crowd.net.tick(lost_ticks - 1);
        link.loss = 0;
        crowd.net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(0), link);
        crowd.net.tick([&] { crowd.net.remove(pawn); });
        crowd.check_clients();
    }
}

}  // namespace young_objects_test
}  // namespace replayout::test
