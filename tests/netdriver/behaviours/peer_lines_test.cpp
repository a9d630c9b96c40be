// SPDX-License-Identifier: MIT
//
// What the other side of behaviours can have logged.
#include <replayout/behaviours/sync_list.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

/// Collects warnings while it lives.
struct LineSpy {
    LineSpy() {
        set_log_handler(
            [](LogLevel level, std::string_view message, void* context) {
                if (level == LogLevel::Warning) {
                    static_cast<LineSpy*>(context)->lines.emplace_back(message);
                }
            },
            this);
    }
    ~LineSpy() { set_log_handler(nullptr, nullptr); }

    std::vector<std::string> lines;
};

TEST_CASE("PeerLog: a client that goes on asking is a few lines in the server's log",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    game.server_manager().player_prefab = nullptr;
    const LogSpy log;
    for (int i = 0; i < 100; ++i) {
        (void)game.client(0).add_player();
        game.tick();
    }
    CHECK(LogSpy::messages().size() >= 10);
    CHECK(LogSpy::messages().size() <= 30);
}

TEST_CASE("PeerLog: a client whose commands fill a collection is a few lines, of its own peer",
          "[behaviours]") {
    struct Hoard : NetworkBehaviour {
        SyncList<std::int32_t> coins;
        void cmd_put() { coins.add(1); }
    };
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto hoard = BehaviourBuilder<Hoard>(types, "Ho\nard")
                               .sync_list<&Hoard::coins>("co\x1bins")
                               .command<&Hoard::cmd_put>("cmd_put")
                               .build();
        REQUIRE(hoard.has_value());
        PrefabOptions options;
        options.limits.array_count_max = 1;
        REQUIRE(types.add_prefab("Hoard", {{*hoard}}, options).has_value());
    });
    game.join_settled();
    NetworkIdentity& hoard = game.spawn(game.types().find("Hoard"), &game.connection(0));
    game.settle();
    LineSpy log;
    for (int i = 0; i < 200; ++i) {
        game.on_client(0, hoard)->component<Hoard>(0).call<&Hoard::cmd_put>();
        game.tick();  // 20 ms
    }
    CHECK(log.lines.size() >= 10);
    CHECK(log.lines.size() <= 60);
    for (const std::string& line : log.lines) {
        CHECK(line.find('\n') == std::string::npos);
        CHECK(line.find('\x1b') == std::string::npos);
    }
    CHECK(log.lines.front().find("Ho\\x0aard.co\\x1bins") != std::string::npos);
}

}  // namespace
}  // namespace replayout::test
