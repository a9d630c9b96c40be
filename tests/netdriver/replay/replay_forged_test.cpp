// SPDX-License-Identifier: MIT
//
// Recordings that somebody wrote who knows the format: every digest is right, and one thing is not.
// Each is refused for that, where it is read, or its end is not believed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/replay_screen.h"
#include "support/replay_tape.h"

#include "control_message.h"
#include "replay_format.h"

namespace replayout::test {
namespace {

/// Of a header's payload.
constexpr std::size_t wire_version_at = 2;
constexpr std::size_t start_at = 20;

struct ForgedChunk {
    ReplayChunkKind kind = ReplayChunkKind::Frame;
    Vector<std::byte> payload;
    std::int64_t digest_offset = 0;  ///< from the digest of the chunk before to what it says

    [[nodiscard]] std::span<std::byte> body() { return {payload.data(), payload.size()}; }
};

struct ForgedEntry {
    std::int64_t time = 0;
    std::uint64_t offset = 0;
    std::uint64_t digest = 0;
};

struct ForgedEnd {
    ReplayChunkKind kind = ReplayChunkKind::End;
    std::int64_t time = 0;
    std::uint64_t header_digest = 0;
    std::uint32_t count = 0;
    std::vector<ForgedEntry> entries;

    [[nodiscard]] Vector<std::byte> payload() const {
        Vector<std::byte> bytes;
        append_le(bytes, time);
        append_le(bytes, header_digest);
        append_le(bytes, count);
        for (const ForgedEntry& entry : entries) {
            append_le(bytes, entry.time);
            append_le(bytes, entry.offset);
            append_le(bytes, entry.digest);
        }
        return bytes;
    }
};

/// Returns its digest, which is right.
std::uint64_t append_chunk(Bytes& bytes, ReplayChunkKind kind, std::uint64_t previous,
                           std::span<const std::byte> payload) {
    Vector<std::byte> chunk(replay_chunk_head_bytes, std::byte{0});
    chunk.insert(chunk.end(), payload.begin(), payload.end());
    const std::uint64_t digest = finish_replay_chunk(kind, previous, chunk);
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    return digest;
}

void append_footer(Bytes& bytes, std::size_t chunk_bytes) {
    Vector<std::byte> footer;
    append_le(footer, static_cast<std::uint32_t>(chunk_bytes));
    bytes.insert(bytes.end(), footer.begin(), footer.end());
    bytes.insert(bytes.end(), replay_end_magic.begin(), replay_end_magic.end());
}

/// A recording, chunk by chunk, but for its end.
class Forgery {
  public:
    struct Place {
        std::uint64_t offset = 0;
        std::uint64_t digest = 0;
    };

    explicit Forgery(const Bytes& whole) {
        for (std::size_t at = replay_magic.size(); at + replay_footer_bytes < whole.size();) {
            ReplayChunkHead head;
            REQUIRE(read_replay_chunk_head(std::span(whole).subspan(at), head));
            const auto from =
                whole.begin() + static_cast<std::ptrdiff_t>(at + replay_chunk_head_bytes);
            if (head.kind != ReplayChunkKind::End) {
                chunks.push_back(
                    {head.kind, Vector<std::byte>(from, from + head.payload_bytes), 0});
            }
            at += replay_chunk_head_bytes + head.payload_bytes + replay_digest_bytes;
        }
    }

    /// Index of the nth chunk of a kind.
    [[nodiscard]] std::size_t find(ReplayChunkKind kind, std::size_t nth = 0) const {
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            if (chunks[i].kind == kind && nth-- == 0) {
                return i;
            }
        }
        FAIL("no such chunk");
        return 0;
    }
    [[nodiscard]] std::span<std::byte> header() { return chunks.front().body(); }
    [[nodiscard]] std::int64_t time_of(std::size_t chunk) {
        return static_cast<std::int64_t>(load_le(chunks[chunk].body().subspan(1), 8));
    }

