// SPDX-License-Identifier: MIT
//
// What the command line of replayout_match says.
#pragma once

#include <replayout/sharing_level.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replayout::match {

/// Which clients are to have an object of which the recording says where it is.
enum class MatchInterest : std::uint8_t {
    All,
    Grid,      ///< those whose player is a few cells away; a cell is half of the radius
    Distance,  ///< those whose player is within the radius
};

/// As --interest has it.
[[nodiscard]] const char* name_of(MatchInterest interest) noexcept;

/// What carries the packets.
enum class MatchTransport : std::uint8_t {
    Loopback,  ///< the simulated network, within this process
    Udp,
    Enet,
    WebSocket,
};

/// As --transport has it.
[[nodiscard]] const char* name_of(MatchTransport transport) noexcept;

struct MatchOptions {
    std::vector<std::string> traces;  ///< none: the built-in battle
    std::uint32_t clients = 64;
    double loss = 0.02;
    double burst_packets = 0;
    double duplicate = 0;
    double reorder = 0;
    double latency_ms = 40;
    double jitter_ms = 10;
    /// Of each client's link, each way, and the server's cap for it, which NetConfig takes; 0:
    /// none.
    std::uint32_t bandwidth_bytes_per_second = 0;
    std::uint64_t seed = 1;
    std::uint64_t ticks = 0;  ///< 0: all
    double join_over_s = 0;
    double churn_s = 0;   ///< how often one client leaves and comes back; 0: never
    double owners_s = 0;  ///< how often objects change their owners; 0: nobody owns any
    MatchInterest interest = MatchInterest::All;
    double radius = 30;  ///< of interest, in the units of the recording
    SharingLevel sharing = SharingLevel::Bundles;
    bool is_push_based = false;
    bool is_quantised = false;
    /// Run a second server beside the first, without sharing, or with it where the first has none:
    /// its packets are compared byte for byte, and its times stand beside.
    bool has_twin = true;
    bool is_counting_types = false;  ///< a table of what each property cost
    bool is_reporting = false;       ///< what sharing saved, by class and property
    std::uint32_t report_rows = 10;  ///< of each table of that
    std::uint32_t workers = 1;       ///< threads that flushes of the servers are split over
    /// What has less work is not split; NetDriverSettings.
    std::uint32_t executor_work_min = 4'096;
    std::string record_path;  ///< empty: nothing is recorded
    double checkpoints_s = 10;
    /// Not a match, but what this file has of one; empty: a match.
    std::string play_path;
    std::optional<double> seek_s;  ///< from its start; none: its end
    std::uint64_t seeks = 0;       ///< random ones, each compared with the match
    MatchTransport transport = MatchTransport::Loopback;
    std::string serve;      ///< the address that this process serves alone; empty: it does not
    std::string connect;    ///< the server of all clients of this process; empty: there is none
    double speed = 0;       ///< of a server alone: 1 is 30 ticks a second; 0: as clients keep up
    double timeout_s = 30;  ///< of either, for the other to come, and at the end to answer
    bool is_quiet = false;
    std::string json_path;
};

/// 0 (--help) or 2 (bad arguments): what the process is to exit with. -1: go on.
[[nodiscard]] int parse_options(int argc, char** argv, MatchOptions& options);

}  // namespace replayout::match
