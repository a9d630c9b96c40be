// SPDX-License-Identifier: MIT
//
// Bunches of one channel on their way in: put back into order, and parts into whole messages. What
// waits is bounded by the connection's account, whatever the peer sends.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <map>
#include <span>

#include "reliable_account.h"
#include "reliable_sender.h"

namespace replayout {

/// Takes whole messages in order. The bytes are on loan for the call. There are none of a value
/// that was taken back.
class ReliableMessageHandler {
  public:
    /// Anything but None ends the connection.
    [[nodiscard]] virtual CloseReason handle_message(const BunchHeader& header,
                                                     std::span<const std::byte> payload) = 0;
    /// A message that is not to be handed on yet, though it is its turn: it waits, with all behind
    /// it, until ReliableReceiver::retry(). Not asked of parts.
    [[nodiscard]] virtual bool must_wait(const BunchHeader& header,
                                         std::span<const std::byte> payload) {
        (void)header;
        (void)payload;
        return false;
    }

  protected:
    ~ReliableMessageHandler() = default;
};

/// What a receiver with these limits lets wait. A sender keeps within its own, which are meant to
/// be those of the other end.
[[nodiscard]] ReliableWindow reliable_window(const ReceiveLimits& limits) noexcept;

class ReliableReceiver {
  public:
    /// The account is the connection's and outlives the receiver.
    ReliableReceiver(ReliableAccount& account, MemoryResource* resource);
    ~ReliableReceiver();
    ReliableReceiver(const ReliableReceiver&) = delete;
    ReliableReceiver& operator=(const ReliableReceiver&) = delete;

    /// Hands on what is complete now: this bunch and those that waited for it. A handler that
    /// answers with a reason stops it; one that resets this receiver, because its channel closed,
    /// ends it.
    [[nodiscard]] CloseReason receive(const BunchHeader& header, std::span<const std::byte> payload,
                                      ReliableMessageHandler& handler);

    /// Hands on what had to wait, if it need not any more.
    [[nodiscard]] CloseReason retry(ReliableMessageHandler& handler);

    /// Something waits, or lacks a part, and what it waits for has not come since then.
    [[nodiscard]] bool is_stuck_since(NetTime time) const noexcept {
        return (is_partial_open_ || !waiting_.empty()) && progress_ <= time;
    }

    /// Messages whose end waits here for a bunch before it.
    [[nodiscard]] std::uint32_t waiting_messages() const noexcept;

    /// As new, for the next life of the channel.
    void reset();

  private:
    struct Waiting {
        BunchHeader header;
        Vector<std::byte> payload;
    };

    [[nodiscard]] CloseReason accept(const BunchHeader& header, std::span<const std::byte> payload,
                                     ReliableMessageHandler& handler);
    [[nodiscard]] CloseReason accept_part(const BunchHeader& header,
                                          std::span<const std::byte> payload,
                                          ReliableMessageHandler& handler);
    [[nodiscard]] CloseReason keep(std::uint64_t sequence, const BunchHeader& header,
                                   std::span<const std::byte> payload);
    [[nodiscard]] CloseReason end_parts(const BunchHeader& header, ReliableMessageHandler& handler);
    void drop_bytes() noexcept;
    void drop_parts() noexcept;

    ReliableAccount& account_;
    std::uint64_t next_sequence_;
    NetTime progress_;  // when that grew last, or something began to wait
    std::pmr::map<std::uint64_t, Waiting> waiting_;
    Vector<std::byte> parts_;
    bool is_partial_open_ = false;
    bool is_taken_back_ = false;  // what is open: a part of it had no bytes
};

}  // namespace replayout
