// SPDX-License-Identifier: MIT
//
// The values that properties with a notify had before the update of an object began: notifies are
// given them, and are not called where nothing changed in the end. Part of ReceiveScratch.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::detail {

struct OldValue {
    std::uint32_t parent_index;  ///< of a C array, that of its first element
    bool is_changed;
    std::byte* value;
    /// The layout may be gone before an update that nobody ended.
    void (*destroy)(void* value);
    std::uint32_t size;   ///< of one
    std::uint32_t count;  ///< more than one: of a C array
    std::uint32_t alignment;
};

/// Destroys the value and gives its memory back to `memory`.
void release(std::pmr::memory_resource& memory, const OldValue& value) noexcept;

class OldValues {
  public:
    /// The values lie in `memory`, which must outlive them; the list of them in `resource`.
    OldValues(std::pmr::memory_resource& memory, MemoryResource* resource)
        : memory_(memory), values_(Allocator<OldValue>(resource)) {}
    ~OldValues() { clear(); }
    OldValues(const OldValues&) = delete;
    OldValues& operator=(const OldValues&) = delete;

    /// A leaf of that property of `object` is about to be written: copies the property, if it has a
    /// notify and there is no copy of it. A C array is copied whole. The properties of one block
    /// come in the order of its handles.
    void before_write(const RepLayout& layout, ParentIndex parent, const std::byte* object) {
        const RepParentCmd& cmd = layout.parents()[parent.value];
        const std::uint32_t first = first_parent(layout, parent);
        if (cmd.property->notify && find(first) == nullptr) {
            keep(cmd, first, object);
        }
    }
    /// The value did change.
    void mark_changed(const RepLayout& layout, ParentIndex parent) noexcept {
        if (OldValue* value = find(first_parent(layout, parent))) {
            value->is_changed = true;
        }
    }

    /// By parent, so that any can be found.
    void sort();
    /// More parts of the update follow.
    void end_part() noexcept { earlier_count_ = values_.size(); }
    /// Earlier parts of the update brought some of the values.
    [[nodiscard]] bool has_earlier() const noexcept { return earlier_count_ > 0; }

    [[nodiscard]] std::span<const OldValue> values() const noexcept {
        return {values_.data(), values_.size()};
    }
    /// Moves the values to the end of `others`, which own them from then on.
    void move_to(Vector<OldValue>& others);
    void clear() noexcept;

  private:
    /// A C array is one value to its notify: that of its first element's parent.
    [[nodiscard]] static std::uint32_t first_parent(const RepLayout& layout,
                                                    ParentIndex parent) noexcept {
        return parent.value - layout.parents()[parent.value].array_index;
    }
    /// Null: there is none.
    [[nodiscard]] OldValue* find(std::uint32_t parent_index) noexcept {
        // Handles ascend within an update, and the leaves of a parent lie side by side: of what
        // blocks brought, only the last entry can be this parent's. Others are looked for when
        // references are bound, which sorts before.
        if (!values_.empty() && values_.back().parent_index == parent_index) {
            return &values_.back();
        }
        return find_sorted(parent_index);
    }
    [[nodiscard]] OldValue* find_sorted(std::uint32_t parent_index) noexcept;
    void keep(const RepParentCmd& parent, std::uint32_t parent_index, const std::byte* object);

    std::pmr::memory_resource& memory_;
    Vector<OldValue> values_;  // what earlier parts brought comes first
    std::size_t earlier_count_ = 0;
    std::size_t sorted_count_ = 0;  // of values_, from the first on: by parent
};

}  // namespace replayout::detail
