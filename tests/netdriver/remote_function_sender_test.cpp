// SPDX-License-Identifier: MIT
#include "remote_function_sender.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "support/catch.h"

namespace replayout::test {

TEST_CASE("RemoteFunctionSender: what waits is for messages, parts that go ahead are for values") {
    const NetConfig config;
    RemoteFunctionSender calls(config, ReceiveLimits::of_server(config), 1,
                               std::pmr::new_delete_resource());
    const std::array<std::byte, 3'000> bytes{};
    const auto waiting = [&] {
        return std::array{calls.has_unsent(Share::Messages), calls.has_unsent(Share::Values)};
    };
    CHECK(waiting() == std::array{false, false});
    OutgoingCall& large = calls.add(ChannelIndex{1}, FunctionIndex{0}, true, bytes);
    REQUIRE(large.part_count() == 3);
    CHECK(waiting() == std::array{false, true});
    OutgoingCall& small = calls.add(ChannelIndex{2}, FunctionIndex{0}, true,
                                    std::span<const std::byte>(bytes).first(20));
    CHECK(waiting() == std::array{true, true});
    (void)calls.sent(std::prev(calls.calls().end()));
    CHECK(small.is_in_flight);
    CHECK(waiting() == std::array{false, true});
    calls.part_sent(large);
    CHECK(waiting() == std::array{false, true});
    calls.part_sent(large);
    CHECK(waiting() == std::array{true, false});
    (void)calls.sent(calls.calls().begin());
    CHECK(waiting() == std::array{false, false});
    (void)calls.lost({large.order, 0});
    CHECK(waiting() == std::array{false, true});
    calls.part_sent(large);
    (void)calls.lost({large.order, 2});
    CHECK(waiting() == std::array{true, false});
}

TEST_CASE("RemoteFunctionSender: stalled is who was refused calls, and took none for too long") {
    NetConfig config;
    config.calls_waiting_max = 2;
    config.calls_full_timeout_ms = 100;
    RemoteFunctionSender calls(config, ReceiveLimits::of_server(config), 1,
                               std::pmr::new_delete_resource());
    const std::array<std::byte, 8> bytes{};
    const auto flush = [&](std::int64_t now_ms) {
        return calls.begin_flush(NetTime::from_milliseconds(now_ms));
    };
    const auto add = [&] {
        return SentCall{calls.add(ChannelIndex{1}, FunctionIndex{0}, true, bytes).order, 0};
    };
    CHECK_FALSE(flush(1'000));
    const SentCall first = add();
    CHECK_FALSE(flush(1'050));
    (void)add();
    CHECK_FALSE(flush(2'000));  // nothing was refused
    calls.note_refused();
    CHECK(flush(2'001));  // the oldest waits for longer than that
    calls.delivered(first);
    const SentCall third = add();
    calls.note_refused();
    CHECK(flush(2'100));  // of 1,050
    calls.delivered({CallOrder{2}, 0});
    calls.delivered(third);
    CHECK_FALSE(flush(2'200));
    // What was refused then is forgotten, as there was room meanwhile.
    (void)add();
    (void)add();
    calls.note_refused();
    CHECK_FALSE(flush(2'299));
    calls.note_refused();
    CHECK(flush(2'300));
}

}  // namespace replayout::test
