// SPDX-License-Identifier: MIT
#include "shared_opens.h"

#include <algorithm>

namespace replayout {

bool SharedOpens::open(ObjectIndex index) {
    const PairRef ref = parts_.pairs.ref(index);
    if (!parts_.context.shares_payloads() || !is_usual(ref)) {
        return false;
    }
    const ObjectLock lock = parts_.objects.lock(index);
    const Version version = ref.state().version();
    const SharedPayload* block = nullptr;
    BlockWriter::RegularBlock first;  // of the first client that gets it
    if (version > 0) {
        OwedVersions position;
        // Nothing of it is under way: the channel was closed.
        position.is_exact = ref.state().is_any_back(0);
        BlockWriter& blocks = parts_.properties.blocks();
        block = blocks.find_plain_payload(ref, position);
        if (block == nullptr) {
            first = blocks.first_block(ref, position);
            block = first.bytes.empty() ? nullptr : blocks.find_plain_payload(ref, position);
        }
        if (block == nullptr) {
            return false;
        }
    }
    OpenBunch& bunch = *ref.object.open_bunch();
    if (!may_write(bunch) || !make_room(index, bunch, block)) {
        return false;
    }
    SendingRepState& pair = parts_.channels.begin_shared_open(index);
    // In the debug mode blocks are told in their order, so each has a record of its own.
    const bool has_record = parts_.pairs.validator() != nullptr;
    parts_.packets.write_shared_open(index, bunch, has_record ? 0 : version);
    if (block != nullptr) {
        parts_.properties.blocks().write_kept(ref, *block, first);
        (void)pair.send(version);
        if (has_record) {
            parts_.packets.sent().add_record(SentRecord::of_first_block(index, version));
        }
    }
    parts_.pairs.pending().clear(index);
    if (parts_.runs.takes_more()) {
        lay_down(ref, version, block);
    }
    return true;
}

void SharedOpens::lay_down(PairRef ref, Version version, const SharedPayload* block) {
    // The owner of an object gets another open.
    if (parts_.pairs.validator() == nullptr && !parts_.objects.has_owner(ref.index) &&
        parts_.runs.find(ref.index) == OpenRuns::none) {
        OpenRuns::Entry entry;
        entry.may_be_regular = may_be_regular(ref.layout());
        entry.is_recent = parts_.pairs.is_recent(ref.index);
        parts_.runs.add({ref.object.open_bunch(), ref.index, version}, entry, block);
    }
}

bool SharedOpens::may_open_several() const noexcept {
    return parts_.pairs.validator() == nullptr && !parts_.channels.has_frozen_roles() &&
           !parts_.packets.opens().has_unfollowed() && parts_.packets.can_write();
}

std::uint32_t SharedOpens::end_of_several(std::uint32_t begin, const Order& order) const noexcept {
    const std::span<const OpenRuns::Entry> entries = parts_.runs.entries();
    const auto count_max =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(order.count_max, OpenRun::opens_max));
    const std::uint32_t end_max = std::min(parts_.runs.end_of_run(begin), begin + count_max);
    const OpenRuns::Sums before = parts_.runs.sums_before(begin);
    // The head of the first block may become longer, and add_block() sets the longest length aside.
    const std::size_t bytes_max =
        before.bunch_bytes + before.block_bytes + parts_.packets.builder().bytes_left();
    constexpr std::size_t more_bytes = block_step_bytes_max + block_length_bytes_max;
    ObjectIndex next = entries[begin].object_index;
    std::uint32_t end = begin;
    while (end < end_max && next < order.end && entries[end].object_index == next &&
           entries[end].sums.bunch_bytes + entries[end].sums.block_bytes + more_bytes <=
               bytes_max &&
           is_as_laid_down(entries[end])) {
        ++end;
        next = order.row.after(next);
    }
    if (begin == end) {
        return begin;
    }
    const OpenRuns::Sums& behind = entries[end - 1].sums;
    const bool has_room =
        behind.array_steps - before.array_steps <= parts_.packets.builder().array_steps_left() &&
        parts_.packets.reliable().has_room_for_opens(end - begin,
                                                     behind.payload_bytes - before.payload_bytes);
    return has_room ? end : begin;
}

