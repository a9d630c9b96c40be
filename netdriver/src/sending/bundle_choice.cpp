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
        const WordPositions& objects = run.positions_in(word);
        std::uint64_t left = objects.bits & regular.word(word);
        for (; left != 0; left &= left - 1) {
            const BlockPosition position = run.position_of(objects, left & (~left + 1));
            if (position.is_any()) {
                blocks_[position.bundle()] |= position.bit();
                touched_.set(position.bundle());
            }
        }
    });
}

}  // namespace replayout
