// SPDX-License-Identifier: MIT
//
// Quantised properties and bits, from the description to the receiver. The quantisers themselves
// are in quantise_test.cpp.
#include <replayout/quantise.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

[[nodiscard]] std::uint32_t handle_of(const RepLayout& layout, const std::string& name) {
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        if (layout.cmd(layout.cmd_of(layout.root(), RepHandle{handle})).property->name == name) {
            return handle;
        }
    }
    FAIL("no property " << name);
    return 0;
}

[[nodiscard]] Drone make_drone() {
    Drone drone;
    drone.whole = {1'000.4f, -3.6f, 0.0f};
    drone.tenth = {12.34f, 0.0f, -5.06f};
    drone.hundredth = {0.126f, 800.001f, -1.0f};
    drone.up = {0.0f, 0.6f, 0.8f};
    drone.facing = {0.0f, 123.4f, -90.0f};
    drone.wheel = {90.0f, 0.0f, 1.0f};
    drone.turn = {0.5f, 0.5f, -0.5f, 0.5f};
    drone.camera = {0.1f, 0.2f, 0.3f, 0.9f};
    drone.is_armed = true;
    drone.is_landed = false;
    drone.charge = -73;
    drone.ammunition = 499;
    drone.stance = Stance::Lying;
    drone.throttle = 0.333f;
    drone.fuel = 79.99;
    drone.path[1] = {1.0f, 2.0f, 3.0f};
    drone.raw = {1.0f, 2.0f, 3.0f};
    drone.trail = {{1.0f, 2.0f, 3.0f}, {}, {-0.01f, 0.0f, 1e6f}};
    drone.orders = {{Stance::Lying, Stance::Standing}, {}, {Stance::Kneeling}};
    return drone;
}

/// The integers of a fresh shadow are those of the archetype, also where these are not 0.
void check_shadow_of_archetype(const TestLayout& layout) {
    const Drone drone;
    const auto* object = reinterpret_cast<const std::byte*>(&drone);
    for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
        const RepLayoutCmd& cmd = layout.cmd(handle);
        if (cmd.type == RepLayoutCmdType::Quantised) {
            const ConstShadowBuffer leaf = layout->archetype().buffer() + cmd.shadow_offset;
            CHECK(load_quantised(leaf.data(), quantised_size(cmd.property->quantisation)) ==
                  quantise(*cmd.property, object + cmd.object_offset.value));
        }
    }
}

TEST_CASE("Quantised properties: are leaves of their own, shared, with the integers in the shadow",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    const auto type_of = [&](const char* name) {
        return layout.cmd(handle_of(*layout, name)).type;
    };
    for (const char* name :
         {"whole", "up", "facing", "turn", "charge", "stance", "throttle", "fuel", "path"}) {
        CHECK(type_of(name) == RepLayoutCmdType::Quantised);
    }
    CHECK(type_of("is_armed") == RepLayoutCmdType::BitBool);
    CHECK(type_of("raw") == RepLayoutCmdType::Vector);
    const RepScope& trail = layout.element_scope(handle_of(*layout, "trail"));
    CHECK(layout->cmd(trail.cmd_start).type == RepLayoutCmdType::Quantised);
    CHECK(trail.shadow_size == 12 + 16);  // its bytes, and the integers
    CHECK_FALSE(trail.is_contiguous);
    CHECK(layout->is_fully_shared());
}

