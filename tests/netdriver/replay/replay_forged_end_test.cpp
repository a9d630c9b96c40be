// SPDX-License-Identifier: MIT
//
// Ends of recordings that say what is not so: they are not believed, and all is read instead.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "support/hostile/forged_recording.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

#include "replay_format.h"

namespace replayout::test::replay_forged_end {
namespace {

/// Of a header's payload.
constexpr std::size_t start_at = 20;
constexpr std::size_t tape_checkpoints = 3;

/// A recording that is a header, and an end of which so many bytes lie in that header: none, its
/// first, or all up to where it names the digest of the header, which the header's own is then.
[[nodiscard]] Bytes header_with_end(const Tape& tape, std::size_t overlap) {
    constexpr std::size_t named_digest_at = replay_chunk_head_bytes + 8;
    REQUIRE((overlap <= 1 || overlap == named_digest_at + replay_digest_bytes));
    Forgery forgery(tape.bytes());
    forgery.chunks.resize(1);
    Vector<std::byte> end;
    append_le(end, static_cast<std::uint32_t>(ReplayChunkKind::End));
    append_le(end, std::uint32_t{20});
    append_le(end, std::uint64_t{0});
    append_le(end, load_le(forgery.header().subspan(start_at), 8));
    Vector<std::byte>& header = forgery.chunks.front().payload;
    const std::size_t header_bytes = header.size();
    // The first byte of an end is 5, which is the last one of a digest once in 256 tries.
    for (std::uint64_t salt = 0;; ++salt) {
        header.resize(header_bytes);
        append_le(header, salt);
        if (overlap > 1) {
            header.insert(header.end(), end.begin(), end.end());
        }
        Bytes bytes = forgery.bytes();
        if (overlap == 1 && bytes.back() != end.front()) {
            continue;
        }
        append_le(end, forgery.places.front().digest);
        append_le(end, std::uint32_t{0});
        append_le(end, hash64(std::span<const std::byte>(end.data(), end.size())));
        bytes.insert(bytes.end(), end.begin() + static_cast<std::ptrdiff_t>(overlap), end.end());
        append_footer(bytes, end.size());
        return bytes;
    }
}

/// Opens `front` with that end behind it; by its chunks alone it ends at `last`.
void check_end(Bytes front, const ForgedEnd& end, std::int64_t last, bool is_believed) {
    append_end(front, end);
    ReplayScreen screen(front);
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.checkpoint_count() == (is_believed ? 2 : tape_checkpoints));
    CHECK(screen.player.end_time().microseconds == (is_believed ? end.time : last));
    // Who does not believe it sees that it is there, behind all the rest.
    CHECK(screen.player.is_whole() == (end.kind == ReplayChunkKind::End));
}

}  // namespace

