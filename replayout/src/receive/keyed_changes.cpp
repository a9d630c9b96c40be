// SPDX-License-Identifier: MIT
#include <replayout/keyed_changes.h>

#include <algorithm>
#include <utility>

namespace replayout::detail {

const KeyedChange* KeyedChanges::find_earlier(CmdIndex array, std::uint64_t key) const noexcept {
    const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(earlier_count_);
    const auto found = std::lower_bound(changes_.begin(), end, std::pair(array, key),
                                        [](const KeyedChange& entry, const auto& wanted) {
                                            return std::pair(entry.array, entry.key) < wanted;
                                        });
    return found != end && found->array == array && found->key == key ? &*found : nullptr;
}

bool KeyedChanges::has_earlier(CmdIndex array) const noexcept {
    const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(earlier_count_);
    return std::binary_search(
        changes_.begin(), end, KeyedChange{array, ElementChange::Removed, 0},
        [](const KeyedChange& left, const KeyedChange& right) { return left.array < right.array; });
}

std::size_t KeyedChanges::count_earlier_removed(CmdIndex array) const noexcept {
    const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(earlier_count_);
    auto entry = std::lower_bound(
        changes_.begin(), end, array,
        [](const KeyedChange& change, CmdIndex wanted) { return change.array < wanted; });
    std::size_t count = 0;
    for (; entry != end && entry->array == array; ++entry) {
        count += entry->change == ElementChange::Removed ? 1u : 0u;
    }
    return count;
}

std::size_t KeyedChanges::sort() {
    const auto is_before = [](const KeyedChange& left, const KeyedChange& right) {
        if (left.array.value != right.array.value) {
            return left.array.value < right.array.value;
        }
        return left.key != right.key ? left.key < right.key : left.change < right.change;
    };
    const auto fresh = changes_.begin() + static_cast<std::ptrdiff_t>(earlier_count_);
    const auto end = changes_.end();
    if (fresh == end) {
        return changes_.size();
    }
    if (!std::is_sorted(fresh, end, is_before)) {
        std::sort(fresh, end, is_before);
    }
    // Parts ascend, so mostly they stand after the others. Where a part took elements away, or the
    // game doubled some, the next one of the array may begin before those.
    const KeyedChange first{fresh->array, ElementChange::Removed, fresh->key};
    const auto begin = std::lower_bound(changes_.begin(), fresh, first, is_before);
    if (begin != fresh) {
        std::sort(begin, end, is_before);
    }
    const auto begin_index = static_cast<std::size_t>(begin - changes_.begin());
    changes_.erase(std::unique(begin, end,
                               [](const auto& left, const auto& right) {
                                   return left.array == right.array && left.key == right.key;
                               }),
                   end);
    return begin_index;
}

void KeyedChanges::end_part() {
    sort();
    earlier_count_ = changes_.size();
}

void KeyedChanges::move_down(std::size_t begin, std::size_t end, std::size_t to) noexcept {
    std::copy(changes_.begin() + static_cast<std::ptrdiff_t>(begin),
              changes_.begin() + static_cast<std::ptrdiff_t>(end),
              changes_.begin() + static_cast<std::ptrdiff_t>(to));
}

}  // namespace replayout::detail
