// SPDX-License-Identifier: MIT
#include "part_notice_sender.h"

#include <algorithm>
#include <array>
#include <utility>

#include "object_bunch.h"
#include "stable_name.h"

namespace replayout {

PartNoticeSender::PartNoticeSender(const Parts& parts, MemoryResource* resource)
    : parts_(parts), notices_(Allocator<std::pair<ObjectIndex, Notice>>(resource)) {}

void PartNoticeSender::object_opened(ObjectIndex index) {
    if (parts_.objects.destroyed_parts_of(index) != nullptr) {
        add(index, 0);
    }
}

void PartNoticeSender::forget_name(ObjectIndex outer, std::size_t number) noexcept {
    const auto found = notices_.find(outer);
    if (number != DestroyedNames::no_number && found != notices_.end() &&
        found->second.next > number) {
        --found->second.next;
    }
}

bool PartNoticeSender::is_idle() const noexcept {
    return std::all_of(notices_.begin(), notices_.end(), [&](const auto& notice) {
        return channel_state(parts_.pairs[notice.first]) == ChannelState::Closed;
    });
}

void PartNoticeSender::send_part_notices() {
    std::array<std::byte, PacketBuilder::packet_bytes_limit> message;
    const auto room = std::span(message).first(fragment_bytes(parts_.config.packet_bytes_max));
    for (auto entry = notices_.begin(); entry != notices_.end();) {
        const ObjectIndex index = entry->first;
        const DestroyedNames* names = parts_.objects.destroyed_parts_of(index);
        Notice& notice = entry->second;
        const ChannelState channel = channel_state(parts_.pairs[index]);
        const bool has_channel =
            (channel == ChannelState::OpenSent || channel == ChannelState::Open) &&
            !parts_.pairs.dormancy().frozen.test(index);
        const bool is_told = names == nullptr || notice.next >= names->count();
        if (is_told && notice.under_way_count == 0) {
            entry = notices_.erase(entry);
            continue;
        }
        // One bunch is left for the close.
        if (is_told || !has_channel || notice.under_way_count >= under_way_max ||
            bunch_count(parts_.pairs[index]) + 1 >= bunch_count_max) {
            ++entry;
            continue;
        }
        // A part of this name that is going there for another reason, out of sight say, goes first:
        // a client passes over the name of what it is shown.
        const auto is_next_free = [&] {
            const NetGUID outer = parts_.objects.at(index)->guid();
            return notice.next < names->count() && !parts_.closing_names.contains(stable_name_key(
                                                       outer, names->at(notice.next).name));
        };
        if (!is_next_free()) {
            ++entry;
            continue;
        }
        if (!parts_.packets.can_write(PacketUse::Messages) ||
            !parts_.packets.reliable().has_room_for(PacketUse::Messages, room.size())) {
            return;
        }
        BitWriter writer(room);
        writer.write_bits(static_cast<std::uint64_t>(ObjectMessageKind::PartsDestroyed), 8);
        while (is_next_free() &&
               writer.byte_count() + stable_name_encoded_bytes_max <= room.size()) {
            write_stable_name(writer, names->at(notice.next).name);
            ++notice.next;
        }
        BunchHeader header;
        header.channel = channel_of(index);
        header.is_message = true;
        const std::uint16_t sequence = parts_.pairs.extra_of(index).take_message_sequence();
        queue_bunch(parts_.packets.reliable(), parts_.pairs.edit(index), header, sequence,
                    writer.bytes(), {BunchTag::Kind::PartsDestroyed, index, sequence});
        ++notice.under_way_count;
        (void)parts_.packets.write_unsent_bunches();
    }
}

}  // namespace replayout
