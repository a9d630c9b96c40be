// SPDX-License-Identifier: MIT
//
// How tables by object index grow: by an eighth. Doubling would be a little faster, and half of
// what all connections x objects hold would be room that nobody uses.
#pragma once

#include <cstddef>

namespace replayout {

/// Makes `table` at least `count` long, the new elements being `value`.
template <typename Table, typename T>
void grow_table(Table& table, std::size_t count, const T& value) {
    if (count > table.capacity()) {
        table.reserve(count + count / 8);
    }
    if (count > table.size()) {
        table.resize(count, value);
    }
}

}  // namespace replayout
