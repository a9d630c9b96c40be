// SPDX-License-Identifier: MIT
//
// The packets under way to one peer: remembers of each what it carried until its fate is known, and
// tells a SentContentHandler.
//
// Property data is never kept: a record says which versions of which object went out, and a loss
// makes them owed again. Bunches are kept by ReliableSender and go out again as they are.
//
// Packets are resolved in the order of sending (PacketNotify), so queues are enough for what they
// carried:
//
//     packets   [ 7: 2 bunches, 3 records ][ 8: 1 record, 2 bundles ][ 9 to 11: a burst ][ open ]
//     bunches   [ of 7 ][ of 7 ]
//     records   [ of 7 ][ of 7 ][ of 7 ][ of 8 ]
//     bundles   [ of 8 ][ of 8 ][ of 9 to 11, which follow each other in their run ]
//
// A burst is of packets that a run of bundles was cut into, and that were sent as they were.
#pragma once

#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bandwidth_shares.h"
#include "bundle_run.h"
#include "call_queue.h"
#include "fate_cost.h"
#include "packet_window.h"
#include "reliable_sender.h"
#include "ring_queue.h"
#include "sent_content.h"

namespace replayout {

class SentPackets final : private PacketNotifyHandler {
  public:
    struct Settings {
        std::uint16_t session = 0;
        std::uint16_t first_sequence = 1;
        std::uint32_t lost_packets_per_second_max = 0;
    };
    /// The parts of the connection that also learn what became of packets. All of them outlive
    /// this.
    struct Parts {
        BandwidthShares& bandwidth;
        ReliableSender& reliable;
        NetStats& stats;
    };

    SentPackets(const Settings& settings, const Parts& parts, MemoryResource* resource);
    ~SentPackets() { drop_bundles(); }
    SentPackets(const SentPackets&) = delete;
    SentPackets& operator=(const SentPackets&) = delete;

    [[nodiscard]] const PacketNotify& notify() const noexcept { return notify_; }
    /// How many packets may be under way.
    [[nodiscard]] PacketWindow& window() noexcept { return window_; }
    [[nodiscard]] const PacketWindow& window() const noexcept { return window_; }
    /// Packets belong to another session from now on. Requires that nothing was received.
    void set_session(std::uint16_t session) noexcept { notify_.set_session(session); }
    /// Gives back room for what packets carried, see KeptRoom.
    void trim() { trim_all(sent_bunches_, sent_records_, sent_bundles_, sent_calls_); }

    /// Returns how many packets of that share may go out in addition to those under way.
    [[nodiscard]] std::uint32_t packets_for(PacketUse use) const noexcept {
        return window_.packets_for(use, notify_.sendable_count(), parts_.reliable);
    }

    // The open packet.

    /// Remembers what the block carried that was just written to the open packet.
    void add_record(const SentRecord& record);
    /// Remembers blocks that were just copied from a bundle. Holds its run.
    void add_bundle(const SentBundle& bundle);
    void add_bunch(const SentBunch& name) {
        ++open_packet_.bunch_count;
        window_.fate_cost().add(FateCost::bunch);
        sent_bunches_.push_back() = name;
    }
    /// Remembers an open that went out by ReliableSender::send_open().
    void add_open(bool has_block) noexcept {
        ++open_packet_.kept_count;
        window_.fate_cost().add(cost_of_open(has_block));
        parts_.stats.records_sent += has_block ? 1u : 0u;
    }
    /// The same of closes that went out by ReliableSender::send_closes().
    void add_closes(std::uint32_t count) noexcept {
        ++open_packet_.kept_count;
        window_.fate_cost().add(count * FateCost::bunch);
    }
    /// The same of opens that went out by ReliableSender::send_opens().
    void add_opens(const OpenRunPart& opens) noexcept {
        ++open_packet_.kept_count;
        window_.fate_cost().add(cost_of(opens));
        parts_.stats.records_sent += opens.block_count;
    }
    /// Remembers a reliable call, or a part of one.
    void add_call(const SentCall& name) {
        sent_calls_.push_back() = name;
        ++open_packet_.call_count;
        window_.fate_cost().add(FateCost::call);
    }
    /// Returns how many bunches the open packet has, calls excepted.
    [[nodiscard]] std::uint32_t bunch_count() const noexcept { return open_packet_.bunch_count; }
    /// Returns whether the open packet has nothing but bundles and what add_open(), add_opens() and
    /// add_closes() added.
    [[nodiscard]] bool has_only_kept_and_bundles() const noexcept {
        return open_packet_.bunch_count == 0 && open_packet_.record_count == 0 &&
               open_packet_.call_count == 0;
    }
    /// Returns how often these added to it.
    [[nodiscard]] std::uint32_t kept_count() const noexcept { return open_packet_.kept_count; }
    /// Calls `visit(bundle)` for each that was added to the open packet.
    template <typename Visitor>
    void for_each_bundle_of_packet(Visitor visit) const {
        for (std::size_t i = sent_bundles_.count() - open_packet_.bundle_count;
             i < sent_bundles_.count(); ++i) {
            visit(sent_bundles_.at(i)[0]);
        }
    }
    /// Forgets the bunch that was added to the open packet as number `number`.
    void take_out_bunch(std::uint32_t number) noexcept;

