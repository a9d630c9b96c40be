// SPDX-License-Identifier: MIT
//
// Calls from peers that do not keep to the rules: refused with a counted reason, and nothing runs.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_caller.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t turret_power = 7;

/// A turret of that power.
[[nodiscard]] Bytes power_values() {
    constexpr std::uint32_t turret_handles = 9;
    return make_block(turret_handles, {1},
                      [](BitWriter& writer) { writer.write_bits(turret_power, 32); });
}

}  // namespace

TEST_CASE("Hostile calls: a server runs what is right", "[netdriver][hostile][rpc]") {
    ForgedCaller caller;
    caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 7)),
                    call_bunch(1, std::nullopt, call_bytes(reset_index))});
    CHECK(caller.is_joined());
    REQUIRE(caller.world.heard.size() == 2);
    CHECK(caller.world.heard[0].number == 7);
    CHECK(caller.world.heard[1].function == "reset");
}

TEST_CASE("Hostile calls: a server closes on what a client may not send",
          "[netdriver][hostile][rpc]") {
    const auto with_flags = [](const std::function<void(BunchHeader&)>& change) {
        Bunch bunch = call_bunch(1, 1, order_bytes(fire_index, 1));
        change(bunch.header);
        return bunch;
    };
    const auto with_tail = [](Bytes bytes) {
        bytes.push_back(std::byte{0});
        return bytes;
    };
    const struct {
        const char* name;
        Bunch bunch;
        CloseReason reason;
    } cases[] = {
        {"an unknown function", call_bunch(1, 1, call_bytes(turret_function_count)),
         CloseReason::UnknownFunction},
        {"a function beyond all", call_bunch(1, 1, call_bytes(~std::uint64_t{0})),
         CloseReason::UnknownFunction},
        {"a function for clients", call_bunch(1, 1, order_bytes(tell_index, 1)),
         CloseReason::UnknownFunction},
        {"no function", call_bunch(1, 1, {}), CloseReason::MalformedBunch},
        {"no parameters", call_bunch(1, 1, call_bytes(fire_index)), CloseReason::MalformedBunch},
        {"too many parameters", call_bunch(1, 1, with_tail(order_bytes(fire_index, 1))),
         CloseReason::MalformedBunch},
        {"parameters of none", call_bunch(1, 1, with_tail(call_bytes(reset_index))),
         CloseReason::MalformedBunch},
        {"what the validation refuses",
         call_bunch(1, 1, order_bytes(fire_index, Turret::refused_number)),
         CloseReason::CallRefused},
        {"an object that is not there", call_bunch(2, 1, order_bytes(fire_index, 1)),
         CloseReason::UnknownChannel},
        {"a channel far beyond", call_bunch(0xFFFF'FFFF, 1, order_bytes(fire_index, 1)),
         CloseReason::UnknownChannel},
        {"the control channel", call_bunch(0, 2, order_bytes(fire_index, 1)),
         CloseReason::MalformedBunch},
        {"a call that opens", with_flags([](BunchHeader& header) { header.is_open = true; }),
         CloseReason::MalformedBunch},
        {"a call that closes", with_flags([](BunchHeader& header) { header.is_close = true; }),
         CloseReason::MalformedBunch},
        {"a first part that is not full", with_flags([](BunchHeader& header) {
             header.is_partial = true;
             header.is_partial_initial = true;
         }),
         CloseReason::MalformedBunch},
        {"a last part without a first", with_flags([](BunchHeader& header) {
             header.is_partial = true;
             header.is_partial_final = true;
         }),
         CloseReason::MalformedBunch},
        {"an unreliable open", with_flags([](BunchHeader& header) {
             header.is_call = false;
             header.is_unreliable = true;
             header.sequence = 0;
         }),
         CloseReason::MalformedBunch},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedCaller caller;
        caller.deliver({test.bunch});
        CHECK(!caller.is_joined());
        CHECK(caller.closed_count(test.reason) == 1);
        CHECK(caller.world.heard.empty());
    }
}

TEST_CASE("Hostile calls: those before a refused one have run, it and those behind it not",
          "[netdriver][hostile][rpc]") {
    ForgedCaller caller;
    caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 1)),
                    call_bunch(1, 2, call_bytes(turret_function_count)),
                    call_bunch(1, 3, order_bytes(fire_index, 3))});
    CHECK(caller.world.heard.size() == 1);
    CHECK(caller.closed_count(CloseReason::UnknownFunction) == 1);
}

