// SPDX-License-Identifier: MIT
//
// Keyed arrays between drivers: large ones whose log of deletions no longer reaches back, and what
// binding the references in them may cost.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/class_game.h"

namespace replayout::test {
namespace {

struct Line {
    std::uint32_t id = 0;
    std::string text;

    friend bool operator==(const Line&, const Line&) = default;
};

struct Chronicle {
    std::vector<Line> lines;
};

[[nodiscard]] Result<const Type*> build_chronicle(TypeRegistry& registry) {
    REQUIRE(struct_builder<Line>(registry, "Line")
                .property<&Line::id>()
                .property<&Line::text>()
                .build());
    return class_builder<Chronicle>(registry, "Chronicle")
        .property<&Chronicle::lines>()
        .keyed_by<&Line::id>(ArrayOrder::Kept)
        .build();
}

/// A server's chronicle, larger than any message.
class ChronicleGame {
  public:
    ChronicleGame() : game(build_chronicle), handle(game.add()) {
        while (lines().size() < 1'500) {
            lines().push_back({next_++, std::string(60, 'x')});
        }
    }

    /// So many lines go, ten a tick, and as many come.
    void turn_over(std::uint32_t count) {
        game.tick();
        for (std::uint32_t i = 0; i < count; i += 10) {
            lines().erase(lines().begin(), lines().begin() + 10);
            for (int j = 0; j < 10; ++j) {
                lines().push_back({next_++, std::string(60, 'y')});
            }
            game.tick();
        }
    }

    void check_settled() {
        REQUIRE(game.settle());
        CHECK(game.object_on(0, handle).lines == lines());
        CHECK(game.driver().stats().replication.values_over_limit == 0);
    }

    [[nodiscard]] std::vector<Line>& lines() { return game.object(handle).lines; }

    ClassGame<Chronicle> game;
    ObjectHandle handle;

  private:
    std::uint32_t next_ = 1;
};

}  // namespace

TEST_CASE("Keyed arrays: who joins late has a large one, however much was removed before",
          "[netdriver][keyed_arrays]") {
    for (const std::uint32_t deletions : {250u, 260u}) {
        INFO(deletions << " deletions");
        ChronicleGame chronicle;
        chronicle.turn_over(deletions);
        chronicle.game.join();
        chronicle.check_settled();
    }
}

TEST_CASE("Keyed arrays: who was cut off while more was removed than is remembered has a large one",
          "[netdriver][keyed_arrays]") {
    ChronicleGame chronicle;
    chronicle.game.join();
    chronicle.check_settled();
    LinkSettings dead;
    dead.loss = 1.0;
    chronicle.game.network().set_settings(dead);
    chronicle.turn_over(260);
    chronicle.game.network().set_settings(LinkSettings());
    chronicle.check_settled();
}

TEST_CASE("Keyed arrays: a full set in parts ends right whatever is lost",
          "[netdriver][keyed_arrays]") {
    ClassGameOptions options;
    options.link.loss = 0.05;
    ClassGame<Chronicle> game(build_chronicle, options);
    const ObjectHandle handle = game.add();
    std::vector<Line>& lines = game.object(handle).lines;
    std::uint32_t next = 1;
    while (lines.size() < 300) {
        lines.push_back({next++, std::string(60, 'x')});
    }
    game.join();
    for (int i = 0; i < 60; ++i) {
        lines.erase(lines.begin(), lines.begin() + 20);
        while (lines.size() < 300) {
            lines.push_back({next++, std::string(60, 'y')});
        }
        game.tick();
    }
    REQUIRE(game.settle());
    CHECK(game.object_on(0, handle).lines == lines);
}

}  // namespace replayout::test
