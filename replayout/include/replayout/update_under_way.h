// SPDX-License-Identifier: MIT
//
// The update of one object that is being received: one block, or several parts. What it changed is
// remembered until it ends, and where its last part ended. Part of ReceiveScratch.
#pragma once

#include <replayout/keyed_changes.h>
#include <replayout/old_values.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

class ReceivingRepState;

namespace detail {

/// What a block brings of one leaf: of an array that may be cut, which elements, by place or by
/// key.
struct LeafSpan {
    std::uint32_t handle = 0;
    bool may_go_on = false;  ///< an array that goes on where a part before it ended
    bool has_elements = false;
    std::uint64_t array_count = 0;  ///< elements that the array has; keyed: 0
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    void add(std::uint64_t element) noexcept {
        first = has_elements ? first : element;
        last = element;
        has_elements = true;
    }
    /// It can come after `before` in one update.
    [[nodiscard]] bool follows(const LeafSpan& before) const noexcept {
        if (handle != before.handle) {
            return handle > before.handle;
        }
        return may_go_on && has_elements && array_count == before.array_count &&
               (!before.has_elements || first > before.last);
    }
};

class UpdateUnderWay {
  public:
    /// Old values lie in `values`, lists in `resource`.
    UpdateUnderWay(std::pmr::memory_resource& values, MemoryResource* resource)
        : old_values_(values, resource), keyed_changes_(resource) {}

    [[nodiscard]] bool has_begun() const noexcept { return layout_ != nullptr; }
    /// None is under way, or that of this state is.
    [[nodiscard]] bool is_free_for(const RepLayout& layout,
                                   const ReceivingRepState& state) const noexcept {
        return !has_begun() || (layout_ == &layout && state_ == &state);
    }

    void begin(const RepLayout& layout, const ReceivingRepState& state) noexcept {
        layout_ = &layout;
        state_ = &state;
    }
    /// A part ends with `last_span`, and more follow. The end of the update will take `held_steps`
    /// for what the part brought.
    void hold(const LeafSpan& last_span, std::size_t held_steps) {
        keyed_changes_.end_part();
        old_values_.end_part();
        last_span_ = last_span;
        held_steps_ += held_steps;
    }
    /// Forgets the update.
    void drop() noexcept {
        old_values_.clear();
        keyed_changes_.clear();
        held_steps_ = 0;
        layout_ = nullptr;
        state_ = nullptr;
    }

    /// Array steps of a DecodeBudget.
    static constexpr std::size_t end_steps_max = 100'000;
    /// Whether the update is to end before a block that puts off so much more to its end.
    [[nodiscard]] bool must_end_before(std::size_t steps) const noexcept {
        return held_steps_ > 0 && held_steps_ + steps > end_steps_max;
    }
    /// Where the last part ended.
    [[nodiscard]] const LeafSpan& last_span() const noexcept { return last_span_; }

    [[nodiscard]] OldValues& old_values() noexcept { return old_values_; }
    [[nodiscard]] KeyedChanges& keyed_changes() noexcept { return keyed_changes_; }

  private:
    OldValues old_values_;
    KeyedChanges keyed_changes_;
    std::size_t held_steps_ = 0;  // what earlier parts put off to the end
    const ReceivingRepState* state_ = nullptr;
    const RepLayout* layout_ = nullptr;  // null: no update is under way
    LeafSpan last_span_;
};

}  // namespace detail

}  // namespace replayout
