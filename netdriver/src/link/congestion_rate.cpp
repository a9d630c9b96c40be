// SPDX-License-Identifier: MIT
#include "congestion_rate.h"

#include <algorithm>

namespace replayout {

namespace {

// Ten packets a round trip of which nothing is known yet (RFC 6928; RFC 9002, section 6.2.2).
constexpr std::uint32_t first_packets = 10;
constexpr std::uint32_t first_round_trip_us = 333'000;
// Two packets a second always come through, so that there are acks to learn from.
constexpr std::uint32_t packets_per_second_min = 2;

}  // namespace

CongestionRate::CongestionRate(std::size_t packet_bytes) noexcept
    : packet_bytes_(static_cast<std::uint32_t>(packet_bytes)),
      rate_(static_cast<std::uint32_t>(std::uint64_t{packet_bytes_} * first_packets * 1'000'000 /
                                       first_round_trip_us)) {}

void CongestionRate::delivered(std::uint64_t sequence, NetTime sent, NetTime now) noexcept {
    const std::int64_t elapsed_us =
        std::clamp<std::int64_t>(now.microseconds_since(sent), 1, 60'000'000);
    const auto sample_us = static_cast<std::uint32_t>(elapsed_us);
    round_trip_us_ = round_trip_us_ == 0 ? sample_us : (round_trip_us_ / 8) * 7 + sample_us / 8 + 1;
    if (sequence > round_end_) {
        end_round();
    }
}

void CongestionRate::end_round() noexcept {
    if (was_limited_ && !has_lost_) {
        const std::uint64_t increase =
            is_starting_ ? rate_ : std::uint64_t{packet_bytes_} * 1'000'000 / round_trip_us_;
        rate_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(rate_ + increase, rate_max));
    }
    round_end_ = highest_sent_;
    was_limited_ = false;
    has_lost_ = false;
}

void CongestionRate::lost(std::uint64_t sequence) noexcept {
    if (sequence <= recovery_end_) {
        return;
    }
    recovery_end_ = highest_sent_;
    has_lost_ = true;
    is_starting_ = false;
    rate_ = std::max(rate_ / 2, packet_bytes_ * packets_per_second_min);
}

}  // namespace replayout
