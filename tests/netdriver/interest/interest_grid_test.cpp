// SPDX-License-Identifier: MIT
//
// Cells, layers and hysteresis by themselves: against a scan of all pairs, and against distances as
// people measure them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "interest_grid.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {
namespace {

[[nodiscard]] double apart(const Vector3& a, const Vector3& b, InterestAxes axes) {
    const double x = static_cast<double>(a.x) - static_cast<double>(b.x);
    const double y =
        axes == InterestAxes::XZ ? 0 : static_cast<double>(a.y) - static_cast<double>(b.y);
    const double z =
        axes == InterestAxes::XY ? 0 : static_cast<double>(a.z) - static_cast<double>(b.z);
    return std::sqrt(x * x + y * y + z * z);
}

/// One grid with its viewers' rows, and what it was asked to count.
struct Grid {
    explicit Grid(const InterestSettings& grid_settings = {},
                  MemoryResource* resource = std::pmr::get_default_resource())
        : settings(grid_settings),
          resource_(resource),
          grid(settings, counters, resource, resource) {}

    std::uint32_t add_viewer(const Vector3& location) {
        changed.emplace_back(resource_);
        const std::uint32_t viewer = grid.add_viewer(changed.back());
        grid.set_viewer(viewer, location);
        return viewer;
    }

    InterestSettings settings;
    InterestCounters counters;
    std::list<MarkedRow> changed;

  private:
    MemoryResource* resource_;

  public:
    InterestGrid grid;
};

/// The rules once more, as simple as they can be: everybody's cell, and all pairs in each update.
class Scan {
  public:
    struct Object {
        Vector3 location;
        double cull_distance = 0;  // 0: viewers say
        std::optional<LatticePoint> cell;
    };
    struct Viewer {
        Vector3 location;
        double radius = 0;
        std::map<double, LatticePoint> cells;  // by edge
    };

    explicit Scan(const InterestSettings& settings) : settings_(settings) {
        edges_.insert({static_cast<double>(settings.cell_size), true});
    }

    /// Viewers have a cell of that kind from now on.
    void note_edge(const Object& object) {
        edges_.insert({edge_of(object), object.cull_distance == 0});
    }

    std::map<std::uint32_t, Object> objects;
    std::map<std::uint32_t, Viewer> viewers;
    std::set<std::pair<std::uint32_t, std::uint32_t>> sight;

    [[nodiscard]] double edge_of(const Object& object) const {
        if (object.cull_distance == 0) {
            return static_cast<double>(settings_.cell_size);
        }
        double power = 1.0;
        while (power > object.cull_distance) {
            power /= 2;
        }
        while (power <= object.cull_distance) {
            power *= 2;
        }
        return power / 64;
    }

    /// Sight of things that are gone is the caller's to forget.
    void update() {
        for (auto& [index, object] : objects) {
            settle(object.cell, object.location, edge_of(object), object.cull_distance == 0);
        }
        for (auto& [number, viewer] : viewers) {
            for (const auto& [edge, is_grid] : edges_) {
                std::optional<LatticePoint> cell;
                if (viewer.cells.contains(edge)) {
                    cell = viewer.cells[edge];
                }
                settle(cell, viewer.location, edge, is_grid);
                viewer.cells[edge] = *cell;
            }
            for (auto& [index, object] : objects) {
                look(number, viewer, index, object);
            }
        }
    }

