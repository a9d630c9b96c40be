// SPDX-License-Identifier: MIT
//
// When the memory of a value that became smaller is given back. An object lives long, and a value
// that is large once must not cost its memory from then on; a value whose size goes up and down a
// little must not cost an allocation each time.
#pragma once

#include <replayout/reflection/memory.h>

#include <cstddef>
#include <string_view>

namespace replayout {

/// Whether a value of `size` bytes should move to less memory than its `capacity`: that is more
/// than a kilobyte, below which it is not worth an allocation, and less than a quarter used, so
/// that a size which doubles and halves again stays where it is.
[[nodiscard]] constexpr bool has_spare_room(std::size_t size, std::size_t capacity) noexcept {
    constexpr std::size_t room_kept_max = 1024;
    return capacity > room_kept_max && size < capacity / 4;
}

/// Clears `values`. Gives their memory back if the next `count` elements need less than a quarter
/// of it.
template <typename T>
void clear_for(Vector<T>& values, std::size_t count) noexcept {
    values.clear();
    if (has_spare_room(count * sizeof(T), values.capacity() * sizeof(T))) {
        values.shrink_to_fit();
    }
}

/// `kept` becomes `text`, which does not lie in it.
inline void assign_text(PmrString& kept, std::string_view text) {
    if (has_spare_room(text.size(), kept.capacity())) {
        PmrString(text, kept.get_allocator()).swap(kept);
    } else {
        kept.assign(text);
    }
}

}  // namespace replayout
