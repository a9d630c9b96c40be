// SPDX-License-Identifier: MIT
//
// Bunches on their way out: kept until the packet that carried them is delivered, and sent again
// when it is lost: as they are, or without their bytes, if the other end is not to have these any
// more.
//
// They wait in three queues, one for each share of a connection: opens, messages, values. A queue
// keeps its order and overtakes the others, so no open waits for a flood of values. What is unsent
// of a channel stands in one queue, so the order within a channel is kept as well: a close behind a
// value of its object waits with the values. A close of which nothing is unsent before it waits
// apart, in 8 bytes, because a game may remove thousands of objects at once. It takes turns with
// the messages.
//
// Such a close, and an open that was laid down once for all clients, are no bunches of their own as
// long as their packets are not lost (KeptBunches).
//
// What the other end keeps waiting is bounded, so a sender stays within a window. It begins with
// the first bunch, and with the first message, that is not delivered whole, in the order in which
// they went out; all that can wait there went out since:
//
//     sent     [ value 1: 1 2 3 ][ open ][ value 1: 4 5 ][ close ][ value 2: 1 ...
//     delivered           x x        x               x
//     window   |-----------------------------------------------------------| the rest is held back
//
// A message is counted whole when its first part goes out, so what is begun can be ended. Values
// take three quarters of the window at most, and so do all others: of a window of four of the
// largest messages or more, either has a quarter for certain.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/reflection/memory.h>

#include "bunch_pool.h"
#include "bunch_queue.h"
#include "close_bunch.h"
#include "kept_bunches.h"
#include "out_bunch.h"
#include "ring_queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Names a bunch that was sent.
struct SentBunch {
    PacketUse use = PacketUse::Messages;
    BunchOrder order;
};

/// What the other end lets wait, over all channels.
struct ReliableWindow {
    std::uint64_t bunches = 0;
    std::uint64_t bytes = 0;  ///< at least those of the largest message
};

/// The close of a channel that is no bunch yet.
struct WaitingClose {
    ChannelIndex channel;
    std::uint16_t sequence = 0;
    ChannelCloseReason reason = ChannelCloseReason::Destroyed;

    friend bool operator==(const WaitingClose&, const WaitingClose&) noexcept = default;
};
static_assert(sizeof(WaitingClose) == 8);

class ReliableSender {
  public:
    /// `stats` outlives this.
    ReliableSender(std::size_t fragment_bytes, const ReliableWindow& window, NetStats& stats,
                   MemoryResource* resource);

    /// Queues a payload as one bunch, or as fragments that all carry `tag`. The sequence of the
    /// first is `sequence`; returns how many sequences were used.
    std::uint32_t queue(BunchHeader header, std::uint16_t sequence,
                        std::span<const std::byte> payload, BunchTag tag);

    /// Queues the close of an object's channel. `sequence` is that of the channel's last bunch. The
    /// caller first abandons what is unsent of the channel (abandon_unsent()). Only an open may be
    /// unsent, and then `is_behind_open` is true.
    void queue_close(ChannelIndex channel, std::uint16_t sequence, ChannelCloseReason reason,
                     bool is_behind_open);

    /// How many sequences a payload uses.
    [[nodiscard]] std::uint32_t fragment_count(std::size_t payload_bytes) const noexcept;

    /// The next bunch of that queue is there and within the window.
    [[nodiscard]] bool may_send(PacketUse use) const noexcept;
    /// A bunch queued now would be the next of its queue, and may be sent at once.
    [[nodiscard]] bool has_room_for(PacketUse use, std::size_t payload_bytes) const noexcept;
    /// The same of one that is queued behind others that are not sent.
    [[nodiscard]] bool has_room_behind_unsent(PacketUse use,
                                              std::size_t payload_bytes) const noexcept;
    /// Bunches of that queue that are to go out, without closes that wait apart.
    [[nodiscard]] std::uint32_t waiting_count(PacketUse use) const noexcept {
        return static_cast<std::uint32_t>(state_of(use).lost_count + state_of(use).unsent.count());
    }
    /// Nothing waits, and nothing is under way.
    [[nodiscard]] bool is_idle() const noexcept { return bunch_count_ == 0; }
    /// Some channel has a bunch that never went out, but for closes that wait apart.
    [[nodiscard]] bool has_unsent() const noexcept {
        return unsent_channels_.size() > sent_channel_count_;
    }
    /// Requires may_send().
    [[nodiscard]] const OutBunch& next(PacketUse use) const noexcept;

