// SPDX-License-Identifier: MIT
//
// A keyed array larger than a packet, under a cap, of which every element changes in every tick,
// and elements come and go: all of it arrives in turns. Nothing ever settles.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"
#include "support/worlds/unsettled_game.h"

namespace replayout::test {
namespace {

struct Berth {
    std::uint32_t id = 0;
    std::uint32_t tick = 0;
};

struct Harbour {
    std::uint32_t tick = 0;
    std::vector<Berth> berths;
    std::uint32_t last = 0;
};

template <ArrayOrder Order>
[[nodiscard]] Result<const Type*> build_harbour(TypeRegistry& registry) {
    (void)struct_builder<Berth>(registry, "Berth")
        .property<&Berth::id>()
        .property<&Berth::tick>()
        .build();
    return class_builder<Harbour>(registry, "Harbour")
        .property<&Harbour::tick>()
        .property<&Harbour::berths>()
        .keyed_by<&Berth::id>(Order)
        .property<&Harbour::last>()
        .build();
}

/// Harbours of which all changes in each tick.
class HarbourGame {
  public:
    static constexpr std::uint32_t berth_count = 300;
    static constexpr double block_bytes = berth_count * 12.0;

    HarbourGame(BuildType build, const ClassGameOptions& options)
        : game_(build, options), random_(options.seed) {
        game_.join();
        for (int i = 0; i < 2; ++i) {
            harbours_.push_back(game_.add());
            for (std::uint32_t n = 0; n < berth_count; ++n) {
                add(harbours_.back());
            }
        }
    }

    void tick(bool is_coming_and_going) {
        ++tick_;
        for (const ObjectHandle handle : harbours_) {
            Harbour& harbour = game_.object(handle);
            if (is_coming_and_going) {
                std::vector<Berth>& berths = harbour.berths;
                const std::uint32_t place = random_.below(berth_count);
                removed_[berths[place].id] = tick_;
                berths.erase(berths.begin() + place);
                add(handle);
            }
            harbour.tick = harbour.last = tick_;
            for (Berth& berth : harbour.berths) {
                berth.tick = tick_;
            }
        }
        game_.tick();
    }

    /// The age in ticks of what is oldest at the client: a value, an element that it lacks, or one
    /// that it has still.
    [[nodiscard]] std::uint32_t oldest() {
        std::uint32_t oldest = 0;
        for (const ObjectHandle handle : harbours_) {
            const Harbour& shown = game_.object_on(0, handle);
            oldest = std::max({oldest, tick_ - shown.tick, tick_ - shown.last});
            std::map<std::uint32_t, std::uint32_t> ticks;
            for (const Berth& berth : shown.berths) {
                ticks[berth.id] = berth.tick;
                const auto removed = removed_.find(berth.id);
                oldest = std::max(oldest, removed == removed_.end() ? 0 : tick_ - removed->second);
            }
            for (const Berth& berth : game_.object(handle).berths) {
                const auto found = ticks.find(berth.id);
                const std::uint32_t since = found == ticks.end() ? added_[berth.id] : found->second;
                oldest = std::max(oldest, tick_ - since);
            }
        }
        return oldest;
    }

  private:
    void add(ObjectHandle harbour) {
        added_[++next_id_] = tick_;

        game_.object(harbour).berths.push_back({next_id_, tick_});
    }

    ClassGame<Harbour> game_;
    SeededRandom random_;
    std::vector<ObjectHandle> harbours_;
    std::map<std::uint32_t, std::uint32_t> added_;
    std::map<std::uint32_t, std::uint32_t> removed_;
    std::uint32_t next_id_ = 0;
    std::uint32_t tick_ = 0;
};

}  // namespace

TEST_CASE("Busy caps: all of a keyed array larger than a packet arrives, though all of it changes",
          "[netdriver][rates][keyed_arrays][random]") {
    constexpr double ticks_per_second = 50;
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 8)) {
        INFO("REPLAYOUT_SEED=" << seed);
        ClassGameOptions options;
        options.seed = seed;
        options.link.latency_ms = 30;
        options.link.loss = seed % 4 < 2 ? 0 : 0.1;
        const std::uint32_t cap = seed % 2 == 0 ? 20'000 : 60'000;
        options.config.bytes_per_second_max = cap;
        HarbourGame game(
            seed % 3 == 0 ? build_harbour<ArrayOrder::Kept> : build_harbour<ArrayOrder::Free>,
            options);
        const WaitBounds bounds{cap * 29.0 / 32 / ticks_per_second};
        // A packet that is lost does not count, and what was in it waits anew.
        const double bound =
            bounds.of_shown(2 * HarbourGame::block_bytes, 64) * (options.link.loss > 0 ? 3 : 1);
        std::uint32_t oldest = 0;
        for (std::uint32_t tick = 1; tick <= 4 * bound; ++tick) {
            game.tick(seed % 8 >= 4 && tick > bound);
            if (tick > 2 * bound) {
                oldest = std::max(oldest, game.oldest());
            }
        }
        CHECK(oldest <= bound);
    }
}

}  // namespace replayout::test
