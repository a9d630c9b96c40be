// SPDX-License-Identifier: MIT
#include "packet_stream.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "reliable_receiver.h"

namespace replayout {

namespace {

[[nodiscard]] bool has_waiting_bunches(const ReliableSender& reliable) noexcept {
    return !reliable.is_idle() &&
           (reliable.has_waiting_closes() || reliable.waiting_count(PacketUse::Objects) +
                                                     reliable.waiting_count(PacketUse::Messages) +
                                                     reliable.waiting_count(PacketUse::Values) >
                                                 0);
}

/// Returns the FateCost of the bundles `begin` <= i < `end`, at most.
[[nodiscard]] std::uint32_t fate_cost_of(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                         bool are_accounted) noexcept {
    if (begin == end) {
        return 0;
    }
    const SentBundles bundles{{&run, begin, run.bundles()[begin].all_blocks()}, end - begin};
    return FateCost::of(bundles) +
           (are_accounted ? bundles.block_count() * FateCost::accounted_block : 0);
}

/// Returns how many of `count` packets of a run, from packet `begin` on, may be under way as well.
/// Near the limit as packet by packet: the last may exceed it.
[[nodiscard]] std::uint32_t affordable_count(BundleRun& run, std::uint32_t begin,
                                             std::uint32_t count, const FateCost& under_way,
                                             bool are_accounted) noexcept {
    if (under_way.has_room_after(run.block_count() * FateCost::keyed_block)) {
        return count;
    }
    const auto cost_of = [&](std::uint32_t packets) {
        return fate_cost_of(run, run.packet_begin(begin), run.packet_begin(begin + packets),
                            are_accounted);
    };
    while (count > 1 && !under_way.has_room_after(cost_of(count - 1))) {
        --count;
    }
    return count;
}

/// Writes the header into the room in front of each of these packets, whose bytes lie in `bytes`,
/// and sends them. Returns how many bytes were sent.
std::uint64_t send_burst(Transport& transport, PeerId peer, PacketHeader header,
                         std::span<const RunPacket> packets, std::span<std::byte> bytes) {
    // All headers are the same, but for the sequence.
    const std::size_t header_bytes = packet_header_bytes(header);
    std::array<std::byte, packet_header_bytes_max> front{};
    (void)write_packet_header(std::span(front).last(header_bytes), header);
    for (const RunPacket& each : packets) {
        std::memcpy(bytes.data() + each.bytes_begin - front.size(), front.data(), front.size());
        write_packet_sequence(bytes.subspan(each.bytes_begin - header_bytes), header.sequence++);
    }
    // Once all headers are written: reading one right after its last byte was written would wait
    // for that byte.
    std::uint64_t byte_count = 0;
    for (const RunPacket& each : packets) {
        const std::span<const std::byte> datagram = bytes.subspan(
            each.bytes_begin - header_bytes, each.bytes_end - each.bytes_begin + header_bytes);
        byte_count += datagram.size();
        transport.send(peer, datagram);
    }
    return byte_count;
}

}  // namespace

PacketStream::Settings PacketStream::Settings::of(const NetConfig& config, PeerId peer,
                                                  std::uint16_t session) noexcept {
    return {.peer = peer,
            .session = session,
            .packet_bytes_max = config.packet_bytes_max,
            .reliable_window = replayout::reliable_window(ReceiveLimits::of_server(config)),
            .bytes_per_second_max = config.bytes_per_second_max,
            .has_congestion_control = config.has_congestion_control,
            .first_sequence = static_cast<std::uint16_t>(config.first_sequence),
            .lost_packets_per_second_max = config.lost_packets_per_second_max};
}

PacketStream::PacketStream(const Settings& settings, Transport& transport, NetStats& stats,
                           MemoryResource* resource)
    : peer_(settings.peer),
      transport_(transport),
      stats_(stats),
      first_sequence_(settings.first_sequence),
      reliable_(fragment_bytes(settings.packet_bytes_max), settings.reliable_window, stats,
                resource),
      bandwidth_(settings.bytes_per_second_max, settings.has_congestion_control,
                 settings.packet_bytes_max, reliable_),
      sent_({.session = settings.session,
             .first_sequence = settings.first_sequence,
             .lost_packets_per_second_max = settings.lost_packets_per_second_max},
            {bandwidth_, reliable_, stats}, resource),
      opens_(resource),
      builder_(settings.packet_bytes_max) {}

void PacketStream::drop_content() {
    REPLAYOUT_ASSERT(builder_.is_empty());
    sent_.drop_content();
    reliable_.keep_control_only();
}

bool PacketStream::may_begin_packet(PacketUse use) const noexcept {
    return bandwidth_.may_begin(use) && sent_.packets_for(use) > 0;
}

std::uint32_t PacketStream::value_room() const noexcept {
    const std::uint32_t room =
        std::min(sent_.packets_for(PacketUse::Values), bandwidth_.packets_left_for_values());
    return room - std::min(room, reliable_.waiting_count(PacketUse::Values));
}

bool PacketStream::make_room_for_bunch(PacketUse use, std::size_t bytes) {
    if (!builder_.is_empty() && builder_.bytes_left() < bytes) {
        flush_full();
    }
    return can_write(use);
}

void PacketStream::write_bunch(PacketUse use) {
    const OutBunch& bunch = reliable_.next(use);
    begin_packet(use);
    if (use == PacketUse::Values) {
        turns_.value_written();
    }
    stats_.bunches_resent += bunch.was_sent ? 1 : 0;
    const std::size_t offset = builder_.bunch_bytes();
    const std::span<const std::byte> payload(bunch.payload.data(), bunch.payload.size());
    const bool is_added = builder_.add_bunch(bunch.header, payload);
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    CarriedOpens::Open open{
        bunch.tag.object_index, {}, sent_.bunch_count(), offset, builder_.bunch_bytes() - offset,
        bunch.was_sent};
    const bool is_open = bunch.tag.kind == BunchTag::Kind::Open;
    open.name = reliable_.sent(use);
    if (is_open) {
        opens_.add(open);
    }
    note_bunch(open.name);
}

void PacketStream::write_shared_open(ObjectIndex index, OpenBunch& bunch, Version block_version) {
    begin_packet(PacketUse::Objects);
    builder_.add_bunch_bytes(bunch.bytes());
    reliable_.send_open(index, bunch, block_version);
    sent_.add_open(block_version > 0);
    ++stats_.bunches_sent;
}

void PacketStream::write_opens(const OpenRunPart& opens, std::span<const std::byte> bunches,
                               std::size_t payload_bytes) {
    begin_packet(PacketUse::Objects);
    builder_.add_bunch_bytes(bunches, opens.count);
    note_opens(opens, payload_bytes);
}

void PacketStream::note_opens(const OpenRunPart& opens, std::size_t payload_bytes) {
    reliable_.send_opens(opens, payload_bytes);
    sent_.add_opens(opens);
    stats_.bunches_sent += opens.count;
}

void PacketStream::write_copy(const PacketBuilder& packet, PacketUse use,
                              std::uint32_t close_count) {
    begin_packet(use);
    builder_.copy_from(packet);
    if (close_count > 0) {
        note_closes(close_count);
    }
}

void PacketStream::note_closes(std::uint32_t count) {
    reliable_.send_closes(count);
    sent_.add_closes(count);
    stats_.bunches_sent += count;
}

void PacketStream::note_bunch(const SentBunch& name) {
    ++stats_.bunches_sent;
    sent_.add_bunch(name);
}

void PacketStream::take_out_opens() noexcept {
    opens_.for_each_unfollowed([this](const CarriedOpens::Open& open) {
        builder_.remove_bunch(open.offset, open.bytes);
        reliable_.unsend(open.name, open.was_sent);
        sent_.take_out_bunch(open.bunch_number);
        --stats_.bunches_sent;
        stats_.bunches_resent -= open.was_sent ? 1u : 0u;
    });
    opens_.clear();
}

void PacketStream::flush_full_before(ObjectIndex object_index) {
    const std::optional<CarriedOpens::Open> open = opens_.find_unfollowed(object_index);
    flush_full();
    if (open.has_value() && may_begin_packet(PacketUse::Objects)) {
        write_taken_out(open->name);
    }
}

void PacketStream::write_taken_out(const SentBunch& name) {
    const OutBunch& bunch = reliable_.resend(name);
    begin_packet(PacketUse::Objects);
    const std::size_t offset = builder_.bunch_bytes();
    const bool was_sent = bunch.was_sent;
    const bool is_added =
        builder_.add_bunch(bunch.header, {bunch.payload.data(), bunch.payload.size()});
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    stats_.bunches_resent += was_sent ? 1 : 0;
    opens_.add({bunch.tag.object_index, name, sent_.bunch_count(), offset,
                builder_.bunch_bytes() - offset, was_sent});
    note_bunch(name);
}

std::optional<ObjectIndex> PacketStream::write_lost_open() {
    if (!has_lost_opens() || !reliable_.may_send(PacketUse::Objects)) {
        return std::nullopt;
    }
    const OutBunch& bunch = reliable_.next(PacketUse::Objects);
    const ObjectIndex object_index = bunch.tag.object_index;
    if (!make_room_for_bunch(PacketUse::Objects,
                             bunch_header_bytes(bunch.header) + bunch.payload.size())) {
        return std::nullopt;
    }
    write_bunch(PacketUse::Objects);
    return object_index;
}

bool PacketStream::write_bunches(PacketUse use) {
    while (reliable_.may_send(use)) {
        if (!write_next(use)) {
            return false;
        }
    }
    return true;
}

bool PacketStream::write_next(PacketUse use) {
    const OutBunch& bunch = reliable_.next(use);
    if (!make_room_for_bunch(use, bunch_header_bytes(bunch.header) + bunch.payload.size())) {
        return false;
    }
    write_bunch(use);
    return true;
}

bool PacketStream::write_closes(std::uint32_t count_max) {
    const auto next = [this](std::uint32_t number) {
        const WaitingClose& close = reliable_.waiting_close(number);
        return CloseBunch(close.channel, close.sequence, close.reason);
    };
    CloseBunch bunch = next(0);
    if (!make_room_for_bunch(PacketUse::Messages, bunch.bytes().size())) {
        return false;
    }
    begin_packet(PacketUse::Messages);
    std::uint32_t count = 0;
    while (true) {
        bunch.add_to(builder_);
        if (++count == count_max) {
            break;
        }
        bunch = next(count);
        if (bunch.bytes().size() > builder_.bytes_left()) {
            break;
        }
    }
    note_closes(count);
    return true;
}

void PacketStream::write_messages_and_closes() {
    while (const std::uint32_t closes = reliable_.sendable_closes()) {
        const bool is_by_turns = reliable_.may_send(PacketUse::Messages);
        if (is_by_turns && !write_next(PacketUse::Messages)) {
            return;
        }
        if (!write_closes(is_by_turns ? 1 : closes)) {
            return;
        }
    }
    (void)write_bunches(PacketUse::Messages);
}

bool PacketStream::write_call(const CallPart& part) {
    if (!builder_.add_bunch(part.header, part.payload)) {
        return false;
    }
    turns_.call_written();
    stats_.calls_sent += part.is_last ? 1u : 0u;
    stats_.calls_resent += part.is_last && part.was_sent ? 1u : 0u;
    stats_.call_parts_sent += part.header.is_partial ? 1u : 0u;
    stats_.call_parts_resent += part.header.is_partial && part.was_sent ? 1u : 0u;
    if (part.header.has_sequence()) {
        sent_.add_call(part.name);
    }
    return true;
}

bool PacketStream::write_parts_ahead(CallQueue& calls, OutgoingCall& call) {
    for (std::optional<CallPart> part = calls.next_part(call); part.has_value() && !part->is_last;
         part = calls.next_part(call)) {
        if (!make_room_for_bunch(PacketUse::Values, call_header_bytes_max + part->payload.size())) {
            turns_.calls_found_no_room();
            return false;
        }
        begin_packet(PacketUse::Values);
        const bool is_written = write_call(*part);
        REPLAYOUT_ASSERT(is_written);
        (void)is_written;
        calls.part_sent(call);
    }
    return true;
}

bool PacketStream::write_messages() {
    if (!bandwidth_.is_capped() && !has_waiting_bunches(reliable_)) {
        return true;  // in most flushes
    }
    bandwidth_.refresh_wanted();
    write_messages_and_closes();
    return !has_lost_opens();
}

bool PacketStream::write_unsent_bunches() {
    if (!bandwidth_.is_capped() && !has_waiting_bunches(reliable_)) {
        return true;
    }
    (void)write_messages();
    (void)write_bunches(PacketUse::Values);
    return !has_lost_opens();
}

bool PacketStream::write_first_bunches(bool do_values_wait) {
    turns_.begin_flush(do_values_wait, reliable_);
    return turns_.are_calls_first() ? write_messages() : write_unsent_bunches();
}

void PacketStream::flush(NetTime now) {
    now_ = now;
    if (opens_.has_unfollowed()) {
        take_out_opens();
    }
    if (!builder_.is_empty()) {
        send_packet(true);
    }
}

void PacketStream::send_empty(NetTime now, bool ack_requested) {
    REPLAYOUT_ASSERT(builder_.is_empty() && sent_.notify().can_probe());
    now_ = now;
    send_packet(ack_requested);
}

void PacketStream::send_packet(bool ack_requested) {
    if (observer_ != nullptr) {
        observer_->packet_ends();
    }
    PacketHeader header = sent_.notify().next_header();
    header.has_bunches = builder_.has_bunches();
    header.ack_requested = ack_requested;
    const std::span<const std::byte> datagram = builder_.finish(header);
    const std::size_t size = datagram.size();
    const bool has_content = !builder_.is_empty();
    const std::uint64_t sequence = sent_.commit(header, open_use_, has_content, now_);
    if (has_content) {
        bandwidth_.sent(open_budget_share_, sequence, size);
    } else {
        bandwidth_.empty_sent(size);
    }
    open_use_ = PacketUse::Objects;
    open_budget_share_ = bandwidth_.objects_share();
    opens_.clear();
    ++packets_finished_;
    bytes_finished_ += builder_.bytes_used();
    last_send_ = now_;
    has_sent_ = true;
    ++stats_.packets_sent;
    stats_.bytes_sent += size;
    transport_.send(peer_, datagram);
    builder_.reset();
}

inline void PacketStream::send_packets(std::span<const RunPacket> packets,
                                       const SentPackets::Burst& burst,
                                       std::span<std::byte> bytes) {
    const auto count = static_cast<std::uint32_t>(packets.size());
    PacketHeader header = sent_.notify().next_header();
    header.ack_requested = true;
    sent_.commit_burst(header, count, burst, now_);
    stats_.bytes_sent += send_burst(transport_, peer_, header, packets, bytes);
    packets_finished_ += count;
    last_send_ = now_;
    has_sent_ = true;
    stats_.packets_sent += count;
}

std::uint32_t PacketStream::send_bundles(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                         std::span<std::byte> bytes, bool are_accounted) {
    REPLAYOUT_ASSERT(builder_.is_empty() && !bandwidth_.is_capped() && begin <= end);
    const std::uint32_t first = run.packet_begin(begin);
    const std::uint32_t count =
        affordable_count(run, begin, std::min(end - begin, sent_.packets_for(PacketUse::Objects)),
                         sent_.window().fate_cost(), are_accounted);
    if (count == 0) {
        return first;
    }
    const std::uint32_t behind = run.packet_begin(begin + count);
    const SentBundles sent{{&run, first, run.bundles()[first].all_blocks()}, behind - first};
    send_packets(run.packets().subspan(begin, count),
                 {sent, sent.block_count(), FateCost::of(sent)}, bytes);
    return behind;
}

bool PacketStream::send_run(BundleRun& run, std::uint32_t held_count, std::span<std::byte> bytes) {
    REPLAYOUT_ASSERT(builder_.is_empty() && !bandwidth_.is_capped());
    const std::uint32_t blocks = run.block_count();
    if (sent_.packets_for(PacketUse::Objects) < run.packet_count() ||
        !sent_.window().fate_cost().has_room_after(blocks * FateCost::keyed_block)) {
        return false;
    }
    const SentBundles sent{{&run, 0, run.bundles()[0].all_blocks()},
                           static_cast<std::uint32_t>(run.bundles().size())};
    send_packets(run.packets(), {sent, blocks, FateCost::of_bundled(blocks, held_count)}, bytes);
    return true;
}

}  // namespace replayout
