// SPDX-License-Identifier: MIT
//
// The outgoing half of a connection: fills packets and hands them to the transport. Its parts
// remember what packets carried (SentPackets), keep bunches (ReliableSender), and decide which
// packet may begin:
//
//     PacketWindow      how many packets of a share may be under way, without a cap, too
//     BandwidthShares   which share may spend bytes, under a cap or congestion control
//     CallTurns         whether calls or values go first
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "bandwidth_shares.h"
#include "bundle_run.h"
#include "call_queue.h"
#include "call_turns.h"
#include "carried_opens.h"
#include "packet_builder.h"
#include "reliable_sender.h"
#include "sent_packets.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

/// Learns when packets are sent.
class PacketObserver {
  public:
    /// The open packet is about to be sent.
    virtual void packet_ends() = 0;

  protected:
    ~PacketObserver() = default;
};

class PacketStream final {
  public:
    struct Settings {
        PeerId peer;
        std::uint16_t session = 0;
        std::size_t packet_bytes_max = 0;
        ReliableWindow reliable_window;
        std::uint32_t bytes_per_second_max = 0;
        bool has_congestion_control = false;
        std::uint16_t first_sequence = 1;
        std::uint32_t lost_packets_per_second_max = 0;

        /// Returns the settings of either end: the window is what clients grant, and a client,
        /// which sends at most two bunches in addition to its calls, stays far below.
        [[nodiscard]] static Settings of(const NetConfig& config, PeerId peer,
                                         std::uint16_t session) noexcept;
    };

    PacketStream(const Settings& settings, Transport& transport, NetStats& stats,
                 MemoryResource* resource);

    // The parts.

    [[nodiscard]] SentPackets& sent() noexcept { return sent_; }
    [[nodiscard]] const SentPackets& sent() const noexcept { return sent_; }
    [[nodiscard]] ReliableSender& reliable() noexcept { return reliable_; }
    [[nodiscard]] const ReliableSender& reliable() const noexcept { return reliable_; }
    [[nodiscard]] BandwidthShares& bandwidth() noexcept { return bandwidth_; }
    [[nodiscard]] const BandwidthShares& bandwidth() const noexcept { return bandwidth_; }
    [[nodiscard]] CallTurns& turns() noexcept { return turns_; }
    /// The opens in the open packet.
    [[nodiscard]] CarriedOpens& opens() noexcept { return opens_; }
    /// The packet that blocks are written to. Requires can_write().
    [[nodiscard]] PacketBuilder& builder() noexcept { return builder_; }

    // The session.

    /// Returns the sequence of the first packet, and of the first bunch of each channel.
    [[nodiscard]] std::uint16_t first_sequence() const noexcept { return first_sequence_; }
    /// Returns the sequence of the bunch that follows the open of a channel.
    [[nodiscard]] std::uint16_t sequence_behind_open() const noexcept {
        return static_cast<std::uint16_t>(first_sequence_ + 1);
    }
    /// Sends everything again, in another session. Requires that nothing was received.
    void begin_session(std::uint16_t session) noexcept {
        sent_.set_session(session);
        reliable_.resend_all();
    }
    /// The connection is closing: objects are nobody's business any more, only the control channel
    /// is. What was sent of them is neither delivered nor lost.
    void drop_content();
    /// Gives back room for what packets carried, see KeptRoom.
    void trim() { trim_all(sent_, reliable_); }

    // What may be written.

    /// Returns whether anything more can be written: a packet is open, or there is room for one of
    /// that share.
    [[nodiscard]] bool can_write(PacketUse use = PacketUse::Objects) const noexcept {
        return !builder_.is_empty() || may_begin_packet(use);
    }
    /// Returns how many fragments of values may go out now, after those that wait; under a cap by
    /// what a packet holds at most.
    [[nodiscard]] std::uint32_t value_room() const noexcept;
    /// Returns whether the first fragment of a value of so many bytes may go out, and the other end
    /// has room for the value.
    [[nodiscard]] bool has_room_for_value(std::size_t bytes) const noexcept {
        return value_room() > 0 && reliable_.has_room_behind_unsent(PacketUse::Values, bytes);
    }
    /// Returns whether a bunch of so many bytes, header included, can be written now; the packet
    /// that has no room for it is sent.
    [[nodiscard]] bool make_room_for_bunch(PacketUse use, std::size_t bytes);
    /// Returns whether one more may begin for certain when the open packet, which is not empty, is
    /// sent.
    [[nodiscard]] bool may_go_over(PacketUse use) const noexcept {
        return !builder_.is_empty() && !bandwidth_.is_capped() && sent_.packets_for(use) > 1;
    }