    /// The next bunch of that queue has gone out.
    SentBunch sent(PacketUse use);
    /// The open of that object goes out now, with a first block of that version; 0: without one.
    /// Requires has_room_for(). Holds the bunch.
    void send_open(ObjectIndex index, OpenBunch& bunch, Version block_version);
    /// These opens could go out now, one after the other, and closes with them. `payload_bytes`: of
    /// all of them. False also where that is near.
    [[nodiscard]] bool has_room_for_opens(std::uint32_t count,
                                          std::size_t payload_bytes) const noexcept {
        const UseState& opens = state_of(PacketUse::Objects);
        return opens.lost_count == 0 && opens.unsent.is_empty() &&
               (has_usual_room(payload_bytes, count) ||
                has_window_beyond_usual(PacketUse::Objects, payload_bytes, count));
    }
    /// They go out now. Requires has_room_for_opens(). Holds their run.
    void send_opens(const OpenRunPart& opens, std::size_t payload_bytes);
    /// A first block of the object is under way that went out so.
    [[nodiscard]] bool has_first_block_of(ObjectIndex index) const noexcept {
        return kept_.has_block_of(index);
    }
    /// A close waits apart.
    [[nodiscard]] bool has_waiting_closes() const noexcept { return waiting_close_count_ > 0; }
    [[nodiscard]] std::uint32_t waiting_close_count() const noexcept {
        return waiting_close_count_;
    }
    /// How many of the closes that wait apart may go out now, the first of them first.
    [[nodiscard]] std::uint32_t sendable_closes() const noexcept;
    /// The `number`-th close that waits apart, from 0 on. There must be one.
    [[nodiscard]] const WaitingClose& waiting_close(std::uint32_t number) const noexcept {
        return closes_.at(closes_.count() - waiting_close_count_ + number);
    }
    /// So many go out now, in one packet. Requires sendable_closes().
    void send_closes(std::uint32_t count);
    /// Returns the first of what went out by send_open(), send_opens() and send_closes() and is
    /// under way. There must be one.
    [[nodiscard]] const KeptBunch& first_kept() const noexcept { return kept_.first(); }
    /// Calls `visit(kept)` for the last `count` of what is under way so.
    template <typename Visitor>
    void for_each_of_last_kept(std::size_t count, Visitor visit) const {
        kept_.for_each_of_last(count, visit);
    }
    /// The first, which is an open, was delivered.
    ResolvedBunch open_delivered() noexcept;
    /// The first, which is closes, was delivered. Returns how many closes it is. The caller calls
    /// close_delivered() for each.
    std::uint32_t closes_delivered() noexcept { return kept_.take_closes(); }
    /// Returns the object of which the channel was closed.
    ObjectIndex close_delivered() noexcept;
    /// The first, which is a run, was delivered. The caller holds the run now.
    [[nodiscard]] OpenRunPart opens_delivered() noexcept {
        const OpenRunPart opens = kept_.take_opens();
        bunch_count_ -= opens.count;
        return opens;
    }
    /// The first bunch of the first was lost: it waits to go out again.
    ResolvedBunch kept_lost();
    /// The bunch did not leave after all: it waits as if it was lost. `was_sent`: as of before
    /// sent().
    void unsend(SentBunch name, bool was_sent) noexcept;
    /// The one that was taken back by unsend(), or lost, goes out now, before others.
    const OutBunch& resend(SentBunch name) noexcept;
    /// True when the bunch goes out again because of it; `tag` is its then.
    [[nodiscard]] bool lost(SentBunch name, BunchTag& tag);
    /// True the first time a bunch is delivered; `tag` is its then.
    [[nodiscard]] bool delivered(SentBunch name, BunchTag& tag);

    /// The channel closes: of what was said on it nothing more is sent for the first time, and of a
    /// message that was begun nothing at all; what was lost of it goes again without its bytes.
    /// Returns how many bunches never went out: their sequences are free again. Values are to be
    /// taken back before.
    [[nodiscard]] std::uint32_t abandon_unsent(ChannelIndex channel);

    /// Of the value under way that has this tag no byte is sent any more: its parts go out empty,
    /// for the first time or again. The other end throws it away if one of them does; if none has
    /// to, all of it was in flight, and has arrived.
    void take_back(const BunchTag& value);

    /// Forgets what is queued for other channels.
    void keep_control_only();

    /// Gives back room that many channels needed, see KeptRoom.
    void trim();

    /// Everything in flight goes out once more, in case no answer can tell that it was lost.
    void resend_all();

  private:
    struct UseState {
        UseState(BunchPool& pool, MemoryResource* resource)
            : unsent(pool, resource), sent(pool, resource) {}

        /// The lost bunch that was sent first. There must be one.
        [[nodiscard]] OutBunch& first_lost_bunch() const noexcept { return *sent.find(first_lost); }
        void lose(BunchOrder order, OutBunch& bunch) noexcept {
            first_lost = lost_count == 0 ? order : std::min(first_lost, order);
            ++lost_count;
            bunch.is_lost = true;
        }
        /// One that was lost goes out again, or has arrived after all.
        void forget_lost(BunchOrder order) noexcept {
            if (--lost_count > 0 && order == first_lost) {
                first_lost = sent.first_lost_from(order);
            }
        }

