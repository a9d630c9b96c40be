// SPDX-License-Identifier: MIT
//
// A game of crates, which are as large as what is in them, for tests of caps and of who goes first.
#pragma once

#include <replayout/netdriver/net_rates.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/worlds/class_game.h"

namespace replayout::test {

struct Crate {
    std::uint32_t tick = 0;
    std::string content;
};

[[nodiscard]] inline Result<const Type*> build_crate(TypeRegistry& registry) {
    return class_builder<Crate>(registry, "Crate")
        .property<&Crate::tick>()
        .property<&Crate::content>()
        .build();
}

/// With so many bytes that are those of that tick.
inline void fill(Crate& crate, std::uint32_t tick, std::size_t bytes) {
    crate.tick = tick;
    crate.content.assign(bytes, static_cast<char>('a' + tick % 26));
}

using CrateGame = ClassGame<Crate>;

inline void set_cap(CrateGame& game, std::uint32_t bytes_per_second, std::size_t client = 0) {
    game.driver().rates().set_bytes_per_second_max(CrateGame::peer_of(client), bytes_per_second);
}

}  // namespace replayout::test
