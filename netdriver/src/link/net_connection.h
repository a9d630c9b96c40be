// SPDX-License-Identifier: MIT
//
// One connection, the part both ends have in common: packets in and out, the control channel,
// silence and its end. What packets are about is the business of its two handlers: who sends
// objects (ReplicationSender, on a server) and who takes them (ReplicationReceiver, on a client).
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/connection_state.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/transport.h>

#include "close_log.h"
#include "packet_stream.h"
#include "reliable_receiver.h"
#include "reorder_buffer.h"
#include "sent_content.h"

namespace replayout {

/// Takes what the payload of a packet holds, in the order in which it lies there.
class PayloadHandler {
  public:
    /// A bunch on an object's channel. Anything but None ends the connection. `budget` is that of
    /// the packet.
    [[nodiscard]] virtual CloseReason handle_bunch(const BunchHeader& header,
                                                   std::span<const std::byte> payload,
                                                   DecodeBudget& budget) = 0;
    /// A whole message of the control channel.
    [[nodiscard]] virtual CloseReason handle_control(std::span<const std::byte> message) = 0;
    /// The blocks of a packet, up to its end.
    [[nodiscard]] virtual CloseReason handle_blocks(BitReader& reader) = 0;

  protected:
    ~PayloadHandler() = default;
};

class NetConnection final : private ReliableMessageHandler {
  public:
    /// `limits` are of what the other side may make this one keep.
    NetConnection(const NetConfig& config, const PacketStream::Settings& settings,
                  const ReceiveLimits& limits, Transport& transport, NetStats& stats,
                  ConnectionState state, NetTime now, MemoryMeters& memory, CloseLog& close_log);

    [[nodiscard]] PeerId peer() const noexcept { return peer_; }
    [[nodiscard]] std::uint16_t session() const noexcept { return session_; }
    [[nodiscard]] ConnectionState state() const noexcept { return state_; }
    [[nodiscard]] CloseReason close_reason() const noexcept { return close_reason_; }
    [[nodiscard]] PacketStream& packets() noexcept { return packets_; }
    [[nodiscard]] const PacketStream& packets() const noexcept { return packets_; }
    [[nodiscard]] ReliableAccount& account() noexcept { return account_; }
    /// Of the last call that was told it; refers to what stays where it is.
    [[nodiscard]] const NetTime& now() const noexcept { return now_; }
    /// Beside the channels of objects: what was said on the control channel waits since then.
    [[nodiscard]] bool is_control_stuck_since(NetTime time) const noexcept {
        return control_receiver_.is_stuck_since(time);
    }

    void set_joined() noexcept { state_ = ConnectionState::Joined; }

    /// Datagrams of its session in this dispatch. Those of the session that it replaces count for
    /// the same peer.
    [[nodiscard]] std::uint32_t datagram_count() const noexcept { return datagram_count_; }
    void set_datagram_count(std::uint32_t count) noexcept { datagram_count_ = count; }

    /// One datagram of this peer. `sent` learns what became of what was sent, `payload` takes what
    /// arrived. With a reorder buffer it may be held back until receive_held().
    void receive(std::span<const std::byte> datagram, NetTime now, PayloadHandler& payload,
                 SentContentHandler& sent);
    /// The end of a dispatch: what was held back.
    void receive_held(NetTime now, PayloadHandler& payload, SentContentHandler& sent);

    /// Of one without a network: all that was sent has arrived, `sent` learns.
    void acknowledge_all(NetTime now, SentContentHandler& sent);
    /// What a packet held that was recorded, as if it had arrived now. Never to be flushed.
    void play(std::span<const std::byte> content, bool has_bunches, NetTime now,
              PayloadHandler& payload);
    /// What is played next is of another connection of the same server.
    void play_anew() { control_receiver_.reset(); }

    void send_control(std::span<const std::byte> message);
    /// Says goodbye with `reason` until the other side has heard it or the time to linger is over.
    /// `name_hash` as in Goodbye.
    void close(CloseReason reason, NetTime now, std::uint32_t name_hash = 0);
    /// Closes for *layout mismatch* with this message in place of the goodbye, and waits for what
    /// the other side says to it and for its goodbye. The message may be large, so it goes out once
    /// the other side has acknowledged a packet: until then this side answers with empty ones.
    void refuse_layout(Vector<std::byte> message, NetTime now);
    /// Sets the message that goes out before the goodbye, if this side closes the connection.
    void set_last_words(Vector<std::byte> message) { last_words_ = std::move(message); }
    /// The server refused the session number: this peer had a session of it before, so the server
    /// takes the hello for one that comes late.
    [[nodiscard]] bool is_session_taken() const noexcept {
        return is_session_taken_ && has_heard_nothing();
    }
    /// Takes another session number, and sends the hello again with the next flush().
    void begin_session(std::uint16_t session);
    /// The other side has acknowledged something in this session.
    [[nodiscard]] bool is_acknowledged() const noexcept {
        return packets_.sent().notify().highest_acked() >= config_.first_sequence;
    }
    /// The other side is given up, or another session takes its place. Nothing more is sent.
    void end(CloseReason reason) { end(reason, false, 0); }

