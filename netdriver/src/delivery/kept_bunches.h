// SPDX-License-Identifier: MIT
//
// Opens and closes under way of which no copy is needed: an open as it was laid down once for all
// clients (OpenBunch), several of them that went out together (OpenRun), and closes that did, of
// which only their number is kept here: ReliableSender has the list. Their packets are resolved in
// the order of sending, so they stand in a ring. One whose packet is lost becomes a bunch that
// waits to go out again (OutBunch).
#pragma once

#include <replayout/sending_rep_state.h>

#include "object_index.h"
#include "open_bunch.h"
#include "open_run.h"
#include "out_bunch.h"
#include "ring_queue.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// An open, or opens of a run, or closes.
struct KeptBunch {
    OpenRunPart opens;          ///< without a run: it is one of the others
    OpenBunch* open = nullptr;  ///< null: it is one of the others
    std::uint32_t close_count = 0;
    ObjectIndex object_index{};  ///< of an open
    Version block_version = 0;   ///< of its first block, in the same packet; 0: none
    BunchOrder order;            ///< of the first bunch
    WindowPosition begin;        ///< as OutBunch::begin, of the first bunch

    [[nodiscard]] bool is_run() const noexcept { return opens.run != nullptr; }
    [[nodiscard]] std::size_t bunch_count() const noexcept {
        return is_run() ? opens.count : open != nullptr ? 1 : close_count;
    }
};

/// What there is to know of such a bunch when its packet is resolved.
struct ResolvedBunch {
    BunchTag tag;
    Version block_version = 0;
};

class KeptBunches {
  public:
    explicit KeptBunches(MemoryResource* resource) : bunches_(resource) {}
    ~KeptBunches() { clear(); }
    KeptBunches(const KeptBunches&) = delete;
    KeptBunches& operator=(const KeptBunches&) = delete;
    KeptBunches(KeptBunches&&) = delete;
    KeptBunches& operator=(KeptBunches&&) = delete;

    [[nodiscard]] bool is_empty() const noexcept { return bunches_.count() == 0; }
    /// How many bunches there are, those of runs among them.
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t count = 0;
        for (std::size_t i = 0; i < bunches_.count(); ++i) {
            count += bunches_.at(i).bunch_count();
        }
        return count;
    }
    /// The one that went out first. There must be one.
    [[nodiscard]] const KeptBunch& first() const noexcept { return bunches_.front(); }

    /// Calls `visit(kept)` for the last `count` entries.
    template <typename Visitor>
    void for_each_of_last(std::size_t count, Visitor visit) const {
        for (std::size_t i = bunches_.count() - count; i < bunches_.count(); ++i) {
            visit(bunches_.at(i));
        }
    }
    // Each adds at the end. The caller sets order and begin.

    /// Holds the OpenBunch.
    [[nodiscard]] KeptBunch& add_open(ObjectIndex index, OpenBunch& open, Version block_version) {
        open.hold();
        KeptBunch& bunch = bunches_.push_back();
        bunch.opens = {};
        bunch.open = &open;
        bunch.object_index = index;
        bunch.block_version = block_version;
        return bunch;
    }
    [[nodiscard]] KeptBunch& add_closes(std::uint32_t count) {
        KeptBunch& bunch = bunches_.push_back();
        bunch.opens = {};
        bunch.open = nullptr;
        bunch.close_count = count;
        return bunch;
    }
    /// Holds the run. Order and begin are those of the first.
    [[nodiscard]] KeptBunch& add_opens(const OpenRunPart& opens) {
        opens.run->hold();
        KeptBunch& bunch = bunches_.push_back();
        bunch.opens = opens;
        return bunch;
    }
    /// The first block of that object is under way with its open.
    [[nodiscard]] bool has_block_of(ObjectIndex index) const noexcept;
    /// Those that went out first, which must be a run, are gone. The caller holds their run now.
    [[nodiscard]] OpenRunPart take_opens() noexcept {
        const OpenRunPart opens = bunches_.front().opens;
        bunches_.pop_front();
        return opens;
    }
    /// Closes that went out first and together are gone. Returns how many.
    std::uint32_t take_closes() noexcept {
        const std::uint32_t count = bunches_.front().close_count;
        bunches_.pop_front();
        return count;
    }
    /// The bunch that went out first is gone; of several the first of those that are left.
    void pop_front() noexcept;
    void clear() noexcept;
    /// See RingQueue.
    void trim() { bunches_.trim(); }

  private:
    static void release(KeptBunch& bunch) noexcept;

    RingQueue<KeptBunch> bunches_;
};

}  // namespace replayout
