// SPDX-License-Identifier: MIT
#include "match/report/savings.h"

#include "bench/played_match.h"
#include "match/report/call_costs.h"
#include "support/checks/catch.h"
#include "support/checks/contains.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace replayout;
using namespace replayout::match;
using replayout::test::contains;

namespace {

[[nodiscard]] MatchOptions reporting_options() {
    MatchOptions options;
    options.clients = 5;
    options.loss = 0.1;
    options.burst_packets = 3;
    options.join_over_s = 2;
    options.is_quiet = true;
    options.is_reporting = true;
    return options;
}

[[nodiscard]] MatchResult play(const MatchOptions& options) {
    const MatchResult result = replayout::test::played(options, {replayout::test::battle_of(120)});
    INFO(result.first_difference << result.twin_difference);
    CHECK(result.is_good(options));
    return result;
}

void check_equal(const SavingsCounts& sum, const SavingsCounts& whole) {
    CHECK(sum.values_sent == whole.values_sent);
    CHECK(sum.payload_reuses == whole.payload_reuses);
    CHECK(sum.values_reused == whole.values_reused);
    CHECK(sum.encoded == whole.encoded);
    CHECK(sum.bits_copied_alone == whole.bits_copied_alone);
    CHECK(sum.calls_unshared == whole.calls_unshared);
    CHECK(sum.bits_sent == whole.bits_sent);
    CHECK(sum.bits_in_copied_blocks == whole.bits_in_copied_blocks);
    CHECK(sum.ns_saved == whole.ns_saved);
}

void check_sums(const Savings& savings) {
    SavingsCounts of_classes;
    BlockSavings blocks;
    for (const ClassSavings& type : savings.classes) {
        SavingsCounts of_properties;
        for (const PropertySavings& property : type.properties) {
            of_properties.add(property.counts);
        }
        check_equal(of_properties, type.counts);
        of_classes.add(type.counts);
        blocks.add(type.blocks);
    }
    check_equal(of_classes, savings.counts);
    CHECK(blocks.sent == savings.blocks.sent);
    CHECK(blocks.bytes_sent == savings.blocks.bytes_sent);
    CHECK(blocks.built == savings.blocks.built);
    CHECK(blocks.copied == savings.blocks.copied);
    CHECK(blocks.bytes_copied == savings.blocks.bytes_copied);
    CHECK(blocks.misses == savings.blocks.misses);
}

}  // namespace

TEST_CASE("Savings: calls made and calls saved are those of the twin without sharing",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.sharing = GENERATE(SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads,
                               SharingLevel::Bundles);
    const MatchResult result = play(options);
    REQUIRE(result.savings);
    const Savings& savings = *result.savings;
    const bool is_on = options.sharing != SharingLevel::Off;
    const ReplicationCounters& shared = (is_on ? result.stats : result.twin_stats).replication;
    const ReplicationCounters& unshared = (is_on ? result.twin_stats : result.stats).replication;
    const SavingsCounts& counts = savings.counts;
    CHECK(savings.is_same);
    CHECK(savings.has_twin);
    CHECK(static_cast<std::int64_t>(counts.calls()) + counts.calls_saved() ==
          static_cast<std::int64_t>(unshared.values_encoded));
    CHECK(counts.calls_saved() > 0);
    CHECK(counts.calls_saved() <= counts.calls_saved_max());
    // As many calls and blocks, with as many bytes and values, as where nobody counts.
    CHECK(counts.calls() == shared.values_encoded);
    CHECK(counts.values_copied() == shared.values_reused);
    CHECK(savings.blocks.sent == shared.blocks_sent);
    CHECK(savings.blocks.bytes_sent == shared.block_bytes_sent);
    CHECK(counts.values_sent == shared.properties_sent);
    CHECK(savings.blocks.copied == shared.block_hits());
    CHECK(savings.blocks.built == shared.payloads_built);
    CHECK(savings.blocks.misses == shared.block_misses);
    CHECK(savings.bundles_built == shared.bundles_built);
    CHECK(savings.bundles_copied == shared.bundles_copied);
    // The report is of the level that was asked for; of Off, of its twin, which is of the highest.
    const bool is_bundled = !is_on || options.sharing == SharingLevel::Bundles;
    CHECK((savings.bundles_copied > 0) == is_bundled);
    CHECK(contains(report(options, result), "in bundles") == is_bundled);
    CHECK((savings.blocks.copied > 0) == (options.sharing != SharingLevel::Pieces));
    CHECK((counts.bits_in_copied_blocks > 0) == (options.sharing != SharingLevel::Pieces));
    CHECK(savings.blocks.copied < savings.blocks.sent);
    check_sums(savings);
}

