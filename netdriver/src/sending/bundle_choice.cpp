// SPDX-License-Identifier: MIT
#include "bundle_choice.h"

#include "connection_pairs.h"

namespace replayout {

void BundleChoice::find(const BundleRun& run, const FlushChanges& changes,
                        const ConnectionPairs& pairs) {
    const auto bundle_count = static_cast<std::uint32_t>(run.bundles().size());
    blocks_.note(bundle_count);
    blocks_.assign(bundle_count, 0);
    touched_.clear_all();
    touched_.grow(bundle_count);
    const BitRow& regular = pairs.regular();
    pairs.for_each_stirring_word(changes, [&](std::uint32_t word) {
        const PlacedObjects& placed = run.placed(word);
        std::uint64_t left = placed.bits & regular.word(word);
        for (; left != 0; left &= left - 1) {
            const BlockPlace place = run.place_of(placed, left & (~left + 1));
            if (place.is_any()) {
                blocks_[place.bundle()] |= place.bit();
                touched_.set(place.bundle());
            }
        }
    });
}

}  // namespace replayout
