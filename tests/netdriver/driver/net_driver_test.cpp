// SPDX-License-Identifier: MIT
//
// The life of objects: joined, spawned, updated, destroyed. What loss does to it is in
// net_driver_loss_test.cpp, what has a size in net_driver_large_object_test.cpp.
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/hash.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

/// What was sent from here on.
class Spent {
  public:
    explicit Spent(const NetStats& stats) : stats_(stats), before_(stats) {}

    [[nodiscard]] std::uint64_t packets() const {
        return stats_.packets_sent - before_.packets_sent;
    }
    [[nodiscard]] std::uint64_t bunches() const {
        return stats_.bunches_sent - before_.bunches_sent;
    }
    [[nodiscard]] std::uint64_t blocks() const {
        return stats_.replication.blocks_sent - before_.replication.blocks_sent;
    }
    [[nodiscard]] std::uint64_t block_bytes() const {
        return stats_.replication.block_bytes_sent - before_.replication.block_bytes_sent;
    }
    [[nodiscard]] std::uint64_t values_encoded() const {
        return stats_.replication.values_encoded - before_.replication.values_encoded;
    }
    [[nodiscard]] std::uint64_t comparisons() const {
        return stats_.replication.objects_compared - before_.replication.objects_compared;
    }
    [[nodiscard]] std::uint64_t bytes() const { return stats_.bytes_sent - before_.bytes_sent; }

  private:
    const NetStats& stats_;
    NetStats before_;
};

void fill(Pawn& pawn, std::int32_t number) {
    pawn.health = number;
    pawn.name = "pawn " + std::to_string(number);
    pawn.position = {static_cast<float>(number), 0.5f, -1.0f};
    pawn.hits = {{1.5f, 3, "arm"}, {static_cast<float>(number), 4, "leg"}};
}

}  // namespace

TEST_CASE("NetDriver: a client that joins is shown what the server has",
          "[netdriver][net_driver]") {
    NetFixture net;
    for (std::int32_t number = 0; number < 20; ++number) {
        fill(net.pawn(net.add_pawn()), number);
    }
    net.join_settled();
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    CHECK(net.client(0).world.object_count() == 20);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a change reaches every client", "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    for (int i = 0; i < 3; ++i) {
        net.join();
    }
    REQUIRE(net.settle());
    fill(net.pawn(pawn), 7);
    REQUIRE(net.settle());
    for (std::size_t client = 0; client < 3; ++client) {
        CHECK(net.pawn_on(client, pawn).name == "pawn 7");
        CHECK(net.client_text(client) == net.server_text());
    }
}

TEST_CASE("NetDriver: an object that equals its archetype is spawned without a block",
          "[netdriver][net_driver]") {
    NetFixture net;
    net.join_settled();
    const Spent spent(net.server_driver().stats());
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle marker = net.add_marker();
    REQUIRE(net.settle());
    CHECK(spent.blocks() == 0);
    CHECK(spent.bunches() == 2);
    CHECK(!net.find_on(0, pawn).is_null());
    CHECK(!net.find_on(0, marker).is_null());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: an object that is removed is despawned at every client",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle kept = net.add_pawn();
    const ObjectHandle removed = net.add_pawn();
    net.join_settled(2);
    net.remove(removed);
    REQUIRE(net.settle());
    for (std::size_t client = 0; client < 2; ++client) {
        CHECK(net.client(client).world.despawn_count == 1);
        CHECK(!net.find_on(client, kept).is_null());
        CHECK(net.client_text(client) == net.server_text());
    }
    CHECK(net.server_driver().object_count() == 1);
    CHECK(net.server_driver().stats().channels_closed == 2);
}

TEST_CASE("NetDriver: an object that dies before its open was sent sends nothing",
          "[netdriver][net_driver]") {
    NetFixture net;
    net.join_settled();
    const Spent spent(net.server_driver().stats());
    for (std::int32_t number = 0; number < 10; ++number) {
        const ObjectHandle pawn = net.add_pawn();
        fill(net.pawn(pawn), number);
        net.remove(pawn);
    }
    net.tick(10);
    CHECK(spent.packets() == 0);
    CHECK(net.client(0).world.spawn_count == 0);
    CHECK(net.server_driver().is_settled());
}

