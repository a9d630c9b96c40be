// SPDX-License-Identifier: MIT
#include "support/workloads/walker_workload.h"

#include <replayout/changelist_history.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/type_builder.h>

namespace replayout::bench {

namespace {

constexpr float place_width = 4;     // and height
constexpr float viewer_step = 0.8f;  // in a tick: 24 a second

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

/// The coordinate of place number `place` in a row, or of row number `place`.
[[nodiscard]] constexpr float home(std::uint32_t place) noexcept {
    return static_cast<float>(place) * place_width;
}

}  // namespace

WalkerWorkload::WalkerWorkload(bool are_viewers_walking, const WalkerPlane& plane)
    : layout_(declare_walker),
      plane_(plane),
      walkers_(plane.place_count()),
      are_viewers_walking_(are_viewers_walking) {
    for (std::uint32_t i = 0; i < walkers_.size(); ++i) {
        walkers_[i] = {home(i % plane_.row_length), home(i / plane_.row_length), 0};
    }
    properties_ = layout_.parents(names);
}

void WalkerWorkload::introduce(NetDriver& driver, std::span<const NetObjectId> ids,
                               std::span<const PeerId>) {
    for (std::uint32_t i = 0; i < walkers_.size(); ++i) {
        driver.interest().set_relevancy(ids[i], NetRelevancy::Grid);
        driver.interest().set_location(ids[i], place_of(walkers_[i]));
    }
}

void WalkerWorkload::welcome(NetDriver& driver, PeerId peer) {
    viewers_.push_back(peer);
    look(driver, viewers_.size() - 1);
}

Changes WalkerWorkload::advance(std::uint32_t) {
    const auto turn = static_cast<std::uint32_t>(tick_ / turn_ticks);
    first_ = static_cast<std::uint32_t>(tick_ % turn_ticks);
    ++tick_;
    const float step = turn % 4 < 2 ? 4.0f : -4.0f;
    for (std::uint32_t i = first_; i < walkers_.size(); i += turn_ticks) {
        walkers_[i].x += step;
        walkers_[i].y -= step;
        walkers_[i].yaw = static_cast<float>(turn);
    }
    Changes changes;
    changes.objects = walkers_.size() / turn_ticks;
    changes.values = changes.objects * names.size();
    return changes;
}

void WalkerWorkload::mark(NetDriver& driver, std::span<const NetObjectId> ids) {
    for (std::size_t i = 0; i < viewers_.size() && are_viewers_walking_; ++i) {
        look(driver, i);
    }
    for (std::uint32_t i = first_; i < walkers_.size(); i += turn_ticks) {
        driver.interest().set_location(ids[i], place_of(walkers_[i]));
        for (const ParentIndex property : properties_) {
            driver.mark_property_dirty(ids[i], property);
        }
    }
}

void WalkerWorkload::look(NetDriver& driver, std::size_t viewer) {
    const auto column = static_cast<float>(viewer % 10);
    const auto row = static_cast<float>(viewer / 10 % 10);
    const std::uint64_t phase = (tick_ + 37 * viewer) % (2 * way_ticks());
    const std::uint64_t steps = phase < way_ticks() ? phase : 2 * way_ticks() - phase;
    const float way =
        (static_cast<float>(steps) - static_cast<float>(way_ticks()) / 2) * viewer_step;
    const float x = (0.3f + 0.04f * (column + 0.5f)) * home(plane_.row_length) + way;
    const float y = (0.3f + 0.04f * (row + 0.5f)) * home(plane_.row_count);
    driver.interest().set_viewer(viewers_[viewer], {x, y, 0});
}

Vector3 WalkerWorkload::place_of(const Walker& walker) noexcept {
    return {walker.x, walker.y, 0};
}

std::uint32_t WalkerWorkload::ticks_until_warm() const noexcept {
    return (ChangelistHistory::count_max + 2) * turn_ticks;
}

}  // namespace replayout::bench
