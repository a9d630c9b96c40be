// SPDX-License-Identifier: MIT
//
// Remote calls of one connection on their way out. A call is kept until it is sent, a reliable one
// until it is delivered; who sends them decides when, since a call goes only together with the
// state that it means.
//
// Calls have sequences of their own in each channel, apart from its other bunches: what waits for
// state must not hold up the bunches that the state waits for.
//
// A call larger than a packet goes in parts, each with a sequence, and so reliably, whatever its
// function says. Any but the last may go ahead of the state; nothing runs before the last is there:
//
//     packets  [ part 1 ] [ part 2 ] [ part 3 ] [ part 4 ][ block ]     the last as a call alone
//
// What the other end lets wait is bounded. A call that was delivered may wait there for one before
// it of its channel, and so counts until that was delivered, too; what was dropped with its channel
// counts until the other end knows of the close.
#pragma once

#include <replayout/handle.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <cstdint>
#include <list>
#include <memory_resource>
#include <optional>
#include <span>

#include "reliable_account.h"
#include "reliable_sender.h"
#include "undecided_calls.h"

namespace replayout {

/// A call that is to be made of a server's object.
struct NewCall {
    ObjectIndex index{};  ///< of the object
    FunctionIndex function;
    bool is_reliable = false;
    bool is_queued = false;
};

/// An object that a call means: its target, or one that its parameters name.
struct NamedObject {
    ObjectIndex index{};
    NetGUID guid;         ///< the slot may have another object by now
    Version version = 0;  ///< that the receiver must have; valid with has_version
    bool has_version = false;
};

/// Names a call, or a part of one, that lies in a packet.
struct SentCall {
    CallOrder order;
    std::uint32_t part = 0;
};

/// What goes out next of a call: all of it, or a part.
struct CallPart {
    BunchHeader header;
    std::span<const std::byte> payload;  ///< on loan until the call is erased
    SentCall name;
    bool is_last = false;   ///< behind it the call may run
    bool was_sent = false;  ///< and lost
};

struct OutgoingCall {
    explicit OutgoingCall(MemoryResource* resource)
        : payload(Allocator<std::byte>(resource)),
          parts(Allocator<PartState>(resource)),
          named(Allocator<NamedObject>(resource)) {}

    enum class PartState : std::uint8_t { Unsent, InFlight, Lost, Delivered };

    [[nodiscard]] bool is_in_parts() const noexcept { return !parts.empty(); }
    /// It is kept until it is delivered, and has sequences.
    [[nodiscard]] bool is_kept() const noexcept { return is_reliable || is_in_parts(); }
    [[nodiscard]] std::uint32_t part_count() const noexcept {
        return is_in_parts() ? static_cast<std::uint32_t>(parts.size()) : 1;
    }
    /// What goes out next is a part before the last.
    [[nodiscard]] bool goes_ahead() const noexcept {
        return !is_in_flight && next_part + 1 < part_count();
    }

    /// It has begun, and only its last part is still to go.
    [[nodiscard]] bool is_last_part_due() const noexcept {
        return was_sent && is_in_parts() && !is_in_flight && !is_for_next && !goes_ahead();
    }

    CallOrder order;
    NetTime made;  ///< of the flush before
    ChannelIndex channel;
    FunctionIndex function;
    std::uint16_t sequence = 0;  ///< of one that is kept: of the channel's calls, of its first part
    bool is_reliable = false;
    bool is_queued = false;     ///< goes behind those that are not
    bool is_in_flight = false;  ///< one that is kept: nothing of it is to be sent now
    bool is_delivered = false;  ///< it counts until those before it are
    bool is_for_next = false;   ///< of the channel's next life: goes when this one is over
    bool has_versions = false;  ///< of a server: a flush has looked at what it names
    bool was_sent = false;      ///< any of it
    bool was_lost = false;      ///< a part of it was lost on its way, and is sent again
    Vector<std::byte> payload;
    Vector<PartState> parts;            ///< of one larger than a packet
    std::uint32_t next_part = 0;        ///< those before it are under way
    std::uint32_t delivered_parts = 0;  ///< how many are
    Vector<NamedObject> named;          ///< of a server; the target first
};

/// The largest call that may be sent to who takes so much. What fits into a packet always may.
[[nodiscard]] std::size_t largest_call_bytes(const ReceiveLimits& limits) noexcept;

class CallQueue {
  public:
    using Calls = std::pmr::list<OutgoingCall>;

    /// `limits` are those of the other end; `first_sequence` is that of the calls of each channel.
    CallQueue(const NetConfig& config, const ReceiveLimits& limits, std::uint16_t first_sequence,
              MemoryResource* resource);

    /// Before anything is sent. True: reliable calls were refused since the last time, and none was
    /// taken for NetConfig::calls_full_timeout_ms, or the oldest has waited for so long; with 0
    /// never. If the oldest was lost on its way, it has lossy_times as long.
    [[nodiscard]] bool begin_flush(NetTime now);
    /// The time of the last flush.
    [[nodiscard]] NetTime now() const noexcept { return now_; }
    /// A reliable multicast found no room, and so was refused to all.
    void note_refused();
    /// The oldest has waited for NetConfig::calls_full_timeout_ms; with 0 never.
    [[nodiscard]] bool has_waited() const noexcept;
    /// A loss says that the line works, and is no fault of the client.
    static constexpr std::int64_t lossy_times = 4;