    /// Returns whether there is no cap, nothing is in the open packet, and nothing waits but
    /// closes.
    [[nodiscard]] bool is_clear() const noexcept {
        return !bandwidth_.is_capped() && builder_.is_empty() && !reliable_.has_unsent() &&
               reliable_.waiting_count(PacketUse::Objects) == 0 &&
               reliable_.waiting_count(PacketUse::Messages) == 0 &&
               reliable_.waiting_count(PacketUse::Values) == 0 && turns_.is_turn_of_values_next();
    }

    /// Null: nobody learns of packets. It outlives this, or is taken away before.
    void set_observer(PacketObserver* observer) noexcept { observer_ = observer; }

    // The open packet.

    /// A packet that is begun now counts for `use`.
    void begin_packet(PacketUse use) noexcept {
        if (builder_.is_empty()) {
            open_use_ = use;
            open_budget_share_ = bandwidth_.share_of(use);
        }
    }
    /// A packet of objects that begins now is paid for by State, or by Joins.
    void set_objects_share(BudgetShare share) noexcept {
        bandwidth_.set_objects_share(share);
        begin_packet(PacketUse::Objects);
    }
    /// Names the open packet: packets before it have lower numbers.
    [[nodiscard]] std::uint64_t open_packet_number() const noexcept { return packets_finished_; }
    /// Returns what the open packet counts for.
    [[nodiscard]] PacketUse open_use() const noexcept { return open_use_; }
    /// Calls `visit(kept)` for what the open packet has of KeptBunches.
    template <typename Visitor>
    void for_each_kept_of_packet(Visitor visit) const {
        reliable_.for_each_of_last_kept(sent_.kept_count(), visit);
    }
    /// Returns whether so many packets may begin now, of objects and of messages each.
    [[nodiscard]] bool may_begin(std::uint32_t count) const noexcept {
        // Messages leave room for objects, so what they may take objects may.
        return sent_.window().fate_cost().has_room_for_objects() &&
               sent_.packets_for(PacketUse::Messages) >= count;
    }
    /// All that goes out in this flush are copies. Requires is_clear().
    void begin_copies() noexcept { turns_.begin_flush(false, reliable_); }
    /// Makes the open packet a copy of one that counts for `use`, with so many closes, the first of
    /// those that wait; the caller adds all else that it carries to reliable() and sent(). Requires
    /// that the open packet is empty.
    void write_copy(const PacketBuilder& packet, PacketUse use, std::uint32_t close_count);
    /// Notes opens in the open packet that are part of such a copy.
    void note_opens(const OpenRunPart& opens, std::size_t payload_bytes);
    /// Returns the bytes of all packets that were built here, the open one included. The difference
    /// between two calls is what was written in between.
    [[nodiscard]] std::uint64_t bytes_written() const noexcept {
        return bytes_finished_ + builder_.bytes_used();
    }

    // Bunches.

    /// Writes messages and values that wait, each as far as its share and the window of bunches go.
    /// False: an open still waits (has_lost_opens()), so no block may go out.
    [[nodiscard]] bool write_unsent_bunches();
    /// Writes them at the beginning of a flush, before calls are written. In a turn of calls values
    /// wait for these. `do_values_wait`: there are values of which no part is here yet.
    [[nodiscard]] bool write_first_bunches(bool do_values_wait);
    /// Writes the open that was just queued. Requires room for it, and that no open waits.
    void write_open() { write_bunch(PacketUse::Objects); }
    /// Writes an open that was laid down for all clients. A first block of that version follows; 0:
    /// none does. Requires room for it in a packet that is open or may begin, in the window of
    /// bunches, and that no open waits.
    void write_shared_open(ObjectIndex index, OpenBunch& bunch, Version block_version);
    /// Writes opens that were laid down together, whose bytes are `bunches`, as the same of each of
    /// them. `payload_bytes`: of all of them. Requires ReliableSender::has_room_for_opens(), too.
    void write_opens(const OpenRunPart& opens, std::span<const std::byte> bunches,
                     std::size_t payload_bytes);
    /// Returns whether an open waits to go out again, alone or with others: nothing else of objects
    /// may go out before it.
    [[nodiscard]] bool has_lost_opens() const noexcept {
        return reliable_.waiting_count(PacketUse::Objects) > 0;
    }
    /// Writes the next of the lost opens. Returns its object, whose block is to follow at once;
    /// nothing: there is no room, or no such open.
    [[nodiscard]] std::optional<ObjectIndex> write_lost_open();

