// SPDX-License-Identifier: MIT
#include "bundle_builder.h"

#include <algorithm>

#include "lane_blocks.h"
#include "packet_builder.h"
#include "scoped_value.h"

namespace replayout {

BundleBuilder::BundleBuilder(const ObjectStore& objects, const FlushChanges& changes,
                             const BitRow& unasked, std::size_t room_bytes, MemoryMeters& memory)
    : changes_(changes),
      writer_(objects, changes, unasked),
      runs_(changes.flush, memory),
      bytes_(room_bytes, &memory.scratch),
      taken_(Allocator<std::uint64_t>(&memory.scratch)),
      loose_(Allocator<ObjectIndex>(&memory.scratch)),
      pivoted_(Allocator<ObjectIndex>(&memory.scratch)),
      values_(Allocator<BlockValue>(&memory.scratch)),
      value_ends_(Allocator<std::size_t>(&memory.scratch)) {}

void BundleBuilder::give_back() {
    clear();
    runs_.give_back();
}

void BundleBuilder::trim() {
    clear();
    bytes_.trim();
    runs_.trim(changes_.flush);
}

void BundleBuilder::clear() noexcept {
    runs_.begin(changes_.flush);
    is_built_ = false;
    bytes_.begin(&run());
    has_held_ = false;
    has_pivots_ = false;
    clear_all(taken_, loose_, pivoted_, values_, value_ends_);
}

void BundleBuilder::begin(Contents contents, std::span<TypeCounters> type_counters) {
    clear();
    is_built_ = true;
    writer_.begin(contents, type_counters);
}

void BundleBuilder::build(SendContext& context, Contents contents,
                          std::span<const ObjectIndex> order,
                          std::span<TypeCounters> type_counters) {
    begin(contents, type_counters);
    const ScopedValue not_sent(context.is_counting_sent, false);  // who takes it sends it
    for (const ObjectIndex index : order) {
        add(index, context);
    }
    if (order.empty()) {
        writer_.lay_down_words({0, changes_.objects.word_count()}, bytes_, run(), context,
                               [&](ObjectIndex index) { add(index, context); });
    }
    context.type_counters = nullptr;
    finish(order, context.counters);
}

inline void BundleBuilder::add(ObjectIndex index, SendContext& context) {
    BundleBlock block;
    const RegularBlockWriter::Attempt attempt = writer_.lay_down(index, block, bytes_, context);
    switch (attempt.result) {
        case RegularBlockWriter::LaidDown::Block:
            if (writer_.counts_by_type() && attempt.findings != nullptr) {
                const Vector<BlockValue>& values = attempt.findings->values;
                values_.insert(values_.end(), values.begin(), values.end());
                value_ends_.push_back(values_.size());
            }
            has_held_ = has_held_ || block.needs_held_version;
            has_pivots_ = has_pivots_ || block.is_pivot;
            run().add_block(block);
            if (run().unbundled_count() == BundleRun::blocks_per_bundle_max) {
                bytes_.end_bundle();
            }
            break;
        case RegularBlockWriter::LaidDown::Loose:
            loose_.push_back(index);
            break;
        case RegularBlockWriter::LaidDown::Nothing:
            break;
    }
}

std::uint32_t BundleBuilder::append(const LaneBlocks& blocks) {
    loose_.insert(loose_.end(), blocks.loose.begin(), blocks.loose.end());
    has_held_ = has_held_ || blocks.has_held;
    has_pivots_ = has_pivots_ || blocks.has_pivots;
    return run().append_room(blocks.blocks.size());
}

BlockExtent BundleBuilder::add_extent(const AlikeBlocks& alike, std::uint32_t count,
                                      LaneBlockWalk& walk) {
    BlockExtent extent;
    if (has_bytes()) {
        const ChannelIndex channel = channel_of(walk.next_index());
        bytes_.make_room(channel, alike.body_bytes);
        extent.last_channel = bytes_.last_channel();
        extent.byte_offset = static_cast<std::uint32_t>(bytes_.byte_count());
        extent.head_bytes =
            static_cast<std::uint16_t>(block_step_bytes(extent.last_channel, channel));
        count = static_cast<std::uint32_t>(std::min<std::size_t>(
            count, bytes_.room_for_alike(extent.head_bytes, alike.body_bytes)));
    }
    extent.count = std::min(count, BundleRun::blocks_per_bundle_max - run().unbundled_count());
    const ObjectIndex last =
        walk.take(extent.count, [&](const ObjectBits& objects, std::uint32_t object_count) {
            run().count_appended(object_count, objects,
                                 std::size_t{object_count} * alike.property_count,
                                 std::size_t{object_count} * alike.body_bytes);
        });
    if (has_bytes()) {
        const std::size_t others = extent.count - 1;
        bytes_.skip(extent.head_bytes + alike.body_bytes + others * (alike.body_bytes + 1u),
                    channel_of(last));
    }
    if (run().unbundled_count() == BundleRun::blocks_per_bundle_max) {
        bytes_.end_bundle();
    }
    return extent;
}

void BundleBuilder::finish(std::span<const ObjectIndex> order, ReplicationCounters& counters) {
    bytes_.end_bundle();
    if (!order.empty()) {
        run().find_positions(changes_);
    }
    if (has_held_) {
        run().find_held();
    }
    if (has_pivots_) {
        for (const BundleBlock& block : run().blocks()) {
            if (block.is_pivot) {
                pivoted_.push_back(block.index);
            }
        }
    }
    taken_.assign(run().bundles().size(), 0);
    taken_end_.store(0, std::memory_order_relaxed);
    counters.bundles_built += has_bytes() ? run().bundles().size() : 0;
}

}  // namespace replayout
