// SPDX-License-Identifier: MIT
//
// What is recorded is shown again: each tick as it was, from any place to any other.
#include <replayout/netdriver/loopback_transport.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/checks/executors.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/replay_screen.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

/// A game of pawns and archives at random, recorded, with what the server had behind each tick.
class RecordedGame {
  public:
    explicit RecordedGame(std::uint64_t seed, const ReplayRecorderSettings& settings = {},
                          const NetFixtureOptions& options = {})
        : net(options), random_(seed), recorder(sink, settings) {}

    void start() {
        REQUIRE(net.server_driver().start_recording(recorder));
        start_time = net.now();
    }
    void play(std::uint32_t ticks) {
        for (; ticks > 0; --ticks) {
            net.tick([this] { move(); });
            if (net.server_driver().is_recording()) {
                states[net.now()] = net.server_text();
            }
        }
    }
    /// The state at a time of the recording.
    [[nodiscard]] const std::string& at(NetTime time) const {
        const auto later = states.upper_bound(time);
        return later == states.begin() ? later->second : std::prev(later)->second;
    }

    NetFixture net;
    ReplayMemory sink;
    std::map<NetTime, std::string> states;
    NetTime start_time;

  private:
    void move() {
        if (objects_.size() < 3 || random_.percent(10)) {
            objects_.push_back(random_.percent(70) ? net.add_pawn() : net.add_archive());
        } else if (random_.percent(6)) {
            const std::size_t index = random_.below(static_cast<std::uint32_t>(objects_.size()));
            forget(objects_[index]);
            net.remove(objects_[index]);
            objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(index));
        }
        for (std::uint32_t i = 0; i < 3; ++i) {
            change(random_.pick(objects_));
        }
    }
    /// References to what is gone read as none on both sides; elements of arrays do not.
    void forget(ObjectHandle gone) {
        for (const ObjectHandle object : objects_) {
            if (Pawn* pawn = pawn_of(object)) {
                pawn->target = pawn->target == gone ? ObjectHandle{} : pawn->target;
                std::erase(pawn->friends, gone);
            }
        }
    }
    Pawn* pawn_of(ObjectHandle object) {
        return std::get_if<Pawn>(net.server().world.find(object));
    }
    void change(ObjectHandle object) {
        const auto value = static_cast<std::uint32_t>(random_.below(1'000'000));
        if (Pawn* pawn = pawn_of(object)) {
            pawn->health = static_cast<std::int32_t>(value);
            pawn->name = std::to_string(value * 7);
            if (random_.percent(30)) {
                pawn->target = random_.pick(objects_);
                pawn->hits.resize(random_.below(5));
            }
            if (random_.percent(20)) {
                pawn->friends.assign(1, random_.pick(objects_));
            }
            return;
        }
        Archive& archive = net.archive(object);
        archive.counter = value;
        archive.cells.resize(random_.below(20), value);
        if (random_.percent(10)) {
            archive.pages[random_.below(8)].assign(random_.below(5'000), 'x');
        }
    }

    SeededRandom random_;
    std::vector<ObjectHandle> objects_;

  public:
    ReplayRecorder recorder;
};

void check_random_seeks(const RecordedGame& game, std::span<const std::byte> bytes,
                        SeededRandom& random, std::uint32_t count) {
    ReplayScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    std::vector<NetTime> times;
    for (const auto& [time, text] : game.states) {
        if (time <= screen.player.end_time()) {
            times.push_back(time);
        }
    }
    REQUIRE_FALSE(times.empty());
    for (std::uint32_t i = 0; i < count; ++i) {
        const NetTime time = times[random.below(static_cast<std::uint32_t>(times.size()))];
        INFO("seek to " << time.microseconds);
        REQUIRE(screen.player.seek(time) == ReplayError::None);
        REQUIRE(screen.text() == game.at(time));
        CHECK(screen.player.time() == time);
    }
}

}  // namespace

