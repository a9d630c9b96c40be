// SPDX-License-Identifier: MIT
#include "packet_sender.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "reliable_receiver.h"

namespace replayout {

namespace {

[[nodiscard]] bool has_waiting_bunches(const ReliableSender& reliable) noexcept {
    return !reliable.is_idle() && reliable.waiting_count(Share::Objects) +
                                          reliable.waiting_count(Share::Messages) +
                                          reliable.waiting_count(Share::Values) >
                                      0;
}

}  // namespace

PacketSender::Settings PacketSender::Settings::of(const NetConfig& config, PeerId peer,
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

PacketSender::PacketSender(const Settings& settings, Transport& transport, NetStats& stats,
                           MemoryResource* resource)
    : settings_(settings),
      transport_(transport),
      stats_(stats),
      credit_(settings.lost_packets_per_second_max),
      budget_(settings.bytes_per_second_max),
      sent_bundles_(resource),
      notify_(PacketNotifySettings{.session = settings.session,
                                   .first_sequence_sent = settings.first_sequence,
                                   .first_sequence_received = settings.first_sequence}),
      reliable_(fragment_bytes(settings.packet_bytes_max), settings.reliable_window, stats,
                resource),
      sent_bunches_(resource),
      sent_records_(resource),
      sent_calls_(resource),
      carried_opens_(resource),
      builder_(settings.packet_bytes_max) {
    if (settings.has_congestion_control) {
        congestion_.emplace(settings.packet_bytes_max);
        update_cap();
    }
}

void PacketSender::set_bytes_per_second_max(std::uint32_t bytes) noexcept {
    settings_.bytes_per_second_max = bytes;
    update_cap();
}

void PacketSender::update_cap() noexcept {
    std::uint32_t cap = settings_.bytes_per_second_max;
    if (congestion_.has_value()) {
        const std::uint32_t rate = congestion_->bytes_per_second();
        cap = cap == 0 ? rate : std::min(cap, rate);
    }
    if (cap != budget_.cap()) {
        budget_.set_cap(cap);
    }
}

void PacketSender::begin_flush(NetTime now) noexcept {
    now_ = now;
    if (settings_.has_congestion_control) {  // congestion_.has_value(), which lies further away
        // By the rate as it is now, and not by one of before, or by the cap that was set.
        if (!budget_.has_any() && budget_.cap() == congestion_->bytes_per_second()) {
            congestion_->limited();
        }
        update_cap();
    }
    budget_.begin_flush(now);
    credit_.refill(now);
}

BudgetShare PacketSender::budget_share_of(Share share) const noexcept {
    switch (share) {
        case Share::Messages:
            return BudgetShare::Messages;
        case Share::Values:
            return BudgetShare::Values;
        case Share::Objects:
            break;
    }
    return objects_share_;
}

void PacketSender::set_wanted(BudgetShare share, bool is_wanted) noexcept {
    is_wanted_[static_cast<std::size_t>(share)] = is_wanted;
    update_wanted(share);
}

void PacketSender::set_none_wanted() noexcept {
    for (const BudgetShare share :
         {BudgetShare::State, BudgetShare::Joins, BudgetShare::Messages, BudgetShare::Values}) {
        set_wanted(share, false);
    }
}

void PacketSender::share_what_is_left() noexcept {
    for (const BudgetShare share :
         {BudgetShare::State, BudgetShare::Joins, BudgetShare::Messages, BudgetShare::Values}) {
        budget_.set_wanted(share, false);
    }
}

bool PacketSender::may_send_bunches(BudgetShare share) const noexcept {
    switch (share) {
        case BudgetShare::State:
            return reliable_.may_send(Share::Objects);
        case BudgetShare::Joins:
            return false;
        case BudgetShare::Messages:
            return reliable_.may_send(Share::Messages);
        case BudgetShare::Values:
            return reliable_.may_send(Share::Values);
    }
    return false;
}

void PacketSender::update_wanted(BudgetShare share) noexcept {
    if (is_capped()) {
        budget_.set_wanted(share,
                           is_wanted_[static_cast<std::size_t>(share)] || may_send_bunches(share));
    }
}

void PacketSender::add_record(const SentRecord& record) {
    REPLAYOUT_ASSERT(!builder_.is_empty());
    ++open_packet_.record_count;
    stats_.records_sent += record.is_more ? 0u : 1u;
    sent_records_.push_back() = record;
    fate_cost_.add(FateCost::of(record));
}

std::uint32_t PacketSender::packets_kept_for(Share share) const noexcept {
    const std::uint32_t held = in_flight_[static_cast<std::size_t>(share)];
    return held < packets_for_certain ? packets_for_certain - held : 0;
}

bool PacketSender::may_begin_packet(Share share) const noexcept {
    return budget_.may_begin(budget_share_of(share)) && has_window_for(share);
}

bool PacketSender::has_window_for(Share share) const noexcept {
    return window_for(share) > 0;
}

std::uint32_t PacketSender::window_for(Share share) const noexcept {
    if ((share == Share::Objects && !fate_cost_.has_room_for_objects()) ||
        (share == Share::Messages && !fate_cost_.has_room_for_messages())) {
        return 0;
    }
    std::uint32_t kept = 0;
    if (share != Share::Objects && has_objects_) {
        kept += packets_kept_for(Share::Objects);
    }
    if (share != Share::Values && !reliable_.is_idle() &&
        reliable_.waiting_count(Share::Values) > 0 && reliable_.may_send(Share::Values)) {
        kept += packets_kept_for(Share::Values);
    }
    const std::uint32_t sendable = sendable_count();
    return sendable - std::min(sendable, kept);
}

std::uint32_t PacketSender::value_room() const noexcept {
    const std::uint32_t kept = has_objects_ ? packets_kept_for(Share::Objects) : 0;
    const std::uint32_t sendable = sendable_count();
    std::uint32_t room = sendable - std::min(sendable, kept);
    if (is_capped()) {
        room =
            std::min(room, budget_.packets_left(BudgetShare::Values, settings_.packet_bytes_max));
    }
    return room - std::min(room, reliable_.waiting_count(Share::Values));
}

bool PacketSender::make_room_for_bunch(Share share, std::size_t bytes) {
    if (!builder_.is_empty() && builder_.bytes_left() < bytes) {
        flush_full();
    }
    return can_write(share);
}

void PacketSender::write_bunch(Share share) {
    const OutBunch& bunch = reliable_.next(share);
    begin_packet(share);
    is_any_value_written_ = is_any_value_written_ || share == Share::Values;
    stats_.bunches_resent += bunch.was_sent ? 1 : 0;
    const std::size_t offset = builder_.bunch_bytes();
    const std::span<const std::byte> payload(bunch.payload.data(), bunch.payload.size());
    const bool is_added = builder_.add_bunch(bunch.header, payload);
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    CarriedOpens::Open open{bunch.tag.object_index,          {},
                            open_packet_.bunch_count,        offset,
                            builder_.bunch_bytes() - offset, bunch.was_sent};
    const bool is_open = bunch.tag.kind == BunchTag::Kind::Open;
    open.name = reliable_.sent(share);
    if (is_open) {
        carried_opens_.add(open);
    }
    note_bunch(open.name);
}

void PacketSender::note_bunch(const SentBunch& name) {
    ++stats_.bunches_sent;
    ++open_packet_.bunch_count;
    fate_cost_.add(FateCost::bunch);
    sent_bunches_.push_back() = name;
}

void PacketSender::take_out_opens() noexcept {
    carried_opens_.for_each_unfollowed([this](const CarriedOpens::Open& open) {
        builder_.remove_bunch(open.offset, open.bytes);
        const std::size_t place = sent_bunches_.count() - open_packet_.bunch_count + open.place;
        reliable_.unsend(open.name, open.was_sent);
        for (std::size_t i = place + 1; i < sent_bunches_.count(); ++i) {
            sent_bunches_.at(i - 1) = sent_bunches_.at(i);
        }
        sent_bunches_.pop_back();
        --open_packet_.bunch_count;
        --stats_.bunches_sent;
        stats_.bunches_resent -= open.was_sent ? 1u : 0u;
        fate_cost_.take(FateCost::bunch);
    });
    carried_opens_.clear();
}

void PacketSender::flush_full_before(std::uint32_t object_index) {
    const std::optional<CarriedOpens::Open> open = carried_opens_.find_unfollowed(object_index);
    flush_full();
    if (open.has_value() && may_begin_packet(Share::Objects)) {
        write_taken_out(open->name);
    }
}

void PacketSender::write_taken_out(const SentBunch& name) {
    const OutBunch& bunch = reliable_.resend(name);
    begin_packet(Share::Objects);
    const std::size_t offset = builder_.bunch_bytes();
    const bool was_sent = bunch.was_sent;
    const bool is_added =
        builder_.add_bunch(bunch.header, {bunch.payload.data(), bunch.payload.size()});
    REPLAYOUT_ASSERT(is_added);
    (void)is_added;
    stats_.bunches_resent += was_sent ? 1 : 0;
    carried_opens_.add({bunch.tag.object_index, name, open_packet_.bunch_count, offset,
                        builder_.bunch_bytes() - offset, was_sent});
    note_bunch(name);
}

std::optional<std::uint32_t> PacketSender::write_lost_open() {
    if (!has_lost_opens() || !reliable_.may_send(Share::Objects)) {
        return std::nullopt;
    }
    const OutBunch& bunch = reliable_.next(Share::Objects);
    const std::uint32_t object_index = bunch.tag.object_index;
    if (!make_room_for_bunch(Share::Objects,
                             bunch_header_bytes(bunch.header) + bunch.payload.size())) {
        return std::nullopt;
    }
    write_bunch(Share::Objects);
    return object_index;
}

bool PacketSender::write_bunches(Share share) {
    while (reliable_.may_send(share)) {
        const OutBunch& bunch = reliable_.next(share);
        if (!make_room_for_bunch(share, bunch_header_bytes(bunch.header) + bunch.payload.size())) {
            return false;
        }
        write_bunch(share);
    }
    return true;
}

bool PacketSender::write_call(const CallPart& part) {
    if (!builder_.add_bunch(part.header, part.payload)) {
        return false;
    }
    is_any_call_written_ = true;
    stats_.calls_sent += part.is_last ? 1u : 0u;
    stats_.calls_resent += part.is_last && part.was_sent ? 1u : 0u;
    stats_.call_parts_sent += part.header.is_partial ? 1u : 0u;
    stats_.call_parts_resent += part.header.is_partial && part.was_sent ? 1u : 0u;
    if (part.header.has_sequence()) {
        sent_calls_.push_back() = part.name;
        ++open_packet_.call_count;
        fate_cost_.add(FateCost::call);
    }
    return true;
}

bool PacketSender::write_parts_ahead(RemoteFunctionSender& calls, OutgoingCall& call) {
    for (std::optional<CallPart> part = calls.next_part(call); part.has_value() && !part->is_last;
         part = calls.next_part(call)) {
        if (!make_room_for_bunch(Share::Values, call_header_bytes_max + part->payload.size())) {
            calls_found_no_room();
            return false;
        }
        begin_packet(Share::Values);
        const bool is_written = write_call(*part);
        REPLAYOUT_ASSERT(is_written);
        (void)is_written;
        calls.part_sent(call);
    }
    return true;
}

bool PacketSender::has_initial_under_way(std::uint32_t object_index) const noexcept {
    for (std::size_t i = 0; i < sent_records_.count(); ++i) {
        if (sent_records_.at(i).object_index == object_index && sent_records_.at(i).is_initial) {
            return true;
        }
    }
    return false;
}

bool PacketSender::is_unanswered_since(NetTime time) const noexcept {
    for (std::uint64_t sequence = notify_.highest_acked() + 1; sequence <= highest_with_content_;
         ++sequence) {
        if (packet_at(sequence).sent > time) {
            return false;  // those behind it are younger
        }
        if (packet_at(sequence).has_content) {
            return true;
        }
    }
    return false;
}

void PacketSender::begin_lost_opens() noexcept {
    for (const BudgetShare share :
         {BudgetShare::State, BudgetShare::Messages, BudgetShare::Values}) {
        update_wanted(share);
    }
}

bool PacketSender::write_messages() {
    if (!is_capped() && !has_waiting_bunches(reliable_)) {
        return true;  // in most flushes
    }
    begin_lost_opens();
    (void)write_bunches(Share::Messages);
    return !has_lost_opens();
}

bool PacketSender::write_unsent_bunches() {
    if (!is_capped() && !has_waiting_bunches(reliable_)) {
        return true;
    }
    (void)write_messages();
    (void)write_bunches(Share::Values);
    return !has_lost_opens();
}

bool PacketSender::is_turn_of_calls(bool do_values_wait) const noexcept {
    // Room does not come with each flush: a turn without any was none.
    if (are_calls_first_) {
        return !is_any_call_written_;
    }
    return is_any_value_written_ || !(do_values_wait || reliable_.may_send(Share::Values));
}

bool PacketSender::write_first_bunches(bool do_values_wait) {
    are_calls_first_ = !did_calls_find_room_ && is_turn_of_calls(do_values_wait);
    is_any_call_written_ = false;
    is_any_value_written_ = false;
    did_calls_find_room_ = true;
    if (!are_calls_first_) {
        return write_unsent_bunches();
    }
    return write_messages();
}

void PacketSender::flush(NetTime now) {
    now_ = now;
    if (carried_opens_.has_unfollowed()) {
        take_out_opens();
    }
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
    const std::span<const std::byte> datagram = builder_.finish(header);
    const std::size_t size = datagram.size();
    const std::uint64_t sequence = notify_.commit_send(header);
    open_packet_.has_content = !builder_.is_empty();
    if (open_packet_.has_content) {
        ++in_flight(open_packet_.share);
        credit_.sent(1);
    }
    open_packet_.sent = now_;
    if (!open_packet_.has_content) {
        budget_.spend(size);
    } else {
        budget_.spend(open_packet_.budget_share, size);
        if (congestion_.has_value()) {
            congestion_->sent(sequence);
        }
    }
    packet_at(sequence) = std::exchange(open_packet_, SentPacket());
    if (!builder_.is_empty()) {
        highest_with_content_ = sequence;
    }
    open_packet_.budget_share = objects_share_;
    carried_opens_.clear();
    ++packets_finished_;
    bytes_finished_ += builder_.bytes_used();
    last_send_ = now_;
    has_sent_ = true;
    ++stats_.packets_sent;
    stats_.bytes_sent += size;
    transport_.send(settings_.peer, datagram);
    builder_.reset();
}

}  // namespace replayout
