// SPDX-License-Identifier: MIT
#include "match/session/match_options.h"

#include "bench/parsed_words.h"
#include "match/guests/match_sockets.h"
#include "support/checks/catch.h"

#include <replayout/netdriver/net_driver_settings.h>

#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace replayout::match;

namespace {

[[nodiscard]] int parse(std::initializer_list<const char*> arguments, MatchOptions& options) {
    return replayout::test::parse_words(parse_options, {arguments.begin(), arguments.end()},
                                        options);
}

[[nodiscard]] int status_of(std::initializer_list<const char*> arguments) {
    MatchOptions options;
    return parse(arguments, options);
}

/// Of arguments with spaces between them, and none within.
[[nodiscard]] int parse_line(const std::string& line, MatchOptions& options) {
    std::istringstream words(line);
    return replayout::test::parse_words(parse_options,
                                        {std::istream_iterator<std::string>(words), {}}, options);
}

}  // namespace

TEST_CASE("MatchOptions: what is not said has the documented value", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({}, options) == -1);
    CHECK(options.clients == 64);
    CHECK(options.loss == 0.02);
    CHECK(options.latency_ms == 40);
    CHECK(options.sharing == replayout::SharingLevel::Bundles);
    CHECK_FALSE(options.is_push_based);
    CHECK_FALSE(options.is_quantised);
    CHECK(options.interest == MatchInterest::All);
    CHECK_FALSE(options.is_reporting);
    CHECK(options.report_rows == 10);
    CHECK(options.workers == 1);
    CHECK(options.executor_work_min == replayout::NetDriverSettings().executor_work_min);
    CHECK(options.traces.empty());
    CHECK(options.transport == MatchTransport::Loopback);
    CHECK(options.serve.empty());
    CHECK(options.connect.empty());
    CHECK(options.speed == 0);
    CHECK(options.timeout_s == 30);
}

TEST_CASE("MatchOptions: recordings are made of matches, and played alone",
          "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"a.rtr.gz", "--record", "x.replay", "--checkpoints", "2.5"}, options) == -1);
    CHECK(options.record_path == "x.replay");
    CHECK(options.checkpoints_s == 2.5);
    options = {};
    CHECK(parse({"--play", "x.replay", "--seek", "12.5", "--quiet"}, options) == -1);
    CHECK(options.play_path == "x.replay");
    CHECK(options.seek_s == 12.5);
    options = {};
    CHECK(parse({"a.rtr.gz", "--play", "x", "--seeks", "100", "--seed", "3", "--json", "-"},
                options) == -1);
    CHECK(options.seeks == 100);
    CHECK(options.seed == 3);
    options = {};
    CHECK(parse({"--play", "x"}, options) == -1);
    CHECK_FALSE(options.seek_s.has_value());
    for (const std::initializer_list<const char*> refused :
         {std::initializer_list<const char*>{"--seek", "1"},
          {"--seeks", "3"},
          {"--checkpoints", "3"},
          {"--record", "x", "--seek", "1"},
          {"--record", "x", "--report"},
          {"--record", "x", "--checkpoints", "-1"},
          {"--play", "x", "--seek", "1", "--seeks", "3"},
          {"--play", "x", "--seek", "-1"},
          {"--play", "x", "--seeks", "0"},
          {"--play", "x", "--record", "y"},
          {"--play", "x", "--checkpoints", "3"},
          {"--play", "x", "--clients", "3"},
          {"--play", "x", "--loss", "0.1"},
          {"--play", "x", "--ticks", "10"},
          {"--play", "x", "--sharing", "off"},
          {"--play", "x", "--push", "on"},
          {"--play", "x", "--quantise", "on"},
          {"--play", "x", "--interest", "grid"},
          {"--play", "x", "--report"},
          {"--play", "x", "--workers", "2"}}) {
        options = {};
        CHECK(parse(refused, options) == 2);
    }
}

TEST_CASE("MatchOptions: an option is no value of another one", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--json", "--quiet"}, options) == 2);
    CHECK(parse({"--record", "--json", "x.json"}, options) == 2);
    CHECK(parse({"--ticks", "--quiet"}, options) == 2);
}

TEST_CASE("MatchOptions: a recording and the figures are two files", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--record", "x", "--json", "x"}, options) == 2);
    CHECK(parse({"--record", "x", "--json", "./folder/../x"}, options) == 2);
    CHECK(parse({"--record", "x", "--json", "./x"}, options) == 2);
    CHECK(parse({"--record", "x", "--json", "y"}, options) == -1);
    options = {};
    // A recording has no stdout: that is a file of this name.
    CHECK(parse({"--record", "-", "--json", "-"}, options) == -1);
}