        BunchQueue unsent;             // by order of queueing
        BunchQueue sent;               // by order of sending: in flight, or lost
        std::size_t lost_count = 0;    // these go out first: the window begins with them, or before
        BunchOrder first_lost;         // of them, if there is one
        WindowPosition message_begin;  // of the message that was begun last
    };
    /// Of a channel with unsent bunches: how many, and where.
    struct UnsentChannel {
        PacketUse use;
        std::uint32_t bunch_count = 0;
    };

    /// A message that a close ended: its parts wait at the other end until that has arrived.
    struct EndedMessage {
        ChannelIndex channel;
        std::uint64_t bytes = 0;  ///< of these parts, which is less than the message has
    };

    [[nodiscard]] UseState& state_of(PacketUse use) noexcept {
        return states_[static_cast<std::size_t>(use)];
    }
    [[nodiscard]] const UseState& state_of(PacketUse use) const noexcept {
        return states_[static_cast<std::size_t>(use)];
    }
    /// Counts `count` unsent bunches of a channel, and says in which queue they wait: that of
    /// `use`, or the one in which others of the channel do.
    [[nodiscard]] UseState& count_in(ChannelIndex channel, PacketUse use, std::uint32_t count);
    void count_out(ChannelIndex channel);
    /// The other end has nothing left of messages that a close of that channel ended.
    void forget_ended(ChannelIndex channel) noexcept;
    /// One more bunch goes out and is kept, or a run of so many; `bytes`: of all payloads.
    void send_kept(KeptBunch& bunch, std::size_t bytes, std::uint32_t count = 1) noexcept {
        bunch.order = BunchOrder{sent_count_ + 1};
        bunch.begin = sent_;
        sent_count_ += count;
        sent_.others.bunches += count;
        sent_.others.bytes += bytes;
    }
    /// The first bunch of kept_ waits to go out again.
    void lose_kept(BunchHeader header, const BunchTag& tag, std::span<const std::byte> payload);
    /// Calls `visit(bunch, whether it is in flight)` for the parts of a value under way.
    template <typename Visitor>
    void for_each_part(const BunchTag& value, Visitor visit);
    /// One of its parts goes out without its bytes, the first one that does.
    void note_taken_back(const BunchTag& value);
    /// It goes out without its bytes, if it does once more.
    static void strip(OutBunch& bunch) noexcept;
    /// Strips the bunches of a message of the queue: those of its channel in the `count` sequences
    /// before `end`.
    static void strip_parts(UseState& from, ChannelIndex channel, std::uint16_t end,
                            std::uint32_t count);
    [[nodiscard]] WindowPosition window_begin() const noexcept;
    /// Whether the window has room for one bunch more, and for a message of so many bytes; 0 when
    /// that is counted already.
    [[nodiscard]] bool has_window_for(PacketUse use, std::uint64_t message_bytes) const noexcept {
        return (use != PacketUse::Values && has_usual_room(message_bytes)) ||
               has_window_beyond_usual(use, message_bytes);
    }
    /// No value is under way, and what there is leaves room for so many bunches more: so it is most
    /// often.
    [[nodiscard]] bool has_usual_room(std::uint64_t message_bytes,
                                      std::uint32_t count = 1) const noexcept {
        return sent_.values == known_begin_.values && ended_.empty() &&
               sent_.others.bunches + (count - 1) - known_begin_.others.bunches <=
                   shares_.bunches &&
               sent_.others.bytes - known_begin_.others.bytes + message_bytes <= shares_.bytes;
    }
    [[nodiscard]] bool has_window_beyond_usual(PacketUse use, std::uint64_t message_bytes,
                                               std::uint32_t count = 1) const noexcept;
    /// The same if it began there.
    [[nodiscard]] bool has_window_from(const WindowPosition& begin, PacketUse use,
                                       std::uint64_t message_bytes,
                                       std::uint32_t count) const noexcept;

    std::size_t fragment_bytes_;
    ReliableWindow window_;
    ReliableWindow shares_;  // of it, what values may take at most, and all others
    NetStats& stats_;
    std::uint64_t queued_count_ = 0;
    std::uint64_t sent_count_ = 0;
    WindowPosition sent_;  // everything that has been sent
    // As it was once. It only moves on, so where there is room from here there is room.
    mutable WindowPosition known_begin_;
    std::size_t bunch_count_ = 0;  // in all queues
    BunchPool pool_;
    std::array<UseState, share_count> states_;
    KeptBunches kept_;
    FlatMap<ChannelIndex, UnsentChannel> unsent_channels_;
    std::size_t most_channels_ = 0;       // since trim()
    std::size_t sent_channel_count_ = 0;  // of these, with nothing that is unsent any more
    Vector<EndedMessage> ended_;          // few
    RingQueue<WaitingClose> closes_;      // under way (KeptBunches), and then those that wait
    std::uint32_t waiting_close_count_ = 0;
};

}  // namespace replayout
