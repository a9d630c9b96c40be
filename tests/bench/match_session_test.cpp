// SPDX-License-Identifier: MIT
#include "match/session/match_session.h"

#include "bench/played_match.h"
#include "match/judge/hit_rate.h"
#include "support/checks/catch.h"
#include "support/report/report_text.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace replayout;
using namespace replayout::match;
using replayout::test::battle_of;
using replayout::test::played;

namespace {

[[nodiscard]] std::vector<Recording> two_battles(std::uint32_t ticks) {
    return {battle_of(ticks), battle_of(ticks / 2, 2)};
}

[[nodiscard]] MatchOptions rough_options() {
    MatchOptions options;
    options.clients = 5;
    options.loss = 0.2;
    options.burst_packets = 3;
    options.duplicate = 0.1;
    options.reorder = 0.1;
    options.join_over_s = 4;
    return options;
}

}  // namespace

TEST_CASE("MatchSession: two recordings side by side reach every client through a bad network",
          "[bench][match_session]") {
    const auto recordings = two_battles(240);
    const MatchOptions options = rough_options();
    const MatchResult result = played(options, recordings);
    INFO(result.first_difference << result.twin_difference);
    CHECK(result.is_good(options));
    CHECK(result.clients_equal == 5);
    CHECK(result.stats.packets_lost > 0);
    CHECK(result.quiescent_bytes == 0);
    CHECK(result.recordings[0].server_crc32 == end_state_crc32(recordings[0]));
    CHECK(result.recordings[1].server_crc32 == end_state_crc32(recordings[1]));
}

TEST_CASE("MatchSession: one seed gives the same packets twice, with sharing on and off",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options = rough_options();
    options.has_twin = false;
    const MatchResult first = played(options, recordings);
    const MatchResult again = played(options, recordings);
    options.sharing = SharingLevel::Off;
    const MatchResult unshared = played(options, recordings);
    for (const SharingLevel level : {SharingLevel::Pieces, SharingLevel::Payloads}) {
        options.sharing = level;
        CHECK(played(options, recordings).packets_digest == first.packets_digest);
    }
    options.sharing = SharingLevel::Bundles;
    options.seed = 2;
    const MatchResult other_seed = played(options, recordings);
    CHECK(first.packets_digest == again.packets_digest);
    CHECK(first.packets_digest == unshared.packets_digest);
    CHECK(first.packets_digest != other_seed.packets_digest);
    CHECK(first.stats.replication.values_encoded < unshared.stats.replication.values_encoded);
    CHECK(unshared.stats.replication.values_reused == 0);
}

TEST_CASE("MatchSession: one, two or four workers give the same packets",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options = rough_options();
    options.churn_s = 1;
    options.owners_s = 0.5;
    options.interest = MatchInterest::Grid;
    options.executor_work_min = 0;
    const MatchResult one = played(options, recordings);
    CHECK(one.executor_rounds == 0);
    for (const std::uint32_t workers : {2u, 4u}) {
        INFO(workers);
        options.workers = workers;
        const MatchResult result = played(options, recordings);
        CHECK(result.is_good(options));
        CHECK(result.executor_rounds > result.ticks);
        CHECK(result.packets_digest == one.packets_digest);
        CHECK(result.stats.bytes_sent == one.stats.bytes_sent);
        const auto json = nlohmann::json::parse(to_json(options, result));
        CHECK(json["workers"] == workers);
        CHECK(json["executor_rounds"] == result.executor_rounds);
    }
}

TEST_CASE("MatchSession: clients that leave and come back, and owners that change, end equal",
          "[bench][match_session]") {
    const auto recordings = two_battles(240);
    MatchOptions options = rough_options();
    options.churn_s = 0.5;
    options.owners_s = 0.5;
    const MatchResult result = played(options, recordings);
    INFO(result.first_difference << result.twin_difference);
    CHECK(result.is_good(options));
    CHECK(result.clients_equal == 5);
    // Eight seconds: sixteen replacements, half of them with a goodbye that may be lost.
    const auto& closed = result.stats.closed;
    const std::uint64_t left = closed[static_cast<std::size_t>(CloseReason::Requested)] +
                               closed[static_cast<std::size_t>(CloseReason::Replaced)];
    CHECK(left >= 10);
}

