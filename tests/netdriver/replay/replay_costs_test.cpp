// SPDX-License-Identifier: MIT
//
// What a recording costs a server: no more than one more connection that shares everything.
#include <replayout/netdriver/packet_notify.h>

#include <cstdint>
#include <vector>

#include "support/checks/counting_resource.h"
#include "support/checks/heap_count.h"
#include "support/hostile/replay_screen.h"
#include "support/worlds/net_fixture.h"

#include "replay_format.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t object_count = 60;

class Game {
  public:
    explicit Game(std::size_t clients, SharingLevel sharing = SharingLevel::Bundles)
        : net_(options(sharing)) {
        for (std::uint32_t i = 0; i < object_count; ++i) {
            pawns_.push_back(net_.add_pawn());
        }
        for (std::size_t i = 0; i < clients; ++i) {
            net_.join();
        }
        REQUIRE(net_.settle());
    }
    void tick(std::uint32_t count) {
        for (; count > 0; --count) {
            net_.tick([this] {
                ++tick_;
                for (std::size_t i = tick_ % 3; i < pawns_.size(); i += 3) {
                    net_.pawn(pawns_[i]).health = static_cast<std::int32_t>(tick_);
                    net_.pawn(pawns_[i]).position.x += 1.0f;
                }
            });
        }
    }
    [[nodiscard]] NetFixture& net() noexcept { return net_; }
    [[nodiscard]] ReplicationCounters counters() {
        return net_.server_driver().stats().replication;
    }

  private:
    static NetFixtureOptions options(SharingLevel sharing) {
        NetFixtureOptions options;
        options.sharing = sharing;
        options.is_validating = false;
        return options;
    }

    NetFixture net_;
    std::vector<ObjectHandle> pawns_;
    std::uint32_t tick_ = 0;
};

struct Cost {
    std::uint64_t values_encoded = 0;
    std::uint64_t pieces_built = 0;
    std::uint64_t payloads_built = 0;
    std::uint64_t bundles_built = 0;
    std::uint64_t objects_compared = 0;
    std::uint64_t payloads_reused = 0;
    std::uint64_t bundles_copied = 0;
    std::uint64_t blocks_sent = 0;
    std::uint64_t packets_sent = 0;

    bool operator==(const Cost&) const = default;
};

[[nodiscard]] Cost cost_of(Game& game, std::uint32_t ticks) {
    const ReplicationCounters before = game.counters();
    const std::uint64_t packets = game.net().server_driver().stats().packets_sent;
    game.tick(ticks);
    const ReplicationCounters after = game.counters();
    return {after.values_encoded - before.values_encoded,
            after.pieces_built - before.pieces_built,
            after.payloads_built - before.payloads_built,
            after.bundles_built - before.bundles_built,
            after.objects_compared - before.objects_compared,
            after.payloads_reused - before.payloads_reused,
            after.bundles_copied - before.bundles_copied,
            after.blocks_sent - before.blocks_sent,
            game.net().server_driver().stats().packets_sent - packets};
}

}  // namespace

TEST_CASE("Replay: a recording is counted as one more connection that shares everything",
          "[netdriver][replay]") {
    constexpr std::uint32_t ticks = 200;
    for (const SharingLevel sharing :
         {SharingLevel::Bundles, SharingLevel::Payloads, SharingLevel::Off}) {
        INFO("sharing " << static_cast<int>(sharing));
        Game three(3, sharing);
        Game four(4, sharing);
        Game recorded(3, sharing);
        ReplayMemory sink;
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = 0;
        ReplayRecorder recorder(sink, settings);
        REQUIRE(recorded.net().server_driver().start_recording(recorder));
        for (Game* game : {&three, &four, &recorded}) {
            game->tick(20);
        }
        const Cost alone = cost_of(three, ticks);
        const Cost one_more = cost_of(four, ticks);
        const Cost with_recording = cost_of(recorded, ticks);
        CHECK(with_recording == one_more);
        if (sharing != SharingLevel::Off) {
            CHECK(with_recording.values_encoded == alone.values_encoded);
            CHECK(with_recording.pieces_built == alone.pieces_built);
            CHECK(with_recording.payloads_built == alone.payloads_built);
        }
        CHECK(with_recording.bundles_built == alone.bundles_built);
        CHECK(with_recording.objects_compared == alone.objects_compared);
        recorded.net().server_driver().stop_recording();
    }
}

TEST_CASE("Replay: a checkpoint encodes nothing that a client who joins would not",
          "[netdriver][replay]") {
    Game joined(3);
    Game recorded(3);
    joined.tick(10);
    recorded.tick(10);
    const ReplicationCounters before_join = joined.counters();
    const ReplicationCounters before = recorded.counters();
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(recorded.net().server_driver().start_recording(recorder));
    joined.net().join();
    joined.net().tick(10);
    recorded.net().tick(10);
    CHECK(recorded.counters().values_encoded - before.values_encoded ==
          joined.counters().values_encoded - before_join.values_encoded);
    recorded.net().server_driver().stop_recording();
}

TEST_CASE("Replay: a steady tick that is recorded takes no memory", "[netdriver][replay]") {
    Game game(2);
    ReplayMemory sink;
    sink.reserve(32u << 20);
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 0;
    CountingResource recorder_memory;
    settings.resource = &recorder_memory;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(game.net().server_driver().start_recording(recorder));
    game.tick(600);
    const std::uint64_t driver = game.net().server().memory.allocation_count();
    const std::uint64_t own = recorder_memory.allocation_count();
    const std::uint64_t frames = recorder.stats().frames_written;
    game.tick(500);
    CHECK(game.net().server().memory.allocation_count() == driver);
    CHECK(recorder_memory.allocation_count() == own);
    CHECK(recorder.stats().frames_written == frames + 500);
    game.net().server_driver().stop_recording();
}

TEST_CASE("Replay: what is recorded are the bytes that a client in the same state is sent",
          "[netdriver][replay]") {
    Game game(1);
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 0;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(game.net().server_driver().start_recording(recorder));
    game.tick(5);
    const std::size_t begin = sink.bytes().size();
    ScriptedTransport& line = game.net().server().transport;
    line.sent.clear();
    line.is_recording = true;
    game.tick(50);
    line.is_recording = false;
    Bytes live;
    for (const Datagram& datagram : line.sent) {
        PacketHeader header;
        const std::size_t header_bytes = read_packet_header(datagram.bytes, header);
        REQUIRE(header_bytes > 0);
        CHECK_FALSE(header.has_bunches);
        live.insert(live.end(), datagram.bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes),
                    datagram.bytes.end());
    }
    Bytes recorded;
    std::span<const std::byte> rest = sink.bytes().subspan(begin);
    while (!rest.empty()) {
        ReplayChunkHead head;
        REQUIRE(read_replay_chunk_head(rest, head));
        ReplayPart part;
        REQUIRE(read_replay_part(rest.subspan(replay_chunk_head_bytes, head.payload_bytes), part));
        ReplayPacket packet;
        while (take_replay_packet(part.packets, packet)) {
            recorded.insert(recorded.end(), packet.content.begin(), packet.content.end());
        }
        rest = rest.subspan(replay_chunk_head_bytes + head.payload_bytes + replay_digest_bytes);
    }
    CHECK(live.size() > 10'000);
    CHECK(to_hex(recorded) == to_hex(live));
    game.net().server_driver().stop_recording();
}

}  // namespace replayout::test