TEST_CASE("Savings: bits of values are encoded, copied alone or copied within whole blocks",
          "[bench][savings]") {
    const MatchResult result = play(reporting_options());
    REQUIRE(result.savings);
    const SavingsCounts& whole = result.savings->counts;
    CHECK(whole.bits_encoded() > 0);
    CHECK(whole.bits_copied_alone > 0);
    CHECK(whole.bits_in_copied_blocks > 0);
    CHECK(whole.bits_sent < result.savings->blocks.bytes_sent * 8);
    CHECK(whole.bits_in_copied_blocks < result.savings->blocks.bytes_copied * 8);
    for (const ClassSavings& type : result.savings->classes) {
        for (const PropertySavings& property : type.properties) {
            INFO(type.name << "." << property.path);
            const SavingsCounts& counts = property.counts;
            CHECK(counts.bits_in_copied_blocks + counts.bits_copied_alone <= counts.bits_sent);
            CHECK((counts.payload_reuses > 0) == (counts.bits_in_copied_blocks > 0));
            // A value of which nothing was copied was encoded, and the other way round.
            CHECK((counts.bits_encoded() == 0 || counts.calls() > 0));
            CHECK(counts.values_sent <=
                  counts.payload_reuses + counts.values_reused + counts.calls());
        }
    }
}

TEST_CASE("Savings: the time of a property is its calls saved, times what one was measured to take",
          "[bench][savings]") {
    const MatchResult result = play(reporting_options());
    REQUIRE(result.savings);
    bool is_any_measured = false;
    for (const ClassSavings& type : result.savings->classes) {
        for (const PropertySavings& property : type.properties) {
            INFO(type.name << "." << property.path);
            const SavingsCounts& counts = property.counts;
            CHECK(property.ns_per_call >= 0);
            CHECK((counts.calls_unshared > 0 || property.ns_per_call == 0));
            CHECK(counts.ns_saved ==
                  std::llround(static_cast<double>(counts.calls_saved()) * property.ns_per_call));
            is_any_measured = is_any_measured || property.ns_per_call > 0;
        }
    }
    CHECK(is_any_measured);
    CHECK(result.savings->counts.ns_saved > 0);
    CHECK(contains(report(reporting_options(), result), "AN ESTIMATE"));
}