TEST_CASE("MatchOptions: every option arrives where it belongs", "[bench][match_options]") {
    MatchOptions options;
    const int status = parse_line(
        "a.rtr.gz b.rtr.gz --clients 3 --loss 0.5 --burst 4 --duplicate 0.1 "
        "--reorder 0.2 --latency-ms 7 --jitter-ms 2 --bandwidth 9000 --seed 11 "
        "--ticks 12 --join-over 1.5 --sharing off --twin off --json x.json --push on "
        "--quantise on --churn 2.5 --owners 0.5 --interest grid --radius 7.5 "
        "--workers 4 --executor-work-min 0 --quiet",
        options);
    CHECK(status == -1);
    CHECK(options.traces == std::vector<std::string>{"a.rtr.gz", "b.rtr.gz"});
    CHECK(options.clients == 3);
    CHECK(options.loss == 0.5);
    CHECK(options.burst_packets == 4);
    CHECK(options.duplicate == 0.1);
    CHECK(options.reorder == 0.2);
    CHECK(options.latency_ms == 7);
    CHECK(options.jitter_ms == 2);
    CHECK(options.bandwidth_bytes_per_second == 9'000);
    CHECK(options.seed == 11);
    CHECK(options.ticks == 12);
    CHECK(options.join_over_s == 1.5);
    CHECK(options.churn_s == 2.5);
    CHECK(options.owners_s == 0.5);
    CHECK(options.interest == MatchInterest::Grid);
    CHECK(options.radius == 7.5);
    CHECK(options.sharing == replayout::SharingLevel::Off);
    CHECK_FALSE(options.has_twin);
    CHECK(options.is_push_based);
    CHECK(options.is_quantised);
    CHECK(options.workers == 4);
    CHECK(options.executor_work_min == 0);
    CHECK(options.json_path == "x.json");
    CHECK(options.is_quiet);
}

TEST_CASE("MatchOptions: a cap is what a server takes for one, else it is refused",
          "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--bandwidth", "0"}, options) == -1);
    CHECK(options.bandwidth_bytes_per_second == 0);
    CHECK(parse({"--bandwidth", "1800"}, options) == -1);
    CHECK(options.bandwidth_bytes_per_second == 1'800);
    CHECK(parse({"--bandwidth", "1000000000"}, options) == -1);
    CHECK(options.bandwidth_bytes_per_second == 1'000'000'000);
    for (const char* refused : {"-1", "1", "100", "1799", "1800.5", "1000000001", "4294967296",
                                "1e30", "nan", "010", "", "x"}) {
        INFO(refused);
        CHECK(parse({"--bandwidth", refused}, options) == 2);
    }
}

TEST_CASE("MatchOptions: a radius needs an interest that has one", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--radius", "20"}, options) == 2);
    CHECK(parse({"--radius", "20", "--interest", "all"}, options) == 2);
    CHECK(parse({"--radius", "20", "--interest", "grid"}, options) == -1);
    CHECK(parse({"--interest", "distance", "--radius", "20"}, options) == -1);
    CHECK(parse({"--interest", "distance", "--radius", "-1"}, options) == 2);
}

TEST_CASE("MatchOptions: rows of a report need a report", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--report-rows", "3"}, options) == 2);
    CHECK(parse({"--report", "--report-rows", "0"}, options) == 2);
    CHECK(parse({"--report", "--report-rows", "3"}, options) == -1);
    CHECK(options.is_reporting);
    CHECK(options.report_rows == 3);
}

TEST_CASE("MatchOptions: a report is of one worker", "[bench][match_options]") {
    MatchOptions options;
    CHECK(parse({"--report", "--workers", "2"}, options) == 2);
    CHECK(parse({"--report", "--workers", "1"}, options) == -1);
    CHECK(parse({"--workers", "0"}, options) == 2);
    CHECK(parse({"--workers", "17"}, options) == 2);
}

namespace {

/// One that this build has, or nothing.
[[nodiscard]] const char* transport_over_sockets() {
    for (const MatchTransport transport :
         {MatchTransport::Udp, MatchTransport::Enet, MatchTransport::WebSocket}) {
        if (is_built(transport)) {
            return name_of(transport);
        }
    }
    WARN("left out: this build has no transport over sockets");
    return nullptr;
}

}  // namespace

TEST_CASE("MatchOptions: each transport that was built has its name", "[bench][match_options]") {
    for (const MatchTransport transport : {MatchTransport::Loopback, MatchTransport::Udp,
                                           MatchTransport::Enet, MatchTransport::WebSocket}) {
        MatchOptions options;
        CAPTURE(name_of(transport));
        CHECK(parse({"--transport", name_of(transport)}, options) ==
              (is_built(transport) ? -1 : 2));
        CHECK(options.transport == transport);
    }
    MatchOptions options;
    CHECK(parse({"--transport", "tcp"}, options) == 2);
}

TEST_CASE("MatchOptions: a server and its clients are told where they meet",
          "[bench][match_options]") {
    const char* transport = transport_over_sockets();
    if (transport == nullptr) {
        return;
    }
    MatchOptions server;
    CHECK(parse({"--transport", transport, "--serve", "0.0.0.0:7777", "--speed", "2.5", "--timeout",
                 "9", "--clients", "5", "--interest", "grid", "--owners", "1", "--bandwidth",
                 "64000"},
                server) == -1);
    CHECK(server.serve == "0.0.0.0:7777");
    CHECK(server.speed == 2.5);
    CHECK(server.timeout_s == 9);
    // A real network loses what it likes.
    CHECK(server.loss == 0);
    CHECK(server.latency_ms == 0);
    CHECK(server.jitter_ms == 0);
    MatchOptions clients;
    CHECK(parse({"--transport", transport, "--connect", "[::1]:7777", "--timeout", "9", "--seed",
                 "3", "--ticks", "7", "--push", "on", "--quantise", "on"},
                clients) == -1);
    CHECK(clients.connect == "[::1]:7777");
    MatchOptions here;
    CHECK(parse({"--transport", transport, "--churn", "2", "--join-over", "1", "--report"}, here) ==
          -1);
}

TEST_CASE("MatchOptions: what is said of wires and makes no sense together is refused",
          "[bench][match_options]") {
    CHECK(status_of({"--serve", "127.0.0.1:1"}) == 2);
    CHECK(status_of({"--connect", "127.0.0.1:1"}) == 2);
    CHECK(status_of({"--speed", "2"}) == 2);
    CHECK(status_of({"--timeout", "2"}) == 2);
    const char* transport = transport_over_sockets();
    if (transport == nullptr) {
        return;
    }
    CHECK(status_of({"--transport", transport, "--serve", "a:1", "--connect", "a:1"}) == 2);
    CHECK(status_of({"--transport", transport, "--serve", ""}) == 2);
    CHECK(status_of({"--transport", transport, "--connect", ""}) == 2);
    CHECK(status_of({"--transport", transport, "--speed", "2"}) == 2);
    for (const char* option :
         {"--loss", "--burst", "--duplicate", "--reorder", "--latency-ms", "--jitter-ms"}) {
        CAPTURE(option);
        CHECK(status_of({"--transport", transport, option, "0"}) == 2);
        CHECK(status_of({option, "0"}) == -1);
    }
    for (const char* option : {"--join-over", "--churn"}) {
        CAPTURE(option);
        CHECK(status_of({"--transport", transport, "--serve", "a:1", option, "1"}) == 2);
    }
    CHECK(status_of({"--transport", transport, "--serve", "a:1", "--report"}) == 2);
    for (const char* side : {"--serve", "--connect"}) {
        CHECK(status_of({"--transport", transport, side, "a:1", "--record", "x"}) == 2);
        CHECK(status_of({"--transport", transport, side, "a:1", "--play", "x"}) == 2);
    }
    for (const char* option :
         {"--bandwidth", "--join-over", "--churn", "--owners", "--speed", "--executor-work-min"}) {
        CAPTURE(option);
        CHECK(status_of({"--transport", transport, "--connect", "a:1", option, "0"}) == 2);
    }
    for (const char* option : {"--sharing", "--twin"}) {
        CAPTURE(option);
        CHECK(status_of({"--transport", transport, "--connect", "a:1", option, "off"}) == 2);
    }
    for (const char* option : {"--report", "--counters"}) {
        CAPTURE(option);
        CHECK(status_of({"--transport", transport, "--connect", "a:1", option}) == 2);
    }
    CHECK(status_of({"--transport", transport, "--connect", "a:1", "--workers", "2"}) == 2);
    CHECK(status_of({"--transport", transport, "--connect", "a:1", "--interest", "grid"}) == 2);
    for (const char* refused : {"-1", "nan", "1e9"}) {
        CAPTURE(refused);
        CHECK(status_of({"--transport", transport, "--serve", "a:1", "--speed", refused}) == 2);
        CHECK(status_of({"--transport", transport, "--serve", "a:1", "--timeout", refused}) == 2);
    }
    CHECK(status_of({"--transport", transport, "--serve", "a:1", "--timeout", "0"}) == 2);
}

TEST_CASE("MatchOptions: what makes no sense is refused with status 2", "[bench][match_options]") {
    CHECK(status_of({"--clients", "0"}) == 2);
    CHECK(status_of({"--clients", "x"}) == 2);
    CHECK(status_of({"--loss", "1.5"}) == 2);
    CHECK(status_of({"--loss", "nan"}) == 2);
    CHECK(status_of({"--jitter-ms", "-1"}) == 2);
    CHECK(status_of({"--sharing", "maybe"}) == 2);
    CHECK(status_of({"--no-such-option"}) == 2);
    CHECK(status_of({"--ticks", "-5"}) == 2);
    CHECK(status_of({"--ticks", "1000001"}) == 2);
    CHECK(status_of({"--clients", "010"}) == 2);
    CHECK(status_of({"--json", ""}) == 2);
    CHECK(status_of({"--help"}) == 0);
}