TEST_CASE("Quantised properties: what stays is compared as bytes, and what comes back is found",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    Drone drone = make_drone();
    const auto check_shadow = [&] {
        const auto* object = reinterpret_cast<const std::byte*>(&drone);
        for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
            const RepLayoutCmd& cmd = layout.cmd(handle);
            if (cmd.type == RepLayoutCmdType::Quantised) {
                const std::uint32_t size = quantised_size(cmd.property->quantisation);
                CHECK(load_quantised((sender.state.shadow() + cmd.shadow_offset).data(), size) ==
                      quantise(*cmd.property, object + cmd.object_offset.value));
            }
        }
        for (std::uint32_t i = 0; i < layout->root().run_end; ++i) {
            const CompareRun& run = layout->runs()[i];
            CHECK(std::memcmp((sender.state.shadow() + run.shadow_offset).data(),
                              object + run.object_offset.value, run.size) == 0);
        }
    };
    const std::uint32_t tenth = handle_of(*layout, "tenth");
    check_shadow_of_archetype(layout);
    REQUIRE(sender.update(&drone));
    check_shadow();
    // 12.3 three times, and one step up in between.
    for (const float x : {12.31f, 12.34f, 12.29f}) {
        drone.tenth.x = x;
        CHECK_FALSE(sender.update(&drone));
        check_shadow();  // its bytes too, so that it is not quantised in each tick from now on
    }
    drone.tenth.x = 12.4f;
    CHECK(sender.update(&drone));
    check_shadow();
    drone.tenth.x = 12.29f;  // the bytes of before, which are no longer what the shadow has
    CHECK(sender.update(&drone));
    CHECK(handles_of(sender.collect(since(2))) == std::vector<std::uint32_t>{tenth});
    drone = Drone();
    CHECK(sender.update(&drone));
    check_shadow();
    // Elements come to be with the integers of zero bytes, whatever these are.
    drone.trail.resize(3);
    CHECK(sender.update(&drone));
    const auto& trail = shadow_value<ShadowArray>(
        sender.state.shadow() + layout.cmd(handle_of(*layout, "trail")).shadow_offset);
    const RepScope& element = layout.element_scope(handle_of(*layout, "trail"));
    const RepLayoutCmd& point = layout->cmd(element.cmd_start);
    for (std::uint32_t i = 0; i < trail.count; ++i) {
        const std::byte* shadow =
            trail.elements + i * element.shadow_size + point.shadow_offset.value;
        CHECK(load_quantised(shadow, quantised_size(point.property->quantisation)) ==
              quantise(*point.property, &drone.trail[i]));
    }
}

TEST_CASE("Quantised properties: a receiver holds the values that were quantised",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    const Drone server = make_drone();
    Drone client;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(receiver.bits_left == 0);
    CHECK(find_difference(layout->type(), &server, &client).empty());
    CHECK(client.whole == Vector3{1'000.0f, -4.0f, 0.0f});
    CHECK(client.tenth == Vector3{12.3f, 0.0f, -5.1f});
    CHECK(client.hundredth == Vector3{0.13f, 800.0f, -1.0f});
    CHECK(client.facing.roll == 270.0f);
    CHECK(client.is_armed);
    CHECK_FALSE(client.is_landed);
    CHECK(client.charge == -73);
    CHECK(client.ammunition == 499);
    CHECK(client.stance == Stance::Lying);
    CHECK(client.throttle == 0.33f);
    CHECK(client.fuel == 80.0);
    CHECK(client.trail == std::vector<Vector3>{{1.0f, 2.0f, 3.0f}, {}, {-0.01f, 0.0f, 1e6f}});
    CHECK(client.orders == server.orders);
}

struct Level {
    double level = 0.0;
    std::uint32_t told = 0;

    void on_rep_level() { ++told; }
};

TEST_CASE("Quantised properties: of a value that is received again nobody is told",
          "[replayout][quantised_properties]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Level>(registry, "Gauge")
            .property<&Level::level>()
            .on_rep<&Level::on_rep_level>()
            .quantised(Quantisation::steps(0.0, 1.0, 0.1))
            .build();
    });
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    const Level server{0.5};
    Level client;
    REQUIRE(sender.update(&server));
    for (int i = 0; i < 2; ++i) {
        REQUIRE(receiver.receive(&client, sender.block(since(0))));
        CHECK(client.level == 0.5);
        CHECK(client.told == 1);
    }
}

