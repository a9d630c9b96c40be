// SPDX-License-Identifier: MIT
//
// replayout_match as whoever types it has it: what it exits with, and what it says of why.
#include "bench/temporary_file.h"
#include "match/guests/match_sockets.h"
#include "support/checks/catch.h"
#include "support/checks/child_process.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace replayout::test {
namespace {

struct Outcome {
    int status = -1;
    std::string said;  // on stderr
};

/// To its end.
[[nodiscard]] Outcome run_match(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), REPLAYOUT_MATCH_PROGRAM);
    ChildProcess program(arguments);
    const int status = program.wait(std::chrono::seconds(60));
    return {status, program.said()};
}

}  // namespace

TEST_CASE("Match program: a recording that cannot be written is no client that differs",
          "[bench][match_process]") {
    const Outcome refused = run_match(
        {"--ticks", "30", "--clients", "1", "--quiet", "--record", "no/such/folder/x.replay"});
    CHECK(refused.status == 2);
    CHECK(refused.said.starts_with("no/such/folder/x.replay: cannot be "));
    if (!std::filesystem::is_character_file("/dev/full")) {
        WARN("left out: here is no /dev/full");
        return;
    }
    const Outcome full =
        run_match({"--ticks", "30", "--clients", "1", "--quiet", "--record", "/dev/full"});
    CHECK(full.status == 2);
    CHECK(full.said.starts_with("/dev/full: could not be written whole ("));
}

TEST_CASE("Match program: beyond the end of a recording there is nothing to show",
          "[bench][match_process]") {
    const TemporaryFile file("match.replay");
    const std::string& path = file.path;
    REQUIRE(run_match({"--ticks", "30", "--clients", "1", "--quiet", "--record", path}).status ==
            0);
    CHECK(run_match({"--play", path, "--seek", "0.5"}).status == 0);
    const Outcome beyond = run_match({"--play", path, "--seek", "100"});
    CHECK(beyond.status == 2);
    CHECK(beyond.said.find(": --seek 100 is beyond its end, 1.") != std::string::npos);
}

TEST_CASE("Match program: a server that nobody comes to says so", "[bench][match_process]") {
    for (const match::MatchTransport transport :
         {match::MatchTransport::Udp, match::MatchTransport::Enet,
          match::MatchTransport::WebSocket}) {
        if (!match::listen_at(transport, "127.0.0.1:0")) {
            continue;  // the tests of wires say which are left out
        }
        // With figures on stdout the report is on stderr.
        const Outcome alone =
            run_match({"--transport", match::name_of(transport), "--serve", "127.0.0.1:0",
                       "--clients", "2", "--timeout", "0.2", "--quiet", "--json", "-"});
        CHECK(alone.status == 1);
        CHECK(alone.said.find("NOT PLAYED: nobody came within 0.2 s") != std::string::npos);
        CHECK(alone.said.find("NOT EQUAL") == std::string::npos);
    }
}

}  // namespace replayout::test