TEST_CASE("Replay: every tick is shown as it was, and so is any that is sought",
          "[netdriver][replay][random]") {
    for (const std::uint64_t seed : seed_range(1, 4)) {
        INFO("seed " << seed);
        NetFixtureOptions options;
        options.sharing = seed % 2 == 0 ? SharingLevel::Off : SharingLevel::Bundles;
        options.link.loss = 0.1;
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = 700;
        RecordedGame game(seed, settings, options);
        game.net.join();
        game.play(20);
        game.start();
        game.play(300);
        game.net.server_driver().stop_recording();
        CHECK(game.recorder.error() == ReplayError::None);
        CHECK(game.recorder.stats().checkpoints_written == 9);
        CHECK(game.recorder.stats().bytes_written == game.sink.bytes().size());

        ReplayScreen screen(game.sink.bytes());
        REQUIRE(screen.player.open() == ReplayError::None);
        CHECK(screen.player.is_whole());
        CHECK(screen.player.start_time() == game.states.begin()->first);
        CHECK(screen.player.end_time() == game.net.now());
        CHECK(screen.player.checkpoint_count() == 9);
        CHECK(screen.world.object_count() == 0);
        for (const auto& [time, text] : game.states) {
            REQUIRE(screen.player.advance(time) == ReplayError::None);
            REQUIRE(screen.text() == text);
        }
        SeededRandom random(seed);
        check_random_seeks(game, game.sink.bytes(), random, 100);
    }
}

TEST_CASE("Replay: from one checkpoint to the next nothing is spawned anew",
          "[netdriver][replay]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    const ObjectHandle other = net.add_pawn();
    net.pawn(pawn).target = other;
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 100;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(net.server_driver().start_recording(recorder));
    for (std::int32_t i = 0; i < 50; ++i) {
        net.tick([&] { net.pawn(pawn).health = i; });
    }
    net.server_driver().stop_recording();
    CHECK(recorder.stats().checkpoints_written == 10);

    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.advance(net.now()) == ReplayError::None);
    CHECK(screen.text() == net.server_text());
    CHECK(screen.world.spawn_count == 2);
    CHECK(screen.world.despawn_count == 0);
    const Pawn& shown =
        screen.world.pawn(screen.player.driver().guids().find_object(net.guid_of(pawn)));
    // Once for each change, and none at checkpoints.
    CHECK(std::count_if(shown.heard.begin(), shown.heard.end(), [](const std::string& line) {
              return line.find("health") != std::string::npos;
          }) == 50);
}

TEST_CASE("Replay: a world larger than the window of a connection is one checkpoint",
          "[netdriver][replay]") {
    NetFixture net;
    for (std::uint32_t i = 0; i < 400; ++i) {
        const ObjectHandle archive = net.add_archive();
        net.archive(archive).pages[i % 8].assign(2'000, static_cast<char>('a' + i % 26));
        net.archive(archive).counter = i;
    }
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));
    net.tick();
    // And so is a frame.
    for (const auto& [object, value] : net.server().world.objects()) {
        net.archive(object).pages[3].assign(1'500, 'z');
    }
    const std::string before = net.server_text();
    net.tick();
    net.server_driver().stop_recording();
    CHECK(recorder.stats().checkpoints_written == 1);
    CHECK(recorder.stats().frames_written == 1);
    CHECK(recorder.stats().checkpoint_bytes > 800'000);

    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.seek(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == net.server_text());
    CHECK(screen.text() == before);
}

TEST_CASE("Replay: what takes the place of an object that goes is there in the same frame",
          "[netdriver][replay]") {
    NetFixture net;
    ObjectHandle pawn = net.add_pawn();
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));
    std::map<NetTime, std::string> states;
    for (std::int32_t i = 0; i < 20; ++i) {
        net.tick([&] {
            net.remove(pawn);
            pawn = net.add_pawn();
            net.pawn(pawn).health = i;
        });
        states[net.now()] = net.server_text();
    }
    net.server_driver().stop_recording();
    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    for (const auto& [time, text] : states) {
        REQUIRE(screen.player.advance(time) == ReplayError::None);
        REQUIRE(screen.text() == text);
    }
}