    /// All of it, without an end. Says where each chunk lies.
    [[nodiscard]] Bytes bytes() {
        places.clear();
        Bytes bytes(replay_magic.begin(), replay_magic.end());
        std::uint64_t digest = 0;
        for (ForgedChunk& chunk : chunks) {
            const std::uint64_t offset = bytes.size();
            digest = append_chunk(bytes, chunk.kind,
                                  digest + static_cast<std::uint64_t>(chunk.digest_offset),
                                  chunk.body());
            places.push_back({offset, digest});
        }
        return bytes;
    }
    /// What an end says of a chunk. Behind bytes().
    [[nodiscard]] ForgedEntry entry(std::size_t chunk) {
        return {time_of(chunk), places[chunk].offset, places[chunk].digest};
    }
    /// One that names these, and is right if they are. Behind bytes().
    [[nodiscard]] ForgedEnd end(std::vector<ForgedEntry> entries) {
        ForgedEnd end;
        end.time = time_of(chunks.size() - 1);
        end.header_digest = places.front().digest;
        end.count = static_cast<std::uint32_t>(entries.size());
        end.entries = std::move(entries);
        return end;
    }

    std::vector<ForgedChunk> chunks;
    std::vector<Place> places;
};

void append_end(Bytes& bytes, const ForgedEnd& end) {
    const std::size_t offset = bytes.size();
    const Vector<std::byte> payload = end.payload();
    (void)append_chunk(bytes, end.kind, 0, {payload.data(), payload.size()});
    append_footer(bytes, bytes.size() - offset);
}

/// Counts what it is asked for, and fails where it is told.
class FailingSource final : public ReplaySource {
  public:
    explicit FailingSource(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t size() override { return bytes_.size(); }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        const std::size_t read = reads++;
        if (read == failing_read || (read > failing_read && is_gone) || offset > bytes_.size() ||
            target.size() > bytes_.size() - offset) {
            return false;
        }
        const auto from = bytes_.subspan(static_cast<std::size_t>(offset), target.size());
        std::copy(from.begin(), from.end(), target.begin());
        bytes_read_end = std::max<std::uint64_t>(bytes_read_end, offset + target.size());
        return true;
    }

    std::size_t reads = 0;
    std::size_t failing_read = std::numeric_limits<std::size_t>::max();
    bool is_gone = false;  ///< all behind that fail, too
    std::uint64_t bytes_read_end = 0;

  private:
    std::span<const std::byte> bytes_;
};

/// Plays to somebody who lacks a class, and so must read what a recording says of its layouts.
struct OtherScreen {
    explicit OtherScreen(std::span<const std::byte> bytes, const NetConfig& config = {})
        : source(bytes), world(5'000'000), player(settings(config), source, world) {
        REQUIRE(player.driver().add_layout(TestSchema::get().archive()));
        REQUIRE(player.driver().add_layout(TestSchema::get().pawn()));
    }
    [[nodiscard]] static NetDriverSettings settings(const NetConfig& config) {
        NetDriverSettings settings;
        settings.config = config;
        settings.layout_policy = LayoutPolicy::SkipUnknown;
        return settings;
    }

    FailingSource source;
    TestWorld world;
    ReplayPlayer player;
};

constexpr std::uint32_t tape_layouts = 3;
constexpr std::size_t tape_checkpoints = 3;

}  // namespace

