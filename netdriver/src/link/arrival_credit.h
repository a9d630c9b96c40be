// SPDX-License-Identifier: MIT
//
// How many packets with content a peer may be sent without acknowledging them. So a peer that
// reports all as lost, or begins one session after the other, cannot make a server send many times
// what the peer sends.
//
//     a packet goes out    -1
//     it arrived           +2, up to packets_max
//     a second passes      +NetConfig::lost_packets_per_second_max, up to packets_max
//
// While at least half of what is sent arrives, it bounds nothing: at most 224 packets are under
// way, and what is lost of them is less than what arrives. It is carried over to the next session
// of the same peer.
#pragma once

#include <replayout/netdriver/time.h>

#include <algorithm>
#include <cstdint>

namespace replayout {

class ArrivalCredit {
  public:
    /// The window one and a half times, so that a window that is lost as a whole leaves half of
    /// one.
    static constexpr std::uint32_t packets_max = 336;

    explicit ArrivalCredit(std::uint32_t per_second) noexcept : per_second_(per_second) {}

    /// What may go out now.
    [[nodiscard]] std::uint32_t packets() const noexcept { return packets_; }
    void sent(std::uint32_t count) noexcept { packets_ -= std::min(packets_, count); }
    void arrived(std::uint32_t count) noexcept {
        packets_ = std::min(packets_ + 2 * count, packets_max);
    }
    /// Adds what the time since the last call gives. A time before that call adds nothing.
    void refill(NetTime now) noexcept {
        if (packets_ == packets_max) {  // as in almost every flush
            remainder_ = 0;
            refilled_ = now;
            return;
        }
        constexpr std::uint64_t second_us = 1'000'000;
        const std::int64_t elapsed = now.microseconds_since(refilled_);
        if (elapsed <= 0) {
            return;
        }
        // More than fills it makes no difference, and would overflow.
        const std::uint64_t us =
            std::min(static_cast<std::uint64_t>(elapsed), second_us * packets_max);
        const std::uint64_t grown = us * per_second_ + remainder_;
        remainder_ = grown % second_us;
        packets_ = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(packets_ + grown / second_us, packets_max));
        refilled_ = now;
    }
    /// Takes over what the session before this one, of the same peer, has left.
    void continue_from(const ArrivalCredit& before, NetTime now) noexcept {
        packets_ = before.packets_;
        remainder_ = before.remainder_;
        refilled_ = before.refilled_;
        refill(now);
    }

  private:
    std::uint32_t packets_ = packets_max;
    std::uint32_t per_second_;
    std::uint64_t remainder_ = 0;  // millionths of a packet
    NetTime refilled_;
};

}  // namespace replayout
