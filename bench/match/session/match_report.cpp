// SPDX-License-Identifier: MIT
#include "match/session/match_result.h"

#include "match/battle/printable.h"
#include "match/judge/hit_rate.h"
#include "match/report/savings_report.h"
#include "support/report/command_line.h"
#include "support/report/report_text.h"

namespace replayout::match {

using bench::add_row;
using bench::grouped;
using bench::grouped_short;
using bench::hex;
using bench::on_or_off;
using bench::print;
using bench::ratio;

namespace {

/// 87.5 %.
[[nodiscard]] std::string percent(double share, int decimals) {
    return grouped(100.0 * share, decimals) + " %";
}

void report_world(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const ReplicationCounters& counters = result.stats.replication;
    for (const RecordingResult& recording : result.recordings) {
        add_row(text, "recording", printable(recording.name, 60), ", end state ",
                hex(recording.server_crc32, 8));
    }
    add_row(text, "objects", result.objects_spawned, " spawned, ", result.objects_live,
            " live at the end");
    add_row(text, "changes", result.sets_applied, " set, ", counters.properties_changed,
            " found by comparing, in ", result.ticks, " ticks (", grouped(result.play_seconds, 1),
            " s)");
    add_row(text, "objects compared", counters.objects_compared, " times, ",
            counters.objects_skipped, " times left out; push ", on_or_off(options.is_push_based),
            ", quantised ", on_or_off(options.is_quantised));
    add_row(text, "clients", options.clients, ", of which ", result.clients_joined, " joined and ",
            result.clients_equal, " equal");
}

void report_interest(std::string& text, const MatchOptions& options, const MatchResult& result) {
    if (options.interest == MatchInterest::All) {
        return;
    }
    const std::string within = (options.interest == MatchInterest::Grid ? "cells" : "distance") +
                               (" within " + grouped_short(options.radius)) + ": ";
    if (result.positioned_spawned == 0) {
        add_row(text, "interest", within, "no object has a position, so nothing was filtered");
        return;
    }
    add_row(text, "interest", within, "at the end ", result.positioned_live, " of ",
            result.objects_live, " objects have a position;");
    add_row(text, "", "of the ", result.pairs_positioned, " pairs of these and a client ",
            result.pairs_positioned_relevant, " are relevant (",
            percent(ratio(result.pairs_positioned_relevant, result.pairs_positioned), 1), "),");
    if (result.players_spawned == 0) {
        add_row(text, "", "as no object is a player, from where a client could look;");
    }
    const InterestCounters& counters = result.stats.interest;
    add_row(text, "", result.stats.channels_opened, " opened, ", result.stats.channels_closed,
            " closed; ", counters.cells_crossed, " cells crossed, ", counters.pairs_examined,
            " pairs looked at,");
    add_row(text, "", counters.pairs_shown, " made relevant, ", counters.pairs_hidden,
            " irrelevant");
}

void report_network(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const NetStats& stats = result.stats;
    const double bytes_per_tick = ratio(stats.bytes_sent, result.ticks * options.clients);
    add_row(text, "packets", stats.packets_sent, " sent, ", stats.packets_lost, " lost; ",
            grouped(bytes_per_tick, 1), " bytes per client and tick");
    add_row(text, "resends", stats.records_lost, " of ", stats.records_sent,
            " records lost and owed again; ", stats.bunches_resent, " bunches sent again");
    add_row(
        text, "after the last change",
        options.transport == MatchTransport::Loopback ? "the network is healed after" : "it was in",
        " tick ", result.ticks, "; ", result.settle_ticks, " ticks later all has arrived",
        options.bandwidth_bytes_per_second == 0 ? "" : ", under the same cap", ",");
    add_row(text, "", "then ", result.quiescent_bytes, " bytes of properties in ",
            grouped(static_cast<double>(result.quiescent_ticks) / 30.0, 1), " s");
}

void report_cap(std::string& text, const MatchOptions& options, const MatchResult& result) {
    add_row(text, "cap", options.bandwidth_bytes_per_second, " bytes a second and client, ",
            result.most_bytes_in_second, " in any second at most;");
    if (result.play_seconds < 1) {
        add_row(text, "", "how much is used is not told of less than a second");
        return;
    }
    const auto share = [&](double used) {
        return grouped(used, 0) + " (" + percent(share_of_cap(options, used), 1) + ")";
    };
    const std::string used = share(bytes_per_second(result.capped_bytes, result.capped_ticks));
    if (result.waiting_ticks == 0) {
        add_row(text, "", used, " of it used, and nothing ever waited for room in it");
        return;
    }
    add_row(text, "", used, " of it used, ",
            share(bytes_per_second(result.waiting_bytes, result.waiting_ticks)), " in the ",
            percent(ratio(result.waiting_ticks, result.capped_ticks), 1),
            " of the time in which objects waited");
}

void report_staleness(std::string& text, const Staleness& staleness) {
    if (staleness.sample_count == 0) {
        add_row(text, "what clients hold", "not looked at: in no ", ticks_between_looks,
                "th tick was there a client that had joined");
        return;
    }
    add_row(text, "what clients hold", grouped(milliseconds_of(staleness.p50), 0), " ms (median), ",
            grouped(milliseconds_of(staleness.p99), 0), " ms (99 %), ",
            grouped(milliseconds_of(staleness.worst), 0), " ms (worst) out of date;");
    add_row(text, "", "looked at in every ", ticks_between_looks,
            "th tick; what a client does not have yet counts");
}

void report_times(std::string& text, const char* label, const ServerTimes& times) {
    print(text, "  %-22s %8s us a tick (median), %8s us (99 %%); %s ms in all\n", label,
          grouped(static_cast<double>(times.p50_ns) / 1e3, 1).c_str(),
          grouped(static_cast<double>(times.p99_ns) / 1e3, 1).c_str(),
          grouped(static_cast<double>(times.total_ns) / 1e6, 1).c_str());
}

void report_hits(std::string& text, const MatchOptions& options,
                 const ReplicationCounters& counters) {
    add_row(text, "blocks", counters.blocks_sent, " sent; ", counters.block_hits(),
            " of them copied whole from another client's (", percent(hit_rate(counters), 2), ")");
    if (options.clients > 1) {
        add_row(text, "", percent(hit_share(counters, options.clients), 2), " of the ",
                percent(hit_rate_of_fan_out(options.clients), 2),
                " where each goes to all clients once");
    }
    add_row(text, "  why not copied", text_of(counters.block_misses));
}

void report_sharing(std::string& text, const MatchOptions& options, const MatchResult& result) {
    const bool is_on = options.sharing != SharingLevel::Off;
    const NetStats& on = is_on ? result.stats : result.twin_stats;
    const NetStats& off = is_on ? result.twin_stats : result.stats;
    if (is_on || result.has_twin) {
        const ReplicationCounters& counters = on.replication;
        const std::uint64_t values = counters.values_reused + counters.values_encoded;
        add_row(text, "values", counters.properties_sent, " sent; ", counters.values_encoded,
                " encoded, ", counters.values_reused, " copied instead (",
                percent(ratio(counters.values_reused, values), 2), ")");
        report_hits(text, options, counters);
    }
    if (!is_on || result.has_twin) {
        add_row(text, "  without sharing", off.replication.values_encoded, " encoded");
    }
    report_times(text, is_on ? "server, sharing" : "server, not sharing", result.times);
    if (result.has_twin) {
        report_times(text, is_on ? "server, not sharing" : "server, sharing", result.twin_times);
        add_row(text, "twin",
                result.is_twin_equal ? "every packet equal with sharing on and off"
                                     : result.twin_difference);
    }
    if (options.workers > 1) {
        add_row(text, "workers", options.workers, "; ", result.executor_rounds, " rounds of jobs");
    }
    if (result.steady_ticks == 0) {
        add_row(text, "steady allocations",
                "not measured: of the last tenth, no tick is without spawns");
    } else {
        add_row(text, "steady allocations", result.allocations_steady, " in ", result.steady_ticks,
                " ticks");
    }
}

void report_memory(std::string& text, const MatchResult& result) {
    const MemoryReport& memory = result.memory;
    add_row(text, "memory of the server", memory.total_bytes(), " bytes at the end: objects ",
            memory.object_bytes, ", pairs ", memory.pair_bytes, " (", memory.pair_count,
            " pairs of ", grouped(memory.bytes_per_pair(), 1), " bytes),");
    add_row(text, "", "connections ", memory.connection_bytes, ", in flight ",
            memory.in_flight_bytes, ", bundles ", memory.bundle_bytes, ", ids ", memory.guid_bytes,
            ", other ", memory.layout_table_bytes + memory.scratch_bytes + memory.validation_bytes);
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
    if (options.bandwidth_bytes_per_second != 0) {
        report_cap(text, options, result);
        report_staleness(text, result.staleness);
    }
    report_sharing(text, options, result);
    report_memory(text, result);
    if (result.recorded.has_value() && result.is_recorded()) {
        const ReplayRecorderStats& recorded = result.recorded->stats;
        add_row(text, "recorded", recorded.bytes_written, " bytes, of these ",
                recorded.checkpoint_bytes, " in ", recorded.checkpoints_written, " checkpoints");
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

}  // namespace replayout::match
