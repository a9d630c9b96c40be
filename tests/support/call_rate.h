// SPDX-License-Identifier: MIT
//
// How often an owner tells its server what it set: as often as the server takes its calls, and not
// a moment sooner. SyncVars and collections promise the same.
//
//     ArenaGame game(options_of_999_calls(options, 1'998, 1'332));
//     game.join();
//     game.settle();
//     check_999_calls_a_second(game, game.types().pawn(), set, is_set);
#pragma once

#include <cstdint>
#include <vector>

#include "support/arena_game.h"
#include "support/catch.h"

namespace replayout::test {

/// Of a server that takes so many calls a second, of which an owner uses half for what it set, and
/// so many of one function, of which it uses three quarters: 999, by the smaller of both.
[[nodiscard]] inline ArenaOptions options_of_999_calls(
    ArenaOptions options, std::uint32_t calls_per_second_max,
    std::uint32_t function_calls_per_second_max) {
    options.tick_ms = 1;
    options.config.calls_per_second_max = calls_per_second_max;
    options.config.function_calls_per_second_max = function_calls_per_second_max;
    return options;
}

/// Client 0 has twelve such objects, and sets something of all of them in one tick: `set` is given
/// each of them as the client has it, `is_set` as the server has it in the end.
template <typename Set, typename IsSet>
void check_999_calls_a_second(ArenaGame& game, const NetworkPrefab& prefab, Set set, IsSet is_set) {
    std::vector<NetworkIdentity*> objects;
    for (int i = 0; i < 12; ++i) {
        objects.push_back(&game.spawn(prefab, &game.connection(0)));
    }
    game.settle();
    game.tick(500);
    for (const NetworkIdentity* object : objects) {
        NetworkIdentity* shown = game.on_client(0, *object);
        REQUIRE(shown != nullptr);
        set(*shown);
    }
    const std::uint64_t before = game.client(0).driver().stats().calls_sent;
    std::vector<std::uint64_t> sent;
    for (int i = 0; i < 4; ++i) {
        game.tick();
        sent.push_back(game.client(0).driver().stats().calls_sent - before);
    }
    // What it saved up, eight, and one; then one each 1,001 microseconds.
    CHECK(sent == std::vector<std::uint64_t>{9, 9, 10, 11});
    game.settle();
    game.tick(100);
    for (const NetworkIdentity* object : objects) {
        CHECK(is_set(*object));
    }
}

}  // namespace replayout::test