  private:
    void settle(std::optional<LatticePoint>& cell, const Vector3& at, double edge, bool is_grid) {
        const double margin = is_grid ? static_cast<double>(settings_.hysteresis) : 0.125;
        const double place[] = {
            static_cast<double>(at.x),
            settings_.axes == InterestAxes::XZ ? static_cast<double>(at.z)
                                               : static_cast<double>(at.y),
            settings_.axes == InterestAxes::XYZ ? static_cast<double>(at.z) : 0.0};
        const auto in_cell = [&](std::int32_t before, double where) {
            return where / edge >= before - margin && where / edge < before + 1 + margin;
        };
        const bool stays = cell.has_value() && in_cell(cell->x, place[0]) &&
                           in_cell(cell->y, place[1]) && in_cell(cell->z, place[2]);
        if (!stays) {
            const auto of = [&](double where) {
                const double number = std::floor(where / edge);
                return static_cast<std::int32_t>(std::clamp(number, -268435456.0, 268435456.0));
            };
            cell = LatticePoint{of(place[0]), of(place[1]), of(place[2])};
        }
    }
    void look(std::uint32_t number, const Viewer& viewer, std::uint32_t index,
              const Object& object) {
        const double edge = edge_of(object);
        const bool is_grid = object.cull_distance == 0;
        const LatticePoint cell = viewer.cells.at(edge);
        const auto square = [&](std::int64_t a, std::int64_t b) {
            std::int64_t difference = std::abs(a - b);
            difference = is_grid ? std::max<std::int64_t>(0, difference - 1) : difference;
            return static_cast<double>(difference) * static_cast<double>(difference);
        };
        const double distance = square(cell.x, object.cell->x) + square(cell.y, object.cell->y) +
                                square(cell.z, object.cell->z);
        const double enter = (is_grid ? viewer.radius : object.cull_distance) / edge;
        const double leave =
            is_grid ? enter : enter * (1.0 + static_cast<double>(settings_.hysteresis));
        const bool is_in_sight = sight.contains({number, index});
        const double far = is_in_sight ? leave : enter;
        if (distance <= std::floor(far * far)) {
            sight.insert({number, index});
        } else {
            sight.erase({number, index});
        }
    }

    InterestSettings settings_;
    std::set<std::pair<double, bool>> edges_;  // with what they are of, that there ever were
};

/// Grid and scan, told the same.
class RandomWorld {
  public:
    RandomWorld(std::uint64_t seed, const InterestSettings& settings)
        : random_(seed), axes_(settings.axes), grid_(settings), scan_(settings) {
        size_ = random_.percent(50) ? 400.0f : 60.0f;
    }

    void play(int updates) {
        for (int i = 0; i < updates; ++i) {
            for (std::uint32_t n = random_.below(12); n > 0; --n) {
                act();
            }
            grid_.grid.update();
            scan_.update();
            compare();
        }
    }

