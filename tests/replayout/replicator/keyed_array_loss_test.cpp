// SPDX-License-Identifier: MIT
//
// Keyed arrays over networks that lose most of what is sent: what changed for long still settles,
// in not much more packets than it must, and nobody is given more than he takes.
#include <replayout/keyed_array.h>
#include <replayout/object_replicator.h>
#include <replayout/receive_properties.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/types/test_layout.h"
#include "support/types/test_package_map.h"

namespace replayout::test::keyed_array_loss_test {
namespace {

struct Unit {
    std::uint16_t id = 0;
    std::int32_t strength = 0;

    friend bool operator==(const Unit&, const Unit&) = default;
};

struct Army {
    std::int32_t morale = 0;
    std::vector<Unit> units;
    std::vector<Unit> scouts;
};

template <ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_army(TypeRegistry& registry) {
    REQUIRE(struct_builder<Unit>(registry, "Unit")
                .property<&Unit::id>()
                .property<&Unit::strength>()
                .build());
    return class_builder<Army>(registry, "Army")
        .property<&Army::morale>()
        .property<&Army::units>()
        .keyed_by<&Unit::id>(Order)
        .property<&Army::scouts>()
        .keyed_by<&Unit::id>(Order)
        .build();
}

[[nodiscard]] BuildType build_of(ArrayOrder order) {
    return order == ArrayOrder::Kept ? BuildType(build_army<ArrayOrder::Kept>)
                                     : BuildType(build_army<ArrayOrder::Free>);
}

[[nodiscard]] RepLayoutOptions with_army_limit(std::uint32_t limit) {
    RepLayoutOptions options;
    options.limits.array_count_max = limit;
    return options;
}

/// One army, and one receiver who hears of the fate of packets a round trip later.
class LossyGame {
  public:
    static constexpr std::uint32_t round_trip_ticks = 20;
    static constexpr std::size_t packet_bytes = 288;

