// SPDX-License-Identifier: MIT
//
// Recordings of which every digest is right, and one thing is not: each is refused for that, where
// it is read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "support/hostile/forged_recording.h"
#include "support/hostile/replay_screen.h"
#include "support/hostile/replay_tape.h"

#include "control_message.h"
#include "replay_format.h"

namespace replayout::test {
namespace {

/// Of a header's payload.
constexpr std::size_t wire_version_at = 2;
constexpr std::size_t start_at = 20;

/// Counts what it is asked for, and fails or lies where it is told.
class FailingSource final : public ReplaySource {
  public:
    explicit FailingSource(std::span<const std::byte> bytes) : bytes_(bytes) {}

    /// It has no more than that, as soon as so many reads are done.
    void shrink(std::size_t size, std::size_t behind_reads = 0) {
        shrunk_size_ = size;
        shrinking_read_ = behind_reads;
    }

    [[nodiscard]] std::uint64_t size() override {
        bytes_ = bytes_.first(reads < shrinking_read_ ? bytes_.size() : shrunk_size_);
        return bytes_.size();
    }
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> target) override {
        const std::size_t read = reads++;
        if (read == failing_read || (read > failing_read && is_gone) || offset > bytes_.size() ||
            target.size() > bytes_.size() - offset) {
            return false;
        }
        const auto from = bytes_.subspan(static_cast<std::size_t>(offset), target.size());
        std::copy(from.begin(), from.end(), target.begin());
        if (offset == changing_head_at && target.size() == replay_chunk_head_bytes) {
            target[0] ^= std::byte{7};  // a frame is a checkpoint, until it is read again
        }
        bytes_read_end = std::max<std::uint64_t>(bytes_read_end, offset + target.size());
        return true;
    }

    std::size_t reads = 0;
    std::size_t failing_read = std::numeric_limits<std::size_t>::max();
    bool is_gone = false;  ///< all behind that fail, too
    std::uint64_t changing_head_at = 0;
    std::uint64_t bytes_read_end = 0;

