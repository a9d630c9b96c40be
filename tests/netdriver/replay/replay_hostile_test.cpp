// SPDX-License-Identifier: MIT
//
// Recordings that are not what was written: each is a typed error, or shows what was recorded.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/checks/counting_resource.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

#include "replay_format.h"

namespace replayout::test {
namespace {

struct Outcome {
    bool is_refused = false;
    std::uint32_t places_right = 0;
    std::uint32_t places_refused = 0;
};

/// Opens it and seeks everywhere, forth and back. What is shown is always right.
[[nodiscard]] Outcome show(std::span<const std::byte> bytes,
                           const std::map<NetTime, std::string>& texts) {
    Outcome outcome;
    ReplayScreen screen(bytes);
    if (screen.player.open() != ReplayError::None) {
        CHECK(screen.world.object_count() == 0);
        outcome.is_refused = true;
        return outcome;
    }
    std::vector<NetTime> times;
    for (const auto& [time, text] : texts) {
        times.push_back(time);
    }
    for (const std::size_t i : {8u, 0u, 5u, 3u, 7u, 1u}) {
        if (i >= times.size() || times[i] > screen.player.end_time()) {
            continue;
        }
        if (screen.player.seek(times[i]) != ReplayError::None) {
            REQUIRE(screen.world.object_count() == 0);
            ++outcome.places_refused;
            continue;
        }
        REQUIRE(screen.text() == texts.at(times[i]));
        ++outcome.places_right;
    }
    return outcome;
}

}  // namespace

TEST_CASE("Replay: any recording that is cut off is refused, or right up to there",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    const Bytes whole = tape.bytes();
    CHECK(show(whole, tape.texts).places_right == 6);
    std::uint32_t shown = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO("cut after " << size << " of " << whole.size());
        const Outcome outcome = show(std::span(whole).first(size), tape.texts);
        CHECK(outcome.places_refused == 0);  // what is whole of it was found to be so
        shown += outcome.is_refused ? 0u : 1u;
    }
    CHECK(shown > whole.size() / 2);
    CHECK(show(std::span(whole).first(whole.size() - 1), tape.texts).places_right == 6);
}

TEST_CASE("Replay: any byte that is another is refused, or harms nothing that is shown",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    const Bytes whole = tape.bytes();
    for (std::size_t place = 0; place < whole.size(); ++place) {
        for (const unsigned flip : {0x01u, 0x80u, 0xFFu}) {
            INFO("byte " << place << " of " << whole.size() << ", flipped by " << flip);
            Bytes bytes = whole;
            bytes[place] ^= static_cast<std::byte>(flip);
            const Outcome outcome = show(bytes, tape.texts);
            // Of a chunk that is seen too late what comes before it is shown.
            CHECK(outcome.places_right + outcome.places_refused <= 6);
        }
    }
}