TEST_CASE("MatchSession: with interest clients hold what they are to have, and nothing else",
          "[bench][match_session]") {
    const auto recordings = two_battles(240);
    MatchOptions options = rough_options();
    options.churn_s = 1;
    const MatchResult all = played(options, recordings);
    CHECK(all.pairs_relevant == all.pairs);
    for (const MatchInterest interest : {MatchInterest::Grid, MatchInterest::Distance}) {
        options.interest = interest;
        options.radius = 15;
        const MatchResult result = played(options, recordings);
        INFO(result.first_difference << result.twin_difference);
        CHECK(result.is_good(options));
        CHECK(result.clients_equal == 5);
        CHECK(result.pairs == all.pairs);
        CHECK(result.pairs_relevant > 0);
        CHECK(result.pairs_relevant < all.pairs * 3 / 4);
        CHECK(result.stats.interest.pairs_shown > 10);
        CHECK(result.stats.bytes_sent < all.stats.bytes_sent);
    }
}

TEST_CASE("MatchSession: interest is told of what has a position, and that nothing has one",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options;
    options.clients = 3;
    options.interest = MatchInterest::Distance;
    options.radius = 0.001;
    const MatchResult battle = played(options, recordings);
    CHECK(battle.positioned_live > 0);
    CHECK(battle.positioned_live < battle.objects_live);
    CHECK(battle.pairs_positioned == 3 * battle.positioned_live);
    // The players see themselves, and next to nobody else.
    CHECK(battle.pairs_positioned_relevant < battle.pairs_positioned / 2);
    CHECK(battle.pairs_relevant ==
          battle.pairs - battle.pairs_positioned + battle.pairs_positioned_relevant);
    CHECK(report(options, battle).find(" objects have a position") != std::string::npos);

    Recording nowhere;
    nowhere.tick_rate_hz = 30.0F;
    nowhere.classes = {{"Score", {{"points", FieldType::U8}}}};
    nowhere.begin_tick(0);
    nowhere.append_spawn(1, 0);
    const std::vector<Recording> without{nowhere};
    const MatchResult unfiltered = played(options, without);
    CHECK(unfiltered.positioned_spawned == 0);
    CHECK(unfiltered.pairs_relevant == unfiltered.pairs);
    CHECK(report(options, unfiltered).find("nothing was filtered") != std::string::npos);

    nowhere.classes = {{"Crate", {{"position", FieldType::Vec3f}}}};
    const std::vector<Recording> unseen{nowhere};
    const MatchResult eyeless = played(options, unseen);
    CHECK(eyeless.positioned_spawned == 1);
    CHECK(eyeless.pairs_relevant == 0);
    CHECK(report(options, eyeless).find("no object is a player") != std::string::npos);
}

TEST_CASE("MatchSession: push based or polled, the packets are the same",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options = rough_options();
    for (const bool is_quantised : {false, true}) {
        options.is_quantised = is_quantised;
        options.is_push_based = false;
        const MatchResult polled = played(options, recordings);
        options.is_push_based = true;
        const MatchResult pushed = played(options, recordings);
        INFO(pushed.first_difference << pushed.twin_difference);
        CHECK(pushed.is_good(options));
        CHECK(pushed.packets_digest == polled.packets_digest);
        CHECK(pushed.stats.replication.properties_changed ==
              polled.stats.replication.properties_changed);
        CHECK(pushed.stats.replication.objects_compared * 3 <
              polled.stats.replication.objects_compared);
        CHECK(polled.stats.replication.objects_skipped == 0);
        CHECK(pushed.stats.replication.marks_missed == 0);
    }
}

