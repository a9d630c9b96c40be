// SPDX-License-Identifier: MIT
//
// The runs of bundles of one server: that of the present flush, those of earlier flushes that some
// connection still holds, and those that nobody holds, which are used again.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/reflection/memory.h>

#include "bundle_run.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class BundleRuns {
  public:
    BundleRuns(std::uint64_t flush, MemoryMeters& memory);
    ~BundleRuns();
    BundleRuns(const BundleRuns&) = delete;
    BundleRuns& operator=(const BundleRuns&) = delete;

    /// The run of the present flush.
    [[nodiscard]] BundleRun& current() noexcept { return *current_; }
    [[nodiscard]] const BundleRun& current() const noexcept { return *current_; }
    /// Makes the current run an empty one of that flush.
    void begin(std::uint64_t flush);
    /// Gives back all runs that nobody holds, and the room of the current one. Requires that this
    /// is empty.
    void give_back();
    /// Gives back runs and room that were not needed lately, see KeptRoom. Requires that the
    /// current run is empty, and of that flush.
    void trim(std::uint64_t flush);
    /// Drops what nobody waits for from runs that are still held `old_flushes` after their own
    /// flush. Otherwise a client that answers late, or never, would keep the list of all that
    /// changed for each flush in its window. `mark_held(run, held)` marks the blocks of a run that
    /// are under way, as SentPackets::mark_held() does.
    template <typename MarkHeld>
    void thin_old(std::uint64_t flush, MarkHeld mark_held) {
        if (runs_.size() <= old_flushes) {
            return;  // none is that old
        }
        for (BundleRun* run : runs_) {
            if (run->is_held() && is_turn_to_thin(flush - run->flush())) {
                held_.assign(run->bundles().size(), 0);
                mark_held(*run, std::span<std::uint64_t>(held_.data(), held_.size()));
                run->keep_only({held_.data(), held_.size()});
            }
        }
    }
    static constexpr std::uint64_t old_flushes = 16;

  private:
    /// Once a run is old, and again when other clients may have had their answers since.
    [[nodiscard]] static constexpr bool is_turn_to_thin(std::uint64_t flushes) noexcept {
        return flushes >= old_flushes && std::has_single_bit(flushes);
    }
    /// Makes one that nobody holds the current run.
    void take_free(std::uint64_t flush);
    void drop(BundleRun* run) noexcept;

    MemoryResource* resource_;
    Vector<BundleRun*> runs_;
    std::size_t needed_count_ = 0;  // of the first of them, since trim()
    BundleRun* current_ = nullptr;
    Vector<std::uint64_t> held_;  // scratch: by bundle, of an old run
};

}  // namespace replayout
