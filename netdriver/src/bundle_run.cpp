// SPDX-License-Identifier: MIT
#include "bundle_run.h"

#include <algorithm>

namespace replayout {

BlockPlace BundleRun::find(std::uint32_t index) const noexcept {
    const std::uint32_t word = index >> 6;
    const std::uint64_t bit = std::uint64_t{1} << (index & 63);
    return word < placed_.size() && (placed_[word].bits & bit) != 0 ? place_of(placed_[word], bit)
                                                                    : BlockPlace();
}

void BundleRun::find_places(const FlushChanges& changes) {
    placed_.assign(changes.words.back() + std::size_t{1}, PlacedObjects());
    std::uint32_t count = 0;
    for (const std::uint32_t word : changes.words) {
        placed_[word] = {changes.objects.word(word), count};
        count += static_cast<std::uint32_t>(std::popcount(changes.objects.word(word)));
    }
    places_.assign(count, BlockPlace());
    for (std::uint32_t bundle = 0; bundle < bundles_.size(); ++bundle) {
        for (std::uint32_t i = bundles_[bundle].begin; i < bundles_[bundle].end; ++i) {
            const std::uint32_t index = blocks_[i].index;
            const std::uint64_t bit = std::uint64_t{1} << (index & 63);
            places_[place_number(placed_[index >> 6], bit)] =
                BlockPlace(bundle, i - bundles_[bundle].begin);
        }
    }
}

bool SentBundle::carries(std::uint32_t index) const noexcept {
    if (run->has_places()) {
        const BlockPlace place = run->find(index);
        return place.is_any() && place.bundle() == bundle && (blocks & place.bit()) != 0;
    }
    const Bundle& all = run->bundles()[bundle];
    const std::span<const BundleBlock> among = run->blocks().subspan(all.begin, all.block_count());
    const auto found = std::lower_bound(
        among.begin(), among.end(), index,
        [](const BundleBlock& block, std::uint32_t sought) { return block.index < sought; });
    return found != among.end() && found->index == index &&
           ((blocks >> (found - among.begin())) & 1) != 0;
}

}  // namespace replayout
