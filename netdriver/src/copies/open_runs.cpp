// SPDX-License-Identifier: MIT
#include "open_runs.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <new>

namespace replayout {

OpenRuns::OpenRuns(MemoryResource* resource)
    : resource_(resource),
      entries_(Allocator<Entry>(resource)),
      bunches_(Allocator<std::byte>(resource)),
      blocks_(Allocator<std::byte>(resource)),
      positions_(Allocator<std::uint32_t>(resource)),
      flush_runs_(Allocator<OpenRun*>(resource)),
      runs_(Allocator<OpenRun*>(resource)) {}

OpenRuns::~OpenRuns() {
    end_flush();
    for (OpenRun* run : runs_) {
        drop(run);
    }
}

void OpenRuns::end_flush() noexcept {
    is_open_ = false;
    if (is_empty()) {
        return;
    }
    entries_limit_ = is_used_ ? std::min(entries_max, 2 * entries_limit_)
                              : std::max(entries_min, entries_limit_ / 2);
    is_used_ = false;
    clear_all(entries_, bunches_, blocks_);
    last_with_block_ = ChannelIndex{};
    for (OpenRun* run : flush_runs_) {
        run->release();
    }
    flush_runs_.clear();
}

void OpenRuns::trim() {
    trim_all(entries_, bunches_, blocks_);
    // Those that are held come first.
    const auto held = std::partition(runs_.begin(), runs_.end(),
                                     [](const OpenRun* run) { return run->is_held(); });
    const std::size_t held_count = static_cast<std::size_t>(held - runs_.begin());
    const std::size_t kept = std::max(held_count, std::min(needed_run_count_, runs_.size()));
    std::for_each(runs_.begin() + static_cast<std::ptrdiff_t>(kept), runs_.end(),
                  [this](OpenRun* run) { drop(run); });
    runs_.resize(kept);
    needed_run_count_ = 0;
}

void OpenRuns::add(const OpenRun::Open& open, Entry entry, const SharedPayload* block) {
    REPLAYOUT_ASSERT(takes_more() && find(open.object_index) == none);
    run_for_next().add(open);
    const std::uint32_t number = static_cast<std::uint32_t>(entries_.size());
    const std::size_t slot = value_of(open.object_index);
    positions_.grow_to(slot + 1);
    positions_[slot] = number;
    entry.object_index = open.object_index;
    entry.version = open.block_version;
    entry.sums = sums_before(number);
    const std::span<const std::byte> bunch = open.bunch->bytes();
    bunches_.insert(bunches_.end(), bunch.begin(), bunch.end());
    entry.sums.bunch_bytes += static_cast<std::uint32_t>(bunch.size());
    entry.sums.payload_bytes += static_cast<std::uint32_t>(open.bunch->payload().size());
    if (block != nullptr) {
        add_block(entry, *block);
    }
    entries_.push_back(entry);
}

void OpenRuns::add_block(Entry& entry, const SharedPayload& block) {
    const ChannelIndex channel = channel_of(entry.object_index);
    const std::size_t head_bytes = block_step_bytes(last_with_block_, channel);
    const std::size_t length_bytes = block_length_bytes(BlockLength::Given, block.bytes.size());
    const std::size_t begin = blocks_.size();
    blocks_.resize(begin + head_bytes + length_bytes);
    const std::span<std::byte> room = std::span(blocks_.data(), blocks_.size()).subspan(begin);
    write_block_step(last_with_block_, channel, BlockLength::Given, room.first(head_bytes));
    write_block_length(block.bytes.size(), room.subspan(head_bytes));
    blocks_.insert(blocks_.end(), block.bytes.begin(), block.bytes.end());
    last_with_block_ = channel;
    entry.head_bytes = static_cast<std::uint8_t>(head_bytes);
    entry.sums.block_bytes = static_cast<std::uint32_t>(blocks_.size());
    entry.sums.body_bytes += static_cast<std::uint32_t>(block.bytes.size());
    ++entry.sums.block_count;
    entry.sums.property_count += block.property_count;
    entry.sums.array_steps += static_cast<std::uint32_t>(block.array_steps);
}

std::uint32_t OpenRuns::end_of_run(std::uint32_t begin) const noexcept {
    const std::uint32_t end = (begin / OpenRun::opens_max + 1) * OpenRun::opens_max;
    return std::min(end, static_cast<std::uint32_t>(entries_.size()));
}

OpenRunPart OpenRuns::run_part(std::uint32_t begin, std::uint32_t end) const noexcept {
    REPLAYOUT_ASSERT(begin < end && end <= end_of_run(begin));
    return {flush_runs_[begin / OpenRun::opens_max], begin % OpenRun::opens_max, end - begin,
            sums_before(end).block_count - sums_before(begin).block_count};
}

OpenRun& OpenRuns::run_for_next() {
    if (flush_runs_.empty() || flush_runs_.back()->is_full()) {
        OpenRun* const run = take_free_run();
        run->hold();
        flush_runs_.push_back(run);
    }
    return *flush_runs_.back();
}

OpenRun* OpenRuns::take_free_run() {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [](const OpenRun* run) { return !run->is_held(); });
    needed_run_count_ =
        std::max(needed_run_count_, static_cast<std::size_t>(found - runs_.begin()) + 1);
    if (found != runs_.end()) {
        return *found;
    }
    void* const memory = resource_->allocate(sizeof(OpenRun), alignof(OpenRun));
    runs_.push_back(::new (memory) OpenRun());
    return runs_.back();
}

void OpenRuns::drop(OpenRun* run) noexcept {
    REPLAYOUT_ASSERT(!run->is_held());
    run->~OpenRun();
    resource_->deallocate(run, sizeof(OpenRun), alignof(OpenRun));
}

}  // namespace replayout