TEST_CASE("Replay: pieces of recordings in any order are refused, or show one of them",
          "[netdriver][replay][hostile][random]") {
    const Tape first(1'000);
    const Tape second(2'000);
    const Bytes a = first.bytes();
    const Bytes b = second.bytes();
    const SeedRange seeds = seed_range(1, 300);
    std::uint32_t refused = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        Bytes spliced;
        for (std::uint32_t pieces = random.between(2, 4); pieces > 0; --pieces) {
            const Bytes& from = random.percent(50) ? a : b;
            const std::size_t begin =
                spliced.empty() ? 0 : random.below(static_cast<std::uint32_t>(from.size()));
            const std::size_t size =
                random.below(static_cast<std::uint32_t>(from.size() - begin)) + 1;
            spliced.insert(spliced.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
                           from.begin() + static_cast<std::ptrdiff_t>(begin + size));
        }
        // Where chunks fit by their sizes, too.
        ReplayScreen screen(spliced);
        if (screen.player.open() != ReplayError::None) {
            ++refused;
            continue;
        }
        for (const auto& [time, text] : first.texts) {
            if (time <= screen.player.end_time() && screen.player.seek(time) == ReplayError::None) {
                const std::string shown = screen.text();
                REQUIRE((shown == text || shown == second.texts.at(time)));
            }
        }
    }
    CHECK(refused > 0);
}

TEST_CASE("Replay: chunks of another recording do not follow those of this one",
          "[netdriver][replay][hostile]") {
    const Tape first(1'000);
    const Tape second(2'000);
    const Bytes a = first.bytes();
    const Bytes b = second.bytes();
    REQUIRE(a.size() == b.size());  // so each chunk of one fits into the place of the other's
    std::vector<std::size_t> offsets;
    for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < a.size();) {
        offsets.push_back(at);
        at += replay_chunk_head_bytes + load_le(std::span(a).subspan(at + 4), 4) +
              replay_digest_bytes;
    }
    REQUIRE(offsets.size() > 12);
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        INFO("chunk " << i << " of " << offsets.size());
        Bytes spliced = a;
        std::copy(b.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                  b.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]),
                  spliced.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
        (void)show(spliced, first.texts);
        // Who plays all of it comes there.
        ReplayScreen played(spliced);
        const bool is_good = played.player.open() == ReplayError::None &&
                             played.player.is_whole() &&
                             played.player.advance(played.player.end_time()) == ReplayError::None;
        CHECK(is_good == (spliced == a));
        // And all from there on.
        std::copy(b.begin() + static_cast<std::ptrdiff_t>(offsets[i]), b.end(),
                  spliced.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
        ReplayScreen screen(spliced);
        if (screen.player.open() == ReplayError::None) {
            for (const auto& [time, text] : first.texts) {
                if (time <= screen.player.end_time() &&
                    screen.player.seek(time) == ReplayError::None) {
                    const std::string shown = screen.text();
                    REQUIRE((shown == text || shown == second.texts.at(time)));
                }
            }
        }
    }
}

TEST_CASE("Replay: whatever a file says of its sizes, memory is bounded by what is there",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Bytes bytes = tape.bytes();
    for (const std::uint32_t size : {0xFFFF'FFFFu, 0x7FFF'FFFFu, 1u << 20, (1u << 20) + 1}) {
        for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < bytes.size();) {
            Bytes forged = bytes;
            store_le(std::span(forged).subspan(at + 4), size);
            CountingResource memory;
            NetDriverSettings settings;
            settings.may_leave_out_texts = true;
            settings.resource = &memory;
            ReplayScreen screen(forged, settings);
            if (screen.player.open() == ReplayError::None) {
                (void)screen.player.seek(screen.player.end_time());
            }
            CHECK(memory.bytes_in_use_max() < 1'000'000);
            at += replay_chunk_head_bytes + load_le(std::span(bytes).subspan(at + 4), 4) +
                  replay_digest_bytes;
        }
    }
}