TEST_CASE("MatchSession: with quantisation clients hold what the server's values become, for less",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options = rough_options();
    const MatchResult raw = played(options, recordings);
    options.is_quantised = true;
    const MatchResult quantised = played(options, recordings);
    INFO(quantised.first_difference);
    CHECK(quantised.is_good(options));
    CHECK(quantised.clients_equal == 5);
    CHECK(quantised.server_crc32 != raw.server_crc32);
    CHECK(quantised.stats.bytes_sent < raw.stats.bytes_sent);
}

TEST_CASE("MatchSession: counters of classes change no packet, and stand in report and figures",
          "[bench][match_session]") {
    const auto recordings = two_battles(90);
    MatchOptions options = rough_options();
    options.has_twin = false;
    const MatchResult without = played(options, recordings);
    options.is_counting_types = true;
    const MatchResult with = played(options, recordings);
    CHECK(with.packets_digest == without.packets_digest);
    CHECK(without.types.empty());
    REQUIRE_FALSE(with.types.empty());
    std::uint64_t calls = 0;
    for (const TypeCost& type : with.types) {
        for (const PropertyCost& property : type.properties) {
            calls += property.counters.values_encoded();
        }
    }
    CHECK(calls == with.stats.replication.values_encoded);
    const auto json = nlohmann::json::parse(to_json(options, with));
    std::uint64_t blocks = 0;
    for (const auto& type : json["types"]) {
        blocks += type["blocks_sent"].get<std::uint64_t>();
    }
    CHECK(json["blocks_sent"] == blocks);
    CHECK(to_json(options, with).find("\"ValueChanged\"") != std::string::npos);
    CHECK(to_json(options, without).find("\"types\"") == std::string::npos);
    CHECK(report(options, with).find("counters of ") != std::string::npos);
    CHECK(report(options, with).find("pairs of ") != std::string::npos);
}

