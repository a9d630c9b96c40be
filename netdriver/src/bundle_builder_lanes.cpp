// SPDX-License-Identifier: MIT
//
// The run of a flush by lanes, to the byte the same as BundleBuilder::build() makes it:
//
//     lanes             each lays down the blocks of its objects    [3][4][9]   [70][71]
//     driver's thread   cuts: where each block goes, and how its head is there
//     lanes             each copies its own there                   [3][4]|[9][70]|[71]
//
// A cut depends on all blocks before it, and costs some nanoseconds a block; what is long is done
// by the lanes. Of blocks that follow each other in both places all bytes are copied at once.
#include "bundle_builder.h"

#include <array>
#include <bit>
#include <cstring>

#include "laid_down_blocks.h"
#include "packet_builder.h"
#include "server_lane.h"
#include "value_scope.h"

namespace replayout {

namespace {

/// Words of a row, lane by lane: as many bits in each, as far as words are not cut.
class WordShares {
  public:
    WordShares(const BitRow& row, std::uint32_t lane_count) {
        const std::uint64_t bits = row.count();
        std::uint64_t before = 0;
        std::uint32_t lane = 1;
        for (std::size_t word = 0; word < row.word_count(); ++word) {
            before += static_cast<std::uint64_t>(std::popcount(row.word(word)));
            while (lane < lane_count && before * lane_count >= bits * lane) {
                ends_[lane++ - 1] = word + 1;
            }
        }
        ends_[lane_count - 1] = row.word_count();
    }

    [[nodiscard]] LaneShare operator[](std::uint32_t lane) const noexcept {
        return {lane == 0 ? 0 : ends_[lane - 1], ends_[lane]};
    }

  private:
    std::array<std::size_t, ServerLanes::count_max> ends_{};
};

}  // namespace

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
        const LaneShare rows = order.empty() ? words[i] : LaneShare();
        for (std::size_t word = rows.begin; word < rows.end; ++word) {
            BitRow::for_each_in_word(word, changes_.objects.word(word), [&](std::uint32_t index) {
                lay_down_in_lane(index, lane.blocks, lane.context);
            });
        }
    });
    for (std::uint32_t i = 0; i < lanes.count(); ++i) {
        for (LaidDownBlock& block : lanes[i].blocks.list) {
            place(block);
        }
    }
    finish(order, lanes[0].context);
    if (has_bytes()) {
        bytes_.reserve(bytes_.byte_count());
        lanes.run([&](std::uint32_t i) { copy_placed(lanes[i].blocks); });
    }
}

void BundleBuilder::lay_down_in_lane(std::uint32_t index, LaidDownBlocks& blocks,
                                     SendContext& context) const {
    LaidDownBlock laid_down;
    const bool is_first = blocks.bytes.last_channel() == ChannelIndex{};
    const LaidDown outcome = lay_down(index, laid_down.block, blocks.bytes, context);
    if (outcome == LaidDown::Nothing) {
        return;
    }
    const BundleBlock& block = laid_down.block;
    if (outcome == LaidDown::Loose) {
        laid_down.is_loose = true;
        laid_down.block.index = index;
    } else if (has_bytes()) {
        laid_down.body_bytes = static_cast<std::uint32_t>(blocks.bytes.byte_count() -
                                                          block.byte_offset - block.head_bytes);
        laid_down.has_new_head = is_first;
    }
    blocks.list.push_back(laid_down);
}

void BundleBuilder::place(LaidDownBlock& laid_down) {
    if (laid_down.is_loose) {
        loose_.push_back(laid_down.block.index);
        return;
    }
    BundleBlock placed = laid_down.block;
    if (has_bytes()) {
        const ChannelIndex channel = ObjectStore::channel_of(placed.index);
        bytes_.make_room(channel, laid_down.body_bytes);
        laid_down.last_channel = bytes_.last_channel();
        // The first of a bundle, and of a lane.
        laid_down.has_new_head = laid_down.has_new_head || laid_down.last_channel == ChannelIndex{};
        bytes_.begin_block(placed, channel);
        laid_down.target_offset = placed.byte_offset;
        laid_down.target_head_bytes = placed.head_bytes;
        bytes_.skip_block(placed, channel, laid_down.body_bytes);
    }
    add_block(placed);
}

void BundleBuilder::copy_placed(const LaidDownBlocks& blocks) {
    const auto copy = [&](std::size_t to, std::size_t from, std::size_t size) {
        if (size > 0) {
            std::memcpy(bytes_.data() + to, blocks.bytes.data() + from, size);
        }
    };
    std::size_t to = 0;
    std::size_t from = 0;
    std::size_t size = 0;
    for (const LaidDownBlock& laid_down : blocks.list) {
        if (laid_down.is_loose) {
            continue;
        }
        const BundleBlock& block = laid_down.block;
        if (!laid_down.has_new_head) {
            size += std::size_t{block.head_bytes} + laid_down.body_bytes;
            continue;
        }
        copy(to, from, size);
        write_block_step(laid_down.last_channel, ObjectStore::channel_of(block.index),
                         {bytes_.data() + laid_down.target_offset, laid_down.target_head_bytes});
        to = std::size_t{laid_down.target_offset} + laid_down.target_head_bytes;
        from = std::size_t{block.byte_offset} + block.head_bytes;
        size = laid_down.body_bytes;
    }
    copy(to, from, size);
}

}  // namespace replayout
