// SPDX-License-Identifier: MIT
#include <replayout/netdriver/peer_log.h>

#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"

namespace replayout::test {
namespace {

constexpr PeerId noisy_peer{7};

TEST_CASE("PeerLog: ten lines a second, and the next one tells how many were left out",
          "[netdriver][peer_log]") {
    PeerLog lines;
    const LogSpy log;
    for (int i = 0; i < 25; ++i) {
        lines.write(LogLevel::Error, noisy_peer, "again", NetTime::from_milliseconds(1'000 + i));
    }
    CHECK(LogSpy::messages().size() == 10);
    lines.write(LogLevel::Error, noisy_peer, "later", NetTime::from_milliseconds(2'100));
    CHECK(LogSpy::messages().back() == "later (15 lines like this were left out before)");
    lines.write(LogLevel::Error, noisy_peer, "later", NetTime::from_milliseconds(2'101));
    CHECK(LogSpy::messages().back() == "later");
}

TEST_CASE("PeerLog: what does not print is escaped", "[netdriver][peer_log]") {
    PeerLog lines;
    const LogSpy log;
    lines.write(LogLevel::Error, noisy_peer, "class \"a\nb\x1b[31m\\\"", {});
    CHECK(LogSpy::messages().back() == "class \"a\\x0ab\\x1b[31m\\x5c\"");
}

TEST_CASE("PeerLog: lines that print as they are count as all others do", "[netdriver][peer_log]") {
    PeerLog lines;
    const LogSpy log;
    for (int i = 0; i < 10; ++i) {
        lines.write(LogLevel::Error, noisy_peer, "\\", {});
        lines.write_printable(LogLevel::Error, noisy_peer, "\\", {});
    }
    REQUIRE(LogSpy::messages().size() == 10);
    CHECK(LogSpy::messages()[8] == "\\x5c");
    CHECK(LogSpy::messages()[9] == "\\");
    lines.write_printable(LogLevel::Error, noisy_peer, "\\", NetTime::from_milliseconds(1'000));
    CHECK(LogSpy::messages().back() == "\\ (10 lines like this were left out before)");
}

TEST_CASE("PeerLog: one who floods it silences nobody else", "[netdriver][peer_log]") {
    PeerLog lines;
    const LogSpy log;
    for (int i = 0; i < 1'000; ++i) {
        lines.write(LogLevel::Error, noisy_peer, "again", {});
    }
    lines.write(LogLevel::Error, PeerId{8}, "mine", {});
    CHECK(LogSpy::messages().back() == "mine");
}

TEST_CASE("PeerLog: any number of peers are forty lines a second, and every one is counted",
          "[netdriver][peer_log]") {
    PeerLog lines;
    const LogSpy log;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        lines.write(LogLevel::Error, PeerId{i}, "again", {});
    }
    CHECK(LogSpy::messages().size() == 40);
    // Those who are remembered tell of themselves, the first of all others.
    LogSpy::messages().clear();
    lines.write(LogLevel::Error, noisy_peer, "later", NetTime::from_milliseconds(1'000));
    CHECK(LogSpy::messages().back() == "later (959 lines like this were left out before)");
    lines.write(LogLevel::Error, PeerId{999}, "later", NetTime::from_milliseconds(1'000));
    CHECK(LogSpy::messages().back() == "later (1 lines like this were left out before)");
}

TEST_CASE("PeerLog: a stranger takes the place of who was silent longest, if only by a second",
          "[netdriver][peer_log]") {
    constexpr std::uint64_t silent = 5;
    PeerLog lines;
    const LogSpy log;
    for (const std::uint64_t number : {std::uint64_t{1}, silent}) {
        lines.write(LogLevel::Error, PeerId{number}, "again", NetTime::from_milliseconds(9'000));
    }
    const NetTime now = NetTime::from_milliseconds(10'000);
    for (int i = 0; i < 15; ++i) {
        lines.write(LogLevel::Error, PeerId{1}, "again", now);
    }
    for (std::uint64_t number = 2; number <= PeerLog::peers_max; ++number) {
        if (number != silent) {
            lines.write(LogLevel::Error, PeerId{number}, "again", now);
        }
    }
    lines.write(LogLevel::Error, PeerId{99}, "new", now);
    // Of whose place is taken others tell what was left out; the first one is known, and tells his.
    const NetTime later = NetTime::from_milliseconds(11'000);
    lines.write(LogLevel::Error, PeerId{2}, "later", later);
    CHECK(LogSpy::messages().back() == "later");
    lines.write(LogLevel::Error, PeerId{1}, "later", later);
    CHECK(LogSpy::messages().back() == "later (5 lines like this were left out before)");
}

TEST_CASE("PeerLog: a text that is too long is cut, and shows it", "[netdriver][peer_log]") {
    constexpr std::size_t most = PeerLog::text_bytes_max;
    PeerLog lines;
    const LogSpy log;
    for (const std::size_t size : {most - 1, most, most + 1, most + 2, 2 * most}) {
        INFO("bytes " << size);
        lines.write(LogLevel::Error, noisy_peer, std::string(size, 'x'), {});
        const bool is_whole = size <= most;
        CHECK(LogSpy::messages().back() ==
              (is_whole ? std::string(size, 'x') : std::string(most, 'x') + "..."));
    }
}

TEST_CASE("PeerLog: its clock may begin anywhere, and each peer has its lines",
          "[netdriver][peer_log]") {
    for (const std::int64_t second : {-1'000'000, -5, -2, -1, 0, 1, 1'000'000}) {
        INFO("second " << second);
        PeerLog lines;
        const LogSpy log;
        for (std::size_t seconds = 1; seconds <= 2; ++seconds) {
            const auto passed = static_cast<std::int64_t>(seconds);
            const NetTime now = NetTime::from_milliseconds((second + passed) * 1'000);
            for (int i = 0; i < 25; ++i) {
                lines.write(LogLevel::Error, noisy_peer, "again", now);
                lines.write(LogLevel::Error, PeerId{8}, "me too", now);
                lines.write(LogLevel::Error, PeerId{0}, "nobody", now);
            }
            CHECK(LogSpy::messages().size() == 30 * seconds);
        }
    }
}

}  // namespace
}  // namespace replayout::test