TEST_CASE("MatchSession: most blocks are copied from another client's, and else it is told why",
          "[bench][match_session]") {
    const auto recordings = two_battles(90);
    MatchOptions options;
    options.clients = 100;
    options.loss = 0.02;
    options.bandwidth_bytes_per_second = GENERATE(0u, 64'000u);
    const MatchResult result = played(options, recordings);
    CHECK(result.is_good(options));
    const ReplicationCounters& shared = result.stats.replication;
    CHECK(shared.block_hits() == shared.payloads_reused);  // there are no calls
    CHECK(hit_share(shared, options.clients) >=
          (options.bandwidth_bytes_per_second == 0 ? 0.97 : 0.95));
    const ReplicationCounters& unshared = result.twin_stats.replication;
    CHECK(unshared.block_hits() == 0);
    CHECK(unshared.block_misses[static_cast<std::size_t>(BlockMiss::SharingOff)] ==
          shared.blocks_sent);
    const auto json = nlohmann::json::parse(to_json(options, result));
    CHECK(json["sharing"] == "bundles");  // the level, whether that was said or "on"
    CHECK(json["blocks_sent"] == shared.blocks_sent);
    CHECK(json["block_hits"] == shared.block_hits());
    CHECK(json["hit_rate"] == bench::ratio(shared.block_hits(), shared.blocks_sent));
    CHECK(json["hit_rate_of_fan_out"] == 1.0 - 1.0 / 100);
    CHECK(json["hit_share"] == hit_share(shared, options.clients));
    std::uint64_t misses = 0;
    for (const auto& count : json["block_misses"]) {
        misses += count.get<std::uint64_t>();
    }
    CHECK(json["block_hits"].get<std::uint64_t>() + misses == json["blocks_sent"]);
    CHECK(json["records_sent"] == result.stats.records_sent);
    CHECK(json["records_lost"] == result.stats.records_lost);
    CHECK_FALSE(json.contains("blocks_lost"));  // records that were lost, when it was there
    const std::string text = report(options, result);
    CHECK(text.find("of the 99.00 % where each goes to all clients once") != std::string::npos);
    CHECK(text.find("FirstUse") != std::string::npos);
}

TEST_CASE("MatchSession: a cap far too small delays, and all is right in the end, still within it",
          "[bench][match_session]") {
    const auto recordings = two_battles(120);
    MatchOptions options;
    options.clients = 3;
    options.loss = 0.05;
    options.interest = GENERATE(MatchInterest::All, MatchInterest::Grid);
    options.radius = 15;
    options.bandwidth_bytes_per_second = GENERATE(1'800u, 8'000u);
    const MatchResult result = played(options, recordings);
    INFO(result.first_difference);
    CHECK(result.is_good(options));
    CHECK(result.stats.packets_lost > 0);
    CHECK(result.most_bytes_in_second <= options.bandwidth_bytes_per_second + 1'200);
    CHECK(report(options, result).find("under the same cap") != std::string::npos);
}

TEST_CASE(
    "MatchSession: under a cap it tells how old what clients hold is, and what was used of it",
    "[bench][match_session]") {
    const auto recordings = two_battles(300);
    MatchOptions options;
    options.clients = 3;
    options.loss = 0;
    options.bandwidth_bytes_per_second = 6'000;
    const MatchResult narrow = played(options, recordings);
    INFO(narrow.first_difference);
    CHECK(narrow.is_good(options));
    CHECK(narrow.staleness.sample_count > 1'000);
    CHECK(narrow.staleness.p50 <= narrow.staleness.p99);
    CHECK(narrow.staleness.p99 <= narrow.staleness.worst);
    CHECK(narrow.staleness.worst <= 300);
    CHECK(narrow.most_bytes_in_second <= 6'000 + 1'200);
    // Nine tenths, but for the time in which clients join.
    CHECK(narrow.capped_bytes * 30 >= narrow.capped_ticks * 6'000 * 8 / 10);
    CHECK(narrow.waiting_ticks * 10 > narrow.capped_ticks * 8);
    CHECK(narrow.waiting_bytes * 30 >= narrow.waiting_ticks * 6'000 * 88 / 100);
    CHECK(report(options, narrow).find("out of date") != std::string::npos);
    const auto json = nlohmann::json::parse(to_json(options, narrow));
    CHECK(json["staleness_ms_p99"].get<double>() <= json["staleness_ms_worst"].get<double>());
    CHECK(json["cap_bytes_per_second"] == 6'000);
    CHECK(json["cap_used_bytes_per_second"].get<double>() < 6'000);
    CHECK(json["cap_used_share"].get<double>() > 0.8);
    CHECK(json["cap_used_share"].get<double>() < 1);
    CHECK(json["cap_used_share_while_waiting"].get<double>() > 0.88);
    CHECK(json["cap_waiting_time_share"].get<double>() > 0.8);

    options.bandwidth_bytes_per_second = 1'000'000;
    const MatchResult wide = played(options, recordings);
    CHECK(wide.is_good(options));
    CHECK(wide.staleness.p99 < narrow.staleness.p99);
    CHECK(wide.staleness.worst < narrow.staleness.worst);
    // That little of it is used is no waste.
    CHECK(wide.waiting_ticks == 0);
    CHECK(report(options, wide).find("nothing ever waited for room") != std::string::npos);
    // What a client is not to have is not out of date there.
    options.interest = MatchInterest::Grid;
    options.radius = 10;
    const MatchResult near = played(options, recordings);
    CHECK(near.is_good(options));
    CHECK(near.staleness.sample_count < wide.staleness.sample_count);
    CHECK(near.staleness.worst < 60);
    options.bandwidth_bytes_per_second = 0;
    CHECK(report(options, played(options, recordings)).find("out of date") == std::string::npos);
}

TEST_CASE("MatchSession: a match too short to tell how old things are says so",
          "[bench][match_session]") {
    const auto recordings = two_battles(60);
    MatchOptions options;
    options.clients = 3;
    options.ticks = 3;
    options.bandwidth_bytes_per_second = 5'000;
    const MatchResult result = played(options, recordings);
    CHECK(result.is_good(options));
    CHECK(result.staleness.sample_count == 0);
    const std::string text = report(options, result);
    CHECK(text.find("5,000 bytes a second and client") != std::string::npos);
    CHECK(text.find("not told of less than a second") != std::string::npos);
    CHECK(text.find("not looked at") != std::string::npos);
    const auto json = nlohmann::json::parse(to_json(options, result));
    CHECK(json["cap_bytes_per_second"] == 5'000);
    CHECK(json["staleness_samples"] == 0);
    CHECK_FALSE(json.contains("staleness_ms_p50"));
}

TEST_CASE("MatchSession: the figures name every option, so that they can be had again",
          "[bench][match_session]") {
    const auto recordings = two_battles(60);
    MatchOptions options = rough_options();
    options.traces = {"some.rtr.gz"};
    options.ticks = 30;
    options.seed = 7;
    options.churn_s = 0.5;
    options.owners_s = 0.25;
    options.interest = MatchInterest::Grid;
    options.radius = 12.5;
    options.sharing = SharingLevel::Payloads;
    const auto json = nlohmann::json::parse(to_json(options, played(options, recordings)));
    const auto& told = json["options"];
    CHECK(told["traces"] == nlohmann::json::array({"some.rtr.gz"}));
    CHECK(told["clients"] == 5);
    CHECK(told["loss"] == 0.2);
    CHECK(told["burst"] == 3);
    CHECK(told["duplicate"] == 0.1);
    CHECK(told["reorder"] == 0.1);
    CHECK(told["latency-ms"] == 40);
    CHECK(told["jitter-ms"] == 10);
    CHECK(told["bandwidth"] == 0);
    CHECK(told["seed"] == 7);
    CHECK(told["ticks"] == 30);
    CHECK(told["join-over"] == 4);
    CHECK(told["churn"] == 0.5);
    CHECK(told["owners"] == 0.25);
    CHECK(told["interest"] == "grid");
    CHECK(told["radius"] == 12.5);
    CHECK(told["sharing"] == "payloads");
    CHECK(json["sharing"] == "payloads");
    CHECK(told["twin"] == "on");
    CHECK(told["push"] == "off");
    CHECK(told["quantise"] == "off");
    CHECK(told["workers"] == 1);
    CHECK(told["executor-work-min"] == 4'096);
    CHECK(told["counters"] == false);
    CHECK(told["report"] == false);
    CHECK(told["report-rows"] == 10);
    CHECK(told["record"] == "");
    CHECK(told["checkpoints"] == 10);
    CHECK_FALSE(json.contains("cap_bytes_per_second"));
}

TEST_CASE("MatchSession: numbers of the report have their commas", "[bench][match_session]") {
    CHECK(bench::grouped(0) == "0");
    CHECK(bench::grouped(999) == "999");
    CHECK(bench::grouped(1'234'567) == "1,234,567");
    CHECK(bench::grouped(1'234.56, 1) == "1,234.6");
    CHECK(bench::grouped(999.96, 1) == "1,000.0");
    CHECK(bench::grouped(4'000.0, 0) == "4,000");
    CHECK(bench::grouped(-1'234.5, 1) == "-1,234.5");
    CHECK(bench::grouped_short(0.001) == "0.001");
    CHECK(bench::grouped_short(4'000) == "4,000");
    CHECK(bench::grouped_short(1e9) == "1e+09");
}

TEST_CASE("MatchSession: classes with repeated and empty names are told apart",
          "[bench][match_session]") {
    Recording recording;
    recording.tick_rate_hz = 30.0F;
    recording.classes = {{"", {{"x", FieldType::U8}, {"x", FieldType::U8}, {"", FieldType::Bool}}},
                         {"", {}}};
    recording.begin_tick(0);
    recording.append_spawn(1, 0);
    recording.append_spawn(2, 1);
    const std::byte seven{7};
    recording.append_set(1, 1, std::span(&seven, 1));
    MatchOptions options;
    options.clients = 2;
    const std::vector<Recording> recordings{recording};
    const MatchResult result = played(options, recordings);
    INFO(result.first_difference);
    CHECK(result.is_good(options));
    CHECK(result.objects_live == 2);
}
