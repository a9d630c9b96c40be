// SPDX-License-Identifier: MIT
//
// Workload W1, small, and by its exact counters: what is measured is what was promised.
#include "w1/w1_run.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <initializer_list>
#include <string>

#include "bench/parsed_words.h"
#include "support/checks/catch.h"
#include "support/replicators/yardstick.h"

namespace replayout::bench {
namespace {

// A fifth and a fiftieth: 20 and 2 objects a tick, in one tick of five the 2 are among the 20.
constexpr std::uint32_t objects = 100;
constexpr std::uint32_t connections = 4;
constexpr std::uint32_t ticks = 50;
constexpr std::uint32_t changed_objects = 40 * 22 + 10 * 20;
constexpr double objects_per_tick = static_cast<double>(changed_objects) / ticks;
constexpr std::uint32_t values_per_tick = 20 * 7 + 2;

[[nodiscard]] W1Options small_options() {
    W1Options options;
    options.objects = objects;
    options.connections = connections;
    options.ticks = ticks;
    return options;
}

[[nodiscard]] int parse(std::initializer_list<const char*> arguments, W1Options& options) {
    return test::parse_words(parse_w1_options, {arguments.begin(), arguments.end()}, options);
}

}  // namespace

TEST_CASE("W1: everyone is sent exactly what changed, each value encoded once, without memory",
          "[bench][w1]") {
    for (const bool is_push_based : {false, true}) {
        CAPTURE(is_push_based);
        W1Options options = small_options();
        options.is_push_based = is_push_based;
        const W1Result result = run_w1(options);
        REQUIRE(result.refusal.empty());
        REQUIRE(result.error.empty());
        CHECK(result.objects_per_tick == objects_per_tick);
        CHECK(result.values_per_tick == values_per_tick);
        CHECK(result.values_encoded_per_tick == values_per_tick);
        CHECK(result.allocations == 0);
        CHECK(result.bytes_per_pair > 0);
        CHECK(result.packets_per_tick == 1);
        CHECK(result.packets_of_tick_max == 1);
        for (const W1Times* times : {&result.warm, &result.cold}) {
            CAPTURE(times == &result.cold);
            CHECK(times->ours_ns > 0);
            CHECK(times->ours_compare_encode_ns > 0);
            CHECK(times->naive_poll_ns > 0);
            CHECK(times->naive_dirty_ns > 0);
            CHECK(times->shared_once_ns > 0);
            CHECK(times->memcpy_ns > 0);
            CHECK((times->marking_ns > 0) == is_push_based);
        }
    }
}

TEST_CASE("W1: however long the turns, the same is played and sent", "[bench][w1]") {
    W1Options options = small_options();
    options.turn = 1;
    const W1Result by_one = run_w1(options);
    options.turn = 7;  // fifty is no multiple of it
    const W1Result by_seven = run_w1(options);
    REQUIRE(by_seven.error.empty());
    CHECK(by_seven.objects_per_tick == by_one.objects_per_tick);
    CHECK(by_seven.bytes_per_connection == by_one.bytes_per_connection);
    CHECK(by_seven.allocations == 0);
    options.turn = 1'000;  // longer than all there is
    const W1Result in_one = run_w1(options);
    REQUIRE(in_one.error.empty());
    CHECK(in_one.bytes_per_connection == by_one.bytes_per_connection);
}

TEST_CASE("W1: sharing changes who encodes, and no byte", "[bench][w1]") {
    W1Options options = small_options();
    options.sharing = SharingLevel::Off;
    const W1Result off = run_w1(options);
    CHECK(off.values_encoded_per_tick == values_per_tick * connections);
    CHECK(off.hit_rate == 0);
    for (const SharingLevel sharing :
         {SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
        CAPTURE(static_cast<int>(sharing));
        options.sharing = sharing;
        const W1Result on = run_w1(options);
        REQUIRE(on.error.empty());
        CHECK(on.values_encoded_per_tick == values_per_tick);
        CHECK(on.bytes_per_connection == off.bytes_per_connection);
        CHECK(on.packets_per_tick == off.packets_per_tick);
        // The first receiver's block is laid down; all others copy it.
        const double hit_rate = sharing == SharingLevel::Pieces ? 0 : 1 - 1.0 / connections;
        CHECK(on.hit_rate >= hit_rate);
    }
}

TEST_CASE("W1: the yardsticks send what changed, in records of index, mask and values",
          "[bench][w1]") {
    const W1Result result = run_w1(small_options());
    REQUIRE(result.error.empty());
    CHECK(result.naive_bytes_per_connection ==
          static_cast<double>(6 * changed_objects + 4 * values_per_tick * ticks) / ticks);
    for (const YardstickKind kind :
         {YardstickKind::NaivePoll, YardstickKind::NaiveDirty, YardstickKind::SharedOncePoll,
          YardstickKind::SharedOnceDirty}) {
        CAPTURE(static_cast<int>(kind));
        YardstickSettings settings;
        settings.kind = kind;
        settings.pawns = objects;
        settings.connections = connections;
        Yardstick yardstick(settings);
        PawnChanges changes;
        for (std::uint32_t i = 0; i < ticks; ++i) {
            const Yardstick::TickCost cost = yardstick.tick();
            CHECK(cost.allocations == 0);
            changes.pawns += cost.changes.pawns;
            changes.properties += cost.changes.properties;
        }
        CHECK(yardstick.has_sent(changes));
        CHECK(yardstick.values_sent() == values_per_tick * ticks * connections);
        changes.properties += 1;
        CHECK_FALSE(yardstick.has_sent(changes));
    }
}

TEST_CASE("W1: more packets a tick than it is defined for are refused, and said", "[bench][w1]") {
    W1Options options = small_options();
    CHECK(options.packets_per_tick_max == 128);
    options.objects = 500;  // three packets
    options.packets_per_tick_max = 2;
    const W1Result result = run_w1(options);
    CHECK(result.error.empty());
    CHECK(result.refusal ==
          "500 objects take 3 packets a tick for each connection, and W1 is defined for 2: take "
          "fewer objects");
    options.packets_per_tick_max = 3;
    CHECK(run_w1(options).refusal.empty());
}

TEST_CASE("W1: the figures have the names that are promised, and their ratios", "[bench][w1]") {
    const W1Options options = small_options();
    const W1Result result = run_w1(options);
    const auto json = nlohmann::json::parse(to_json(options, result));
    CHECK(json["objects"] == objects);
    CHECK(json["connections"] == connections);
    CHECK(json["ticks"] == ticks);
    CHECK(json["sharing"] == "bundles");
    CHECK(json["push"] == "on");
    CHECK(json["allocations"] == 0);
    for (const char* name :
         {"bytes_per_connection", "bytes_per_pair", "hit_rate", "packets_per_tick"}) {
        CAPTURE(name);
        CHECK(json[name].is_number());
    }
    for (const char* name : {"ours_ns", "naive_poll_ns", "naive_dirty_ns", "shared_once_ns",
                             "memcpy_ns", "ours_compare_encode_ns", "ours_assembly_ns"}) {
        CAPTURE(name);
        CHECK(json[name].is_number());
        CHECK(json["cold"][name].is_number());
    }
    CHECK(json["naive_poll_ns"].get<double>() == std::round(result.warm.naive_poll_ns));
    CHECK(json["cold"]["naive_poll_ns"].get<double>() == std::round(result.cold.naive_poll_ns));
    CHECK(json["ratios"]["ours_to_naive_dirty"].get<double>() ==
          result.warm.ours_ns / result.warm.naive_dirty_ns);
    CHECK(json["cold"]["ratios"]["ours_to_naive_dirty"].get<double>() ==
          result.cold.ours_ns / result.cold.naive_dirty_ns);
}

TEST_CASE("W1: the table has the warm times and ratios beside the cold ones", "[bench][w1]") {
    W1Result result;
    result.warm.ours_ns = 30'000;
    result.warm.naive_poll_ns = 120'000;
    result.cold.ours_ns = 50'000;
    result.cold.naive_poll_ns = 100'000;
    const std::string text = report(small_options(), result);
    CHECK(text.find("  ours                           30.0                    50.0\n") !=
          std::string::npos);
    CHECK(text.find("  naive, polling                120.0      0.250        100.0      0.500\n") !=
          std::string::npos);
    CHECK(text.find("warm: by turns of 50") != std::string::npos);
    CHECK(text.find("50 ticks warm and 50 cold") != std::string::npos);
}

TEST_CASE("W1: by turns of one tick nothing is called warm", "[bench][w1]") {
    W1Options options = small_options();
    options.turn = 1;
    const std::string text = report(options, W1Result());
    CHECK(text.find("50 ticks cold and 50 cold again") != std::string::npos);
    CHECK(text.find("cold              cold again") != std::string::npos);
    CHECK(text.find("nothing here is warm\n") != std::string::npos);
    CHECK(text.find("warm") == text.rfind("warm"));
}

TEST_CASE("W1: options arrive where they belong, and what makes no sense is refused",
          "[bench][w1]") {
    W1Options options;
    CHECK(parse({}, options) == -1);
    CHECK(options.objects == 1'000);
    CHECK(options.connections == 64);
    CHECK(options.ticks == 200);
    CHECK(options.turn == 50);
    CHECK(options.sharing == SharingLevel::Bundles);
    CHECK(options.is_push_based);
    CHECK(parse({"--objects", "150", "--connections", "2", "--ticks", "7", "--turn", "3",
                 "--sharing", "pieces", "--push", "off", "--json", "x.json"},
                options) == -1);
    CHECK(options.objects == 150);
    CHECK(options.connections == 2);
    CHECK(options.ticks == 7);
    CHECK(options.turn == 3);
    CHECK(options.sharing == SharingLevel::Pieces);
    CHECK_FALSE(options.is_push_based);
    CHECK(options.json_path == "x.json");
    CHECK(parse({"--sharing", "on"}, options) == -1);
    CHECK(options.sharing == SharingLevel::Bundles);
    CHECK(parse({"--help"}, options) == 0);
    for (const char* count : {"0", "49", "60", "1000000", "-50", "x"}) {
        CAPTURE(count);
        CHECK(parse({"--objects", count}, options) == 2);
    }
    CHECK(parse({"--connections", "0"}, options) == 2);
    CHECK(parse({"--connections", "2000"}, options) == 2);
    CHECK(parse({"--objects", "50000", "--connections", "1000"}, options) == 2);
    CHECK(parse({"--ticks", "0"}, options) == 2);
    CHECK(parse({"--turn", "0"}, options) == 2);
    options = {};
    CHECK(parse({"--ticks", "7", "--turn", "8"}, options) == 2);
    CHECK(parse({"--ticks", "7", "--turn", "7"}, options) == -1);
    options = {};
    CHECK(parse({"--ticks", "7"}, options) == -1);  // one turn of all there are
    CHECK(options.turn == 7);
    CHECK(parse({"--sharing", "maybe"}, options) == 2);
    CHECK(parse({"--push", "1"}, options) == 2);
    CHECK(parse({"--json", ""}, options) == 2);
}

}  // namespace replayout::bench
