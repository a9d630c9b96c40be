// SPDX-License-Identifier: MIT
//
// Parts whose open arrives before that of their outer. The client makes them with their outer, and
// throws away what it was sent of them before.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/class_game.h"

namespace replayout::test::early_parts_test {
namespace {

struct Coins {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t sum = 0;
};
struct Chest {
    std::string note;
    Coins coins;  // atomic
};

}  // namespace
}  // namespace replayout::test::early_parts_test

template <>
struct replayout::StructTraitsOf<replayout::test::early_parts_test::Coins>
    : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test::early_parts_test {
namespace {

[[nodiscard]] Result<const Type*> build_chest(TypeRegistry& registry) {
    REQUIRE(struct_builder<Coins>(registry, "Coins")
                .property<&Coins::left>()
                .property<&Coins::right>()
                .property<&Coins::sum>()
                .build());
    return class_builder<Chest>(registry, "Chest")
        .property<&Chest::note>()
        .property<&Chest::coins>()
        .build();
}

/// A chest with a part, each of which fills most of a packet.
class ChestGame {
  public:
    explicit ChestGame(const ClassGameOptions& options) : game_(build_chest, options) {
        game_.join();
        REQUIRE(game_.settle());
    }

    void add() {
        outer_ = game_.add();
        part_ = game_.add_part(outer_);
        for (const ObjectHandle handle : {outer_, part_}) {
            game_.object(handle) = {std::string(900, 'n'), {5, 1'000, 1'005}};
        }
    }
    /// One member of the two that make up the sum changes.
    void tick() {
        Coins& coins = game_.object(part_).coins;
        ++coins.left;
        ++coins.sum;
        game_.tick();
        if (const Chest* shown = game_.find_on(0, part_)) {
            REQUIRE(shown->coins.left + shown->coins.right == shown->coins.sum);
            REQUIRE(game_.find_on(0, outer_) != nullptr);
            shown_count_ += shown->coins.sum > 0 ? 1u : 0u;
        }
    }
    [[nodiscard]] ClassGame<Chest>& game() noexcept { return game_; }
    [[nodiscard]] ObjectHandle outer() const noexcept { return outer_; }
    [[nodiscard]] ObjectHandle part() const noexcept { return part_; }
    /// In how many ticks the client showed the part with its values.
    [[nodiscard]] std::uint32_t shown_count() const noexcept { return shown_count_; }

  private:
    ClassGame<Chest> game_;
    ObjectHandle outer_;
    ObjectHandle part_;
    std::uint32_t shown_count_ = 0;
};

}  // namespace

TEST_CASE("Early parts: a client never shows half of what it was sent before the outer came",
          "[netdriver][subobjects]") {
    ClassGameOptions options;
    options.link.latency_ms = 50;
    options.sharing = sharing_level(GENERATE(false, true));
    ChestGame chests(options);
    std::uint32_t lost_count = 0;
    chests.game().server_transport().set_script([&](const Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool is_lost = packet && packet->has_open(1) && lost_count < 2;
        lost_count += is_lost ? 1u : 0u;
        return !is_lost;
    });
    chests.add();
    for (std::uint32_t tick = 0; tick < 60; ++tick) {
        chests.tick();
    }
    CHECK(lost_count == 2);
    CHECK(chests.shown_count() > 20);
    REQUIRE(chests.game().settle());
    CHECK(chests.game().object_on(0, chests.part()).coins.sum ==
          chests.game().object(chests.part()).coins.sum);
}

TEST_CASE("Early parts: whatever is lost, under a cap or not, no client shows half",
          "[netdriver][subobjects][random]") {
    for (const std::uint64_t seed : seed_range(1, 100)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        ClassGameOptions options;
        options.seed = seed;
        options.link.latency_ms = 30;
        options.link.loss = 0.4;
        options.config.bytes_per_second_max = random.percent(50) ? 40'000 : 0;
        options.sharing = sharing_level(random.percent(50));
        ChestGame chests(options);
        for (std::uint32_t life = 0; life < 3; ++life) {
            chests.add();
            for (std::uint32_t tick = 0; tick < 60; ++tick) {
                chests.tick();
            }
            chests.game().remove(chests.part());
            chests.game().remove(chests.outer());
        }
        chests.game().network().set_settings(LinkSettings());
        REQUIRE(chests.game().settle());
    }
}

}  // namespace replayout::test::early_parts_test