TEST_CASE("Replay: packets that no server sends are refused, though the file is whole",
          "[netdriver][replay][hostile][random]") {
    const SeedRange seeds = seed_range(1, 200);
    std::uint32_t refused = 0;
    const Tape tape(1'000);
    const Bytes whole = tape.bytes();
    for (const std::uint64_t seed : seeds) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        // Bits flipped in packets, and all digests right again.
        Bytes forged(replay_magic.begin(), replay_magic.end());
        std::uint64_t previous = 0;
        for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < whole.size();) {
            const std::size_t payload = load_le(std::span(whole).subspan(at + 4), 4);
            ReplayChunkHead head;
            REQUIRE(read_replay_chunk_head(std::span(whole).subspan(at), head));
            Vector<std::byte> chunk(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                    whole.begin() + static_cast<std::ptrdiff_t>(
                                                        at + replay_chunk_head_bytes + payload));
            const bool has_packets =
                head.kind == ReplayChunkKind::Frame || head.kind == ReplayChunkKind::Checkpoint;
            if (has_packets && random.percent(30)) {
                const std::uint32_t place = random.below(static_cast<std::uint32_t>(payload));
                chunk[replay_chunk_head_bytes + place] ^=
                    static_cast<std::byte>(1u << random.below(8));
            }
            if (head.kind != ReplayChunkKind::End) {
                previous = finish_replay_chunk(head.kind, previous, chunk);
                forged.insert(forged.end(), chunk.begin(), chunk.end());
            }
            at += replay_chunk_head_bytes + payload + replay_digest_bytes;
        }
        ReplayScreen screen(forged);
        const ReplayError opened = screen.player.open();
        if (opened != ReplayError::None) {
            continue;
        }
        for (std::uint32_t i = 0; i < 4; ++i) {
            const ReplayError error =
                screen.player.seek(NetTime::from_milliseconds(1'000 + 20 * random.below(10)));
            if (error != ReplayError::None) {
                ++refused;
                CHECK(screen.world.object_count() == 0);
            }
        }
    }
    CHECK((refused > 0 || !seeds.is_default));
}

/// All digests right again, after each chunk's payload was changed as it is told; without its end,
/// unless that is kept.
template <typename Change>
[[nodiscard]] Bytes forged(const Bytes& whole, bool keeps_end, Change&& change) {
    Bytes bytes(replay_magic.begin(), replay_magic.end());
    std::uint64_t previous = 0;
    std::uint64_t header_digest = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> checkpoints;
    for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < whole.size();) {
        const std::size_t payload = load_le(std::span(whole).subspan(at + 4), 4);
        ReplayChunkHead head;
        REQUIRE(read_replay_chunk_head(std::span(whole).subspan(at), head));
        Vector<std::byte> chunk(
            whole.begin() + static_cast<std::ptrdiff_t>(at),
            whole.begin() + static_cast<std::ptrdiff_t>(at + replay_chunk_head_bytes + payload));
        const std::span<std::byte> body =
            std::span<std::byte>(chunk.data(), chunk.size()).subspan(replay_chunk_head_bytes);
        change(head.kind, body);
        if (head.kind == ReplayChunkKind::End) {
            store_le(body.subspan(8), header_digest);
            for (std::size_t i = 0; i < checkpoints.size(); ++i) {
                store_le(body.subspan(20 + 24 * i + 8), checkpoints[i].first);
                store_le(body.subspan(20 + 24 * i + 16), checkpoints[i].second);
            }
        }
        if (head.kind != ReplayChunkKind::End || keeps_end) {
            previous = finish_replay_chunk(head.kind, previous, chunk);
            header_digest = head.kind == ReplayChunkKind::Header ? previous : header_digest;
            if (head.kind == ReplayChunkKind::Checkpoint) {
                checkpoints.emplace_back(bytes.size(), previous);
            }
            bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        }
        at += replay_chunk_head_bytes + payload + replay_digest_bytes;
    }
    if (keeps_end) {
        bytes.insert(bytes.end(), whole.end() - replay_footer_bytes, whole.end());
    }
    return bytes;
}

TEST_CASE("Replay: a packet that no server sends ends it, and why is told",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    std::uint32_t frame = 0;
    const Bytes bytes =
        forged(tape.bytes(), true, [&](ReplayChunkKind kind, std::span<std::byte> body) {
            std::span<std::byte> packets = body.subspan(replay_part_head_bytes);
            if (kind != ReplayChunkKind::Frame || packets.empty() || ++frame != 3) {
                return;
            }
            // A packet that has bunches, and says that it has none.
            store_le(packets, static_cast<std::uint16_t>(load_le(packets, 2) | replay_has_bunches));
            packets[2] = std::byte{0};
        });
    REQUIRE(frame >= 3);
    ReplayScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.advance(screen.player.end_time()) == ReplayError::Refused);
    CHECK(screen.player.close_reason() == CloseReason::MalformedBunch);
    CHECK(screen.world.object_count() == 0);
}

/// The same with chunks left out, and nothing else of them changed.
template <typename Keeps>
[[nodiscard]] Bytes with_chunks(const Bytes& whole, Keeps&& keeps) {
    Bytes bytes(replay_magic.begin(), replay_magic.end());
    std::uint64_t previous = 0;
    for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < whole.size();) {
        const std::size_t payload = load_le(std::span(whole).subspan(at + 4), 4);
        ReplayChunkHead head;
        REQUIRE(read_replay_chunk_head(std::span(whole).subspan(at), head));
        if (head.kind != ReplayChunkKind::End && keeps(head.kind)) {
            Vector<std::byte> chunk(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                    whole.begin() + static_cast<std::ptrdiff_t>(
                                                        at + replay_chunk_head_bytes + payload));
            previous = finish_replay_chunk(head.kind, previous, chunk);
            bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        }
        at += replay_chunk_head_bytes + payload + replay_digest_bytes;
    }
    return bytes;
}

