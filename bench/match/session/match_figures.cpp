// SPDX-License-Identifier: MIT
#include "match/session/match_result.h"

#include "match/judge/hit_rate.h"
#include "match/report/savings_report.h"
#include "support/report/command_line.h"
#include "support/report/report_text.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace replayout::match {

using bench::hex;
using bench::on_or_off;
using bench::ratio;

namespace {

[[nodiscard]] nlohmann::ordered_json memory_json(const MemoryReport& memory) {
    return {{"object_bytes", memory.object_bytes},
            {"pair_bytes", memory.pair_bytes},
            {"connection_bytes", memory.connection_bytes},
            {"in_flight_bytes", memory.in_flight_bytes},
            {"bundle_bytes", memory.bundle_bytes},
            {"guid_bytes", memory.guid_bytes},
            {"layout_table_bytes", memory.layout_table_bytes},
            {"scratch_bytes", memory.scratch_bytes},
            {"validation_bytes", memory.validation_bytes},
            {"total_bytes", memory.total_bytes()},
            {"objects", memory.object_count},
            {"connections", memory.connection_count},
            {"pairs", memory.pair_count},
            {"bytes_per_pair", memory.bytes_per_pair()}};
}

[[nodiscard]] nlohmann::ordered_json types_json(const std::vector<TypeCost>& types) {
    nlohmann::ordered_json json = nlohmann::json::array();
    for (const TypeCost& type : types) {
        nlohmann::ordered_json properties = nlohmann::json::array();
        for (const PropertyCost& property : type.properties) {
            const PropertyCounters& counters = property.counters;
            properties.push_back({{"property", property.path},
                                  {"values_sent", counters.values_sent},
                                  {"bits_sent", counters.bits_sent},
                                  {"payload_reuses", counters.payload_reuses},
                                  {"values_reused", counters.values_reused},
                                  {"pieces_built", counters.pieces_built},
                                  {"serializer_calls", counters.serializer_calls},
                                  {"values_encoded", counters.values_encoded()},
                                  {"encoded", encoded_json(counters.encoded)}});
        }
        nlohmann::ordered_json entry{{"class", type.name}};
        entry.update(with_blocks({}, type.blocks));
        entry["properties"] = std::move(properties);
        json.push_back(std::move(entry));
    }
    return json;
}

/// Each by its name on the command line, and as it may be said there.
[[nodiscard]] nlohmann::ordered_json options_json(const MatchOptions& options) {
    return {{"traces", options.traces},
            {"clients", options.clients},
            {"loss", options.loss},
            {"burst", options.burst_packets},
            {"duplicate", options.duplicate},
            {"reorder", options.reorder},
            {"latency-ms", options.latency_ms},
            {"jitter-ms", options.jitter_ms},
            {"bandwidth", options.bandwidth_bytes_per_second},
            {"seed", options.seed},
            {"ticks", options.ticks},
            {"join-over", options.join_over_s},
            {"churn", options.churn_s},
            {"owners", options.owners_s},
            {"transport", name_of(options.transport)},
            {"serve", options.serve},
            {"speed", options.speed},
            {"timeout", options.timeout_s},
            {"interest", name_of(options.interest)},
            {"radius", options.radius},
            {"sharing", bench::name_of(options.sharing)},
            {"twin", on_or_off(options.has_twin)},
            {"push", on_or_off(options.is_push_based)},
            {"quantise", on_or_off(options.is_quantised)},
            {"workers", options.workers},
            {"executor-work-min", options.executor_work_min},
            {"counters", options.is_counting_types},
            {"report", options.is_reporting},
            {"report-rows", options.report_rows},
            {"record", options.record_path},
            {"checkpoints", options.checkpoints_s}};
}

/// What was played, and what became of it.
void add_verdict(nlohmann::ordered_json& json, const MatchOptions& options,
                 const MatchResult& result) {
    json["clients"] = options.clients;
    json["ticks"] = result.ticks;
    json["seed"] = options.seed;
    json["transport"] = name_of(options.transport);
    json["role"] = options.serve.empty() ? "match" : "server";
    json["sharing"] = bench::name_of(options.sharing);
    json["push"] = on_or_off(options.is_push_based);
    json["quantise"] = on_or_off(options.is_quantised);
    json["played"] = result.is_played;
    json["objects_spawned"] = result.objects_spawned;
    json["objects_live"] = result.objects_live;
    json["sets_applied"] = result.sets_applied;
    json["converged"] = result.is_converged(options);
    json["settle_ticks"] = result.settle_ticks;
    json["clients_joined"] = result.clients_joined;
    json["clients_equal"] = result.clients_equal;
    json["first_difference"] = result.first_difference;
    json["server_crc32"] = hex(result.server_crc32, 8);
    json["client_crc32"] = nlohmann::json::array();
    for (const std::uint32_t crc : result.client_crc32) {
        json["client_crc32"].push_back(hex(crc, 8));
    }
    json["recordings"] = nlohmann::json::array();
    for (const RecordingResult& recording : result.recordings) {
        json["recordings"].push_back(
            {{"name", recording.name}, {"server_crc32", hex(recording.server_crc32, 8)}});
    }
}

void add_interest(nlohmann::ordered_json& json, const MatchOptions& options,
                  const MatchResult& result) {
    const NetStats& stats = result.stats;
    json["interest"] = name_of(options.interest);
    json["radius"] = options.radius;
    json["pairs"] = result.pairs;
    json["pairs_relevant"] = result.pairs_relevant;
    json["objects_with_position"] = result.positioned_live;
    json["pairs_with_position"] = result.pairs_positioned;
    json["pairs_with_position_relevant"] = result.pairs_positioned_relevant;
    json["channels_opened"] = stats.channels_opened;
    json["channels_closed"] = stats.channels_closed;
    json["cells_crossed"] = stats.interest.cells_crossed;
    json["pairs_examined"] = stats.interest.pairs_examined;
    json["pairs_shown"] = stats.interest.pairs_shown;
    json["pairs_hidden"] = stats.interest.pairs_hidden;
}

void add_traffic(nlohmann::ordered_json& json, const NetStats& stats) {
    json["bytes_sent"] = stats.bytes_sent;
    json["packets_sent"] = stats.packets_sent;
    json["packets_lost"] = stats.packets_lost;
    json["records_sent"] = stats.records_sent;
    json["records_lost"] = stats.records_lost;
    json["bunches_sent"] = stats.bunches_sent;
    json["bunches_resent"] = stats.bunches_resent;
    json["objects_compared"] = stats.replication.objects_compared;
    json["objects_skipped"] = stats.replication.objects_skipped;
    json["properties_changed"] = stats.replication.properties_changed;
    json["marks_missed"] = stats.replication.marks_missed;
    json["pieces_built"] = stats.replication.pieces_built;
    json["values_copied"] = stats.replication.values_reused;
    json["values_encoded"] = stats.replication.values_encoded;
    json["serializer_calls"] = stats.replication.serializer_calls;
    json["payloads_built"] = stats.replication.payloads_built;
    json["bundles_built"] = stats.replication.bundles_built;
    json["bundles_copied"] = stats.replication.bundles_copied;
    json["values_over_limit"] = stats.replication.values_over_limit;
}

/// Adds the hits and misses of a server, with sharing or without.
void add_hits(nlohmann::ordered_json& json, const ReplicationCounters& counters,
              std::uint32_t clients) {
    json["blocks_sent"] = counters.blocks_sent;
    json["block_hits"] = counters.block_hits();
    json["block_misses"] = misses_json(counters.block_misses);
    json["hit_rate"] = hit_rate(counters);
    json["hit_rate_of_fan_out"] = hit_rate_of_fan_out(clients);
    json["hit_share"] = hit_share(counters, clients);
}

/// Adds what a match with a cap used of it.
void add_pressure(nlohmann::ordered_json& json, const MatchOptions& options,
                  const MatchResult& result) {
    const double used = bytes_per_second(result.capped_bytes, result.capped_ticks);
    const double used_waiting = bytes_per_second(result.waiting_bytes, result.waiting_ticks);
    json["cap_bytes_per_second"] = options.bandwidth_bytes_per_second;
    json["cap_used_bytes_per_second"] = used;
    json["cap_used_share"] = share_of_cap(options, used);
    json["cap_bytes_in_second_most"] = result.most_bytes_in_second;
    json["cap_waiting_time_share"] = ratio(result.waiting_ticks, result.capped_ticks);
    json["cap_used_share_while_waiting"] = share_of_cap(options, used_waiting);
    json["staleness_samples"] = result.staleness.sample_count;
    if (result.staleness.sample_count > 0) {
        json["staleness_ms_p50"] = milliseconds_of(result.staleness.p50);
        json["staleness_ms_p99"] = milliseconds_of(result.staleness.p99);
        json["staleness_ms_worst"] = milliseconds_of(result.staleness.worst);
    }
}

void add_measurements(nlohmann::ordered_json& json, const MatchOptions& options,
                      const MatchResult& result) {
    json["packets_digest"] = hex(result.packets_digest, 16);
    json["quiescent_bytes"] = result.quiescent_bytes;
    json["server_ns_per_tick_p50"] = result.times.p50_ns;
    json["server_ns_per_tick_p99"] = result.times.p99_ns;
    json["replication_ns_total"] = result.times.total_ns;
    json["workers"] = options.workers;
    json["executor_rounds"] = result.executor_rounds;
    json["allocations_steady"] = result.allocations_steady;
    json["steady_ticks"] = result.steady_ticks;
    if (options.bandwidth_bytes_per_second != 0) {
        add_pressure(json, options, result);
    }
    json["memory"] = memory_json(result.memory);
}

}  // namespace