TEST_CASE(
    "Quantised properties: while values creep by less than a step, a receiver has what a new one "
    "would be sent",
    "[replayout][quantised_properties][random]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    test::SeededRandom random(run_seed());
    Drone server = make_drone();
    Drone client;
    Version sent = 0;
    const auto creep = [&](float& value, float step) {
        value += step * 0.01f * (static_cast<float>(random.below(90)) - 30.0f);
    };
    std::uint32_t silent_count = 0;
    for (int i = 0; i < 500; ++i) {
        creep(server.whole.x, 1.0f);
        creep(server.tenth.y, 0.1f);
        creep(server.hundredth.z, 0.01f);
        creep(server.up.x, 1.0f / 32'767.0f);
        creep(server.facing.yaw, 360.0f / 65'536.0f);
        creep(server.wheel.roll, 360.0f / 256.0f);
        creep(server.turn.y, 1e-4f);
        creep(server.throttle, 0.01f);
        creep(server.path[i % 2].x, 0.1f);
        creep(server.trail[static_cast<std::size_t>(i % 3)].x, 0.01f);
        if (sender.update(&server)) {
            REQUIRE(receiver.receive(&client, sender.block(since(sent))));
            sent = sender.state.version();
        } else {
            ++silent_count;
        }
        // What a server sends that has just begun with these values.
        BlockSender fresh_sender(*layout);
        BlockReceiver fresh_receiver(*layout);
        Drone fresh;
        (void)fresh_sender.update(&server);
        REQUIRE(fresh_receiver.receive(&fresh, fresh_sender.block(since(0))));
        CHECK(client.whole == fresh.whole);
        CHECK(client.tenth == fresh.tenth);
        CHECK(client.hundredth == fresh.hundredth);
        CHECK(client.up == fresh.up);
        CHECK(client.facing.yaw == fresh.facing.yaw);
        CHECK(client.wheel.roll == fresh.wheel.roll);
        CHECK(client.throttle == fresh.throttle);
        CHECK(client.path[0] == fresh.path[0]);
        CHECK(client.path[1] == fresh.path[1]);
        CHECK(client.trail == fresh.trail);
        REQUIRE(find_difference(layout->type(), &fresh, &client).empty());
    }
    CHECK(silent_count < 500);
}

TEST_CASE("Quantised properties: a change below the step sends nothing",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    Drone server = make_drone();
    REQUIRE(sender.update(&server));
    server.whole.x += 0.05f;
    server.tenth.x += 0.005f;
    server.hundredth.y += 0.002f;
    server.up.y += 0.000'001f;
    server.facing.yaw += 0.001f;
    server.wheel.pitch += 0.6f;
    server.camera.w += 1e-6f;
    server.turn = {-server.turn.x, -server.turn.y, -server.turn.z, -server.turn.w};
    server.throttle += 0.001f;
    server.fuel += 0.005;
    server.ammunition = 499;
    server.trail[0].x += 0.001f;
    CHECK_FALSE(sender.update(&server));
    server.tenth.x += 0.1f;
    server.trail[2].y = 0.006f;
    CHECK(sender.update(&server));
    CHECK(handles_of(sender.collect(since(sender.state.version() - 1))) ==
          std::vector<std::uint32_t>{handle_of(*layout, "tenth"), handle_of(*layout, "trail")});
}

TEST_CASE("Quantised properties: what is back at the same integers is not owed",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    Drone server = make_drone();
    REQUIRE(sender.update(&server));
    OwedVersions position = since(sender.state.version());
    position.is_exact = true;
    server.tenth.x += 5.0f;
    server.is_armed = !server.is_armed;
    server.charge = 3;
    REQUIRE(sender.update(&server));
    CHECK(handles_of(sender.collect(position)).size() == 3);
    server.tenth.x -= 5.02f;  // not the value of before, and its integers
    server.is_armed = !server.is_armed;
    server.charge = -73;
    REQUIRE(sender.update(&server));
    CHECK_FALSE(sender.collect(position).any());
}

TEST_CASE("Quantised properties: values beyond their range are sent as its end, and not again",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Drone server;
    Drone client;
    server.charge = 100;
    REQUIRE(sender.update(&server));
    server.charge = 3'000;
    CHECK_FALSE(sender.update(&server));
    server.stance = static_cast<Stance>(200);
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.charge == 100);
    CHECK(client.stance == Stance::Lying);
}

TEST_CASE("Quantised properties: what is received and sent on stays what it is",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender first(*layout);
    BlockSender second(*layout);
    BlockReceiver receiver(*layout);
    const Drone server = make_drone();
    Drone client;
    REQUIRE(first.update(&server));
    const Bytes block = first.block(since(0));
    REQUIRE(receiver.receive(&client, block));
    REQUIRE(second.update(&client));
    CHECK(second.block(since(0)) == block);
}

TEST_CASE("Quantised properties: sharing changes no byte, and measures what is written",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    BlockSender on(*layout);
    BlockSender off(*layout);
    off.is_sharing = false;
    const Drone server = make_drone();
    REQUIRE(on.update(&server));
    REQUIRE(off.update(&server));
    CHECK(on.block(since(0)) == off.block(since(0)));
    CHECK(on.block(since(0)) == off.block(since(0)));
    BlockReceiver receiver(*layout);
    Drone client;
    const std::vector<SentPart> parts = on.parts(since(0), 24);
    CHECK(parts.size() > 4);
    for (const SentPart& part : parts) {
        CHECK(part.bytes.size() <= 24);
        REQUIRE(receiver.receive(&client, part.bytes));
    }
    CHECK(find_difference(layout->type(), &server, &client).empty());
}

TEST_CASE("Quantised properties: a layout may do without", "[replayout][quantised_properties]") {
    RepLayoutOptions options;
    options.is_unquantised = true;
    const TestLayout raw(build_drone, options);
    const TestLayout quantised(build_drone);
    CHECK(raw->fingerprint() != quantised->fingerprint());
    CHECK(raw.cmd(1).type == RepLayoutCmdType::Vector);
    BlockSender sender(*raw);
    BlockReceiver receiver(*raw);
    const Drone server = make_drone();
    Drone client;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.tenth == server.tenth);
    CHECK(client.turn == server.turn);
    CHECK(client.throttle == server.throttle);
}

