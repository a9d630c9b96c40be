// SPDX-License-Identifier: MIT
//
// What a driver says that it holds, against a resource that counts; and what a pair may cost.
#include <replayout/netdriver/memory_report.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

namespace {

[[nodiscard]] bool is_honest(NetHost& host) {
    return static_cast<std::int64_t>(host.driver->memory_report().total_bytes()) ==
           host.memory.bytes_in_use();
}

[[nodiscard]] NetFixtureOptions bad_network() {
    NetFixtureOptions options;
    options.link.loss = 0.2;
    return options;
}

}  // namespace

TEST_CASE("MemoryReport: the sum is what the resource gave, whatever happens",
          "[netdriver][memory_report]") {
    NetFixture net(bad_network());
    CHECK(is_honest(net.server()));
    for (std::size_t client = 0; client < 3; ++client) {
        net.join();
    }
    std::vector<ObjectHandle> objects;
    for (std::int32_t tick = 0; tick < 120; ++tick) {
        if (tick % 4 == 0) {
            objects.push_back(tick % 8 == 0 ? net.add_pawn() : net.add_archive());
        }
        if (tick % 16 == 15) {
            net.remove(objects.front());
            objects.erase(objects.begin());
        }
        if (tick == 60) {
            net.client_driver(1).disconnect(NetFixture::server_peer);
        }
        net.tick();
        REQUIRE(is_honest(net.server()));
        REQUIRE(is_honest(net.client(0)));
    }
    const MemoryReport server = net.server_driver().memory_report();
    CHECK(server.object_bytes > 0);
    CHECK(server.pair_bytes > 0);
    CHECK(server.connection_bytes > 0);
    CHECK(server.in_flight_bytes > 0);
    CHECK(server.bundle_bytes > 0);
    CHECK(server.guid_bytes > 0);
    CHECK(server.layout_table_bytes > 0);
    CHECK(server.scratch_bytes > 0);
    CHECK(server.channel_bytes == 0);
    CHECK(server.object_count == objects.size());
    CHECK(server.connection_count == 2);
    CHECK(server.pair_count == 2 * objects.size());
    const MemoryReport client = net.client_driver(0).memory_report();
    CHECK(client.channel_bytes > 0);
    CHECK(client.guid_bytes > 0);
    CHECK(client.object_bytes == 0);
    CHECK(client.pair_bytes == 0);
    CHECK(client.pair_count == 0);
    CHECK(client.bytes_per_pair() == 0.0);
}

TEST_CASE("MemoryReport: of clients that left a server keeps nothing in flight",
          "[netdriver][memory_report][bundles]") {
    NetFixture net;
    for (std::size_t client = 0; client < 3; ++client) {
        net.join();
    }
    std::vector<ObjectHandle> pawns = add_many(200, [&] { return net.add_pawn(); });
    REQUIRE(net.settle());
    for (std::int32_t tick = 0; tick < 50; ++tick) {
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
        net.tick();
    }
    REQUIRE(net.server_driver().stats().replication.bundles_copied > 0);
    const MemoryReport busy = net.server_driver().memory_report();
    CHECK(busy.in_flight_bytes + busy.bundle_bytes > 20'000);
    for (std::size_t client = 0; client < 3; ++client) {
        net.client_driver(client).disconnect(NetFixture::server_peer);
    }
    net.tick(200);
    REQUIRE(net.server_driver().memory_report().connection_count == 0);
    const MemoryReport empty = net.server_driver().memory_report();
    CHECK(empty.in_flight_bytes + empty.bundle_bytes < 1'024);
}

TEST_CASE("MemoryReport: copies for validation are counted apart", "[netdriver][memory_report]") {
    for (const bool is_validating : {false, true}) {
        NetFixtureOptions options;
        options.is_validating = is_validating;
        NetFixture net(options);
        net.join();
        net.add_pawn();
        REQUIRE(net.settle());
        CHECK((net.server_driver().memory_report().validation_bytes > 0) == is_validating);
    }
}

TEST_CASE("MemoryReport: 1,000 plain objects to 32 connections take 16 bytes a pair at most",
          "[netdriver][memory_report]") {
    NetFixtureOptions options;
    options.is_validating = false;
    NetFixture net(options);
    for (std::size_t client = 0; client < 32; ++client) {
        net.join();
    }
    net.tick(5);
    const std::size_t before = net.server_driver().memory_report().pair_bytes;
    CHECK(before == 0);
    std::vector<ObjectHandle> objects;
    for (std::int32_t number = 0; number < 1'000; ++number) {
        objects.push_back(net.add_pawn());
        net.pawn(objects.back()).health = number + 1'000;
    }
    REQUIRE(net.settle());
    const MemoryReport report = net.server_driver().memory_report();
    CHECK(report.pair_count == 32'000);
    CHECK(report.bytes_per_pair() > 12.0);
    CHECK(report.bytes_per_pair() <= 16.0);
    CHECK(is_honest(net.server()));

    // Updates that are lost leave nothing behind.
    for (std::int32_t tick = 0; tick < 20; ++tick) {
        net.pawn(objects[static_cast<std::size_t>(tick)]).health = tick;
        net.tick();
    }
    CHECK(net.server_driver().memory_report().pair_bytes == report.pair_bytes);

    // Dormancy, in every way at once, adds rows of bits.
    for (const ObjectHandle object : objects) {
        for (std::size_t client = 0; client < 32; ++client) {
            net.server_driver().set_dormant_for(NetFixture::client_peer(client), net.id_of(object),
                                                true);
        }
        net.server_driver().set_dormancy(net.id_of(object), NetDormancy::DormantPartial);
    }
    REQUIRE(net.settle());
    CHECK(net.server_driver().stats().channels_dormant == 32'000);
    CHECK(net.server_driver().memory_report().bytes_per_pair() <= 16.0);
    CHECK(is_honest(net.server()));
}

TEST_CASE("MemoryReport: a pair takes 16 bytes at most with any number of objects from two on",
          "[netdriver][memory_report]") {
    NetFixtureOptions options;
    options.is_validating = false;
    NetFixture net(options);
    net.join();
    net.tick(5);
    double greatest = 0;
    for (std::int32_t count = 1; count <= 700; ++count) {
        net.add_marker();
        net.tick();
        const MemoryReport report = net.server_driver().memory_report();
        REQUIRE(report.pair_count == static_cast<std::uint64_t>(count));
        if (count > 1) {
            REQUIRE(report.bytes_per_pair() <= 16.0);
            greatest = std::max(greatest, report.bytes_per_pair());
        }
    }
    CHECK(greatest > 13.0);
}

}  // namespace replayout::test
