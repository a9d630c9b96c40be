// SPDX-License-Identifier: MIT
//
// Remote calls of one connection on their way in: put back into order within their channel, those
// in parts put together, and held until the packet that brought them was read to its end, because
// the blocks of a packet are applied before its calls run.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <span>
#include <unordered_map>

#include "marked_row.h"
#include "reliable_receiver.h"

namespace replayout {

struct DueCall {
    ChannelIndex channel;
    bool is_reliable = false;
    std::span<const std::byte> payload;  ///< on loan until the next bunch
};

class IncomingCalls final : private ReliableMessageHandler {
  public:
    /// Calls come on `channels_max` channels at most that are open at a time. `now` and `pool` as
    /// in ReliableAccount.
    IncomingCalls(const ReceiveLimits& limits, const NetTime& now, WaitingPool* pool,
                  std::uint32_t channels_max, MemoryResource* resource);

    /// A bunch with a call, on a channel that is open. Anything but None ends the connection.
    [[nodiscard]] CloseReason receive(const BunchHeader& header,
                                      std::span<const std::byte> payload);

    /// The next call that may run, in order. False: there is none.
    [[nodiscard]] bool take_due(DueCall& call) noexcept;
    /// The next of one channel alone.
    [[nodiscard]] bool take_due_of(ChannelIndex channel, DueCall& call) noexcept;

    /// Of any channel; see ReliableReceiver.
    [[nodiscard]] bool is_stuck_since(NetTime time) const noexcept;

    /// From now on this end takes no call on that channel: forgets parts, and calls that wait for
    /// one before them. Returns how many calls it forgot, not counting one whose last part is
    /// missing.
    std::uint32_t stop(ChannelIndex channel);
    /// Its calls are forgotten, and begin anew with the next life of the channel.
    void channel_closed(ChannelIndex channel);
    /// The calls of that channel that are due do not run; returns how many there were.
    std::uint32_t drop_due_of(ChannelIndex channel) noexcept;
    /// The call that take_due_of() gave last is due again.
    void put_back() noexcept;
    /// The call that take_due() gave last, and those after it, do not run now. take_due() gives it
    /// again.
    void put_off();
    /// Parts or calls are kept until others come.
    /// Calls came in on some channel, or what is due may be of a channel that closes.
    [[nodiscard]] bool has_receivers() const noexcept {
        return !receivers_.empty() || !due_.empty();
    }
    [[nodiscard]] bool keeps_any() const noexcept { return !account_.is_empty(); }
    /// So much was put off that nothing more should come before some of it ran.
    [[nodiscard]] bool is_full() const noexcept;
    /// Nothing that is due runs.
    void drop_due() noexcept;
    /// All is forgotten.
    void clear();

  private:
    struct Due {
        ChannelIndex channel;
        bool is_reliable = false;
        bool is_taken = false;
        std::size_t offset = 0;
        std::size_t size = 0;
    };

    [[nodiscard]] CloseReason handle_message(const BunchHeader& header,
                                             std::span<const std::byte> payload) override;
    [[nodiscard]] DueCall take(Due& due) noexcept;
    /// The calls of closed_ do not run.
    void drop_closed() noexcept;

    std::uint32_t channels_max_;
    MemoryResource* resource_;
    ReliableAccount account_;  // of calls alone
    // By channel, of those on which a reliable call came. Looked up, never walked.
    std::pmr::unordered_map<std::uint32_t, ReliableReceiver> receivers_;
    Vector<Due> due_;
    Vector<std::byte> due_bytes_;
    // Channels that closed while calls were due, for drop_closed(). One packet may close thousands,
    // and thousands of calls may be due, so nobody looks for the calls of each channel by itself.
    MarkedRow closed_;
    std::size_t next_due_ = 0;
    std::size_t taken_due_ = 0;  // by take_due_of(), last
};

}  // namespace replayout
