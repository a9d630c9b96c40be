// SPDX-License-Identifier: MIT
#include "bundle_run.h"

#include <algorithm>

namespace replayout {

BlockPosition BundleRun::find(ObjectIndex index) const noexcept {
    const std::uint32_t word = BitRow::word_of(index);
    const std::uint64_t bit = BitRow::mask_of(index);
    return word < word_positions_.size() && (word_positions_[word].bits & bit) != 0
               ? position_of(word_positions_[word], bit)
               : BlockPosition();
}

void BundleRun::find_positions(const FlushChanges& changes) {
    word_positions_.assign(changes.words.back() + std::size_t{1}, WordPositions());
    std::uint32_t count = 0;
    for (const std::uint32_t word : changes.words) {
        word_positions_[word] = {changes.objects.word(word), count};
        count += static_cast<std::uint32_t>(std::popcount(changes.objects.word(word)));
    }
    positions_.assign(count, BlockPosition());
    for (std::uint32_t bundle = 0; bundle < bundles_.size(); ++bundle) {
        for (std::uint32_t i = bundles_[bundle].begin; i < bundles_[bundle].end; ++i) {
            const ObjectIndex index = blocks_[i].index;
            positions_[position_number(word_positions_[BitRow::word_of(index)],
                                       BitRow::mask_of(index))] =
                BlockPosition(bundle, i - bundles_[bundle].begin);
        }
    }
}

void BundleRun::find_held() noexcept {
    has_held_ = true;
    for (Bundle& bundle : bundles_) {
        for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) {
            if (blocks_[i].needs_held_version) {
                bundle.held_blocks |= std::uint64_t{1} << (i - bundle.begin);
            }
        }
    }
}

void BundleRun::keep_only(std::span<const std::uint64_t> held) {
    REPLAYOUT_ASSERT(held.size() == bundles_.size());
    std::size_t count = 0;
    for (const std::uint64_t blocks : held) {
        count += static_cast<std::size_t>(std::popcount(blocks));
    }
    if (count > blocks_.size() / 4) {
        return;  // it is not worth a copy
    }
    Vector<BundleBlock> blocks(blocks_.get_allocator());
    blocks.reserve(count);
    Vector<KeptBlocks> kept(kept_.get_allocator());
    kept.reserve(held.size());
    for (std::uint32_t bundle = 0; bundle < held.size(); ++bundle) {
        kept.push_back({held[bundle], static_cast<std::uint32_t>(blocks.size())});
        for_each_block(bundle, held[bundle],
                       [&](std::uint64_t, const BundleBlock& block) { blocks.push_back(block); });
    }
    blocks_.swap(blocks);
    kept_.swap(kept);
    Vector<WordPositions>(word_positions_.get_allocator()).swap(word_positions_);
    Vector<BlockPosition>(positions_.get_allocator()).swap(positions_);
}

namespace {

/// Bit i: the i-th object of `all`, which is not empty, is in `chosen`. Loops over the smaller
/// part.
[[nodiscard]] std::uint64_t ranks_of(std::uint64_t all, std::uint64_t chosen) noexcept {
    const auto count = static_cast<std::uint32_t>(std::popcount(all));
    const bool is_by_others = static_cast<std::uint32_t>(std::popcount(chosen)) * 2 > count;
    std::uint64_t ranks = 0;
    for (std::uint64_t left = is_by_others ? all & ~chosen : chosen; left != 0; left &= left - 1) {
        const std::uint64_t below = (left & (~left + 1)) - 1;
        ranks |= std::uint64_t{1} << static_cast<std::uint32_t>(std::popcount(all & below));
    }
    return is_by_others ? ranks ^ (~std::uint64_t{0} >> (64 - count)) : ranks;
}

}  // namespace

std::uint64_t BundleRun::blocks_in(const Bundle& bundle, const BitRow& objects) const noexcept {
    std::uint64_t blocks = 0;
    std::uint32_t first = 0;  // the block of the word's first object, where blocks are in order
    for (const ObjectBits& each : words_of(bundle)) {
        const std::uint64_t chosen = each.bits & objects.word(each.word);
        if (has_positions()) {
            BitRow::for_each_in_word(each.word, chosen,
                                     [&](ObjectIndex index) { blocks |= find(index).bit(); });
            continue;
        }
        blocks |= ranks_of(each.bits, chosen) << first;
        first += static_cast<std::uint32_t>(std::popcount(each.bits));
    }
    return blocks;
}

std::uint64_t SentBundle::kept_among(const BitRow& objects) const noexcept {
    std::uint64_t chosen = 0;
    run->for_each_block(bundle, blocks, [&](std::uint64_t bit, const BundleBlock& block) {
        chosen |= objects.test(block.index) ? bit : 0;
    });
    return chosen;
}

bool SentBundle::carries(ObjectIndex index) const noexcept {
    if (!run->keeps_all()) {
        bool is_any = false;
        for_each_block([&](const BundleBlock& block) { is_any = is_any || block.index == index; });
        return is_any;
    }
    if (run->has_positions()) {
        const BlockPosition position = run->find(index);
        return position.is_any() && position.bundle() == bundle && (blocks & position.bit()) != 0;
    }
    const Bundle& all = run->bundles()[bundle];
    const std::span<const BundleBlock> among = run->blocks().subspan(all.begin, all.block_count());
    const auto found = std::lower_bound(
        among.begin(), among.end(), index,
        [](const BundleBlock& block, ObjectIndex sought) { return block.index < sought; });
    return found != among.end() && found->index == index &&
           ((blocks >> (found - among.begin())) & 1) != 0;
}

}  // namespace replayout