TEST_CASE("Hostile calls: a repeated call runs once, one from the future waits, within bounds",
          "[netdriver][hostile][rpc]") {
    NetConfig config;
    config.client_waiting_max = 4;
    ForgedCaller caller(config);
    const Bunch second = call_bunch(1, 2, order_bytes(fire_index, 2));
    caller.deliver({second, second});
    CHECK(caller.world.heard.empty());
    caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 1))});
    caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 1)), second});
    CHECK(heard(caller.world, "fire") == Numbers{1, 2});
    for (std::uint16_t i = 0; i < 4; ++i) {
        caller.deliver(
            {call_bunch(1, static_cast<std::uint16_t>(4 + i), order_bytes(fire_index, 4))});
        CHECK(caller.is_joined());
    }
    caller.deliver({call_bunch(1, 8, order_bytes(fire_index, 4))});
    CHECK(caller.closed_count(CloseReason::ReliableOverflow) == 1);
}

TEST_CASE("Hostile calls: objects that are called on are counted", "[netdriver][hostile][rpc]") {
    NetConfig config;
    config.called_channels_max = 2;
    ForgedCaller caller(config);
    for (int i = 0; i < 2; ++i) {
        (void)caller.driver.add_object(turret_layout(), caller.world.add());
    }
    caller.tick();
    caller.acknowledge();
    caller.deliver({});
    caller.deliver({call_bunch(1, 1, order_bytes(fire_index, 1)),
                    call_bunch(2, 1, order_bytes(fire_index, 1))});
    CHECK(caller.is_joined());
    CHECK(caller.driver.stats().calls_not_owned == 1);
    caller.deliver({call_bunch(3, std::nullopt, order_bytes(fire_index, 1))});
    CHECK(caller.is_joined());
    caller.deliver({call_bunch(3, 1, order_bytes(fire_index, 1))});
    CHECK(caller.closed_count(CloseReason::TooManyChannels) == 1);
}

TEST_CASE("Hostile calls: a client ignores what it does not know, and closes on nonsense",
          "[netdriver][hostile][rpc]") {
    ForgedCalled called;
    called.deliver({call_bunch(1, 1, order_bytes(tell_index, 1)),
                    call_bunch(1, 2, call_bytes(turret_function_count)),
                    call_bunch(1, std::nullopt, order_bytes(fire_index, 1))});
    CHECK(called.is_joined());
    CHECK(called.world.heard.size() == 1);
    CHECK(called.driver.stats().calls_unknown == 2);
    SECTION("parameters that are none") {
        called.deliver({call_bunch(1, 3, call_bytes(tell_index))});
        CHECK(called.closed_count(CloseReason::MalformedBunch) == 1);
    }
    SECTION("an object that was never opened") {
        called.deliver({call_bunch(2, 1, order_bytes(tell_index, 1))});
        CHECK(called.closed_count(CloseReason::UnknownChannel) == 1);
    }
    SECTION("an object that was closed") {
        called.deliver({close_bunch(1, 2)});
        called.deliver({call_bunch(1, 3, order_bytes(tell_index, 1))});
        CHECK(called.closed_count(CloseReason::UnknownChannel) == 1);
    }
    SECTION("an object that is dormant") {
        called.deliver({close_bunch(1, 2, ChannelCloseReason::Dormancy)});
        REQUIRE(called.is_joined());
        called.deliver({call_bunch(1, 3, order_bytes(tell_index, 1))});
        CHECK(called.closed_count(CloseReason::UnknownChannel) == 1);
    }
    SECTION("blocks behind it that are malformed") {
        called.deliver({call_bunch(1, 3, order_bytes(tell_index, 2))}, make_bytes(0xFF, 0xFF));
        CHECK(!called.is_joined());
    }
    CHECK(called.world.heard.size() == 1);
}