    /// The size of the last part. Requires a call in parts.
    [[nodiscard]] std::size_t last_part_bytes(const OutgoingCall& call) const noexcept {
        return call.payload.size() - part_bytes_ * (call.part_count() - 1);
    }

    /// A call of that size may be added. What this admits the other end can let wait, whatever is
    /// lost: it counts calls as it does.
    [[nodiscard]] bool has_room_for(bool is_reliable, std::size_t payload_bytes) const noexcept;
    /// The same of a call that brings state (FunctionFlags::Update), which may take up half of what
    /// may wait.
    [[nodiscard]] bool has_room_for_update(std::size_t payload_bytes) const noexcept;
    /// How many calls of a function are queued for the object's next update.
    [[nodiscard]] std::uint32_t queued_count(ChannelIndex channel,
                                             FunctionIndex function) const noexcept;

    /// Requires has_room_for(). The payload is copied.
    OutgoingCall& add(ChannelIndex channel, FunctionIndex function, bool is_reliable,
                      std::span<const std::byte> payload);
    /// The call that was added last is not sent after all.
    void take_back();

    /// In the order in which they were added.
    [[nodiscard]] Calls& calls() noexcept { return calls_; }
    [[nodiscard]] const Calls& calls() const noexcept { return calls_; }
    /// Whether any call of that channel waits or is under way. O(calls).
    [[nodiscard]] bool has_calls(ChannelIndex channel) const noexcept;
    /// How many reliable calls, without those for the channel's next life. O(calls).
    [[nodiscard]] std::uint32_t reliable_count(ChannelIndex channel) const noexcept;
    /// How far the reliable calls of that channel are. O(calls).
    [[nodiscard]] CallProgress progress(ChannelIndex channel) const noexcept;
    /// Whether a call means the state that the object has at its next compare. O(calls).
    [[nodiscard]] bool has_fresh_call(ObjectIndex index) const noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return calls_.empty(); }
    /// Any waits to be sent of which that share is to send next: Values parts that go ahead,
    /// Messages all else. O(calls).
    [[nodiscard]] bool has_unsent(PacketUse use) const noexcept;

    /// What of it goes out next, the first that is not under way; nothing: all of it is.
    [[nodiscard]] std::optional<CallPart> next_part(const OutgoingCall& call) const noexcept;
    /// That is a part, and lies in a packet now.
    void part_sent(OutgoingCall& call) noexcept;
    /// Likewise, or the whole call. Returns the call behind it.
    Calls::iterator sent(Calls::iterator call);
    void delivered(const SentCall& name);
    /// Returns how many calls never run because of that loss: their channel closed meanwhile.
    [[nodiscard]] std::uint32_t lost(const SentCall& name);

    /// Forgets the calls for the channel's next life. Returns how many there were.
    std::uint32_t drop_next(ChannelIndex channel);
    /// The channel closes here: forgets its calls but those for its next life, which begins, and
    /// its sequences. Returns how many never run, as far as that is known: what becomes of those
    /// under way lost() says. What the other end may have of them counts until channel_closed().
    std::uint32_t close_channel(ChannelIndex channel);
    /// False: close_channel() would find nothing of that channel. May be true of a channel without
    /// calls, while others have some.
    [[nodiscard]] bool knows_of(ChannelIndex channel) const noexcept {
        return !calls_.empty() || (!sequences_.empty() && sequences_.contains(channel));
    }
    /// The other end knows of the close.
    void channel_closed(ChannelIndex channel);
    /// Both at once: the other end closed the channel.
    std::uint32_t drop_channel(ChannelIndex channel);

  private:
    [[nodiscard]] std::uint32_t part_count_of(std::size_t payload_bytes) const noexcept;
    /// For how long calls may wait. Requires a timeout.
    [[nodiscard]] std::int64_t patience_ms() const noexcept;
    Calls::iterator erase(Calls::iterator call);
    /// From that one on, which is delivered: those that the other end has no reason to let wait.
    void erase_delivered(Calls::iterator call);
    /// From the call that was found last on: fates come nearly in the order of the calls.
    [[nodiscard]] Calls::iterator find(CallOrder order) noexcept;
    /// Gives the call the next sequence of its channel.
    void give_sequence(OutgoingCall& call);
    /// How many packets with parts of the call are under way.
    [[nodiscard]] static std::uint32_t parts_under_way(const OutgoingCall& call) noexcept;

    // What every flush touches comes first.
    NetTime now_;                           // of the last flush
    std::optional<NetTime> refused_since_;  // and took no reliable call since
    bool was_refused_ = false;              // since the last flush
    std::size_t part_bytes_;
    std::uint16_t first_sequence_;  // of each channel
    std::uint64_t calls_max_;
    ReliableWindow window_;
    // One call is much like the one before: its bytes fit where that one's were.
    std::pmr::unsynchronized_pool_resource memory_;
    Calls calls_;
    Calls::iterator found_ = calls_.end();  // the last one, or any other
    struct Sequences {
        std::uint16_t next = 0;
        std::uint16_t first_kept = 0;  // of the calls that are still in the list
    };
    FlatMap<ChannelIndex, Sequences> sequences_;  // of calls that are kept
    std::uint64_t next_order_ = 1;
    std::uint32_t full_timeout_ms_;
    ReliableAmount kept_;  // of those in the list, and in closing_
    FlatMap<ChannelIndex, ReliableAmount> closing_;
    UndecidedCalls undecided_;
};

}  // namespace replayout