    /// The open packet goes out with this header, from notify().next_header(), and the next one is
    /// open. Returns its sequence.
    std::uint64_t commit(const PacketHeader& header, PacketUse use, bool has_content, NetTime now) {
        REPLAYOUT_ASSERT(has_content || open_packet_.is_empty());
        const std::uint64_t sequence = notify_.commit_send(header);
        if (has_content) {
            window_.sent(use, 1);
            highest_with_content_ = sequence;
        }
        open_packet_.use = use;
        open_packet_.has_content = has_content;
        open_packet_.sent = now;
        packet_at(sequence) = std::exchange(open_packet_, SentPacket());
        return sequence;
    }
    /// What packets of a run carry that go out as they were cut.
    struct Burst {
        SentBundles bundles;
        std::uint32_t block_count = 0;
        std::uint32_t cost = 0;  ///< FateCost of them
    };
    /// `count` packets of a run go out with these bundles; `header` is that of the first. Holds
    /// their run. Requires that nothing was added to the open packet.
    void commit_burst(const PacketHeader& header, std::uint32_t count, const Burst& burst,
                      NetTime now);

    // What is under way.

    /// Returns whether something with content is on its way. (Not a probe: where a round trip takes
    /// longer than the wait for an answer, one probe would be the reason for the next, for ever.)
    [[nodiscard]] bool awaits_ack() const noexcept {
        return highest_with_content_ > notify_.highest_acked();
    }
    /// Returns whether something with content that was sent at that time, or before, is neither
    /// acknowledged nor known to be lost. O(1), but where packets in flight are that old.
    [[nodiscard]] bool is_unanswered_since(NetTime time) const noexcept;
    /// Returns what it costs to resolve all that is under way, in units of FateCost.
    [[nodiscard]] std::uint32_t fate_units() const noexcept { return window_.fate_units(); }
    /// Returns whether calls that are repeated until they arrive are on their way.
    [[nodiscard]] bool has_calls() const noexcept { return sent_calls_.count() > 0; }
    /// Returns whether a block is on its way with what is sent of this object only at first.
    /// O(blocks under way).
    [[nodiscard]] bool has_initial(ObjectIndex object_index) const noexcept;
    /// Returns whether bundles of that flush, or of one before it, are under way.
    [[nodiscard]] bool has_bundles_until(std::uint64_t flush) const noexcept {
        return sent_bundles_.count() > 0 && sent_bundles_.front().first.run->flush() <= flush;
    }
    /// Counts the bundles under way with a block of that object, of which one was last in a bundle
    /// in that flush. O(bundles under way), where it is not older than all of them.
    [[nodiscard]] std::uint32_t bundles_with(ObjectIndex object_index,
                                             std::uint64_t bundled_flush) const noexcept;
    /// Account is kept of the pairs of so many more blocks of bundles under way, or is no longer.
    void add_accounted(std::uint32_t blocks) noexcept {
        window_.fate_cost().add(blocks * FateCost::accounted_block);
    }
    void take_accounted(std::uint32_t blocks) noexcept {
        window_.fate_cost().take(blocks * FateCost::accounted_block);
    }
    /// Adds which blocks of that run are under way: bit i of `held[b]` for block i of bundle b.
    void mark_held(const BundleRun& run, std::span<std::uint64_t> held) const noexcept;

    // Their fates.