TEST_CASE("Hostile calls: a close runs the calls of its own object alone, and once",
          "[netdriver][hostile][rpc]") {
    ForgedCalled called;
    called.deliver({open_bunch(2, NetGUID{2}, 0), open_bunch(3, NetGUID{3}, 0)});
    REQUIRE(called.world.object_count() == 3);
    called.world.on_call = [&](const char*, const Order&) {
        REQUIRE(called.world.heard.size() <= 4);
    };
    const auto tell = [](std::uint32_t channel, std::uint32_t number) {
        return call_bunch(channel, 1, order_bytes(tell_index, number));
    };
    SECTION("those of others run behind the blocks of the packet, which they mean") {
        Bytes blocks = block_of(1, power_values());
        const Bytes second = written([](BitWriter& writer) {
            writer.write_packed_uint(2 << 1);  // two channels on
            writer.write_bytes(power_values());
        });
        blocks.insert(blocks.end(), second.begin(), second.end());
        called.deliver({tell(1, 1), tell(2, 2), tell(3, 3), close_bunch(2, 2)}, blocks);
        CHECK(called.world.heard == std::vector<HeardCall>{{"tell", 2, 0, {}, 0},
                                                           {"tell", 1, turret_power, {}, 0},
                                                           {"tell", 3, turret_power, {}, 0}});
    }
    SECTION("they do not run once more on what is opened in its place") {
        called.deliver(
            {tell(1, 1), close_bunch(1, 2), close_bunch(2, 2), open_bunch(1, NetGUID{4}, 0)});
        CHECK(heard(called.world, "tell") == Numbers{1});
    }
    SECTION("those of a part, which goes with another object, do not run") {
        called.deliver({open_bunch(4, NetGUID{4}, 0, 512,
                                   [](BitWriter& writer) { writer.write_packed_uint(1); })});
        REQUIRE(called.world.object_count() == 4);
        called.deliver(
            {tell(4, 1), close_bunch(1, 2), close_bunch(4, 2), open_bunch(4, NetGUID{5}, 0)});
        CHECK(called.world.heard.empty());
        CHECK(called.driver.stats().calls_unknown == 0);
        CHECK(called.world.object_count() == 3);
    }
    CHECK(called.is_joined());
}

TEST_CASE(
    "Hostile calls: one with more references than an object may hold closes, and does not run",
    "[netdriver][hostile][rpc]") {
    for (const std::uint32_t references_max : {0u, 1u}) {
        INFO("at most " << references_max);
        NetConfig config;
        config.references_per_object_max = references_max;
        ForgedCaller caller(config);
        caller.deliver({call_bunch(1, 1, call_bytes(fire_index, [](BitWriter& writer) {
                                       writer.write_bool(true);
                                       ChangeMask mask;
                                       mask.reset(3);
                                       mask.set(1);
                                       write_change_mask(writer, mask, EmptySet::Impossible);
                                       writer.write_packed_uint(77);  // no object of the server
                                   }))});
        CHECK(caller.is_joined() == (references_max == 1));
        CHECK(caller.world.heard.size() == references_max);
        CHECK(caller.closed_count(CloseReason::MalformedBunch) == 1 - references_max);
    }
}

TEST_CASE("Hostile calls: parts that do not make a call are refused", "[netdriver][hostile][rpc]") {
    const struct {
        const char* name;
        std::vector<Bunch> bunches;
        CloseReason reason;
    } cases[] = {
        {"a last part that is empty",
         {part_bunch(1, 1, true, false), part_bunch(1, 2, false, true, 0)},
         CloseReason::MalformedBunch},
        {"a part that is not full",
         {part_bunch(1, 1, true, false), part_bunch(1, 2, false, false, call_part_bytes - 1)},
         CloseReason::MalformedBunch},
        {"two beginnings",
         {part_bunch(1, 1, true, false), part_bunch(1, 2, true, false)},
         CloseReason::MalformedBunch},
        {"a whole call between parts",
         {part_bunch(1, 1, true, false), call_bunch(1, 2, order_bytes(fire_index, 1))},
         CloseReason::MalformedBunch},
        {"a part without a beginning",
         {part_bunch(1, 1, false, false)},
         CloseReason::MalformedBunch},
        {"one that is first and last", {part_bunch(1, 1, true, true)}, CloseReason::MalformedBunch},
        {"parts of no parameters",
         {part_bunch(1, 1, true, false), part_bunch(1, 2, false, true)},
         CloseReason::MalformedBunch},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ForgedCaller caller;
        ForgedCalled called;
        for (const Bunch& bunch : test.bunches) {
            caller.deliver({bunch});
            called.deliver({bunch});
        }
        CHECK(!caller.is_joined());
        CHECK(caller.closed_count(test.reason) == 1);
        CHECK(caller.world.heard.empty());
        const bool is_ignored = std::string(test.name) == "parts of no parameters";
        CHECK(called.is_joined() == is_ignored);  // of a function that is not for clients
        CHECK(called.closed_count(test.reason) == (is_ignored ? 0 : 1));
    }
}

