// SPDX-License-Identifier: MIT
//
// Remote calls of one connection on their way out. A call is kept until it is sent, a reliable one
// until it is delivered; who sends them decides when, since a call goes only together with the
// state that it means.
//
// Calls have sequences of their own in each channel, apart from its other bunches: what waits for
// state must not hold up the bunches that the state waits for.
#pragma once

#include <replayout/handle.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <list>
#include <memory_resource>
#include <span>

namespace replayout {

/// Names a call within its connection; later ones are greater.
struct CallOrder {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(CallOrder, CallOrder) noexcept = default;
};

/// A call that is to be made of a server's object.
struct NewCall {
    std::uint32_t index = 0;  ///< of the object
    FunctionIndex function;
    bool is_reliable = false;
    bool is_queued = false;
};

/// An object that a call means: its target, or one that its parameters name.
struct NamedObject {
    std::uint32_t index = 0;
    NetGUID guid;         ///< the slot may have another object by now
    Version version = 0;  ///< that the receiver must have; valid with has_version
    bool has_version = false;
};

struct OutgoingCall {
    explicit OutgoingCall(MemoryResource* resource)
        : payload(Allocator<std::byte>(resource)), named(Allocator<NamedObject>(resource)) {}

    CallOrder order;
    ChannelIndex channel;
    FunctionIndex function;
    std::uint16_t sequence = 0;  ///< reliable: of the channel's calls
    bool is_reliable = false;
    bool is_queued = false;     ///< goes behind those that are not
    bool is_in_flight = false;  ///< reliable
    bool was_sent = false;
    Vector<std::byte> payload;
    Vector<NamedObject> named;  ///< of a server; the target first
};

class RemoteFunctionSender {
  public:
    using Calls = std::pmr::list<OutgoingCall>;

    RemoteFunctionSender(const NetConfig& config, MemoryResource* resource);

    /// A call of that size may be added. What this admits the other end can let wait, whatever is
    /// lost: it counts calls as it does.
    [[nodiscard]] bool has_room_for(bool is_reliable, std::size_t payload_bytes) const noexcept;
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
    /// Whether any call of that channel waits or is under way. O(calls).
    [[nodiscard]] bool has_calls(ChannelIndex channel) const noexcept;
    [[nodiscard]] bool is_idle() const noexcept { return calls_.empty(); }
    /// Any waits to be sent. O(calls).
    [[nodiscard]] bool has_unsent() const noexcept {
        return std::any_of(calls_.begin(), calls_.end(),
                           [](const OutgoingCall& call) { return !call.is_in_flight; });
    }

    /// It lies in a packet now. Returns the call behind it.
    Calls::iterator sent(Calls::iterator call);
    void delivered(CallOrder order);
    void lost(CallOrder order);

    /// Forgets all calls of a channel, and its sequences. Returns how many there were.
    std::uint32_t drop_channel(ChannelIndex channel);

  private:
    Calls::iterator erase(Calls::iterator call);
    [[nodiscard]] Calls::iterator find(CallOrder order) noexcept;

    std::uint64_t calls_max_;
    std::uint64_t reliable_max_;
    std::uint64_t reliable_bytes_max_;
    // One call is much like the one before: its bytes fit where that one's were.
    std::pmr::unsynchronized_pool_resource memory_;
    Calls calls_;
    FlatMap<std::uint32_t, std::uint16_t> next_sequences_;  // of reliable calls, by channel
    std::uint64_t next_order_ = 1;
    std::uint64_t reliable_count_ = 0;
    std::uint64_t reliable_bytes_ = 0;
};

}  // namespace replayout
