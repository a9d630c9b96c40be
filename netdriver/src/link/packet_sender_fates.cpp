// SPDX-License-Identifier: MIT
//
// What became of packets, and so of what they carried, in the order in which it was written.
#include "packet_sender.h"

#include <algorithm>

namespace replayout {

PacketReceipt PacketSender::receive(const PacketHeader& header, NetTime now,
                                    SentContentHandler& handler) {
    handler_ = &handler;
    received_ = now;
    const PacketReceipt receipt = notify_.receive(header, *this);
    handler_ = nullptr;
    return receipt;
}

void PacketSender::packets_delivered(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t sequence = first; sequence <= last;) {
        const SentPacket& packet = packet_at(sequence);
        if (packet.burst_count == 0) {
            packet_delivered(sequence++);
            continue;
        }
        const auto count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(packet.burst_count, last - sequence + 1));
        REPLAYOUT_ASSERT(!congestion_.has_value());  // its rate is a cap
        in_flight(packet.share) -= count;
        stats_.packets_delivered += count;
        credit_.arrived(count);
        if (packet.bundle_count > 0) {
            bundles_delivered(bundles_of_burst(count));
        }
        shorten_burst(sequence, count);
        sequence += count;
    }
}

void PacketSender::shorten_burst(std::uint64_t sequence, std::uint32_t count) noexcept {
    SentPacket packet = packet_at(sequence);
    if (count < packet.burst_count) {
        packet.burst_count = static_cast<std::uint16_t>(packet.burst_count - count);
        packet_at(sequence + count) = packet;
    }
}

void PacketSender::packet_delivered(std::uint64_t sequence) {
    const SentPacket& packet = packet_at(sequence);
    if (packet.has_content) {
        --in_flight(packet.share);
        credit_.arrived(1);
    }
    ++stats_.packets_delivered;
    if (congestion_.has_value() && packet.has_content) {
        congestion_->delivered(sequence, packet.sent, received_);
    }
    if (packet.has_only_bundles()) {  // where much is sent, most are
        bundles_delivered(packet.bundle_count);
        return;
    }
    for (std::uint32_t i = 0; i < packet.bunch_count; ++i) {
        BunchTag tag;
        if (reliable_.delivered(sent_bunches_.front(), tag)) {
            handler_->bunch_delivered(tag);
        }
        sent_bunches_.pop_front();
    }
    fate_cost_.take(packet.bunch_count * FateCost::bunch);
    // In the order in which they were written.
    records_delivered(packet.first_record_count);
    bundles_delivered(packet.bundle_count);
    records_delivered(std::uint32_t{packet.record_count} - packet.first_record_count);
    for (std::uint32_t i = 0; i < packet.call_count; ++i) {
        handler_->call_delivered(sent_calls_.front());
        sent_calls_.pop_front();
    }
    fate_cost_.take(packet.call_count * FateCost::call);
}

void PacketSender::packet_lost(std::uint64_t sequence) {
    const SentPacket packet = packet_at(sequence);
    shorten_burst(sequence, 1);
    in_flight(packet.share) -= packet.has_content ? 1u : 0u;
    ++stats_.packets_lost;
    if (congestion_.has_value() && packet.has_content) {
        congestion_->lost(sequence);
    }
    for (std::uint32_t i = 0; i < packet.bunch_count; ++i) {
        BunchTag tag;
        if (reliable_.lost(sent_bunches_.front(), tag)) {
            handler_->bunch_lost(tag);
        }
        sent_bunches_.pop_front();
    }
    fate_cost_.take(packet.bunch_count * FateCost::bunch);
    records_lost(packet.first_record_count);
    const bool is_of_burst = packet.burst_count > 0 && packet.bundle_count > 0;
    const std::uint32_t bundles = is_of_burst ? bundles_of_burst(1) : packet.bundle_count;
    for (std::uint32_t i = 0; i < bundles; ++i) {
        const SentBundle bundle = sent_bundles_.front()[0];
        stats_.records_lost += bundle.block_count();
        handler_->bundle_lost(bundle);
        pop_bundles(1);
    }
    records_lost(std::uint32_t{packet.record_count} - packet.first_record_count);
    for (std::uint32_t i = 0; i < packet.call_count; ++i) {
        handler_->call_lost(sent_calls_.front());
        sent_calls_.pop_front();
    }
    fate_cost_.take(packet.call_count * FateCost::call);
}

void PacketSender::records_delivered(std::uint32_t count) {
    constexpr std::uint32_t steps = 8;  // pairs lie anywhere
    for (std::uint32_t i = 0; i < std::min(count, steps); ++i) {
        handler_->record_expected(sent_records_.at(i).object_index);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + steps < count) {
            handler_->record_expected(sent_records_.at(steps).object_index);
        }
        handler_->record_delivered(sent_records_.front());
        fate_cost_.take(FateCost::of(sent_records_.front()));
        sent_records_.pop_front();
    }
}

void PacketSender::records_lost(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        stats_.records_lost += sent_records_.front().is_more ? 0u : 1u;
        handler_->record_lost(sent_records_.front());
        fate_cost_.take(FateCost::of(sent_records_.front()));
        sent_records_.pop_front();
    }
}

void PacketSender::bundles_delivered(std::uint32_t count) {
    while (count > 0) {
        const std::uint32_t in_row = std::min(count, sent_bundles_.front().count);
        handler_->bundles_delivered(sent_bundles_.front(), in_row);
        pop_bundles(in_row);
        count -= in_row;
    }
}

void PacketSender::pop_bundles(std::uint32_t count) noexcept {
    SentBundles& front = sent_bundles_.front();
    REPLAYOUT_ASSERT(count <= front.count);
    BundleRun* const run = front.first.run;
    fate_cost_.take(FateCost::of(front));
    if (count < front.count) {
        front.drop_front(count);
        fate_cost_.add(FateCost::of(front));
        return;
    }
    sent_bundles_.pop_front();
    if (sent_bundles_.count() == 0 || sent_bundles_.front().first.run != run) {
        run->release();
    }
}

void PacketSender::drop_bundles() noexcept {
    while (sent_bundles_.count() > 0) {
        pop_bundles(sent_bundles_.front().count);
    }
}

void PacketSender::drop_content() {
    REPLAYOUT_ASSERT(builder_.is_empty() && handler_ == nullptr);
    has_objects_ = false;
    for (SentPacket& packet : sent_packets_) {
        packet.record_count = 0;
        packet.first_record_count = 0;
        packet.bundle_count = 0;
        packet.call_count = 0;
    }
    drop_bundles();
    sent_records_.clear();
    fate_cost_.clear();
    fate_cost_.add(static_cast<std::uint32_t>(sent_bunches_.count()) * FateCost::bunch);
    sent_calls_.clear();
    reliable_.keep_control_only();
}

}  // namespace replayout
