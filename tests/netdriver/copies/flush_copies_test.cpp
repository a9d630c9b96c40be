// SPDX-License-Identifier: MIT
//
// Clients that are owed the same in a flush are sent a copy of what the first of them was sent.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace flush_copies_test {
namespace {

constexpr std::uint32_t client_count = 5;
constexpr std::int32_t latency_ms = 40;

/// A server whose objects come, change and go all the time, so that no flush has bundles alone.
class BusyCrowd {
  public:
    explicit BusyCrowd(SharingLevel sharing = SharingLevel::Bundles,
                       std::uint32_t clients = client_count)
        : net(options_of(sharing)) {
        for (int i = 0; i < 20; ++i) {
            rocks_.push_back(net.add_pawn());
        }
        net.join_settled(clients);
    }

    /// Returns in how many flushes of clients a copy was sent.
    std::uint64_t tick() {
        const std::uint64_t before = copied();
        net.tick([this] {
            ++number_;
            for (auto i = static_cast<std::size_t>(number_ % 3); i < rocks_.size(); i += 3) {
                ++net.pawn(rocks_[i]).health;
            }
            for (const ObjectHandle& shot : shots_) {
                ++net.pawn(shot).health;
            }
            for (std::int32_t i = 0; i < 1 + number_ % 3; ++i) {
                shots_.push_back(net.add_pawn());
                // One in a while is as its archetype is, and has no block at first.
                net.pawn(shots_.back()).health += i;
            }
            while (shots_.size() > 10) {
                net.remove(shots_.front());
                shots_.erase(shots_.begin());
            }
        });
        return copied() - before;
    }
    void set_loss(std::size_t client, double loss, std::int32_t latency = latency_ms) {
        LinkSettings link;
        link.latency_ms = latency;
        link.loss = loss;
        net.network().set_settings(NetFixture::server_peer, NetFixture::client_peer(client), link);
    }
    void check_clients(std::uint32_t clients = client_count) {
        REQUIRE(net.settle());
        for (std::uint32_t i = 0; i < clients; ++i) {
            CHECK(net.client_text(i) == net.server_text());
        }
    }
    [[nodiscard]] std::uint64_t bytes() { return net.server_driver().stats().bytes_sent; }
    [[nodiscard]] std::uint64_t copied() {
        return net.server_driver().stats().replication.flushes_copied;
    }

    NetFixture net;

  private:
    [[nodiscard]] static NetFixtureOptions options_of(SharingLevel sharing) {
        NetFixtureOptions options;
        options.link.latency_ms = latency_ms;
        options.sharing = sharing;
        options.is_validating = false;
        return options;
    }

    std::int32_t number_ = 0;
    std::vector<ObjectHandle> rocks_;
    std::vector<ObjectHandle> shots_;
};

}  // namespace

TEST_CASE("FlushCopy: all clients but the first are sent copies while objects come and go",
          "[netdriver][copies][spawn]") {
    BusyCrowd crowd;
    for (int i = 0; i < 40; ++i) {
        (void)crowd.tick();
    }
    for (int i = 0; i < 100; ++i) {
        INFO("tick " << i);
        CHECK(crowd.tick() == client_count - 1);
    }
    crowd.check_clients();
}

TEST_CASE("FlushCopy: a client that lost packets goes its own way until it is like others again",
          "[netdriver][copies][spawn][loss]") {
    BusyCrowd crowd;
    for (int i = 0; i < 40; ++i) {
        (void)crowd.tick();
    }
    crowd.set_loss(2, 1);
    for (int i = 0; i < 3; ++i) {
        (void)crowd.tick();
    }
    crowd.set_loss(2, 0);
    std::uint32_t own_ways = 0;
    for (int i = 0; i < 40; ++i) {
        const std::uint64_t copies = crowd.tick();
        CHECK(copies >= client_count - 2);
        own_ways += copies < client_count - 1 ? 1u : 0u;
    }
    CHECK(own_ways > 0);
    CHECK(own_ways < 30);
    for (int i = 0; i < 10; ++i) {
        CHECK(crowd.tick() == client_count - 1);
    }
    crowd.check_clients();
}

TEST_CASE("FlushCopy: a client alone takes no copies, and clients without sharing get none",
          "[netdriver][copies]") {
    BusyCrowd alone(SharingLevel::Bundles, 1);
    BusyCrowd unshared(SharingLevel::Off);
    for (int i = 0; i < 50; ++i) {
        CHECK(alone.tick() == 0);
        CHECK(unshared.tick() == 0);
    }
    alone.check_clients(1);
    unshared.check_clients();
}

TEST_CASE("FlushCopy: copies change no byte, whatever is lost and however far clients are",
          "[netdriver][copies][spawn][loss]") {
    for (const std::uint64_t seed : seed_range(1, 4)) {
        INFO("seed " << seed);
        std::vector<std::vector<std::uint64_t>> bytes;
        for (const SharingLevel sharing : {SharingLevel::Off, SharingLevel::Bundles}) {
            SeededRandom random(seed);
            BusyCrowd crowd(sharing);
            std::vector<std::uint64_t> by_tick;
            for (std::uint32_t tick = 0; tick < 200; ++tick) {
                if (tick % 40 == 0) {
                    for (std::uint32_t i = 0; i < client_count; ++i) {
                        crowd.set_loss(i, random.below(3) == 0 ? 0.2 : 0.01,
                                       10 + 20 * static_cast<std::int32_t>(random.below(3)));
                    }
                }
                (void)crowd.tick();
                by_tick.push_back(crowd.bytes());
            }
            CHECK((crowd.copied() > 0) == (sharing == SharingLevel::Bundles));
            crowd.check_clients();
            bytes.push_back(by_tick);
        }
        CHECK(bytes.front() == bytes.back());
    }
}

}  // namespace flush_copies_test
}  // namespace replayout::test
