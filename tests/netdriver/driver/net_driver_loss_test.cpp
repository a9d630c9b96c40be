// SPDX-License-Identifier: MIT
//
// What loss does to replication: a chosen packet, every pattern of the first few, and chance.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

/// Drops the first datagram for which `is_meant` holds, and tells whether it came.
class LoseFirst {
  public:
    explicit LoseFirst(std::function<bool(const Packet&)> is_meant)
        : is_meant_(std::move(is_meant)) {}

    void install(ScriptedTransport& transport) {
        transport.set_script([this](Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            const bool is_lost = !has_lost_ && packet && is_meant_(*packet);
            has_lost_ = has_lost_ || is_lost;
            return !is_lost;
        });
    }
    [[nodiscard]] bool has_lost() const noexcept { return has_lost_; }

  private:
    std::function<bool(const Packet&)> is_meant_;
    bool has_lost_ = false;
};

[[nodiscard]] NetFixtureOptions with_latency(double latency_ms) {
    NetFixtureOptions options;
    options.link.latency_ms = latency_ms;
    return options;
}

constexpr ChannelIndex first_channel{1};

}  // namespace

TEST_CASE("NetDriver: an open that was lost is sent again, and nothing is taken before it",
          "[netdriver][net_driver]") {
    NetFixture net(with_latency(70));
    net.join_settled();
    LoseFirst loss([](const Packet& packet) { return packet.has_open(); });
    loss.install(net.server().transport);
    const ObjectHandle pawn = net.add_pawn();
    for (std::int32_t change = 1; change <= 20; ++change) {
        net.pawn(pawn).health = change;
        net.pawn(pawn).name = "change " + std::to_string(change);
        net.tick();
    }
    REQUIRE(net.settle());
    CHECK(loss.has_lost());
    CHECK(net.client(0).world.spawn_count == 1);
    CHECK(net.client_driver(0).stats().blocks_skipped > 0);
    CHECK(net.client_text(0) == net.server_text());
    // What it heard of is the truth of some tick, each newer than the one before.
    std::int32_t health = 0;
    for (const std::string& heard : net.pawn_on(0, pawn).heard) {
        const std::int32_t next = std::stoi(heard.substr(heard.find("-> ") + 3));
        CHECK(next > health);
        CHECK(heard.find("name change " + std::to_string(next)) != std::string::npos);
        health = next;
    }
    CHECK(health == 20);
}

TEST_CASE("NetDriver: a close that arrives before its lost open ends the object all the same",
          "[netdriver][net_driver]") {
    NetFixture net(with_latency(70));
    net.join_settled();
    LoseFirst loss([](const Packet& packet) { return packet.has_open(first_channel.value); });
    loss.install(net.server().transport);
    const ObjectHandle old_pawn = net.add_pawn();
    net.pawn(old_pawn).name = "old";
    net.tick();
    REQUIRE(loss.has_lost());
    net.remove(old_pawn);
    // The slot has its next object before the client has seen either open or close.
    const ObjectHandle new_pawn = net.add_pawn();
    net.pawn(new_pawn).name = "new";
    for (std::int32_t change = 1; change <= 10; ++change) {
        net.pawn(new_pawn).health = change;
        net.tick();
    }
    REQUIRE(net.settle());
    CHECK(net.client(0).world.spawn_count == 2);
    CHECK(net.client(0).world.despawn_count == 1);
    CHECK(net.client_text(0) == net.server_text());
    CHECK(net.client_driver(0).close_reason() == CloseReason::None);
}