    // Calls.

    /// Writes a call, or a part of one, into the open packet. False, and nothing written, when it
    /// does not fit.
    [[nodiscard]] bool write_call(const CallPart& part);
    /// Writes all parts of a call but the last that are to be sent, into as many packets as their
    /// share has room for. False: no room is left.
    [[nodiscard]] bool write_parts_ahead(CallQueue& calls, OutgoingCall& call);

    // Sending.

    /// Sets the time of the flush that is going on, for packets that fill up meanwhile.
    void begin_flush(NetTime now) noexcept {
        now_ = now;
        bandwidth_.begin_flush(now);
        sent_.window().credit().refill(now);
    }
    /// Sends the open packet, if there is anything in it. Opens whose block is not in the packet
    /// wait as if they had been lost.
    void flush(NetTime now);
    /// Sends it in the middle of a flush, when what comes next does not fit.
    void flush_full() { flush(now_); }
    /// Sends it where a block of that object comes next: if its open was in the packet and waits
    /// for that block, it goes over into the next one, if that may begin.
    void flush_full_before(ObjectIndex object_index);
    /// Sends an empty packet for its acks; with `ack_requested` to get an answer.
    void send_empty(NetTime now, bool ack_requested);
    /// Sends packets `begin` <= i < `end` of a run, as many as there is room for. Returns the first
    /// bundle that was not sent. Nothing is copied: `bytes` are those of the run, and headers are
    /// written into the room in front of each packet. `are_accounted`: account may be kept of their
    /// pairs (SentPackets::add_accounted()). Requires that the open packet is empty, and that there
    /// is no cap.
    [[nodiscard]] std::uint32_t send_bundles(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                             std::span<std::byte> bytes, bool are_accounted);
    /// Likewise sends all packets of a run, without account. Returns false and sends nothing if
    /// there is no room for all. `held_count`: how many of its blocks have layouts that need the
    /// held version.
    [[nodiscard]] bool send_run(BundleRun& run, std::uint32_t held_count,
                                std::span<std::byte> bytes);
    [[nodiscard]] NetTime last_send() const noexcept { return last_send_; }
    [[nodiscard]] bool has_sent() const noexcept { return has_sent_; }

  private:
    [[nodiscard]] bool may_begin_packet(PacketUse use) const noexcept;
    /// Sends packets of a run. Requires that they may begin.
    void send_packets(std::span<const RunPacket> packets, const SentPackets::Burst& burst,
                      std::span<std::byte> bytes);
    [[nodiscard]] bool write_messages();
    /// Writes the bunches of a queue, into the open packet and the next. False: no packet is left.
    [[nodiscard]] bool write_bunches(PacketUse use);
    /// Writes the next bunch of a queue, which may be sent. False: no packet is left.
    [[nodiscard]] bool write_next(PacketUse use);
    void write_bunch(PacketUse use);
    /// Writes closes that wait apart, as many as one packet has room for, and `count_max` at most,
    /// which may be sent. False: no packet is left.
    [[nodiscard]] bool write_closes(std::uint32_t count_max);
    /// So many are in the open packet.
    void note_closes(std::uint32_t count);
    /// Writes both by turns, so that neither has to wait for all of the other.
    void write_messages_and_closes();
    /// Writes an open that was just taken out of a packet.
    void write_taken_out(const SentBunch& name);
    /// That bunch is in the open packet.
    void note_bunch(const SentBunch& name);
    /// Takes out the opens whose block is not in the packet: they wait as if they had been lost.
    void take_out_opens() noexcept;
    void send_packet(bool ack_requested);

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    PeerId peer_;
    Transport& transport_;
    NetStats& stats_;
    NetTime now_;
    NetTime last_send_;
    std::uint64_t packets_finished_ = 0;
    std::uint64_t bytes_finished_ = 0;  // of these
    std::uint16_t first_sequence_;
    PacketUse open_use_ = PacketUse::Objects;  // of the open packet
    BudgetShare open_budget_share_ = BudgetShare::State;
    bool has_sent_ = false;
    PacketObserver* observer_ = nullptr;
    CallTurns turns_;
    ReliableSender reliable_;
    BandwidthShares bandwidth_;
    SentPackets sent_;
    CarriedOpens opens_;
    PacketBuilder builder_;
};

}  // namespace replayout