bool SharedOpens::may_open(std::uint32_t begin, std::uint32_t end) const noexcept {
    const std::span<const OpenRuns::Entry> entries =
        parts_.runs.entries().subspan(begin, end - begin);
    return std::all_of(entries.begin(), entries.end(),
                       [this](const OpenRuns::Entry& entry) { return is_as_laid_down(entry); });
}

bool SharedOpens::is_as_laid_down(const OpenRuns::Entry& entry) const noexcept {
    const ObjectIndex index = entry.object_index;
    const PairVisibility& visibility = parts_.pairs.dormancy();
    return parts_.pairs.is_closed(index) && !parts_.pairs.has_extra(index) &&
           !visibility.is_kept_or_frozen(index) && !visibility.is_resting(index);
}

void SharedOpens::write(std::uint32_t begin, std::uint32_t end) {
    const OpenRunPart part = parts_.runs.run_part(begin, end);
    parts_.packets.write_opens(part, parts_.runs.bunches(begin, end), payload_bytes(begin, end));
    if (part.block_count > 0) {
        write_blocks(begin, end);
    }
}

void SharedOpens::write_blocks(std::uint32_t begin, std::uint32_t end) {
    const std::span<const OpenRuns::Entry> entries = parts_.runs.entries();
    const OpenRuns::Sums before = parts_.runs.sums_before(begin);
    const OpenRuns::Sums& behind = entries[end - 1].sums;
    std::uint32_t first = begin;
    while (entries[first].version == 0) {
        ++first;
    }
    std::uint32_t last = end - 1;
    while (entries[last].version == 0) {
        --last;
    }
    PacketBuilder& builder = parts_.packets.builder();
    builder.add_blocks(channel_of(entries[first].object_index), BlockLength::Given,
                       channel_of(entries[last].object_index), parts_.runs.blocks(first, end));
    builder.spend_array_steps(behind.array_steps - before.array_steps);
    ReplicationCounters& counters = parts_.context.counters;
    const std::uint32_t properties = behind.property_count - before.property_count;
    const std::uint32_t blocks = behind.block_count - before.block_count;
    counters.values_reused += properties;
    counters.properties_sent += properties;
    counters.payloads_reused += blocks;
    counters.blocks_sent += blocks;
    counters.block_bytes_sent += behind.body_bytes - before.body_bytes;
}

bool SharedOpens::is_usual(PairRef ref) const {
    return ref.object.open_bunch() != nullptr && parts_.properties.is_plain(ref) &&
           parts_.channels.opens_as_usual(ref.index);
}

bool SharedOpens::may_write(const OpenBunch& bunch) const noexcept {
    return parts_.packets.can_write() && !parts_.packets.has_lost_opens() &&
           !parts_.packets.opens().has_unfollowed() &&
           parts_.packets.reliable().has_room_for(PacketUse::Objects, bunch.payload().size());
}

bool SharedOpens::make_room(ObjectIndex index, const OpenBunch& bunch, const SharedPayload* block) {
    const PacketBuilder& builder = parts_.packets.builder();
    const ChannelIndex channel = channel_of(index);
    // As much as add_block() sets aside.
    const auto bytes_behind = [&](std::size_t head_bytes) {
        return bunch.bytes().size() +
               (block == nullptr ? 0 : head_bytes + block_length_bytes_max + block->bytes.size());
    };
    const std::size_t array_steps = block == nullptr ? 0 : block->array_steps;
    if (bytes_behind(builder.head_bytes_of(channel)) <= builder.bytes_left() &&
        array_steps <= builder.array_steps_left()) {
        return true;
    }
    // Both would go over into the next packet.
    if (bytes_behind(block_step_bytes(ChannelIndex{}, channel)) > builder.room_bytes() ||
        array_steps > SendContext::array_steps_in_packet ||
        !parts_.packets.may_go_over(PacketUse::Objects)) {
        return false;
    }
    parts_.packets.flush_full();
    return true;
}

}  // namespace replayout