TEST_CASE("NetDriver: whichever packets are lost while a slot changes hands, clients end right",
          "[netdriver][net_driver]") {
    // Every pattern of the first eight packets of the server, and beside it one of the client's.
    constexpr unsigned pattern_bits = 8;
    for (unsigned lost = 0; lost < (1u << pattern_bits); ++lost) {
        INFO("lost " << lost);
        NetFixture net(with_latency(30));
        net.join_settled();
        unsigned from_server = 0;
        unsigned from_client = 0;
        const unsigned lost_acks = lost * 37;  // any mixture will do, as long as it differs
        net.server().transport.set_script([&](Bytes&) {
            return from_server >= pattern_bits || ((lost >> from_server++) & 1) == 0;
        });
        net.client(0).transport.set_script([&](Bytes&) {
            return from_client >= pattern_bits || ((lost_acks >> from_client++) & 1) == 0;
        });
        ObjectHandle pawn = net.add_pawn();
        const ObjectHandle witness = net.add_pawn();
        for (std::int32_t step = 0; step < 8; ++step) {
            net.pawn(pawn).health = step;
            net.pawn(witness).target = pawn;
            if (step % 3 == 2) {
                net.remove(pawn);
                pawn = net.add_pawn();
                net.pawn(pawn).name = "life " + std::to_string(step);
            }
            net.tick();
        }
        REQUIRE(net.settle(400));
        REQUIRE(net.client_text(0) == net.server_text());
        REQUIRE(net.client(0).world.spawn_count == net.client(0).world.despawn_count + 2);
    }
}

TEST_CASE("NetDriver: a loss costs what was lost, not what came after", "[netdriver][net_driver]") {
    NetFixture net(with_latency(50));
    const ObjectHandle pawn = net.add_pawn();
    net.join_settled();
    bool is_losing = true;
    net.server().transport.set_script([&](Bytes&) { return !is_losing; });
    net.pawn(pawn).health = 1;
    net.tick();
    is_losing = false;
    const NetStats before = net.server_driver().stats();
    for (int change = 0; change < 4; ++change) {
        net.pawn(pawn).name = "name " + std::to_string(change);
        net.tick();
    }
    REQUIRE(net.settle());
    const NetStats& after = net.server_driver().stats();
    CHECK(after.records_lost - before.records_lost == 1);
    // Four names, and the health once more.
    CHECK(after.records_sent - before.records_sent == 5);
    CHECK(after.replication.properties_sent - before.replication.properties_sent == 5);
    CHECK(net.client_text(0) == net.server_text());
}

TEST_CASE("NetDriver: a value that went back while its change was in flight arrives as it is",
          "[netdriver][net_driver]") {
    // The client was sent 50 and may or may not have it; whatever it has, it ends with 100.
    for (unsigned lost = 0; lost < 16; ++lost) {
        INFO("lost " << lost);
        NetFixture net(with_latency(50));
        const ObjectHandle pawn = net.add_pawn();
        net.join_settled();
        unsigned count = 0;
        net.server().transport.set_script(
            [&](Bytes&) { return count >= 4 || ((lost >> count++) & 1) == 0; });
        for (const std::int32_t health : {50, 100, 50, 100}) {
            net.pawn(pawn).health = health;
            net.tick();
        }
        REQUIRE(net.settle());
        CHECK(net.pawn_on(0, pawn).health == 100);
    }
}

namespace {

/// A game that does a bit of everything, by chance.
class RandomGame {
  public:
    RandomGame(NetFixture& net, std::uint64_t seed) : net_(net), random_(seed) {}

    void play_tick() {
        for (std::uint32_t i = random_.below(4); i > 0; --i) {
            act();
        }
        net_.tick();
    }

  private:
    void act() {
        const std::uint32_t action = random_.below(20);
        if (objects_.size() < 3 || (action == 0 && objects_.size() < 40)) {
            objects_.push_back(net_.add_pawn());
        } else if (action == 1) {
            const auto place = objects_.begin() + random_.below(count());
            net_.remove(*place);
            graves_.push_back(*place);
            objects_.erase(place);
        } else {
            change(net_.pawn(any_object()));
        }
    }

