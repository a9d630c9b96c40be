// SPDX-License-Identifier: MIT
//
// Which objects of a client are parts of which, and the names that outers have for them.
#pragma once

#include "channel_lists.h"
#include "client_channels.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

namespace replayout {

class ObjectFamilies {
  public:
    ObjectFamilies(const SecretHash& hash, MemoryResource* resource);

    /// The object of that channel is a part: `channel.outer` is there. `stable_name` is empty, or
    /// the name that its outer has for it.
    void add(ActorChannel& channel, ChannelIndex index, std::string_view stable_name);
    /// It goes.
    void remove(ActorChannel& channel, ChannelIndex index);
    /// All parts of this object go, with it.
    void forget_parts_of(NetGUID guid) { parts_.erase(guid); }
    /// Whether a part of that name is shown.
    [[nodiscard]] bool is_shown(NetGUID outer, std::string_view stable_name) const;
    /// The channel, and those of all parts of its object, outer before inner, without objects that
    /// despawn already (ActorChannel::departure_number). Valid until the next call.
    [[nodiscard]] std::span<const ChannelIndex> family_of(ChannelIndex index,
                                                          const ClientChannels& channels);

  private:
    // Keys are a server's choice. Looked up, never walked.
    using KeyTable = std::pmr::unordered_map<std::uint64_t, std::uint32_t, SecretHash>;

    ChannelLists parts_;
    // Parts with stable names that are shown: hash of outer and name -> how many.
    KeyTable named_parts_;
    Vector<ChannelIndex> family_;  // scratch
};

}  // namespace replayout
