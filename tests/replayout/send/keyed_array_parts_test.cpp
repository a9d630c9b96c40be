// SPDX-License-Identifier: MIT
//
// Keyed arrays larger than their packets: of an update in parts only what was lost is owed again,
// so an array settles in few round trips, however many packets it takes.
#include <replayout/in_flight_versions.h>
#include <replayout/keyed_array.h>
#include <replayout/lost_parts.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test::keyed_array_parts_test {
namespace {

struct Row {
    std::uint64_t id = 0;
    std::string text;
    std::vector<std::uint8_t> marks;

    friend bool operator==(const Row&, const Row&) = default;
};

struct Table {
    std::uint32_t round = 0;
    std::vector<Row> rows;
    std::vector<std::string> notes;
};

template <ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_table(TypeRegistry& registry) {
    REQUIRE(struct_builder<Row>(registry, "Row")
                .property<&Row::id>()
                .property<&Row::text>()
                .property<&Row::marks>()
                .build());
    return class_builder<Table>(registry, "Table")
        .property<&Table::round>()
        .property<&Table::rows>()
        .keyed_by<&Row::id>(Order)
        .property<&Table::notes>()
        .build();
}

constexpr std::size_t packet_bytes = 300;

[[nodiscard]] Row make_row(std::uint64_t id) {
    return {id, std::string(50, 'r'), {1, 2}};
}

[[nodiscard]] bool are_equal(const Table& left, const Table& right, ArrayOrder order) {
    std::vector<Row> ours = left.rows;
    std::vector<Row> theirs = right.rows;
    if (order == ArrayOrder::Free) {
        const auto by_id = [](const Row& a, const Row& b) { return a.id < b.id; };
        std::sort(ours.begin(), ours.end(), by_id);
        std::sort(theirs.begin(), theirs.end(), by_id);
    }
    return ours == theirs && left.round == right.round && left.notes == right.notes;
}

/// A sender and a receiver: what a connection keeps of a pair, without packets.
class LossyPair {
  public:
    explicit LossyPair(ArrayOrder order)
        : layout_(order == ArrayOrder::Kept ? BuildType(build_table<ArrayOrder::Kept>)
                                            : BuildType(build_table<ArrayOrder::Free>)),
          order_(order),
          sender_(*layout_),
          unshared_(*layout_),
          receiver_(*layout_) {
        unshared_.is_sharing = false;
    }

    Table table;
    std::uint64_t block_count = 0;

    /// Everything that is owed goes out, and becomes known to be lost or not.
    template <typename IsLost>
    void round_trip(IsLost is_lost) {
        sender_.update(&table);
        unshared_.update(&table);
        send(is_lost);
        for (const Flight& flight : flights_) {
            in_flight_.resolved();
            pair_.delivered();
            for (const LostPart& part : flight.carried) {
                if (flight.is_lost) {
                    lost_.add(pair_, part.versions, part.range);
                    pair_.return_unsent({part.versions, {}});
                }
            }
        }
        flights_.clear();
        ReceiveContext context = receiver_.context();
        finish_update(*layout_, &remote_, receiver_.state, context);
    }
    void round_trip(SeededRandom& random, std::uint32_t loss_percent) {
        round_trip([&](std::size_t) { return random.percent(loss_percent); });
    }

