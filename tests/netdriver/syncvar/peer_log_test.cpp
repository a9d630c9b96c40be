// SPDX-License-Identifier: MIT
#include "peer_log.h"

#include <string>
#include <vector>

#include "support/arena_game.h"
#include "support/catch.h"
#include "support/log_spy.h"

namespace replayout::test {
namespace {

TEST_CASE("PeerLog: ten lines a second, and the next one tells how many were left out",
          "[syncvar]") {
    syncvar::detail::PeerLog lines;
    const LogSpy log;
    for (int i = 0; i < 25; ++i) {
        lines.write(LogLevel::Error, "again", NetTime::from_milliseconds(1'000 + i));
    }
    CHECK(LogSpy::messages().size() == 10);
    lines.write(LogLevel::Error, "later", NetTime::from_milliseconds(2'100));
    CHECK(LogSpy::messages().back() == "later (15 lines like this were left out before)");
    lines.write(LogLevel::Error, "later", NetTime::from_milliseconds(2'101));
    CHECK(LogSpy::messages().back() == "later");
}

TEST_CASE("PeerLog: what does not print is escaped", "[syncvar]") {
    syncvar::detail::PeerLog lines;
    const LogSpy log;
    lines.write(LogLevel::Error, "class \"a\nb\x1b[31m\\\x7f\xc3\xa9\"", {});
    CHECK(LogSpy::messages().back() == "class \"a\\x0ab\\x1b[31m\\x5c\\x7f\\xc3\\xa9\"");
}

TEST_CASE("PeerLog: a client that goes on asking is a few lines in the server's log", "[syncvar]") {
    ArenaGame game;
    game.join();
    game.settle();
    game.server_manager().player_prefab = nullptr;
    const LogSpy log;
    for (int i = 0; i < 100; ++i) {
        (void)game.client(0).add_player();
        game.tick();
    }
    CHECK(LogSpy::messages().size() >= 10);
    CHECK(LogSpy::messages().size() <= 30);
}

}  // namespace
}  // namespace replayout::test
