// SPDX-License-Identifier: MIT
//
// How fast a connection may send without filling the queues between: additive increase,
// multiplicative decrease, of a rate, as in RAP (Rejaie, Handley, Estrin: An End-to-end Rate-based
// Congestion Control Mechanism, INFOCOM 1999).
//
//     a round, in which what was allowed was used:    rate + one packet a round trip
//     a loss, once a round:                           rate / 2
//     before the first loss:                          rate * 2 a round, as TCP begins (RFC 5681)
//
// A round is a round trip: it ends when a packet is acknowledged that was sent since it began. What
// is lost of packets sent before the rate was halved is the same event. Round trips are smoothed as
// in RFC 6298. Integers over what acks said, so the same acks give the same rate. (Rejected: a
// window of bytes in flight, as TCP has it. The shares of a connection are shares of a rate.)
#pragma once

#include <replayout/netdriver/time.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

class CongestionRate {
  public:
    explicit CongestionRate(std::size_t packet_bytes) noexcept;

    /// A packet with content goes out.
    void sent(std::uint64_t sequence) noexcept { highest_sent_ = sequence; }
    void delivered(std::uint64_t sequence, NetTime sent, NetTime now) noexcept;
    void lost(std::uint64_t sequence) noexcept;
    /// A flush had more to send than the rate allowed. Not for what a cap below the rate held up:
    /// a rate that was never tried is not known to be safe.
    void limited() noexcept { was_limited_ = true; }

    /// Bytes a second.
    [[nodiscard]] std::uint32_t bytes_per_second() const noexcept { return rate_; }
    /// Smoothed; 0 before the first answer.
    [[nodiscard]] std::uint32_t round_trip_us() const noexcept { return round_trip_us_; }

    static constexpr std::uint32_t rate_max = 1'000'000'000;

  private:
    void end_round() noexcept;

    std::uint32_t packet_bytes_;
    std::uint32_t rate_;
    std::uint32_t round_trip_us_ = 0;
    std::uint64_t highest_sent_ = 0;
    std::uint64_t round_end_ = 0;     // a packet behind this one ends the round
    std::uint64_t recovery_end_ = 0;  // losses up to this one are counted
    bool is_starting_ = true;
    bool was_limited_ = false;  // in this round
    bool has_lost_ = false;     // likewise
};

}  // namespace replayout
