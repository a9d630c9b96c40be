// SPDX-License-Identifier: MIT
//
// Messages about an object, on its channel: what this client is to it, and which of the parts that
// it makes itself are no more.
#include "replication_receiver.h"

#include "stable_name.h"

namespace replayout {

CloseReason ReplicationReceiver::receive_message(std::span<const std::byte> payload) {
    BitReader reader(payload);
    switch (static_cast<ObjectMessageKind>(reader.read_bits(8))) {
        case ObjectMessageKind::Role:
            return receive_role(reader);
        case ObjectMessageKind::PartsDestroyed:
            return receive_destroyed_parts(reader);
    }
    return CloseReason::MalformedBunch;
}

CloseReason ReplicationReceiver::receive_role(BitReader& reader) {
    const std::uint64_t bits = reader.read_packed_uint();
    ObjectRole role;
    if (reader.failed() || reader.bits_left() != 0 || !read_role(bits, role)) {
        return CloseReason::MalformedBunch;
    }
    set_role(*channels_[current_channel_], role);
    return CloseReason::None;
}

CloseReason ReplicationReceiver::receive_destroyed_parts(BitReader& reader) {
    BitReader names = reader;
    do {
        (void)read_stable_name(reader);
    } while (!reader.failed() && reader.bits_left() > 0);
    if (reader.failed()) {
        return CloseReason::MalformedBunch;
    }
    const ActorChannel& channel = *channels_[current_channel_];
    while (!channel.object.is_null() && names.bits_left() > 0) {
        const std::string_view name = read_stable_name(names);
        // One that is shown goes by its own close: the name was given again meanwhile, or that is
        // still on its way.
        if (!named_parts_.contains(stable_name_key(channel.guid, name))) {
            world_.destroy_part(channel.object, name);
        }
    }
    return CloseReason::None;
}

void ReplicationReceiver::note_named_part(ActorChannel& channel, std::string_view stable_name) {
    if (!stable_name.empty()) {
        channel.name_key = stable_name_key(channel.outer, stable_name);
        ++named_parts_[channel.name_key];
    }
}

void ReplicationReceiver::forget_named_part(ActorChannel& channel) noexcept {
    const auto found = named_parts_.find(channel.name_key);
    if (channel.name_key != 0 && found != named_parts_.end() && --found->second == 0) {
        named_parts_.erase(found);
    }
    channel.name_key = 0;
}

}  // namespace replayout