TEST_CASE("Replay: a checkpoint that comes without what led to it is shown as it is",
          "[netdriver][replay][hostile]") {
    NetFixture net;
    const ObjectHandle replaced = net.add_pawn();
    const ObjectHandle removed = net.add_pawn();
    const ObjectHandle kept = net.add_pawn();
    net.pawn(kept).target = removed;
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 60;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(net.server_driver().start_recording(recorder));
    net.tick();
    net.tick([&] {
        net.remove(replaced);
        net.pawn(net.add_pawn()).name = "Bo";  // in its place
        net.remove(removed);
        net.pawn(kept).target = ObjectHandle{};
    });
    net.tick();
    net.tick();
    net.server_driver().stop_recording();
    REQUIRE(recorder.stats().checkpoints_written == 2);
    const Bytes whole(sink.bytes().begin(), sink.bytes().end());
    const Bytes jumping =
        with_chunks(whole, [](ReplayChunkKind kind) { return kind != ReplayChunkKind::Frame; });
    ReplayScreen screen(jumping);
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.advance(screen.player.start_time()) == ReplayError::None);
    CHECK(screen.world.object_count() == 3);
    REQUIRE(screen.player.advance(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == net.server_text());
    CHECK(screen.world.spawn_count == 4);
    CHECK(screen.world.despawn_count == 2);
}

constexpr std::int64_t day_us = 86'400'000'000;

