// SPDX-License-Identifier: MIT
//
// From one checkpoint to the next, of recordings whose every packet was written by hand: what
// becomes of objects that are shown already, of what waits, and of an update that is under way.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_recording.h"
#include "support/hostile/packet_forge.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

#include "replay_format.h"

namespace replayout::test {
namespace {

struct ForgedPacket {
    std::vector<Bunch> bunches;
    Bytes blocks;
};

/// A recording of checkpoints alone, a millisecond from one to the next.
[[nodiscard]] Bytes recording_of(const std::vector<std::vector<ForgedPacket>>& checkpoints) {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const std::size_t first = forgery.find(ReplayChunkKind::Checkpoint);
    std::int64_t time = forgery.time_of(first);
    forgery.chunks.erase(forgery.chunks.begin() + static_cast<std::ptrdiff_t>(first),
                         forgery.chunks.end());
    for (const std::vector<ForgedPacket>& packets : checkpoints) {
        Vector<std::byte> payload;
        append_le(payload, std::uint8_t{1});
        append_le(payload, time += 1'000);
        for (const ForgedPacket& packet : packets) {
            const Bytes datagram = PacketForge(0).make(packet.bunches, packet.blocks);
            PacketHeader header;
            const std::size_t header_bytes = read_packet_header(datagram, header);
            const std::size_t size = datagram.size() - header_bytes;
            append_le(payload, static_cast<std::uint16_t>(
                                   size | (packet.bunches.empty() ? 0u : replay_has_bunches)));
            payload.insert(payload.end(),
                           datagram.begin() + static_cast<std::ptrdiff_t>(header_bytes),
                           datagram.end());
        }
        forgery.chunks.push_back({ReplayChunkKind::Checkpoint, payload, 0});
    }
    return forgery.bytes();
}

/// A screen that shows the first checkpoint.
struct CheckpointScreen : ReplayScreen {
    explicit CheckpointScreen(const Bytes& bytes) : ReplayScreen(bytes) {
        REQUIRE(player.open() == ReplayError::None);
        REQUIRE(player.seek(player.checkpoint_time(0)) == ReplayError::None);
    }
    [[nodiscard]] ReplayError play_next() { return player.advance(player.checkpoint_time(1)); }
    [[nodiscard]] bool has(std::uint64_t guid) {
        return !player.driver().guids().find_object(NetGUID{guid}).is_null();
    }
    [[nodiscard]] Pawn& pawn(std::uint64_t guid) {
        return world.pawn(player.driver().guids().find_object(NetGUID{guid}));
    }
};

[[nodiscard]] Bunch open_pawn(std::uint32_t channel, std::uint64_t guid) {
    return open_bunch(channel, NetGUID{guid}, TestSchema::pawn_number);
}
[[nodiscard]] Bytes target_block(std::uint64_t guid) {
    return pawn_block({target_handle}, [=](BitWriter& writer) { writer.write_packed_uint(guid); });
}
/// So many references, all of the same object.
[[nodiscard]] Bytes friends_block(std::uint32_t count, std::uint64_t guid) {
    return pawn_block({friends_handle}, [=](BitWriter& writer) {
        writer.write_packed_uint(count);
        ChangeMask all;
        all.reset(count);
        all.set_range(0, count);
        write_change_mask(writer, all, EmptySet::Possible);
        for (std::uint32_t i = 0; i < count; ++i) {
            writer.write_packed_uint(guid);
        }
    });
}

}  // namespace

TEST_CASE("Replay: an update that is under way ends before anything that was carried over goes",
          "[netdriver][replay][hostile]") {
    using Heard = std::vector<std::string>;
    // Of object 3 a part comes, and no other; 2 goes, which 1 names.
    const ForgedPacket part{{open_pawn(3, 3)}, block_with_length_of(3, health_block(5), true)};
    const struct {
        const char* name;
        std::vector<ForgedPacket> checkpoint;
        bool has_other;
    } cases[] = {
        {"its channel is another's",
         {{{open_pawn(1, 1)}, {}}, part, {{open_pawn(2, 9)}, {}}},
         true},
        {"it is not there any more", {{{open_pawn(1, 1)}, {}}, part}, false},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        const Bytes bytes = recording_of(
            {{{{open_pawn(1, 1), open_pawn(2, 2), open_pawn(3, 3)}, block_of(1, target_block(2))}},
             test.checkpoint});
        CheckpointScreen screen(bytes);
        CHECK(screen.pawn(1).heard == Heard{"target null -> set"});
        CHECK(screen.pawn(3).heard.empty());
        REQUIRE(screen.play_next() == ReplayError::None);
        CHECK(screen.has(1));
        CHECK_FALSE(screen.has(2));
        CHECK(screen.has(9) == test.has_other);
        CHECK(screen.pawn(1).heard == Heard{"target null -> set", "target set -> null"});
        CHECK(screen.pawn(3).heard == Heard{"health 100 -> 5, name "});
    }
}

TEST_CASE("Replay: a part of what goes for another is told of its update, and goes first",
          "[netdriver][replay][hostile]") {
    const Bytes bytes =
        recording_of({{{{open_pawn(2, 2), open_part(3, 3, 2)}, {}}},
                      {{{open_part(3, 3, 2)}, block_with_length_of(3, health_block(5), true)},
                       {{open_pawn(2, 9)}, {}},
                       {{}, block_of(2, health_block(7))}}});
    CheckpointScreen screen(bytes);
    REQUIRE(screen.world.object_count() == 2);
    const ObjectHandle outer = screen.player.driver().guids().find_object(NetGUID{2});
    std::vector<bool> gone;  // whether it is the outer
    std::vector<std::string> heard;
    screen.world.on_despawn = [&](ObjectHandle object) {
        gone.push_back(object == outer);
        const std::vector<std::string>& told = screen.world.pawn(object).heard;
        heard.insert(heard.end(), told.begin(), told.end());
    };
    REQUIRE(screen.play_next() == ReplayError::None);
    CHECK(gone == std::vector<bool>{false, true});
    CHECK(heard == std::vector<std::string>{"health 100 -> 5, name "});
    CHECK(screen.world.object_count() == 1);
    CHECK(screen.pawn(9).health == 7);
    screen.world.on_despawn = {};
}

TEST_CASE("Replay: what waited for an outer before a checkpoint waits no more behind it",
          "[netdriver][replay][hostile]") {
    const Bytes bytes = recording_of(
        {{{{open_part(2, 2, 77), open_pawn(1, 1)}, {}}},
         {{{open_pawn(1, 77)}, {}}, {{open_part(2, 5, 78)}, {}}, {{open_pawn(3, 78)}, {}}}});
    CheckpointScreen screen(bytes);
    CHECK(screen.world.object_count() == 1);
    REQUIRE(screen.play_next() == ReplayError::None);
    CHECK_FALSE(screen.has(2));
    CHECK(screen.has(77));
    CHECK(screen.has(78));
    CHECK(screen.has(5));  // it waited for another, and that came
    CHECK(screen.world.spawn_count == 4);
}

TEST_CASE("Replay: an open that is none takes nobody's place", "[netdriver][replay][hostile]") {
    for (const std::size_t size : {0u, 1u, 2u}) {
        INFO(size << " bytes");
        Bunch cut = open_pawn(1, 2);
        cut.payload.resize(size);
        const Bytes bytes = recording_of(
            {{{{open_pawn(1, 1)}, {}}}, {{{make_bunch(cut.header, cut.payload)}, {}}}});
        CheckpointScreen screen(bytes);
        std::vector<bool> were_played;
        screen.world.on_despawn = [&](ObjectHandle) {
            were_played.push_back(screen.player.driver().state() == ConnectionState::Joined);
        };
        CHECK(screen.play_next() == ReplayError::Refused);
        CHECK(screen.player.close_reason() == CloseReason::MalformedBunch);
        CHECK(were_played == std::vector<bool>{false});  // it went for that, and not before
    }
}

TEST_CASE("Replay: what goes for another costs its packet what names it",
          "[netdriver][replay][hostile][decode_budget]") {
    // As in decode_budget_test.cpp: each coming and going of an object that 1,000 references name
    // takes two times 16,126 steps and a bit, of 1,000,000.
    for (const int rounds : {30, 31}) {
        INFO(rounds << " rounds");
        std::vector<Bunch> bunches{open_pawn(1, 1), open_pawn(2, 2)};
        for (int i = 0; i < rounds; ++i) {
            bunches.push_back(open_pawn(5, 120));
            bunches.push_back(close_bunch(5, 2));
        }
        bunches.push_back(open_pawn(3, 9));
        const Bytes bytes =
            recording_of({{{{open_pawn(1, 1), open_pawn(2, 2), open_pawn(3, 3)}, {}},
                           {{}, block_of(1, friends_block(1'000, 120))},
                           {{}, block_of(2, friends_block(1'000, 3))}},
                          {{bunches, {}}}});
        CheckpointScreen screen(bytes);
        const bool is_paid = rounds == 30;
        CHECK(screen.play_next() == (is_paid ? ReplayError::None : ReplayError::Refused));
        CHECK(screen.player.close_reason() ==
              (is_paid ? CloseReason::None : CloseReason::MalformedBunch));
        CHECK(screen.has(9) == is_paid);
        CHECK(screen.world.object_count() == (is_paid ? 3 : 0));
    }
}

}  // namespace replayout::test
