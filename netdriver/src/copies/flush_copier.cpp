// SPDX-License-Identifier: MIT
#include "flush_copier.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace replayout {

void FlushCopier::begin() {
    filling_ = parts_.copies.miss();
    if (filling_ == nullptr) {
        return;
    }
    FlushCopy& copy = *filling_;
    copy.clear();
    const std::span<const std::uint64_t> pending = parts_.pairs.pending_row().words();
    copy.pending.assign(pending.begin(), pending.end());
    for (const std::uint32_t word : parts_.changes.words) {
        copy.regular.push_back(parts_.pairs.regular().word(word) &
                               parts_.changes.objects.word(word));
    }
    const ReliableSender& reliable = parts_.packets.reliable();
    for (std::uint32_t i = 0; i < reliable.waiting_close_count(); ++i) {
        copy.closes.push_back(reliable.waiting_close(i));
    }
    is_alike_ = true;
    packet_number_ = parts_.packets.open_packet_number();
    counts_before_ = counts_so_far();
    parts_.packets.set_observer(this);
}

void FlushCopier::end() {
    FlushCopy* const copy = filling_;
    if (copy == nullptr) {
        return;
    }
    parts_.packets.set_observer(nullptr);
    // Packets of a run that went out as they were cut are no packets of the copy.
    is_alike_ =
        is_alike_ && copy->packet_count == parts_.packets.open_packet_number() - packet_number_;
    copy->is_last_open = !parts_.packets.builder().is_empty();
    if (copy->is_last_open) {
        packet_ends();
    }
    if (is_alike_ && is_complete(*copy)) {
        copy->counts = counts_since_begin();
        parts_.copies.keep();
    }
    filling_ = nullptr;
}

void FlushCopier::start_sent() {
    PacketStream& packets = parts_.packets;
    if (filling_ == nullptr || packets.open_packet_number() != packet_number_ ||
        packets.builder().is_empty() || !packets.sent().has_only_kept_and_bundles()) {
        return;
    }
    FlushCopy& copy = *filling_;
    copy.start.close_count = 0;
    packets.for_each_kept_of_packet(
        [&](const KeptBunch& kept) { copy.start.close_count += kept.close_count; });
    packets.sent().for_each_bundle_of_packet(
        [&](const SentBundle& bundle) { copy.start_bundles.push_back(bundle); });
    copy.has_start = copy.start.close_count == copy.closes.size();
    copy.start.use = packets.open_use();
    copy.start.content.copy_from(packets.builder());
    copy.start_counts = counts_since_begin();
}

FlushCopy::Counts FlushCopier::counts_since_begin() const noexcept {
    const FlushCopy::Counts counts = counts_so_far();
    return {counts.blocks - counts_before_.blocks, counts.properties - counts_before_.properties,
            counts.block_bytes - counts_before_.block_bytes,
            counts.bundles - counts_before_.bundles};
}

FlushCopy::Counts FlushCopier::counts_so_far() const noexcept {
    const ReplicationCounters& counters = parts_.context.counters;
    return {counters.blocks_sent, counters.properties_sent, counters.block_bytes_sent,
            counters.bundles_copied};
}

bool FlushCopier::take_packet(FlushCopy& copy) const {
    PacketStream& packets = parts_.packets;
    if (copy.packet_count == FlushCopy::packets_max || packets.opens().has_unfollowed() ||
        !packets.sent().has_only_kept_and_bundles()) {
        return false;
    }
    copy.packets.grow_to(copy.packet_count + 1);
    FlushCopy::Packet& packet = copy.packets[copy.packet_count++];
    packet.close_count = 0;
    bool is_alike = true;
    packets.for_each_kept_of_packet([&](const KeptBunch& kept) {
        if (kept.is_run() || kept.open != nullptr) {
            is_alike = is_alike && take_opens(copy, kept);
        } else {
            packet.close_count += kept.close_count;
        }
    });
    packets.sent().for_each_bundle_of_packet(
        [&](const SentBundle& bundle) { copy.bundles.push_back(bundle); });
    packet.bundles_end = static_cast<std::uint32_t>(copy.bundles.size());
    packet.opens_end = static_cast<std::uint32_t>(copy.opens.size());
    packet.use = packets.open_use();
    packet.content.copy_from(packets.builder());
    return is_alike;
}

