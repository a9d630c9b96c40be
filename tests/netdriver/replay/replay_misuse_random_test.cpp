// SPDX-License-Identifier: MIT
//
// Mistakes of every kind, at random, around recordings: players and recorders out of turn, twice,
// from within the world and of other drivers, and archetypes that cannot be. Each is refused, and
// what is played and recorded is what it would be without them.
#include <replayout/netdriver/replay_player.h>
#include <replayout/netdriver/replay_recorder.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

namespace replayout::test {
namespace {

/// A world that calls back into whoever plays it.
class MeddlingWorld final : public NetWorld {
  public:
    explicit MeddlingWorld(std::uint64_t first_handle) : world(first_handle) {}

    void* object_memory(ObjectHandle handle) override {
        meddle();
        return world.object_memory(handle);
    }
    ObjectHandle spawn(const SpawnInfo& info) override {
        meddle();
        return world.spawn(info);
    }
    void despawn(ObjectHandle handle, ChannelCloseReason reason) override {
        meddle();
        world.despawn(handle, reason);
    }
    void peer_joined(PeerId) override { meddle(); }
    void peer_left(PeerId, CloseReason) override { meddle(); }

    TestWorld world;
    std::function<void()> act;

  private:
    void meddle() {
        if (act && !std::exchange(is_meddling_, true)) {
            act();
            is_meddling_ = false;
        }
    }

    bool is_meddling_ = false;
};

struct MeddledScreen {
    explicit MeddledScreen(std::span<const std::byte> recording)
        : source(recording), world(5'000'000), player(settings(), source, world) {
        TestSchema::get().add_to(player.driver());
    }

    [[nodiscard]] static NetDriverSettings settings() {
        NetDriverSettings result;
        result.may_leave_out_texts = true;
        return result;
    }
    [[nodiscard]] std::string text() { return text_of_world(player.driver(), world.world); }

    BytesSource source;
    MeddlingWorld world;
    ReplayPlayer player;
};

using PlayerMistake = std::function<void(ReplayPlayer&, SeededRandom&)>;

/// Mistakes with a player that is not open yet, or is called from within its world.
[[nodiscard]] const std::vector<PlayerMistake>& out_of_turn() {
    static const std::vector<PlayerMistake> all = {
        [](ReplayPlayer& p, SeededRandom& r) {
            CHECK(p.seek(NetTime::from_milliseconds(r.below(500))) == ReplayError::Misused);
        },
        [](ReplayPlayer& p, SeededRandom& r) {
            CHECK(p.advance(NetTime::from_milliseconds(r.below(500))) == ReplayError::Misused);
        },
        [](ReplayPlayer& p, SeededRandom& r) { (void)p.checkpoint_time(1'000 + r.below(1'000)); },
    };
    return all;
}

/// At any time: with the driver of a player, which plays and does nothing else.
[[nodiscard]] const std::vector<PlayerMistake>& at_any_time() {
    static const std::vector<PlayerMistake> all = {
        [](ReplayPlayer& p, SeededRandom&) { (void)p.driver().listen(); },
        [](ReplayPlayer& p, SeededRandom&) { (void)p.driver().connect(PeerId{9}, NetTime()); },
        [](ReplayPlayer& p, SeededRandom&) {
            (void)p.driver().add_object(TestSchema::get().pawn(), ObjectHandle{3});
        },
        [](ReplayPlayer& p, SeededRandom& r) {
            p.driver().remove_object({r.below(5), r.below(3)});
        },
        [](ReplayPlayer& p, SeededRandom& r) {
            p.driver().mark_object_dirty({r.below(5), r.below(3)});
        },
        [](ReplayPlayer& p, SeededRandom& r) {
            p.driver().set_owner({r.below(5), 1}, PeerId{9});
        },
        [](ReplayPlayer& p, SeededRandom&) { p.driver().stop_recording(); },
        [](ReplayPlayer& p, SeededRandom&) {
            ReplayMemory sink;
            ReplayRecorder recorder(sink);
            CHECK_FALSE(p.driver().start_recording(recorder));
        },
        [](ReplayPlayer& p, SeededRandom& r) { (void)p.checkpoint_time(1'000 + r.below(1'000)); },
        [](ReplayPlayer& p, SeededRandom&) {
            CHECK_FALSE(p.driver().add_archetype(ArchetypeId{1}, TestSchema::get().pawn()));
        },
    };
    return all;
}

}  // namespace

