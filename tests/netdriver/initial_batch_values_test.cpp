// SPDX-License-Identifier: MIT
//
// Initial batches of objects that begin with values too large for a packet.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/catch.h"
#include "support/class_game.h"

namespace replayout::test {
namespace {

struct Chest {
    std::uint32_t tick = 0;
    std::string content;
};

[[nodiscard]] Result<const Type*> build_chest(TypeRegistry& registry) {
    return class_builder<Chest>(registry, "Chest")
        .property<&Chest::tick>()
        .property<&Chest::content>()
        .build();
}

}  // namespace

TEST_CASE("Initial batch: is over though an object changes all the time, whatever it begins with",
          "[netdriver][initial_batch]") {
    for (const std::uint32_t first_tick : {0u, 1u}) {  // 0: it begins with the content alone
        for (const std::size_t bytes : {std::size_t{100}, std::size_t{8'000}}) {
            INFO("first tick " << first_tick << ", bytes " << bytes);
            ClassGameOptions options;
            options.layout.limits.string_bytes_max = 60'000;
            ClassGame<Chest> game(build_chest, options);
            const ObjectHandle chest = game.add();
            game.object(chest).tick = first_tick;
            game.object(chest).content.assign(bytes, 'x');
            game.join();
            while (game.driver().connection_count() == 0) {
                game.tick();
            }
            int ticks = 0;
            while (!game.client_driver(0).initial_batch().is_finished && ticks < 100) {
                ++game.object(chest).tick;
                game.tick();
                ++ticks;
            }
            CHECK(ticks < 20);
            CHECK(game.object_on(0, chest).content.size() == bytes);
        }
    }
}

}  // namespace replayout::test
