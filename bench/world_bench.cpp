// SPDX-License-Identifier: MIT
//
// A server's whole tick in a large world: where nothing changes, and where little does, each client
// sees what is near, and may be sent so many bytes a second.
#include "pawn_workload.h"
#include "rotating_workload.h"
#include "session_measure.h"

#include <replayout/changelist_history.h>
#include <replayout/reflection/type_builder.h>

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t connection_count = 100;
constexpr std::int64_t few_objects = 1'000;
constexpr std::int64_t many_objects = 50'000;
// In an idle tick: a look at an object takes several times as long.
constexpr double object_ns_max = 0.2;

/// Pawns of which none moves. They do not sleep: each of them may, at any time.
class StillPawns final : public Workload {
  public:
    explicit StillPawns(std::uint32_t count) : pawns_(count, true, 1) {}

    [[nodiscard]] const std::string& error() const noexcept override { return pawns_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return pawns_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override {
        return pawns_.object_count();
    }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return pawns_.object_memory(object);
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override { return 0; }
    [[nodiscard]] bool is_push_based() const noexcept override { return true; }
    Changes advance(std::uint32_t) override { return {}; }

  private:
    PawnWorkload pawns_;
};

void BM_IdleWorld(benchmark::State& state) {
    StillPawns workload(static_cast<std::uint32_t>(state.range(0)));
    ServerSessionSettings settings;
    settings.connections = connection_count;
    settings.config.initial_opens_per_flush_max = 65'536;
    settings.crowded_ticks = 600;  // packets that only keep a connection alive are rare
    ServerSession session(settings, workload);
    const NetStats before = session.stats();
    run_session(state, session);
    const ReplicationCounters& after = session.stats().replication;
    if (after.block_bytes_sent != before.replication.block_bytes_sent ||
        after.objects_compared != before.replication.objects_compared) {
        state.SkipWithError("of a world in which nothing changes nothing may be compared or sent");
    }
    // The floor: where there are few objects. More of them cost a bit each, in rows of bits.
    static double few_objects_us = 0;
    const double median_us = state.counters["median_us"];
    if (state.range(0) == few_objects) {
        few_objects_us = median_us;
        return;
    }
    const double us = median_us - few_objects_us;
    if (us * 1e3 > object_ns_max * static_cast<double>(state.range(0) - few_objects)) {
        state.SkipWithError("an idle tick must not look at each object");
    }
}

BENCHMARK(BM_IdleWorld)
    ->ArgName("objects")
    ->Arg(few_objects)
    ->Arg(many_objects)
    ->UseManualTime()
    ->Iterations(300)
    ->Unit(benchmark::kMicrosecond);

constexpr std::uint32_t walker_count = 50'000;
constexpr std::uint32_t walking_count = walker_count / 100;
constexpr float world_width = 1'000;
constexpr float world_height = 800;
constexpr float view_radius = 125;
constexpr float viewer_step = 0.8f;  // in a tick: 24 a second
constexpr std::uint32_t cap_bytes_per_second = 64'000;
constexpr double ticks_per_second = 1'000.0 / 33;

struct Walker {
    float x = 0;
    float y = 0;
    float yaw = 0;
};

[[nodiscard]] Result<const Type*> declare_walker(TypeRegistry& registry) {
    return class_builder<Walker>(registry, "Walker")
        .property<&Walker::x>()
        .push_based()
        .property<&Walker::y>()
        .push_based()
        .property<&Walker::yaw>()
        .push_based()
        .build();
}

/// In rows over the whole of a plane; those whose turn it is, one in a hundred of any place, go a
/// step, to and fro, and a few of them into another cell.
class WalkerWorkload final : public Workload {
  public:
    explicit WalkerWorkload(bool are_viewers_walking)
        : layout_(declare_walker),
          walkers_(walker_count),
          are_viewers_walking_(are_viewers_walking) {
        for (std::uint32_t i = 0; i < walker_count; ++i) {
            walkers_[i] = {home(i % row_length), home(i / row_length), 0};
        }
        if (error().empty()) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                properties_[i] = layout().find_parent(names[i]).value();
            }
        }
    }

    [[nodiscard]] const std::string& error() const noexcept override { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override { return walker_count; }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return &walkers_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override {
        return (ChangelistHistory::count_max + 2) * turn_ticks;
    }
    [[nodiscard]] bool is_push_based() const noexcept override { return true; }
    [[nodiscard]] bool is_exact() const noexcept override { return false; }

    void introduce(NetDriver& driver, std::span<const NetObjectId> ids,
                   std::span<const PeerId>) override {
        for (std::uint32_t i = 0; i < walker_count; ++i) {
            driver.interest().set_relevancy(ids[i], NetRelevancy::Grid);
            driver.interest().set_location(ids[i], place_of(walkers_[i]));
        }
    }
    void welcome(NetDriver& driver, PeerId peer) override {
        viewers_.push_back(peer);
        look(driver, viewers_.size() - 1);
    }

    Changes advance(std::uint32_t) override {
        const auto turn = static_cast<std::uint32_t>(tick_ / turn_ticks);
        first_ = static_cast<std::uint32_t>(tick_ % turn_ticks);
        ++tick_;
        const float step = turn % 4 < 2 ? 4.0f : -4.0f;
        for (std::uint32_t i = first_; i < walker_count; i += turn_ticks) {
            walkers_[i].x += step;
            walkers_[i].y -= step;
            walkers_[i].yaw = static_cast<float>(turn);
        }
        Changes changes;
        changes.objects = walking_count;
        changes.values = walking_count * names.size();
        return changes;
    }
    void mark(NetDriver& driver, std::span<const NetObjectId> ids) override {
        for (std::size_t i = 0; i < viewers_.size() && are_viewers_walking_; ++i) {
            look(driver, i);
        }
        for (std::uint32_t i = first_; i < walker_count; i += turn_ticks) {
            driver.interest().set_location(ids[i], place_of(walkers_[i]));
            for (const ParentIndex property : properties_) {
                driver.mark_property_dirty(ids[i], property);
            }
        }
    }

  private:
    static constexpr std::array<std::string_view, 3> names = {"x", "y", "yaw"};
    static constexpr std::uint32_t row_length = 250;  // and 200 rows, as far from each other
    static constexpr std::uint64_t way_ticks = 400;
    static constexpr std::uint32_t turn_ticks = walker_count / walking_count;

    /// Viewers stand ten by ten in the middle of the plane, so that each sees as much as the next,
    /// and may walk to and fro, each at a moment of its own.
    void look(NetDriver& driver, std::size_t viewer) {
        const auto column = static_cast<float>(viewer % 10);
        const auto row = static_cast<float>(viewer / 10 % 10);
        const std::uint64_t phase = (tick_ + 37 * viewer) % (2 * way_ticks);
        const std::uint64_t steps = phase < way_ticks ? phase : 2 * way_ticks - phase;
        const float way = (static_cast<float>(steps) - way_ticks / 2.0f) * viewer_step;
        const float x = (0.3f + 0.04f * (column + 0.5f)) * world_width + way;
        const float y = (0.3f + 0.04f * (row + 0.5f)) * world_height;
        driver.interest().set_viewer(viewers_[viewer], {x, y, 0});
    }
    [[nodiscard]] static float home(std::uint32_t place) noexcept {
        return static_cast<float>(place) * world_width / row_length;
    }
    [[nodiscard]] static Vector3 place_of(const Walker& walker) noexcept {
        return {walker.x, walker.y, 0};
    }

    ClassLayout layout_;
    std::vector<Walker> walkers_;
    bool are_viewers_walking_;
    std::array<ParentIndex, names.size()> properties_{};
    std::vector<PeerId> viewers_;
    std::uint32_t first_ = 0;
    std::uint64_t tick_ = 0;
};