TEST_CASE("Misuse: of players at random, before open() and while they play, none changes a picture",
          "[netdriver][replay][misuse][random]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        const Tape tape(static_cast<std::int32_t>(seed));
        const Bytes recording = tape.bytes();
        const Refusals refusals;
        MeddledScreen screen(recording);
        for (int i = 0; i < 20; ++i) {
            random.pick(out_of_turn())(screen.player, random);
        }
        const ReplayError opened = screen.player.open();
        INFO(refusals.last());
        REQUIRE(opened == ReplayError::None);
        CHECK(screen.player.open() == ReplayError::Misused);
        screen.world.act = [&] {
            CHECK(screen.player.open() == ReplayError::Misused);
            random.pick(out_of_turn())(screen.player, random);
            random.pick(at_any_time())(screen.player, random);
        };
        for (int i = 0; i < 60; ++i) {
            auto entry = tape.texts.begin();
            std::advance(entry, random.below(static_cast<std::uint32_t>(tape.texts.size())));
            random.pick(at_any_time())(screen.player, random);
            REQUIRE(screen.player.seek(entry->first) == ReplayError::None);
            random.pick(at_any_time())(screen.player, random);
            INFO("at " << entry->first.microseconds);
            REQUIRE(screen.text() == entry->second);
        }
        CHECK(refusals.sentences().size() >= (Refusals::are_told ? 60u : 0u));
    }
}

TEST_CASE("Misuse: of recorders at random, none changes a byte of a recording",
          "[netdriver][replay][misuse][random]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        Bytes recordings[2];
        const Refusals refusals;
        for (const bool is_mistaken : {false, true}) {
            SeededRandom random(seed);
            NetFixture net;
            const ObjectHandle pawn = net.add_pawn();
            NetDriver& server = net.server_driver();
            ReplayMemory sink;
            ReplayRecorderSettings settings;
            settings.checkpoint_ms = 60;
            ReplayRecorder recorder(sink, settings);
            ReplayMemory other_sink;
            ReplayRecorder other(other_sink);
            TestWorld idle_world(1);
            NetDriver idle(NetDriverSettings(), net.network().endpoint(PeerId{77}), idle_world);
            const std::vector<std::function<void()>> mistakes = {
                [&] { CHECK_FALSE(server.start_recording(other)); },
                [&] { CHECK_FALSE(server.start_recording(recorder)); },
                [&] { CHECK_FALSE(idle.start_recording(other)); },
                [&] { CHECK_FALSE(idle.start_recording(recorder)); },
                [&] { idle.stop_recording(); },
                [&] { other.request_checkpoint(); },
                [&] {
                    CHECK_FALSE(server.add_archetype(ArchetypeId{1}, TestSchema::get().pawn()));
                },
                [&] {
                    CHECK_FALSE(server.add_archetype(ArchetypeId{0}, TestSchema::get().pawn()));
                },
                [&] { CHECK_FALSE(server.add_layout(TestSchema::get().pawn())); },
                [&] { CHECK_FALSE(idle.add_archetype(ArchetypeId{7}, TestSchema::get().pawn())); },
            };
            REQUIRE(server.start_recording(recorder));
            for (std::int32_t i = 0; i < 12; ++i) {
                net.tick([&] { net.pawn(pawn).health = i; });
                for (int k = 0; k < 3; ++k) {
                    const auto& mistake = random.pick(mistakes);
                    if (is_mistaken) {
                        mistake();
                    }
                }
            }
            server.stop_recording();
            if (is_mistaken) {
                server.stop_recording();
                CHECK_FALSE(server.start_recording(recorder));  // it is for one recording
            }
            CHECK(recorder.error() == ReplayError::None);
            CHECK(other_sink.bytes().empty());
            recordings[is_mistaken ? 1 : 0] = Bytes(sink.bytes().begin(), sink.bytes().end());
        }
        REQUIRE(recordings[0] == recordings[1]);
    }
}

}  // namespace replayout::test
