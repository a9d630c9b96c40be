// SPDX-License-Identifier: MIT
//
// Bundles of blocks on their way into packets: copied into the open one, or sent as they were laid
// down.
#include "packet_sender.h"

#include <algorithm>
#include <cstring>

namespace replayout {

namespace {

/// FateCost of the bundles `begin` <= i < `end`, at most.
[[nodiscard]] std::uint32_t fate_cost_of(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                         bool are_accounted) noexcept {
    if (begin == end) {
        return 0;
    }
    const SentBundles bundles{{&run, begin, run.bundles()[begin].all_blocks()}, end - begin};
    return FateCost::of(bundles) +
           (are_accounted ? bundles.block_count() * FateCost::accounted_block : 0);
}

}  // namespace

void PacketSender::add_bundle(const SentBundle& bundle) {
    REPLAYOUT_ASSERT(!builder_.is_empty());
    hold(*bundle.run);
    if (open_packet_.bundle_count == 0) {
        open_packet_.first_record_count = open_packet_.record_count;
    }
    ++open_packet_.bundle_count;
    const std::uint32_t blocks = bundle.block_count();
    stats_.records_sent += blocks;
    fate_cost_.add(FateCost::of_bundled(blocks, bundle.held_count()));
    sent_bundles_.push_back() = {bundle, 1};
}

void PacketSender::hold(BundleRun& run) noexcept {
    if (sent_bundles_.count() == 0 ||
        sent_bundles_.at(sent_bundles_.count() - 1).first.run != &run) {
        run.hold();
    }
}

std::uint32_t PacketSender::send_bundles(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                         std::span<std::byte> bytes, bool are_accounted) {
    REPLAYOUT_ASSERT(builder_.is_empty() && !is_capped() && begin <= end);
    const std::uint32_t first = run.packet_begin(begin);
    std::uint32_t count = std::min(end - begin, window_for(Share::Objects));
    // Near the limit as packet by packet: the last may exceed what may be under way.
    const auto cost_of = [&](std::uint32_t packets) {
        return fate_cost_of(run, first, run.packet_begin(begin + packets), are_accounted);
    };
    if (!fate_cost_.has_room_after(run.block_count() * FateCost::keyed_block)) {
        while (count > 1 && !fate_cost_.has_room_after(cost_of(count - 1))) {
            --count;
        }
    }
    const std::uint32_t behind = run.packet_begin(begin + count);
    if (count == 0) {
        return first;
    }
    // All headers are the same, but for the sequence.
    PacketHeader header = notify_.next_header();
    header.ack_requested = true;
    const std::size_t header_bytes = packet_header_bytes(header);
    std::array<std::byte, packet_header_bytes_max> front{};
    (void)write_packet_header(std::span(front).last(header_bytes), header);
    const std::span<const Bundle> bundles = run.bundles();
    hold(run);
    SentBundles& sent = sent_bundles_.push_back();
    sent = {{&run, first, bundles[first].all_blocks()}, behind - first};
    SentPacket& packet = packet_at(notify_.commit_sends(header, count));
    packet = SentPacket();
    packet.bundle_count = 1;
    packet.burst_count = static_cast<std::uint16_t>(count);
    packet.has_content = true;
    packet.sent = now_;
    const std::span<const RunPacket> packets = run.packets().subspan(begin, count);
    for (const RunPacket& each : packets) {
        std::memcpy(bytes.data() + each.bytes_begin - front.size(), front.data(), front.size());
        write_packet_sequence(bytes.subspan(each.bytes_begin - header_bytes), header.sequence++);
    }
    // Once all headers are written: who looks at one right behind its last byte waits for that.
    std::uint64_t byte_count = 0;
    for (const RunPacket& each : packets) {
        const std::span<const std::byte> datagram = bytes.subspan(
            each.bytes_begin - header_bytes, each.bytes_end - each.bytes_begin + header_bytes);
        byte_count += datagram.size();
        transport_.send(settings_.peer, datagram);
    }
    stats_.bytes_sent += byte_count;
    const std::uint32_t blocks = sent.block_count();
    stats_.records_sent += blocks;
    fate_cost_.add(FateCost::of(sent));
    credit_.sent(count);
    highest_with_content_ = notify_.highest_sent();
    in_flight(Share::Objects) += count;
    packets_finished_ += count;
    last_send_ = now_;
    has_sent_ = true;
    stats_.packets_sent += count;
    return behind;
}

std::uint32_t PacketSender::bundles_with(std::uint32_t object_index,
                                         std::uint64_t bundled_flush) const noexcept {
    if (sent_bundles_.count() == 0 || bundled_flush < sent_bundles_.front().first.run->flush()) {
        return 0;
    }
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < sent_bundles_.count(); ++i) {
        count += sent_bundles_.at(i).carrying(object_index);
    }
    return count;
}

void PacketSender::mark_held(const BundleRun& run, std::span<std::uint64_t> held) const noexcept {
    std::size_t begin = 0;
    std::size_t end = sent_bundles_.count();
    while (begin < end) {  // they stand in the order of their flushes
        const std::size_t middle = begin + (end - begin) / 2;
        if (sent_bundles_.at(middle).first.run->flush() < run.flush()) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    for (; begin < sent_bundles_.count() && sent_bundles_.at(begin).first.run == &run; ++begin) {
        const SentBundles& sent = sent_bundles_.at(begin);
        for (std::uint32_t i = 0; i < sent.count; ++i) {
            held[sent.first.bundle + i] |= sent[i].blocks;
        }
    }
}

}  // namespace replayout
