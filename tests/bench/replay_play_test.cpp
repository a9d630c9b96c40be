// SPDX-License-Identifier: MIT
#include "match/session/replay_play.h"

#include "bench/played_match.h"
#include "bench/temporary_file.h"
#include "match/battle/battle.h"
#include "match/battle/match_world.h"
#include "match/recording/recorded_match.h"
#include "match/recording/replay_file.h"
#include "match/session/match_drivers.h"
#include "support/checks/catch.h"

#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/replay_recorder.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace replayout;
using namespace replayout::match;
using replayout::test::battle_of;
using replayout::test::played;
using replayout::test::schema_of;
using replayout::test::TemporaryFile;

namespace {

[[nodiscard]] std::vector<Recording> small_battle() {
    return {battle_of(150, 3)};
}

[[nodiscard]] MatchResult record(const std::vector<Recording>& recordings, MatchOptions options,
                                 const std::string& path) {
    options.record_path = path;
    options.traces = {"a trace"};
    options.clients = 2;
    options.checkpoints_s = 1;
    return played(options, recordings);
}

}  // namespace

TEST_CASE("Replay of a match: places at random equal what the server had", "[bench][replay_play]") {
    const auto recordings = small_battle();
    for (const bool is_quantised : {false, true}) {
        TemporaryFile file;
        MatchOptions options;
        options.is_quantised = is_quantised;
        options.is_push_based = is_quantised;
        const MatchResult match = record(recordings, options, file.path);
        INFO(match.first_difference << match.twin_difference);
        REQUIRE(match.recorded.has_value());
        CHECK(match.recorded->error.empty());
        CHECK(match.recorded->stats.checkpoints_written > 3);
        CHECK(match.clients_equal == 2);
        CHECK(match.is_twin_equal);  // the twin is not recorded

        MatchOptions play;
        play.play_path = file.path;
        play.seeks = 40;
        const ReplayResult shown = play_replay(play, recordings);
        INFO(shown.first_difference);
        CHECK(shown.is_good());
        CHECK(shown.seeks_equal == 40);
        CHECK(shown.is_whole);
        REQUIRE(shown.verdict.has_value());
        CHECK(shown.verdict->crc32 == match.server_crc32);
        // Alone the file says what it shows, and not whether that is right.
        play.seeks = 0;
        const ReplayResult alone = play_replay(play, {});
        CHECK_FALSE(alone.verdict.has_value());
        CHECK(alone.world_crc32 == shown.world_crc32);
        play.seek_s = 0;
        CHECK(play_replay(play, {}).world_crc32 != shown.world_crc32);
    }
}

TEST_CASE("Replay of a match: where it cannot be written clients are equal all the same",
          "[bench][replay_play]") {
    const auto recordings = small_battle();
    MatchOptions options;
    options.clients = 2;  // as record() has
    CHECK_THROWS_WITH(record(recordings, options, "no/such/folder/x"),
                      Catch::Matchers::Contains("no/such/folder/x: cannot be written ("));
    if (!std::filesystem::is_character_file("/dev/full")) {
        WARN("left out: here is no /dev/full");
        return;
    }
    const MatchResult match = record(recordings, options, "/dev/full");
    CHECK(match.is_good(options));
    CHECK_FALSE(match.is_recorded());
    REQUIRE(match.recorded.has_value());
    CHECK(match.recorded->error.starts_with("could not be written whole ("));
    const std::string text = report(options, match);
    CHECK(text.find("  All clients equal the server.\n  NOT RECORDED: ") != std::string::npos);
    CHECK(text.find(" checkpoints\n") == std::string::npos);
}

TEST_CASE("Replay of a match: another match, and what is none, is refused by a sentence",
          "[bench][replay_play]") {
    const auto recordings = small_battle();
    TemporaryFile file;
    (void)record(recordings, MatchOptions(), file.path);
    MatchOptions play;
    play.play_path = file.path;
    auto others = recordings;
    others[0].classes[0].name += "2";
    CHECK_THROWS_WITH(play_replay(play, others),
                      Catch::Matchers::Contains("it is the recording of another match"));
    play.seeks = 3;
    CHECK_THROWS_WITH(play_replay(play, {}), Catch::Matchers::Contains("--seeks needs the traces"));
    play.play_path = file.path + ".no";
    CHECK_THROWS_WITH(play_replay(play, {}), Catch::Matchers::Contains("cannot read"));
    TemporaryFile text;
    std::ofstream(text.path) << "this is no recording";
    play.play_path = text.path;
    CHECK_THROWS_WITH(play_replay(play, {}), Catch::Matchers::Contains("not a replay"));
}

