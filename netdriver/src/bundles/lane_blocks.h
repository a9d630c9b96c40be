// SPDX-License-Identifier: MIT
//
// Blocks that a lane lays down, one behind the other, and where they go once they are cut into
// bundles and packets, which depends on all blocks before them:
//
//     blocks    [3][4][5] ... [58][59][71] ...      of the lane, in its own bytes
//     alike     |-- 57 x 26 bytes --| ...           as long, each a neighbour of the one before
//     extents   |-- 40 --|-- 17 --| ...             what of them lies side by side in the run
//
// What is alike is cut at once, so a cut costs something for each packet and little for each block.
#pragma once

#include <replayout/reflection/memory.h>

#include "bundle_run.h"
#include "kept_room.h"
#include "laid_down_blocks.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace replayout {

/// So many blocks that follow each other, and what each of them has. All but the first have a head
/// of at most a byte.
struct AlikeBlocks {
    std::uint32_t count = 0;
    std::uint16_t body_bytes = 0;
    std::uint16_t property_count = 0;
};

/// Blocks that follow each other in the lane and in a packet of the run.
struct BlockExtent {
    std::uint32_t first = 0;  ///< of the lane's
    std::uint32_t count = 0;
    // Of the first of them, in the run:
    std::uint32_t byte_offset = 0;  ///< of its head
    std::uint16_t head_bytes = 0;
    bool has_new_head = false;  ///< else it stands behind the same block there
    ChannelIndex last_channel;  ///< before it
};

struct LaneBlocks {
    LaneBlocks(std::size_t room_bytes, MemoryResource* resource)
        : bytes(room_bytes, resource),
          blocks(resource),
          words(resource),
          alike(resource),
          extents(resource),
          loose(resource) {}

    void begin() noexcept {
        clear_all(blocks, words, alike, extents, loose);
        has_held = false;
        has_pivots = false;
        bytes.begin(nullptr);
    }
    /// Between flushes, see KeptRoom.
    void trim() {
        begin();
        trim_all(blocks, words, alike, extents, loose, bytes);
    }

    // For who lays down: as of a BundleRun.

    void add_block(const BundleBlock& block) {
        append(block);
        count(1, {BitRow::word_of(block.index), BitRow::mask_of(block.index)}, block.property_count,
              block.body_bytes, block.head_bytes <= 1);
    }
    void append(const BundleBlock& block) { blocks.push_back(block); }
    [[nodiscard]] BundleBlock* begin_blocks(std::uint32_t block_count) {
        const std::size_t begin = blocks.size();
        blocks.resize(begin + block_count);
        return blocks.data() + begin;
    }
    void end_blocks(std::uint32_t unused) { blocks.resize(blocks.size() - unused); }
    void count_appended(std::uint32_t block_count, const ObjectBits& objects,
                        std::size_t property_count, std::size_t body_bytes) {
        count(block_count, objects, property_count / block_count, body_bytes / block_count, true);
    }
    /// How many may be appended before they are counted.
    [[nodiscard]] static constexpr std::uint32_t append_max() noexcept {
        return BlockBytes::uncut_blocks_max;
    }

    BlockBytes bytes;
    // Where they lie is told in `bytes`.
    KeptVector<BundleBlock> blocks;
    KeptVector<ObjectBits> words;  ///< of which they are, in their order
    KeptVector<AlikeBlocks> alike;
    KeptVector<BlockExtent> extents;
    std::uint32_t run_begin = 0;    ///< where the first of them stands in the run
    KeptVector<ObjectIndex> loose;  ///< objects that must go alone
    bool has_held = false;          ///< the layout of some block needs the held version
    bool has_pivots = false;        ///< the version of some block is a pivot

  private:
    void count(std::uint32_t added, const ObjectBits& objects, std::size_t property_count,
               std::size_t body_bytes, bool is_neighbour) {
        // The bits of a word are in order, so one that lies before others begins another word.
        if (words.empty() || words.back().word != objects.word ||
            static_cast<int>(std::bit_width(words.back().bits)) > std::countr_zero(objects.bits)) {
            words.push_back({objects.word, 0});
        }
        words.back().bits |= objects.bits;
        if (alike.empty() || !is_neighbour || alike.back().body_bytes != body_bytes ||
            alike.back().property_count != property_count) {
            alike.push_back({0, static_cast<std::uint16_t>(body_bytes),
                             static_cast<std::uint16_t>(property_count)});
        }
        alike.back().count += added;
    }
};

/// Goes through the objects of its blocks.
class LaneBlockWalk {
  public:
    explicit LaneBlockWalk(const LaneBlocks& blocks) noexcept
        : word_(blocks.words.data()),
          end_(word_ + blocks.words.size()),
          left_(blocks.words.empty() ? 0 : word_->bits) {}

    /// Requires one more.
    [[nodiscard]] ObjectIndex next_index() const noexcept {
        return BitRow::lowest_of(word_->word, left_);
    }
    /// Calls `visit(ObjectBits, count)` for the next `count` of them, all of a word at once.
    /// Returns the last one.
    template <typename Visitor>
    ObjectIndex take(std::uint32_t count, Visitor visit) {
        ObjectIndex last{};
        while (count > 0) {
            const auto in_word = static_cast<std::uint32_t>(std::popcount(left_));
            std::uint64_t taken = left_;
            if (in_word > count) {
                std::uint64_t rest = left_;
                for (std::uint32_t i = 0; i < count; ++i) {
                    rest &= rest - 1;
                }
                taken ^= rest;
            }
            const std::uint32_t taken_count = in_word > count ? count : in_word;
            visit(ObjectBits{word_->word, taken}, taken_count);
            last = ObjectIndex{word_->word << 6 |
                               static_cast<std::uint32_t>(std::bit_width(taken) - 1)};
            left_ ^= taken;
            count -= taken_count;
            if (left_ == 0 && ++word_ != end_) {
                left_ = word_->bits;
            }
        }
        return last;
    }

  private:
    const ObjectBits* word_;
    const ObjectBits* end_;
    std::uint64_t left_;  // of it
};

}  // namespace replayout