TEST_CASE("Replay: a recording that was cut off is good up to its last whole frame",
          "[netdriver][replay][random]") {
    const std::uint64_t seed = seed_range(1, 1).first;
    INFO("seed " << seed);
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 500;
    RecordedGame game(seed, settings);
    game.start();
    game.play(100);
    // Nobody ends it.
    SeededRandom random(seed);
    check_random_seeks(game, game.sink.bytes(), random, 20);
    const auto bytes = game.sink.bytes();
    ReplayScreen screen(bytes.first(bytes.size() - 1));
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK_FALSE(screen.player.is_whole());
    CHECK(screen.player.end_time() >= game.net.now().plus_milliseconds(-40));
    REQUIRE(screen.player.seek(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == game.at(screen.player.end_time()));
}

TEST_CASE("Replay: a server that stood still goes on with its recording", "[netdriver][replay]") {
    RecordedGame game(11);
    game.start();
    game.play(20);
    // A map is loaded, say: far longer than a client may be silent.
    NetDriver& server = game.net.server_driver();
    const NetTime late = game.net.now().plus_milliseconds(10 * NetConfig().timeout_ms);
    server.tick_dispatch(late);
    server.tick_flush(late);
    CHECK(server.is_recording());
    server.stop_recording();
    CHECK(game.recorder.error() == ReplayError::None);
    ReplayScreen screen(game.sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.end_time() == late);
    REQUIRE(screen.player.seek(late) == ReplayError::None);
    CHECK(screen.text() == game.net.server_text());
}

TEST_CASE("Replay: behind an error nothing is played again until another place is sought",
          "[netdriver][replay]") {
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 200;
    RecordedGame game(12, settings);
    game.start();
    game.play(100);
    game.net.server_driver().stop_recording();
    std::vector<std::byte> bytes(game.sink.bytes().begin(), game.sink.bytes().end());
    bytes[bytes.size() / 2] ^= std::byte{1};
    ReplayScreen screen(bytes);
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.seek(screen.player.start_time()) == ReplayError::None);
    const ReplayError error = screen.player.advance(screen.player.end_time());
    REQUIRE(error != ReplayError::None);
    const std::uint64_t received = screen.player.driver().stats().packets_received;
    CHECK(screen.player.advance(screen.player.end_time()) == error);
    CHECK(screen.player.driver().stats().packets_received == received);
    REQUIRE(screen.player.seek(screen.player.start_time()) == ReplayError::None);
    CHECK(screen.text() == game.at(screen.player.time()));
}

TEST_CASE("Replay: time outside of a recording is its start or its end", "[netdriver][replay]") {
    RecordedGame game(7);
    game.play(3);
    game.start();
    game.play(50);
    game.net.server_driver().stop_recording();
    ReplayScreen screen(game.sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.seek(NetTime{-5}) == ReplayError::None);
    CHECK(screen.text() == game.states.begin()->second);
    REQUIRE(screen.player.seek(NetTime::from_milliseconds(1'000'000)) == ReplayError::None);
    CHECK(screen.text() == game.states.rbegin()->second);
    CHECK(screen.player.time() == screen.player.end_time());
    // Not back.
    REQUIRE(screen.player.advance(game.start_time) == ReplayError::None);
    CHECK(screen.text() == game.states.rbegin()->second);
}