TEST_CASE("Replay: a front that is wrong in one thing is refused for that, and nothing behind read",
          "[netdriver][replay][hostile]") {
    struct Row {
        const char* what;
        ReplayError error;
        std::size_t chunk;  // that is wrong
        std::function<void(ForgedChunk&)> change;
    };
    const auto set_version = [](std::size_t at, int version) {
        return [=](ForgedChunk& chunk) {
            store_le(chunk.body().subspan(at), static_cast<std::uint16_t>(version));
        };
    };
    const auto set_start = [](std::int64_t start) {
        return [=](ForgedChunk& chunk) { store_le(chunk.body().subspan(start_at), start); };
    };
    const auto set_digest = [](std::int64_t offset) {
        return [=](ForgedChunk& chunk) { chunk.digest_offset = offset; };
    };
    const auto set_kind = [](ReplayChunkKind kind) {
        return [=](ForgedChunk& chunk) { chunk.kind = kind; };
    };
    const auto set_size = [](std::size_t size) {
        return [=](ForgedChunk& chunk) { chunk.payload.resize(size); };
    };
    constexpr std::int64_t time_limit = std::int64_t{1} << 60;
    const std::vector<Row> rows{
        {"first a layout", ReplayError::Corrupt, 0, set_kind(ReplayChunkKind::Layout)},
        {"first an end", ReplayError::Corrupt, 0, set_kind(ReplayChunkKind::End)},
        {"something before the first", ReplayError::Corrupt, 0, set_digest(1)},
        {"no version", ReplayError::Corrupt, 0, set_size(1)},
        {"no whole header", ReplayError::Corrupt, 0, set_size(31)},
        {"version 0", ReplayError::UnknownVersion, 0, set_version(0, replay_version - 1)},
        {"version 2", ReplayError::UnknownVersion, 0, set_version(0, replay_version + 1)},
        {"wire before", ReplayError::WireVersion, 0,
         set_version(wire_version_at, wire_version - 1)},
        {"wire behind", ReplayError::WireVersion, 0,
         set_version(wire_version_at, wire_version + 1)},
        {"start too early", ReplayError::Corrupt, 0, set_start(-time_limit)},
        {"start too late", ReplayError::Corrupt, 0, set_start(time_limit)},
        {"a layout that is a frame", ReplayError::Corrupt, 1, set_kind(ReplayChunkKind::Frame)},
        {"a layout that is a header", ReplayError::Corrupt, 2, set_kind(ReplayChunkKind::Header)},
        {"a digest one less", ReplayError::Corrupt, 1, set_digest(-1)},
        {"a digest one more", ReplayError::Corrupt, 2, set_digest(1)},
        {"no fingerprint", ReplayError::Corrupt, 1, set_size(0)},
        {"not all of a fingerprint", ReplayError::Corrupt, 1, set_size(15)},
    };
    const Tape tape(1'000);
    for (const Row& row : rows) {
        INFO(row.what);
        Forgery forgery(tape.bytes());
        REQUIRE(forgery.find(ReplayChunkKind::Layout, tape_layouts - 1) == tape_layouts);
        row.change(forgery.chunks[row.chunk]);
        const Bytes bytes = forgery.bytes();
        OtherScreen screen(bytes);
        CHECK(screen.player.open() == row.error);
        CHECK(screen.source.bytes_read_end == forgery.places[row.chunk + 1].offset);
        CHECK(screen.world.object_count() == 0);
    }
    Forgery forgery(tape.bytes());
    const Bytes bytes = forgery.bytes();
    OtherScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.advance(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.world.object_count() == 2);
}

TEST_CASE("Replay: less than a magic is no recording, and nothing behind it no whole one",
          "[netdriver][replay][hostile]") {
    const Bytes bytes(replay_magic.begin(), replay_magic.end());
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        INFO(size << " bytes");
        ReplayScreen screen(std::span(bytes).first(size));
        CHECK(screen.player.open() ==
              (size < bytes.size() ? ReplayError::NotAReplay : ReplayError::Corrupt));
    }
}

