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
        count += count_bits(changes.objects.word(word));
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
        count += count_bits(blocks);
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

/// Bits begin <= i < end.
[[nodiscard]] constexpr std::uint64_t bits_between(std::uint32_t begin,
                                                   std::uint32_t end) noexcept {
    return (end == 64 ? 0 : ~std::uint64_t{0} << end) ^ (~std::uint64_t{0} << begin);
}

/// Bit i: the i-th object of `all` is in `some`.
[[nodiscard]] std::uint64_t ranks_of(std::uint64_t all, std::uint64_t some) noexcept {
    std::uint64_t ranks = 0;
    for (std::uint64_t left = some; left != 0; left &= left - 1) {
        const std::uint64_t below = (left & (~left + 1)) - 1;
        ranks |= std::uint64_t{1} << count_bits(all & below);
    }
    return ranks;
}

}  // namespace

std::uint64_t BundleRun::blocks_in(const Bundle& bundle, const BitRow& objects) const noexcept {
    const std::span<const ObjectBits> words = words_of(bundle);
    std::uint64_t blocks = 0;
    if (has_positions()) {
        for (const ObjectBits& each : words) {
            BitRow::for_each_in_word(each.word, each.bits & objects.word(each.word),
                                     [&](ObjectIndex index) { blocks |= find(index).bit(); });
        }
        return blocks;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        const ObjectBits& each = words[i];
        const std::uint64_t chosen = each.bits & objects.word(each.word);
        const std::uint64_t others = each.bits ^ chosen;
        const std::uint32_t end = i + 1 < words.size() ? words[i + 1].first : bundle.block_count();
        const std::uint64_t all = bits_between(each.first, end);
        if (others == 0) {
            blocks |= all;  // most often
        } else if (count_bits(chosen) * 2 > end - each.first) {
            blocks |= all ^ ranks_of(each.bits, others) << each.first;
        } else {
            blocks |= ranks_of(each.bits, chosen) << each.first;
        }
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