TEST_CASE("Replay: who is there already stays, and only a checkpoint on the way begins anew",
          "[netdriver][replay]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.checkpoint_ms = 100;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(net.server_driver().start_recording(recorder));
    for (std::int32_t i = 0; i < 20; ++i) {
        net.tick([&] { net.pawn(pawn).health = i; });
    }
    net.server_driver().stop_recording();
    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.checkpoint_count() == 4);
    const NetTime start = screen.player.start_time();
    const NetTime end = screen.player.end_time();
    const NetTime second = screen.player.checkpoint_time(1);
    REQUIRE(screen.player.checkpoint_time(0) == start);
    struct Row {
        NetTime time;
        NetTime shown;
        std::uint32_t spawns;
    };
    const std::vector<Row> rows{
        {start, start, 1},
        {start, start, 1},
        {NetTime{start.microseconds - 1}, start, 1},
        {second.plus_milliseconds(-20), second.plus_milliseconds(-20), 1},
        {second, second, 2},
        {second, second, 2},
        {second.plus_milliseconds(20), second.plus_milliseconds(20), 2},
        {second, second, 3},
        {NetTime{end.microseconds + 1}, end, 4},
        {end, end, 4},
        {NetTime{start.microseconds - 1}, start, 5},
    };
    for (const Row& row : rows) {
        INFO("seek to " << row.time.microseconds);
        REQUIRE(screen.player.seek(row.time) == ReplayError::None);
        CHECK(screen.player.time() == row.shown);
        CHECK(screen.world.spawn_count == row.spawns);
        CHECK(screen.world.despawn_count == row.spawns - 1);
    }
}

TEST_CASE("Replay: a recording starts with its first tick, whatever the clock counts from",
          "[netdriver][replay]") {
    NetFixture net;
    (void)net.add_pawn();
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));  // no tick yet, nor a time
    CHECK(sink.bytes().empty());
    net.tick();
    const NetTime first = net.now();
    net.tick();
    net.server_driver().stop_recording();
    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(screen.player.start_time() == first);
    CHECK(screen.player.checkpoint_time(0) == first);
    CHECK(screen.player.end_time() == net.now());
}

TEST_CASE("Replay: one that was stopped before a tick is empty", "[netdriver][replay]") {
    NetFixture net;
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));
    net.server_driver().stop_recording();
    ReplayScreen screen(sink.bytes());
    CHECK(screen.player.open() == ReplayError::Empty);
}

TEST_CASE("Replay: behind 50 days nothing is recorded, and what was is good",
          "[netdriver][replay]") {
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));
    net.tick();
    const std::string text = net.server_text();
    const ReplayRecorderStats stats = recorder.stats();
    CHECK(stats.bytes_written == sink.bytes().size());
    net.pawn(pawn).health = 5;
    recorder.request_checkpoint();
    net.server_driver().tick_flush(net.now().plus_milliseconds(std::int64_t{51} * 86'400'000));
    CHECK(recorder.error() == ReplayError::TooLong);
    CHECK_FALSE(net.server_driver().is_recording());
    CHECK(recorder.stats().frames_written == stats.frames_written);
    CHECK(recorder.stats().checkpoints_written == stats.checkpoints_written);
    CHECK(recorder.stats().checkpoint_bytes == stats.checkpoint_bytes);
    CHECK(recorder.stats().bytes_written == sink.bytes().size());
    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.seek(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == text);
}