TEST_CASE("Replay: a file that says it is longer than one may be ends where it is right",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    const Bytes whole = tape.bytes();
    REQUIRE(forged(whole, true, [](ReplayChunkKind, std::span<std::byte>) {}) == whole);
    for (const std::int64_t days : {std::int64_t{51}, std::int64_t{10'000'000}}) {
        const Bytes bytes =
            forged(whole, true, [&](ReplayChunkKind kind, std::span<std::byte> body) {
                if (kind == ReplayChunkKind::End) {
                    store_le(body, static_cast<std::int64_t>(load_le(body, 8)) + days * day_us);
                }
            });
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.end_time() == tape.texts.rbegin()->first);
        REQUIRE(screen.player.advance(NetTime{day_us * 1'000}) == ReplayError::None);
        CHECK(screen.text() == tape.texts.rbegin()->second);
    }
}

TEST_CASE("Replay: times of frames that go back, or too far, are refused, and cost nothing",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    for (const std::int64_t days : {-1, 51, 10'000'000}) {
        int frames = 0;
        const Bytes bytes =
            forged(tape.bytes(), true, [&](ReplayChunkKind kind, std::span<std::byte> body) {
                if (kind == ReplayChunkKind::Frame && ++frames == 2) {
                    const auto time = static_cast<std::int64_t>(load_le(body.subspan(1), 8));
                    store_le(body.subspan(1), time + days * day_us);
                }
            });
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.advance(screen.player.end_time()) == ReplayError::Corrupt);
        CHECK(screen.world.object_count() == 0);
        // Without its end it is read as a whole, and ends before that frame.
        const Bytes cut = forged(bytes, false, [](ReplayChunkKind, std::span<std::byte>) {});
        ReplayScreen shorter(cut);
        REQUIRE(shorter.player.open() == ReplayError::None);
        CHECK(shorter.player.end_time() < tape.texts.rbegin()->first);
        CHECK(shorter.player.advance(shorter.player.end_time()) == ReplayError::None);
    }
    // As far as one may be a pause is a pause, and takes no longer than another.
    int frames = 0;
    const Bytes bytes =
        forged(tape.bytes(), false, [&](ReplayChunkKind kind, std::span<std::byte> body) {
            const bool is_part =
                kind == ReplayChunkKind::Frame || kind == ReplayChunkKind::Checkpoint;
            if (is_part && ++frames > 3) {
                const auto time = static_cast<std::int64_t>(load_le(body.subspan(1), 8));
                store_le(body.subspan(1), time + 50 * day_us);
            }
        });
    ReplayScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.end_time().microseconds > 50 * day_us);
    REQUIRE(screen.player.advance(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == tape.texts.rbegin()->second);
}

TEST_CASE("Replay: a part of another time than the first of its frame is refused",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    std::vector<ReplayChunkKind> kinds;
    (void)forged(tape.bytes(), true,
                 [&](ReplayChunkKind kind, std::span<std::byte>) { kinds.push_back(kind); });
    const std::array<ReplayChunkKind, 2> two{ReplayChunkKind::Frame, ReplayChunkKind::Frame};
    const auto first = std::search(kinds.begin(), kinds.end(), two.begin(), two.end());
    REQUIRE(first != kinds.end());
    for (const bool is_one_time : {false, true}) {
        // Two frames become the parts of one.
        auto at = kinds.begin();
        std::uint64_t time = 0;
        const Bytes bytes =
            forged(tape.bytes(), true, [&](ReplayChunkKind, std::span<std::byte> body) {
                if (at == first) {
                    body[0] = std::byte{0};
                    time = load_le(body.subspan(1), 8);
                } else if (at == first + 1 && is_one_time) {
                    store_le(body.subspan(1), time);
                }
                ++at;
            });
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        const ReplayError error = screen.player.seek(NetTime{static_cast<std::int64_t>(time)});
        CHECK(error == (is_one_time ? ReplayError::None : ReplayError::Corrupt));
        CHECK((screen.world.object_count() == 0) == !is_one_time);
        const Bytes cut = forged(bytes, false, [](ReplayChunkKind, std::span<std::byte>) {});
        ReplayScreen scanned(cut);
        REQUIRE(scanned.player.open() == ReplayError::None);
        CHECK((scanned.player.end_time() == tape.texts.rbegin()->first) == is_one_time);
        REQUIRE(scanned.player.advance(scanned.player.end_time()) == ReplayError::None);
        CHECK(scanned.text() == tape.texts.at(scanned.player.time()));
    }
}

TEST_CASE("Replay: a frame behind the time of the end is refused", "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    const std::int64_t last = tape.texts.rbegin()->first.microseconds;
    for (const std::int64_t end : {last, last - 1}) {
        const Bytes bytes =
            forged(tape.bytes(), true, [&](ReplayChunkKind kind, std::span<std::byte> body) {
                if (kind == ReplayChunkKind::End) {
                    store_le(body, end);
                }
            });
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        REQUIRE(screen.player.end_time().microseconds == end);
        CHECK(screen.player.advance(NetTime{day_us}) ==
              (end == last ? ReplayError::None : ReplayError::Corrupt));
        CHECK(screen.player.time().microseconds <= end);
    }
}

TEST_CASE("Replay: what is no recording, or one of another time, is said to be that",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Bytes bytes = tape.bytes();
    CHECK(ReplayScreen(std::span(bytes).first(3)).player.open() == ReplayError::NotAReplay);
    CHECK(ReplayScreen(std::span(bytes).first(8)).player.open() == ReplayError::Corrupt);
    // Of another version of the file, and of the wire.
    const std::size_t payload = load_le(std::span(bytes).subspan(12), 4);
    for (const std::size_t place : {std::size_t{0}, std::size_t{2}}) {
        Vector<std::byte> chunk(bytes.begin() + 8,
                                bytes.begin() + static_cast<std::ptrdiff_t>(24 + payload));
        chunk[replay_chunk_head_bytes + place] ^= std::byte{0x40};
        (void)finish_replay_chunk(ReplayChunkKind::Header, 0, chunk);
        Bytes other(replay_magic.begin(), replay_magic.end());
        other.insert(other.end(), chunk.begin(), chunk.end());
        CHECK(ReplayScreen(other).player.open() ==
              (place == 0 ? ReplayError::UnknownVersion : ReplayError::WireVersion));
    }
    // Of other classes.
    BytesSource source(bytes);
    TestWorld world(1);
    ReplayPlayer player(NetDriverSettings(), source, world);
    REQUIRE(player.driver().add_layout(TestSchema::get().pawn()));
    CHECK(player.open() == ReplayError::LayoutMismatch);
    // One that fails to be read.
    struct BadDisk final : ReplaySource {
        std::uint64_t size() override { return 1'000'000; }
        bool read(std::uint64_t, std::span<std::byte>) override { return false; }
    } disk;
    ReplayPlayer unread(NetDriverSettings(), disk, world);
    CHECK(unread.open() == ReplayError::ReadFailed);
}

}  // namespace replayout::test
