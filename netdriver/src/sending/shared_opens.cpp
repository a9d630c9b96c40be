// SPDX-License-Identifier: MIT
#include "shared_opens.h"

namespace replayout {

bool SharedOpens::open(ObjectIndex index) {
    const PairRef ref = parts_.pairs.ref(index);
    if (!parts_.context.shares_payloads() || !is_usual(ref)) {
        return false;
    }
    const ObjectLock lock = parts_.objects.lock(index);
    const Version version = ref.state().version();
    const SharedPayload* block = nullptr;
    if (version > 0) {
        OwedVersions position;
        // Nothing of it is under way: the channel was closed.
        position.is_exact = ref.state().is_any_back(0);
        block = parts_.properties.blocks().find_plain_payload(ref, position);
        if (block == nullptr) {
            return false;
        }
    }
    OpenBunch& bunch = *ref.object.open_bunch();
    if (!has_room(index, bunch, block)) {
        return false;
    }
    SendingRepState& pair = parts_.channels.begin_shared_open(index);
    // In the debug mode blocks are told in their order, so each has a record of its own.
    const bool has_record = parts_.pairs.validator() != nullptr;
    parts_.packets.write_shared_open(index, bunch, has_record ? 0 : version);
    if (block != nullptr) {
        const SendResult result = parts_.properties.blocks().write_payload(ref, *block);
        REPLAYOUT_ASSERT(result == SendResult::Whole);
        (void)result;
        (void)pair.send(version);
        if (has_record) {
            parts_.packets.sent().add_record(SentRecord::of_first_block(index, version));
        }
    }
    parts_.pairs.pending().clear(index);
    return true;
}

bool SharedOpens::is_usual(PairRef ref) const {
    return ref.object.open_bunch() != nullptr && parts_.properties.is_plain(ref) &&
           parts_.channels.opens_as_usual(ref.index);
}

bool SharedOpens::has_room(ObjectIndex index, const OpenBunch& bunch,
                           const SharedPayload* block) const noexcept {
    const PacketBuilder& builder = parts_.packets.builder();
    std::size_t bytes = bunch.bytes().size();
    if (block != nullptr) {
        // As much as add_block() sets aside.
        bytes +=
            builder.head_bytes_of(channel_of(index)) + block_length_bytes_max + block->bytes.size();
        if (block->array_steps > builder.array_steps_left()) {
            return false;
        }
    }
    return bytes <= builder.bytes_left() && parts_.packets.can_write() &&
           !parts_.packets.has_lost_opens() && !parts_.packets.opens().has_unfollowed() &&
           parts_.packets.reliable().has_room_for(PacketUse::Objects, bunch.payload().size());
}

}  // namespace replayout
