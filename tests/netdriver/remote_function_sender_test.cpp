// SPDX-License-Identifier: MIT
#include "remote_function_sender.h"

#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>

#include "support/catch.h"

namespace replayout::test {

TEST_CASE("RemoteFunctionSender: what waits is for messages, parts that go ahead are for values") {
    const NetConfig config;
    RemoteFunctionSender calls(config, std::pmr::new_delete_resource());
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
    calls.lost({large.order, 0});
    CHECK(waiting() == std::array{false, true});
    calls.part_sent(large);
    calls.lost({large.order, 2});
    CHECK(waiting() == std::array{true, false});
}

}  // namespace replayout::test