/// Of the arguments sharing and walking. The cap: 0 is none.
[[nodiscard]] ServerSession& walker_session(KeptSessions& sessions, const benchmark::State& state,
                                            std::uint32_t cap) {
    ServerSessionSettings settings;
    settings.connections = connection_count;
    settings.sharing = sharing_of(state.range(0));
    settings.config.bytes_per_second_max = cap;
    settings.crowded_ticks = 3 * walker_count / walking_count;  // each walks thrice
    settings.interest.axes = InterestAxes::XY;
    settings.interest.view_radius = view_radius;
    settings.interest.cell_size = view_radius / 2;
    return sessions.at({state.range(0), state.range(1)}, settings,
                       [&] { return std::make_unique<WalkerWorkload>(state.range(1) != 0); });
}

void BM_SeenWorld(benchmark::State& state) {
    static KeptSessions sessions;
    run_seen_session(state, walker_session(sessions, state, 0));
}

BENCHMARK(BM_SeenWorld)
    ->ArgNames({"sharing", "walking"})
    ->Args({0, 0})
    ->Args({3, 0})
    ->Args({0, 1})
    ->Args({3, 1})
    ->UseManualTime()
    ->Iterations(100)
    ->Unit(benchmark::kMicrosecond);

void BM_CappedWorld(benchmark::State& state) {
    static KeptSessions sessions;
    ServerSession& session = walker_session(sessions, state, cap_bytes_per_second);
    // Who stands sees as much change as there is room for; who walks, more.
    run_capped_session(state, session, cap_bytes_per_second / ticks_per_second,
                       state.range(1) != 0 ? 0.85 : 0);
}

BENCHMARK(BM_CappedWorld)
    ->ArgNames({"sharing", "walking"})
    ->Args({0, 0})
    ->Args({3, 0})
    ->Args({0, 1})
    ->Args({3, 1})
    ->UseManualTime()
    ->Iterations(100)
    ->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace replayout::bench