    void change(Pawn& pawn) {
        switch (random_.below(6)) {
            case 0:
                pawn.health = static_cast<std::int32_t>(random_.below(3));
                return;
            case 1:
                pawn.name =
                    std::string(random_.below(60), static_cast<char>('a' + random_.below(26)));
                return;
            case 2:
                pawn.position.x += 1;
                return;
            case 3:
                pawn.target = any_target();
                return;
            case 4:
                pawn.hits.resize(random_.below(6));
                for (Hit& hit : pawn.hits) {
                    hit.damage += random_.percent(30) ? 1.0f : 0.0f;
                }
                return;
            default:
                pawn.friends.resize(random_.below(5));
                for (ObjectHandle& handle : pawn.friends) {
                    handle = random_.percent(50) ? any_target() : handle;
                }
                return;
        }
    }

    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(objects_.size());
    }
    [[nodiscard]] ObjectHandle any_object() { return objects_[random_.below(count())]; }
    /// Alive, dead or nobody.
    [[nodiscard]] ObjectHandle any_target() {
        if (random_.percent(20)) {
            return {};
        }
        if (random_.percent(20) && !graves_.empty()) {
            return graves_[random_.below(static_cast<std::uint32_t>(graves_.size()))];
        }
        return any_object();
    }

    NetFixture& net_;
    SeededRandom random_;
    std::vector<ObjectHandle> objects_;
    std::vector<ObjectHandle> graves_;
};

[[nodiscard]] NetFixtureOptions bad_network(std::uint64_t seed) {
    SeededRandom random(seed);
    NetFixtureOptions options;
    options.seed = seed;
    options.link.loss = random.below(40) / 100.0;
    options.link.burst_packets = random.below(8);
    options.link.duplicate = random.below(30) / 100.0;
    options.link.reorder = random.below(30) / 100.0;
    options.link.latency_ms = random.below(150);
    options.link.jitter_ms = random.below(40);
    return options;
}

}  // namespace

TEST_CASE("NetDriver: over a network that loses, repeats and reorders, all clients end right",
          "[netdriver][net_driver]") {
    for (std::uint64_t round = 0; round < 12; ++round) {
        const std::uint64_t seed = run_seed() * 1'000 + round;
        INFO("seed " << seed);
        NetFixture net(bad_network(seed));
        RandomGame game(net, seed);
        net.join();
        for (int i = 0; i < 60; ++i) {
            game.play_tick();
        }
        net.join();
        for (int i = 0; i < 60; ++i) {
            game.play_tick();
        }
        net.network().heal();
        REQUIRE(net.settle());
        CHECK(net.client_text(0) == net.server_text());
        CHECK(net.client_text(1) == net.server_text());
    }
}

namespace {

/// Every datagram that the server sent in a game of some length.
[[nodiscard]] std::vector<Datagram> play(std::uint64_t seed, SharingLevel sharing) {
    NetFixtureOptions options = bad_network(seed);
    options.sharing = sharing;
    NetFixture net(options);
    net.server().transport.is_recording = true;
    RandomGame game(net, seed);
    for (int client = 0; client < 3; ++client) {
        net.join();
        for (int i = 0; i < 40; ++i) {
            game.play_tick();
        }
    }
    return std::move(net.server().transport.sent);
}

void check_equal(const std::vector<Datagram>& left, const std::vector<Datagram>& right) {
    REQUIRE(left.size() == right.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
        REQUIRE(left[i].peer == right[i].peer);
        REQUIRE(left[i].bytes == right[i].bytes);
    }
}

}  // namespace

TEST_CASE("NetDriver: sharing changes no byte", "[netdriver][net_driver]") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        INFO("seed " << seed);
        const std::vector<Datagram> bundles = play(seed, SharingLevel::Bundles);
        for (const SharingLevel less :
             {SharingLevel::Payloads, SharingLevel::Pieces, SharingLevel::Off}) {
            check_equal(bundles, play(seed, less));
        }
    }
}

TEST_CASE("NetDriver: the same seed and the same calls give the same bytes",
          "[netdriver][net_driver]") {
    check_equal(play(5, SharingLevel::Bundles), play(5, SharingLevel::Bundles));
}

}  // namespace replayout::test
