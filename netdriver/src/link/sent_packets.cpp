// SPDX-License-Identifier: MIT
#include "sent_packets.h"

#include <algorithm>

namespace replayout {

SentPackets::SentPackets(const Settings& settings, const Parts& parts, MemoryResource* resource)
    : parts_(parts),
      window_(settings.lost_packets_per_second_max),
      sent_bundles_(resource),
      notify_(PacketNotifySettings{.session = settings.session,
                                   .first_sequence_sent = settings.first_sequence,
                                   .first_sequence_received = settings.first_sequence}),
      sent_bunches_(resource),
      sent_records_(resource),
      sent_calls_(resource) {}

void SentPackets::add_record(const SentRecord& record) {
    ++open_packet_.record_count;
    parts_.stats.records_sent += record.is_more ? 0u : 1u;
    sent_records_.push_back() = record;
    window_.fate_cost().add(FateCost::of(record));
}

void SentPackets::add_bundle(const SentBundle& bundle) {
    hold(*bundle.run);
    if (open_packet_.bundle_count == 0) {
        open_packet_.first_record_count = open_packet_.record_count;
    }
    ++open_packet_.bundle_count;
    const std::uint32_t blocks = bundle.block_count();
    parts_.stats.records_sent += blocks;
    window_.fate_cost().add(FateCost::of_bundled(blocks, bundle.held_count()));
    sent_bundles_.push_back() = {bundle, 1};
}

void SentPackets::hold(BundleRun& run) noexcept {
    if (sent_bundles_.count() == 0 ||
        sent_bundles_.at(sent_bundles_.count() - 1).first.run != &run) {
        run.hold();
    }
}

void SentPackets::take_out_bunch(std::uint32_t number) noexcept {
    const std::size_t begin = sent_bunches_.count() - open_packet_.bunch_count;
    for (std::size_t i = begin + number + 1; i < sent_bunches_.count(); ++i) {
        sent_bunches_.at(i - 1) = sent_bunches_.at(i);
    }
    sent_bunches_.pop_back();
    --open_packet_.bunch_count;
    window_.fate_cost().take(FateCost::bunch);
}

void SentPackets::commit_burst(const PacketHeader& header, std::uint32_t count, const Burst& burst,
                               NetTime now) {
    REPLAYOUT_ASSERT(open_packet_.is_empty());
    hold(*burst.bundles.first.run);
    sent_bundles_.push_back() = burst.bundles;
    SentPacket& packet = packet_at(notify_.commit_sends(header, count));
    packet = SentPacket();
    packet.bundle_count = 1;
    packet.burst_count = static_cast<std::uint16_t>(count);
    packet.has_content = true;
    packet.sent = now;
    highest_with_content_ = notify_.highest_sent();
    parts_.stats.records_sent += burst.block_count;
    window_.fate_cost().add(burst.cost);
    window_.sent(PacketUse::Objects, count);
}

bool SentPackets::is_unanswered_since(NetTime time) const noexcept {
    for (std::uint64_t sequence = notify_.highest_acked() + 1; sequence <= highest_with_content_;
         ++sequence) {
        if (packet_at(sequence).sent > time) {
            return false;  // those after it are younger
        }
        if (packet_at(sequence).has_content) {
            return true;
        }
    }
    return false;
}

bool SentPackets::has_initial(ObjectIndex object_index) const noexcept {
    if (parts_.reliable.has_first_block_of(object_index)) {
        return true;
    }
    for (std::size_t i = 0; i < sent_records_.count(); ++i) {
        if (sent_records_.at(i).object_index == object_index && sent_records_.at(i).is_initial) {
            return true;
        }
    }
    return false;
}

std::uint32_t SentPackets::bundles_with(ObjectIndex object_index,
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

void SentPackets::mark_held(const BundleRun& run, std::span<std::uint64_t> held) const noexcept {
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

PacketReceipt SentPackets::receive(const PacketHeader& header, NetTime now,
                                   SentContentHandler& handler) {
    handler_ = &handler;
    received_ = now;
    const PacketReceipt receipt = notify_.receive(header, *this);
    handler_ = nullptr;
    return receipt;
}

void SentPackets::packets_delivered(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t sequence = first; sequence <= last;) {
        const SentPacket& packet = packet_at(sequence);
        if (packet.burst_count == 0) {
            packet_delivered(sequence++);
            continue;
        }
        const auto count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(packet.burst_count, last - sequence + 1));
        REPLAYOUT_ASSERT(!parts_.bandwidth.has_congestion_control());  // its rate is a cap
        window_.arrived(packet.use, count);
        parts_.stats.packets_delivered += count;
        if (packet.bundle_count > 0) {
            bundles_delivered(bundles_of_burst(count));
        }
        shorten_burst(sequence, count);
        sequence += count;
    }
}

void SentPackets::shorten_burst(std::uint64_t sequence, std::uint32_t count) noexcept {
    SentPacket packet = packet_at(sequence);
    if (count < packet.burst_count) {
        packet.burst_count = static_cast<std::uint16_t>(packet.burst_count - count);
        packet_at(sequence + count) = packet;
    }
}

void SentPackets::packet_delivered(std::uint64_t sequence) {
    const SentPacket& packet = packet_at(sequence);
    ++parts_.stats.packets_delivered;
    if (packet.has_content) {
        window_.arrived(packet.use, 1);
        parts_.bandwidth.delivered(sequence, packet.sent, received_);
    }
    if (packet.has_only_bundles()) {  // where much is sent, most are
        bundles_delivered(packet.bundle_count);
        return;
    }
    for (std::uint32_t i = 0; i < packet.bunch_count; ++i) {
        BunchTag tag;
        if (parts_.reliable.delivered(sent_bunches_.front(), tag)) {
            handler_->bunch_delivered(tag);
        }
        sent_bunches_.pop_front();
    }
    window_.fate_cost().take(packet.bunch_count * FateCost::bunch);
    kept_delivered(packet.kept_count);
    // In the order in which they were written.
    records_delivered(packet.first_record_count);
    bundles_delivered(packet.bundle_count);
    records_delivered(std::uint32_t{packet.record_count} - packet.first_record_count);
    for (std::uint32_t i = 0; i < packet.call_count; ++i) {
        handler_->call_delivered(sent_calls_.front());
        sent_calls_.pop_front();
    }
    window_.fate_cost().take(packet.call_count * FateCost::call);
}

void SentPackets::kept_delivered(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const KeptBunch& first = parts_.reliable.first_kept();
        if (first.is_run()) {
            opens_delivered();
        } else if (first.open == nullptr) {
            closes_delivered();
        } else {
            const ResolvedBunch open = parts_.reliable.open_delivered();
            handler_->open_delivered(open);
            window_.fate_cost().take(cost_of_open(open.block_version > 0));
        }
    }
}

