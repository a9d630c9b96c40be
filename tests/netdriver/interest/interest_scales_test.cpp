// SPDX-License-Identifier: MIT
//
// What is seen, against real distances: cull distances, cells, radii and places of any size, with
// several eyes, and objects that come and go.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/crate_game.h"

namespace replayout::test {
namespace {

constexpr PeerId peer = CrateGame::peer_of(0);

/// A world between 1 and 100,000 wide.
class ScaledWorld {
  public:
    explicit ScaledWorld(std::uint64_t seed)
        : random_(seed),
          width_(std::pow(10.0, random_.between(0, 5))),
          settings_(any_settings()),
          game_(build_crate, options(seed)) {
        radii_.fill(settings_.view_radius);
        game_.join();
        while (game_.driver().connection_count() < 1) {
            game_.tick();
        }
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            game_.tick([&] {
                for (std::uint32_t n = random_.below(20); n > 0; --n) {
                    act();
                }
            });
            for (const Thing& thing : things_) {
                check(thing);
            }
        }
    }

  private:
    struct Thing {
        ObjectHandle handle;
        std::optional<Vector3> place;
        NetRelevancy relevancy = NetRelevancy::Always;
        float cull_distance = 0;
    };
    struct Expectation {
        bool must_be_seen = false;
        bool may_be_seen = false;
    };

    [[nodiscard]] InterestSettings any_settings() {
        InterestSettings settings;
        settings.axes = InterestAxes(random_.below(3));
        settings.cell_size = static_cast<float>(std::pow(10.0, random_.between(0, 6)) / 100.0);
        settings.view_radius = settings.cell_size * static_cast<float>(random_.below(40)) / 4;
        settings.hysteresis = 0.0625f + static_cast<float>(random_.below(16)) / 16.0f * 0.9375f;
        return settings;
    }
    [[nodiscard]] ClassGameOptions options(std::uint64_t seed) const {
        ClassGameOptions options;
        options.interest = settings_;
        options.is_validating = false;
        options.seed = seed;
        return options;
    }
    /// A part of the world's width, smaller by a power of two.
    [[nodiscard]] float length(std::uint32_t halvings_max) {
        const double halved = std::pow(0.5, static_cast<double>(random_.below(halvings_max)));
        return std::max(0.001f, static_cast<float>(width_ * halved));
    }
    [[nodiscard]] Vector3 anywhere() {
        const auto coordinate = [&] {
            return static_cast<float>((static_cast<double>(random_.below(2'000'001)) / 1e6 - 1) *
                                      width_);
        };
        Vector3 place;
        place.x = coordinate();
        place.y = coordinate();
        place.z = coordinate();
        return place;
    }
    [[nodiscard]] Vector3 near(const Vector3& from) {
        const Vector3 step = anywhere();
        const float part = random_.percent(50) ? 0.01f : 0.1f;
        return {from.x + step.x * part, from.y + step.y * part, from.z + step.z * part};
    }

    void act() {
        if (things_.size() < 20 || (things_.size() < 120 && random_.percent(20))) {
            things_.push_back({game_.add(), std::nullopt, NetRelevancy::Always, 0});
        }
        const std::uint32_t what = random_.below(12);
        if (what < 7) {
            act_on(things_[random_.below(static_cast<std::uint32_t>(things_.size()))], what);
        } else if (what < 11) {
            look(random_.below(views_per_client_max), what);
        } else if (random_.percent(20)) {
            const std::size_t place = random_.below(static_cast<std::uint32_t>(things_.size()));
            game_.remove(things_[place].handle);
            things_[place] = things_.back();
            things_.pop_back();
        }
    }
    void act_on(Thing& thing, std::uint32_t what) {
        Interest interest = game_.driver().interest();
        const NetObjectId id = game_.id_of(thing.handle);
        if (what < 2 || thing.cull_distance == 0) {
            thing.cull_distance = length(12) * static_cast<float>(50 + random_.below(100)) / 100;
            thing.cull_distance = std::max(0.001f, thing.cull_distance);
            interest.set_cull_distance(id, thing.cull_distance);
        }
        if (what == 0) {
            thing.relevancy = random_.percent(50) ? NetRelevancy::Grid : NetRelevancy::Distance;
            interest.set_relevancy(id, thing.relevancy);
        } else if (what > 1) {
            thing.place = what < 4 || !thing.place.has_value() ? anywhere() : near(*thing.place);
            interest.set_location(id, *thing.place);
        }
    }
    void look(std::uint32_t view, std::uint32_t what) {
        Interest interest = game_.driver().interest();
        std::optional<Vector3>& eye = eyes_[view];
        if (what < 9) {
            eye = what == 7 || !eye.has_value() ? anywhere() : near(*eye);
            interest.set_viewer(peer, *eye, view);
        } else if (what == 9 && random_.percent(30)) {
            interest.remove_viewer(peer, view);
            eye.reset();
            radii_[view] = settings_.view_radius;
        } else if (what == 10) {
            const float extremes[] = {0.0f, 1e30f};
            radii_[view] = random_.percent(10) ? random_.pick(extremes) : length(14);
            interest.set_view_radius(peer, radii_[view], view);
        }
    }

