// SPDX-License-Identifier: MIT
//
// Which blocks are copied from what was laid down for another receiver, and why the others are not.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

namespace {

constexpr std::uint32_t pawn_count = 10;

/// Pawns that every client has and that have rested since.
class RestedCrowd {
  public:
    static constexpr std::uint32_t client_count = 4;

    explicit RestedCrowd(SharingLevel sharing = SharingLevel::Bundles, std::uint32_t cap = 0)
        : net(options(sharing, cap)) {
        for (std::uint32_t i = 0; i < pawn_count; ++i) {
            pawns.push_back(net.add_pawn());
        }
        for (std::uint32_t i = 0; i < client_count; ++i) {
            net.join();
        }
        REQUIRE(net.settle());
        // Twice, so that who joins is owed something else than they were.
        for (int i = 0; i < 2; ++i) {
            change_all();
            net.tick(20);
        }
    }

    void change_all() {
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
    }

    /// What `act` and so many ticks add.
    [[nodiscard]] ReplicationCounters added_by(const std::function<void()>& act,
                                               std::uint32_t ticks = 1) {
        const ReplicationCounters before = counters();
        net.tick(act);
        net.tick(ticks - 1);
        ReplicationCounters added = counters();
        added.blocks_sent -= before.blocks_sent;
        for (std::size_t i = 0; i < block_miss_count; ++i) {
            added.block_misses[i] -= before.block_misses[i];
        }
        return added;
    }

    [[nodiscard]] const ReplicationCounters& counters() {
        return net.server_driver().stats().replication;
    }

    NetFixture net;
    std::vector<ObjectHandle> pawns;

  private:
    [[nodiscard]] static NetFixtureOptions options(SharingLevel sharing, std::uint32_t cap) {
        NetFixtureOptions options;
        options.sharing = sharing;
        options.server.bytes_per_second_max = cap;
        return options;
    }
};

[[nodiscard]] BlockMisses only(BlockMiss miss, std::uint64_t count) {
    BlockMisses misses{};
    misses[static_cast<std::size_t>(miss)] = count;
    return misses;
}

[[nodiscard]] std::uint64_t count_of(const ReplicationCounters& counters, BlockMiss miss) {
    return counters.block_misses[static_cast<std::size_t>(miss)];
}

}  // namespace

TEST_CASE("BlockMiss: a change is laid down for its first receiver and copied for all others",
          "[netdriver][block_misses]") {
    const auto level = GENERATE(SharingLevel::Payloads, SharingLevel::Bundles);
    const auto cap = GENERATE(0u, 64'000u);
    RestedCrowd crowd(level, cap);
    const ReplicationCounters added = crowd.added_by([&] { crowd.change_all(); });
    CHECK(added.blocks_sent == pawn_count * RestedCrowd::client_count);
    CHECK(added.block_hits() == pawn_count * (RestedCrowd::client_count - 1));
    CHECK(added.block_misses == only(BlockMiss::FirstUse, pawn_count));
}

TEST_CASE("BlockMiss: below whole blocks nothing is copied, and that is the reason",
          "[netdriver][block_misses]") {
    const auto level = GENERATE(SharingLevel::Off, SharingLevel::Pieces);
    RestedCrowd crowd(level);
    const ReplicationCounters added = crowd.added_by([&] { crowd.change_all(); });
    CHECK(added.block_hits() == 0);
    CHECK(added.block_misses ==
          only(BlockMiss::SharingOff, pawn_count * RestedCrowd::client_count));
    CHECK(crowd.counters().block_hits() == 0);
}

TEST_CASE("BlockMiss: what one client lost is written for it, and copied for the next who lost it",
          "[netdriver][block_misses]") {
    const auto level = GENERATE(SharingLevel::Payloads, SharingLevel::Bundles);
    const auto losers = GENERATE(1u, 2u);
    RestedCrowd crowd(level);
    std::uint32_t sent_count = 0;
    crowd.net.server().transport.set_script([&](Bytes&) { return sent_count++ >= losers; });
    (void)crowd.added_by([&] { crowd.change_all(); });
    crowd.net.server().transport.set_script({});
    const ReplicationCounters added = crowd.added_by([] {}, 100);
    CHECK(added.blocks_sent == pawn_count * losers);
    CHECK(added.block_misses == only(BlockMiss::Lost, pawn_count));
    CHECK(added.block_hits() == pawn_count * (losers - 1));
}

TEST_CASE("BlockMiss: who joins is written what it gets first, and copied for the next who joins",
          "[netdriver][block_misses]") {
    RestedCrowd crowd;
    const auto join = [&](std::uint32_t count) {
        return crowd.added_by(
            [&] {
                for (std::uint32_t i = 0; i < count; ++i) {
                    crowd.net.join();
                }
            },
            100);
    };
    const ReplicationCounters first = join(2);
    CHECK(first.blocks_sent == 2 * pawn_count);
    CHECK(first.block_misses == only(BlockMiss::NewReceiver, pawn_count));
    // Kept as long as the object does not change: no matter when the next one comes.
    const ReplicationCounters next = join(1);
    CHECK(next.blocks_sent == pawn_count);
    CHECK(next.block_hits() == pawn_count);
}

TEST_CASE("BlockMiss: parts of an object that no packet holds are written for each receiver",
          "[netdriver][block_misses]") {
    RestedCrowd crowd;
    const ReplicationCounters added =
        crowd.added_by([&] { crowd.net.pawn(crowd.pawns[3]).hits.resize(300); }, 100);
    CHECK(added.blocks_sent > RestedCrowd::client_count);
    CHECK(added.block_misses == only(BlockMiss::TooLarge, added.blocks_sent));
}

TEST_CASE("BlockMiss: who is behind is owed something else than those who are not",
          "[netdriver][block_misses]") {
    RestedCrowd crowd;
    const PeerId late = NetFixture::client_peer(1);
    NetDriver& server = crowd.net.server_driver();
    const NetObjectId hidden = crowd.net.id_of(crowd.pawns[4]);
    server.interest().set_relevant_for(late, hidden, false);
    REQUIRE(crowd.net.settle());
    (void)crowd.added_by([&] { crowd.change_all(); });
    // Shown again in the tick in which it changes: all that ever changed, and not what the others
    // are owed of it.
    const ReplicationCounters added = crowd.added_by([&] {
        server.interest().set_relevant_for(late, hidden, true);
        crowd.change_all();
    });
    CHECK(added.blocks_sent == pawn_count * RestedCrowd::client_count);
    CHECK(count_of(added, BlockMiss::FirstUse) == pawn_count);
    CHECK(count_of(added, BlockMiss::NewReceiver) + count_of(added, BlockMiss::OtherPosition) == 1);
    CHECK(added.block_hits() == pawn_count * (RestedCrowd::client_count - 1) - 1);
}

}  // namespace replayout::test