void SentPackets::closes_delivered() {
    const std::uint32_t count = parts_.reliable.closes_delivered();
    for (std::uint32_t i = 0; i < count; ++i) {
        handler_->close_delivered(parts_.reliable.close_delivered());
    }
    window_.fate_cost().take(count * FateCost::bunch);
}

void SentPackets::opens_delivered() {
    const OpenRunPart opens = parts_.reliable.opens_delivered();
    handler_->opens_delivered(opens.opens());
    window_.fate_cost().take(cost_of(opens));
    opens.run->release();
}

void SentPackets::kept_lost(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::size_t left = parts_.reliable.first_kept().bunch_count(); left > 0; --left) {
            first_kept_lost();
        }
    }
}

void SentPackets::first_kept_lost() {
    const ResolvedBunch bunch = parts_.reliable.kept_lost();
    handler_->bunch_lost(bunch.tag);
    window_.fate_cost().take(cost_of_open(bunch.block_version > 0));
    if (bunch.block_version > 0) {
        ++parts_.stats.records_lost;
        handler_->record_lost(
            SentRecord::of_first_block(bunch.tag.object_index, bunch.block_version));
    }
}

void SentPackets::packet_lost(std::uint64_t sequence) {
    const SentPacket packet = packet_at(sequence);
    shorten_burst(sequence, 1);
    ++parts_.stats.packets_lost;
    if (packet.has_content) {
        window_.lost(packet.use);
        parts_.bandwidth.lost(sequence);
    }
    for (std::uint32_t i = 0; i < packet.bunch_count; ++i) {
        BunchTag tag;
        if (parts_.reliable.lost(sent_bunches_.front(), tag)) {
            handler_->bunch_lost(tag);
        }
        sent_bunches_.pop_front();
    }
    window_.fate_cost().take(packet.bunch_count * FateCost::bunch);
    kept_lost(packet.kept_count);
    records_lost(packet.first_record_count);
    const bool is_of_burst = packet.burst_count > 0 && packet.bundle_count > 0;
    const std::uint32_t bundles = is_of_burst ? bundles_of_burst(1) : packet.bundle_count;
    for (std::uint32_t i = 0; i < bundles; ++i) {
        const SentBundle bundle = sent_bundles_.front()[0];
        parts_.stats.records_lost += bundle.block_count();
        handler_->bundle_lost(bundle);
        pop_bundles(1);
    }
    records_lost(std::uint32_t{packet.record_count} - packet.first_record_count);
    for (std::uint32_t i = 0; i < packet.call_count; ++i) {
        handler_->call_lost(sent_calls_.front());
        sent_calls_.pop_front();
    }
    window_.fate_cost().take(packet.call_count * FateCost::call);
}