TEST_CASE("Hostile calls: parts without an end are refused at the limit of a call",
          "[netdriver][hostile][rpc]") {
    NetConfig config;
    config.client_call_bytes_max = 5 * call_part_bytes;
    ForgedCaller caller(config);
    for (std::uint16_t i = 1; i <= 5; ++i) {
        caller.deliver({part_bunch(1, i, i == 1, false)});
        CHECK(caller.is_joined());
    }
    caller.deliver({part_bunch(1, 6, false, false, call_part_bytes)});
    CHECK(caller.closed_count(CloseReason::ReliableOverflow) == 1);
    CHECK(caller.world.heard.empty());
}

TEST_CASE("Hostile calls: what is begun on many objects is bounded over all of them",
          "[netdriver][hostile][rpc]") {
    NetConfig config;
    config.client_waiting_bytes_max = 10 * call_part_bytes;
    ForgedCaller caller(config);
    for (std::uint32_t i = 0; i < 15; ++i) {
        (void)caller.driver.add_object(turret_layout(), caller.world.add());
    }
    caller.tick();
    caller.acknowledge();
    caller.deliver({});
    const std::size_t before = caller.driver.memory_report().connection_bytes;
    for (std::uint32_t channel = 1; channel <= 10; ++channel) {
        caller.deliver({part_bunch(channel, 1, true, false)});
        CHECK(caller.is_joined());
    }
    SECTION("one more closes") {
        caller.deliver({part_bunch(11, 1, true, false)});
        CHECK(caller.closed_count(CloseReason::ReliableOverflow) == 1);
    }
    SECTION("an object that goes takes what was begun with it") {
        caller.driver.remove_object(caller.id);
        caller.tick();
        caller.acknowledge();
        caller.deliver({});
        caller.deliver({part_bunch(11, 1, true, false)});
        CHECK(caller.is_joined());
    }
    SECTION("silence frees all of it") {
        for (int i = 0; i < 15'000; ++i) {
            caller.tick();
        }
        CHECK(caller.closed_count(CloseReason::Timeout) == 1);
        CHECK(caller.driver.memory_report().connection_bytes < before);
    }
}

TEST_CASE("Hostile calls: parts in any order make one call, those from the future wait",
          "[netdriver][hostile][rpc]") {
    ForgedCaller caller;
    // Not what a text may be: it is read as a whole, and refused then, and only then.
    caller.deliver({part_bunch(1, 3, false, true, 7)});
    caller.deliver({part_bunch(1, 2, false, false)});
    caller.deliver({part_bunch(1, 2, false, false)});
    CHECK(caller.is_joined());
    caller.deliver({part_bunch(1, 1, true, false)});
    CHECK(caller.closed_count(CloseReason::MalformedBunch) == 1);
}

TEST_CASE("Hostile calls: bytes by chance do no harm", "[netdriver][hostile][rpc]") {
    const std::uint64_t seed = run_seed();
    CAPTURE(seed);
    SeededRandom random(seed);
    for (int round = 0; round < 300; ++round) {
        ForgedCaller caller;
        std::uint16_t sequence = 1;
        while (caller.is_joined() && sequence < 50) {
            Bytes payload = order_bytes(fire_index, random.below(100));
            for (std::uint32_t i = random.below(3); i > 0; --i) {
                payload[random.below(static_cast<std::uint32_t>(payload.size()))] =
                    static_cast<std::byte>(random.below(256));
            }
            if (random.percent(10)) {
                payload.resize(random.below(20));
            }
            const bool is_reliable = random.percent(50);
            caller.deliver({call_bunch(
                1, is_reliable ? std::optional<std::uint16_t>(sequence++) : std::nullopt,
                std::move(payload))});
        }
        CHECK(caller.world.object_count() == 1);
    }
}

}  // namespace replayout::test