  private:
    std::span<const std::byte> bytes_;
    std::size_t shrunk_size_ = 0;
    std::size_t shrinking_read_ = std::numeric_limits<std::size_t>::max();
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
        settings.may_leave_out_texts = true;
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

/// Chunk `last` is the last one that is shown without an end; with one, all of it is shown or none.
void check_is_good_up_to(std::size_t last, Forgery& forgery) {
    const bool is_all_good = last == forgery.chunks.size() - 1;
    Bytes bytes = forgery.bytes();
    ReplayScreen cut(bytes);
    REQUIRE(cut.player.open() == ReplayError::None);
    CHECK_FALSE(cut.player.is_whole());
    CHECK(cut.player.end_time().microseconds == forgery.time_of(last));
    CHECK(cut.player.advance(cut.player.end_time()) == ReplayError::None);
    append_end(bytes, forgery.end({forgery.entry(forgery.find(ReplayChunkKind::Checkpoint))}));
    ReplayScreen whole(bytes);
    REQUIRE(whole.player.open() == ReplayError::None);
    CHECK(whole.player.checkpoint_count() == 1);
    CHECK(whole.player.advance(whole.player.end_time()) ==
          (is_all_good ? ReplayError::None : ReplayError::Corrupt));
    CHECK((whole.world.object_count() == 0) == !is_all_good);
}

}  // namespace

TEST_CASE("Replay: behind a read that failed one seeks on from the checkpoint before it",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    // Who went through all from the start would come by a frame that is refused.
    Forgery forgery(tape.bytes());
    const std::size_t early = forgery.find(ReplayChunkKind::Frame, 1);
    store_le(forgery.chunks[early].body().subspan(1), forgery.time_of(early) - 86'400'000'000);
    Bytes bytes = forgery.bytes();
    std::vector<ForgedEntry> checkpoints;
    for (std::size_t i = 0; i < 3; ++i) {
        checkpoints.push_back(forgery.entry(forgery.find(ReplayChunkKind::Checkpoint, i)));
    }
    append_end(bytes, forgery.end(checkpoints));
    FailingSource source(bytes);
    TestWorld world(5'000'000);
    ReplayPlayer player({}, source, world);
    TestSchema::get().add_to(player.driver());
    REQUIRE(player.open() == ReplayError::None);
    REQUIRE(player.checkpoint_count() == 3);
    REQUIRE(player.seek(player.checkpoint_time(1)) == ReplayError::None);
    source.failing_read = source.reads;
    REQUIRE(player.advance(player.end_time()) == ReplayError::ReadFailed);
    CHECK(world.object_count() == 0);
    const NetTime time = player.time();
    REQUIRE(player.seek(time) == ReplayError::None);
    CHECK(text_of_world(player.driver(), world) == tape.texts.at(time));
    CHECK(player.seek(player.checkpoint_time(0)) == ReplayError::None);
    CHECK(player.advance(time) == ReplayError::Corrupt);
}

TEST_CASE("Replay: of checkpoints no more are named than a recording may have",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const std::size_t first = forgery.find(ReplayChunkKind::Checkpoint);
    const ForgedChunk checkpoint = forgery.chunks[first];
    const std::size_t last = forgery.find(ReplayChunkKind::Checkpoint, 2);
    forgery.chunks.resize(last);
    forgery.chunks.insert(forgery.chunks.begin() + static_cast<std::ptrdiff_t>(first), 40'000,
                          checkpoint);
    const Bytes unended = forgery.bytes();
    // Of more one in two is known, as a recorder does it.
    ReplayScreen scanned(unended);
    REQUIRE(scanned.player.open() == ReplayError::None);
    CHECK(scanned.player.checkpoint_count() == 16'384 + (40'002 - 32'768) / 2);
    const NetTime end = scanned.player.end_time();
    REQUIRE(scanned.player.seek(end) == ReplayError::None);
    CHECK(scanned.text() == tape.texts.at(end));
    for (const std::size_t count : {std::size_t{32'768}, std::size_t{32'769}}) {
        INFO("checkpoints " << count);
        Bytes bytes = unended;
        append_end(bytes, forgery.end(std::vector(count, forgery.entry(first))));
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK((screen.player.checkpoint_count() == count) == (count == 32'768));
    }
}

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
        {"first of no kind", ReplayError::Corrupt, 0, set_kind(static_cast<ReplayChunkKind>(0))},
        {"first of kind 6", ReplayError::Corrupt, 0, set_kind(static_cast<ReplayChunkKind>(6))},
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
        CHECK(screen.source.bytes_read_end <= forgery.places[row.chunk + 1].offset);
        CHECK(screen.world.object_count() == 0);
    }
    Forgery forgery(tape.bytes());
    const Bytes bytes = forgery.bytes();
    OtherScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.advance(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.world.object_count() == 2);
}

TEST_CASE(
    "Replay: another magic or less than one is no recording, and nothing behind it no whole one",
    "[netdriver][replay][hostile]") {
    const Bytes bytes(replay_magic.begin(), replay_magic.end());
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        INFO(size << " bytes");
        const auto cut = std::span(bytes).first(size);
        ReplayScreen screen(cut);
        CHECK(screen.player.open() ==
              (size < bytes.size() ? ReplayError::NotAReplay : ReplayError::Corrupt));
    }
    const Tape tape(1'000);
    for (std::size_t place = 0; place < bytes.size(); ++place) {
        for (const unsigned flip : {0x01u, 0x80u}) {
            INFO("byte " << place << " flipped by " << flip);
            Bytes other = tape.bytes();
            other[place] ^= static_cast<std::byte>(flip);
            ReplayScreen screen(other);
            CHECK(screen.player.open() == ReplayError::NotAReplay);
        }
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
        const std::size_t opening = good.source.reads;
        REQUIRE(good.player.advance(good.player.end_time()) == ReplayError::None);
        for (std::size_t read = opening; read < good.source.reads; ++read) {
            INFO((has_end ? "whole" : "cut off") << ", read " << read);
            OtherScreen screen(bytes);
            screen.source.failing_read = read;
            REQUIRE(screen.player.open() == ReplayError::None);
            CHECK(screen.player.advance(screen.player.end_time()) == ReplayError::ReadFailed);
            CHECK(screen.world.object_count() == 0);
        }
    }
}

TEST_CASE("Replay: a source that has shrunk has not what was there",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    const Bytes bytes = tape.bytes();
    Forgery forgery(bytes);
    (void)forgery.bytes();
    const std::size_t checkpoint = forgery.find(ReplayChunkKind::Checkpoint, 1);
    const std::size_t begin = forgery.places[checkpoint].offset;
    const std::size_t end = forgery.places[checkpoint + 1].offset;
    const NetTime time{forgery.time_of(checkpoint)};
    for (const std::size_t size :
         {std::size_t{0}, begin - 2, begin - 1, begin, begin + 1,
          begin + replay_chunk_head_bytes - 1, begin + replay_chunk_head_bytes, end - 1}) {
        INFO(size << " bytes");
        OtherScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        REQUIRE(screen.player.is_whole());
        screen.source.shrink(size);
        CHECK(screen.player.seek(time) == ReplayError::Corrupt);
        CHECK(screen.world.object_count() == 0);
    }
    // While it is opened, behind its front.
    constexpr std::size_t front_reads = 1 + 2 * (1 + tape_layouts);
    for (std::size_t size = 0; size <= replay_footer_bytes; ++size) {
        INFO(size << " bytes");
        OtherScreen screen(bytes);
        screen.source.shrink(size, front_reads);
        CHECK(screen.player.open() == ReplayError::Empty);
        CHECK(screen.source.reads == front_reads + (size == replay_footer_bytes ? 1 : 0));
    }
}

TEST_CASE("Replay: a chunk that is another one when it is read again is none",
          "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const Bytes bytes = forgery.bytes();
    const std::size_t frame = forgery.find(ReplayChunkKind::Frame, 1);
    OtherScreen screen(bytes);
    screen.source.changing_head_at = forgery.places[frame].offset;
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.checkpoint_count() == 1);
    CHECK(screen.player.end_time().microseconds == forgery.time_of(frame - 1));
}

TEST_CASE("Replay: what follows a wrong part is not shown, and of no end is the last before it",
          "[netdriver][replay][hostile]") {
    struct Row {
        const char* what;
        std::size_t back;  // to the last chunk that is good; 0: all are
        std::function<void(Forgery&, std::size_t)> change;
    };
    const auto set_kind = [](ReplayChunkKind kind) {
        return [=](Forgery& forgery, std::size_t at) { forgery.chunks[at].kind = kind; };
    };
    const auto set_flags = [](int flags) {
        return [=](Forgery& forgery, std::size_t at) {
            forgery.chunks[at].body()[0] = static_cast<std::byte>(flags);
        };
    };
    const auto set_digest = [](std::int64_t offset) {
        return [=](Forgery& forgery, std::size_t at) { forgery.chunks[at].digest_offset = offset; };
    };
    const auto set_time = [](std::int64_t later) {
        return [=](Forgery& forgery, std::size_t at) {
            store_le(forgery.chunks[at].body().subspan(1), forgery.time_of(at - 1) + later);
        };
    };
    const auto join_before = [=](ReplayChunkKind kind) {
        return [=](Forgery& forgery, std::size_t at) {
            set_flags(0)(forgery, at - 1);
            set_time(0)(forgery, at);
            set_kind(kind)(forgery, at);
        };
    };
    const std::vector<Row> rows{
        {"nothing", 0, set_flags(1)},
        {"a header", 1, set_kind(ReplayChunkKind::Header)},
        {"a layout", 1, set_kind(ReplayChunkKind::Layout)},
        {"no kind", 1, set_kind(static_cast<ReplayChunkKind>(0))},
        {"kind 6", 1, set_kind(static_cast<ReplayChunkKind>(6))},
        {"a flag", 1, set_flags(3)},
        {"no whole part", 1,
         [](Forgery& forgery, std::size_t at) { forgery.chunks[at].payload.resize(8); }},
        {"a digest one less", 1, set_digest(-1)},
        {"a digest one more", 1, set_digest(1)},
        {"no time later", 0, set_time(0)},
        {"a time before", 1, set_time(-1)},
        {"a time before all", 1, set_time(-10'000'000)},
        {"a time too late", 1, set_time(replay_length_us_max + 1)},
        {"a part of the frame before", 0, join_before(ReplayChunkKind::Frame)},
        {"a part of another kind", 2, join_before(ReplayChunkKind::Checkpoint)},
    };
    const Tape tape(1'000);
    for (const Row& row : rows) {
        INFO(row.what);
        Forgery forgery(tape.bytes());
        const std::size_t frame = forgery.find(ReplayChunkKind::Frame, 1);
        const std::size_t last = row.back == 0 ? forgery.chunks.size() - 1 : frame - row.back;
        REQUIRE(forgery.chunks[frame - 1].kind == ReplayChunkKind::Frame);
        row.change(forgery, frame);
        check_is_good_up_to(last, forgery);
    }
}

TEST_CASE("Replay: a checkpoint of several parts is one, and right whether there is an end or not",
          "[netdriver][replay]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    for (std::size_t nth = 0; nth < 2 * tape_checkpoints; nth += 2) {
        const std::size_t checkpoint = forgery.find(ReplayChunkKind::Checkpoint, nth);
        ForgedChunk rest{ReplayChunkKind::Checkpoint, forgery.chunks[checkpoint].payload, 0};
        rest.payload.resize(replay_part_head_bytes);  // nothing but that it is the last
        forgery.chunks[checkpoint].body()[0] = std::byte{0};
        forgery.chunks.insert(forgery.chunks.begin() + static_cast<std::ptrdiff_t>(checkpoint) + 1,
                              rest);
    }
    Bytes bytes = forgery.bytes();
    std::vector<ForgedEntry> entries;
    for (std::size_t nth = 0; nth < 2 * tape_checkpoints; nth += 2) {
        entries.push_back(forgery.entry(forgery.find(ReplayChunkKind::Checkpoint, nth)));
    }
    for (const bool has_end : {false, true}) {
        INFO((has_end ? "whole" : "cut off"));
        if (has_end) {
            append_end(bytes, forgery.end(entries));
        }
        ReplayScreen screen(bytes);
        REQUIRE(screen.player.open() == ReplayError::None);
        REQUIRE(screen.player.is_whole() == has_end);
        REQUIRE(screen.player.checkpoint_count() == tape_checkpoints);
        for (std::size_t i = tape_checkpoints; i-- > 0;) {
            CHECK(screen.player.checkpoint_time(i).microseconds == entries[i].time);
            REQUIRE(screen.player.seek(screen.player.checkpoint_time(i)) == ReplayError::None);
            CHECK(screen.text() == tape.texts.at(screen.player.time()));
        }
        for (const auto& [time, text] : tape.texts) {
            REQUIRE(screen.player.advance(time) == ReplayError::None);
            CHECK(screen.text() == text);
        }
    }
}

TEST_CASE(
    "Replay: a frame that lacks its last part is not shown, and an end behind it is no excuse",
    "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const std::size_t last = forgery.chunks.size() - 1;
    forgery.chunks[last].body()[0] = std::byte{0};
    const NetTime before{forgery.time_of(last - 1)};
    Bytes bytes = forgery.bytes();
    ReplayScreen cut(bytes);
    REQUIRE(cut.player.open() == ReplayError::None);
    CHECK(cut.player.end_time() == before);
    REQUIRE(cut.player.advance(before) == ReplayError::None);
    CHECK(cut.text() == tape.texts.at(before));
    append_end(bytes, forgery.end({forgery.entry(forgery.find(ReplayChunkKind::Checkpoint))}));
    ReplayScreen whole(bytes);
    REQUIRE(whole.player.open() == ReplayError::None);
    REQUIRE(whole.player.advance(before) == ReplayError::None);
    CHECK(whole.text() == tape.texts.at(before));
    CHECK(whole.player.advance(whole.player.end_time()) == ReplayError::Corrupt);
    CHECK(whole.world.object_count() == 0);
    CHECK(whole.player.seek(before) == ReplayError::None);
    CHECK(whole.text() == tape.texts.at(before));
}

TEST_CASE("Replay: no frame stands before the first checkpoint", "[netdriver][replay][hostile]") {
    const Tape tape(1'000);
    Forgery forgery(tape.bytes());
    const std::size_t first = forgery.find(ReplayChunkKind::Checkpoint);
    forgery.chunks.erase(forgery.chunks.begin() + static_cast<std::ptrdiff_t>(first));
    REQUIRE(forgery.chunks[first].kind == ReplayChunkKind::Frame);
    const Bytes bytes = forgery.bytes();
    ReplayScreen screen(bytes);
    CHECK(screen.player.open() == ReplayError::Empty);
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