    /// Should the connection be closed for *layout mismatch*, it is because of this layout.
    void blame_layout(std::uint32_t name_hash) noexcept { blamed_name_hash_ = name_hash; }

    /// Should the connection be closed for what is being read, it is because of this.
    void blame(const CloseDetails& details) noexcept { blamed_ = details; }

    /// Before anything of a tick is written: gives up a side that was silent for too long, or did
    /// not acknowledge.
    void begin_flush(NetTime now);
    /// What every tick needs when the rest is written: unsent bunches, acks, probes, keep-alives.
    /// Behind begin_flush() of the same time.
    void flush(NetTime now);

  private:
    void begin_closing(CloseReason reason, NetTime now);
    /// The same, or the other side said goodbye: then one empty packet is sent, with which
    /// receive() acknowledges it. `name_hash` as in Goodbye.
    void end(CloseReason reason, bool is_by_peer, std::uint32_t name_hash);
    [[nodiscard]] CloseReason handle_message(const BunchHeader& header,
                                             std::span<const std::byte> payload) override;
    /// Asks what the game set, which all connections share: most never have to look at held_.
    [[nodiscard]] bool has_reorder_buffer() const noexcept {
        return config_.reorder_packets_max > 0;
    }
    /// No packet of this session was taken yet.
    [[nodiscard]] bool has_heard_nothing() const noexcept;
    /// Overtook another packet, which may still arrive.
    [[nodiscard]] bool is_ahead(const PacketHeader& header) const noexcept;
    void process(const PacketHeader& header, std::span<const std::byte> content, NetTime now,
                 PayloadHandler& payload, SentContentHandler& sent);
    /// For as long as there is room for it.
    void hold(const PacketHeader& header, std::span<const std::byte> datagram, NetTime now,
              PayloadHandler& payload, SentContentHandler& sent);
    void process_held(NetTime now, PayloadHandler& payload, SentContentHandler& sent);
    [[nodiscard]] CloseReason read_payload(std::span<const std::byte> payload, bool has_bunches,
                                           PayloadHandler& handler);
    [[nodiscard]] CloseReason read_bunches(BitReader& reader, DecodeBudget& budget,
                                           PayloadHandler& handler);
    void answer_or_probe(NetTime now);
    /// The wait for an answer does not grow.
    [[nodiscard]] bool asks_often() const noexcept;
    /// The other side may be heard, and has said for too long nothing of what was sent to it.
    [[nodiscard]] bool is_unanswered(NetTime now) const noexcept;
    [[nodiscard]] bool has_passed(NetTime since, std::uint32_t milliseconds,
                                  NetTime now) const noexcept {
        return now >= since.plus_milliseconds(milliseconds);
    }

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    const NetConfig& config_;
    NetStats& stats_;
    PeerId peer_;
    std::uint16_t session_;
    ConnectionState state_;
    CloseReason close_reason_ = CloseReason::None;
    bool owes_ack_ = false;
    bool is_session_taken_ = false;
    bool awaits_difference_ = false;    // closing, and the other side has something to say
    bool awaits_proof_ = false;         // closing, and last_words_ wait until it acknowledges
    std::uint32_t datagram_count_ = 0;  // of this dispatch
    std::uint32_t probe_ms_;
    NetTime now_;
    NetTime last_receive_;
    PacketStream packets_;
    ReliableAccount account_;
    ReliableReceiver control_receiver_;
    ReorderBuffer held_;
    PayloadHandler* control_handler_ = nullptr;  // while a packet is read
    CloseLog& close_log_;
    CloseDetails blamed_;
    Vector<std::byte> last_words_;
    NetTime begin_;
    NetTime close_time_;
    std::uint32_t blamed_name_hash_ = 0;
    std::uint16_t next_control_sequence_;
};

}  // namespace replayout