TEST_CASE("Replay of a match: a place beyond its end is refused, its end as it is told is not",
          "[bench][replay_play]") {
    const auto recordings = small_battle();
    TemporaryFile file;
    (void)record(recordings, MatchOptions(), file.path);
    MatchOptions play;
    play.play_path = file.path;
    const ReplayResult whole = play_replay(play, {});
    const double length_s = whole.end_s - whole.start_s;
    CHECK(whole.shown_s == length_s);
    // As it is told, in milliseconds, it may be rounded up.
    for (const double end_s : {std::round(length_s * 1e3) / 1e3, length_s + 0.0004}) {
        play.seek_s = end_s;
        CHECK_NOTHROW((void)play_replay(play, {}));
    }
    for (const double beyond_s : {length_s + 0.002, length_s + 1, 1e6}) {
        play.seek_s = beyond_s;
        CHECK_THROWS_WITH(play_replay(play, {}), Catch::Matchers::Contains("is beyond its end"));
    }
    std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
    play.seek_s = length_s;
    CHECK_THROWS_WITH(play_replay(play, {}), Catch::Matchers::Contains("where it is cut off"));
}

TEST_CASE("Replay of a match: of a battle is made what the file can have, whatever it says",
          "[bench][replay_play]") {
    std::vector<Recording> recordings = small_battle();
    MatchOptions options;
    options.seed = 3;
    const auto schema = schema_of(recordings, options);
    recordings[0].object_count = 0xFFFF'FFFF;
    const std::vector<std::byte> data =
        encode_recorded_match(options, recordings, 0xFFFF'FFFF'FFFF'FFFF);
    TemporaryFile file;
    {
        LoopbackNetwork network(LoopbackSettings(), std::pmr::get_default_resource());
        MatchWorld world(*schema);
        NetDriver server(NetDriverSettings(), network.endpoint(PeerId{1}), world);
        REQUIRE(add_match_layouts(*schema, server));
        REQUIRE(server.listen());
        ReplayFileSink sink(file.path);
        ReplayRecorderSettings settings;
        settings.game_data = data;
        ReplayRecorder recorder(sink, settings);
        REQUIRE(server.start_recording(recorder));
        server.tick_flush(NetTime::from_milliseconds(33));
        // A pause of eleven days: a million ticks would fit by their time alone.
        server.tick_flush(NetTime::from_milliseconds(1'000'000'000));
        server.stop_recording();
        REQUIRE(sink.close());
    }
    MatchOptions play;
    play.play_path = file.path;
    const auto begin = std::chrono::steady_clock::now();
    const ReplayResult shown = play_replay(play, {});
    CHECK(shown.verdict.has_value());
    CHECK(shown.end_s > 900'000);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("Replay of a match: a battle that was cut off is judged up to there",
          "[bench][replay_play]") {
    BattleSettings settings;
    settings.seed = 1;
    settings.tick_count = 90;
    const std::vector<Recording> recordings{make_battle(settings)};
    TemporaryFile file;
    MatchOptions options;
    options.seed = 1;
    options.clients = 1;
    options.record_path = file.path;
    (void)played(options, recordings);
    MatchOptions play;
    play.play_path = file.path;
    CHECK(play_replay(play, {}).is_good());
    for (const double seek_s : {0.0, 1.0, 2.0}) {
        play.seek_s = seek_s;
        CHECK(play_replay(play, {}).is_good());
    }
    play.seek_s.reset();
    const auto size = std::filesystem::file_size(file.path);
    for (const std::uintmax_t part : {4u, 3u, 2u}) {
        std::filesystem::resize_file(file.path, size * part / 5);
        const ReplayResult shown = play_replay(play, {});
        CHECK_FALSE(shown.is_whole);
        INFO(part << " of 5: " << shown.verdict->difference);
        CHECK(shown.is_good());
    }
}

TEST_CASE("Replay file: what lies behind 4 GiB is read as what lies before",
          "[bench][replay_play]") {
    TemporaryFile file;
    const std::uint64_t far = (std::uint64_t{1} << 32) + 12'345;
    {
        std::ofstream out(file.path, std::ios::binary);  // a hole takes no room
        out << "near";
        out.seekp(static_cast<std::streamoff>(far));
        out << "far!";
    }
    ReplayFileSource source(file.path);
    REQUIRE(source.is_open());
    CHECK(source.size() == far + 4);
    std::array<std::byte, 4> bytes{};
    const auto text = [&] {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    CHECK(source.read(far, bytes));
    CHECK(text() == "far!");
    CHECK(source.read(0, bytes));
    CHECK(text() == "near");
    CHECK_FALSE(source.read(far + 1, bytes));
    CHECK(source.read(far, bytes));  // nothing sticks
}

TEST_CASE("Replay of a match: what it says of its match comes back, and nothing else does",
          "[bench][replay_play]") {
    const auto recordings = small_battle();
    MatchOptions options;
    options.seed = 5;
    options.is_quantised = true;
    std::vector<std::byte> bytes = encode_recorded_match(options, recordings, 77);
    RecordedMatch match;
    REQUIRE(decode_recorded_match(bytes, match));
    CHECK(match.is_battle);
    CHECK(match.is_quantised);
    CHECK_FALSE(match.is_push_based);
    CHECK(match.seed == 5);
    CHECK(match.ticks == 77);
    REQUIRE(match.recordings.size() == 1);
    CHECK(match.recordings[0].classes == recordings[0].classes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        RecordedMatch cut;
        CHECK_FALSE(decode_recorded_match(std::span(bytes).first(size), cut));
    }
    bytes.push_back(std::byte{0});
    CHECK_FALSE(decode_recorded_match(bytes, match));
}
