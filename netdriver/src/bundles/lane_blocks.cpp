// SPDX-License-Identifier: MIT
#include "lane_blocks.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstring>

#include "packet_builder.h"

namespace replayout {

namespace {

/// Goes through the objects of blocks, in their order.
class ObjectWalk {
  public:
    explicit ObjectWalk(std::span<const ObjectBits> words) noexcept
        : word_(words.data()), end_(word_ + words.size()), left_(words.empty() ? 0 : word_->bits) {}

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
            const auto in_word = count_bits(left_);
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

}  // namespace

void LaneBlocks::begin(RegularBlockWriter::Contents contents) noexcept {
    writer_.begin(contents, nullptr, {});
    clear_all(blocks_, words_, alike_, extents_);
}

void LaneBlocks::trim() {
    begin(RegularBlockWriter::Contents::Objects);
    trim_all(writer_, blocks_, words_, alike_, extents_);
}

void LaneBlocks::lay_down(RegularBlockWriter::Contents contents,
                          std::span<const ObjectIndex> objects, LaneRange words,
                          SendContext& context) {
    begin(contents);
    writer_.lay_down(objects, words, *this, context);
}

void LaneBlocks::cut(BundleRun& run, RegularBlockWriter& target) {
    target.add_findings_of(writer_);
    run_begin_ = run.append_room(blocks_.size());
    ObjectWalk walk({words_.data(), words_.size()});
    std::uint32_t first = 0;
    for (const AlikeBlocks& alike : alike_) {
        for (std::uint32_t left = alike.count; left > 0;) {
            const std::size_t body_bytes = std::size_t{alike.length_bytes} + alike.body_bytes;
            BlockExtent extent =
                target.begin_extent(channel_of(walk.next_index()), body_bytes, left);
            const ObjectIndex last =
                walk.take(extent.count, [&](const ObjectBits& objects, std::uint32_t count) {
                    run.count_appended(count, objects, std::size_t{count} * alike.property_count,
                                       std::size_t{count} * alike.body_bytes,
                                       std::size_t{count} * alike.length_bytes);
                });
            target.end_extent(extent, body_bytes, channel_of(last));
            extent.first = first;
            extent.has_new_head = first == 0 || extent.last_channel == ChannelIndex{};
            extents_.push_back(extent);
            first += extent.count;
            left -= extent.count;
        }
    }
    REPLAYOUT_ASSERT(first == blocks_.size());
}

void LaneBlocks::copy(BundleRun& run, RegularBlockWriter& target) const {
    const std::span<BundleBlock> blocks = run.room_of_blocks().subspan(run_begin_, blocks_.size());
    std::copy_n(blocks_.data(), blocks_.size(), blocks.data());
    if (!target.has_bytes()) {
        return;
    }
    for (const BlockExtent& extent : extents_) {
        const BundleBlock& first = blocks_[extent.first];
        const std::uint32_t moved =
            extent.byte_offset + extent.head_bytes - first.byte_offset - first.head_bytes;
        for (BundleBlock& block : blocks.subspan(extent.first, extent.count)) {
            block.byte_offset += moved;
        }
        blocks[extent.first].byte_offset = extent.byte_offset;
        blocks[extent.first].head_bytes = extent.head_bytes;
    }
    copy_bytes(target.bytes().data());
}

void LaneBlocks::copy_bytes(std::byte* target) const {
    const std::span<const std::byte> source = writer_.bytes();
    std::size_t to = 0;
    std::size_t from = 0;
    const auto copy_until = [&](std::size_t end) {
        if (end > from) {
            std::memcpy(target + to, source.data() + from, end - from);
        }
    };
    for (const BlockExtent& extent : extents_) {
        if (!extent.has_new_head) {
            continue;
        }
        const BundleBlock& first = blocks_[extent.first];
        copy_until(extent.first == 0 ? 0 : first.byte_offset);
        write_block_step(extent.last_channel, channel_of(first.index), first.length(),
                         {target + extent.byte_offset, extent.head_bytes});
        to = std::size_t{extent.byte_offset} + extent.head_bytes;
        from = std::size_t{first.byte_offset} + first.head_bytes;
    }
    if (!extents_.empty()) {
        copy_until(source.size());
    }
}

}  // namespace replayout
