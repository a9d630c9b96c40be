// SPDX-License-Identifier: MIT
//
// Recordings of classes that have changed since.
#include <cstdint>

#include "support/checks/catch.h"
#include "support/hostile/replay_screen.h"
#include "support/types/test_layout.h"
#include "support/types/versioned_pawn.h"
#include "support/worlds/class_game.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

template <typename Pawn>
struct PawnScreen final : TypedWorld<Pawn> {
    PawnScreen(std::span<const std::byte> bytes, const RepLayout& layout, LayoutPolicy policy)
        : TypedWorld<Pawn>(50'001), source(bytes), player(settings(policy), source, *this) {
        REQUIRE(player.driver().add_layout(layout));
    }
    static NetDriverSettings settings(LayoutPolicy policy) {
        NetDriverSettings result;
        result.layout_policy = policy;
        return result;
    }

    BytesSource source;
    ReplayPlayer player;
};

template <typename Recorded, typename Shown>
void check_versions(BuildType build_recorded, BuildType build_shown) {
    ClassGame<Recorded> game(build_recorded);
    const ObjectHandle pawn = game.add();
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 100;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(game.driver().start_recording(recorder));
    fill(game.object(pawn));
    game.object(pawn).target = {};
    for (std::int32_t i = 0; i < 50; ++i) {
        game.tick([&] { game.object(pawn).health = i; });
    }
    game.driver().stop_recording();

    const TestLayout layout(build_shown);
    PawnScreen<Shown> refusing(sink.bytes(), *layout, LayoutPolicy::Refuse);
    CHECK(refusing.player.open() == ReplayError::LayoutMismatch);
    PawnScreen<Shown> screen(sink.bytes(), *layout, LayoutPolicy::SkipUnknown);
    REQUIRE(screen.player.open() == ReplayError::None);
    for (const std::int64_t ms : {0, 1'510, 400}) {
        REQUIRE(screen.player.seek(NetTime::from_milliseconds(1'020 + ms)) == ReplayError::None);
        Recorded expected = game.object(pawn);
        expected.health = static_cast<std::int32_t>(std::min<std::int64_t>(ms / 20, 49));
        REQUIRE(screen.object_count() == 1);
        check_common(expected, screen.first());
    }
    REQUIRE(screen.player.advance(screen.player.end_time()) == ReplayError::None);
    check_common(game.object(pawn), screen.first());
}

}  // namespace

TEST_CASE("Replay: a recording of older classes shows what both versions have",
          "[netdriver][replay]") {
    check_versions<older::Pawn, newer::Pawn>(older::build, newer::build);
    check_versions<newer::Pawn, older::Pawn>(newer::build, older::build);
}

}  // namespace replayout::test
