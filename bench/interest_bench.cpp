// SPDX-License-Identifier: MIT
//
// Finding out who sees what: 50,000 objects and 100 viewers in 25 square kilometres, of which one
// per cent goes to another cell in a tick while all viewers walk. Beside it stands what it is to
// beat: the distances of all pairs, once.
#include "interest_grid.h"

#include "support/measurement.h"

#include <cstdint>
#include <list>
#include <memory_resource>
#include <random>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t object_count = 50'000;
constexpr std::uint32_t viewer_count = 100;
constexpr float edge = 5'000;
constexpr float cull_distance = 150;

class Field {
  public:
    explicit Field(InterestAxes axes)
        : axes_(axes), grid_(settings(axes), counters, memory(), memory()) {
        for (std::uint32_t i = 0; i < object_count; ++i) {
            objects.push_back(anywhere());
            grid_.add_object(ObjectIndex{i}, static_cast<double>(cull_distance), objects.back());
        }
        for (std::uint32_t i = 0; i < viewer_count; ++i) {
            viewers.push_back(anywhere());
            rows_.emplace_back(memory());
            numbers_.push_back(grid_.add_viewer(rows_.back()));
            grid_.set_viewer(numbers_.back(), viewers.back());
        }
        grid_.update();
    }

    void say_where_objects_are() {
        for (std::uint32_t i = 0; i < object_count; ++i) {
            grid_.set_location(ObjectIndex{i}, objects[i]);
        }
    }
    void tick() {
        for (std::uint32_t i = tick_++ % 100; i < object_count; i += 100) {
            objects[i].x += objects[i].x < edge ? 5.0f : -edge;
            grid_.set_location(ObjectIndex{i}, objects[i]);
        }
        for (std::uint32_t i = 0; i < viewer_count; ++i) {
            viewers[i].x += viewers[i].x < edge ? 0.2f : -edge;  // 6 metres a second, at 30 Hz
            grid_.set_viewer(numbers_[i], viewers[i]);
        }
        grid_.update();
    }

    /// By the distances of all pairs: who is surely near enough is seen, who is surely not is not.
    /// In between it is the grid's to say (interest.h).
    [[nodiscard]] bool is_right() const {
        const float sure = cull_distance * 11 / 12;
        const float never = cull_distance * 1.125f * 13 / 12;
        for (std::uint32_t viewer = 0; viewer < viewer_count; ++viewer) {
            for (std::uint32_t i = 0; i < object_count; ++i) {
                const float squared = distance_squared(viewers[viewer], objects[i]);
                const bool is_seen = grid_.sees(numbers_[viewer], ObjectIndex{i});
                if (is_seen ? squared > never * never : squared < sure * sure) {
                    return false;
                }
            }
        }
        return true;
    }

    InterestCounters counters;
    std::vector<Vector3> objects;
    std::vector<Vector3> viewers;

  private:
    [[nodiscard]] float distance_squared(const Vector3& viewer,
                                         const Vector3& object) const noexcept {
        const float x = viewer.x - object.x;
        const float y = viewer.y - object.y;
        const float z = axes_ == InterestAxes::XYZ ? viewer.z - object.z : 0;
        return x * x + y * y + z * z;
    }
    [[nodiscard]] static InterestSettings settings(InterestAxes axes) {
        InterestSettings result;
        result.axes = axes;
        return result;
    }
    [[nodiscard]] static MemoryResource* memory() { return std::pmr::get_default_resource(); }
    [[nodiscard]] float coordinate(float range) {
        return static_cast<float>(random_() % 1'000'000) / 1e6f * range;
    }
    [[nodiscard]] Vector3 anywhere() {
        Vector3 place;
        place.x = coordinate(edge);
        place.y = coordinate(edge);
        place.z = coordinate(100);
        return place;
    }

    std::mt19937_64 random_{1};
    InterestAxes axes_;
    InterestGrid grid_;
    std::list<MarkedRow> rows_;
    std::vector<std::uint32_t> numbers_;
    std::uint32_t tick_ = 0;
};

void interest_tick(benchmark::State& state, InterestAxes axes) {
    Field field(axes);
    const InterestCounters before = field.counters;
    for (auto _ : state) {
        field.tick();
    }
    if (!field.is_right()) {
        state.SkipWithError("who is near must be seen, and nobody who is far");
        return;
    }
    state.counters["crossed"] = per_iteration(field.counters.cells_crossed - before.cells_crossed);
    state.counters["examined"] =
        per_iteration(field.counters.pairs_examined - before.pairs_examined);
}
BENCHMARK_CAPTURE(interest_tick, flat, InterestAxes::XY)->Name("Interest/Flat");
BENCHMARK_CAPTURE(interest_tick, space, InterestAxes::XYZ)->Name("Interest/Space");

void interest_unmoved(benchmark::State& state) {
    Field field(InterestAxes::XY);
    const InterestCounters before = field.counters;
    for (auto _ : state) {
        field.say_where_objects_are();
    }
    if (field.counters.cells_crossed != before.cells_crossed) {
        state.SkipWithError("nothing moved, so nothing may be in another cell");
    }
}
BENCHMARK(interest_unmoved)->Name("Interest/SetLocationOfAll");

void scan_all_pairs(benchmark::State& state) {
    const Field field(InterestAxes::XY);
    for (auto _ : state) {
        std::uint32_t seen = 0;
        for (const Vector3& viewer : field.viewers) {
            for (const Vector3& object : field.objects) {
                const float x = viewer.x - object.x;
                const float y = viewer.y - object.y;
                seen += x * x + y * y <= cull_distance * cull_distance ? 1u : 0u;
            }
        }
        benchmark::DoNotOptimize(seen);
    }
}
BENCHMARK(scan_all_pairs)->Name("Interest/ScanOfAllPairs");

}  // namespace

}  // namespace replayout::bench