struct Dial {
    std::uint8_t level = 0;
    float share = 0.0f;
};

template <int Variant>
[[nodiscard]] Result<const Type*> build_dial(TypeRegistry& registry) {
    const Quantisation levels[] = {Quantisation(), Quantisation::range(0, 9),
                                   Quantisation::range(0, 10), Quantisation::range(1, 10)};
    const Quantisation shares[] = {Quantisation(), Quantisation::steps(0.0, 1.0, 0.5),
                                   Quantisation::steps(0.0, 1.0, 0.25),
                                   Quantisation::steps(-1.0, 1.0, 0.5)};
    return class_builder<Dial>(registry, "Dial")
        .property<&Dial::level>()
        .quantised(levels[Variant % 4])
        .property<&Dial::share>()
        .quantised(shares[Variant / 4])
        .build();
}

TEST_CASE("Quantised properties: every number of a quantisation enters the fingerprint",
          "[replayout][quantised_properties]") {
    std::vector<Digest128> digests;
    std::vector<std::uint32_t> checksums;
    for (const BuildType build : {build_dial<0>, build_dial<1>, build_dial<2>, build_dial<3>,
                                  build_dial<4>, build_dial<8>, build_dial<12>}) {
        const TestLayout layout(build);
        for (const Digest128& digest : digests) {
            CHECK(layout->fingerprint() != digest);
        }
        digests.push_back(layout->fingerprint());
        checksums.push_back(layout.cmd(1).checksum);
    }
    CHECK(checksums[0] != checksums[1]);
    CHECK(checksums[1] != checksums[2]);
    CHECK(checksums[0] == checksums[4]);
}

