// SPDX-License-Identifier: MIT
#include "client_channels.h"

#include <algorithm>
#include <memory>
#include <new>

namespace replayout {

ClientChannels::ClientChannels(const NetGUIDCache& guids, MemoryResource* resource)
    : guids_(guids),
      resource_(resource),
      channels_(Allocator<ActorChannel*>(resource)),
      channels_by_guid_(0, guids.hash(), {}, resource) {}

ClientChannels::~ClientChannels() {
    for (ActorChannel* channel : channels_) {
        if (channel != nullptr) {
            std::destroy_at(channel);
            resource_->deallocate(channel, sizeof(ActorChannel), alignof(ActorChannel));
        }
    }
}

void ClientChannels::make(ChannelIndex index, ReliableAccount& account) {
    if (index.value >= channels_.size()) {
        channels_.resize(index.value + 1, nullptr);
    }
    if (channels_[index.value] == nullptr) {
        void* memory = resource_->allocate(sizeof(ActorChannel), alignof(ActorChannel));
        channels_[index.value] = ::new (memory) ActorChannel(account, resource_);
    }
}

const ActorChannel* ClientChannels::find(NetGUID guid) const noexcept {
    const auto found = channels_by_guid_.find(guid.value);
    return guid.is_null() || found == channels_by_guid_.end() ? nullptr : &(*this)[found->second];
}

const ActorChannel* ClientChannels::find(ObjectHandle object) const noexcept {
    return find(guids_.find_guid(object));
}

const ActorChannel* ClientChannels::find_open(ObjectHandle object,
                                              ChannelIndex& index) const noexcept {
    const auto found = channels_by_guid_.find(guids_.find_guid(object).value);
    if (found == channels_by_guid_.end()) {
        return nullptr;
    }
    index = found->second;
    const ActorChannel* channel = &(*this)[index];
    return channel->state == ActorChannel::State::Open ? channel : nullptr;
}

bool ClientChannels::is_stuck_since(NetTime time) const {
    return std::any_of(channels_.begin(), channels_.end(), [time](const ActorChannel* channel) {
        return channel != nullptr && channel->receiver.is_stuck_since(time);
    });
}

void ClientChannels::note_refusal(ChannelIndex index, std::string_view function) noexcept {
    refusal_ = CloseDetails();
    const ActorChannel* channel = find(index);
    if (channel != nullptr && channel->layout != nullptr) {
        refusal_ = {channel->layout->name(), function, channel->guid};
    }
}

}  // namespace replayout
