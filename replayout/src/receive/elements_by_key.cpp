// SPDX-License-Identifier: MIT
#include <replayout/elements_by_key.h>

#include <replayout/reflection/property.h>

#include "native_value.h"

#include <algorithm>

namespace replayout::detail {

void ElementsByKey::collect(const RepLayoutCmd& cmd, const std::byte* array) {
    const std::size_t count = cmd.property->array.count(array);
    const auto* elements = static_cast<const std::byte*>(cmd.property->array.data(array));
    const ArrayKey& key = cmd.property->array_key;
    elements_.resize(count);
    bool is_sorted = true;
    std::uint64_t last_key = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t this_key =
            load_integer(elements + i * std::size_t{cmd.element_size} + key.offset, key.size);
        is_sorted = is_sorted && this_key >= last_key;
        last_key = this_key;
        elements_[i] = {this_key, static_cast<std::uint32_t>(i)};
    }
    if (!is_sorted) {
        // By index where the game has given two elements one key: the first is it.
        std::sort(elements_.begin(), elements_.end(), [](const auto& left, const auto& right) {
            return left.key != right.key ? left.key < right.key : left.index < right.index;
        });
    }
}

void ElementsByKey::drop_doubles() {
    const auto is_double = [](const ElementByKey& left, const ElementByKey& right) {
        return left.key == right.key;
    };
    elements_.erase(std::unique(elements_.begin(), elements_.end(), is_double), elements_.end());
}

}  // namespace replayout::detail
