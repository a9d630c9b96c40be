// SPDX-License-Identifier: MIT
//
// Bundles of a world with an interest grid: what changed is laid down cell by cell, so who sees a
// few cells takes a few bundles, however large the world is.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "packet_builder.h"
#include "support/checks/catch.h"
#include "support/checks/executors.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {

namespace {

constexpr std::uint32_t client_count = 3;
constexpr std::uint32_t blocks_per_bundle = 64;
constexpr float cell_size = 50;  // of the default settings; a viewer sees up to two cells between

/// Cells of a plane, and three pawns in each. Who were added one after the other stand far apart.
class Plane {
  public:
    static constexpr std::uint32_t pawns_per_cell = 3;

    explicit Plane(std::uint32_t width, const NetFixtureOptions& options = {}) : net(options) {
        const std::uint32_t cell_count = width * width;
        for (std::uint32_t i = 0; i < pawns_per_cell * cell_count; ++i) {
            const std::uint32_t cell = i * 7 % cell_count;
            pawns.push_back(net.add_pawn());
            cells.push_back({cell % width, cell / width});
            const NetObjectId id = net.id_of(pawns.back());
            net.server_driver().interest().set_relevancy(id, NetRelevancy::Grid);
            place(i);
        }
        for (std::uint32_t i = 0; i < client_count; ++i) {
            net.join();
        }
        REQUIRE(
            net.tick_until([&] { return net.server_driver().connection_count() == client_count; }));
    }

    void place(std::size_t pawn) {
        net.server_driver().interest().set_location(net.id_of(pawns[pawn]), middle_of(cells[pawn]));
    }
    void look(std::uint32_t client, std::uint32_t column, std::uint32_t row) {
        net.server_driver().interest().set_viewer(NetFixture::client_peer(client),
                                                  middle_of({column, row}));
    }
    void change_all() {
        for (const ObjectHandle pawn : pawns) {
            ++net.pawn(pawn).health;
        }
    }
    /// All that is relevant arrives, and all pairs are regular.
    void rest() {
        REQUIRE(net.settle());
        net.tick([&] { change_all(); });
        REQUIRE(net.settle());
    }
    /// Pawns by the order in which they are laid down: row by row of cells.
    [[nodiscard]] std::vector<std::size_t> in_order() const {
        std::vector<std::size_t> order(pawns.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
            return std::pair(cells[left].second, cells[left].first) <
                   std::pair(cells[right].second, cells[right].first);
        });
        return order;
    }
    void check_clients() {
        for (std::uint32_t client = 0; client < client_count; ++client) {
            for (const ObjectHandle pawn : pawns) {
                const bool has_it = !net.find_on(client, pawn).is_null();
                REQUIRE(has_it == net.server_driver().is_relevant_for(
                                      NetFixture::client_peer(client), net.id_of(pawn)));
                if (has_it) {
                    REQUIRE(net.pawn_on(client, pawn).health == net.pawn(pawn).health);
                    REQUIRE(net.pawn_on(client, pawn).name == net.pawn(pawn).name);
                }
            }
        }
    }

    NetFixture net;
    std::vector<ObjectHandle> pawns;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cells;  // column and row, by pawn

  private:
    [[nodiscard]] static Vector3 middle_of(std::pair<std::uint32_t, std::uint32_t> cell) {
        return {(static_cast<float>(cell.first) + 0.5f) * cell_size,
                (static_cast<float>(cell.second) + 0.5f) * cell_size, 0};
    }
};

struct Taken {
    std::uint64_t bundles = 0;
    std::uint64_t copies = 0;
    std::uint64_t blocks = 0;
};

/// By clients that stand in the corner, of the tick in which all pawns change; and what it is by
/// the model, which only knows where they stand and how long a block is.
struct TakenTwice {
    Taken taken;
    Taken expected;
};

/// The number of the bundle, by place in the order: a bundle ends with its packet.
[[nodiscard]] std::vector<std::size_t> bundles_of(Plane& plane,
                                                  const std::vector<std::size_t>& order,
                                                  std::size_t body_bytes) {
    const std::size_t room =
        NetFixtureOptions().server.packet_bytes_max - PacketBuilder::reserved_bytes;
    std::vector<std::size_t> numbers;
    std::size_t number = 0;
    std::size_t block_count = 0;
    std::size_t packet_bytes = 0;
    ChannelIndex last;
    for (const std::size_t pawn : order) {
        const ChannelIndex channel{plane.net.id_of(plane.pawns[pawn]).index + 1};
        if (packet_bytes + block_step_bytes(last, channel) + body_bytes > room) {
            number += block_count > 0 ? 1 : 0;
            block_count = 0;
            packet_bytes = 0;
            last = ChannelIndex{};
        }
        packet_bytes += block_step_bytes(last, channel) + body_bytes;
        last = channel;
        numbers.push_back(number);
        if (++block_count == blocks_per_bundle) {
            ++number;
            block_count = 0;
        }
    }
    return numbers;
}

