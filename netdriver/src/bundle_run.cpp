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

std::uint64_t BundleRun::blocks_in(const Bundle& bundle, const BitRow& objects) const noexcept {
    std::uint64_t blocks = 0;
    std::uint32_t first = 0;  // block of the word at hand
    for (const ObjectBits& each : words_of(bundle)) {
        const auto count = static_cast<std::uint32_t>(std::popcount(each.bits));
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - count);
        const std::uint64_t in = each.bits & objects.word(each.word);
        const auto blocks_of = [&](std::uint64_t bits) {
            std::uint64_t result = 0;
            BitRow::for_each_in_word(each.word, bits, [&](std::uint32_t index) {
                const std::uint64_t below = (std::uint64_t{1} << (index & 63)) - 1;
                const auto before = static_cast<std::uint32_t>(std::popcount(each.bits & below));
                result |= has_places() ? find(index).bit() : std::uint64_t{1} << (first + before);
            });
            return result;
        };
        if (in == each.bits && !has_places()) {
            blocks |= all << first;
        } else if (!has_places() && std::popcount(in) * 2 > static_cast<int>(count)) {
            blocks |= (all << first) & ~blocks_of(each.bits & ~in);
        } else if (in != 0) {
            blocks |= blocks_of(in);
        }
        first += count;
    }
    return blocks;
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