  private:
    [[nodiscard]] float coordinate() {
        return (static_cast<float>(random_.below(2'001)) / 1'000.0f - 1.0f) * size_;
    }
    [[nodiscard]] Vector3 anywhere() {
        Vector3 place;
        place.x = coordinate();
        place.y = coordinate();
        place.z = coordinate();
        return place;
    }
    [[nodiscard]] Vector3 near(const Vector3& from) {
        const float step = random_.percent(50) ? 0.5f : 6.0f;
        const auto moved = [&](float value) {
            return value + (static_cast<float>(random_.below(201)) / 100.0f - 1.0f) * step;
        };
        Vector3 place;
        place.x = moved(from.x);
        place.y = moved(from.y);
        place.z = moved(from.z);
        return place;
    }
    void act() {
        const std::uint32_t what = random_.below(20);
        const std::uint32_t index = random_.below(60);
        const std::uint32_t number = random_.below(6);
        const bool has_object = scan_.objects.contains(index);
        const auto viewer = viewers_.find(number);
        if (what < 3 || !has_object) {
            set_object(index);
        } else if (what == 3) {
            remove_object(index);
        } else if (what < 12) {
            Scan::Object& object = scan_.objects.at(index);
            object.location = what < 11 ? near(object.location) : anywhere();
            grid_.grid.set_location(ObjectIndex{index}, object.location);
        } else if (what == 12 && viewer != viewers_.end()) {
            grid_.grid.remove_viewer(viewer->second);
            forget_viewer(number);
        } else if (what == 13 && viewer != viewers_.end()) {
            set_radius(number);
        } else if (viewer != viewers_.end()) {
            Scan::Viewer& seen = scan_.viewers.at(number);
            seen.location = what < 18 ? near(seen.location) : anywhere();
            grid_.grid.set_viewer(viewer->second, seen.location);
        } else {
            const Vector3 place = anywhere();
            viewers_[number] = grid_.add_viewer(place);
            scan_.viewers[number] = {place, static_cast<double>(grid_.settings.view_radius), {}};
            if (random_.percent(50)) {
                set_radius(number);
            }
        }
    }
    void set_radius(std::uint32_t number) {
        const double radius = random_.percent(20) ? 1'000 : random_.below(120);
        grid_.grid.set_view_radius(viewers_.at(number), radius);
        scan_.viewers.at(number).radius = radius;
    }
    void set_object(std::uint32_t index) {
        const double distances[] = {0, 0, 5, 30, 31.5, 50, 200};
        const double distance = random_.pick(distances);
        Scan::Object object{anywhere(), distance, std::nullopt};
        if (scan_.objects.contains(index)) {
            const Scan::Object& before = scan_.objects.at(index);
            object.location = before.location;
            if ((before.cull_distance == 0) != (distance == 0)) {
                forget_sight_of(index);
            } else if (scan_.edge_of(before) == scan_.edge_of(object)) {
                object.cell = before.cell;
            }
        }
        scan_.objects[index] = object;
        scan_.note_edge(object);
        if (distance == 0) {
            grid_.grid.add_object(ObjectIndex{index}, object.location);
        } else {
            grid_.grid.add_object(ObjectIndex{index}, distance, object.location);
        }
    }
    void remove_object(std::uint32_t index) {
        grid_.grid.remove_object(ObjectIndex{index});
        scan_.objects.erase(index);
        forget_sight_of(index);
    }
    void forget_sight_of(std::uint32_t index) {
        std::erase_if(scan_.sight, [&](const auto& pair) { return pair.second == index; });
    }
    void forget_viewer(std::uint32_t number) {
        viewers_.erase(number);
        scan_.viewers.erase(number);
        std::erase_if(scan_.sight, [&](const auto& pair) { return pair.first == number; });
    }
    void compare() {
        for (const auto& [number, viewer] : viewers_) {
            for (std::uint32_t index = 0; index < 60; ++index) {
                const bool is_seen = grid_.grid.sees(viewer, ObjectIndex{index});
                if (is_seen != scan_.sight.contains({number, index})) {
                    FAIL("viewer " << number << ", object " << index << " is seen: " << is_seen);
                }
                if (scan_.objects.contains(index)) {
                    check_distance(scan_.viewers.at(number), scan_.objects.at(index), is_seen);
                }
            }
        }
    }
    /// As the header promises it.
    void check_distance(const Scan::Viewer& viewer, const Scan::Object& object, bool is_seen) {
        const double distance = apart(viewer.location, object.location, axes_);
        const double hysteresis = static_cast<double>(grid_.settings.hysteresis);
        double sure = object.cull_distance * 11 / 12;
        double never = object.cull_distance * (1 + hysteresis) * 13 / 12;
        if (object.cull_distance == 0) {
            const double cell = static_cast<double>(grid_.settings.cell_size);
            const double diagonal = std::sqrt(axes_ == InterestAxes::XYZ ? 3.0 : 2.0) * cell;
            sure = viewer.radius - 2 * hysteresis * diagonal;
            never = viewer.radius + (2 + 2 * hysteresis) * diagonal;
        }
        if (distance < sure && !is_seen) {
            FAIL("not seen from " << distance << ", less than " << sure);
        }
        if (distance > never && is_seen) {
            FAIL("seen from " << distance << ", more than " << never);
        }
    }

    SeededRandom random_;
    InterestAxes axes_;
    Grid grid_;
    Scan scan_;
    std::map<std::uint32_t, std::uint32_t> viewers_;
    float size_ = 0;
};

}  // namespace

TEST_CASE("Interest grid: at random, what is seen is what a scan of all pairs says",
          "[netdriver][interest][random]") {
    for (const std::uint64_t seed : seed_range(1, 60)) {
        INFO("REPLAYOUT_SEED=" << seed);
        InterestSettings settings;
        settings.axes = InterestAxes(seed % 3);
        settings.cell_size = seed % 2 == 0 ? 12.5f : 40.0f;
        settings.view_radius = 30.0f;
        settings.hysteresis = seed % 5 == 0 ? 0.5f : 0.125f;
        RandomWorld world(seed, settings);
        world.play(150);
    }
}

TEST_CASE("Interest grid: what goes to and fro over a border is neither lost nor looked at",
          "[netdriver][interest]") {
    InterestSettings settings;
    settings.cell_size = 10;
    settings.view_radius = 20;
    Grid world(settings);
    const std::uint32_t viewer = world.add_viewer({5, 5, 5});
    const ObjectIndex by_cell{0};  // the last cell that is seen ends at 40
    const ObjectIndex by_distance{1};
    world.grid.add_object(by_cell, {39.5f, 5, 5});
    world.grid.add_object(by_distance, 32.0, {36.5f, 5, 5});
    world.grid.update();
    REQUIRE(world.grid.sees(viewer, by_cell));
    REQUIRE(world.grid.sees(viewer, by_distance));
    const std::uint64_t examined = world.counters.pairs_examined;
    for (int i = 0; i < 100; ++i) {
        const float x = i % 2 == 0 ? 0.9f : -0.9f;
        world.grid.set_location(by_cell, {40 + x, 5, 5});
        world.grid.set_location(by_distance, {36.5f + 2 * x, 5, 5});
        world.grid.update();
        CHECK(world.grid.sees(viewer, by_cell));
        CHECK(world.grid.sees(viewer, by_distance));
    }
    // The cell that it stays in is not left; by its distance it is looked at, as it moves by more
    // than a cell of those.
    CHECK(world.counters.pairs_examined - examined <= 100);
    world.grid.set_location(by_cell, {42, 5, 5});
    world.grid.set_location(by_distance, {45, 5, 5});
    world.grid.update();
    CHECK_FALSE(world.grid.sees(viewer, by_cell));
    CHECK_FALSE(world.grid.sees(viewer, by_distance));
}

TEST_CASE("Interest grid: two that move together keep each other in sight",
          "[netdriver][interest]") {
    Grid world;
    const std::uint32_t viewer = world.add_viewer({0, 0, 0});
    world.grid.add_object(ObjectIndex{0}, 100.0, {90, 0, 0});
    world.grid.update();
    world.grid.set_location(ObjectIndex{0}, {105, 0, 0});  // where sight holds, and does not begin
    world.grid.update();
    REQUIRE(world.grid.sees(viewer, ObjectIndex{0}));
    for (int i = 1; i < 50; ++i) {
        const float along = static_cast<float>(i) * 40.0f;
        world.grid.set_location(ObjectIndex{0}, {105, along, 0});
        world.grid.set_viewer(viewer, {0, along, 0});
        world.grid.update();
        CHECK(world.grid.sees(viewer, ObjectIndex{0}));
    }
    world.grid.remove_object(ObjectIndex{0});
    world.grid.add_object(ObjectIndex{0}, 100.0, {105, 49 * 40.0f, 0});
    world.grid.update();
    CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{0}));
}