[[nodiscard]] TakenTwice taken_of_world(std::uint32_t width) {
    Plane plane(width);
    for (std::uint32_t client = 0; client < client_count; ++client) {
        plane.look(client, 3 + client, 3);
    }
    plane.rest();
    const ReplicationCounters before = plane.net.server_driver().stats().replication;
    plane.net.tick([&] { plane.change_all(); });
    const ReplicationCounters after = plane.net.server_driver().stats().replication;
    TakenTwice result;
    result.taken = {after.bundles_built - before.bundles_built,
                    after.bundles_copied - before.bundles_copied,
                    after.blocks_sent - before.blocks_sent};
    REQUIRE(result.taken.blocks > 0);
    const std::uint64_t body_bytes = after.block_bytes_sent - before.block_bytes_sent;
    REQUIRE(body_bytes % result.taken.blocks == 0);  // all are as long
    const std::vector<std::size_t> order = plane.in_order();
    const std::vector<std::size_t> numbers =
        bundles_of(plane, order, static_cast<std::size_t>(body_bytes / result.taken.blocks));
    result.expected.bundles = numbers.back() + 1;
    for (std::uint32_t client = 0; client < client_count; ++client) {
        std::set<std::size_t> bundles;
        for (std::size_t place = 0; place < order.size(); ++place) {
            if (!plane.net.find_on(client, plane.pawns[order[place]]).is_null()) {
                bundles.insert(numbers[place]);
                ++result.expected.blocks;
            }
        }
        result.expected.copies += bundles.size();
    }
    REQUIRE(plane.net.settle());
    plane.check_clients();
    return result;
}

}  // namespace

TEST_CASE("Bundle cells: who sees a few cells takes a few bundles, however large the world is",
          "[netdriver][bundles][interest]") {
    const std::uint32_t width = GENERATE(12u, 24u, 36u);
    const TakenTwice world = taken_of_world(width);
    CHECK(world.taken.bundles == world.expected.bundles);
    CHECK(world.taken.copies == world.expected.copies);
    CHECK(world.taken.blocks == world.expected.blocks);
    // Seven rows of cells, each in a bundle or across the border of two.
    CHECK(world.taken.copies <= client_count * 7 * 2);
    CHECK(world.taken.bundles >= (3 * width * width + 63) / 64);
}

TEST_CASE("Bundle cells: what everybody has lies among what some see",
          "[netdriver][bundles][interest]") {
    Plane plane(12);
    for (std::uint32_t client = 0; client < client_count; ++client) {
        plane.look(client, 3, 3);
    }
    for (std::size_t i = 0; i < plane.pawns.size(); i += 7) {
        plane.net.server_driver().interest().set_relevancy(plane.net.id_of(plane.pawns[i]),
                                                           NetRelevancy::Always);
    }
    plane.rest();
    std::uint64_t blocks = 0;
    for (const ObjectHandle pawn : plane.pawns) {
        blocks += plane.net.find_on(0, pawn).is_null() ? 0u : 1u;
    }
    const ReplicationCounters before = plane.net.server_driver().stats().replication;
    plane.net.tick([&] { plane.change_all(); });
    const ReplicationCounters after = plane.net.server_driver().stats().replication;
    CHECK(after.blocks_sent - before.blocks_sent == client_count * blocks);
    CHECK(after.payloads_reused - before.payloads_reused == (client_count - 1) * blocks);
    REQUIRE(plane.net.settle());
    plane.check_clients();
}

namespace {

/// What a server sends while pawns and clients walk, and packets are lost.
[[nodiscard]] std::vector<Datagram> played(NetFixtureOptions options, std::uint64_t seed) {
    options.seed = seed;
    options.link.loss = 0.05;
    Plane plane(10, options);
    plane.net.server().transport.is_recording = true;
    SeededRandom random(seed);
    for (std::uint32_t tick = 0; tick < 150; ++tick) {
        plane.net.tick([&] {
            for (std::size_t i = tick % 5; i < plane.pawns.size(); i += 5) {
                ++plane.net.pawn(plane.pawns[i]).health;
                if (random.below(10) == 0) {
                    plane.cells[i].first = random.below(10);
                    plane.place(i);
                }
                if (random.below(20) == 0) {
                    plane.net.pawn(plane.pawns[i]).name = std::string(random.below(60), 'x');
                }
            }
            for (std::uint32_t client = 0; client < client_count && tick % 10 < 5; ++client) {
                plane.look(client, (3 + client + tick / 20) % 10, 4);
            }
        });
    }
    REQUIRE(plane.net.settle());
    plane.check_clients();
    return plane.net.server().transport.sent;
}

}  // namespace

TEST_CASE("Bundle cells: they change no packet, whoever walks and whatever is lost",
          "[netdriver][bundles][interest][random]") {
    const std::uint64_t seed = GENERATE(1u, 2u);
    INFO("REPLAYOUT_SEED=" << seed);
    NetFixtureOptions options;
    options.server.bytes_per_second_max = GENERATE(0u, 30'000u, 200'000u);
    options.sharing = SharingLevel::Off;
    const std::vector<Datagram> alone = played(options, seed);
    REQUIRE(alone.size() > 150);
    for (const SharingLevel sharing :
         {SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
        options.sharing = sharing;
        CHECK((played(options, seed) == alone));
    }
    OrderedExecutor executor(4, JobOrder::Shuffled, seed);
    options.executor = &executor;
    CHECK((played(options, seed) == alone));
    CHECK(executor.run_count() > 0);
}

}  // namespace replayout::test