std::string to_json(const MatchOptions& options, const MatchResult& result) {
    nlohmann::ordered_json json;
    json["options"] = options_json(options);
    add_verdict(json, options, result);
    add_interest(json, options, result);
    add_traffic(json, result.stats);
    add_hits(json, result.stats.replication, options.clients);
    add_measurements(json, options, result);
    if (result.recorded.has_value()) {
        const ReplayRecorderStats& stats = result.recorded->stats;
        json["recorded"] = {{"bytes", stats.bytes_written},
                            {"frames", stats.frames_written},
                            {"checkpoints", stats.checkpoints_written},
                            {"checkpoint_bytes", stats.checkpoint_bytes},
                            {"error", result.recorded->error}};
    }
    if (!result.types.empty()) {
        json["types"] = types_json(result.types);
    }
    if (result.savings) {
        json["savings"] = savings_json(options, result);
    }
    if (result.has_twin) {
        json["twin"] = {{"equal", result.is_twin_equal},
                        {"values_encoded", result.twin_stats.replication.values_encoded},
                        {"server_ns_per_tick_p50", result.twin_times.p50_ns},
                        {"server_ns_per_tick_p99", result.twin_times.p99_ns},
                        {"replication_ns_total", result.twin_times.total_ns}};
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace replayout::match
