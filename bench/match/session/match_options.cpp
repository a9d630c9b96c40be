// SPDX-License-Identifier: MIT
#include "match/session/match_options.h"

#include <replayout/netdriver/net_config.h>

#include "match/session/option_rules.h"
#include "support/report/command_line.h"

#include <cstdio>
#include <string>

namespace replayout::match {

using bench::add_choice;
using bench::add_number;
using bench::add_switch;
using bench::Choice;
using bench::number;

namespace {

// Every client is a whole driver in this process; a thousand of them are about a gigabyte.
constexpr std::uint32_t clients_max = 1'024;

// Nine hours. The battle is made as a whole before it is played.
constexpr std::uint32_t ticks_max = 1'000'000;

constexpr std::uint32_t workers_max = 16;

constexpr Choice<MatchInterest> interests[] = {{"all", MatchInterest::All},
                                               {"grid", MatchInterest::Grid},
                                               {"distance", MatchInterest::Distance}};

constexpr Choice<MatchTransport> transports[] = {{"loopback", MatchTransport::Loopback},
                                                 {"udp", MatchTransport::Udp},
                                                 {"enet", MatchTransport::Enet},
                                                 {"websocket", MatchTransport::WebSocket}};

/// What a server takes for one: NetConfig knows.
[[nodiscard]] CLI::Validator cap() {
    const auto check = [](const std::string& text) {
        NetConfig config;
        const bool is_number = number(0, 4e9)(text).empty() &&
                               CLI::detail::lexical_cast(text, config.bytes_per_second_max);
        return is_number && config.validate()
                   ? std::string()
                   : text + " is neither 0 nor from 1,800 to 1,000,000,000";
    };
    return CLI::Validator(check, "");
}

void add_network_options(CLI::App& app, MatchOptions& options) {
    add_number(app, "--loss", options.loss, 0, 1, "probability that a packet is lost, each way");
    add_number(app, "--burst", options.burst_packets, 0, 1e6,
               "mean length of a loss burst in packets; 0: losses are independent");
    add_number(app, "--duplicate", options.duplicate, 0, 1,
               "probability that a packet arrives twice");
    add_number(app, "--reorder", options.reorder, 0, 1, "probability that a packet is overtaken");
    add_number(app, "--latency-ms", options.latency_ms, 0, 5e3, "one-way delay in milliseconds");
    add_number(app, "--jitter-ms", options.jitter_ms, 0, 5e3,
               "the delay varies by this much, either way");
    app.add_option("--bandwidth", options.bandwidth_bytes_per_second,
                   "bytes a second of each client's link, each way, and the server's cap for it; "
                   "1,800 to 1,000,000,000; 0: neither. It stays until all has arrived. The report "
                   "then tells how much of it was used, and how old what clients hold is")
        ->check(cap())
        ->capture_default_str();
}

void add_match_options(CLI::App& app, MatchOptions& options) {
    add_number(app, "--seed", options.seed, 0, 9e18, "of the network and of the battle");
    add_number(app, "--ticks", options.ticks, 0, ticks_max, "ticks to play, 30 a second; 0: all");
    add_number(app, "--join-over", options.join_over_s, 0, 1e6,
               "seconds over which the clients join");
    add_number(app, "--churn", options.churn_s, 0, 1e6,
               "seconds after which a client leaves and comes back as a new one, in turn, every "
               "other one without a goodbye; 0: none does");
    add_number(app, "--owners", options.owners_s, 0, 1e6,
               "seconds after which a tenth of all objects are given other owners; 0: never");
}

void add_interest_options(CLI::App& app, MatchOptions& options) {
    add_choice(app, "--interest", options.interest, interests,
               "who has what. all: everybody has all; distance: of what has a position, what is "
               "within --radius of the client's player; grid: what is in cells within that of "
               "its player's. Clients take turns with the players of the recordings, and are "
               "then to hold what they may see, and nothing else");
    add_number(app, "--radius", options.radius, 0.001, 1e9,
               "with --interest grid or distance: how far a client sees, in the units of the "
               "recording; the arena of the built-in battle is 128 wide");
}

void add_switches(CLI::App& app, MatchOptions& options) {
    bench::add_sharing(app, options.sharing);
    add_switch(
        app, "--twin", options.has_twin,
        "run a second server with --sharing off beside the first, or on if that is off, compare "
        "every packet, and report the times of both");
    add_switch(app, "--push", options.is_push_based,
               "every field is push based: it is marked where the recording sets it, and compared "
               "nowhere else; the packets are the same");
    add_switch(
        app, "--quantise", options.is_quantised,
        "vec3f travels in hundredths, quatf by its smallest three; a client is then to hold, "
        "bit by bit, what the server's value becomes on that way (quantised and back), and "
        "the checksums are over that; fields that were never set likewise");
}

void add_worker_options(CLI::App& app, MatchOptions& options) {
    add_number(app, "--workers", options.workers, 1, workers_max,
               "threads that flushes of the server are split over, and those of the second "
               "one; the packets are the same; not with --report");
    add_number(app, "--executor-work-min", options.executor_work_min, 0, 4e9,
               "with --workers: a step of a flush with less work, counted in objects, is not "
               "split; 0: all are");
}

void add_wire_options(CLI::App& app, MatchOptions& options) {
    add_choice(app, "--transport", options.transport, transports,
               "loopback: a simulated network within this process; udp, enet, websocket: "
               "sockets, of this process or, with --serve and --connect, of several");
    app.add_option("--serve", options.serve,
                   "ADDRESS:PORT: this process is the server alone. It waits until --clients have "
                   "joined, plays, and at the end has each tell what it holds");
    app.add_option("--connect", options.connect,
                   "ADDRESS:PORT of a server: this process is --clients clients of it; TRACE, "
                   "--seed, --ticks, --push and --quantise are those of the server");
    add_number(app, "--speed", options.speed, 0, 1e4,
               "with --serve: how fast the match goes, 1 is 30 ticks a second; 0: each tick "
               "when all clients have had the one before");
    add_number(app, "--timeout", options.timeout_s, 0.1, 86'400,
               "with --serve and --connect: seconds to wait for the others to come, and at the "
               "end to answer; either gives up who is silent for as long, or for ten");
}

void add_output_options(CLI::App& app, MatchOptions& options) {
    app.add_flag("--report", options.is_reporting,
                 "tell what sharing saved, in time, calls of serializers and bytes, of the whole, "
                 "by class and by property: plays the match once more, to count; the times are "
                 "those of the first playing");
    add_number(app, "--report-rows", options.report_rows, 1, 1e6,
               "with --report: so many classes, and properties of each, the most saved first; "
               "--json has all")
        ->needs("--report");
    app.add_flag("--counters", options.is_counting_types,
                 "count what each property of each class cost and why, and print it as a table; "
                 "times are a little longer then, unless with --report");
    app.add_flag("--quiet", options.is_quiet,
                 "no progress and no report, unless something differs");
    app.add_option("--json", options.json_path, "write the figures to this file; - is stdout");
}

void add_recording_options(CLI::App& app, MatchOptions& options) {
    app.add_option("--record", options.record_path,
                   "record the match into this file, all that the server replicates");
    add_number(app, "--checkpoints", options.checkpoints_s, 0, 4e6,
               "with --record: seconds from one checkpoint to the next; 0: there is only one")
        ->needs("--record");
    app.add_option("--play", options.play_path,
                   "no match, but what was recorded of one: says what it shows at its end, and of "
                   "a built-in battle, or with the traces that were played, whether that is right");
    app.add_option(
           "--seek", options.seek_s,
           "with --play: seconds from the start of the recording, instead of its end; beyond "
           "that nothing can be shown")
        ->check(number(0, 1e6))
        ->needs("--play");
    app.add_option("--seeks", options.seeks,
                   "with --play: so many places at random, by --seed, each sought from another one "
                   "and compared with what the server of the match had then")
        ->check(number(1, 1e6))
        ->needs("--play")
        ->excludes("--seek");
}

}  // namespace

const char* name_of(MatchTransport transport) noexcept {
    return bench::word_of<MatchTransport>(transports, transport);
}

const char* name_of(MatchInterest interest) noexcept {
    return bench::word_of<MatchInterest>(interests, interest);
}

int parse_options(int argc, char** argv, MatchOptions& options) {
    CLI::App app{
        "Replicates a recorded match from one server to many clients over a simulated network, "
        "proves "
        "that every client ends equal to the server, and reports what shared serialization saved.\n"
        "Exit status: 0 all equal, 1 some client differs or is missing, 2 bad arguments, or "
        "a file that cannot be read or written.",
        "replayout_match"};
    app.add_option("TRACE", options.traces,
                   "recordings (.rtr.gz), played side by side; none: a built-in battle");
    add_number(app, "--clients", options.clients, 1, clients_max, "number of clients");
    add_network_options(app, options);
    add_match_options(app, options);
    add_interest_options(app, options);
    add_switches(app, options);
    add_worker_options(app, options);
    add_wire_options(app, options);
    add_output_options(app, options);
    add_recording_options(app, options);
    if (const int status = bench::parse_command_line(app, argc, argv); status != bench::go_on) {
        return status;
    }
    if (const std::string fault = option_fault(app, options); !fault.empty()) {
        std::fprintf(stderr, "%s\n", fault.c_str());
        return bench::exit_unusable;
    }
    if (options.transport != MatchTransport::Loopback) {
        options.loss = 0;
        options.latency_ms = 0;
        options.jitter_ms = 0;
    }
    return bench::go_on;
}

}  // namespace replayout::match
