// SPDX-License-Identifier: MIT
//
// From one connection of a recorded server to the next, which begins where the one before it ended.
#include "replication_receiver.h"

namespace replayout {

void ReplicationReceiver::begin_carrying_over() {
    finish_update();
    for (std::uint32_t index = 0; index < channels_.size(); ++index) {
        if (channels_[index] != nullptr) {
            carry_over(index);
        }
    }
    calls_.clear();
    ready_.clear();
}

void ReplicationReceiver::carry_over(std::uint32_t index) {
    ActorChannel& channel = *channels_[index];
    channel.receiver.reset();
    channel.is_closing = false;
    if (!channel.awaited.is_null()) {
        await_no_more(index);
    }
    if (channel.state != ActorChannel::State::Closed) {
        channel.state = ActorChannel::State::Dormant;
        channel.is_carried_over = true;
        channel.references.carry_over_deltas();
    }
}

void ReplicationReceiver::leave_to_another(std::uint32_t index,
                                           std::span<const std::byte> payload) {
    OpenMessage open;
    if (!read_open(payload, open) || open.guid == channels_[index]->guid) {
        return;
    }
    finish_update();  // it may be of what goes with that, and what names it is set
    if (spend_close(index)) {
        channels_[index]->is_carried_over = false;
        close_channel(index, ChannelCloseReason::Relevancy);
    }
}

void ReplicationReceiver::end_carrying_over() {
    finish_update();
    for (std::uint32_t index = 0; index < channels_.size(); ++index) {
        if (channels_[index] != nullptr && channels_[index]->is_carried_over) {
            channels_[index]->is_carried_over = false;
            close_channel(index, ChannelCloseReason::Relevancy);
        }
    }
}

}  // namespace replayout
