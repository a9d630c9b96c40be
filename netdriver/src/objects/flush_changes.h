// SPDX-License-Identifier: MIT
//
// What changed in the flush that goes on: found by the compare, once, and read by every connection
// when its turn comes.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"

#include <cstdint>

namespace replayout {

struct FlushChanges {
    explicit FlushChanges(MemoryResource* resource)
        : objects(resource), words(Allocator<std::uint32_t>(resource)), word_row(resource) {}

    /// All objects were compared.
    void finish() {
        words.clear();
        words.reserve(objects.word_count());
        word_row.grow(static_cast<std::uint32_t>(objects.word_count()));
        for (std::size_t i = 0; i < objects.word_count(); ++i) {
            if (objects.word(i) != 0) {
                words.push_back(static_cast<std::uint32_t>(i));
                word_row.set(static_cast<std::uint32_t>(i));
            }
        }
    }
    [[nodiscard]] bool has_any() const noexcept { return !words.empty(); }
    /// The flush is over.
    void clear() noexcept {
        for (const std::uint32_t word : words) {
            objects.set_word(word, 0);
            word_row.set_word(word >> 6, 0);
        }
        words.clear();
    }

    /// Those whose version grew in this flush, and those that are new.
    BitRow objects;
    /// Words of it in which there are any: told when all were compared. Each connection looks at
    /// these, and at no others.
    Vector<std::uint32_t> words;
    /// The same as a row, so that a connection finds out at once which of them concern it.
    NumberBitRow word_row;
    /// Of the flush that began last; none has 0.
    std::uint64_t flush = 0;
};

}  // namespace replayout
