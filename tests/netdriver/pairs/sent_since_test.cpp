// SPDX-License-Identifier: MIT
//
// A packet is lost, and when the server hears of it, some of what it had went out again since.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace sent_since_test {
namespace {

struct Kite {
    std::int32_t height = 0;
    std::string colour;
    std::vector<std::int32_t> knots;
};

[[nodiscard]] Result<const Type*> build_kite(TypeRegistry& registry) {
    return class_builder<Kite>(registry, "Kite")
        .property<&Kite::height>()
        .property<&Kite::colour>()
        .property<&Kite::knots>()
        .build();
}

/// Clients 100 ms away, of which the first loses what is sent in some ticks.
class WindyGame {
  public:
    static constexpr std::uint32_t client_count = 3;

    WindyGame() : game(build_kite, options()) {
        kite = game.add();
        for (std::uint32_t i = 0; i < client_count; ++i) {
            game.join();
        }
        REQUIRE(game.settle());
        act([&] { game.object(kite).knots.assign(4, 1); });
        for (int tick = 0; tick < 30; ++tick) {
            act([&] { ++game.object(kite).height; });
        }
    }

    void act(const std::function<void()>& change) {
        change();
        game.tick();
    }
    void act_lost(const std::function<void()>& change) {
        set_loss(1);
        act(change);
        set_loss(0);
    }
    /// How many blocks of the next ticks, in which the height changes, are not from bundles.
    [[nodiscard]] std::uint64_t own_blocks() {
        const ReplicationCounters before = game.driver().stats().replication;
        constexpr std::uint64_t tick_count = 30;
        for (std::uint64_t tick = 0; tick < tick_count; ++tick) {
            act([&] { ++game.object(kite).height; });
        }
        const ReplicationCounters& after = game.driver().stats().replication;
        return after.blocks_sent - before.blocks_sent -
               (after.bundles_copied - before.bundles_copied);
    }
    void check_clients() {
        REQUIRE(game.settle());
        for (std::uint32_t i = 0; i < client_count; ++i) {
            const Kite& copy = game.object_on(i, kite);
            CHECK(copy.height == game.object(kite).height);
            CHECK(copy.colour == game.object(kite).colour);
            CHECK(copy.knots == game.object(kite).knots);
        }
    }

    ClassGame<Kite> game;
    ObjectHandle kite;

  private:
    [[nodiscard]] static ClassGameOptions options() {
        ClassGameOptions options;
        options.link.latency_ms = 50;
        options.is_validating = false;
        return options;
    }
    void set_loss(double loss) {
        LinkSettings link = options().link;
        link.loss = loss;
        game.network().set_settings(PeerId{1}, game.peer_of(0), link);
    }
};

}  // namespace

TEST_CASE("Sent since: of a lost block nothing is owed that changed again in each tick",
          "[netdriver][pairs]") {
    WindyGame windy;
    windy.act_lost([&] { ++windy.game.object(windy.kite).height; });
    CHECK(windy.own_blocks() == 0);
    CHECK(windy.game.driver().stats().records_lost > 0);
    windy.check_clients();
}

TEST_CASE("Sent since: what did not change again is owed, once", "[netdriver][pairs]") {
    WindyGame windy;
    SECTION("a text") {
        windy.act_lost([&] {
            ++windy.game.object(windy.kite).height;
            windy.game.object(windy.kite).colour = "red";
        });
    }
    SECTION("an element of an array of which another one changed since") {
        windy.act_lost([&] { windy.game.object(windy.kite).knots[2] = 7; });
        windy.act([&] { windy.game.object(windy.kite).knots[1] = 8; });
    }
    CHECK(windy.own_blocks() == 1);
    windy.check_clients();
}

TEST_CASE("Sent since: what changed again is owed when that is lost, too", "[netdriver][pairs]") {
    WindyGame windy;
    windy.act_lost([&] { windy.game.object(windy.kite).colour = "red"; });
    windy.act_lost([&] { windy.game.object(windy.kite).colour = "blue"; });
    CHECK(windy.own_blocks() == 1);
    windy.check_clients();
    // Back to what the client holds.
    windy.act_lost([&] { windy.game.object(windy.kite).colour = "red"; });
    windy.act([&] { windy.game.object(windy.kite).colour = "blue"; });
    windy.check_clients();
}

}  // namespace sent_since_test
}  // namespace replayout::test