TEST_CASE("Replay: an end that is wrong in one thing is not believed, and all is read instead",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const Bytes front = forgery.bytes();
    const std::int64_t start = tape.texts.begin()->first.microseconds;
    const std::uint64_t header_end = forgery.places[1].offset;
    // It names two of three checkpoints, so one sees whether it was believed.
    const ForgedEnd right =
        forgery.end({forgery.entry(forgery.find(ReplayChunkKind::Checkpoint, 0)),
                     forgery.entry(forgery.find(ReplayChunkKind::Checkpoint, 2))});
    const std::int64_t last = right.time;
    struct Row {
        const char* what;
        bool is_believed;
        std::function<void(ForgedEnd&)> change;
    };
    const std::vector<Row> rows{
        {"right", true, [](ForgedEnd&) {}},
        {"a frame", false, [](ForgedEnd& end) { end.kind = ReplayChunkKind::Frame; }},
        {"a header", false, [](ForgedEnd& end) { end.kind = ReplayChunkKind::Header; }},
        {"header one less", false, [](ForgedEnd& end) { --end.header_digest; }},
        {"header one more", false, [](ForgedEnd& end) { ++end.header_digest; }},
        {"count one less", false, [](ForgedEnd& end) { --end.count; }},
        {"count one more", false, [](ForgedEnd& end) { ++end.count; }},
        {"count of no file", false, [](ForgedEnd& end) { end.count = 0xFFFF'FFFF; }},
        {"ends at its start", true,
         [&](ForgedEnd& end) { end.time = end.entries[0].time = end.entries[1].time = start; }},
        {"ends before its start", false,
         [&](ForgedEnd& end) { end.time = end.entries[0].time = end.entries[1].time = start - 1; }},
        {"ends before its start, and names none", false,
         [&](ForgedEnd& end) {
             end.time = start - 1;
             end.count = 0;
             end.entries.clear();
         }},
        {"ends too late, almost", true,
         [&](ForgedEnd& end) { end.time = start + replay_length_us_max; }},
        {"ends too late", false,
         [&](ForgedEnd& end) { end.time = start + replay_length_us_max + 1; }},
        {"ends never", false,
         [&](ForgedEnd& end) { end.time = std::numeric_limits<std::int64_t>::max(); }},
        {"ended long ago", false,
         [&](ForgedEnd& end) { end.time = std::numeric_limits<std::int64_t>::min(); }},
        {"a checkpoint before the start", false,
         [&](ForgedEnd& end) { end.entries[0].time = start - 1; }},
        {"two at a time", true, [](ForgedEnd& end) { end.entries[0].time = end.entries[1].time; }},
        {"back in time", false,
         [](ForgedEnd& end) { end.entries[0].time = end.entries[1].time + 1; }},
        {"a checkpoint at the end", true, [&](ForgedEnd& end) { end.entries[1].time = last; }},
        {"one behind the end", false, [&](ForgedEnd& end) { end.entries[1].time = last + 1; }},
        {"in the header", false, [&](ForgedEnd& end) { end.entries[0].offset = header_end - 1; }},
        {"behind the header", true, [&](ForgedEnd& end) { end.entries[0].offset = header_end; }},
        {"at the front", false, [](ForgedEnd& end) { end.entries[0].offset = 0; }},
        {"before the end", true, [&](ForgedEnd& end) { end.entries[1].offset = front.size() - 1; }},
        {"in the end", false, [&](ForgedEnd& end) { end.entries[1].offset = front.size(); }},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        ForgedEnd end = right;
        row.change(end);
        check_end(front, end, last, row.is_believed);
    }
}

TEST_CASE("Replay: no end is later than a recording may be long, wherever the clock counts from",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    // A difference of times from there is more than what a number holds.
    constexpr std::int64_t start = -(std::int64_t{1} << 60) + 1;
    store_le(forgery.header().subspan(start_at), start);
    const std::size_t checkpoint = forgery.find(ReplayChunkKind::Checkpoint);
    forgery.chunks.resize(checkpoint + 1);
    store_le(forgery.chunks[checkpoint].body().subspan(1), start);
    const Bytes front = forgery.bytes();
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t last = start + replay_length_us_max;
    for (const std::int64_t time : {last, last + 1, max - (std::int64_t{1} << 60), max}) {
        INFO("ends at " << time);
        Bytes bytes = front;
        ForgedEnd end = forgery.end({forgery.entry(checkpoint)});
        end.time = time;
        append_end(bytes, end);
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.end_time().microseconds == (time == last ? last : start));
    }
}

TEST_CASE("Replay: an end of another size than its count and its footer say is not believed",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const Bytes front = forgery.bytes();
    ForgedEnd right = forgery.end({forgery.entry(forgery.find(ReplayChunkKind::Checkpoint))});
    const auto count_checkpoints = [](const Bytes& bytes) {
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        return screen.player.checkpoint_count();
    };
    const auto append_cut = [&](Bytes& bytes, std::size_t payload_bytes) {
        const Vector<std::byte> payload = right.payload();
        (void)append_chunk(bytes, ReplayChunkKind::End, right.previous_digest,
                           std::span(payload.data(), payload.size()).first(payload_bytes));
    };
    constexpr std::size_t right_bytes = 20 + replay_checkpoint_bytes;
    for (std::size_t size = 0; size <= right_bytes; ++size) {
        INFO(size << " bytes");
        Bytes bytes = front;
        append_cut(bytes, size);
        append_footer(bytes, bytes.size() - front.size());
        CHECK(count_checkpoints(bytes) == (size == right_bytes ? 1 : tape_checkpoints));
    }
    // Something between it and the footer, which counts it.
    Bytes bytes = front;
    append_cut(bytes, right_bytes);
    bytes.push_back(std::byte{0});
    append_footer(bytes, bytes.size() - front.size());
    CHECK(count_checkpoints(bytes) == tape_checkpoints);
    // A footer that does not say that it is one.
    for (std::size_t i = 1; i <= replay_end_magic.size(); ++i) {
        bytes = front;
        append_cut(bytes, right_bytes);
        append_footer(bytes, bytes.size() - front.size());
        bytes[bytes.size() - i] ^= std::byte{0x20};
        CHECK(count_checkpoints(bytes) == tape_checkpoints);
    }
    // Its last byte is the first one of the footer: found in a few hundred tries.
    for (;;) {
        bytes = front;
        append_cut(bytes, right_bytes);
        const std::size_t chunk_bytes = bytes.size() - front.size() - 1;
        const std::byte shared = bytes.back();
        if (shared == static_cast<std::byte>(chunk_bytes)) {
            bytes.pop_back();
            append_footer(bytes, chunk_bytes);
            break;
        }
        ++right.time;
    }
    CHECK(count_checkpoints(bytes) == tape_checkpoints);
}

TEST_CASE("Replay: an end that begins within the header is none", "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    for (const std::size_t overlap : {0u, 1u, 32u}) {
        INFO(overlap << " bytes of it");
        const Bytes bytes = header_with_end(tape, overlap);
        ReplayScreen screen(bytes);
        CHECK(screen.player.open() == ReplayError::Empty);
        CHECK(screen.player.is_whole() == (overlap == 0));
    }
}

TEST_CASE("Replay: where an end names no checkpoint, nothing is shown",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const Bytes front = forgery.bytes();
    const ForgedEntry right = forgery.entry(forgery.find(ReplayChunkKind::Checkpoint, 2));
    ForgedEntry early = right;
    --early.time;
    ForgedEntry late = right;
    ++late.time;
    ForgedEntry less = right;
    --less.digest;
    ForgedEntry more = right;
    ++more.digest;
    ForgedEntry between = right;
    ++between.offset;
    const ForgedEntry frame = forgery.entry(forgery.find(ReplayChunkKind::Frame, 2));
    const ForgedEntry layout{right.time, forgery.places[1].offset, forgery.places[1].digest};
    for (const ForgedEntry& entry : {right, early, late, less, more, between, frame, layout}) {
        INFO("at " << entry.time << ", " << entry.offset << ", digest " << entry.digest);
        const bool is_right = entry.time == right.time && entry.offset == right.offset &&
                              entry.digest == right.digest;
        Bytes bytes = front;
        append_end(bytes, forgery.end({entry}));
        for (const bool is_sought : {false, true}) {
            ReplayScreen screen(bytes);
            REQUIRE(screen.player.open() == ReplayError::None);
            const NetTime end = screen.player.end_time();
            CHECK((is_sought ? screen.player.seek(end) : screen.player.advance(end)) ==
                  (is_right ? ReplayError::None : ReplayError::Corrupt));
            CHECK(screen.world.object_count() == (is_right ? 2 : 0));
        }
    }
}

}  // namespace replayout::test::replay_forged_end
