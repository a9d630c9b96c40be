// SPDX-License-Identifier: MIT
//
// The run of a flush by lanes, to the byte the same as BundleBuilder::build() makes it:
//
//     lanes             each lays down the blocks of its objects    [3][4][9]   [70][71]
//     driver's thread   cuts: where blocks go, and how their heads are there
//     lanes             each copies its own there                   [3][4]|[9][70]|[71]
//
// A cut depends on all blocks before it, and costs little a block where these are alike
// (LaneBlocks); what is long is done by the lanes. Of blocks that follow each other in both places
// all bytes are copied at once.
#include "bundle_builder.h"

#include <algorithm>
#include <cstring>

#include "blocks_ahead.h"
#include "lane_blocks.h"
#include "lane_share.h"
#include "packet_builder.h"
#include "server_lane.h"
#include "value_scope.h"

namespace replayout {

void BundleBuilder::build_in_lanes(ServerLanes& lanes, Contents contents,
                                   std::span<const std::uint32_t> order) {
    clear();
    is_built_ = true;
    contents_ = contents;
    type_counters_ = {};
    const WordShares words(changes_.objects, lanes.count());
    lanes.run([&](std::uint32_t i) {
        ServerLane& lane = lanes[i];
        const ValueScope not_sent(lane.context.is_counting_sent, false);  // who takes it sends it
        lane.blocks.begin();
        const LaneShare share = LaneShare::of(order.size(), i, lanes.count());
        for (std::size_t place = share.begin; place < share.end; ++place) {
            lay_down_in_lane(order[place], lane.blocks, lane.context);
        }
        if (order.empty()) {
            lay_down_words(words[i], lane.blocks, lane.context);
        }
    });
    for (std::uint32_t i = 0; i < lanes.count(); ++i) {
        place(lanes[i].blocks);
    }
    bytes_.reserve(bytes_.byte_count());
    lanes.run([&](std::uint32_t i) { copy_placed(lanes[i].blocks); });
    finish(order, lanes[0].context);  // which reads what the lanes copied
}

void BundleBuilder::lay_down_words(LaneShare words, LaneBlocks& blocks,
                                   SendContext& context) const {
    BlocksAhead ahead(objects_, changes_.objects, words);
    for (std::size_t word = words.begin; word < words.end; ++word) {
        std::uint64_t left = changes_.objects.word(word);
        while ((left = lay_down_rows(word, left, blocks.bytes, blocks, ahead, context)) != 0) {
            ahead.step(blocks.bytes.row);
            lay_down_in_lane(first_index_of(word, left), blocks, context);
            left &= left - 1;
        }
    }
}

void BundleBuilder::lay_down_in_lane(std::uint32_t index, LaneBlocks& blocks,
                                     SendContext& context) const {
    BundleBlock block;
    switch (lay_down(index, block, blocks.bytes, context)) {
        case LaidDown::Block:
            blocks.has_held = blocks.has_held || block.needs_held_version;
            blocks.has_pivots = blocks.has_pivots || block.is_pivot;
            blocks.add_block(block);
            break;
        case LaidDown::Loose:
            blocks.loose.push_back(index);
            break;
        case LaidDown::Nothing:
            break;
    }
}

void BundleBuilder::place(LaneBlocks& blocks) {
    blocks.run_begin = run_->append_room(blocks.blocks.size());
    loose_.insert(loose_.end(), blocks.loose.begin(), blocks.loose.end());
    has_held_ = has_held_ || blocks.has_held;
    has_pivots_ = has_pivots_ || blocks.has_pivots;
    LaneBlockWalk walk(blocks);
    std::uint32_t first = 0;
    for (const AlikeBlocks& alike : blocks.alike) {
        for (std::uint32_t left = alike.count; left > 0;) {
            PlacedBlocks placed = place_next(alike, left, walk);
            placed.first = first;
            placed.has_new_head = first == 0 || placed.last_channel == ChannelIndex{};
            blocks.placed.push_back(placed);
            first += placed.count;
            left -= placed.count;
        }
    }
    REPLAYOUT_ASSERT(first == blocks.blocks.size());
}

PlacedBlocks BundleBuilder::place_next(const AlikeBlocks& alike, std::uint32_t count,
                                       LaneBlockWalk& walk) {
    PlacedBlocks placed;
    if (has_bytes()) {
        const ChannelIndex channel = ObjectStore::channel_of(walk.next_index());
        bytes_.make_room(channel, alike.body_bytes);
        placed.last_channel = bytes_.last_channel();
        placed.byte_offset = static_cast<std::uint32_t>(bytes_.byte_count());
        placed.head_bytes =
            static_cast<std::uint16_t>(block_step_bytes(placed.last_channel, channel));
        count = static_cast<std::uint32_t>(std::min<std::size_t>(
            count, bytes_.room_for_alike(placed.head_bytes, alike.body_bytes)));
    }
    placed.count = std::min(count, BundleRun::blocks_per_bundle_max - run_->unbundled_count());
    const std::uint32_t last =
        walk.take(placed.count, [&](const ObjectBits& objects, std::uint32_t object_count) {
            run_->count_appended(object_count, objects,
                                 std::size_t{object_count} * alike.property_count,
                                 std::size_t{object_count} * alike.body_bytes);
        });
    if (has_bytes()) {
        const std::size_t others = placed.count - 1;
        bytes_.skip(placed.head_bytes + alike.body_bytes + others * (alike.body_bytes + 1u),
                    ObjectStore::channel_of(last));
    }
    if (run_->unbundled_count() == BundleRun::blocks_per_bundle_max) {
        bytes_.end_bundle();
    }
    return placed;
}

void BundleBuilder::copy_placed(const LaneBlocks& blocks) {
    const std::span<BundleBlock> target =
        run_->room_of_blocks().subspan(blocks.run_begin, blocks.blocks.size());
    std::copy(blocks.blocks.begin(), blocks.blocks.end(), target.begin());
    if (!has_bytes()) {
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

void BundleBuilder::copy_placed_bytes(const LaneBlocks& blocks) {
    std::size_t to = 0;
    std::size_t from = 0;
    const auto copy_until = [&](std::size_t end) {
        if (end > from) {
            std::memcpy(bytes_.data() + to, blocks.bytes.data() + from, end - from);
        }
    };
    for (const PlacedBlocks& placed : blocks.placed) {
        if (!placed.has_new_head) {
            continue;
        }
        const BundleBlock& first = blocks.blocks[placed.first];
        copy_until(placed.first == 0 ? 0 : first.byte_offset);
        write_block_step(placed.last_channel, ObjectStore::channel_of(first.index),
                         {bytes_.data() + placed.byte_offset, placed.head_bytes});
        to = std::size_t{placed.byte_offset} + placed.head_bytes;
        from = std::size_t{first.byte_offset} + first.head_bytes;
    }
    if (!blocks.placed.empty()) {
        copy_until(blocks.bytes.byte_count());
    }
}

}  // namespace replayout
