// SPDX-License-Identifier: MIT
#include "net_connection.h"

#include <replayout/netdriver/sequence.h>

#include <algorithm>
#include <utility>

#include "control_message.h"

namespace replayout {

namespace {

// Of timeouts. Silence one way ends an honest peer by its own timeout, the other way it ends by
// ours; so what it does not answer for two of them it does not mean to.
constexpr std::int64_t unanswered_max = 2;

}  // namespace

NetConnection::NetConnection(const NetConfig& config, const PacketStream::Settings& settings,
                             const ReceiveLimits& limits, Transport& transport, NetStats& stats,
                             ConnectionState state, NetTime now, MemoryMeters& memory,
                             CloseLog& close_log)
    : config_(config),
      stats_(stats),
      peer_(settings.peer),
      session_(settings.session),
      state_(state),
      probe_ms_(config.probe_ms),
      now_(now),
      last_receive_(now),
      packets_(settings, transport, stats, &memory.in_flight),
      account_(limits, now_),
      control_receiver_(account_, &memory.connections),
      held_(config.reorder_packets_max, &memory.connections),
      close_log_(close_log),
      last_words_(Allocator<std::byte>(&memory.connections)),
      begin_(now),
      close_time_(now),
      next_control_sequence_(settings.first_sequence) {}

void NetConnection::receive(std::span<const std::byte> datagram, NetTime now,
                            PayloadHandler& payload, SentContentHandler& sent) {
    if (state_ == ConnectionState::Closed) {
        return;
    }
    PacketHeader header;
    const std::size_t header_bytes = read_packet_header(datagram, header);
    if (header_bytes == 0 || header.session != session_) {
        // Anybody can send bytes in this peer's name, so they are no reason to close.
        ++stats_.packets_dropped;
        return;
    }
    if (++datagram_count_ > config_.datagrams_per_connection_max) {
        ++stats_.packets_dropped;
        ++stats_.packets_over_rate;
        return;
    }
    if (has_reorder_buffer() && is_ahead(header)) {
        hold(header, datagram, now, payload, sent);
    } else {
        process(header, datagram.subspan(header_bytes), now, payload, sent);
    }
    while (has_reorder_buffer() && !held_.is_empty() &&
           held_.first_sequence() <= packets_.sent().notify().highest_received() + 1) {
        process_held(now, payload, sent);
    }
}

// Where there is no room the lowest waits no longer, which may be this one.
void NetConnection::hold(const PacketHeader& header, std::span<const std::byte> datagram,
                         NetTime now, PayloadHandler& payload, SentContentHandler& sent) {
    const std::uint64_t sequence =
        expand_sequence(packets_.sent().notify().highest_received(), header.sequence);
    if (held_.is_full() && sequence < held_.first_sequence()) {
        process(header, datagram.subspan(packet_header_bytes(header)), now, payload, sent);
        return;
    }
    if (held_.is_full()) {
        process_held(now, payload, sent);
    }
    held_.hold(sequence, datagram);
}

void NetConnection::process_held(NetTime now, PayloadHandler& payload, SentContentHandler& sent) {
    const std::span<const std::byte> datagram = held_.take_first();
    PacketHeader header;
    const std::size_t header_bytes = read_packet_header(datagram, header);
    process(header, datagram.subspan(header_bytes), now, payload, sent);
}

void NetConnection::receive_held(NetTime now, PayloadHandler& payload, SentContentHandler& sent) {
    while (has_reorder_buffer() && !held_.is_empty()) {
        process_held(now, payload, sent);
    }
    datagram_count_ = 0;
}

void NetConnection::acknowledge_all(NetTime now, SentContentHandler& sent) {
    PacketHeader header;
    header.session = session_;
    header.sequence = static_cast<std::uint16_t>(packets_.sent().notify().highest_received() + 1);
    header.ack = static_cast<std::uint16_t>(packets_.sent().notify().highest_sent());
    header.ack_word_count = ack_words_max;
    header.ack_words.fill(~std::uint32_t{0});
    const PacketReceipt receipt = packets_.sent().receive(header, now, sent);
    REPLAYOUT_ASSERT(receipt == PacketReceipt::Accepted);
    (void)receipt;
    last_receive_ = now;
    probe_ms_ = config_.probe_ms;
}

void NetConnection::play(std::span<const std::byte> content, bool has_bunches, NetTime now,
                         PayloadHandler& payload) {
    now_ = now;
    ++stats_.packets_received;
    stats_.bytes_received += content.size();
    if (const CloseReason reason = read_payload(content, has_bunches, payload);
        reason != CloseReason::None) {
        close(reason, now);
    }
}

bool NetConnection::is_ahead(const PacketHeader& header) const noexcept {
    const std::uint64_t highest = packets_.sent().notify().highest_received();
    const std::uint64_t sequence = expand_sequence(highest, header.sequence);
    return sequence > highest + 1 && sequence - highest <= packets_in_flight_max;
}

// A peer that has received something knows that the session is its own. A refusal that comes later
// answers a repeated hello.
bool NetConnection::has_heard_nothing() const noexcept {
    return state_ == ConnectionState::Connecting &&
           packets_.sent().notify().highest_received() < config_.first_sequence;
}

void NetConnection::process(const PacketHeader& header, std::span<const std::byte> content,
                            NetTime now, PayloadHandler& payload, SentContentHandler& sent) {
    if (state_ == ConnectionState::Closed) {
        return;
    }
    now_ = now;
    switch (packets_.sent().receive(header, now, sent)) {
        case PacketReceipt::Accepted:
            break;
        case PacketReceipt::AckOfUnsentPacket:
        case PacketReceipt::AckGoesBack:
        case PacketReceipt::AckTooShort:
            ++stats_.packets_dropped;
            if (has_heard_nothing()) {
                is_session_taken_ = true;
                return;
            }
            close(CloseReason::InvalidAck, now);
            return;
        case PacketReceipt::OutOfRange:
            is_session_taken_ = true;
            ++stats_.packets_dropped;
            return;
        case PacketReceipt::Stale:
        case PacketReceipt::OtherSession:
            ++stats_.packets_dropped;
            return;
    }
    last_receive_ = now;
    probe_ms_ = config_.probe_ms;
    owes_ack_ = owes_ack_ || header.ack_requested;
    ++stats_.packets_received;
    stats_.bytes_received += packet_header_bytes(header) + content.size();
    const CloseReason reason = read_payload(content, header.has_bunches, payload);
    if (reason != CloseReason::None) {
        close(reason, now);
    } else if (state_ == ConnectionState::Closed && packets_.sent().notify().can_probe()) {
        packets_.send_empty(now, false);  // so that the other side knows that its goodbye was heard
    }
}

CloseReason NetConnection::read_payload(std::span<const std::byte> payload, bool has_bunches,
                                        PayloadHandler& handler) {
    DecodeBudget budget;
    budget.allocation_bytes = config_.decode_allocation_bytes_max;
    BitReader reader(payload, &budget);
    if (has_bunches) {
        const CloseReason reason = read_bunches(reader, budget, handler);
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    // While a goodbye is on its way only acks and the other side's goodbye matter.
    if (state_ == ConnectionState::Closing || state_ == ConnectionState::Closed) {
        return CloseReason::None;
    }
    return handler.handle_blocks(reader);
}

CloseReason NetConnection::read_bunches(BitReader& reader, DecodeBudget& budget,
                                        PayloadHandler& handler) {
    const std::uint64_t count = reader.read_packed_uint();
    if (count == 0) {
        return CloseReason::MalformedBunch;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        const BunchHeader header = read_bunch_header(reader);
        if (reader.failed() || !reader.spend_steps(1)) {
            return CloseReason::MalformedBunch;
        }
        const std::span<const std::byte> payload = reader.take_bytes(header.payload_bytes);
        CloseReason reason = CloseReason::None;
        if (header.channel.is_control() && (header.is_call || header.is_message)) {
            reason = CloseReason::MalformedBunch;
        } else if (header.channel.is_control()) {
            control_handler_ = &handler;
            reason = control_receiver_.receive(header, payload, *this);
            control_handler_ = nullptr;
        } else if (state_ != ConnectionState::Closing) {
            reason = handler.handle_bunch(header, payload, budget);
        }
        if (reason != CloseReason::None || state_ == ConnectionState::Closed) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason NetConnection::handle_message(const BunchHeader& header,
                                          std::span<const std::byte> payload) {
    if (header.is_open || header.is_close) {
        return CloseReason::MalformedBunch;
    }
    Goodbye goodbye;
    if (read_goodbye(payload, goodbye)) {
        end(goodbye.reason, true, goodbye.name_hash);
        return CloseReason::None;
    }
    const bool is_heard = state_ != ConnectionState::Closing || awaits_difference_;
    return is_heard ? control_handler_->handle_control(payload) : CloseReason::None;
}

void NetConnection::send_control(std::span<const std::byte> message) {
    const std::uint32_t count =
        packets_.reliable().queue(BunchHeader(), next_control_sequence_, message, BunchTag());
    next_control_sequence_ = static_cast<std::uint16_t>(next_control_sequence_ + count);
}

void NetConnection::close(CloseReason reason, NetTime now, std::uint32_t name_hash) {
    REPLAYOUT_ASSERT(reason != CloseReason::None);
    if (state_ == ConnectionState::Closing || state_ == ConnectionState::Closed) {
        return;
    }
    if (reason == CloseReason::LayoutMismatch) {
        name_hash = name_hash != 0 ? name_hash : blamed_name_hash_;
        blamed_.layout_name_hash = name_hash;
    }
    begin_closing(reason, now);
    if (!last_words_.empty()) {
        send_control({last_words_.data(), last_words_.size()});
    }
    const GoodbyeMessage message({reason, name_hash});
    send_control(message.bytes());
}

void NetConnection::refuse_layout(Vector<std::byte> message, NetTime now) {
    if (state_ == ConnectionState::Closing || state_ == ConnectionState::Closed) {
        return;
    }
    awaits_difference_ = true;
    awaits_proof_ = true;
    begin_closing(CloseReason::LayoutMismatch, now);
    last_words_ = std::move(message);
}

void NetConnection::begin_closing(CloseReason reason, NetTime now) {
    state_ = ConnectionState::Closing;
    close_reason_ = reason;
    close_time_ = now;
    ++stats_.closed[static_cast<std::size_t>(reason)];
    close_log_.connection_closed(peer_, reason, false, blamed_, now);
    packets_.drop_content();
}

void NetConnection::end(CloseReason reason, bool is_by_peer, std::uint32_t name_hash) {
    if (state_ == ConnectionState::Joined || state_ == ConnectionState::Connecting) {
        close_reason_ = reason;
        ++stats_.closed[static_cast<std::size_t>(reason)];
        CloseDetails details;
        details.is_unanswered = reason == CloseReason::Timeout &&
                                state_ == ConnectionState::Connecting && last_receive_ == begin_;
        details.layout_name_hash = reason == CloseReason::LayoutMismatch ? name_hash : 0;
        close_log_.connection_closed(peer_, reason, is_by_peer, details, now_);
    }
    state_ = ConnectionState::Closed;
    packets_.drop_content();
}

void NetConnection::begin_flush(NetTime now) {
    now_ = now;
    if (state_ != ConnectionState::Closed &&
        (has_passed(last_receive_, config_.timeout_ms, now) || is_unanswered(now) ||
         (state_ == ConnectionState::Connecting &&
          has_passed(begin_, config_.join_timeout_ms, now)))) {
        end(CloseReason::Timeout);
    }
    packets_.begin_flush(now);
}

bool NetConnection::is_unanswered(NetTime now) const noexcept {
    // A goodbye has a time of its own.
    return state_ != ConnectionState::Closing &&
           packets_.sent().is_unanswered_since(
               now.plus_milliseconds(-unanswered_max * std::int64_t{config_.timeout_ms}));
}

void NetConnection::flush(NetTime now) {
    if (state_ == ConnectionState::Closed) {
        return;
    }
    if (awaits_proof_ && is_acknowledged()) {
        awaits_proof_ = false;
        send_control({last_words_.data(), last_words_.size()});
        last_words_.clear();
        last_words_.shrink_to_fit();
    }
    (void)packets_.write_unsent_bunches();
    packets_.flush(now);
    answer_or_probe(now);
    if (state_ == ConnectionState::Closing &&
        ((packets_.reliable().is_idle() && !awaits_difference_) ||
         has_passed(close_time_, config_.linger_ms, now))) {
        state_ = ConnectionState::Closed;
    }
}

void NetConnection::begin_session(std::uint16_t session) {
    REPLAYOUT_ASSERT(state_ == ConnectionState::Connecting);
    is_session_taken_ = false;
    session_ = session;
    packets_.begin_session(session);
}

// A call that waits alone is repeated when an answer says that it was lost, and other calls wait
// for it. What is left of the window is for probes that outlast the timeout.
bool NetConnection::asks_often() const noexcept {
    return state_ == ConnectionState::Joined && packets_.sent().has_calls() &&
           packets_.sent().notify().in_flight_count() < packets_in_flight_max / 2;
}

void NetConnection::answer_or_probe(NetTime now) {
    if (packets_.has_sent() && packets_.last_send() == now) {
        owes_ack_ = false;  // whatever went out carried the acks
        return;
    }
    if (!packets_.sent().notify().can_probe()) {
        return;  // a whole window without an answer: the timeout decides
    }
    // One that begins in debt has sent nothing yet: that is no reason to answer out of turn.
    const NetTime last_send = packets_.has_sent() ? packets_.last_send() : begin_;
    // Acks alone do not use up the window of data: they are as rare as probes once it is full.
    // Nor those of a cap that others wait for.
    const bool may_answer =
        (packets_.sent().notify().can_send() && packets_.bandwidth().has_any()) ||
        has_passed(last_send, probe_ms_, now);
    if (owes_ack_ && may_answer) {
        packets_.send_empty(now, awaits_proof_);
        owes_ack_ = false;
    } else if (packets_.sent().awaits_ack() && has_passed(last_send, probe_ms_, now)) {
        if (!asks_often()) {
            probe_ms_ = std::min(probe_ms_ * 2, config_.probe_max_ms);
        }
        if (state_ == ConnectionState::Connecting) {
            // Nobody has our hello, so nobody can tell us that it was lost.
            packets_.reliable().resend_all();
            (void)packets_.write_unsent_bunches();
            packets_.flush(now);
        } else {
            packets_.send_empty(now, true);
        }
    } else if (has_passed(last_send, config_.keep_alive_ms, now)) {
        packets_.send_empty(now, false);
    }
}

}  // namespace replayout
