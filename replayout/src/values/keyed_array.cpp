// SPDX-License-Identifier: MIT
#include <replayout/changelist_state.h>
#include <replayout/keyed_array.h>

#include "native_value.h"

namespace replayout {

std::uint32_t ShadowKeyedArray::find(std::uint64_t key) const noexcept {
    const auto found = std::lower_bound(
        by_key.begin(), by_key.end(), key,
        [&](std::uint32_t index, std::uint64_t wanted) { return items[index].key < wanted; });
    return found == by_key.end() || items[*found].key != key ? count() : *found;
}

std::uint32_t ShadowKeyedArray::first_from(std::uint64_t place) const noexcept {
    const auto found = std::lower_bound(by_key.begin(), by_key.end(), place,
                                        [&](std::uint32_t index, std::uint64_t wanted) {
                                            return place_of_key(items[index].key) < wanted;
                                        });
    return static_cast<std::uint32_t>(found - by_key.begin());
}

bool ShadowKeyedArray::owes_deletion(const OwedVersions& position, RepHandle handle,
                                     const Deletion& deletion) const noexcept {
    return deletion.version > joined_version(position) &&
           deletion.version > restart_version(position) &&
           (position.at(handle, 0).owes(deletion.version) ||
            position.at(handle, place_of_key(deletion.key)).owes(deletion.version));
}

std::uint64_t ShadowKeyedArray::removed_since(Version version) const noexcept {
    if (version >= forgotten_through) {
        return static_cast<std::uint64_t>(
            std::count_if(deletions.begin(), deletions.end(),
                          [&](const Deletion& deletion) { return deletion.version > version; }));
    }
    std::uint64_t before = 0;
    for (const RemovalCount& entry : removal_counts) {
        before = entry.version <= version ? entry.count : before;
    }
    return removed_count - before;
}

void ShadowKeyedArray::count_removals(Version version, std::uint32_t count,
                                      std::uint32_t count_max) {
    // Only whether it is more than some arrays matters: an eighth of one is fine enough, and so
    // many entries reach back as far as is asked.
    constexpr std::uint32_t steps_per_array = 8;
    constexpr std::size_t entry_count_max = steps_per_array * full_set_parts_factor;
    removed_count += count;
    const std::uint64_t last = removal_counts.empty() ? 0 : removal_counts.back().count;
    if (removed_count - last < std::max(count_max / steps_per_array, 1u)) {
        return;
    }
    if (removal_counts.empty()) {
        removal_counts.reserve(entry_count_max);
    } else if (removal_counts.size() == entry_count_max) {
        removal_counts.erase(removal_counts.begin());
    }
    removal_counts.push_back({version, removed_count});
}

bool must_restart(const ShadowKeyedArray& array, const OwedVersions& position,
                  std::uint32_t count_max) noexcept {
    return array.receiver_count_max(position) > std::uint64_t{count_max} * full_set_parts_factor;
}

std::uint64_t key_of_element(const ArrayKey& key, const std::byte* element) noexcept {
    return load_integer(element + key.offset, key.size);
}

void set_key_of_element(const ArrayKey& key, std::byte* element, std::uint64_t value) noexcept {
    store_integer(element + key.offset, value, key.size);
}

bool owes_keyed_array(const RepLayout& layout, CmdIndex array_cmd, const ShadowKeyedArray& array,
                      const OwedVersions& position) noexcept {
    const RepHandle handle{layout.cmd(array_cmd).relative_handle};
    bool is_owed = array.is_forgotten(position, position.sent_version);
    position.for_each_lost(handle, [&](const LostPart& part) {
        is_owed = is_owed || array.is_forgotten(position, part);
    });
    if (is_owed || std::any_of(array.deletions.begin(), array.deletions.end(),
                               [&](const ShadowKeyedArray::Deletion& deletion) {
                                   return array.owes_deletion(position, handle, deletion);
                               })) {
        return true;
    }
    for (std::uint32_t i = 0; i < array.count(); ++i) {
        const OwedAt owed = array.owed_at(position, handle, array.items[i].key);
        if (owed.owes(array.items[i].rank_version) ||
            owes_element(layout, array_cmd, array.elements, i, owed)) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout
