// SPDX-License-Identifier: MIT
//
// The outgoing half of a connection: fills packets, hands them to the transport, and remembers of
// each what it carried until its fate is known.
//
// Property data is never kept: a record says which versions of which object went out, and a loss
// makes them owed again. Bunches are kept by ReliableSender and go out again as they are.
//
// The packets in flight are shared: objects, messages and values (Share). A packet counts for what
// was written to it first.
//
//     of 224    for certain        at most, beside the others
//     objects   56, kept free      168, or all while no value waits
//     values    56, once one waits 168
//     messages  -                  112, or 168 while no value waits; they go before values
//
// All but values also waits while what is under way costs too much to resolve, because one packet
// of acks may resolve all of it (FateCost). And everything waits if too few of the sent packets
// arrived (ArrivalCredit).
//
// Calls count for messages, and their parts, where they have any, for values. Calls and values take
// turns in going first.
//
// Without a cap, under any flood of bunches, an object that changes goes out at once, if few do; if
// many do, they take turns in at least 56 packets a round trip. Values get what is theirs for
// certain back packet by packet, from what is acknowledged.
//
// Beside that a connection may have a cap, in bytes a second, which has shares of its own
// (BandwidthBudget), and be slower where packets are lost (CongestionRate).
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "arrival_credit.h"
#include "bandwidth_budget.h"
#include "bundle_run.h"
#include "carried_opens.h"
#include "congestion_rate.h"
#include "fate_cost.h"
#include "packet_builder.h"
#include "reliable_sender.h"
#include "remote_function_sender.h"
#include "ring_queue.h"
#include "sent_content.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace replayout {

class PacketSender final : private PacketNotifyHandler {
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

        /// Of either end: the window is what clients grant, and a client, which sends no more than
        /// two bunches beside its calls, stays far below.
        [[nodiscard]] static Settings of(const NetConfig& config, PeerId peer,
                                         std::uint16_t session) noexcept;
    };

    PacketSender(const Settings& settings, Transport& transport, NetStats& stats,
                 MemoryResource* resource);
    ~PacketSender() { drop_bundles(); }
    PacketSender(const PacketSender&) = delete;
    PacketSender& operator=(const PacketSender&) = delete;

    /// Judges a header from the peer; see PacketNotify::receive(). `handler` learns what became of
    /// what was sent, until drop_content().
    [[nodiscard]] PacketReceipt receive(const PacketHeader& header, NetTime now,
                                        SentContentHandler& handler);

    [[nodiscard]] const PacketNotify& notify() const noexcept { return notify_; }
    /// Of packets, and of each channel.
    [[nodiscard]] std::uint16_t first_sequence() const noexcept { return settings_.first_sequence; }
    /// Of the bunch that follows the open of a channel.
    [[nodiscard]] std::uint16_t sequence_behind_open() const noexcept {
        return static_cast<std::uint16_t>(settings_.first_sequence + 1);
    }
    /// Sends everything again, in another session. Requires that nothing was received.
    void begin_session(std::uint16_t session) noexcept {
        settings_.session = session;
        notify_.set_session(session);
        reliable_.resend_all();
    }
    [[nodiscard]] ReliableSender& reliable() noexcept { return reliable_; }
    /// Gives back room for what packets carried, see KeptRoom.
    void trim() {
        sent_bunches_.trim();
        sent_records_.trim();
        sent_bundles_.trim();
        sent_calls_.trim();
        reliable_.trim();
    }

    /// Whether anything more can be written: a packet is open, or there is room for one of that
    /// share.
    [[nodiscard]] bool can_write(Share share = Share::Objects) const noexcept {
        return !builder_.is_empty() || may_begin_packet(share);
    }

    // The cap, if there is one.

    /// Whatever the cap is or will be: it begins without anything to spend, as sessions of a peer
    /// do that follow each other, so that beginning anew makes nobody's cap larger.
    void begin_in_debt() noexcept { budget_.begin_in_debt(); }
    /// 0: none.
    void set_bytes_per_second_max(std::uint32_t bytes) noexcept;
    [[nodiscard]] std::uint32_t bytes_per_second_max() const noexcept {
        return settings_.bytes_per_second_max;
    }
    /// There is a cap, or congestion control, whose rate is one.
    [[nodiscard]] bool is_capped() const noexcept { return budget_.cap() != 0; }
    [[nodiscard]] std::uint32_t effective_cap() const noexcept { return budget_.cap(); }
    /// 0: nobody measures, or there was no answer yet.
    [[nodiscard]] std::uint32_t round_trip_us() const noexcept {
        return congestion_.has_value() ? congestion_->round_trip_us() : 0;
    }
    /// The packets in flight leave one for that share.
    [[nodiscard]] bool has_window_for(Share share) const noexcept;
    /// What blocks may spend, headers of their packets included. Requires a cap.
    [[nodiscard]] std::uint32_t budget_of_objects() const noexcept {
        return budget_.bytes_left(objects_share_);
    }
    /// Any packet may go out.
    [[nodiscard]] bool has_budget() const noexcept { return budget_.has_any(); }
    /// A packet of objects that begins now is paid for by State, or by Joins.
    void set_objects_share(BudgetShare share) noexcept {
        objects_share_ = share;
        begin_packet(Share::Objects);
    }
    /// Whether there is something to send for a share, beside the bunches that wait.
    void set_wanted(BudgetShare share, bool is_wanted) noexcept;
    /// Whatever that is cannot use what is left to it now.
    void set_none_wanted() noexcept;
    /// All had their turn in this flush, also bunches that may be sent and found no room: what is
    /// left of the cap is for the next that is written.
    void share_what_is_left() noexcept;

    /// The packet that blocks are written to. Requires can_write().
    [[nodiscard]] PacketBuilder& builder() noexcept { return builder_; }

    /// Bytes of all packets that were built here, the open one included. The difference between two
    /// calls is what was written in between.
    [[nodiscard]] std::uint64_t bytes_written() const noexcept {
        return bytes_finished_ + builder_.bytes_used();
    }

    /// What the block just written to the builder carried.
    void add_record(const SentRecord& record);
    /// The same of blocks that were just copied from a bundle. Holds its run.
    void add_bundle(const SentBundle& bundle);
    /// Sends packets `begin` <= i < `end` of a run, as many as there is room for. Returns the first
    /// bundle that was not sent. Nothing is copied: `bytes` are those of the run, and headers are
    /// written into the room in front of each packet. `are_accounted`: account may be kept of their
    /// pairs (add_accounted()). Requires that the open packet is empty, and that there is no cap.
    [[nodiscard]] std::uint32_t send_bundles(BundleRun& run, std::uint32_t begin, std::uint32_t end,
                                             std::span<std::byte> bytes, bool are_accounted);
    /// Bundles of that flush, or of one before it, are under way.
    [[nodiscard]] bool has_bundles_until(std::uint64_t flush) const noexcept {
        return sent_bundles_.count() > 0 && sent_bundles_.front().first.run->flush() <= flush;
    }
    /// Bundles under way with a block of that object, of which one was last in a bundle in that
    /// flush. O(bundles under way), where it is not older than all of them.
    [[nodiscard]] std::uint32_t bundles_with(std::uint32_t object_index,
                                             std::uint64_t bundled_flush) const noexcept;
    /// So many blocks of bundles under way are of pairs of which account is kept, or are no longer.
    void add_accounted(std::uint32_t blocks) noexcept {
        fate_cost_.add(blocks * FateCost::accounted_block);
    }
    void take_accounted(std::uint32_t blocks) noexcept {
        fate_cost_.take(blocks * FateCost::accounted_block);
    }
    /// Adds which blocks of that run are under way: bit i of `held[b]` for block i of bundle b.
    void mark_held(const BundleRun& run, std::span<std::uint64_t> held) const noexcept;

    /// Writes messages and values that wait, each as far as its share and the window of bunches go.
    /// False: an open still waits (has_lost_opens()), so no block may go out.
    [[nodiscard]] bool write_unsent_bunches();
    /// The same at the beginning of a flush, before calls are written. Values wait until these are,
    /// if it is the turn of these. `do_values_wait`: there are values of which no part is here yet.
    [[nodiscard]] bool write_first_bunches(bool do_values_wait);
    /// Some call found no room in this flush.
    void calls_found_no_room() noexcept { did_calls_find_room_ = false; }
    /// Values go before calls in this flush, and none of them found room so far.
    [[nodiscard]] bool is_values_turn() const noexcept {
        return !are_calls_first_ && !is_any_value_written_;
    }
    /// None of this flush came to calls_found_no_room().
    [[nodiscard]] bool did_calls_find_room() const noexcept { return did_calls_find_room_; }

    /// Fragments of values that may go out now, behind those that wait; under a cap by what a
    /// packet holds at most.
    [[nodiscard]] std::uint32_t value_room() const noexcept;
    /// The first of a value of so many bytes may, and the other end has room for it.
    [[nodiscard]] bool has_room_for_value(std::size_t bytes) const noexcept {
        return value_room() > 0 && has_window_for_value(bytes);
    }
    /// The other end has room for it.
    [[nodiscard]] bool has_window_for_value(std::size_t bytes) const noexcept {
        return reliable_.has_room_behind_unsent(Share::Values, bytes);
    }

    /// Whether a bunch of so many bytes, header included, can be written now; the packet that has
    /// no room for it is sent.
    [[nodiscard]] bool make_room_for_bunch(Share share, std::size_t bytes);
    /// Writes the open that was just queued. Requires room for it, and that no open waits.
    void write_open() { write_bunch(Share::Objects); }
    /// An open waits to go out again, alone or with others: nothing else of objects may go out
    /// before it.
    [[nodiscard]] bool has_lost_opens() const noexcept {
        return reliable_.waiting_count(Share::Objects) > 0;
    }
    /// The shares as lost opens find them at the beginning of a flush.
    void begin_lost_opens() noexcept;
    /// Writes the next of them. Returns its object, whose block is to follow at once; nothing:
    /// there is no room, or no such open.
    [[nodiscard]] std::optional<std::uint32_t> write_lost_open();
    /// The open in the open packet, if it is there, has its block, or needs none.
    void open_followed(std::uint32_t object_index) noexcept {
        carried_opens_.followed(object_index);
    }

    /// A packet that is begun now counts for `share`.
    void begin_packet(Share share) noexcept {
        if (builder_.is_empty()) {
            open_packet_.share = share;
            open_packet_.budget_share = budget_share_of(share);
        }
    }
    /// Writes a call, or a part of one, into the open packet. False, and nothing written, when it
    /// does not fit.
    [[nodiscard]] bool write_call(const CallPart& part);
    /// Writes all parts of a call but the last that are to be sent, into as many packets as their
    /// share has room for. False: it has no more.
    [[nodiscard]] bool write_parts_ahead(RemoteFunctionSender& calls, OutgoingCall& call);
    /// The open of this object's channel lies in the open packet.
    [[nodiscard]] bool carries_open(std::uint32_t object_index) const noexcept {
        return carried_opens_.contains(object_index);
    }
    /// A block with what is sent of this object only at first is under way. O(blocks under way).
    [[nodiscard]] bool has_initial_under_way(std::uint32_t object_index) const noexcept;
    /// Names the open packet: packets before it have lower numbers.
    [[nodiscard]] std::uint64_t open_packet_number() const noexcept { return packets_finished_; }

    [[nodiscard]] bool reliable_is_idle() const noexcept { return reliable_.is_idle(); }

    /// Sends the open packet, if there is anything in it.
    void flush(NetTime now);
    /// The same in the middle of a flush, when what comes next does not fit. Opens whose block is
    /// not in the packet wait as if they had been lost.
    void flush_full() { flush(now_); }
    /// The same where a block of that object comes next: if its open was in the packet and waits
    /// for that, it goes over into the next one, if that may begin.
    void flush_full_before(std::uint32_t object_index);
    /// The object of the first open in the packet whose block is to follow.
    [[nodiscard]] std::optional<std::uint32_t> unfollowed_open() const noexcept {
        return carried_opens_.first_unfollowed();
    }
    [[nodiscard]] bool is_open_unfollowed(std::uint32_t object_index) const noexcept {
        return carried_opens_.find_unfollowed(object_index).has_value();
    }

    /// Sends an empty packet for its acks; with `ack_requested` to get an answer.
    void send_empty(NetTime now, bool ack_requested);

    [[nodiscard]] NetTime last_send() const noexcept { return last_send_; }
    /// Something with content is on its way. (Not a probe: where a round trip takes longer than the
    /// wait for an answer, one probe would be the reason for the next, for ever.)
    [[nodiscard]] bool awaits_ack() const noexcept {
        return highest_with_content_ > notify_.highest_acked();
    }

    /// Calls that are repeated until they arrive are on their way.
    [[nodiscard]] bool has_calls_under_way() const noexcept { return sent_calls_.count() > 0; }

    /// Something with content that was sent at that time, or before, is neither acknowledged nor
    /// known to be lost. O(1), but where packets in flight are that old.
    [[nodiscard]] bool is_unanswered_since(NetTime time) const noexcept;

    [[nodiscard]] bool has_sent() const noexcept { return has_sent_; }
    /// False from drop_content() on.
    [[nodiscard]] bool has_objects() const noexcept { return has_objects_; }

    /// The connection is closing: objects are nobody's business any more, only the control channel
    /// is. What was sent of them is neither delivered nor lost.
    void drop_content();

    /// The packets that may be sent without arriving.
    [[nodiscard]] ArrivalCredit& credit() noexcept { return credit_; }

    /// The time of the flush that is going on, for packets that fill up meanwhile.
    void begin_flush(NetTime now) noexcept;

  private:
    /// Packets in flight that objects always get, and values when some wait: a quarter of them.
    static constexpr std::uint32_t packets_for_certain = 56;

    /// How much of the queues below belongs to one packet.
    struct SentPacket {
        std::uint16_t bunch_count = 0;
        std::uint16_t record_count = 0;
        std::uint16_t first_record_count = 0;  // of these, before the bundles
        std::uint16_t bundle_count = 0;
        std::uint16_t call_count = 0;  // reliable ones
        // This one and those behind it are packets of a run as it was cut, and nothing else; known
        // of the first of them that is not resolved. 0: it was put together by itself.
        std::uint16_t burst_count = 0;
        Share share = Share::Objects;
        BudgetShare budget_share = BudgetShare::State;
        bool has_content = false;  // set when it is sent
        NetTime sent;

        [[nodiscard]] bool has_only_bundles() const noexcept {
            return bunch_count == 0 && record_count == 0 && call_count == 0;
        }
    };
    static_assert(sizeof(SentPacket) <= 24, "packets of one tick lie in few lines of memory");

    [[nodiscard]] bool may_begin_packet(Share share) const noexcept;
    /// Packets with content that may go out, of whatever share.
    [[nodiscard]] std::uint32_t sendable_count() const noexcept {
        return std::min(notify_.sendable_count(), credit_.packets());
    }
    [[nodiscard]] BudgetShare budget_share_of(Share share) const noexcept;
    /// What is wanted beside bunches, and for these.
    [[nodiscard]] bool may_send_bunches(BudgetShare share) const noexcept;
    void update_wanted(BudgetShare share) noexcept;
    [[nodiscard]] bool write_messages();
    /// In the last flush calls found no room. True: they go before values in this one.
    [[nodiscard]] bool is_turn_of_calls(bool do_values_wait) const noexcept;
    /// Those whose block is not in the packet: they wait as if they had been lost.
    void take_out_opens() noexcept;
    void update_cap() noexcept;
    /// How many more packets of that share are for certain.
    [[nodiscard]] std::uint32_t packets_kept_for(Share share) const noexcept;
    /// How many of that share may be in flight beside those that are.
    [[nodiscard]] std::uint32_t window_for(Share share) const noexcept;
    [[nodiscard]] std::uint32_t& in_flight(Share share) noexcept {
        return in_flight_[static_cast<std::size_t>(share)];
    }
    /// Writes the bunches of a row, into the open packet and the next. False: no more packets.
    [[nodiscard]] bool write_bunches(Share share);
    void write_bunch(Share share);
    /// An open that was just taken out of a packet.
    void write_taken_out(const SentBunch& name);
    /// It is in the open packet.
    void note_bunch(const SentBunch& name);
    /// What became of the next `count` blocks, oldest first.
    void records_delivered(std::uint32_t count);
    void records_lost(std::uint32_t count);
    void bundles_delivered(std::uint32_t count);
    /// Of the front of the queue, so many.
    void pop_bundles(std::uint32_t count) noexcept;
    void drop_bundles() noexcept;
    /// Something of it is about to be sent.
    void hold(BundleRun& run) noexcept;
    void packet_delivered(std::uint64_t sequence) override;
    void packets_delivered(std::uint64_t first, std::uint64_t last) override;
    /// Bundles in the first `count` packets of a burst, of which the first that is not resolved has
    /// the oldest.
    [[nodiscard]] std::uint32_t bundles_of_burst(std::uint32_t count) noexcept {
        return sent_bundles_.front().in_packets(count);
    }
    /// The first `count` packets of a burst that begins there are resolved.
    void shorten_burst(std::uint64_t sequence, std::uint32_t count) noexcept;
    void packet_lost(std::uint64_t sequence) override;
    void send_packet(bool ack_requested);
    /// Of a burst the first that is not resolved; what stands at the others means nothing.
    [[nodiscard]] SentPacket& packet_at(std::uint64_t sequence) noexcept {
        return sent_packets_[sequence % packets_in_flight_max];
    }
    [[nodiscard]] const SentPacket& packet_at(std::uint64_t sequence) const noexcept {
        return sent_packets_[sequence % packets_in_flight_max];
    }

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    Settings settings_;
    Transport& transport_;
    NetStats& stats_;
    NetTime now_;
    NetTime last_send_;
    std::uint64_t packets_finished_ = 0;
    std::uint64_t bytes_finished_ = 0;  // of these
    std::uint64_t highest_with_content_ = 0;
    std::array<std::uint32_t, share_count> in_flight_{};  // packets with content
    BudgetShare objects_share_ = BudgetShare::State;
    bool has_objects_ = true;  // until the connection closes
    bool has_sent_ = false;
    // Whose turn it is: values or calls.
    bool are_calls_first_ = false;
    bool is_any_call_written_ = false;   // in this flush
    bool is_any_value_written_ = false;  // in this flush
    bool did_calls_find_room_ = true;    // in this flush
    FateCost fate_cost_;                 // of all that is under way
    ArrivalCredit credit_;
    BandwidthBudget budget_;
    SentContentHandler* handler_ = nullptr;  // while acks are read
    NetTime received_;                       // likewise: now
    // Packets are resolved in order of sending, so what they carried needs no more than queues.
    RingQueue<SentBundles> sent_bundles_;
    PacketNotify notify_;
    ReliableSender reliable_;
    SentPacket open_packet_;
    std::array<bool, budget_share_count> is_wanted_{};  // beside bunches
    std::optional<CongestionRate> congestion_;
    RingQueue<SentBunch> sent_bunches_;
    RingQueue<SentRecord> sent_records_;
    RingQueue<SentCall> sent_calls_;
    CarriedOpens carried_opens_;                                  // of the open packet
    std::array<SentPacket, packets_in_flight_max> sent_packets_;  // by sequence
    PacketBuilder builder_;
};

}  // namespace replayout
