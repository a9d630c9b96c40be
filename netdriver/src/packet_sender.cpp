// SPDX-License-Identifier: MIT
#include "packet_sender.h"

#include <utility>

namespace replayout {

PacketSender::PacketSender(const Settings& settings, Transport& transport, NetStats& stats,
                           MemoryResource* resource)
    : settings_(settings), transport_(transport), stats_(stats),
      notify_(PacketNotifySettings{.session = settings.session}),
      builder_(settings.packet_bytes_max),
      reliable_(fragment_bytes(settings.packet_bytes_max), resource),
      sent_packets_(Allocator<SentPacket>(resource)), open_packet_(resource) {
    sent_packets_.reserve(packets_in_flight_max);
    for (std::uint32_t i = 0; i < packets_in_flight_max; ++i) {
        sent_packets_.emplace_back(resource);
    }
}

void PacketSender::add_record(const SentRecord& record) {
    REPLAYOUT_ASSERT(!builder_.is_empty());
    open_packet_.records.push_back(record);
    ++stats_.records_sent;
}

bool PacketSender::write_bunch(BunchOrder order) {
    if (!can_write()) {
        return false;
    }
    const OutBunch& bunch = reliable_.unsent(order);
    const std::span<const std::byte> payload(bunch.payload.data(), bunch.payload.size());
    if (!builder_.add_bunch(bunch.header, payload)) {
        send_packet(true);
        if (!can_write()) {
            return false;
        }
        const bool is_added = builder_.add_bunch(bunch.header, payload);
        REPLAYOUT_ASSERT(is_added);
        (void)is_added;
    }
    ++stats_.bunches_sent;
    stats_.bunches_resent += bunch.was_sent ? 1 : 0;
    open_packet_.bunches.push_back(order);
    reliable_.sent(order);
    return true;
}

bool PacketSender::write_unsent_bunches() {
    while (reliable_.has_unsent()) {
        if (!write_bunch(reliable_.first_unsent())) {
            return false;
        }
    }
    return true;
}

void PacketSender::flush(NetTime now) {
    now_ = now;
    if (!builder_.is_empty()) {
        send_packet(true);
    }
}

void PacketSender::send_empty(NetTime now, bool ack_requested) {
    REPLAYOUT_ASSERT(builder_.is_empty() && notify_.can_probe());
    now_ = now;
    send_packet(ack_requested);
}

void PacketSender::send_packet(bool ack_requested) {
    PacketHeader header = notify_.next_header();
    header.has_bunches = builder_.has_bunches();
    header.ack_requested = ack_requested;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> datagram;
    const std::size_t size = builder_.finish(header, datagram);
    const std::uint64_t sequence = notify_.commit_send(header);
    SentPacket& packet = packet_at(sequence);
    REPLAYOUT_ASSERT(packet.bunches.empty() && packet.records.empty());
    std::swap(packet.bunches, open_packet_.bunches);
    std::swap(packet.records, open_packet_.records);
    if (ack_requested) {
        highest_requesting_ = sequence;
    }
    builder_.reset();
    last_send_ = now_;
    has_sent_ = true;
    ++stats_.packets_sent;
    stats_.bytes_sent += size;
    transport_.send(settings_.peer, std::span(datagram).first(size));
}

void PacketSender::drop_content() {
    REPLAYOUT_ASSERT(builder_.is_empty());
    handler_ = nullptr;
    reliable_.keep_control_only();
}

void PacketSender::packet_delivered(std::uint64_t sequence) {
    SentPacket& packet = packet_at(sequence);
    ++stats_.packets_delivered;
    for (const BunchOrder order : packet.bunches) {
        BunchTag tag;
        if (reliable_.delivered(order, tag) && handler_ != nullptr) {
            handler_->bunch_delivered(tag);
        }
    }
    for (const SentRecord& record : packet.records) {
        if (handler_ != nullptr) {
            handler_->record_delivered(record);
        }
    }
    packet.bunches.clear();
    packet.records.clear();
}

void PacketSender::packet_lost(std::uint64_t sequence) {
    SentPacket& packet = packet_at(sequence);
    ++stats_.packets_lost;
    for (const BunchOrder order : packet.bunches) {
        BunchTag tag;
        if (reliable_.lost(order, tag) && handler_ != nullptr) {
            handler_->bunch_lost(tag);
        }
    }
    stats_.records_lost += packet.records.size();
    for (const SentRecord& record : packet.records) {
        if (handler_ != nullptr) {
            handler_->record_lost(record);
        }
    }
    packet.bunches.clear();
    packet.records.clear();
}

}  // namespace replayout
