// SPDX-License-Identifier: MIT
//
// Opens of parts that wait for their outer, and the channels on which something may go on.
#pragma once

#include "channel_lists.h"
#include "client_channels.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace replayout {

class AwaitedOuters {
  public:
    AwaitedOuters(const SecretHash& hash, ClientChannels& channels, MemoryResource* resource)
        : channels_(channels),
          awaiting_(hash, resource),
          ready_(Allocator<ChannelIndex>(resource)) {}

    /// The open on that channel waits for this outer.
    void wait(ChannelIndex index, NetGUID outer) {
        if (channels_[index].awaited.is_null()) {
            channels_[index].awaited = outer;
            awaiting_.add(outer, index);
        }
    }
    /// The open that waits on this channel, if one does, no longer waits.
    void end_wait(ChannelIndex index) {
        awaiting_.remove(std::exchange(channels_[index].awaited, NetGUID()), index);
    }
    /// What waited for this object is ready.
    void arrived(NetGUID guid) {
        for (const ChannelIndex index : awaiting_.of(guid)) {
            channels_[index].awaited = NetGUID();
            ready_.push_back(index);
        }
        awaiting_.erase(guid);
    }

    /// What waits on that channel is to be tried again.
    void set_ready(ChannelIndex index) { ready_.push_back(index); }
    [[nodiscard]] std::optional<ChannelIndex> take_ready() {
        if (ready_.empty()) {
            return std::nullopt;
        }
        const ChannelIndex index = ready_.back();
        ready_.pop_back();
        return index;
    }
    void clear_ready() noexcept { ready_.clear(); }

  private:
    ClientChannels& channels_;
    ChannelLists awaiting_;  // with an open that waits for this outer
    Vector<ChannelIndex> ready_;
};

}  // namespace replayout
