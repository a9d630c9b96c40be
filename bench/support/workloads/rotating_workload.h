// SPDX-License-Identifier: MIT
//
// Objects of one class (rotating_class.h), of which a rotating share changes in each tick, each of
// them in the same way.
#pragma once

#include "support/workloads/rotating_class.h"
#include "support/workloads/workload.h"

#include <replayout/changelist_history.h>
#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

template <typename Object>
class RotatingWorkload : public Workload {
  public:
    explicit RotatingWorkload(const RotatingClass<Object>& rotating)
        : class_(rotating), layout_(rotating.declare), objects_(rotating.object_count) {
        REPLAYOUT_ASSERT(class_.object_count > 0);
        REPLAYOUT_ASSERT(class_.object_count % class_.period_ticks == 0);
    }

    [[nodiscard]] const std::string& error() const noexcept final { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept final { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept final { return class_.object_count; }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept final {
        return &objects_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept final {
        return (ChangelistHistory::count_max + 2) * class_.period_ticks;
    }
    Changes advance(std::uint32_t connection_count) override {
        const std::uint32_t count = class_.object_count / class_.period_ticks;
        const auto first = static_cast<std::uint32_t>(tick_ % class_.period_ticks) * count;
        changed_.clear();
        for (std::uint32_t i = first; i < first + count; ++i) {
            class_.change(objects_[i], i, tick_ / class_.period_ticks);
            changed_.push_back(i);
        }
        ++tick_;
        return owed_to_all(count, std::uint64_t{count} * class_.values, connection_count);
    }

    [[nodiscard]] std::span<const Object> objects() const noexcept { return objects_; }
    /// In the last tick.
    [[nodiscard]] std::span<const std::uint32_t> changed() const noexcept { return changed_; }

  private:
    RotatingClass<Object> class_;
    ClassLayout layout_;
    std::vector<Object> objects_;
    std::vector<std::uint32_t> changed_;
    std::uint64_t tick_ = 0;
};

}  // namespace replayout::bench