TEST_CASE("Savings: a long text takes longer to serialize than a number, each measured",
          "[bench][savings]") {
    Recording recording;
    recording.tick_rate_hz = 30;
    recording.classes = {{"Sign", {{"number", FieldType::U32}, {"text", FieldType::String}}}};
    recording.begin_tick(0);
    recording.append_spawn(1, 0);
    const std::vector<std::byte> number(4, std::byte{7});
    const std::vector<std::byte> text(20'000, std::byte{'a'});
    recording.append_set(1, 0, number);
    recording.append_set(1, 1, text);
    const std::vector<Recording> recordings{recording};
    const auto schema = MatchSchema::create(recordings, {});
    REQUIRE(schema);
    const CallCosts costs(recordings, **schema);
    const RepHandle handles[] = {RepHandle{1}, RepHandle{2}};
    const std::vector<double> ns = costs.measure(0, handles);
    REQUIRE(ns.size() == 2);
    CHECK(ns[1] > 100);  // 20,000 bytes are not copied in less
    CHECK(ns[1] > 2 * ns[0]);
    // Alone it has the time of its block, too.
    const std::vector<double> alone = costs.measure(0, std::span(handles).first(1));
    REQUIRE(alone.size() == 1);
    CHECK(alone[0] > 0);
}

TEST_CASE("Savings: a report changes no packet and no counter of the match", "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.is_counting_types = true;
    const MatchResult with = play(options);
    options.is_counting_types = false;
    options.is_reporting = false;
    const MatchResult without = play(options);
    CHECK_FALSE(without.savings);
    CHECK(with.packets_digest == without.packets_digest);
    CHECK(with.stats.replication.values_encoded == without.stats.replication.values_encoded);
    CHECK(with.stats.replication.bundles_built == without.stats.replication.bundles_built);
    CHECK(with.stats.replication.bundles_built > 0);
    // And has what was counted, too, where that was asked for.
    CHECK(with.types.size() == with.savings->classes.size());
    CHECK(without.types.empty());
}

TEST_CASE("Savings: the most saved are the first, and of the rest it is told how many there are",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.report_rows = 2;
    const MatchResult result = play(options);
    const Savings& savings = *result.savings;
    for (std::size_t i = 1; i < savings.classes.size(); ++i) {
        CHECK(savings.classes[i - 1].counts.calls_saved() >=
              savings.classes[i].counts.calls_saved());
    }
    const auto& properties = savings.classes[0].properties;
    for (std::size_t i = 1; i < properties.size(); ++i) {
        CHECK(properties[i - 1].counts.calls_saved() >= properties[i].counts.calls_saved());
    }
    const std::string text = report(options, result);
    CHECK(contains(text, "What sharing saved"));
    CHECK(contains(text, " ms instead of "));
    CHECK(contains(text, " of what can be"));
    CHECK(contains(text, "80.00 % are all but the first"));
    CHECK(contains(text, "why not"));
    CHECK(contains(text, "and " + std::to_string(savings.classes.size() - 2) + " more\n"));
    CHECK(contains(text, "\n  " + savings.classes[1].name));
    CHECK(contains(text, "\n  " + properties[1].path + " "));
    CHECK_FALSE(contains(text, savings.classes[2].name));
    options.report_rows = 1'000;
    CHECK(contains(report(options, result), savings.classes.back().name));
    CHECK_FALSE(contains(report(options, result), " more\n"));
}

TEST_CASE("Savings: the figures have all classes and properties, whose sums are the whole",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.report_rows = 1;
    const MatchResult result = play(options);
    const auto json = nlohmann::json::parse(to_json(options, result));
    CHECK(json["options"]["report"] == true);
    CHECK(json["options"]["report-rows"] == 1);
    const auto& savings = json["savings"];
    CHECK(savings["packets_equal"] == true);
    CHECK(savings["replication_ns_total"] == json["replication_ns_total"]);
    CHECK(savings["replication_ns_total_without_sharing"] == json["twin"]["replication_ns_total"]);
    CHECK(savings["replication_ns_saved"].get<std::int64_t>() ==
          json["twin"]["replication_ns_total"].get<std::int64_t>() -
              json["replication_ns_total"].get<std::int64_t>());
    CHECK(savings["whole"]["values_encoded"] == json["values_encoded"]);
    CHECK(savings["whole"]["block_misses"] == json["block_misses"]);
    CHECK(savings["whole"]["payload_reuses"].get<std::uint64_t>() +
              savings["whole"]["values_reused"].get<std::uint64_t>() ==
          json["values_copied"].get<std::uint64_t>());
    CHECK_FALSE(json.contains("values_reused"));
    CHECK(savings["bundles_copied"] == json["bundles_copied"]);
    CHECK(savings["whole"]["values_encoded_without_sharing"] == json["twin"]["values_encoded"]);
    for (const char* key : {"values_sent", "payload_reuses", "values_reused", "values_encoded",
                            "values_encoded_first", "values_encoded_without_sharing",
                            "values_encoded_saved", "serializer_ns_saved_estimated", "bits_sent",
                            "bits_encoded", "bits_in_copied_blocks", "bits_copied_alone"}) {
        INFO(key);
        std::int64_t of_classes = 0;
        for (const auto& type : savings["classes"]) {
            std::int64_t of_properties = 0;
            for (const auto& property : type["properties"]) {
                of_properties += property[key].get<std::int64_t>();
            }
            CHECK(of_properties == type[key].get<std::int64_t>());
            of_classes += of_properties;
        }
        CHECK(of_classes == savings["whole"][key].get<std::int64_t>());
    }
}

TEST_CASE("Savings: without a twin what is not known is left out, and said to be missing",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.has_twin = false;
    const MatchResult result = play(options);
    REQUIRE(result.savings);
    CHECK_FALSE(result.savings->has_twin);
    CHECK(result.savings->counts.values_copied() > 0);
    check_sums(*result.savings);
    const std::string text = report(options, result);
    CHECK(contains(text, "not known: --twin off"));
    CHECK_FALSE(contains(text, " ms instead of "));
    CHECK_FALSE(contains(text, "of what can be"));
    const auto savings = nlohmann::json::parse(to_json(options, result))["savings"];
    CHECK_FALSE(savings.contains("replication_ns_saved"));
    CHECK_FALSE(savings["whole"].contains("values_encoded_saved"));
    CHECK_FALSE(savings["whole"].contains("bits_sent"));
    CHECK_FALSE(savings["whole"].contains("serializer_ns_saved_estimated"));
    CHECK_FALSE(contains(text, "AN ESTIMATE"));
    CHECK(savings["whole"]["values_reused"].get<std::uint64_t>() > 0);
}

TEST_CASE("Savings: where nobody shares there is nothing to report, and that is said",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.sharing = SharingLevel::Off;
    options.has_twin = false;
    const MatchResult result = play(options);
    CHECK_FALSE(result.savings);
    CHECK(contains(report(options, result), "nothing was shared: --sharing off, --twin off"));
    CHECK_FALSE(nlohmann::json::parse(to_json(options, result)).contains("savings"));
}

TEST_CASE("Savings: a second playing with other packets is no proof, and fails the match",
          "[bench][savings]") {
    MatchOptions options = reporting_options();
    options.clients = 2;
    options.ticks = 30;
    MatchResult result = play(options);
    result.savings->is_same = false;
    CHECK_FALSE(result.is_good(options));
    CHECK(contains(report(options, result), "WHICH WAS NOT THE SAME"));
    CHECK(contains(report(options, result), "NOT THE SAME BYTES"));
}