    [[nodiscard]] double apart(const Vector3& a, const Vector3& b) const {
        const double x = static_cast<double>(a.x) - static_cast<double>(b.x);
        const double y = settings_.axes == InterestAxes::XZ
                             ? 0
                             : static_cast<double>(a.y) - static_cast<double>(b.y);
        const double z = settings_.axes == InterestAxes::XY
                             ? 0
                             : static_cast<double>(a.z) - static_cast<double>(b.z);
        return std::sqrt(x * x + y * y + z * z);
    }
    /// As interest.h promises it.
    [[nodiscard]] Expectation expect(const Thing& thing, double distance, double radius) const {
        const double hysteresis = static_cast<double>(settings_.hysteresis);
        if (thing.relevancy == NetRelevancy::Distance) {
            const double cull_distance = static_cast<double>(thing.cull_distance);
            if (width_ * 2 / cull_distance > 3e6) {
                return {false, true};  // beyond the border
            }
            return {distance < cull_distance * (1 - 1.0 / 12),
                    distance < cull_distance * (1 + hysteresis + 1.0 / 12)};
        }
        const double cell = static_cast<double>(settings_.cell_size);
        const double corners = cell * 2 * std::sqrt(3.0);
        return {distance + corners * hysteresis < radius,
                distance < radius + corners * (1 + hysteresis) + cell};
    }
    void check(const Thing& thing) {
        if (thing.relevancy == NetRelevancy::Always) {
            return;
        }
        Expectation any;
        for (std::size_t view = 0; thing.place.has_value() && view < eyes_.size(); ++view) {
            if (eyes_[view].has_value()) {
                const Expectation one = expect(thing, apart(*thing.place, *eyes_[view]),
                                               static_cast<double>(radii_[view]));
                any.must_be_seen = any.must_be_seen || one.must_be_seen;
                any.may_be_seen = any.may_be_seen || one.may_be_seen;
            }
        }
        const bool is_seen = game_.driver().is_relevant_for(peer, game_.id_of(thing.handle));
        if ((any.must_be_seen && !is_seen) || (!any.may_be_seen && is_seen)) {
            FAIL("relevancy " << static_cast<int>(thing.relevancy) << ", cull distance "
                              << thing.cull_distance << ", cells of " << settings_.cell_size
                              << ", a world of " << width_ << ": is seen " << is_seen);
        }
    }

    SeededRandom random_;
    double width_;
    InterestSettings settings_;
    CrateGame game_;
    std::vector<Thing> things_;
    std::array<std::optional<Vector3>, views_per_client_max> eyes_;
    std::array<float, views_per_client_max> radii_{};
};

}  // namespace

TEST_CASE("Interest: at any scale what is near is seen, and what is far is not",
          "[netdriver][interest][random]") {
    for (const std::uint64_t seed : seed_range(1, 30)) {
        INFO("REPLAYOUT_SEED=" << seed);
        ScaledWorld world(seed);
        world.play(120);
    }
}

}  // namespace replayout::test