TEST_CASE("NetDriver: one object more than there may be channels is not added",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.server.channels_max = 3;
    NetFixture net(options);
    std::vector<ObjectHandle> pawns = add_many(3, [&] { return net.add_pawn(); });
    const RepLayout& layout = TestSchema::get().pawn();
    const ObjectHandle fourth = net.make_pawn();
    CHECK(net.server_driver().add_object(layout, fourth) == NetObjectId());
    CHECK(net.server_driver().object_count() == 3);
    net.remove(pawns[1]);
    net.announce(fourth);
    net.join_settled();
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a slot is used again for another object", "[netdriver][net_driver]") {
    NetFixture net;
    net.join();
    std::vector<NetGUID> guids;
    ObjectHandle pawn = net.add_pawn();
    for (std::int32_t life = 0; life < 10; ++life) {
        fill(net.pawn(pawn), life);
        REQUIRE(net.settle());
        guids.push_back(net.guid_of(pawn));
        const NetObjectId old_id = net.id_of(pawn);
        net.remove(pawn);
        pawn = net.add_pawn();
        CHECK(net.id_of(pawn).index == old_id.index);
        CHECK(net.id_of(pawn).generation != old_id.generation);
        CHECK(net.guid_of(pawn) > guids.back());
    }
    REQUIRE(net.settle());
    CHECK(net.client(0).world.spawn_count == 11);
    CHECK(net.client(0).world.despawn_count == 10);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: who joins after a thousand changes pays for the last values only",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    for (std::int32_t change = 0; change < 1'000; ++change) {
        fill(net.pawn(pawn), change);
        net.pawn(pawn).hits.resize(static_cast<std::size_t>(change % 5));
        net.tick();
    }
    REQUIRE(net.settle());
    const Spent spent(net.server_driver().stats());
    net.join_settled();
    CHECK(spent.blocks() == 1);
    CHECK(spent.block_bytes() < 150);
    CHECK(net.client_text(1) == net.server_text());
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: an object may be removed while its updates are in flight",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.link.latency_ms = 130;
    NetFixture net(options);
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle other = net.add_pawn();
    net.join_settled();
    for (std::int32_t change = 0; change < 30; ++change) {
        fill(net.pawn(pawn), change);
        fill(net.pawn(other), -change);
        net.tick();
    }
    net.remove(pawn);
    const ObjectHandle successor = net.add_pawn();
    fill(net.pawn(successor), 99);
    REQUIRE(net.settle());
    CHECK(net.client_driver(0).close_reason() == CloseReason::None);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: an unchanged object is compared and nothing else",
          "[netdriver][net_driver]") {
    NetFixture net;
    for (std::int32_t number = 0; number < 100; ++number) {
        fill(net.pawn(net.add_pawn()), number);
    }
    net.join_settled(2);
    const Spent spent(net.server_driver().stats());
    net.tick(20);
    CHECK(spent.comparisons() == 100 * 20);
    CHECK(spent.values_encoded() == 0);
    CHECK(spent.blocks() == 0);
    CHECK(spent.bunches() == 0);
    CHECK(spent.block_bytes() == 0);
}

TEST_CASE("NetDriver: a change costs one comparison and one encoding, whoever listens",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    for (int i = 0; i < 8; ++i) {
        net.join();
    }
    REQUIRE(net.settle());
    const Spent spent(net.server_driver().stats());
    net.pawn(pawn).health = 1;
    net.tick();
    CHECK(spent.comparisons() == 1);
    CHECK(spent.values_encoded() == 1);
    CHECK(spent.blocks() == 8);
}

TEST_CASE("NetDriver: what is back at what the client holds is not sent, over several ticks too",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join();
    net.pawn(pawn).health = 10;
    REQUIRE(net.settle());
    // Without acks the window of packets fills up, and what changes then is not sent.
    LinkSettings broken;
    broken.loss = 1;
    net.network().set_settings(NetFixture::client_peer(0), NetFixture::server_peer, broken);
    const Spent filling(net.server_driver().stats());
    std::uint64_t sent = 0;
    do {
        sent = filling.blocks();
        net.pawn(pawn).health += 1;
        net.tick();
    } while (filling.blocks() > sent);
    const std::int32_t held = net.pawn(pawn).health - 1;
    net.pawn(pawn).health = held;
    net.tick();
    net.network().heal();
    const Spent spent(net.server_driver().stats());
    REQUIRE(net.settle());
    CHECK(spent.blocks() == 0);
    CHECK(net.pawn_on(0, pawn).health == held);
}

