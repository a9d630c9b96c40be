// SPDX-License-Identifier: MIT
//
// Opens and closes under way of which no copy is needed: an open as it was laid down once for all
// clients (OpenBunch), and a close, of which the reason is all there is. Their packets are resolved
// in the order of sending, so they stand in a ring. One whose packet is lost becomes a bunch that
// waits to go out again (OutBunch).
#pragma once

#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/sending_rep_state.h>

#include "object_index.h"
#include "open_bunch.h"
#include "out_bunch.h"
#include "ring_queue.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

struct KeptBunch {
    OpenBunch* open = nullptr;  ///< null: a close
    ObjectIndex object_index{};
    Version block_version = 0;  ///< of an open: of the first block, in the same packet; 0: none
    std::uint16_t close_sequence = 0;
    ChannelCloseReason close_reason = ChannelCloseReason::Destroyed;
    BunchOrder order;
    WindowPosition begin;  ///< as OutBunch::begin

    [[nodiscard]] BunchTag tag() const noexcept {
        return {open != nullptr ? BunchTag::Kind::Open : BunchTag::Kind::Close, object_index, 0};
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
    [[nodiscard]] std::size_t count() const noexcept { return bunches_.count(); }
    /// The one that went out first. There must be one.
    [[nodiscard]] const KeptBunch& first() const noexcept { return bunches_.front(); }

    // Both add a bunch at the end. The caller sets its order and its begin.

    /// Holds the OpenBunch.
    [[nodiscard]] KeptBunch& add_open(ObjectIndex index, OpenBunch& open, Version block_version) {
        open.hold();
        KeptBunch& bunch = bunches_.push_back();
        bunch.open = &open;
        bunch.object_index = index;
        bunch.block_version = block_version;
        return bunch;
    }
    [[nodiscard]] KeptBunch& add_close(ObjectIndex index, std::uint16_t sequence,
                                       ChannelCloseReason reason) {
        KeptBunch& bunch = bunches_.push_back();
        bunch.open = nullptr;
        bunch.object_index = index;
        bunch.block_version = 0;
        bunch.close_sequence = sequence;
        bunch.close_reason = reason;
        return bunch;
    }
    /// The first block of that object is under way with its open.
    [[nodiscard]] bool has_block_of(ObjectIndex index) const noexcept {
        for (std::size_t i = 0; i < bunches_.count(); ++i) {
            if (bunches_.at(i).object_index == index && bunches_.at(i).block_version > 0) {
                return true;
            }
        }
        return false;
    }
    void pop_front() noexcept {
        if (OpenBunch* const open = bunches_.front().open) {
            open->release();
        }
        bunches_.pop_front();
    }
    void clear() noexcept {
        while (!is_empty()) {
            pop_front();
        }
    }
    /// See RingQueue.
    void trim() { bunches_.trim(); }

  private:
    RingQueue<KeptBunch> bunches_;
};

}  // namespace replayout
