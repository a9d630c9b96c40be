// SPDX-License-Identifier: MIT
#include "pair_extras.h"

#include "table_growth.h"

namespace replayout {

PairExtra& PairExtras::add(ObjectIndex index, PairExtra&& extra) {
    REPLAYOUT_ASSERT(!contains(index));
    present_.grow_to(index);
    grow_table(counts_before_, present_.word_count(), static_cast<std::uint32_t>(extras_.size()));
    PairExtra& added = extras_.emplace(index, std::move(extra)).first->second;
    present_.set(index);
    for (std::size_t word = BitRow::word_of(index) + 1; word < counts_before_.size(); ++word) {
        ++counts_before_[word];
    }
    return added;
}

void PairExtras::erase(ObjectIndex index) noexcept {
    extras_.erase(extras_.nth(number_of(index)));
    present_.clear(index);
    for (std::size_t word = BitRow::word_of(index) + 1; word < counts_before_.size(); ++word) {
        --counts_before_[word];
    }
}

}  // namespace replayout
