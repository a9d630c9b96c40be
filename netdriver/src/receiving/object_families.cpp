// SPDX-License-Identifier: MIT
#include "object_families.h"

#include "stable_name.h"

#include <algorithm>
#include <iterator>

namespace replayout {

ObjectFamilies::ObjectFamilies(const SecretHash& hash, MemoryResource* resource)
    : parts_(hash, resource),
      named_parts_(0, hash, {}, resource),
      family_(Allocator<ChannelIndex>(resource)) {}

void ObjectFamilies::add(ActorChannel& channel, ChannelIndex index, std::string_view stable_name) {
    parts_.add(channel.outer, index);
    if (!stable_name.empty()) {
        channel.name_key = stable_name_key(channel.outer, stable_name);
        ++named_parts_[channel.name_key];
    }
}

void ObjectFamilies::remove(ActorChannel& channel, ChannelIndex index) {
    parts_.remove(channel.outer, index);
    const auto found = named_parts_.find(channel.name_key);
    if (channel.name_key != 0 && found != named_parts_.end() && --found->second == 0) {
        named_parts_.erase(found);
    }
    channel.name_key = 0;
}

bool ObjectFamilies::is_shown(NetGUID outer, std::string_view stable_name) const {
    return named_parts_.contains(stable_name_key(outer, stable_name));
}

std::span<const ChannelIndex> ObjectFamilies::family_of(ChannelIndex index,
                                                        const ClientChannels& channels) {
    family_.assign(1, index);
    for (std::size_t i = 0; i < family_.size(); ++i) {
        const std::span<const ChannelIndex> parts = parts_.of(channels[family_[i]].guid);
        std::copy_if(parts.begin(), parts.end(), std::back_inserter(family_),
                     [&](ChannelIndex part) { return channels[part].departure_number == 0; });
    }
    return {family_.data(), family_.size()};
}

}  // namespace replayout