bool FlushCopier::take_opens(FlushCopy& copy, const KeptBunch& kept) const {
    const std::uint32_t begin = parts_.runs.find(
        kept.is_run() ? kept.opens.opens().front().object_index : kept.object_index);
    if (begin == OpenRuns::none) {
        return false;  // it is special to this client
    }
    const std::uint32_t end = begin + static_cast<std::uint32_t>(kept.bunch_count());
    const std::uint32_t packet_begin =
        copy.packet_count < 2 ? 0 : copy.packets[copy.packet_count - 2].opens_end;
    if (copy.opens.size() > packet_begin && copy.opens.back().end == begin &&
        parts_.runs.end_of_run(copy.opens.back().begin) > begin) {
        copy.opens.back().end = end;
    } else {
        copy.opens.push_back({begin, end});
    }
    copy.open_count += end - begin;
    copy.open_payload_bytes +=
        parts_.runs.sums_before(end).payload_bytes - parts_.runs.sums_before(begin).payload_bytes;
    return true;
}

bool FlushCopier::is_complete(const FlushCopy& copy) const noexcept {
    std::size_t close_count = 0;
    for (std::uint32_t i = 0; i < copy.packet_count; ++i) {
        close_count += copy.packets[i].close_count;
    }
    std::size_t pending_count = 0;
    for (const std::uint64_t word : copy.pending) {
        pending_count += count_bits(word);
    }
    // Some of what was pending may have been passed over, or still be.
    return copy.packet_count > 0 && close_count == copy.closes.size() &&
           pending_count == copy.open_count && !parts_.packets.has_lost_opens() &&
           parts_.pairs.pending_row().is_empty();
}

const FlushCopy* FlushCopier::find() const noexcept {
    for (const FlushCopy& copy : parts_.copies.taken()) {
        if (has_same_pending(copy) && has_same_start(copy)) {
            return may_send(copy) ? &copy : nullptr;
        }
    }
    return nullptr;
}

bool FlushCopier::has_same_pending(const FlushCopy& copy) const noexcept {
    const std::span<const std::uint64_t> pending = parts_.pairs.pending_row().words();
    return std::equal(pending.begin(), pending.end(), copy.pending.begin(), copy.pending.end());
}

bool FlushCopier::has_same_start(const FlushCopy& copy) const noexcept {
    const ReliableSender& reliable = parts_.packets.reliable();
    if (reliable.waiting_close_count() != copy.closes.size()) {
        return false;
    }
    const std::uint64_t* const changed = parts_.changes.objects.words().data();
    const std::uint64_t* const regular = parts_.pairs.regular().words().data();
    const std::uint64_t* owed = copy.regular.data();
    std::uint64_t difference = 0;
    for (const std::uint32_t word : parts_.changes.words) {
        difference |= (regular[word] & changed[word]) ^ *owed++;
    }
    if (difference != 0) {
        return false;
    }
    for (std::uint32_t i = 0; i < reliable.waiting_close_count(); ++i) {
        if (reliable.waiting_close(i) != copy.closes[i]) {
            return false;
        }
    }
    return true;
}

bool FlushCopier::has_room(const FlushCopy& copy, std::uint32_t packets, std::uint32_t opens,
                           std::size_t open_bytes) const noexcept {
    const auto close_count = static_cast<std::uint32_t>(copy.closes.size());
    return parts_.packets.may_begin(packets) &&
           (opens + close_count == 0 ||
            parts_.packets.reliable().has_room_for_opens(
                opens + close_count, open_bytes + close_count * close_payload_bytes));
}

bool FlushCopier::may_send(const FlushCopy& copy) const noexcept {
    return has_room(copy, copy.packet_count, copy.open_count, copy.open_payload_bytes) &&
           std::all_of(copy.opens.begin(), copy.opens.end(),
                       [this](const FlushCopy::OpenRange& range) {
                           return parts_.opens.may_open(range.begin, range.end);
                       });
}

bool FlushCopier::copy_start() {
    for (const FlushCopy& copy : parts_.copies.taken()) {
        if (copy.has_start && has_same_start(copy) && has_room(copy, 1, 0, 0)) {
            parts_.packets.begin_copies();
            parts_.pairs.caught_up();
            write(copy.start, {copy.start_bundles.data(), copy.start_bundles.size()});
            count(copy.start_counts);
            return true;
        }
    }
    return false;
}

void FlushCopier::write(const FlushCopy::Packet& packet, std::span<const SentBundle> bundles) {
    parts_.packets.write_copy(packet.content, packet.use, packet.close_count);
    for (const SentBundle& bundle : bundles) {
        parts_.packets.sent().add_bundle(bundle);
    }
}

void FlushCopier::count(const FlushCopy::Counts& counts) noexcept {
    ReplicationCounters& counters = parts_.context.counters;
    counters.blocks_sent += counts.blocks;
    counters.payloads_reused += counts.blocks;
    counters.properties_sent += counts.properties;
    counters.values_reused += counts.properties;
    counters.block_bytes_sent += counts.block_bytes;
    counters.bundles_copied += counts.bundles;
}

}  // namespace replayout
