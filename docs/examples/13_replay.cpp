// SPDX-License-Identifier: MIT
//
// A server that is recorded into a file: two walkers, of whom the second comes later. The file is
// shown from its start to its end, and then at any moment between.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/replay_player.h>
#include <replayout/netdriver/replay_recorder.h>
#include <replayout/reflection/reflection.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory_resource>
#include <span>

using namespace replayout;

namespace {

struct Walker {
    float x = 0;
    std::int32_t steps = 0;
};

struct World final : NetWorld {
    std::map<ObjectHandle, Walker> walkers;
    std::uint64_t last = 0;
    ObjectHandle add() {
        walkers[ObjectHandle{++last}] = {};
        return {last};
    }
    void* object_memory(ObjectHandle object) override { return &walkers.at(object); }
    ObjectHandle spawn(const SpawnInfo&) override { return add(); }
    void despawn(ObjectHandle object, ChannelCloseReason) override { walkers.erase(object); }
};

/// A file, as the library sees it. A stream's places have 64 bits, std::ftell()'s not everywhere.
struct File final : ReplaySink, ReplaySource {
    const char* const path = "13_replay.rep";
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::trunc | std::ios::binary};
    std::uint64_t byte_count = 0;

    ~File() { (void)std::remove(path); }
    bool write(std::span<const std::byte> bytes) override {
        byte_count += bytes.size();
        return !!file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    }
    std::uint64_t size() override { return byte_count; }
    bool read(std::uint64_t offset, std::span<std::byte> target) override {
        file.seekg(static_cast<std::streamoff>(offset));
        return !!file.read(reinterpret_cast<char*>(target.data()), std::ssize(target));
    }
};

bool record(const RepLayout& layout, File& file) {
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    World world;
    NetDriver server({}, network.endpoint({1}), world);
    ReplayRecorder recorder(file, {.checkpoint_ms = 1'000});
    if (!server.add_layout(layout) || !server.listen() || !server.start_recording(recorder)) {
        return false;
    }
    for (std::int64_t tick = 1; tick <= 150; ++tick) {
        if (tick == 1 || tick == 76) {
            (void)server.add_object(layout, world.add());
        }
        for (auto& [handle, walker] : world.walkers) {
            walker.x += 0.5f;
            ++walker.steps;
        }
        server.tick_flush(NetTime::from_milliseconds(20 * tick));
    }
    server.stop_recording();
    std::printf("recorded: %llu frames, %llu checkpoints\n",
                static_cast<unsigned long long>(recorder.stats().frames_written),
                static_cast<unsigned long long>(recorder.stats().checkpoints_written));
    return recorder.error() == ReplayError::None;
}

bool show(ReplayError error, const ReplayPlayer& player, const World& world) {
    std::printf("%.2f s:", static_cast<double>(player.time().microseconds) / 1e6);
    for (const auto& [handle, walker] : world.walkers) {
        std::printf("  %d steps, x = %.1f", static_cast<int>(walker.steps),
                    static_cast<double>(walker.x));
    }
    std::printf("\n");
    return error == ReplayError::None;
}

bool play(const RepLayout& layout, File& file) {
    World world;
    ReplayPlayer player({}, file, world);
    bool is_good = player.driver().add_layout(layout) && player.open() == ReplayError::None;
    for (const std::int64_t ms : {20, 1'500, 1'520, 3'000}) {
        is_good = is_good && show(player.advance(NetTime::from_milliseconds(ms)), player, world);
    }
    for (const std::int64_t ms : {700, 2'340}) {
        is_good = is_good && show(player.seek(NetTime::from_milliseconds(ms)), player, world);
    }
    return is_good;
}

}  // namespace

int main() {
    TypeRegistry registry;
    const auto type = class_builder<Walker>(registry, "Walker")
                          .property<&Walker::x>()
                          .property<&Walker::steps>()
                          .build();
    if (!type || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **type);
    File file;
    return layout && record(**layout, file) && play(**layout, file) ? 0 : 1;
}