TEST_CASE("Replay: of layouts a recording says no more than the settings allow",
          "[netdriver][replay][hostile]") {
    constexpr std::uint32_t layout_bytes = 600;
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    for (std::size_t i = 1; i <= tape_layouts; ++i) {
        forgery.chunks[i].payload.assign(layout_bytes, std::byte{0xFF});
    }
    const Bytes bytes = forgery.bytes();
    // What cannot be read is refused where it is first needed, again and again.
    for (const int more : {-1, 0, 1}) {
        INFO(more << " more than there are");
        NetConfig count;
        count.described_layouts_max = tape_layouts + static_cast<std::uint32_t>(more);
        NetConfig size;
        size.described_bytes_max = tape_layouts * layout_bytes + static_cast<std::uint32_t>(more);
        for (const NetConfig& config : {count, size}) {
            OtherScreen screen(bytes, config);
            const ReplayError error = screen.player.open();
            REQUIRE(error == (more < 0 ? ReplayError::LayoutMismatch : ReplayError::None));
            if (error == ReplayError::None) {
                const NetTime end = screen.player.end_time();
                CHECK(screen.player.advance(end) == ReplayError::LayoutMismatch);
                CHECK(screen.player.advance(end) == ReplayError::LayoutMismatch);
                CHECK(screen.player.seek(end) == ReplayError::LayoutMismatch);
                CHECK(screen.world.object_count() == 0);
            }
        }
    }
}

TEST_CASE("Replay: a source that fails is said to have failed, wherever it does",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    Bytes bytes = forgery.bytes();
    const ForgedEntry first = forgery.entry(forgery.find(ReplayChunkKind::Checkpoint));
    // Cut off, it is read as a whole: any read may fail. Of one with its end the end need not be
    // read, but for that the rest must be.
    for (const bool has_end : {false, true}) {
        if (has_end) {
            append_end(bytes, forgery.end({first}));
        }
        OtherScreen good(bytes);
        REQUIRE(good.player.open() == ReplayError::None);
        REQUIRE(good.player.checkpoint_count() == (has_end ? 1 : tape_checkpoints));
        REQUIRE(good.source.reads > 2 * tape_layouts);
        for (std::size_t read = 0; read < good.source.reads; ++read) {
            INFO((has_end ? "whole" : "cut off") << ", read " << read);
            OtherScreen screen(bytes);
            screen.source.failing_read = read;
            screen.source.is_gone = has_end;
            CHECK(screen.player.open() == ReplayError::ReadFailed);
        }
    }
}

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
        Bytes bytes = front;
        append_end(bytes, end);
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.checkpoint_count() == (row.is_believed ? 2 : tape_checkpoints));
        CHECK(screen.player.end_time().microseconds == (row.is_believed ? end.time : last));
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
        (void)append_chunk(bytes, ReplayChunkKind::End, 0,
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

TEST_CASE("Replay: what is no packet is refused, and so is one that no server sends, with a reason",
          "[netdriver][replay][hostile]") {
    struct Row {
        const char* what;
        Bytes behind;  // the packets of a frame
        CloseReason reason;
    };
    const std::vector<Row> rows{
        {"half a size", make_bytes(1), CloseReason::None},
        {"a packet of nothing", make_bytes(0, 0), CloseReason::None},
        {"a packet of nothing, before others", make_bytes(0, 0, 1, 0, 0), CloseReason::None},
        {"a packet that is cut off", make_bytes(3, 0, 0, 0), CloseReason::None},
        {"a packet of ones", make_bytes(4, 0x80, 0xFF, 0xFF, 0xFF, 0xFF),
         CloseReason::MalformedBunch},
    };
    const Tape tape(1'000);
    for (const Row& row : rows) {
        INFO(row.what);
        Forgery forgery(tape.bytes());
        Vector<std::byte>& payload =
            forgery.chunks[forgery.find(ReplayChunkKind::Frame, 1)].payload;
        payload.insert(payload.end(), row.behind.begin(), row.behind.end());
        const Bytes bytes = forgery.bytes();
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.advance(screen.player.end_time()) == ReplayError::Refused);
        CHECK(screen.player.close_reason() == row.reason);
        CHECK(screen.world.object_count() == 0);
    }
}

}  // namespace replayout::test