void SentPackets::records_delivered(std::uint32_t count) {
    constexpr std::uint32_t steps = 8;  // pairs lie anywhere
    for (std::uint32_t i = 0; i < std::min(count, steps); ++i) {
        handler_->record_expected(sent_records_.at(i).object_index);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + steps < count) {
            handler_->record_expected(sent_records_.at(steps).object_index);
        }
        handler_->record_delivered(sent_records_.front());
        window_.fate_cost().take(FateCost::of(sent_records_.front()));
        sent_records_.pop_front();
    }
}

void SentPackets::records_lost(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        parts_.stats.records_lost += sent_records_.front().is_more ? 0u : 1u;
        handler_->record_lost(sent_records_.front());
        window_.fate_cost().take(FateCost::of(sent_records_.front()));
        sent_records_.pop_front();
    }
}

void SentPackets::bundles_delivered(std::uint32_t count) {
    while (count > 0) {
        const std::uint32_t at_front = std::min(count, sent_bundles_.front().count);
        handler_->bundles_delivered(sent_bundles_.front(), at_front);
        pop_bundles(at_front);
        count -= at_front;
    }
}

void SentPackets::pop_bundles(std::uint32_t count) noexcept {
    SentBundles& front = sent_bundles_.front();
    REPLAYOUT_ASSERT(count <= front.count);
    BundleRun* const run = front.first.run;
    window_.fate_cost().take(FateCost::of(front));
    if (count < front.count) {
        front.drop_front(count);
        window_.fate_cost().add(FateCost::of(front));
        return;
    }
    sent_bundles_.pop_front();
    if (sent_bundles_.count() == 0 || sent_bundles_.front().first.run != run) {
        run->release();
    }
}

void SentPackets::drop_bundles() noexcept {
    while (sent_bundles_.count() > 0) {
        pop_bundles(sent_bundles_.front().count);
    }
}

void SentPackets::drop_content() noexcept {
    REPLAYOUT_ASSERT(open_packet_.is_empty() && handler_ == nullptr);
    window_.end_objects();
    for (SentPacket& packet : sent_packets_) {
        packet.record_count = 0;
        packet.first_record_count = 0;
        packet.bundle_count = 0;
        packet.call_count = 0;
        packet.kept_count = 0;
    }
    drop_bundles();
    sent_records_.clear();
    window_.fate_cost().clear();
    window_.fate_cost().add(static_cast<std::uint32_t>(sent_bunches_.count()) * FateCost::bunch);
    sent_calls_.clear();
}

}  // namespace replayout
