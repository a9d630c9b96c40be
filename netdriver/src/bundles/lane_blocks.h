// SPDX-License-Identifier: MIT
//
// The blocks that one lane lays down in its own bytes. They are cut once all blocks before them
// are, and then copied to where the cut puts them.
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
#include "lane_range.h"
#include "regular_block_writer.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class alignas(64) LaneBlocks {
  public:
    LaneBlocks(const RegularBlockWriter::Parts& parts, std::size_t room_bytes,
               MemoryResource* resource)
        : writer_(parts, room_bytes, resource),
          blocks_(resource),
          words_(resource),
          alike_(resource),
          extents_(resource) {}

    /// In the lane: lays down what changed of `objects` and of all objects in these words of a row.
    void lay_down(RegularBlockWriter::Contents contents, std::span<const ObjectIndex> objects,
                  LaneRange words, SendContext& context);
    /// On the driver's thread, lane by lane: cuts the blocks into bundles and packets of `run`,
    /// whose writer `target` is.
    void cut(BundleRun& run, RegularBlockWriter& target);
    /// In the lane: copies blocks and bytes to where they were cut.
    void copy(BundleRun& run, RegularBlockWriter& target) const;
    /// Between flushes, see KeptRoom.
    void trim();

    // For its writer, as of a BundleRun.

    void add_block(const BundleBlock& block) {
        blocks_.push_back(block);
        count(1, {BitRow::word_of(block.index), BitRow::mask_of(block.index)},
              {0, block.body_bytes, block.property_count, block.length_bytes},
              block.head_bytes <= 1);
    }
    [[nodiscard]] BundleBlock* begin_blocks(std::uint32_t block_count) {
        const std::size_t begin = blocks_.size();
        blocks_.resize(begin + block_count);
        return blocks_.data() + begin;
    }
    void end_blocks(std::uint32_t unused) { blocks_.resize(blocks_.size() - unused); }
    void count_appended(std::uint32_t block_count, const ObjectBits& objects,
                        std::size_t property_count, std::size_t body_bytes,
                        std::size_t length_bytes) {
        count(block_count, objects,
              {0, static_cast<std::uint16_t>(body_bytes / block_count),
               static_cast<std::uint16_t>(property_count / block_count),
               static_cast<std::uint8_t>(length_bytes / block_count)},
              true);
    }
    /// How many may be appended before they are counted.
    [[nodiscard]] static constexpr std::uint32_t append_max() noexcept {
        return RegularBlockWriter::uncut_blocks_max;
    }
    [[nodiscard]] static constexpr bool is_bundle_full() noexcept { return false; }

  private:
    /// `count` blocks that follow each other, and what each of them has. All but the first have a
    /// head of at most a byte.
    struct AlikeBlocks {
        std::uint32_t count = 0;
        std::uint16_t body_bytes = 0;
        std::uint16_t property_count = 0;
        std::uint8_t length_bytes = 0;

        [[nodiscard]] bool is_like(const AlikeBlocks& other) const noexcept {
            return body_bytes == other.body_bytes && property_count == other.property_count &&
                   length_bytes == other.length_bytes;
        }
    };

    void begin(RegularBlockWriter::Contents contents) noexcept;
    void count(std::uint32_t added, const ObjectBits& objects, const AlikeBlocks& each,
               bool is_neighbour) {
        // The bits of a word are in order, so one that lies before others begins another word.
        if (words_.empty() || words_.back().word != objects.word ||
            static_cast<int>(std::bit_width(words_.back().bits)) > std::countr_zero(objects.bits)) {
            words_.push_back({objects.word, 0});
        }
        words_.back().bits |= objects.bits;
        if (alike_.empty() || !is_neighbour || !alike_.back().is_like(each)) {
            alike_.push_back(each);
        }
        alike_.back().count += added;
    }
    void copy_bytes(std::byte* target) const;

    RegularBlockWriter writer_;
    KeptVector<BundleBlock> blocks_;  // where each lies in the bytes of the writer
    KeptVector<ObjectBits> words_;    // of the objects of blocks, in their order
    KeptVector<AlikeBlocks> alike_;
    KeptVector<BlockExtent> extents_;
    std::uint32_t run_begin_ = 0;  // where the first block stands in the run
};

}  // namespace replayout
