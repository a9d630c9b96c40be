// SPDX-License-Identifier: MIT
//
// Secrets of transports, and what clients are called.
#include "transport_secret.h"

#include "address_cookie.h"

#include <replayout/netdriver/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

TEST_CASE("Transport secret: without randomness there is none, and a sentence says why",
          "[transport]") {
    const auto refused = transport_secret({}, "UDP", [] { return -1; });
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::Unsupported);
    CHECK(refused.error().message.find("UDP") == 0);
    // It begins once in a process, and answers 1 from then on.
    CHECK(transport_secret({}, "UDP", [] { return 1; }).has_value());
}

TEST_CASE("Transport secret: it is the one that is given, else another one each time",
          "[transport]") {
    AddressCookie::Secret given{};
    given[3] = std::byte{7};
    CHECK(*transport_secret(given, "ENet") == given);
    const auto first = transport_secret({}, "ENet");
    const auto second = transport_secret({}, "ENet");
    CHECK(*first != AddressCookie::Secret{});
    CHECK(*first != *second);
}

TEST_CASE("Address cookie: it is good until the slot of time behind its own is over",
          "[transport]") {
    constexpr std::int64_t slot_us = AddressCookie::slot_us;
    AddressCookie::Secret secret{};
    secret[0] = std::byte{1};
    const AddressCookie cookies(secret);
    const std::array<std::byte, 18> address{};
    std::array<std::byte, 18> other{};
    other[17] = std::byte{1};
    const std::uint64_t cookie = cookies.make(address, 5, NetTime{2 * slot_us + 7});
    const auto is_good = [&](std::int64_t us) {
        return cookies.is_good(cookie, address, 5, NetTime{us});
    };
    CHECK_FALSE(is_good(2 * slot_us - 1));
    CHECK(is_good(2 * slot_us));
    CHECK(is_good(3 * slot_us - 1));
    CHECK(is_good(3 * slot_us));
    CHECK(is_good(4 * slot_us - 1));
    CHECK_FALSE(is_good(4 * slot_us));
    for (const std::int64_t us : {2 * slot_us, 3 * slot_us}) {
        CHECK_FALSE(cookies.is_good(cookie, other, 5, NetTime{us}));
        CHECK_FALSE(cookies.is_good(cookie, address, 4, NetTime{us}));
        CHECK_FALSE(cookies.is_good(0, address, 5, NetTime{us}));
        CHECK_FALSE(cookies.is_good(cookies.token(address, 5), address, 5, NetTime{us}));
    }
}

TEST_CASE("Address cookie: numbers of a client are all different, and no token or part of a secret",
          "[transport]") {
    AddressCookie::Secret secret{};
    secret[0] = std::byte{1};
    const AddressCookie cookies(secret);
    std::set<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        numbers.insert(cookies.client_number(i));
        numbers.insert(cookies.token({}, i));
    }
    CHECK(numbers.size() == 2'000);
    CHECK(numbers.count(1) == 0);
    CHECK(numbers.count(2) == 0);
    CHECK(cookies.client_number(5) == AddressCookie(secret).client_number(5));
}

}  // namespace
}  // namespace replayout::test
