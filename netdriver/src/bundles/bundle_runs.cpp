// SPDX-License-Identifier: MIT
#include "bundle_runs.h"

#include <algorithm>
#include <utility>

namespace replayout {

BundleRuns::BundleRuns(std::uint64_t flush, MemoryMeters& memory)
    : resource_(&memory.bundles),
      runs_(Allocator<BundleRun*>(resource_)),
      held_(Allocator<std::uint64_t>(&memory.scratch)) {
    take_free(flush);
}

BundleRuns::~BundleRuns() {
    for (BundleRun* run : runs_) {
        drop(run);
    }
}

void BundleRuns::begin(std::uint64_t flush) {
    if (current_->is_held()) {
        take_free(flush);
    } else {
        current_->begin(flush);
    }
}

void BundleRuns::give_back() {
    const auto end = std::remove_if(runs_.begin(), runs_.end(), [this](BundleRun* run) {
        const bool is_dropped = run != current_ && !run->is_held();
        if (is_dropped) {
            drop(run);
        }
        return is_dropped;
    });
    runs_.erase(end, runs_.end());
    runs_.shrink_to_fit();
    current_->give_back();
}

void BundleRuns::trim(std::uint64_t flush) {
    // The one that is not held and comes first is taken, so the last ones rest.
    const std::size_t kept = 2 * std::exchange(needed_count_, 1);
    while (runs_.size() > kept && runs_.back() != current_ && !runs_.back()->is_held()) {
        drop(runs_.back());
        runs_.pop_back();
    }
    for (BundleRun* run : runs_) {
        if (!run->is_held()) {
            run->begin(flush);
            run->trim();
        }
    }
}

void BundleRuns::take_free(std::uint64_t flush) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [](const BundleRun* run) { return !run->is_held(); });
    needed_count_ = std::max(needed_count_, static_cast<std::size_t>(found - runs_.begin()) + 1);
    if (found != runs_.end()) {
        current_ = *found;
        current_->begin(flush);
        return;
    }
    void* memory = resource_->allocate(sizeof(BundleRun), alignof(BundleRun));
    current_ = ::new (memory) BundleRun(resource_);
    current_->begin(flush);
    runs_.push_back(current_);
}

void BundleRuns::drop(BundleRun* run) noexcept {
    REPLAYOUT_ASSERT(!run->is_held());
    run->~BundleRun();
    resource_->deallocate(run, sizeof(BundleRun), alignof(BundleRun));
}

}  // namespace replayout
