// SPDX-License-Identifier: MIT
#include <replayout/changelist_state.h>
#include <replayout/keyed_array.h>

#include <algorithm>
#include <cstring>

namespace replayout {

std::uint32_t ShadowKeyedArray::find(std::uint64_t key) const noexcept {
    const auto found = std::lower_bound(
        by_key.begin(), by_key.end(), key,
        [&](std::uint32_t index, std::uint64_t wanted) { return items[index].key < wanted; });
    return found == by_key.end() || items[*found].key != key ? count() : *found;
}

bool ShadowKeyedArray::needs_full_set(const OwedVersions& position) const noexcept {
    if (joined_version(position) >= forgotten_through) {
        return false;
    }
    if (position.sent_version < forgotten_through ||
        (!position.lost.is_empty() && position.lost.after < forgotten_through)) {
        return true;
    }
    // What is forgotten was sent, and may not have arrived; what is new could then be too much.
    return position.held_version < forgotten_through &&
           std::any_of(items.begin(), items.end(),
                       [&](const Item& item) { return item.created > position.held_version; });
}

bool ShadowKeyedArray::may_overflow(const OwedVersions& position,
                                    std::uint32_t count_max) const noexcept {
    const Version known = std::max(position.held_version, joined_version(position));
    const auto gone_count =
        std::count_if(deletions.begin(), deletions.end(),
                      [&](const Deletion& deletion) { return deletion.version > known; });
    return count() + static_cast<std::size_t>(gone_count) > count_max;
}

namespace {

template <typename Integer>
[[nodiscard]] std::uint64_t load(const std::byte* bytes) noexcept {
    Integer value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
}

template <typename Integer>
void store(std::byte* bytes, std::uint64_t value) noexcept {
    const auto narrow = static_cast<Integer>(value);
    std::memcpy(bytes, &narrow, sizeof(narrow));
}

}  // namespace

std::uint64_t key_of_element(const ArrayKey& key, const std::byte* element) noexcept {
    const std::byte* bytes = element + key.offset;
    switch (key.size) {
        case 1:
            return load<std::uint8_t>(bytes);
        case 2:
            return load<std::uint16_t>(bytes);
        case 4:
            return load<std::uint32_t>(bytes);
        default:
            return load<std::uint64_t>(bytes);
    }
}

void set_key_of_element(const ArrayKey& key, std::byte* element, std::uint64_t value) noexcept {
    std::byte* bytes = element + key.offset;
    switch (key.size) {
        case 1:
            store<std::uint8_t>(bytes, value);
            return;
        case 2:
            store<std::uint16_t>(bytes, value);
            return;
        case 4:
            store<std::uint32_t>(bytes, value);
            return;
        default:
            store<std::uint64_t>(bytes, value);
            return;
    }
}

bool owes_keyed_array(const RepLayout& layout, CmdIndex array_cmd, const ShadowKeyedArray& array,
                      const OwedVersions& position) noexcept {
    const auto is_owed = [&](Version version) { return position.owes(version); };
    return array.needs_full_set(position) ||
           std::any_of(array.deletions.begin(), array.deletions.end(),
                       [&](const auto& entry) { return is_owed(entry.version); }) ||
           std::any_of(array.items.begin(), array.items.end(),
                       [&](const auto& item) { return is_owed(item.rank_version); }) ||
           owes_array(layout, array_cmd, array.elements, position);
}

}  // namespace replayout
