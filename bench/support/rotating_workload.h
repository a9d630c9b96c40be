// SPDX-License-Identifier: MIT
//
// Objects of which a rotating fifth changes in each tick, each of them in the same way.
#pragma once

#include "support/class_layout.h"
#include "support/workload.h"

#include <replayout/changelist_history.h>
#include <replayout/reflection/diagnostics.h>

#include <vector>

namespace replayout::bench {

template <typename Object>
class RotatingWorkload : public Workload {
  public:
    static constexpr std::uint32_t period_ticks = 5;

    /// `count` is a multiple of 5. `values` of each object change, if nothing else is said.
    RotatingWorkload(ClassLayout::Declare declare, std::uint32_t count, std::uint32_t values)
        : layout_(declare), objects_(count), values_(values) {
        REPLAYOUT_ASSERT(count > 0 && count % period_ticks == 0);
    }

    [[nodiscard]] const std::string& error() const noexcept final { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept final { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept final {
        return static_cast<std::uint32_t>(objects_.size());
    }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept final {
        return &objects_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept final {
        return (ChangelistHistory::count_max + 2) * period_ticks;
    }

    Changes advance(std::uint32_t connection_count) final {
        const std::uint32_t count = object_count() / period_ticks;
        const std::uint32_t first = static_cast<std::uint32_t>(tick_ % period_ticks) * count;
        Changes changes;
        for (std::uint32_t i = first; i < first + count; ++i) {
            change(objects_[i], i, tick_ / period_ticks);
            changes += owed_for_one(connection_count);
        }
        ++tick_;
        return changes;
    }

  protected:
    /// Gives it other values than it ever had before, as far as that can be. `turn` grows by one
    /// from change to change.
    virtual void change(Object& object, std::uint32_t index, std::uint64_t turn) = 0;
    /// What a changed object makes the server owe.
    [[nodiscard]] virtual Changes owed_for_one(std::uint32_t connection_count) const noexcept {
        return owed_to_all(1, values_, connection_count);
    }

  private:
    ClassLayout layout_;
    std::vector<Object> objects_;
    std::uint32_t values_;
    std::uint64_t tick_ = 0;
};

}  // namespace replayout::bench
