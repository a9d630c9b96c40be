// SPDX-License-Identifier: MIT
//
// Which calls run when the channels that they came on close.
#include "incoming_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

namespace replayout::test::incoming_calls_test {
namespace {

/// Calls that each consist of their number.
class Calls {
  public:
    void receive(std::uint32_t channel) {
        BunchHeader header;
        header.channel = ChannelIndex{channel};
        header.is_call = true;
        header.is_unreliable = true;
        const std::array<std::byte, 1> number{static_cast<std::byte>(count_++)};
        REQUIRE(calls.receive(header, number) == CloseReason::None);
    }

    /// Runs what may run: the numbers.
    [[nodiscard]] std::vector<int> run() {
        std::vector<int> numbers;
        DueCall call;
        while (calls.take_due(call)) {
            numbers.push_back(std::to_integer<int>(call.payload.front()));
        }
        return numbers;
    }

  private:
    NetTime now_;
    int count_ = 0;

  public:
    IncomingCalls calls{ReceiveLimits(), now_, nullptr, 1'000, std::pmr::get_default_resource()};
};

}  // namespace

TEST_CASE(
    "IncomingCalls: what a channel was to run goes with it, and what comes for its next life runs",
    "[netdriver][incoming_calls]") {
    Calls game;
    for (const std::uint32_t channel : {1u, 2u, 3u, 1u}) {
        game.receive(channel);
    }
    game.calls.channel_closed(ChannelIndex{3});
    game.calls.channel_closed(ChannelIndex{1});
    game.receive(3);
    CHECK(game.run() == std::vector<int>{1, 4});
    game.receive(1);
    CHECK(game.run() == std::vector<int>{5});
}

TEST_CASE("IncomingCalls: a call whose channel closed while it was put off never runs",
          "[netdriver][incoming_calls]") {
    Calls game;
    game.receive(1);
    game.receive(2);
    DueCall call;
    REQUIRE(game.calls.take_due(call));
    game.calls.channel_closed(ChannelIndex{1});
    game.calls.put_off();
    CHECK(game.run() == std::vector<int>{1});
}

TEST_CASE(
    "IncomingCalls: whatever comes, closes and runs, a call runs once, in order, and in the life "
    "it came in",
    "[netdriver][incoming_calls][random]") {
    for (const std::uint64_t seed : seed_range(run_seed(), 50)) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        Calls game;
        struct Came {
            int number;
            std::uint32_t channel;
        };
        std::vector<Came> due;
        for (int number = 0; number < 200;) {
            const auto channel = static_cast<std::uint32_t>(1 + random.below(6));
            const auto closed = [channel](const Came& came) { return came.channel == channel; };
            switch (random.below(8)) {
                case 0:
                    game.calls.channel_closed(ChannelIndex{channel});
                    std::erase_if(due, closed);
                    break;
                case 1: {
                    std::vector<int> expected;
                    for (const Came& came : due) {
                        expected.push_back(came.number);
                    }
                    REQUIRE(game.run() == expected);
                    due.clear();
                    break;
                }
                case 2: {
                    DueCall call;
                    const auto next = std::find_if(due.begin(), due.end(), closed);
                    REQUIRE(game.calls.take_due_of(ChannelIndex{channel}, call) ==
                            (next != due.end()));
                    if (next != due.end()) {
                        REQUIRE(std::to_integer<int>(call.payload.front()) == next->number);
                        due.erase(next);
                    }
                    break;
                }
                case 3: {
                    const auto count =
                        static_cast<std::uint32_t>(std::count_if(due.begin(), due.end(), closed));
                    REQUIRE(game.calls.drop_due_of(ChannelIndex{channel}) == count);
                    std::erase_if(due, closed);
                    break;
                }
                default:
                    game.receive(channel);
                    due.push_back({number++, channel});
                    break;
            }
        }
    }
}

}  // namespace replayout::test::incoming_calls_test