TEST_CASE("NetDriver: a connection's shadow tells what the client holds and lacks",
          "[netdriver][net_driver]") {
    NetFixtureOptions options;
    options.link.latency_ms = 60;
    NetFixture net(options);
    const ObjectHandle pawn = net.add_pawn();
    net.join();
    constexpr RepHandle health{1};
    const auto shadow = [&] {
        return net.server_driver().connection_shadow(NetFixture::client_peer(0), net.id_of(pawn));
    };
    CHECK_FALSE(shadow().has_value());
    net.pawn(pawn).health = 10;
    REQUIRE(net.settle());
    REQUIRE(shadow().has_value());
    CHECK(shadow()->is_exact());
    CHECK_FALSE(shadow()->owes(health));
    CHECK_FALSE(shadow()->held(health).is_null());
    net.pawn(pawn).health = 20;
    net.tick();
    REQUIRE(shadow().has_value());
    CHECK_FALSE(shadow()->is_exact());
    CHECK_FALSE(shadow()->owes(health));  // it is under way
    CHECK(shadow()->held(health).is_null());
    REQUIRE(net.settle());
    std::int32_t held = 0;
    std::memcpy(&held, shadow()->held(health).data(), sizeof(held));
    CHECK(held == 20);
}

TEST_CASE("NetDriver: in an idle world each side speaks once a second at most",
          "[netdriver][net_driver]") {
    NetFixture net;
    fill(net.pawn(net.add_pawn()), 1);
    net.join_settled();
    net.tick_for_ms(3'000);
    const Spent server(net.server_driver().stats());
    const Spent client(net.client_driver(0).stats());
    constexpr std::uint64_t seconds = 30;
    net.tick_for_ms(seconds * 1'000);
    CHECK(server.packets() <= seconds);
    CHECK(client.packets() <= seconds);
    CHECK(server.packets() >= seconds / 2);
    CHECK(server.bytes() == server.packets() * packet_header_bytes_min);
    CHECK(client.bytes() == client.packets() * packet_header_bytes_min);
    CHECK(server.block_bytes() == 0);
    CHECK(server.bunches() == 0);
}

TEST_CASE("NetDriver: an idle world is as quiet where a round trip takes long",
          "[netdriver][net_driver]") {
    // Longer than the wait for an answer, so what was sent is asked after before it can be
    // answered.
    NetFixtureOptions options;
    options.link.latency_ms = 350;
    NetFixture net(options);
    fill(net.pawn(net.add_pawn()), 1);
    net.join_settled();
    net.tick_for_ms(2'000);
    const Spent server(net.server_driver().stats());
    const Spent client(net.client_driver(0).stats());
    constexpr std::uint64_t seconds = 20;
    net.tick_for_ms(seconds * 1'000);
    CHECK(server.packets() <= seconds);
    CHECK(client.packets() <= seconds);
}

TEST_CASE("NetDriver: an update is answered with one ack, and the ack with nothing",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    net.tick_for_ms(1'500);
    const Spent server(net.server_driver().stats());
    const Spent client(net.client_driver(0).stats());
    for (std::int32_t change = 1; change <= 10; ++change) {
        net.pawn(pawn).health = -change;
        net.tick(5);
    }
    CHECK(server.packets() == 10);
    CHECK(client.packets() == 10);
}

TEST_CASE("NetDriver: a notify runs once for each change, with the value before",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    CHECK(net.pawn_on(0, pawn).heard.empty());
    // All values of a block are there before the first notify runs.
    net.pawn(pawn).health = 70;
    net.pawn(pawn).name = "Ann";
    REQUIRE(net.settle());
    net.pawn(pawn).name = "Bea";
    REQUIRE(net.settle());
    net.pawn(pawn).health = 60;
    REQUIRE(net.settle());
    const std::vector<std::string> expected = {"health 100 -> 70, name Ann",
                                               "health 70 -> 60, name Bea"};
    CHECK(net.pawn_on(0, pawn).heard == expected);
    CHECK(net.pawn(pawn).heard.empty());
}

TEST_CASE("NetDriver: values that change and change back within a tick send nothing",
          "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    const Spent spent(net.server_driver().stats());
    net.pawn(pawn).health = 5;
    net.pawn(pawn).health = 100;
    net.tick(5);
    CHECK(spent.blocks() == 0);
}

TEST_CASE("NetDriver: a world that refuses a class gets the rest", "[netdriver][net_driver]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle archive = net.add_archive();
    net.join();
    net.client(0).world.refused_layout = &TestSchema::get().archive();
    std::vector<std::string> log;
    set_log_handler(
        [](LogLevel, std::string_view message, void* context) {
            static_cast<std::vector<std::string>*>(context)->emplace_back(message);
        },
        &log);
    fill(net.pawn(pawn), 1);
    net.archive(archive).counter = 1;
    REQUIRE(net.settle());
    for (std::uint32_t change = 2; change < 6; ++change) {
        net.archive(archive).counter = change;
        net.archive(archive).pages[0].assign(3'000, 'x');  // reliable
        net.archive(archive).pages[0].front() = static_cast<char>('a' + change);
        fill(net.pawn(pawn), static_cast<std::int32_t>(change));
        REQUIRE(net.settle());
    }
    set_log_handler(nullptr, nullptr);
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
    CHECK(net.find_on(0, archive).is_null());
    CHECK(net.pawn_on(0, pawn).health == 5);
    CHECK(net.client_driver(0).stats().blocks_skipped >= 5);
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("Archive") != std::string::npos);

    net.remove(archive);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.despawn_count == 0);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a client that leaves loses its objects, the server keeps its own",
          "[netdriver][net_driver]") {
    NetFixture net;
    fill(net.pawn(net.add_pawn()), 1);
    net.join_settled();
    net.client_driver(0).disconnect(NetFixture::server_peer);
    CHECK(net.client(0).world.object_count() == 0);
    CHECK(net.client(0).world.despawn_count == 1);
    net.tick(5);
    CHECK(net.server_driver().connection_count() == 0);
    CHECK(net.server_driver().object_count() == 1);
}

TEST_CASE("NetDriver: drivers of one seed hash what their servers choose with secrets of their own",
          "[netdriver][net_driver]") {
    NetFixture red;
    NetFixture blue;
    red.join();
    blue.join();
    const SecretHash& of_red = red.client_driver(0).guids().hash();
    const SecretHash& of_blue = blue.client_driver(0).guids().hash();
    CHECK(of_red(1) != of_blue(1));
}

TEST_CASE("NetDriver: two servers in one process do not know of each other",
          "[netdriver][net_driver]") {
    NetFixture red;
    NetFixture blue;
    const ObjectHandle red_pawn = red.add_pawn();
    const ObjectHandle blue_pawn = blue.add_pawn();
    CHECK(red.guid_of(red_pawn) == blue.guid_of(blue_pawn));
    red.join();
    blue.join();
    for (std::int32_t change = 0; change < 20; ++change) {
        fill(red.pawn(red_pawn), change);
        fill(blue.pawn(blue_pawn), 1'000 - change);
        red.tick();
        blue.tick();
    }
    REQUIRE(red.settle());
    REQUIRE(blue.settle());
    CHECK(red.client_text(0) == red.server_text());
    CHECK(blue.client_text(0) == blue.server_text());
    CHECK(red.client_text(0) != blue.client_text(0));
}

TEST_CASE("NetDriver: all memory comes from its resource and goes back to it",
          "[netdriver][net_driver]") {
    NetFixture net;
    net.join();
    for (std::int32_t number = 0; number < 50; ++number) {
        fill(net.pawn(net.add_pawn()), number);
    }
    REQUIRE(net.settle());
    CHECK(net.server().memory.bytes_in_use() > 0);
    net.server().driver.reset();
    net.client(0).driver.reset();
    CHECK(net.server().memory.blocks_in_use() == 0);
    CHECK(net.client(0).memory.blocks_in_use() == 0);
}

TEST_CASE("NetDriver: when a client is gone, so is its memory", "[netdriver][net_driver]") {
    NetFixture net;
    for (std::int32_t number = 0; number < 50; ++number) {
        fill(net.pawn(net.add_pawn()), number);
    }
    net.tick();
    for (std::size_t client = 0; client < 3; ++client) {
        net.join();
        REQUIRE(net.tick_until(
            [&] { return net.client_driver(client).state() == ConnectionState::Joined; }));
        net.tick(10);
        net.client_driver(client).disconnect(NetFixture::server_peer);
        net.tick(10);
    }
    const std::int64_t blocks = net.server().memory.blocks_in_use();
    for (std::size_t client = 3; client < 10; ++client) {
        net.join();
        net.tick(10);
        net.client_driver(client).disconnect(NetFixture::server_peer);
        net.tick(10);
    }
    CHECK(net.server().memory.blocks_in_use() == blocks);
}

}  // namespace replayout::test
