// SPDX-License-Identifier: MIT
//
// Remote calls of a server that a client's world does not let run yet (NetWorld::may_run_call), as
// the bytes that arrived. They are decoded when they run, so that what they name is looked up then.
// Kept calls are bounded like bunches that wait for a missing one, by an account of their own.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <span>

#include "incoming_calls.h"
#include "reliable_account.h"

namespace replayout {

class KeptCalls {
  public:
    /// `now` as in ReliableAccount.
    KeptCalls(const ReceiveLimits& limits, const NetTime& now, MemoryResource* resource);
    ~KeptCalls();
    KeptCalls(const KeptCalls&) = delete;
    KeptCalls& operator=(const KeptCalls&) = delete;

    /// Copies the call. False, and nothing kept: there is no room.
    [[nodiscard]] bool keep(const DueCall& call);
    [[nodiscard]] bool is_empty() const noexcept { return calls_.empty(); }
    [[nodiscard]] bool has(ChannelIndex channel) const noexcept {
        return calls_.find(channel) != calls_.end();
    }
    /// The first of that channel, which must have one; on loan until it is taken or dropped.
    [[nodiscard]] std::span<const std::byte> first(ChannelIndex channel) const noexcept;
    /// Takes it out.
    [[nodiscard]] Vector<std::byte> take(ChannelIndex channel);
    /// The first channel that has calls and is not below this one. False: there is none.
    [[nodiscard]] bool find_next(ChannelIndex& channel) const noexcept;
    /// Returns how many there were.
    std::uint32_t drop(ChannelIndex channel) noexcept;
    void clear() noexcept;

  private:
    using Calls = std::pmr::list<Vector<std::byte>>;

    MemoryResource* resource_;
    ReliableAccount account_;
    std::pmr::map<ChannelIndex, Calls> calls_;  // no entry is empty
};

}  // namespace replayout
