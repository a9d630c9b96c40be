// SPDX-License-Identifier: MIT
#include "lane_bundle_builder.h"

#include <algorithm>
#include <cstring>

#include "packet_builder.h"
#include "scoped_value.h"

namespace replayout {

void LaneBundleBuilder::build(BundleBuilder::Contents contents,
                              std::span<const ObjectIndex> order) {
    bundles_.begin(contents);
    const LaneWords words(changes_.objects, lanes_.count());
    lanes_.run([&](std::uint32_t i) {
        const LaneRange share = LaneRange::of(order.size(), i, lanes_.count());
        lay_down(lanes_[i], order.empty() ? words[i] : LaneRange(),
                 order.subspan(share.begin, share.end - share.begin));
    });
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        add(lanes_[i].blocks);
    }
    bundles_.reserve_added();
    lanes_.run([&](std::uint32_t i) { copy_blocks(lanes_[i].blocks); });
    bundles_.finish(order, lanes_[0].context.counters);  // which reads what the lanes copied
}

void LaneBundleBuilder::lay_down(ServerLane& lane, LaneRange words,
                                 std::span<const ObjectIndex> objects) const {
    const ScopedValue not_sent(lane.context.is_counting_sent, false);  // who takes it sends it
    lane.blocks.begin();
    for (const ObjectIndex index : objects) {
        lay_down_one(index, lane.blocks, lane.context);
    }
    bundles_.writer().lay_down_words(
        words, lane.blocks.bytes, lane.blocks, lane.context,
        [&](ObjectIndex index) { lay_down_one(index, lane.blocks, lane.context); });
}

void LaneBundleBuilder::lay_down_one(ObjectIndex index, LaneBlocks& blocks,
                                     SendContext& context) const {
    BundleBlock block;
    switch (bundles_.writer().lay_down(index, block, blocks.bytes, context).result) {
        case RegularBlockWriter::LaidDown::Block:
            blocks.has_held = blocks.has_held || block.needs_held_version;
            blocks.has_pivots = blocks.has_pivots || block.is_pivot;
            blocks.add_block(block);
            break;
        case RegularBlockWriter::LaidDown::Loose:
            blocks.loose.push_back(index);
            break;
        case RegularBlockWriter::LaidDown::Nothing:
            break;
    }
}

void LaneBundleBuilder::add(LaneBlocks& blocks) {
    blocks.run_begin = bundles_.append(blocks);
    LaneBlockWalk walk(blocks);
    std::uint32_t first = 0;
    for (const AlikeBlocks& alike : blocks.alike) {
        for (std::uint32_t left = alike.count; left > 0;) {
            BlockExtent extent = bundles_.add_extent(alike, left, walk);
            extent.first = first;
            extent.has_new_head = first == 0 || extent.last_channel == ChannelIndex{};
            blocks.extents.push_back(extent);
            first += extent.count;
            left -= extent.count;
        }
    }
    REPLAYOUT_ASSERT(first == blocks.blocks.size());
}

void LaneBundleBuilder::copy_blocks(const LaneBlocks& blocks) {
    const std::span<BundleBlock> target =
        bundles_.run().room_of_blocks().subspan(blocks.run_begin, blocks.blocks.size());
    std::copy_n(blocks.blocks.data(), blocks.blocks.size(), target.data());
    if (!bundles_.has_bytes()) {
        return;
    }
    for (const BlockExtent& extent : blocks.extents) {
        const BundleBlock& first = blocks.blocks[extent.first];
        const std::uint32_t moved =
            extent.byte_offset + extent.head_bytes - first.byte_offset - first.head_bytes;
        for (BundleBlock& block : target.subspan(extent.first, extent.count)) {
            block.byte_offset += moved;
        }
        target[extent.first].byte_offset = extent.byte_offset;
        target[extent.first].head_bytes = extent.head_bytes;
    }
    copy_bytes(blocks);
}

void LaneBundleBuilder::copy_bytes(const LaneBlocks& blocks) {
    std::byte* const bytes = bundles_.bytes_with_room().data();
    std::size_t to = 0;
    std::size_t from = 0;
    const auto copy_until = [&](std::size_t end) {
        if (end > from) {
            std::memcpy(bytes + to, blocks.bytes.data() + from, end - from);
        }
    };
    for (const BlockExtent& extent : blocks.extents) {
        if (!extent.has_new_head) {
            continue;
        }
        const BundleBlock& first = blocks.blocks[extent.first];
        copy_until(extent.first == 0 ? 0 : first.byte_offset);
        write_block_step(extent.last_channel, channel_of(first.index),
                         {bytes + extent.byte_offset, extent.head_bytes});
        to = std::size_t{extent.byte_offset} + extent.head_bytes;
        from = std::size_t{first.byte_offset} + first.head_bytes;
    }
    if (!blocks.extents.empty()) {
        copy_until(blocks.bytes.byte_count());
    }
}

}  // namespace replayout