TEST_CASE("Interest grid: with another cull distance an object stays in sight while it is not left",
          "[netdriver][interest]") {
    InterestSettings settings;
    settings.hysteresis = 0.5f;
    for (const double distance : {63.0, 65.0, 200.0, 58.0}) {  // of 80, or 1.5 times as much
        INFO("cull distance " << distance);
        Grid world(settings);
        const std::uint32_t viewer = world.add_viewer({0, 0, 0});
        const std::uint32_t other = world.add_viewer({100, 0, 0});
        world.grid.add_object(ObjectIndex{0}, 60.0, {50, 0, 0});
        world.grid.update();
        world.grid.set_location(ObjectIndex{0}, {80, 0, 0});
        world.grid.set_viewer(other, {165, 0, 0});
        world.grid.update();
        REQUIRE(world.grid.sees(viewer, ObjectIndex{0}));
        REQUIRE(world.grid.sees(other, ObjectIndex{0}));
        world.grid.add_object(ObjectIndex{0}, distance, {80, 0, 0});
        world.grid.update();
        CHECK(world.grid.sees(viewer, ObjectIndex{0}));
        world.grid.add_object(ObjectIndex{0}, 20.0, {80, 0, 0});
        world.grid.update();
        CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{0}));
        CHECK_FALSE(world.grid.sees(other, ObjectIndex{0}));
    }
}

TEST_CASE("Interest grid: what goes between two cull distances is out of everybody's sight",
          "[netdriver][interest]") {
    Grid world;
    const std::uint32_t viewer = world.add_viewer({0, 0, 0});
    world.grid.add_object(ObjectIndex{0}, 1'000.0, {900, 0, 0});
    world.grid.update();
    REQUIRE(world.grid.sees(viewer, ObjectIndex{0}));
    world.grid.add_object(ObjectIndex{0}, 5.0, {900, 0, 0});
    world.grid.remove_object(ObjectIndex{0});
    CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{0}));
    world.grid.update();
    CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{0}));
}

