// SPDX-License-Identifier: MIT
//
// How long a peer keeps its place, to the microsecond.
#include "peer_stay.h"

#include <replayout/netdriver/time.h>
#include <replayout/transports/socket_transport.h>

#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

constexpr PeerStay::Limits stay_limits{50, 200};
constexpr std::int64_t linger_us = SocketTransport::close_linger_ms * 1'000;

[[nodiscard]] NetTime at_us(std::int64_t us) {
    return NetTime{us};
}

/// The last microsecond at which it is not over is `last_us`.
void check_lasts_until(std::int64_t last_us, const PeerStay& stay,
                       const PeerStay::Limits& of = stay_limits) {
    CAPTURE(last_us);
    CHECK_FALSE(stay.is_over(at_us(last_us), of));
    CHECK(stay.is_over(at_us(last_us + 1), of));
}

TEST_CASE("PeerStay: until both have spoken it lasts for a handshake, whatever one of them says",
          "[transport]") {
    PeerStay stay(at_us(7'000));
    CHECK(stay.heard_us() == 7'000);
    check_lasts_until(57'000, stay);
    PeerStay heard = stay;
    heard.hear(at_us(40'000));
    CHECK(heard.heard_us() == 40'000);
    check_lasts_until(57'000, heard);
    PeerStay spoken = stay;
    spoken.speak(at_us(40'000));
    check_lasts_until(57'000, spoken);
    // Nor longer than one that is there may be silent.
    check_lasts_until(27'000, stay, {50, 20});
}

TEST_CASE("PeerStay: it lasts for as long as neither of both is silent", "[transport]") {
    PeerStay stay(at_us(0));
    stay.hear(at_us(20'000));
    stay.speak(at_us(30'000));
    check_lasts_until(220'000, stay);
    stay.hear(at_us(100'000));
    check_lasts_until(230'000, stay);
    stay.speak(at_us(110'000));
    check_lasts_until(300'000, stay);
}

TEST_CASE("PeerStay: one that was closed lasts for goodbyes, and what it says counts no more",
          "[transport]") {
    constexpr PeerStay::Limits longer{50, 30'000};
    PeerStay stay(at_us(0));
    stay.hear(at_us(1'000));
    stay.speak(at_us(2'000));
    CHECK_FALSE(stay.is_closing());
    stay.close(at_us(10'000));
    CHECK(stay.is_closing());
    check_lasts_until(10'000 + linger_us, stay, longer);
    stay.hear(at_us(40'000));
    check_lasts_until(10'000 + linger_us, stay, longer);
    stay.speak(at_us(50'000));  // a goodbye, repeated
    check_lasts_until(50'000 + linger_us, stay, longer);
    stay.close(at_us(60'000));  // once is enough
    check_lasts_until(50'000 + linger_us, stay, longer);
    check_lasts_until(250'000, stay);  // nor longer than one that is there may be silent
}

TEST_CASE("PeerStay: who is spoken to when all goodbyes are said has begun anew", "[transport]") {
    PeerStay stay(at_us(0));
    stay.hear(at_us(1'000));
    stay.close(at_us(10'000));
    stay.speak(at_us(10'000 + linger_us));
    CHECK(stay.is_closing());
    stay.speak(at_us(10'001 + linger_us));
    CHECK_FALSE(stay.is_closing());
}

TEST_CASE("PeerStay: a client's server stays until it is closed", "[transport]") {
    constexpr std::int64_t year_us = 365 * 86'400'000'000;
    PeerStay stay(at_us(0));
    CHECK_FALSE(stay.is_over(at_us(year_us), {}));
    stay.hear(at_us(1'000));
    stay.speak(at_us(1'000));
    CHECK_FALSE(stay.is_over(at_us(year_us), {}));
    stay.close(at_us(10'000));
    check_lasts_until(10'000 + linger_us, stay, {});
}

}  // namespace
}  // namespace replayout::test
