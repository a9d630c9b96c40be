// SPDX-License-Identifier: MIT
#include "server_bundles.h"

#include <algorithm>
#include <new>
#include <utility>

namespace replayout {

ServerBundles::ServerBundles(const RegularBlockWriter::Parts& parts,
                             const InterestManager& interest, std::size_t room_bytes,
                             std::uint32_t lane_count, MemoryMeters& memory)
    : changes_(parts.changes),
      order_(parts.objects, interest, &memory.scratch),
      writer_(parts, room_bytes, &memory.scratch),
      lane_blocks_(Allocator<LaneBlocks>(&memory.scratch)),
      copies_(lane_count, &memory.scratch),
      taken_(Allocator<std::uint64_t>(&memory.scratch)),
      pivoted_(Allocator<ObjectIndex>(&memory.scratch)),
      run_resource_(&memory.bundles),
      runs_(Allocator<BundleRun*>(run_resource_)),
      held_(Allocator<std::uint64_t>(&memory.scratch)) {
    take_free_run();
    if (lane_count > 1) {
        lane_blocks_.reserve(lane_count);
        for (std::uint32_t i = 0; i < lane_count; ++i) {
            lane_blocks_.emplace_back(parts, room_bytes, &memory.scratch);
        }
    }
}

ServerBundles::~ServerBundles() {
    for (BundleRun* run : runs_) {
        drop(run);
    }
}

void ServerBundles::build(SendContext& context, Contents contents,
                          std::span<TypeCounters> type_counters) {
    begin(contents, type_counters);
    const std::span<const ObjectIndex> order = order_.find(changes_);
    writer_.lay_down(order,
                     order.empty() ? LaneRange{0, changes_.objects.word_count()} : LaneRange(),
                     run(), context);
    finish(order, context.counters);
}

void ServerBundles::begin(Contents contents, std::span<TypeCounters> type_counters) {
    if (run().is_held()) {
        take_free_run();
    } else {
        run().begin(changes_.flush);
    }
    is_built_ = true;
    writer_.begin(contents, &run(), type_counters);
    clear_all(taken_, pivoted_);
}

void ServerBundles::clear() noexcept {
    begin(Contents::Objects, {});
    is_built_ = false;
    may_be_copied_ = false;
}

void ServerBundles::finish(std::span<const ObjectIndex> order, ReplicationCounters& counters) {
    writer_.end_bundle();
    if (!order.empty()) {
        run().find_positions(changes_);
    }
    if (writer_.has_held()) {
        run().find_held();
    }
    if (writer_.has_pivots()) {
        for (const BundleBlock& block : run().blocks()) {
            if (block.is_pivot) {
                pivoted_.push_back(block.index);
            }
        }
    }
    taken_.assign(run().bundles().size(), 0);
    taken_end_.store(0, std::memory_order_relaxed);
    counters.bundles_built += has_bytes() ? run().bundles().size() : 0;
    may_be_copied_ = has_bytes() && loose().empty() && pivoted().empty();
    held_count_ = 0;
    if (may_be_copied_ && run().has_held() && !run().bundles().empty()) {
        const auto count = static_cast<std::uint32_t>(run().bundles().size());
        held_count_ = SentBundles{{&run(), 0, run().bundles()[0].all_blocks()}, count}.held_count();
    }
}

void ServerBundles::give_back() {
    clear();
    const auto end = std::remove_if(runs_.begin(), runs_.end(), [this](BundleRun* run) {
        const bool is_dropped = run != run_ && !run->is_held();
        if (is_dropped) {
            drop(run);
        }
        return is_dropped;
    });
    runs_.erase(end, runs_.end());
    runs_.shrink_to_fit();
    run().give_back();
}

void ServerBundles::trim() {
    clear();
    trim_all(order_, writer_, copies_);
    for (LaneBlocks& lane : lane_blocks_) {
        lane.trim();
    }
    // The one that is not held and comes first is taken, so the last ones rest.
    const std::size_t kept = 2 * std::exchange(needed_run_count_, 1);
    while (runs_.size() > kept && runs_.back() != run_ && !runs_.back()->is_held()) {
        drop(runs_.back());
        runs_.pop_back();
    }
    for (BundleRun* run : runs_) {
        if (!run->is_held()) {
            run->begin(changes_.flush);
            run->trim();
        }
    }
}

void ServerBundles::take_free_run() {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [](const BundleRun* run) { return !run->is_held(); });
    needed_run_count_ =
        std::max(needed_run_count_, static_cast<std::size_t>(found - runs_.begin()) + 1);
    if (found != runs_.end()) {
        run_ = *found;
    } else {
        void* memory = run_resource_->allocate(sizeof(BundleRun), alignof(BundleRun));
        run_ = ::new (memory) BundleRun(run_resource_);
        runs_.push_back(run_);
    }
    run_->begin(changes_.flush);
}

void ServerBundles::drop(BundleRun* run) noexcept {
    REPLAYOUT_ASSERT(!run->is_held());
    run->~BundleRun();
    run_resource_->deallocate(run, sizeof(BundleRun), alignof(BundleRun));
}

}  // namespace replayout
