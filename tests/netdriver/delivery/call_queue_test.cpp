// SPDX-License-Identifier: MIT
#include "call_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <set>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {

TEST_CASE("CallQueue: what waits is for messages, parts that go ahead are for values") {
    const NetConfig config;
    CallQueue calls(config, ReceiveLimits::of_server(config), 1, std::pmr::new_delete_resource());
    const std::array<std::byte, 3'000> bytes{};
    const auto waiting = [&] {
        return std::array{calls.has_unsent(PacketUse::Messages),
                          calls.has_unsent(PacketUse::Values)};
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

TEST_CASE("CallQueue: a call goes when it and all before it on its channel arrived") {
    const std::array<std::byte, 8> bytes{};
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        const NetConfig config;
        CallQueue calls(config, ReceiveLimits::of_server(config), 1,
                        std::pmr::new_delete_resource());
        struct Made {
            SentCall name;
            std::uint32_t channel = 0;
            bool is_delivered = false;
        };
        std::vector<Made> made;
        std::deque<std::size_t> under_way;
        const std::uint32_t channel_count = random.between(1, 12);
        // The calls that must be left: in each channel the first that is not delivered, and all
        // after it.
        const auto left = [&] {
            std::set<std::uint32_t> lacking;
            std::vector<CallOrder> orders;
            for (const Made& call : made) {
                if (!call.is_delivered) {
                    lacking.insert(call.channel);
                }
                if (lacking.contains(call.channel)) {
                    orders.push_back(call.name.order);
                }
            }
            return orders;
        };
        const auto decide = [&](bool is_delivered) {
            Made& call = made[under_way.front()];
            if (is_delivered) {
                calls.delivered(call.name);
                call.is_delivered = true;
            } else {
                CHECK(calls.lost(call.name) == 0);
            }
            under_way.pop_front();
        };
        for (int turn = 0; turn < 60; ++turn) {
            for (std::uint32_t i = random.below(6); i > 0; --i) {
                const std::uint32_t channel = random.between(1, channel_count);
                made.push_back(
                    {{calls.add(ChannelIndex{channel}, FunctionIndex{0}, true, bytes).order, 0},
                     channel});
            }
            for (auto call = calls.calls().begin(); call != calls.calls().end();) {
                if (call->is_in_flight) {
                    ++call;
                    continue;
                }
                under_way.push_back(static_cast<std::size_t>(call->order.value) - 1);
                call = calls.sent(call);
            }
            for (std::uint32_t i = random.below(6); i > 0 && !under_way.empty(); --i) {
                decide(random.percent(60));
            }
            std::vector<CallOrder> orders;
            for (const OutgoingCall& call : calls.calls()) {
                orders.push_back(call.order);
            }
            REQUIRE(orders == left());
        }
        while (!under_way.empty()) {
            decide(true);
        }
        for (auto call = calls.calls().begin(); call != calls.calls().end();) {
            const auto name = SentCall{call->order, 0};
            const bool is_waiting = !call->is_in_flight;
            call = calls.sent(call);
            if (is_waiting) {
                calls.delivered(name);
                call = calls.calls().begin();
            }
        }
        CHECK(calls.is_idle());
        CHECK(calls.has_room_for(true, ReceiveLimits::of_server(config).call_bytes_max));
    }
}

TEST_CASE("CallQueue: stalled is who was refused calls, and took none for too long") {
    NetConfig config;
    config.calls_waiting_max = 2;
    config.calls_full_timeout_ms = 100;
    CallQueue calls(config, ReceiveLimits::of_server(config), 1, std::pmr::new_delete_resource());
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