    [[nodiscard]] bool is_at_rest() const {
        return pair_.is_exact() && pair_.sent_version == sender_.state.version();
    }
    [[nodiscard]] bool is_equal() const { return are_equal(remote_, table, order_); }
    /// Round trips until nothing is owed.
    [[nodiscard]] std::uint32_t settle(SeededRandom& random, std::uint32_t loss_percent) {
        std::uint32_t count = 0;
        do {
            round_trip(random, loss_percent);
            ++count;
        } while (!is_at_rest() && count < 1'000);
        return count;
    }

  private:
    struct Flight {
        std::vector<LostPart> carried;
        bool is_lost = false;
    };

    [[nodiscard]] OwedVersions position(std::vector<LostPart>& parts) const {
        OwedVersions position(pair_);
        lost_.describe(position);
        parts.assign(position.lost_parts.begin(), position.lost_parts.end());
        position.lost_parts = parts;
        position.held_version = in_flight_.held_version(pair_);
        return position;
    }

    template <typename IsLost>
    void send(IsLost is_lost) {
        std::vector<LostPart> parts;
        const OwedVersions from = position(parts);
        const Version version = sender_.state.version();
        if (!pair_.owes_any(version)) {
            return;
        }
        const ChangeMask& owed = sender_.collect(from);
        (void)unshared_.collect(from);
        if (!owed.any()) {
            pair_.skip(version);
            return;
        }
        const SentVersions taken = pair_.take_owed(version);
        RepCursor cursor;
        SentBlock block(SendResult::Part);
        for (std::size_t i = 0; block == SendResult::Part; ++i) {
            RepCursor twin_cursor = cursor;
            RepRange range;
            const Bytes twin = write(unshared_, from, twin_cursor, range, block);
            const Bytes bytes = write(sender_, from, cursor, range, block);
            REQUIRE(bytes == twin);
            REQUIRE(block != SendResult::ValueTooLarge);
            deliver(bytes, taken, block, is_lost(i));
        }
    }

    Bytes write(BlockSender& sender, const OwedVersions& from, RepCursor& cursor, RepRange& range,
                SentBlock& block) {
        Bytes memory(packet_bytes);
        BitWriter writer(memory);
        SendContext context = sender.context();
        block = send_part(sender.state, from, sender.scratch.owed, cursor, range, writer, context);
        return to_bytes(writer.bytes());
    }

    void deliver(const Bytes& bytes, const SentVersions& taken, const SentBlock& block,
                 bool is_lost) {
        ++block_count;
        pair_.send_part();
        in_flight_.sent(taken);
        Flight flight;
        flight.carried.assign(block.findings->carried.begin(), block.findings->carried.end());
        flight.is_lost = is_lost;
        flights_.push_back(flight);
        if (!is_lost) {
            REQUIRE(receiver_.receive(&remote_, bytes, block == SendResult::Part));
            CHECK(receiver_.array_steps_spent <= block.array_steps);
        }
    }

    TestLayout layout_;
    ArrayOrder order_;
    BlockSender sender_;
    BlockSender unshared_;
    BlockReceiver receiver_;
    Table remote_;
    SendingRepState pair_;
    LostParts lost_{std::pmr::get_default_resource()};
    InFlightVersions in_flight_{std::pmr::get_default_resource()};
    std::vector<Flight> flights_;
};

/// So many packets of rows, whose keys are spread over all that keys can be.
void fill(LossyPair& line, std::uint32_t packet_count, SeededRandom& random) {
    for (std::uint32_t i = 0; i < packet_count * 5; ++i) {
        const std::uint64_t id = random.percent(50) ? i : random.bits() | 1u << 20;
        line.table.rows.push_back(make_row(id));
    }
    line.table.rows.push_back(make_row(std::numeric_limits<std::uint64_t>::max()));
    line.table.rows.push_back(make_row(std::numeric_limits<std::uint64_t>::max() - 1));
    line.table.rows.push_back(make_row(std::numeric_limits<std::uint64_t>::max() - 2));
}

constexpr ArrayOrder orders[] = {ArrayOrder::Kept, ArrayOrder::Free};

}  // namespace

TEST_CASE("Keyed arrays in parts: a lost part owes what it carried, and nothing else",
          "[replayout][keyed_array]") {
    for (const ArrayOrder order : orders) {
        SeededRandom random(7);
        LossyPair line(order);
        fill(line, 18, random);
        line.round_trip([](std::size_t i) { return i == 3 || i == 4 || i == 11; });
        const std::uint64_t all = line.block_count;
        CHECK(all > 15);
        line.round_trip([](std::size_t) { return false; });
        CHECK(line.block_count - all == 3);
        CHECK(line.is_equal());
        CHECK(line.is_at_rest());
    }
}

TEST_CASE("Keyed arrays in parts: settle in few round trips, however many packets they take",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (const ArrayOrder order : orders) {
        for (const std::uint32_t packet_count : {18u, 60u}) {
            for (std::uint64_t round = 0; round < 3; ++round) {
                INFO("seed " << seed << ", round " << round << ", " << packet_count << " packets");
                SeededRandom random(seed * 100 + round);
                LossyPair line(order);
                fill(line, packet_count, random);
                for (int i = 0; i < 10; ++i) {
                    for (Row& row : line.table.rows) {
                        row.text[random.below(50)] = 'c';
                    }
                    line.round_trip(random, 30);
                }
                CHECK(line.settle(random, 30) <= 12);
                CHECK(line.is_equal());
            }
        }
    }
}

TEST_CASE("Keyed arrays in parts: what was removed goes everywhere, also from a log cut short",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (const ArrayOrder order : orders) {
        for (std::uint64_t round = 0; round < 8; ++round) {
            INFO("seed " << seed << ", round " << round);
            SeededRandom random(seed * 100 + round);
            LossyPair line(order);
            fill(line, 18, random);
            const std::uint32_t turnover = round % 4 == 0 ? 60 : random.between(1, 20);
            for (int i = 0; i < 20; ++i) {
                auto& rows = line.table.rows;
                for (std::uint32_t j = 0; j < turnover; ++j) {
                    const auto count = static_cast<std::uint32_t>(rows.size());
                    rows.erase(rows.begin() + random.below(count));
                    rows.insert(rows.begin() + random.below(count), make_row(random.bits() >> 1));
                    std::swap(rows[random.below(count)], rows[random.below(count)]);
                    rows[random.below(count)].marks.assign(random.below(4), 7);
                }
                line.table.notes.assign(random.below(40), std::string(20, 'n'));
                line.table.round += random.below(2);
                line.round_trip(random, 30);
            }
            CHECK(line.settle(random, 30) <= 14);
            CHECK(line.is_equal());
        }
    }
}

TEST_CASE("Keyed arrays in parts: who missed more than the log holds settles as soon",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (const ArrayOrder order : orders) {
        for (std::uint64_t round = 0; round < 4; ++round) {
            INFO("seed " << seed << ", round " << round);
            SeededRandom random(seed * 100 + round);
            LossyPair line(order);
            fill(line, 80, random);
            CHECK(line.settle(random, 0) == 1);
            auto& rows = line.table.rows;
            for (std::uint32_t i = 0; i < ShadowKeyedArray::deletion_count_max + 10; ++i) {
                rows.erase(rows.begin() + random.below(static_cast<std::uint32_t>(rows.size())));
            }
            for (std::uint64_t i = 0; i < 150; ++i) {
                rows.push_back(make_row(random.bits()));
            }
            CHECK(line.settle(random, 30) <= 12);
            CHECK(line.is_equal());
        }
    }
}

TEST_CASE("Keyed arrays in parts: a full set that lost a part is sent again in that part alone",
          "[replayout][keyed_array]") {
    SeededRandom random(3);
    LossyPair line(ArrayOrder::Kept);
    fill(line, 80, random);
    CHECK(line.settle(random, 0) == 1);
    auto& rows = line.table.rows;
    rows.erase(rows.begin(), rows.begin() + ShadowKeyedArray::deletion_count_max + 10);
    for (Row& row : rows) {
        row.text = "changed";
    }
    std::uint64_t before = line.block_count;
    line.round_trip([](std::size_t i) { return i == 2; });
    CHECK(line.block_count - before > 3);
    before = line.block_count;
    line.round_trip([](std::size_t) { return false; });
    CHECK(line.block_count - before <= 2);
    CHECK(line.is_at_rest());
    CHECK(line.is_equal());
}

}  // namespace replayout::test::keyed_array_parts_test
