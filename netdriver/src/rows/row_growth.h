// SPDX-License-Identifier: MIT
//
// How rows by object index grow: by an eighth. Doubling would be a little faster, and half of what
// all connections x objects hold would be room that nobody uses.
#pragma once

#include <cstddef>

namespace replayout {

/// Makes `row` at least `count` long, the new places being `value`.
template <typename Row, typename T>
void grow_row(Row& row, std::size_t count, const T& value) {
    if (count > row.capacity()) {
        row.reserve(count + count / 8);
    }
    if (count > row.size()) {
        row.resize(count, value);
    }
}

}  // namespace replayout
