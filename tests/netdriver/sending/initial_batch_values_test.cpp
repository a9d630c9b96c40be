// SPDX-License-Identifier: MIT
//
// Initial batches of objects that begin with values too large for a packet.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Chest {
    std::uint32_t tick = 0;
    std::string content;
};

struct Wagon {
    std::string cargo;
    std::string papers;
};

[[nodiscard]] Result<const Type*> build_wagon(TypeRegistry& registry) {
    return class_builder<Wagon>(registry, "Wagon")
        .property<&Wagon::cargo>()
        .property<&Wagon::papers>()
        .build();
}

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

TEST_CASE("Initial batch: waits for what an object began with, whatever it is to wait for besides",
          "[netdriver][initial_batch]") {
    constexpr std::size_t large = 50'000;
    constexpr std::size_t small = 10;
    std::size_t cases_of_both = 0;
    for (std::uint32_t ticks_before = 1; ticks_before < 20; ++ticks_before) {
        INFO("other ticks before " << ticks_before);
        ClassGameOptions options;
        options.layout.limits.string_bytes_max = large;
        options.config.bytes_per_second_max = 200'000;
        ClassGame<Wagon> game(build_wagon, options);
        ObjectHandle last;
        for (int i = 0; i < 6; ++i) {
            last = game.add();
            game.object(last).cargo.assign(large, 'c');
            game.object(last).papers.assign(small, 'p');
        }
        game.join();
        // Of the last one the cargo waits for those before it, and then the papers for it as well.
        std::uint32_t ticks = 0;
        while (!game.client_driver(0).initial_batch().is_finished && ticks < 500) {
            if (ticks == ticks_before) {
                const Wagon* wagon = game.find_on(0, last);
                cases_of_both += wagon != nullptr && wagon->papers.size() == small ? 1u : 0u;
                game.object(last).papers.assign(large, 'P');
            }
            game.tick();
            ++ticks;
        }
        REQUIRE(game.client_driver(0).initial_batch().is_finished);
        CHECK(game.object_on(0, last).cargo.size() == large);
    }
    CHECK(cases_of_both > 0);
}

}  // namespace replayout::test
