// SPDX-License-Identifier: MIT
//
// The objects of a row (row_class.h), and what changes of them from tick to tick.
#pragma once

#include "savings/row_class.h"
#include "support/workload.h"

#include <replayout/changelist_history.h>
#include <replayout/reflection/diagnostics.h>

#include <cstdint>
#include <span>
#include <vector>

namespace replayout::bench {

template <typename Object>
class RowWorkload final : public Workload {
  public:
    explicit RowWorkload(const RowClass<Object>& row)
        : row_(row), layout_(row.declare), objects_(row.object_count) {
        REPLAYOUT_ASSERT(row.object_count % row.period_ticks == 0);
    }

    [[nodiscard]] const std::string& error() const noexcept override { return layout_.error(); }
    [[nodiscard]] const RepLayout& layout() const noexcept override { return layout_.layout(); }
    [[nodiscard]] std::uint32_t object_count() const noexcept override { return row_.object_count; }
    [[nodiscard]] void* object_memory(std::uint32_t object) noexcept override {
        return &objects_[object];
    }
    [[nodiscard]] std::uint32_t ticks_until_warm() const noexcept override {
        return (ChangelistHistory::count_max + 2) * row_.period_ticks;
    }
    /// Of values it counts one for an object.
    Changes advance(std::uint32_t connection_count) override {
        const std::uint32_t count = row_.object_count / row_.period_ticks;
        const auto first = static_cast<std::uint32_t>(tick_ % row_.period_ticks) * count;
        changed_.clear();
        for (std::uint32_t i = first; i < first + count; ++i) {
            row_.change(objects_[i], i, tick_ / row_.period_ticks);
            changed_.push_back(i);
        }
        ++tick_;
        return owed_to_all(count, count, connection_count);
    }

    [[nodiscard]] std::span<const Object> objects() const noexcept { return objects_; }
    /// In the last tick.
    [[nodiscard]] std::span<const std::uint32_t> changed() const noexcept { return changed_; }

  private:
    RowClass<Object> row_;
    ClassLayout layout_;
    std::vector<Object> objects_;
    std::vector<std::uint32_t> changed_;
    std::uint64_t tick_ = 0;
};

}  // namespace replayout::bench
