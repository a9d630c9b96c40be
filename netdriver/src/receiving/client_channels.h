// SPDX-License-Identifier: MIT
//
// The channels of the objects that a server shows to this client, by their index, and by the id
// of what they show.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include "actor_channel.h"
#include "close_log.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace replayout {

class ClientChannels {
  public:
    ClientChannels(const NetGUIDCache& guids, MemoryResource* resource);
    ~ClientChannels();
    ClientChannels(const ClientChannels&) = delete;
    ClientChannels& operator=(const ClientChannels&) = delete;

    /// Whether anything came on a channel, ever.
    [[nodiscard]] bool is_empty() const noexcept { return channels_.empty(); }
    /// Channels are `0` to count() - 1; those of which nothing came are null.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return static_cast<std::uint32_t>(channels_.size());
    }
    [[nodiscard]] ActorChannel* find(ChannelIndex index) const noexcept {
        return index.value < channels_.size() ? channels_[index.value] : nullptr;
    }
    /// One of which something came.
    [[nodiscard]] ActorChannel& operator[](ChannelIndex index) const noexcept {
        return *channels_[index.value];
    }
    /// Makes the channel, if it is not there. `account` is the connection's.
    void make(ChannelIndex index, ReliableAccount& account);

    /// The channel shows an object of that id from now on, also one that was refused; or no longer.
    void opened(NetGUID guid, ChannelIndex index) { channels_by_guid_.emplace(guid.value, index); }
    void closed(NetGUID guid) { channels_by_guid_.erase(guid.value); }
    [[nodiscard]] bool contains(NetGUID guid) const noexcept {
        return channels_by_guid_.contains(guid.value);
    }
    /// Null: no channel shows it, or it is the null id.
    [[nodiscard]] const ActorChannel* find(NetGUID guid) const noexcept;
    /// Null: no channel shows this object. Of a dormant one, too.
    [[nodiscard]] const ActorChannel* find(ObjectHandle object) const noexcept;
    /// The open channel that shows an object, or null. `index` is its channel's.
    [[nodiscard]] const ActorChannel* find_open(ObjectHandle object,
                                                ChannelIndex& index) const noexcept;

    /// Something on a channel waits since then for what did not come.
    [[nodiscard]] bool is_stuck_since(NetTime time) const;

    // What was refused last.

    /// `function` is the one that was called, if it was a call.
    void note_refusal(ChannelIndex index, std::string_view function = {}) noexcept;
    void forget_refusal() noexcept { refusal_ = CloseDetails(); }
    [[nodiscard]] const CloseDetails& refusal() const noexcept { return refusal_; }

  private:
    // Keys are a server's choice. Looked up, never walked.
    using KeyTable = std::pmr::unordered_map<std::uint64_t, ChannelIndex, SecretHash>;

    const NetGUIDCache& guids_;
    MemoryResource* resource_;
    Vector<ActorChannel*> channels_;  // by channel index; null: never used
    KeyTable channels_by_guid_;
    CloseDetails refusal_;
};

}  // namespace replayout
