// SPDX-License-Identifier: MIT
//
// What a server keeps for a client that does not answer while thousands of objects go at once.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Speck {
    std::uint32_t beat = 0;
};

[[nodiscard]] Result<const Type*> build_speck(TypeRegistry& registry) {
    return class_builder<Speck>(registry, "Speck").property<&Speck::beat>().build();
}

class CrowdGame {
  public:
    static constexpr std::uint32_t speck_count = 20'000;

    CrowdGame() : game(build_speck, options()) {
        game.join();
        for (std::uint32_t i = 0; i < speck_count; ++i) {
            specks.push_back(game.add());
        }
        REQUIRE(game.settle());
        REQUIRE(game.object_count_on(0) == speck_count);
    }

    void silence(bool is_silent) {
        LinkSettings link = options().link;
        link.loss = is_silent ? 1.0 : 0.0;
        game.network().set_settings(game.peer_of(0), PeerId{1}, link);
    }
    [[nodiscard]] std::size_t kept_bytes() {
        const MemoryReport report = game.driver().memory_report();
        return report.pair_bytes + report.in_flight_bytes + report.connection_bytes;
    }

    ClassGame<Speck> game;
    std::vector<ObjectHandle> specks;

  private:
    [[nodiscard]] static ClassGameOptions options() {
        ClassGameOptions options;
        options.link.latency_ms = 20;
        options.is_validating = false;
        return options;
    }
};

}  // namespace

TEST_CASE("Waiting closes: 20,000 objects that go at once take few bytes each, and go in the end",
          "[netdriver][channels][memory]") {
    CrowdGame crowd;
    crowd.silence(true);
    std::size_t bytes_per_close = 16;
    std::size_t before = crowd.kept_bytes();
    SECTION("the game removes them") {
        for (const ObjectHandle speck : crowd.specks) {
            crowd.game.remove(speck);
        }
    }
    SECTION("the game hides them") {
        for (const ObjectHandle speck : crowd.specks) {
            crowd.game.driver().interest().set_relevant_for(crowd.game.peer_of(0),
                                                            crowd.game.id_of(speck), false);
        }
    }
    SECTION("they were dormant") {
        crowd.silence(false);
        for (const ObjectHandle speck : crowd.specks) {
            crowd.game.driver().set_dormancy(crowd.game.id_of(speck), NetDormancy::DormantAll);
        }
        REQUIRE(crowd.game.settle());
        crowd.silence(true);
        before = crowd.kept_bytes();
        for (const ObjectHandle speck : crowd.specks) {
            crowd.game.remove(speck);
        }
        bytes_per_close = 400;
    }
    std::size_t most = 0;
    for (int tick = 0; tick < 30; ++tick) {
        crowd.game.tick();
        most = std::max(most, crowd.kept_bytes());
    }
    // Some 3,000 closes are under way, in a ring of 4,096 slots of 64 bytes; those of objects that
    // were dormant are bunches of their own.
    const std::size_t under_way = 3'000 * 150;
    CAPTURE(before, most, (most - before) / CrowdGame::speck_count);
    CHECK(most - before < under_way + CrowdGame::speck_count * bytes_per_close);
    crowd.silence(false);
    REQUIRE(crowd.game.settle());
    CHECK(crowd.game.object_count_on(0) == 0);
}

}  // namespace replayout::test