TEST_CASE("Quantised properties: the listing says how", "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    const std::string text = dump(*layout);
    for (const char* part :
         {"Quantised", "hundredth shared (hundredths)", "up shared (normal vector)",
          "wheel shared (8 bit angles)", "camera shared (smallest three of 10 bits)",
          "charge shared (-100 to 100)", "fuel shared (0 to 80 in 320 steps)", "BitBool"}) {
        INFO(part);
        CHECK(text.find(part) != std::string::npos);
    }
}

TEST_CASE(
    "Quantised properties: an integer beyond its range refuses the block, which changes nothing",
    "[replayout][quantised_properties]") {
    const TestLayout layout(build_drone);
    const std::uint32_t stance = handle_of(*layout, "stance");
    for (const std::uint64_t enumerator : {2u, 3u}) {
        Bytes memory(64);
        BitWriter writer(memory);
        ChangeMask mask;
        mask.reset(layout->handle_count());
        mask.set(handle_of(*layout, "is_armed") - 1);
        mask.set(stance - 1);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bool(true);
        writer.write_bits(enumerator, 2);
        writer.finish_byte();
        BlockReceiver receiver(*layout);
        Drone client;
        const bool is_possible = enumerator < 3;
        CHECK(receiver.receive(&client, writer.bytes()) == is_possible);
        CHECK(client.is_armed == is_possible);
        CHECK(client.stance == (is_possible ? Stance::Lying : Stance::Standing));
    }
}

struct BitLamp {
    std::uint8_t before = 0xAA;
    bool is_lit : 1;
    bool is_red : 1;
    bool is_broken : 1;
    std::uint8_t brightness : 5;
    std::vector<std::string> heard;

    BitLamp() : is_lit(false), is_red(true), is_broken(false), brightness(21) {}
    void on_rep_lit(const bool& previous) { heard.push_back(previous ? "was lit" : "was dark"); }
};

[[nodiscard]] Result<const Type*> build_bit_lamp(TypeRegistry& registry) {
    return class_builder<BitLamp>(registry, "Lamp")
        .bit<[](BitLamp& lamp, bool is_set) { lamp.is_lit = is_set; }>("is_lit")
        .on_rep<&BitLamp::on_rep_lit>()
        .bit<[](BitLamp& lamp, bool is_set) { lamp.is_red = is_set; }>("is_red")
        .build();
}

struct BoolLamp {
    bool is_lit = false;
    bool is_red = true;
};

[[nodiscard]] Result<const Type*> build_bool_lamp(TypeRegistry& registry) {
    return class_builder<BoolLamp>(registry, "Lamp")
        .property<&BoolLamp::is_lit>()
        .property<&BoolLamp::is_red>()
        .build();
}

TEST_CASE("Bits: are compared and set alone, and a notify gets the one before",
          "[replayout][quantised_properties]") {
    const TestLayout layout(build_bit_lamp);
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    BitLamp server;
    BitLamp client;
    server.is_broken = true;
    server.brightness = 3;
    CHECK_FALSE(sender.update(&server));  // neighbours, which nobody replicates
    server.is_lit = true;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.is_lit);
    CHECK(client.is_red);
    CHECK_FALSE(client.is_broken);
    CHECK(client.brightness == 21);
    CHECK(client.before == 0xAA);
    CHECK(client.heard == std::vector<std::string>{"was dark"});
    server.is_lit = false;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    CHECK_FALSE(client.is_lit);
    CHECK(client.heard == std::vector<std::string>{"was dark", "was lit"});
}

TEST_CASE("Bits: are bools on the wire, wherever they lie in memory",
          "[replayout][quantised_properties]") {
    const TestLayout bits(build_bit_lamp);
    const TestLayout bools(build_bool_lamp);
    CHECK(bits->fingerprint() == bools->fingerprint());
    BlockSender sender(*bits);
    BlockReceiver receiver(*bools);
    BitLamp server;
    BoolLamp client;
    server.is_lit = true;
    server.is_red = false;
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.is_lit);
    CHECK_FALSE(client.is_red);
}

}  // namespace
}  // namespace replayout
