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
        place(lanes_[i].blocks);
    }
    bundles_.reserve_placed();
    lanes_.run([&](std::uint32_t i) { copy_placed(lanes_[i].blocks); });
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
    switch (bundles_.writer().lay_down(index, block, blocks.bytes, context)) {
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

void LaneBundleBuilder::place(LaneBlocks& blocks) {
    blocks.run_begin = bundles_.append(blocks);
    LaneBlockWalk walk(blocks);
    std::uint32_t first = 0;
    for (const AlikeBlocks& alike : blocks.alike) {
        for (std::uint32_t left = alike.count; left > 0;) {
            PlacedBlocks placed = bundles_.place_next(alike, left, walk);
            placed.first = first;
            placed.has_new_head = first == 0 || placed.last_channel == ChannelIndex{};
            blocks.placed.push_back(placed);
            first += placed.count;
            left -= placed.count;
        }
    }
    REPLAYOUT_ASSERT(first == blocks.blocks.size());
}

void LaneBundleBuilder::copy_placed(const LaneBlocks& blocks) {
    const std::span<BundleBlock> target =
        bundles_.run().room_of_blocks().subspan(blocks.run_begin, blocks.blocks.size());
    std::copy_n(blocks.blocks.data(), blocks.blocks.size(), target.data());
    if (!bundles_.has_bytes()) {
        return;
    }
    for (const PlacedBlocks& placed : blocks.placed) {
        const BundleBlock& first = blocks.blocks[placed.first];
        const std::uint32_t moved =
            placed.byte_offset + placed.head_bytes - first.byte_offset - first.head_bytes;
        for (BundleBlock& block : target.subspan(placed.first, placed.count)) {
            block.byte_offset += moved;
        }
        target[placed.first].byte_offset = placed.byte_offset;
        target[placed.first].head_bytes = placed.head_bytes;
    }
    copy_placed_bytes(blocks);
}

void LaneBundleBuilder::copy_placed_bytes(const LaneBlocks& blocks) {
    std::byte* const bytes = bundles_.bytes_with_room().data();
    std::size_t to = 0;
    std::size_t from = 0;
    const auto copy_until = [&](std::size_t end) {
        if (end > from) {
            std::memcpy(bytes + to, blocks.bytes.data() + from, end - from);
        }
    };
    for (const PlacedBlocks& placed : blocks.placed) {
        if (!placed.has_new_head) {
            continue;
        }
        const BundleBlock& first = blocks.blocks[placed.first];
        copy_until(placed.first == 0 ? 0 : first.byte_offset);
        write_block_step(placed.last_channel, channel_of(first.index),
                         {bytes + placed.byte_offset, placed.head_bytes});
        to = std::size_t{placed.byte_offset} + placed.head_bytes;
        from = std::size_t{first.byte_offset} + first.head_bytes;
    }
    if (!blocks.placed.empty()) {
        copy_until(blocks.bytes.byte_count());
    }
}

}  // namespace replayout