TEST_CASE("Interest grid: a radius without end sees from corner to corner",
          "[netdriver][interest]") {
    constexpr float far = 2e10f;  // beyond 2^28 cells
    for (const InterestAxes axes : {InterestAxes::XY, InterestAxes::XYZ}) {
        InterestSettings settings;
        settings.axes = axes;
        Grid world(settings);
        const std::uint32_t viewer = world.add_viewer({-far, -far, -far});
        world.grid.add_object(ObjectIndex{0}, {far, far, far});
        world.grid.set_view_radius(viewer, 1e30);
        world.grid.update();
        CHECK(world.grid.sees(viewer, ObjectIndex{0}));
        world.grid.set_view_radius(viewer, 1e10);
        world.grid.update();
        CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{0}));
    }
}

TEST_CASE("Interest grid: one that sees far makes nothing dearer for others",
          "[netdriver][interest]") {
    std::vector<std::uint64_t> examined;
    for (const double radius : {100.0, 5e8, 0.0}) {
        InterestSettings settings;
        settings.axes = InterestAxes::XY;
        Grid world(settings);
        constexpr std::uint32_t object_count = 20'000;
        for (std::uint32_t i = 0; i < object_count; ++i) {
            world.grid.add_object(ObjectIndex{i}, {static_cast<float>(i % 200) * 1'000.0f,
                                                   static_cast<float>(i / 200) * 1'000.0f, 0});
        }
        std::vector<std::uint32_t> viewers;
        for (std::uint32_t i = 0; i < 8; ++i) {
            viewers.push_back(world.add_viewer({static_cast<float>(i) * 20'000.0f, 0, 0}));
        }
        // Far from all that there is, so that it sees nothing.
        world.grid.set_view_radius(world.add_viewer({-1e9f, 0, 0}), radius);
        world.grid.update();
        const std::uint64_t before = world.counters.pairs_examined;
        for (int step = 1; step <= 20; ++step) {
            for (std::uint32_t i = 0; i < 8; ++i) {  // over the border of a cell
                world.grid.set_viewer(viewers[i], {static_cast<float>(i) * 20'000.0f,
                                                   static_cast<float>(step) * 60.0f, 0});
            }
            world.grid.update();
        }
        examined.push_back(world.counters.pairs_examined - before);
    }
    CHECK(examined[0] > 0);
    CHECK(examined[1] == examined[0]);
    CHECK(examined[2] == examined[0]);
}

TEST_CASE("Interest grid: whatever coordinates are, there is a cell for them",
          "[netdriver][interest]") {
    constexpr float huge = std::numeric_limits<float>::max();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    const float coordinates[] = {0,         -0.0f,   huge,   -huge,       infinity,
                                 -infinity, nothing, 1e-45f, 16777216.0f, -2.7e9f};
    for (const InterestAxes axes : {InterestAxes::XY, InterestAxes::XZ, InterestAxes::XYZ}) {
        InterestSettings settings;
        settings.axes = axes;
        settings.view_radius = 1e30f;
        settings.cell_size = 0.001f;
        Grid world(settings);
        const std::uint32_t viewer = world.add_viewer({nothing, infinity, -huge});
        std::uint32_t index = 0;
        for (const double distance : {0.001, 150.0, 1e30}) {
            for (const float x : coordinates) {
                for (const float y : coordinates) {
                    world.grid.add_object(ObjectIndex{index++}, distance, {x, y, -x});
                    world.grid.add_object(ObjectIndex{index++}, {y, x, y});
                }
            }
        }
        world.grid.update();
        CHECK(
            world.grid.sees(viewer, ObjectIndex{1}));  // the radius is wider than all that there is
        for (const float x : coordinates) {
            world.grid.set_viewer(viewer, {x, x, x});
            for (std::uint32_t i = 0; i < index; ++i) {
                world.grid.set_location(ObjectIndex{i}, {x, -x, x});
            }
            world.grid.update();
        }
        for (std::uint32_t i = 0; i < index; ++i) {
            world.grid.remove_object(ObjectIndex{i});
            CHECK_FALSE(world.grid.sees(viewer, ObjectIndex{i}));
        }
    }
}

TEST_CASE("Interest grid: work is by what moved, not by what there is", "[netdriver][interest]") {
    constexpr std::uint32_t object_count = 50'000;
    constexpr std::uint32_t viewer_count = 100;
    constexpr std::uint32_t moving = object_count / 100;
    SeededRandom random(run_seed());
    InterestSettings settings;
    settings.axes = InterestAxes::XY;
    Grid world(settings);
    std::vector<Vector3> places;
    const auto anywhere = [&] {
        Vector3 place;
        place.x = static_cast<float>(random.below(5'000));
        place.y = static_cast<float>(random.below(5'000));
        return place;
    };
    for (std::uint32_t i = 0; i < object_count; ++i) {
        places.push_back(anywhere());
        world.grid.add_object(ObjectIndex{i}, 150.0, places.back());
    }
    std::vector<std::uint32_t> viewers;
    std::vector<Vector3> eyes;
    for (std::uint32_t i = 0; i < viewer_count; ++i) {
        eyes.push_back(anywhere());
        viewers.push_back(world.add_viewer(eyes.back()));
    }
    world.grid.update();
    const InterestCounters before = world.counters;
    world.grid.update();
    CHECK(world.counters.pairs_examined == before.pairs_examined);  // nothing moved
    constexpr std::uint32_t ticks = 20;
    for (std::uint32_t tick = 0; tick < ticks; ++tick) {
        for (std::uint32_t i = 0; i < object_count; ++i) {
            if (i % 100 == tick) {
                places[i].x += 10.0f;
            }
            world.grid.set_location(ObjectIndex{i}, places[i]);  // all say where they are
        }
        world.grid.update();
    }
    const std::uint64_t crossed = world.counters.cells_crossed - before.cells_crossed;
    const std::uint64_t examined = world.counters.pairs_examined - before.pairs_examined;
    CHECK(crossed == std::uint64_t{moving} * ticks);
    // Of the world's 25 square kilometres the blocks in which its viewers are have 2.4 or less,
    // and those in which its objects are half of one.
    CHECK(examined < crossed * viewer_count / 4);
    CHECK(examined < std::uint64_t{object_count} * viewer_count / 20);  // all ticks together
    // A viewer that moves looks at what is around it.
    const std::uint64_t so_far = world.counters.pairs_examined;
    world.grid.set_viewer(viewers[0], {eyes[0].x + 10, eyes[0].y, 0});
    world.grid.update();
    CHECK(world.counters.pairs_examined > so_far);
    CHECK(world.counters.pairs_examined - so_far < object_count / 25);
}

TEST_CASE("Interest grid: what moves takes no memory", "[netdriver][interest]") {
    CountingResource resource;
    SeededRandom random(run_seed());
    Grid world({}, &resource);
    const auto anywhere = [&] {
        Vector3 place;
        place.x = static_cast<float>(random.below(3'000));
        place.y = static_cast<float>(random.below(3'000));
        return place;
    };
    std::vector<std::uint32_t> viewers;
    for (std::uint32_t i = 0; i < 10; ++i) {
        viewers.push_back(world.add_viewer(anywhere()));
    }
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        if (i % 2 == 0) {
            world.grid.add_object(ObjectIndex{i}, i % 3 == 0 ? 40.0 : 300.0, anywhere());
        } else {
            world.grid.add_object(ObjectIndex{i}, anywhere());
        }
    }
    world.grid.set_view_radius(viewers[0], 900);  // a radius that nobody else has
    world.grid.update();
    const std::uint64_t taken = resource.allocation_count();
    for (int tick = 0; tick < 200; ++tick) {
        world.grid.set_view_radius(viewers[0], tick % 2 == 0 ? 100 : 900);
        for (std::uint32_t i = 0; i < 1'000; i += 7) {
            world.grid.set_location(ObjectIndex{i}, anywhere());
        }
        for (const std::uint32_t viewer : viewers) {
            world.grid.set_viewer(viewer, anywhere());
        }
        world.grid.update();
    }
    CHECK(resource.allocation_count() == taken);
}

}  // namespace replayout::test
