// SPDX-License-Identifier: MIT
#include <replayout/receive_properties.h>

#include <replayout/keyed_array.h>

#include "native_value.h"

#include <algorithm>
#include <utility>

namespace replayout {

ReceiveScratch::ReceiveScratch(MemoryResource* resource)
    : values_(resource),
      handles_(resource),
      elements_(Allocator<ChangeMask>(resource)),
      text_(Allocator<std::byte>(resource)),
      guids_(Allocator<NetGUID>(resource)),
      struct_bits_(Allocator<std::uint32_t>(resource)),
      previous_values_(Allocator<PreviousValue>(resource)),
      keyed_changes_(Allocator<KeyedChange>(resource)),
      waiting_values_(Allocator<PreviousValue>(resource)),
      waiting_updates_(Allocator<WaitingUpdate>(resource)),
      places_(Allocator<KeyPlace>(resource)),
      named_keys_(Allocator<std::uint64_t>(resource)),
      gone_keys_(Allocator<std::uint64_t>(resource)),
      made_elements_(Allocator<KeyedElements::Element>(resource)),
      element_indices_(Allocator<std::uint32_t>(resource)),
      ranks_(Allocator<ElementRank>(resource)),
      moved_ranks_(Allocator<ElementRank>(resource)) {
    elements_.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements_.emplace_back(resource);
    }
}

ReceiveScratch::~ReceiveScratch() {
    drop_update();
    drop_waiting();
}

void ReceiveScratch::destroy(std::pmr::memory_resource& values,
                             const PreviousValue& entry) noexcept {
    for (std::uint32_t i = 0; i < entry.count; ++i) {
        entry.destroy(entry.value + std::size_t{i} * entry.size);
    }
    values.deallocate(entry.value, std::size_t{entry.count} * entry.size, entry.alignment);
}

void ReceiveScratch::drop_waiting() noexcept {
    for (const PreviousValue& entry : waiting_values_) {
        destroy(values_, entry);
    }
    waiting_values_.clear();
    waiting_updates_.clear();
}

void ReceiveScratch::drop_update() noexcept {
    for (const PreviousValue& entry : previous_values_) {
        destroy(values_, entry);
    }
    previous_values_.clear();
    keyed_changes_.clear();
    earlier_value_count_ = 0;
    sorted_value_count_ = 0;
    earlier_change_count_ = 0;
    held_steps_ = 0;
    updated_layout_ = nullptr;
    updated_state_ = nullptr;
}

bool ReceiveScratch::LeafSpan::follows(const LeafSpan& before) const noexcept {
    if (handle != before.handle) {
        return handle > before.handle;
    }
    return may_go_on && has_elements && array_count == before.array_count &&
           (!before.has_elements || first > before.last);
}

const ReceiveScratch::KeyedChange* ReceiveScratch::find_earlier_change(
    CmdIndex array, std::uint64_t key) const noexcept {
    const auto end = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    const auto found = std::lower_bound(keyed_changes_.begin(), end, std::pair(array, key),
                                        [](const KeyedChange& entry, const auto& wanted) {
                                            return std::pair(entry.array, entry.key) < wanted;
                                        });
    return found != end && found->array == array && found->key == key ? &*found : nullptr;
}

bool ReceiveScratch::has_earlier_change(CmdIndex array) const noexcept {
    const auto end = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    return std::binary_search(
        keyed_changes_.begin(), end, KeyedChange{array, ElementChange::Removed, 0},
        [](const KeyedChange& left, const KeyedChange& right) { return left.array < right.array; });
}

void ReceiveScratch::collect_places(const RepLayoutCmd& cmd, const std::byte* array) {
    const std::size_t count = cmd.property->array.count(array);
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(array));
    const ArrayKey& key = cmd.property->array_key;
    places_.resize(count);
    bool is_sorted = true;
    std::uint64_t last_key = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t this_key =
            load_integer(elements + i * std::size_t{cmd.element_size} + key.offset, key.size);
        is_sorted = is_sorted && this_key >= last_key;
        last_key = this_key;
        places_[i] = {this_key, static_cast<std::uint32_t>(i)};
    }
    if (!is_sorted) {
        // By index where the game has given two elements one key: the first is it.
        std::sort(places_.begin(), places_.end(), [](const auto& left, const auto& right) {
            return left.key != right.key ? left.key < right.key : left.index < right.index;
        });
    }
}

std::size_t ReceiveScratch::sort_keyed_changes() {
    const auto is_before = [](const KeyedChange& left, const KeyedChange& right) {
        if (left.array.value != right.array.value) {
            return left.array.value < right.array.value;
        }
        return left.key != right.key ? left.key < right.key : left.change < right.change;
    };
    const auto fresh = keyed_changes_.begin() + static_cast<std::ptrdiff_t>(earlier_change_count_);
    const auto end = keyed_changes_.end();
    if (fresh == end) {
        return keyed_changes_.size();
    }
    if (!std::is_sorted(fresh, end, is_before)) {
        std::sort(fresh, end, is_before);
    }
    // Parts ascend, so mostly they stand behind the others. Where a part took elements away, or the
    // game doubled some, the next one of the array may begin before those.
    const KeyedChange first{fresh->array, ElementChange::Removed, fresh->key};
    const auto begin = std::lower_bound(keyed_changes_.begin(), fresh, first, is_before);
    if (begin != fresh) {
        std::sort(begin, end, is_before);
    }
    const auto begin_index = static_cast<std::size_t>(begin - keyed_changes_.begin());
    keyed_changes_.erase(std::unique(begin, end,
                                     [](const auto& left, const auto& right) {
                                         return left.array == right.array && left.key == right.key;
                                     }),
                         end);
    return begin_index;
}

void ReceiveScratch::sort_previous_values() {
    if (sorted_value_count_ != previous_values_.size()) {
        std::sort(previous_values_.begin(), previous_values_.end(),
                  [](const auto& left, const auto& right) {
                      return left.parent_index < right.parent_index;
                  });
        sorted_value_count_ = previous_values_.size();
    }
}

void ReceiveScratch::end_part() {
    sort_keyed_changes();
    earlier_value_count_ = previous_values_.size();
    earlier_change_count_ = keyed_changes_.size();
}

}  // namespace replayout
