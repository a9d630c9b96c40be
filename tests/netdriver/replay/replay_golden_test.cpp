// SPDX-License-Identifier: MIT
//
// The file of a recording, pinned byte for byte: tests/golden/replay_file.hex.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/reflection/reflection.h>

#include <string>

#include "support/checks/catch.h"
#include "support/checks/golden.h"
#include "support/hostile/replay_screen.h"
#include "support/types/test_layout.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

struct Lamp {
    std::uint8_t light = 0;
};

[[nodiscard]] Result<const Type*> build_lamp(TypeRegistry& registry) {
    return class_builder<Lamp>(registry, "Lamp").property<&Lamp::light>().build();
}

struct LampWorld final : SoleWorld<Lamp> {
    void despawn(ObjectHandle, ChannelCloseReason) override { object = {}; }
};

}  // namespace

TEST_CASE("Replay: the file is written as it is pinned", "[netdriver][replay]") {
    const TestLayout layout(build_lamp);
    LoopbackNetwork network(LoopbackSettings(), std::pmr::get_default_resource());
    LampWorld world;
    NetDriver server(NetDriverSettings(), network.endpoint({1}), world);
    REQUIRE(server.add_layout(*layout));
    REQUIRE(server.listen());
    ReplayMemory sink;
    ReplayRecorderSettings settings;
    const std::string game_data = "map 1";
    settings.game_data = std::as_bytes(std::span(game_data));
    ReplayRecorder recorder(sink, settings);
    REQUIRE(server.start_recording(recorder));
    REQUIRE(server.add_object(*layout, LampWorld::handle).generation != 0);
    server.tick_flush(NetTime::from_milliseconds(20));
    world.object.light = 5;
    server.tick_flush(NetTime::from_milliseconds(40));
    server.stop_recording();
    check_golden("replay_file", sink.bytes());
}

TEST_CASE("Replay: the pinned file is shown as what it says", "[netdriver][replay]") {
    const TestLayout layout(build_lamp);
    const Bytes bytes = read_golden("replay_file");
    BytesSource source(bytes);
    LampWorld world;
    ReplayPlayer player(NetDriverSettings(), source, world);
    REQUIRE(player.driver().add_layout(*layout));
    REQUIRE(player.open() == ReplayError::None);
    CHECK(player.is_whole());
    REQUIRE(player.seek(player.end_time()) == ReplayError::None);
    CHECK(world.object.light == 5);
    REQUIRE(player.seek(player.start_time()) == ReplayError::None);
    CHECK(world.object.light == 0);
}

}  // namespace replayout::test
