// SPDX-License-Identifier: MIT
//
// What a match came to, and its two forms: one screen for people, JSON for programs.
#pragma once

#include "match/judge/staleness_meter.h"
#include "match/recording/match_recorder.h"
#include "match/report/savings.h"
#include "match/session/match_options.h"
#include "support/report/report_text.h"

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/type_counters.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replayout::match {

/// Times of one server, per tick, in nanoseconds: tick_dispatch and tick_flush, nothing else.
struct ServerTimes {
    std::uint64_t p50_ns = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t total_ns = 0;
};

struct RecordingResult {
    std::string name;
    std::uint32_t server_crc32 = 0;
};

struct PropertyCost {
    std::string path;
    PropertyCounters counters;
    double ns_per_call = 0;  ///< measured behind the match (CallCosts), where it is reported
};

/// What one class cost, for as long as nobody remembers its layout.
struct TypeCost {
    std::string name;
    std::string table;
    std::vector<PropertyCost> properties;
    BlockSavings blocks;
};

struct MatchResult {
    bool is_played = true;  ///< else too few clients came, as first_difference says
    std::uint64_t ticks = 0;
    std::uint64_t objects_spawned = 0;
    std::uint64_t objects_live = 0;
    std::uint64_t sets_applied = 0;
    bool is_settled = false;         ///< everything was delivered after the network had healed
    std::uint64_t settle_ticks = 0;  ///< that this took
    std::uint32_t clients_joined = 0;
    std::uint32_t clients_equal = 0;
    std::uint32_t server_crc32 = 0;  ///< over all recordings, one continuing the other
    std::vector<std::uint32_t> client_crc32;
    std::vector<RecordingResult> recordings;
    std::uint64_t pairs = 0;  ///< of clients and objects, at the end
    /// Of these, those in which the client is to have the object.
    std::uint64_t pairs_relevant = 0;
    // Where interest filters; what has no position has everybody.
    std::uint64_t positioned_spawned = 0;  ///< objects of classes that have a position
    std::uint64_t players_spawned = 0;     ///< of these, those that clients look from
    std::uint64_t positioned_live = 0;     ///< at the end
    std::uint64_t pairs_positioned = 0;    ///< with these
    std::uint64_t pairs_positioned_relevant = 0;
    std::string first_difference;  ///< empty when all are equal
    NetStats stats;                ///< of the server
    MemoryReport memory;           ///< likewise, at the end
    std::vector<TypeCost> types;   ///< empty unless asked for
    std::optional<RecordResult> recorded;
    std::uint64_t packets_digest = 0;
    std::uint64_t quiescent_bytes = 0;
    std::uint64_t quiescent_ticks = 0;
    std::uint64_t allocations_steady = 0;
    std::uint64_t steady_ticks = 0;          ///< ticks that allocations_steady is over
    double play_seconds = 0;                 ///< virtual
    Staleness staleness;                     ///< under a cap, else nothing
    std::uint64_t most_bytes_in_second = 0;  ///< to any client, under a cap, up to the end
    std::uint64_t capped_bytes = 0;          ///< to all clients, while the match was played
    std::uint64_t capped_ticks = 0;          ///< likewise, one for each client and tick
    /// Of these, those before or behind which an object waited for room.
    std::uint64_t waiting_ticks = 0;
    std::uint64_t waiting_bytes = 0;  ///< sent in these
    ServerTimes times;
    std::uint64_t executor_rounds = 0;  ///< of jobs, of both servers, up to the end
    bool has_twin = false;
    bool is_twin_equal = false;
    std::string twin_difference;
    NetStats twin_stats;
    ServerTimes twin_times;
    std::vector<TypeCost> twin_types;  ///< empty unless asked for
    std::optional<Savings> savings;    ///< with --report, if any server shares

    /// One more client. `difference`: where it is not equal, the first one, if that is known.
    void add_client(bool is_joined, bool is_equal, std::uint32_t crc32,
                    const std::string& difference) {
        if (!is_equal && first_difference.empty()) {
            first_difference = "client " + std::to_string(client_crc32.size()) + ": " +
                               (difference.empty() ? "its checksum differs" : difference);
        }
        client_crc32.push_back(crc32);
        clients_joined += is_joined ? 1u : 0u;
        clients_equal += is_equal ? 1u : 0u;
    }

    [[nodiscard]] bool is_converged(const MatchOptions& options) const noexcept {
        return is_settled && clients_equal == options.clients && quiescent_bytes == 0;
    }
    [[nodiscard]] bool is_good(const MatchOptions& options) const noexcept {
        return is_converged(options) && (!has_twin || is_twin_equal) &&
               (!savings || savings->is_same);
    }
    /// Nothing was to be recorded, or all of it was: no matter of who is equal.
    [[nodiscard]] bool is_recorded() const noexcept {
        return !recorded.has_value() || recorded->error.empty();
    }
};

[[nodiscard]] inline double milliseconds_of(std::uint64_t ticks) noexcept {
    return static_cast<double>(ticks) * 1'000.0 / 30.0;
}
/// Of so many bytes in so many ticks of one client each.
[[nodiscard]] inline double bytes_per_second(std::uint64_t bytes, std::uint64_t ticks) noexcept {
    return bench::ratio(bytes, ticks) * 30.0;
}
/// Requires a cap. 1 is all of it.
[[nodiscard]] inline double share_of_cap(const MatchOptions& options,
                                         double bytes_a_second) noexcept {
    return bytes_a_second / static_cast<double>(options.bandwidth_bytes_per_second);
}

[[nodiscard]] std::string report(const MatchOptions& options, const MatchResult& result);
[[nodiscard]] std::string to_json(const MatchOptions& options, const MatchResult& result);

}  // namespace replayout::match
