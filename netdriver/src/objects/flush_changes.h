// SPDX-License-Identifier: MIT
//
// What changed in the flush that goes on: found by the compare, once, and read by every connection
// when its turn comes.
#pragma once

#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "recent_objects.h"

#include <cstdint>
#include <utility>

namespace replayout {

struct FlushChanges {
    explicit FlushChanges(MemoryResource* resource)
        : objects(resource),
          words(Allocator<std::uint32_t>(resource)),
          word_row(resource),
          added(resource),
          recent(resource),
          young(resource) {}

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
    /// After finish(): finds out which objects are young. `opening_of(word)` returns the objects of
    /// that word of a row of which some client has not acknowledged the open.
    template <typename OpeningOf>
    void find_young(OpeningOf opening_of) {
        if (!recent.is_any()) {
            return;
        }
        young.grow(static_cast<std::uint32_t>(objects.word_count()) * 64);
        for (const std::uint32_t word : words) {
            if (const std::uint64_t among = objects.word(word) & recent.word(word); among != 0) {
                young.set_word(word, among & opening_of(word));
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
        if (recent.is_any()) {
            young.clear_all();
        }
        words.clear();
        if (std::exchange(is_any_added_, false)) {
            added.clear_all();
        }
        recent.end_flush(flush);
    }
    /// The object is new. All rows have room for it.
    void add(ObjectIndex index) {
        objects.set(index);
        added.insert(index);
        is_any_added_ = true;
        recent.add(index);
    }

    /// Those whose version grew in this flush, and those that are new.
    BitRow objects;
    /// Words of it in which there are any: told when all were compared. Each connection looks at
    /// these, and at no others.
    Vector<std::uint32_t> words;
    /// The same as a row, so that a connection finds out at once which of them concern it.
    NumberBitRow word_row;
    /// Objects that were added since the last flush: no client was shown one before.
    BitRow added;
    RecentObjects recent;
    /// Objects of `objects` that were added a short while ago, and of which some client has not
    /// acknowledged the open. In bundles a block of one has a length, so that it may go to clients
    /// that do not have the object yet.
    BitRow young;
    /// Of the flush that began last; none has 0.
    std::uint64_t flush = 0;

  private:
    bool is_any_added_ = false;
};

}  // namespace replayout
