// SPDX-License-Identifier: MIT
//
// Recordings by somebody else, with their digests as they are or made right again, opened, sought
// in and played. An error leaves an empty world; time does not go back, and goes no further than it
// was sent; memory and what is read of the file are bounded by its size.
//
//     u8: bit 0, digests are made right   the file
#include "fuzz/fuzz_target.h"
#include "replay_format.h"
#include "support/checks/counting_resource.h"
#include "support/hostile/replay_screen.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr std::size_t file_bytes_max = 64 * 1'024;
constexpr std::int64_t memory_bytes_max = 4 * 1'024 * 1'024;

[[nodiscard]] NetDriverSettings small_settings(MemoryResource& memory) {
    NetDriverSettings settings;
    settings.config.channels_max = 64;
    settings.config.bunch_bytes_max = 4'000;
    settings.config.reliable_waiting_max = 256;
    settings.config.reliable_waiting_bytes_max = 16'000;
    settings.config.decode_allocation_bytes_max = 256 * 1'024;
    settings.resource = &memory;
    return settings;
}

/// As far as there are whole chunks.
[[nodiscard]] Bytes with_right_digests(std::span<const std::byte> file) {
    Bytes right(file.begin(), file.end());
    std::uint64_t previous = 0;
    std::size_t at = replay_magic.size();
    while (at <= right.size() && right.size() - at >= replay_chunk_head_bytes) {
        ReplayChunkHead head;
        const std::span<std::byte> rest = std::span(right).subspan(at);
        if (!read_replay_chunk_head(rest, head)) {
            break;
        }
        const std::size_t room = replay_chunk_head_bytes + head.payload_bytes;
        if (rest.size() < room + replay_digest_bytes) {
            break;
        }
        Vector<std::byte> chunk(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(room));
        previous = finish_replay_chunk(head.kind, previous, chunk);
        std::copy(chunk.begin(), chunk.end(), rest.begin());
        at += chunk.size();
    }
    return right;
}

class Show {
  public:
    explicit Show(std::span<const std::byte> file)
        : file_(file), screen_(file, small_settings(memory_)) {}

    void open() {
        const ReplayError error = screen_.player.open();
        check_bounds();
        REQUIRE(screen_.world.object_count() == 0);
        if (error != ReplayError::None) {
            REQUIRE_FALSE(to_string(error).empty());
            return;
        }
        REQUIRE(screen_.player.start_time().microseconds <= screen_.player.end_time().microseconds);
        play();
    }

  private:
    void play() {
        const std::int64_t start = screen_.player.start_time().microseconds;
        const std::int64_t end = screen_.player.end_time().microseconds;
        const auto middle = static_cast<std::int64_t>(
            static_cast<std::uint64_t>(start) +
            (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)) / 2);
        for (const std::int64_t time : {end, start, middle}) {
            const ReplayError error = screen_.player.seek(NetTime{time});
            check_after(error, time);
        }
        check_after(screen_.player.seek(NetTime{start}), start);
        std::int64_t before = screen_.player.time().microseconds;
        for (const std::int64_t time : {middle, start, end}) {
            const ReplayError error = screen_.player.advance(NetTime{time});
            check_after(error, std::max(time, before));
            if (error == ReplayError::None) {
                REQUIRE(screen_.player.time().microseconds >= before);
                before = screen_.player.time().microseconds;
            }
        }
    }

    void check_after(ReplayError error, std::int64_t time) {
        check_bounds();
        if (error != ReplayError::None) {
            REQUIRE(screen_.world.object_count() == 0);
            return;
        }
        // The first checkpoint comes a moment after the start.
        const std::int64_t first = screen_.player.checkpoint_time(0).microseconds;
        const std::int64_t now = screen_.player.time().microseconds;
        REQUIRE(now <= std::max(time, first));
        REQUIRE(now <= screen_.player.end_time().microseconds);
        REQUIRE(now >= screen_.player.start_time().microseconds);
    }

    void check_bounds() {
        REQUIRE(memory_.bytes_in_use_max() <= memory_bytes_max);
        // Opened, and played eight times at most from the front.
        REQUIRE(screen_.source.bytes_read <= 32 * (file_.size() + 1'024));
    }

    std::span<const std::byte> file_;
    CountingResource memory_;
    ReplayScreen screen_;
};

[[nodiscard]] Bytes record(std::uint32_t checkpoint_ms, bool is_ended) {
    NetFixture net;
    ReplayMemory sink;
    const ObjectHandle pawn = net.add_pawn();
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = checkpoint_ms;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(net.server_driver().start_recording(recorder));
    for (std::int32_t i = 0; i < 6; ++i) {
        net.tick([&] {
            net.pawn(pawn).health = i;
            if (i == 2) {
                net.pawn(net.add_pawn()).target = pawn;
            }
        });
    }
    Bytes cut(sink.bytes().begin(), sink.bytes().end());
    net.server_driver().stop_recording();
    return is_ended ? Bytes(sink.bytes().begin(), sink.bytes().end()) : cut;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (const bool is_ended : {true, false}) {
        for (const std::uint64_t form : {0u, 1u}) {
            seeds.push_back(FuzzSeed().number(form, 1).add(record(60, is_ended)).bytes);
        }
    }
    seeds.push_back(FuzzSeed().number(1, 1).add(record(10'000, true)).bytes);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout;
    using namespace replayout::test;
    FuzzInput input(data, size);
    const bool makes_right = (input.byte() & 1) != 0;
    const auto file = input.take(file_bytes_max);
    const Bytes bytes = makes_right ? with_right_digests(file) : to_bytes(file);
    Show(bytes).open();
    return 0;
}
