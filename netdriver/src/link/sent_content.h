// SPDX-License-Identifier: MIT
//
// What packets carried, for those who must do something about it when they are delivered or lost.
#pragma once

#include <replayout/owed_versions.h>

#include "bundle_run.h"
#include "call_queue.h"

#include <cstdint>

namespace replayout {

/// One block in a packet, as its sender must remember it; of one that was owed several parts of an
/// object, what it carried of one, and a record for each other behind it. The state of the pair it
/// belongs to cannot have moved to another object meanwhile: a channel is used again only when its
/// close was delivered, and by then everything sent before is resolved.
struct SentRecord {
    /// That of the first block of an object, with all that there is up to a version.
    [[nodiscard]] static SentRecord of_first_block(ObjectIndex index, Version version) noexcept {
        return {index, true, false, false, LostPart{{0, version}, RepRange()}};
    }

    ObjectIndex object_index{};
    bool is_initial = false;        ///< with what is sent only at first
    bool is_more = false;           ///< of the block of the record before
    bool has_keyed_arrays = false;  ///< its object: what is lost of it may be kept apart by version
    LostPart carried;
};

static_assert(sizeof(SentRecord) == 40, "docs/performance.md says so");

/// Learns what became of what was sent.
class SentContentHandler {
  public:
    /// Hints that the fate of a block of that object is told in some steps.
    virtual void record_expected(ObjectIndex /*object_index*/) noexcept {}
    virtual void record_delivered(const SentRecord& record) = 0;
    virtual void record_lost(const SentRecord& record) = 0;
    /// The first `count` of these.
    virtual void bundles_delivered(const SentBundles& bundles, std::uint32_t count) = 0;
    virtual void bundle_lost(const SentBundle& bundle) = 0;
    virtual void bunch_delivered(const BunchTag& tag) = 0;
    /// An open that went out by ReliableSender::send_open(), and the first block that went with it.
    virtual void open_delivered(const ResolvedBunch& open) { bunch_delivered(open.tag); }
    /// The close of the channel of that object, which went out by ReliableSender::send_closes().
    virtual void close_delivered(ObjectIndex index) {
        bunch_delivered({BunchTag::Kind::Close, index, 0});
    }
    /// Opens that went out by ReliableSender::send_opens(), with their first blocks.
    virtual void opens_delivered(std::span<const OpenRun::Open> opens) {
        for (const OpenRun::Open& open : opens) {
            open_delivered({{BunchTag::Kind::Open, open.object_index, 0}, open.block_version});
        }
    }
    /// An open went lost; it will be sent again.
    virtual void bunch_lost(const BunchTag& tag) = 0;
    /// A reliable call, or a part of one; who sent it keeps it, and sends it again.
    virtual void call_delivered(const SentCall& name) = 0;
    virtual void call_lost(const SentCall& name) = 0;

  protected:
    ~SentContentHandler() = default;
};

}  // namespace replayout
