// SPDX-License-Identifier: MIT
#include "role_sender.h"

#include <array>
#include <utility>

#include "object_bunch.h"

namespace replayout {

namespace {

class RolePayload {
  public:
    explicit RolePayload(const ObjectRole& role) noexcept {
        BitWriter writer(memory_);
        writer.write_bits(static_cast<std::uint64_t>(ObjectMessageKind::Role), 8);
        writer.write_packed_uint(role_bits(role));
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_; }

  private:
    std::array<std::byte, 2> memory_;
};

}  // namespace

RoleSender::RoleSender(const ObjectStore& objects, ConnectionPairs& pairs, PacketStream& packets,
                       PeerId peer, MemoryResource* resource)
    : objects_(objects),
      pairs_(pairs),
      packets_(packets),
      peer_(peer),
      told_roles_(Allocator<std::pair<ObjectIndex, ToldRole>>(resource)) {}

void RoleSender::ownership_changed(ObjectIndex index, const ObjectOwnership& before,
                                   const ObjectOwnership& after) {
    const ObjectRole role_before = before.role_of(peer_);
    const ChannelState state = channel_state(pairs_[index]);
    const bool is_told = state == ChannelState::OpenSent || state == ChannelState::Open;
    if (is_told && role_before != after.role_of(peer_)) {
        told_roles_.emplace(index, ToldRole{role_before, false});
    }
}

void RoleSender::role_delivered(ObjectIndex index) noexcept {
    if (const auto found = told_roles_.find(index); found != told_roles_.end()) {
        found->second.is_under_way = false;
    }
}

void RoleSender::send_roles() {
    for (auto entry = told_roles_.begin(); entry != told_roles_.end();) {
        const ObjectIndex index = entry->first;
        const ObjectRole role = objects_.at(index)->ownership().role_of(peer_);
        if (entry->second.is_under_way || pairs_.dormancy().frozen.test(index)) {
            ++entry;
            continue;
        }
        if (entry->second.told == role) {
            entry = told_roles_.erase(entry);
            continue;
        }
        const RolePayload payload(role);
        if (!packets_.can_write(PacketUse::Messages) ||
            !packets_.reliable().has_room_for(PacketUse::Messages, payload.bytes().size())) {
            return;
        }
        BunchHeader header;
        header.channel = channel_of(index);
        header.is_message = true;
        const std::uint16_t sequence = pairs_.extra_of(index).take_message_sequence();
        queue_bunch(packets_.reliable(), pairs_.edit(index), header, sequence, payload.bytes(),
                    {BunchTag::Kind::Role, index, sequence});
        entry->second = {role, true};
        (void)packets_.write_unsent_bunches();
        ++entry;
    }
}

}  // namespace replayout
