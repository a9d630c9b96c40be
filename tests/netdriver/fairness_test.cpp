// SPDX-License-Identifier: MIT
//
// Who is sent how soon, when there is more to send than a connection can take.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/class_game.h"

namespace replayout::test {
namespace {

struct Crate {
    std::uint32_t tick = 0;
    std::string content;
};

[[nodiscard]] Result<const Type*> build_crate(TypeRegistry& registry) {
    return class_builder<Crate>(registry, "Crate")
        .property<&Crate::tick>()
        .property<&Crate::content>()
        .build();
}

[[nodiscard]] ClassGameOptions slow_answers() {
    ClassGameOptions options;
    options.link.latency_ms = 100;
    return options;
}

void fill(Crate& crate, std::uint32_t tick, std::size_t bytes) {
    crate.tick = tick;
    crate.content.assign(bytes, static_cast<char>('a' + tick % 26));
}

}  // namespace

TEST_CASE("Unreal conformance 10: while the window is full objects take turns, and none starves",
          "[netdriver][fairness]") {
    ClassGame<Crate> game(build_crate, slow_answers());
    game.join();
    std::vector<ObjectHandle> crates;
    for (int i = 0; i < 600; ++i) {
        crates.push_back(game.add());
    }
    // Two crates to a packet, 224 packets to a window, a window to a round trip of eleven ticks:
    // sixty of these objects are far more than the connection takes, in every tick.
    std::uint32_t oldest = 0;
    for (std::uint32_t tick = 1; tick <= 300; ++tick) {
        for (const ObjectHandle crate : crates) {
            fill(game.object(crate), tick, 500);
        }
        game.tick();
        for (const ObjectHandle crate : crates) {
            const Crate* seen = game.find_on(0, crate);
            if (tick > 100) {
                REQUIRE(seen != nullptr);
                oldest = std::max(oldest, tick - seen->tick);
            }
        }
    }
    // A turn of all takes two windows at most; then half a round trip, and what was sent before.
    CHECK(oldest <= 3 * 11);
    CHECK(oldest > 6);
}

}  // namespace replayout::test