    /// Judges a header from the peer; see PacketNotify::receive(). `handler` learns what became of
    /// what was sent, until drop_content().
    [[nodiscard]] PacketReceipt receive(const PacketHeader& header, NetTime now,
                                        SentContentHandler& handler);
    /// The connection is closing, so nothing but the control channel matters any more. Forgets what
    /// packets carried, except bunches: it becomes neither delivered nor lost. Requires that the
    /// open packet is empty.
    void drop_content() noexcept;

  private:
    /// How much of the queues below belongs to one packet.
    struct SentPacket {
        std::uint16_t bunch_count = 0;
        std::uint16_t record_count = 0;
        std::uint16_t first_record_count = 0;  // of these, before the bundles
        std::uint16_t bundle_count = 0;
        std::uint16_t call_count = 0;  // reliable ones
        std::uint16_t kept_count = 0;  // of add_open(), add_opens() and add_closes()
        // This packet and those that follow it are packets of a burst, and nothing else; known of
        // the first of them that is not resolved. 0: it was put together by itself.
        std::uint16_t burst_count = 0;
        PacketUse use = PacketUse::Objects;
        bool has_content = false;  // set when it is sent
        NetTime sent;

        [[nodiscard]] bool has_only_bundles() const noexcept {
            return bunch_count == 0 && record_count == 0 && call_count == 0 && kept_count == 0;
        }
        [[nodiscard]] bool is_empty() const noexcept {
            return has_only_bundles() && bundle_count == 0;
        }
    };
    static_assert(sizeof(SentPacket) <= 24, "packets of one tick lie in few lines of memory");

    [[nodiscard]] static constexpr std::uint32_t cost_of_open(bool has_block) noexcept {
        return FateCost::bunch + (has_block ? FateCost::own_block : 0);
    }
    [[nodiscard]] static constexpr std::uint32_t cost_of(const OpenRunPart& opens) noexcept {
        return opens.count * FateCost::bunch + opens.block_count * FateCost::own_block;
    }
    void kept_delivered(std::uint32_t count);
    void opens_delivered();
    void closes_delivered();
    void kept_lost(std::uint32_t count);
    void first_kept_lost();
    void packet_delivered(std::uint64_t sequence) override;
    void packets_delivered(std::uint64_t first, std::uint64_t last) override;
    void packet_lost(std::uint64_t sequence) override;
    /// The next `count` blocks, oldest first, arrived, or were lost.
    void records_delivered(std::uint32_t count);
    void records_lost(std::uint32_t count);
    void bundles_delivered(std::uint32_t count);
    /// Removes so many bundles from the front of the queue.
    void pop_bundles(std::uint32_t count) noexcept;
    void drop_bundles() noexcept;
    /// Holds the run, of which something is about to be sent.
    void hold(BundleRun& run) noexcept;
    /// Counts the bundles in the first `count` packets of a burst, of which the first that is not
    /// resolved has the oldest.
    [[nodiscard]] std::uint32_t bundles_of_burst(std::uint32_t count) noexcept {
        return sent_bundles_.front().in_packets(count);
    }
    /// The first `count` packets of a burst that begins there are resolved.
    void shorten_burst(std::uint64_t sequence, std::uint32_t count) noexcept;
    /// Returns the packet with that number; of a burst the first one that is not resolved, and the
    /// others mean nothing.
    [[nodiscard]] SentPacket& packet_at(std::uint64_t sequence) noexcept {
        return sent_packets_[sequence % packets_in_flight_max];
    }
    [[nodiscard]] const SentPacket& packet_at(std::uint64_t sequence) const noexcept {
        return sent_packets_[sequence % packets_in_flight_max];
    }

    // What every tick of every connection touches comes first, so that it is few lines of memory.
    Parts parts_;
    SentContentHandler* handler_ = nullptr;  // while acks are read
    NetTime received_;                       // the time of these acks
    std::uint64_t highest_with_content_ = 0;
    PacketWindow window_;
    SentPacket open_packet_;
    RingQueue<SentBundles> sent_bundles_;
    PacketNotify notify_;
    RingQueue<SentBunch> sent_bunches_;
    RingQueue<SentRecord> sent_records_;
    RingQueue<SentCall> sent_calls_;
    std::array<SentPacket, packets_in_flight_max> sent_packets_;  // by sequence
};

}  // namespace replayout