    LossyGame(ArrayOrder order, std::uint64_t seed, std::uint32_t limit = 2'048)
        : random(seed),
          layout_(build_of(order), with_army_limit(limit)),
          order_(order),
          scratch_(std::pmr::get_default_resource()),
          state_(*layout_, std::pmr::get_default_resource()),
          replicator_(state_, std::pmr::get_default_resource()),
          receiver_(*layout_) {}

    SeededRandom random;
    Army army;
    bool loses_first_of_tick = false;

    void add_unit(std::size_t place) { add_unit(place, next_id_++); }
    void add_unit(std::size_t place, std::uint16_t id) {
        const auto strength = static_cast<std::int32_t>(random.below(1'000'000));
        army.units.insert(army.units.begin() + static_cast<std::ptrdiff_t>(place),
                          Unit{id, strength});
    }

    void tick(std::uint32_t loss_percent) {
        ++tick_;
        (void)state_.update(&army, ids_, counters_);
        while (!flights_.empty() && flights_.front().tick + round_trip_ticks <= tick_) {
            const Flight flight = flights_.front();
            flights_.pop_front();
            if (flight.is_lost) {
                replicator_.packet_lost(flight.packet);
            } else {
                replicator_.packet_delivered(flight.packet);
            }
        }
        is_first_of_tick_ = true;
        while (replicator_.owes_any()) {
            send(loss_percent);
        }
        ReceiveContext context = receiver_.context();
        finish_update(*layout_, &remote_, receiver_.state, context);
    }

    /// Round trips until nothing is owed or under way.
    [[nodiscard]] std::uint32_t settle(std::uint32_t loss_percent) {
        const std::uint32_t first = tick_;
        do {
            tick(loss_percent);
        } while (!replicator_.is_settled() && tick_ - first < 100 * round_trip_ticks);
        return (tick_ - first + round_trip_ticks - 1) / round_trip_ticks;
    }

    [[nodiscard]] bool is_equal() const {
        return are_equal(army.units, remote_.units) && are_equal(army.scouts, remote_.scouts) &&
               army.morale == remote_.morale;
    }
    [[nodiscard]] std::size_t remote_count() const { return remote_.units.size(); }
    [[nodiscard]] std::uint32_t packet_count() const {
        return static_cast<std::uint32_t>(packet_ - 1);
    }

  private:
    struct Flight {
        std::uint64_t packet;
        std::uint32_t tick;
        bool is_lost;
    };

    [[nodiscard]] bool are_equal(std::vector<Unit> ours, std::vector<Unit> theirs) const {
        if (order_ == ArrayOrder::Free) {
            const auto by_id = [](const Unit& a, const Unit& b) { return a.id < b.id; };
            std::sort(ours.begin(), ours.end(), by_id);
            std::sort(theirs.begin(), theirs.end(), by_id);
        }
        return ours == theirs;
    }

    void send(std::uint32_t loss_percent) {
        BitWriter writer(memory_);
        const SendContext context{ids_, counters_, scratch_};
        const SentBlock block = replicator_.replicate_properties(writer, packet_, context);
        REQUIRE(block != SendResult::ValueTooLarge);
        REQUIRE(block != SendResult::DoesNotFit);
        if (block == SendResult::Nothing) {
            return;
        }
        const bool is_lost = random.percent(loss_percent) ||
                             (std::exchange(is_first_of_tick_, false) && loses_first_of_tick);
        flights_.push_back({packet_++, tick_, is_lost});
        if (!is_lost) {
            // Who has too many keys or elements refuses, and closes.
            REQUIRE(receiver_.receive(&remote_, writer.bytes(), block == SendResult::Part));
            CHECK(receiver_.array_steps_spent <= block.array_steps);
        }
    }

    TestLayout layout_;
    ArrayOrder order_;
    ServerPackageMap ids_;
    ReplicationCounters counters_;
    SendScratch scratch_;
    ChangelistState state_;
    ObjectReplicator replicator_;
    BlockReceiver receiver_;
    Army remote_;
    std::deque<Flight> flights_;
    std::uint64_t packet_ = 1;
    std::uint32_t tick_ = 0;
    std::uint16_t next_id_ = 1;
    bool is_first_of_tick_ = false;
    std::array<std::byte, packet_bytes> memory_{};
};

/// Five units come, go, trade places or change.
void change(LossyGame& game) {
    auto& units = game.army.units;
    game.army.morale = static_cast<std::int32_t>(game.random.below(1'000'000));
    for (int i = 0; i < 5; ++i) {
        const std::uint32_t place = game.random.below(static_cast<std::uint32_t>(units.size()));
        switch (game.random.below(4)) {
            case 0:
                game.add_unit(place);
                break;
            case 1:
                units.erase(units.begin() + place);
                break;
            case 2:
                std::swap(units[place], units[units.size() / 2]);
                break;
            default:
                ++units[place].strength;
                break;
        }
    }
}

}  // namespace

TEST_CASE("Keyed arrays: after a long history one settles in few round trips, at a loss of 60 %",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 20; ++round) {
        INFO("seed " << seed << ", round " << round);
        LossyGame game(round % 2 == 0 ? ArrayOrder::Kept : ArrayOrder::Free, seed * 100 + round);
        while (game.army.units.size() < 400) {
            game.add_unit(game.army.units.size());
        }
        for (int tick = 0; tick < 300; ++tick) {
            change(game);
            game.tick(60);
        }
        // A part is lost eight times in a row in one of 60, and there are a hundred or two.
        CHECK(game.settle(60) <= 24);
        CHECK(game.is_equal());
    }
}

TEST_CASE("Keyed arrays: after a long history one settles in few packets, whatever is lost",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (const std::uint32_t loss_percent : {30u, 45u, 60u, 70u}) {
        INFO("seed " << seed << ", loss " << loss_percent << " %");
        constexpr std::uint32_t game_count = 8;
        std::uint32_t packet_count = 0;
        std::size_t array_bytes = 0;
        for (std::uint64_t round = 0; round < game_count; ++round) {
            LossyGame game(round % 2 == 0 ? ArrayOrder::Kept : ArrayOrder::Free,
                           seed * 100 + round);
            while (game.army.units.size() < 400) {
                game.add_unit(game.army.units.size());
            }
            for (int tick = 0; tick < 300; ++tick) {
                change(game);
                game.tick(loss_percent);
            }
            const std::uint32_t before = game.packet_count();
            CHECK(game.settle(loss_percent) <= 40);
            CHECK(game.is_equal());
            packet_count += game.packet_count() - before;
            array_bytes += game.army.units.size() * sizeof(Unit);
        }
        // All of the array, each packet as often as it takes until one arrives. Nobody can do with
        // less of whom nothing arrived before.
        const std::size_t arrays = array_bytes / LossyGame::packet_bytes + game_count;
        CHECK(packet_count <= 2 * arrays * 100 / (100 - loss_percent));
    }
}

TEST_CASE("Keyed arrays: replaced wholly in each tick, one at its limit is never too much",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    for (const std::uint32_t loss_percent : {0u, 30u, 45u, 60u, 70u}) {
        for (std::uint64_t round = 0; round < 8; ++round) {
            INFO("seed " << seed << ", round " << round << ", loss " << loss_percent << " %");
            constexpr std::uint32_t limit = 100;
            LossyGame game(round % 2 == 0 ? ArrayOrder::Kept : ArrayOrder::Free, seed * 100 + round,
                           limit);
            for (std::uint16_t id = 1; id <= 20; ++id) {
                game.army.scouts.push_back({id, 1});
            }
            const bool is_ascending = round % 4 < 2;
            for (int tick = 0; tick < 120; ++tick) {
                game.army.units.clear();
                const std::uint32_t count = limit - game.random.below(3);
                // Ascending, or each time another sixth of 600.
                const std::uint32_t first = game.random.below(6);
                for (std::uint32_t i = 0; i < count; ++i) {
                    if (is_ascending) {
                        game.add_unit(i);
                    } else {
                        game.add_unit(i, static_cast<std::uint16_t>(i * 6 + first));
                    }
                }
                game.army.scouts[game.random.below(20)].strength = tick;
                game.tick(loss_percent);
                CHECK(game.remote_count() <= full_set_parts_factor * limit);
            }
            CHECK(game.settle(loss_percent) <= 40);
            CHECK(game.is_equal());
        }
    }
}

TEST_CASE(
    "Keyed arrays: though the part is always lost that takes away what is gone, none is too much",
    "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    for (const ArrayOrder order : {ArrayOrder::Kept, ArrayOrder::Free}) {
        constexpr std::uint32_t limit = 200;
        LossyGame game(order, seed, limit);
        game.loses_first_of_tick = true;
        for (int tick = 0; tick < 80; ++tick) {
            game.army.units.clear();
            while (game.army.units.size() < limit) {
                game.add_unit(game.army.units.size());
            }
            game.tick(0);
            CHECK(game.remote_count() <= full_set_parts_factor * limit);
        }
        CHECK(game.remote_count() > limit);
        game.loses_first_of_tick = false;
        CHECK(game.settle(0) <= 4);
        CHECK(game.is_equal());
    }
}

}  // namespace replayout::test::keyed_array_loss_test
