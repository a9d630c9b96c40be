// SPDX-License-Identifier: MIT
#include "congestion_rate.h"

#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::test::congestion_rate {
namespace {

constexpr std::size_t packet_bytes = 1'200;

/// Packets that take a round trip of 100 ms, four in each.
class Path {
  public:
    explicit Path(CongestionRate& rate) : rate_(rate) {}

    void round(bool is_limited, bool has_loss = false) {
        for (int i = 0; i < 4; ++i) {
            rate_.sent(++sequence_);
        }
        if (is_limited) {
            rate_.limited();
        }
        const NetTime sent{now_us_};
        now_us_ += 100'000;
        for (std::uint64_t sequence = sequence_ - 3; sequence <= sequence_; ++sequence) {
            if (has_loss && sequence != sequence_) {
                rate_.lost(sequence);
            } else {
                rate_.delivered(sequence, sent, {now_us_});
            }
        }
    }

  private:
    CongestionRate& rate_;
    std::uint64_t sequence_ = 0;
    std::int64_t now_us_ = 5'000'000;
};

}  // namespace

TEST_CASE("CongestionRate: begins with ten packets in a third of a second") {
    const CongestionRate rate(packet_bytes);
    CHECK(rate.bytes_per_second() == 36'036);
    CHECK(rate.round_trip_us() == 0);
}

TEST_CASE("CongestionRate: doubles each round until the first loss, then adds a packet") {
    CongestionRate rate(packet_bytes);
    Path path(rate);
    path.round(true);
    CHECK(rate.bytes_per_second() == 72'072);
    path.round(true);
    CHECK(rate.bytes_per_second() == 144'144);
    path.round(true, true);
    CHECK(rate.bytes_per_second() == 72'072);
    path.round(true);  // of which the first packets were sent before the rate was halved
    const std::uint32_t before = rate.bytes_per_second();
    path.round(true);
    // 12,000 bytes a second are one packet in 100 ms.
    CHECK(rate.bytes_per_second() - before > 11'500);
    CHECK(rate.bytes_per_second() - before <= 12'000);
}

TEST_CASE("CongestionRate: losses of one round are one event, and it never stands still") {
    CongestionRate rate(packet_bytes);
    Path path(rate);
    path.round(true, true);
    CHECK(rate.bytes_per_second() == 18'018);
    for (int i = 0; i < 20; ++i) {
        path.round(true, true);
    }
    CHECK(rate.bytes_per_second() == 2 * packet_bytes);
    path.round(true);
    path.round(true);
    CHECK(rate.bytes_per_second() > 2 * packet_bytes);
}

TEST_CASE("CongestionRate: what was not used does not grow") {
    CongestionRate rate(packet_bytes);
    Path path(rate);
    for (int i = 0; i < 100; ++i) {
        path.round(false);
    }
    CHECK(rate.bytes_per_second() == 36'036);
    for (int i = 0; i < 100; ++i) {
        path.round(true);
    }
    CHECK(rate.bytes_per_second() == CongestionRate::rate_max);
}

TEST_CASE("CongestionRate: round trips are smoothed") {
    CongestionRate rate(packet_bytes);
    rate.sent(1);
    rate.delivered(1, {0}, {80'000});
    CHECK(rate.round_trip_us() == 80'000);
    rate.sent(2);
    rate.delivered(2, {100'000}, {340'000});
    CHECK(rate.round_trip_us() > 99'000);
    CHECK(rate.round_trip_us() < 101'000);
}

}  // namespace replayout::test::congestion_rate
