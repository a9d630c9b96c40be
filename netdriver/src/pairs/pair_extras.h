// SPDX-License-Identifier: MIT
//
// The extras of the pairs of one connection. Most pairs have none, which a bit tells without a look
// at the list. Where the extra of a pair stands in the list is counted from the bits, not searched.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "pair_extra.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

class PairExtras {
  public:
    explicit PairExtras(MemoryResource* resource)
        : present_(resource),
          counts_before_(Allocator<std::uint32_t>(resource)),
          extras_(Allocator<std::pair<ObjectIndex, PairExtra>>(resource)) {}

    [[nodiscard]] bool contains(ObjectIndex index) const noexcept { return present_.test(index); }
    /// Null if the pair has none. O(1).
    [[nodiscard]] PairExtra* find(ObjectIndex index) noexcept {
        return present_.test(index) ? &extras_.nth(number_of(index))->second : nullptr;
    }
    [[nodiscard]] const PairExtra* find(ObjectIndex index) const noexcept {
        return present_.test(index) ? &extras_.nth(number_of(index))->second : nullptr;
    }
    /// Requires that the pair has none. What it returns is valid until another one is added.
    PairExtra& add(ObjectIndex index, PairExtra&& extra);
    /// Requires that the pair has one.
    void erase(ObjectIndex index) noexcept;

  private:
    /// Requires that the pair has one.
    [[nodiscard]] std::size_t number_of(ObjectIndex index) const noexcept {
        const std::size_t word = BitRow::word_of(index);
        const std::uint64_t before = present_.word(word) & (BitRow::mask_of(index) - 1);
        // Where few pairs have one there is none before it.
        const std::size_t number = counts_before_[word] + (before == 0 ? 0u : count_bits(before));
        REPLAYOUT_ASSERT(extras_.nth(number)->first == index);
        return number;
    }

    BitRow present_;                          // the pairs that have one
    Vector<std::uint32_t> counts_before_;     // by word of present_: how many in those before
    FlatMap<ObjectIndex, PairExtra> extras_;  // by object index
};

}  // namespace replayout