TEST_CASE("Replay: where its clock is further than a file may say nothing is recorded",
          "[netdriver][replay]") {
    constexpr std::int64_t furthest = (std::int64_t{1} << 60) - 1;
    for (const bool is_within : {true, false}) {
        NetDriverSettings settings;
        settings.may_leave_out_texts = true;
        LoopbackNetwork network({2'048, 1u << 17}, std::pmr::get_default_resource());
        TestWorld world(1);
        NetDriver driver(settings, network.endpoint(PeerId{1}), world);
        TestSchema::get().add_to(driver);
        REQUIRE(driver.listen());
        ReplayMemory sink;
        ReplayRecorder recorder(sink);
        REQUIRE(driver.start_recording(recorder));
        driver.tick_flush(NetTime{is_within ? furthest : furthest + 1});
        driver.stop_recording();
        CHECK(recorder.error() == (is_within ? ReplayError::None : ReplayError::TooLong));
        CHECK(sink.bytes().empty() == !is_within);
    }
}

TEST_CASE("Replay: game data comes back, and too much of it is refused", "[netdriver][replay]") {
    NetFixture net;
    const std::vector<std::byte> data(524'288, std::byte{7});
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    settings.game_data = data;
    ReplayRecorder recorder(sink, settings);
    REQUIRE(net.server_driver().start_recording(recorder));
    ReplayRecorder second(sink);
    CHECK_FALSE(net.server_driver().start_recording(second));
    net.tick();
    net.server_driver().stop_recording();
    CHECK_FALSE(net.server_driver().start_recording(recorder));
    ReplayScreen screen(sink.bytes());
    REQUIRE(screen.player.open() == ReplayError::None);
    CHECK(std::equal(data.begin(), data.end(), screen.player.game_data().begin(),
                     screen.player.game_data().end()));
    const std::vector<std::byte> more(524'289);
    settings.game_data = more;
    ReplayRecorder refused(sink, settings);
    CHECK_FALSE(net.server_driver().start_recording(refused));
    CHECK_FALSE(net.server_driver().is_recording());
}

TEST_CASE("Replay: a sink that fails ends the recording, and harms nobody", "[netdriver][replay]") {
    struct FullDisk final : ReplaySink {
        bool write(std::span<const std::byte> bytes) override {
            const bool fits = kept.bytes().size() + bytes.size() <= room;
            return fits && kept.write(bytes);
        }
        ReplayMemory kept;
        std::size_t room = 4'000;
    } disk;
    NetFixture net;
    const ObjectHandle pawn = net.add_pawn();
    ReplayRecorder recorder(disk);
    REQUIRE(net.server_driver().start_recording(recorder));
    net.join();
    for (std::int32_t i = 0; i < 500; ++i) {
        net.tick([&] { net.pawn(pawn).health = i; });
    }
    CHECK(recorder.error() == ReplayError::WriteFailed);
    CHECK_FALSE(net.server_driver().is_recording());
    CHECK(recorder.stats().bytes_written == disk.kept.bytes().size());
    REQUIRE(net.settle());
    CHECK(net.client_text(0) == net.server_text());
    ReplayScreen screen(disk.kept.bytes());
    CHECK(screen.player.open() == ReplayError::None);
    CHECK_FALSE(screen.player.is_whole());
}

TEST_CASE("Replay: neither sharing nor threads change a byte of a recording",
          "[netdriver][replay][random]") {
    const std::uint64_t seed = seed_range(5, 1).first;
    INFO("seed " << seed);
    const auto record = [&](SharingLevel sharing, Executor* executor) {
        NetFixtureOptions options;
        options.sharing = sharing;
        options.executor = executor;
        ReplayRecorderSettings settings;
        settings.checkpoint_ms = 300;
        RecordedGame game(seed, settings, options);
        game.net.join();
        game.start();
        game.play(100);
        game.net.server_driver().stop_recording();
        return Bytes(game.sink.bytes().begin(), game.sink.bytes().end());
    };
    const Bytes bytes = record(SharingLevel::Bundles, nullptr);
    CHECK(bytes.size() > 5'000);
    for (const SharingLevel sharing :
         {SharingLevel::Off, SharingLevel::Pieces, SharingLevel::Payloads}) {
        CHECK(record(sharing, nullptr) == bytes);
    }
    OrderedExecutor executor(3, JobOrder::Shuffled, seed);
    CHECK(record(SharingLevel::Bundles, &executor) == bytes);
}

TEST_CASE("Replay: a recording begins with 1, whatever its server and its player are told",
          "[netdriver][replay]") {
    NetFixtureOptions options;
    options.server.first_sequence = 65'530;
    NetFixture net(options);
    ReplayMemory sink;
    ReplayRecorder recorder(sink);
    REQUIRE(net.server_driver().start_recording(recorder));
    const ObjectHandle archive = net.add_archive();
    for (std::int32_t i = 0; i < 20; ++i) {
        net.tick([&] { net.archive(archive).pages[0].assign(5'000, static_cast<char>('a' + i)); });
    }
    net.server_driver().stop_recording();
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.config.first_sequence = 1'000;
    ReplayScreen screen(sink.bytes(), settings);
    REQUIRE(screen.player.open() == ReplayError::None);
    REQUIRE(screen.player.seek(screen.player.end_time()) == ReplayError::None);
    CHECK(screen.text() == net.server_text());
}

}  // namespace replayout::test
