// SPDX-License-Identifier: MIT
//
// How often an owner tells its server what it set: as often as the server takes updates, and not a
// moment sooner. SyncVars and collections promise the same.
//
//     ArenaGame game(options_of_1000_updates(options));
//     game.join();
//     game.settle();
//     check_1000_updates_a_second(game, game.types().pawn(), set, is_set);
#pragma once

#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {

/// Options of a server that takes 1,000 updates a second, 16 of them at once, and next to no other
/// calls, which count apart.
[[nodiscard]] inline ArenaOptions options_of_1000_updates(ArenaOptions options) {
    options.tick_ms = 1;
    options.config.client_updates_per_second_max = 1'000;
    options.config.client_updates_burst_max = 16;
    options.config.calls_per_second_max = 1;
    options.config.function_calls_per_second_max = 1;
    return options;
}

/// Client 0 has twelve such objects, and sets something of all of them in one tick: `set` is given
/// each of them as the client has it, `is_set` as the server has it in the end.
template <typename Set, typename IsSet>
void check_1000_updates_a_second(ArenaGame& game, const NetworkPrefab& prefab, Set set,
                                 IsSet is_set) {
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
    // What it saved up, but for the half that is for what goes ahead of calls; then one each
    // millisecond.
    CHECK(sent == std::vector<std::uint64_t>{8, 9, 10, 11});
    game.settle();
    game.tick(100);
    for (const NetworkIdentity* object : objects) {
        CHECK(is_set(*object));
    }
}

}  // namespace replayout::test
