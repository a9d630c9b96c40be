// SPDX-License-Identifier: MIT
//
// A client that is owed all that changed, and nothing else, is sent the whole run of bundles at
// once. A server that validates its pairs sends bundle by bundle: both send the same packets.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace whole_runs_test {
namespace {

struct Cart {
    std::uint32_t way = 0;
    std::uint32_t load = 0;
    std::string label;
};

[[nodiscard]] Result<const Type*> build_cart(TypeRegistry& registry) {
    return class_builder<Cart>(registry, "Cart")
        .property<&Cart::way>()
        .property<&Cart::load>()
        .property<&Cart::label>()
        .build();
}

struct Played {
    std::vector<Bytes> packets;  ///< of the server, in order
    std::uint64_t bundles_copied = 0;
};

[[nodiscard]] Played play(std::uint64_t seed, bool is_validating) {
    ClassGameOptions options;
    options.seed = seed;
    options.is_validating = is_validating;
    options.config.packet_bytes_max = 256;
    options.link.latency_ms = 40;
    options.link.loss = 0.01;
    ClassGame<Cart> game(build_cart, options);
    Played played;
    game.server_transport().set_script([&](Bytes& datagram) {
        played.packets.push_back(datagram);
        return true;
    });
    SeededRandom random(seed);
    std::vector<ObjectHandle> carts;
    for (int i = 0; i < 40; ++i) {
        carts.push_back(game.add());
    }
    for (int i = 0; i < 6; ++i) {
        game.join();
    }
    for (std::uint32_t tick = 0; tick < 400; ++tick) {
        if (random.below(40) == 0) {
            carts.push_back(game.add());
        }
        if (random.below(40) == 0) {
            game.remove(carts.front());
            carts.erase(carts.begin());
        }
        for (const ObjectHandle cart : carts) {
            game.object(cart).way += random.below(2);
            game.object(cart).load += random.below(20) == 0 ? 1u : 0u;
        }
        if (random.below(10) == 0) {
            game.object(carts.back()).label.assign(random.below(100), 'l');
        }
        game.tick();
    }
    played.bundles_copied = game.driver().stats().replication.bundles_copied;
    REQUIRE(game.settle());
    for (std::size_t client = 0; client < game.client_count(); ++client) {
        for (const ObjectHandle cart : carts) {
            CHECK(game.object_on(client, cart).way == game.object(cart).way);
            CHECK(game.object_on(client, cart).load == game.object(cart).load);
            CHECK(game.object_on(client, cart).label == game.object(cart).label);
        }
    }
    return played;
}

}  // namespace

TEST_CASE(
    "Whole runs: clients get the same packets as bundle by bundle, whatever is lost and comes",
    "[netdriver][bundles]") {
    const std::uint64_t seed = run_seed();
    for (std::uint64_t round = 0; round < 3; ++round) {
        INFO("seed " << seed * 10 + round);
        const Played fast = play(seed * 10 + round, false);
        const Played checked = play(seed * 10 + round, true);
        CHECK(fast.packets == checked.packets);
        CHECK(fast.bundles_copied == checked.bundles_copied);
        CHECK(fast.bundles_copied > 0);
    }
}

}  // namespace whole_runs_test
}  // namespace replayout::test
