// SPDX-License-Identifier: MIT
#include "match/session/match_result.h"

#include "match/battle/printable.h"
#include "match/judge/hit_rate.h"
#include "match/report/savings_report.h"
#include "support/command_line.h"
#include "support/report_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace replayout::match {

using bench::grouped;
using bench::grouped_short;
using bench::hex;
using bench::on_or_off;
using bench::print;
using bench::ratio;

namespace {

void report_world(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const NetStats& stats = result.stats;
    for (const RecordingResult& recording : result.recordings) {
        print(text, "  %-22s %s, end state %s\n", "recording",
              printable(recording.name, 60).c_str(), hex(recording.server_crc32, 8).c_str());
    }
    print(text, "  %-22s %s spawned, %s live at the end\n", "objects",
          grouped(result.objects_spawned).c_str(), grouped(result.objects_live).c_str());
    print(text, "  %-22s %s set, %s found by comparing, in %s ticks (%s s)\n", "changes",
          grouped(result.sets_applied).c_str(),
          grouped(stats.replication.properties_changed).c_str(), grouped(result.ticks).c_str(),
          grouped(result.play_seconds, 1).c_str());
    print(text, "  %-22s %s times, %s times left out; push %s, quantised %s\n", "objects compared",
          grouped(stats.replication.objects_compared).c_str(),
          grouped(stats.replication.objects_skipped).c_str(), on_or_off(options.is_push_based),
          on_or_off(options.is_quantised));
    print(text, "  %-22s %s, of which %s joined and %s equal\n", "clients",
          grouped(options.clients).c_str(), grouped(result.clients_joined).c_str(),
          grouped(result.clients_equal).c_str());
}

void report_interest(std::string& text, const MatchOptions& options, const MatchResult& result) {
    if (options.interest == MatchInterest::All) {
        return;
    }
    print(text, "  %-22s %s within %s: ", "interest",
          options.interest == MatchInterest::Grid ? "cells" : "distance",
          grouped_short(options.radius).c_str());
    if (result.positioned_spawned == 0) {
        text += "no object has a position, so nothing was filtered\n";
        return;
    }
    print(text, "at the end %s of %s objects have a position;\n",
          grouped(result.positioned_live).c_str(), grouped(result.objects_live).c_str());
    print(text, "  %-22s of the %s pairs of these and a client %s are relevant (%.1f %%),\n", "",
          grouped(result.pairs_positioned).c_str(),
          grouped(result.pairs_positioned_relevant).c_str(),
          100.0 * ratio(result.pairs_positioned_relevant, result.pairs_positioned));
    if (result.players_spawned == 0) {
        print(text, "  %-22s as no object is a player, from where a client could look;\n", "");
    }
    const InterestCounters& counters = result.stats.interest;
    print(text, "  %-22s %s opened, %s closed; %s cells crossed, %s pairs looked at,\n", "",
          grouped(result.stats.channels_opened).c_str(),
          grouped(result.stats.channels_closed).c_str(), grouped(counters.cells_crossed).c_str(),
          grouped(counters.pairs_examined).c_str());
    print(text, "  %-22s %s made relevant, %s irrelevant\n", "",
          grouped(counters.pairs_shown).c_str(), grouped(counters.pairs_hidden).c_str());
}

void report_network(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const NetStats& stats = result.stats;
    const auto client_ticks = static_cast<double>(result.ticks) * options.clients;
    const double bytes_per_tick =
        client_ticks == 0 ? 0.0 : static_cast<double>(stats.bytes_sent) / client_ticks;
    print(text, "  %-22s %s sent, %s lost; %s bytes per client and tick\n", "packets",
          grouped(stats.packets_sent).c_str(), grouped(stats.packets_lost).c_str(),
          grouped(bytes_per_tick, 1).c_str());
    print(text, "  %-22s %s of %s records lost and owed again; %s bunches sent again\n", "resends",
          grouped(stats.records_lost).c_str(), grouped(stats.records_sent).c_str(),
          grouped(stats.bunches_resent).c_str());
    print(
        text, "  %-22s %s tick %s; %s ticks later all has arrived%s,\n", "after the last change",
        options.transport == MatchTransport::Loopback ? "the network is healed after" : "it was in",
        grouped(result.ticks).c_str(), grouped(result.settle_ticks).c_str(),
        options.bandwidth_bytes_per_second == 0 ? "" : ", under the same cap");
    print(text, "  %-22s then %s bytes of properties in %.1f s\n", "",
          grouped(result.quiescent_bytes).c_str(),
          static_cast<double>(result.quiescent_ticks) / 30.0);
}

[[nodiscard]] double milliseconds_of(std::uint64_t ticks) noexcept {
    return static_cast<double>(ticks) * 1'000.0 / 30.0;
}

/// Of so many bytes in so many ticks of one client each.
[[nodiscard]] double bytes_per_second(std::uint64_t bytes, std::uint64_t ticks) noexcept {
    return ratio(bytes, ticks) * 30.0;
}

/// Of a cap, which there is: 1 is all of it.
[[nodiscard]] double share_of_cap(const MatchOptions& options, double bytes_a_second) noexcept {
    return bytes_a_second / static_cast<double>(options.bandwidth_bytes_per_second);
}

void report_cap(std::string& text, const MatchOptions& options, const MatchResult& result) {
    print(text, "  %-22s %s bytes a second and client, %s in any second at most;\n", "cap",
          grouped(options.bandwidth_bytes_per_second).c_str(),
          grouped(result.most_bytes_in_second).c_str());
    if (result.play_seconds < 1) {
        print(text, "  %-22s how much is used is not told of less than a second\n", "");
        return;
    }
    const double used = bytes_per_second(result.capped_bytes, result.capped_ticks);
    print(text, "  %-22s %s (%.1f %%) of it used, ", "", grouped(used, 0).c_str(),
          100.0 * share_of_cap(options, used));
    if (result.waiting_ticks == 0) {
        text += "and nothing ever waited for room in it\n";
        return;
    }
    const double used_waiting = bytes_per_second(result.waiting_bytes, result.waiting_ticks);
    print(text, "%s (%.1f %%) in the %.1f %% of the time in which objects waited\n",
          grouped(used_waiting, 0).c_str(), 100.0 * share_of_cap(options, used_waiting),
          100.0 * ratio(result.waiting_ticks, result.capped_ticks));
}

void report_staleness(std::string& text, const Staleness& staleness) {
    if (staleness.sample_count == 0) {
        print(text, "  %-22s not looked at: in no %sth tick was there a client that had joined\n",
              "what clients hold", grouped(ticks_between_looks).c_str());
        return;
    }
    print(text, "  %-22s %s ms (median), %s ms (99 %%), %s ms (worst) out of date;\n",
          "what clients hold", grouped(milliseconds_of(staleness.p50), 0).c_str(),
          grouped(milliseconds_of(staleness.p99), 0).c_str(),
          grouped(milliseconds_of(staleness.worst), 0).c_str());
    print(text, "  %-22s looked at in every %sth tick; what a client does not have yet counts\n",
          "", grouped(ticks_between_looks).c_str());
}

void report_pressure(std::string& text, const MatchOptions& options, const MatchResult& result) {
    if (options.bandwidth_bytes_per_second != 0) {
        report_cap(text, options, result);
        report_staleness(text, result.staleness);
    }
}

void report_times(std::string& text, const char* label, const ServerTimes& times) {
    print(text, "  %-22s %8s us a tick (median), %8s us (99 %%); %s ms in all\n", label,
          grouped(static_cast<double>(times.p50_ns) / 1e3, 1).c_str(),
          grouped(static_cast<double>(times.p99_ns) / 1e3, 1).c_str(),
          grouped(static_cast<double>(times.total_ns) / 1e6, 1).c_str());
}

void report_hits(std::string& text, const MatchOptions& options,
                 const ReplicationCounters& counters) {
    print(text, "  %-22s %s sent; %s of them copied whole from another client's (%.2f %%)\n",
          "blocks", grouped(counters.blocks_sent).c_str(), grouped(counters.block_hits()).c_str(),
          100.0 * hit_rate(counters));
    if (options.clients > 1) {
        print(text, "  %-22s %.2f %% of the %.2f %% where each goes to all clients once\n", "",
              100.0 * hit_share(counters, options.clients),
              100.0 * hit_rate_of_fan_out(options.clients));
    }
    print(text, "  %-22s %s\n", "  why not copied", text_of(counters.block_misses).c_str());
}

void report_sharing(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const bool is_on = options.sharing != SharingLevel::Off;
    const NetStats& on = is_on ? result.stats : result.twin_stats;
    const NetStats& off = is_on ? result.twin_stats : result.stats;
    if (is_on || result.has_twin) {
        const ReplicationCounters& counters = on.replication;
        print(text, "  %-22s %s sent; %s encoded, %s copied instead (%.2f %%)\n", "values",
              grouped(counters.properties_sent).c_str(), grouped(counters.values_encoded).c_str(),
              grouped(counters.values_reused).c_str(),
              100.0 *
                  ratio(counters.values_reused, counters.values_reused + counters.values_encoded));
        report_hits(text, options, counters);
    }
    if (!is_on || result.has_twin) {
        print(text, "  %-22s %s encoded\n", "  without sharing",
              grouped(off.replication.values_encoded).c_str());
    }
    report_times(text, is_on ? "server, sharing" : "server, not sharing", result.times);
    if (result.has_twin) {
        report_times(text, is_on ? "server, not sharing" : "server, sharing", result.twin_times);
        print(text, "  %-22s %s\n", "twin",
              result.is_twin_equal ? "every packet equal with sharing on and off"
                                   : result.twin_difference.c_str());
    }
    if (options.workers > 1) {
        print(text, "  %-22s %u; %s rounds of jobs\n", "workers", options.workers,
              grouped(result.executor_rounds).c_str());
    }
    if (result.steady_ticks == 0) {
        print(text, "  %-22s not measured: of the last tenth, no tick is without spawns\n",
              "steady allocations");
    } else {
        print(text, "  %-22s %s in %s ticks\n", "steady allocations",
              grouped(result.allocations_steady).c_str(), grouped(result.steady_ticks).c_str());
    }
}

void report_memory(std::string& text, const MatchResult& result) {
    const MemoryReport& memory = result.memory;
    print(text, "  %-22s %s bytes at the end: objects %s, pairs %s (%s pairs of %.1f bytes),\n",
          "memory of the server", grouped(memory.total_bytes()).c_str(),
          grouped(memory.object_bytes).c_str(), grouped(memory.pair_bytes).c_str(),
          grouped(memory.pair_count).c_str(), memory.bytes_per_pair());
    print(text, "  %-22s connections %s, in flight %s, ids %s, other %s\n", "",
          grouped(memory.connection_bytes).c_str(), grouped(memory.in_flight_bytes).c_str(),
          grouped(memory.guid_bytes).c_str(),
          grouped(memory.layout_table_bytes + memory.scratch_bytes + memory.validation_bytes)
              .c_str());
}

[[nodiscard]] nlohmann::ordered_json memory_json(const MemoryReport& memory) {
    return {{"object_bytes", memory.object_bytes},
            {"pair_bytes", memory.pair_bytes},
            {"connection_bytes", memory.connection_bytes},
            {"in_flight_bytes", memory.in_flight_bytes},
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
            nlohmann::ordered_json encoded;
            for (std::size_t reason = 0; reason < encode_reason_count; ++reason) {
                encoded[std::string(to_string(static_cast<EncodeReason>(reason)))] =
                    counters.encoded[reason];
            }
            properties.push_back({{"property", property.path},
                                  {"values_sent", counters.values_sent},
                                  {"bits_sent", counters.bits_sent},
                                  {"payload_reuses", counters.payload_reuses},
                                  {"values_reused", counters.values_reused},
                                  {"pieces_built", counters.pieces_built},
                                  {"serializer_calls", counters.serializer_calls},
                                  {"values_encoded", counters.values_encoded()},
                                  {"encoded", encoded}});
        }
        json.push_back({{"class", type.name},
                        {"blocks_sent", type.blocks_sent},
                        {"block_bytes_sent", type.block_bytes_sent},
                        {"payloads_built", type.payloads_built},
                        {"payloads_reused", type.payloads_reused},
                        {"payload_bytes_reused", type.payload_bytes_reused},
                        {"block_misses", misses_json(type.block_misses)},
                        {"properties", properties}});
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

/// Of a server, whether it shares or not.
void add_hits(nlohmann::ordered_json& json, const ReplicationCounters& counters,
              std::uint32_t clients) {
    json["blocks_sent"] = counters.blocks_sent;
    json["block_hits"] = counters.block_hits();
    json["block_misses"] = misses_json(counters.block_misses);
    json["hit_rate"] = hit_rate(counters);
    json["hit_rate_of_fan_out"] = hit_rate_of_fan_out(clients);
    json["hit_share"] = hit_share(counters, clients);
}

/// Of a match with a cap.
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

std::string report(const MatchOptions& options, const MatchResult& result) {
    std::string text = "\nreplayout match, seed " + std::to_string(options.seed) + "\n\n";
    if (!result.is_played) {
        return text + "  NOT PLAYED: " + result.first_difference + "\n";
    }
    report_world(text, options, result);
    report_interest(text, options, result);
    report_network(text, options, result);
    report_pressure(text, options, result);
    report_sharing(text, options, result);
    report_memory(text, result);
    if (result.recorded.has_value() && result.is_recorded()) {
        const ReplayRecorderStats& recorded = result.recorded->stats;
        print(text, "  %-22s %s bytes, of these %s in %s checkpoints\n", "recorded",
              grouped(recorded.bytes_written).c_str(), grouped(recorded.checkpoint_bytes).c_str(),
              grouped(recorded.checkpoints_written).c_str());
    }
    for (const TypeCost& type : result.types) {
        text += "\n";
        for (std::size_t begin = 0; begin < type.table.size();) {
            const std::size_t end = type.table.find('\n', begin);
            text += "  " + printable(type.table.substr(begin, end - begin), 200) + "\n";
            begin = end + 1;
        }
    }
    if (options.is_reporting) {
        text += report_savings(options, result);
    }
    text += "\n  ";
    if (result.is_good(options)) {
        text += "All clients equal the server.\n";
    } else if (!result.first_difference.empty()) {
        text += "NOT EQUAL. First difference: " + printable(result.first_difference) + "\n";
    } else if (!result.is_settled) {
        text += "NOT SETTLED: something was still being sent when time was up.\n";
    } else if (result.quiescent_bytes != 0) {
        text += "NOT QUIET: properties were sent although nothing changed.\n";
    } else if (result.has_twin && !result.is_twin_equal) {
        text += "NOT THE SAME BYTES: " + result.twin_difference + "\n";
    } else {
        text += "NOT THE SAME BYTES: the packets differ where costs are counted\n";
    }
    if (!result.is_recorded()) {
        text += "  NOT RECORDED: " + result.recorded->error + "\n";
    }
    return text;
}

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
