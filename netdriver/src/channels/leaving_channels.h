// SPDX-License-Identifier: MIT
//
// Objects that go at one client while reliable calls of them are on their way to it: their channels
// close when the client has received those calls.
//
//     call    object removed, or hidden    call delivered    close
//     -----------------------------------------------------------> channel
//             |------------ leaving -------------------------|
//
// The client is not to have such an object (PairVisibility::irrelevant): nothing new is sent of it,
// and no new call. All of a family that leaves goes together, so a call finds the parts of its
// object. The wait is bounded (NetConfig::close_waits_for_calls_ms); then the calls are dropped.
//
// What was owed of a removed object still goes, since a call may wait for it, and the game no
// longer changes it. A hidden object changes, so only what HiddenStates kept for its calls goes.
#pragma once

#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include "call_queue.h"
#include "connection_pairs.h"
#include "hidden_states.h"
#include "object_channels.h"

#include <cstdint>
#include <span>

namespace replayout {

class LeavingChannels {
  public:
    /// An object that went, and how many of its reliable calls were dropped.
    struct DroppedCalls {
        ObjectIndex index{};
        std::uint32_t count = 0;
    };

    /// It works with the same parts as `channels`.
    LeavingChannels(ObjectChannels& channels, HiddenStates& hidden_states, const NetConfig& config,
                    MemoryMeters& memory);

    /// The client has the object, or is being sent it, and reliable calls of it are on their way.
    /// O(calls).
    [[nodiscard]] bool must_wait(ObjectIndex index) const noexcept {
        return !parts_.calls.is_idle() && parts_.pairs.has_object(index) &&
               parts_.calls.reliable_count(channel_of(index)) > 0;
    }
    /// The client loses the object of that slot, after the reliable calls of its family. If the
    /// client does not have it, it goes at once.
    void leave(ObjectIndex index, ChannelCloseReason reason);
    /// The same of an object that is hidden. False: what its calls need is more than is kept, and
    /// it should go at once.
    [[nodiscard]] bool leave_hidden(ObjectIndex index);
    /// The client is to have the object again after the close, with the calls that are made from
    /// now on.
    void return_later(ObjectIndex index);
    /// Takes return_later() back.
    void forget_return(ObjectIndex index);
    /// The channel of that slot closes by itself.
    void forget(ObjectIndex index);

    /// In each flush, before anything is sent: closes the channels of those that need not wait any
    /// more. Returns what was dropped, on loan until the next time.
    [[nodiscard]] std::span<const DroppedCalls> close_ready();
    /// Closes one at once, with its family.
    [[nodiscard]] std::span<const DroppedCalls> close_now(ObjectIndex index);
    /// The objects that were closed and that the client is to have again; on loan until the next
    /// time.
    [[nodiscard]] std::span<const ObjectIndex> returned() const noexcept {
        return {returned_.data(), returned_.size()};
    }
    [[nodiscard]] bool is_empty() const noexcept { return leaving_.empty(); }

  private:
    struct Leaving {
        NetTime since;
        ChannelCloseReason reason = ChannelCloseReason::Destroyed;
    };

    [[nodiscard]] bool is_leaving(ObjectIndex index) const noexcept {
        return parts_.pairs.dormancy().leaving.test(index);
    }
    /// The outermost of its family that leaves with it.
    [[nodiscard]] ObjectIndex top_of(ObjectIndex index) const noexcept;
    /// All that leaves with it, inner before outer.
    void close_family(ObjectIndex index);

    ObjectChannels::Parts parts_;
    ObjectChannels& channels_;
    HiddenStates& hidden_states_;
    std::uint32_t timeout_ms_;
    FlatMap<ObjectIndex, Leaving> leaving_;  // by object index
    BitRow waiting_;                         // scratch: of the outermost, those that wait
    Vector<ObjectIndex> ready_;              // scratch
    Vector<DroppedCalls> dropped_;
    Vector<ObjectIndex> returned_;
};

}  // namespace replayout
