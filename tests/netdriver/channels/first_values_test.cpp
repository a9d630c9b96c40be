// SPDX-License-Identifier: MIT
//
// A client that has an object has its values: the open and the first block go in one packet, the
// first time and each time that it was lost.
#include <replayout/netdriver/net_driver.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/unsettled_game.h"

namespace replayout::test {
namespace {

/// Objects come and go while all others move, packets get lost, and clients join.
class CrowdedGame {
  public:
    CrowdedGame(std::uint64_t seed, const UnsettledGame::Options& options)
        : random_(seed), game_(options) {
        for (std::uint32_t i = random_.between(1, 200); i > 0; --i) {
            add();
        }
        (void)game_.join();
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            if (random_.percent(50)) {
                add();
            }
            if (random_.percent(10)) {
                remove();
            }
            if (tick % 100 == 50 && clients_ < 3) {
                (void)game_.join();
                ++clients_;
            }
            game_.tick();
            look();
        }
    }
    /// How often an object was there, for the first time.
    [[nodiscard]] std::uint32_t shown_count() const noexcept { return shown_count_; }

  private:
    struct Object {
        ObjectHandle handle;
        std::size_t content_bytes = 0;
        bool is_part = false;
        std::set<std::size_t> shown;
    };

    void add() {
        const auto bytes = random_.percent(20) ? random_.between(0, 900) : random_.between(1, 30);
        const auto motion =
            random_.percent(80) ? UnsettledGame::Motion::Moves : UnsettledGame::Motion::Stands;
        Object object{game_.add(motion, bytes), bytes, false, {}};
        objects_.push_back(object);
        if (random_.percent(20)) {
            objects_.push_back({game_.add_part(object.handle, motion), 0, true, {}});
        }
        if (random_.percent(20)) {
            (void)game_.driver().call<&Mover::multicast_ring>(game_.id_of(objects_.back().handle));
        }
    }
    void remove() {
        const std::size_t which = random_.below(static_cast<std::uint32_t>(objects_.size()));
        const bool has_family =
            objects_[which].is_part || (which + 1 < objects_.size() && objects_[which + 1].is_part);
        if (!has_family) {
            game_.remove(objects_[which].handle);
            objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    void look() {
        for (Object& object : objects_) {
            for (std::size_t client = 0; client < clients_; ++client) {
                const Mover* shown = game_.find_on(client, object.handle);
                if (shown == nullptr || object.shown.contains(client)) {
                    continue;
                }
                object.shown.insert(client);
                ++shown_count_;
                if (object.is_part) {
                    continue;  // if its open comes before its outer's, its values come after both
                }
                INFO("tick " << game_.now() << ", client " << client << ", object "
                             << object.handle.value);
                REQUIRE(shown->tick > 0);
                REQUIRE(shown->content.size() == object.content_bytes);
            }
        }
    }

    SeededRandom random_;
    UnsettledGame game_;
    std::vector<Object> objects_;
    std::size_t clients_ = 1;
    std::uint32_t shown_count_ = 0;
};

}  // namespace

TEST_CASE("First values: a client that has an object has its values, whatever is lost and capped",
          "[random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 12)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        UnsettledGame::Options options;
        options.seed = seed;
        options.ticks_per_second = random.pick(std::array{10u, 30u, 60u, 144u});
        options.cap = random.percent(50) ? 0 : random.between(8'000, 200'000);
        options.link.loss = random.pick(std::array{0.0, 0.02, 0.1, 0.3});
        options.link.jitter_ms = random.percent(30) ? 20 : 0;
        options.is_sharing = random.percent(50);
        CrowdedGame game(seed, options);
        game.play(400);
        CHECK(game.shown_count() > 20);
    }
}

}  // namespace replayout::test
