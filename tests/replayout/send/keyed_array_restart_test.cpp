// SPDX-License-Identifier: MIT
//
// Keyed arrays that begin anew for a receiver which may have too much of what is gone.
#include <replayout/keyed_array.h>
#include <replayout/layout_description.h>
#include <replayout/shadow_state.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout::test {
namespace {

struct Track {
    std::uint32_t id = 0;
    std::int32_t speed = 0;
    std::vector<std::int32_t> echoes;

    friend bool operator==(const Track&, const Track&) = default;
};

struct Radar {
    std::vector<Track> tracks;
    std::vector<Track> stars;
};

void declare_track(TypeRegistry& registry) {
    REQUIRE(struct_builder<Track>(registry, "Track")
                .property<&Track::id>()
                .property<&Track::speed>()
                .property<&Track::echoes>()
                .build());
}

[[nodiscard]] Result<const Type*> build_radar(TypeRegistry& registry) {
    declare_track(registry);
    return class_builder<Radar>(registry, "Radar")
        .property<&Radar::tracks>()
        .keyed_by<&Track::id>(ArrayOrder::Kept)
        .property<&Radar::stars>()
        .keyed_by<&Track::id>(ArrayOrder::Kept)
        .build();
}

constexpr std::uint32_t count_max = 16;

[[nodiscard]] RepLayoutOptions with_limit() {
    RepLayoutOptions options;
    options.limits.array_count_max = count_max;
    return options;
}

[[nodiscard]] const ShadowKeyedArray& shadow_of_tracks(const BlockSender& sender) {
    const RepLayout& layout = sender.state.layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), RepHandle{1}));
    return shadow_value<ShadowKeyedArray>(sender.state.shadow() + cmd.shadow_offset);
}

/// Of an older version, which has no tracks.
[[nodiscard]] Result<const Type*> build_old_radar(TypeRegistry& registry) {
    declare_track(registry);
    return class_builder<Radar>(registry, "Radar")
        .property<&Radar::stars>()
        .keyed_by<&Track::id>(ArrayOrder::Kept)
        .build();
}

/// Tracks that begin anew, and are none.
[[nodiscard]] Bytes block_of_restarted_tracks(const RepLayout& layout) {
    Bytes memory(64);
    BitWriter writer(memory);
    ChangeMask handles;
    handles.reset(layout.handle_count());
    handles.set(0);
    write_change_mask(writer, handles, EmptySet::Impossible);
    writer.write_bool(true);      // a full set
    writer.write_bool(true);      // that begins anew
    writer.write_packed_uint(1);  // at version 1
    writer.write_bool(false);     // from the first key
    writer.write_bool(false);     // to the last
    writer.write_packed_uint(0);  // no element
    writer.finish_byte();
    return to_bytes(writer.bytes());
}

}  // namespace

TEST_CASE("Keyed arrays: one that begins anew is passed over where nobody has it",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_radar, with_limit());
    const Bytes block = block_of_restarted_tracks(*layout);

    // No object.
    BlockReceiver nobody(*layout);
    ReceiveContext context = nobody.context();
    DecodeBudget budget;
    BitReader reader(block, &budget);
    CHECK(skip_properties(*layout, reader, context));
    CHECK(reader.bits_left() == 0);

    // An object without that property.
    TestLayout old(build_old_radar, with_limit());
    const auto description = describe_layout(*layout, std::pmr::get_default_resource());
    const auto newer = RepLayout::create_compatible(
        old.registry(), &*old, {description.data(), description.size()}, LayoutPolicy::SkipUnknown);
    REQUIRE(newer);
    Radar remote;
    remote.stars = {{5, 1, {}}};
    BlockReceiver receiver(**newer);
    CHECK(receiver.receive(&remote, block));
    CHECK(receiver.bits_left == 0);
    CHECK(remote.stars.size() == 1);
}

TEST_CASE("Keyed arrays: what was removed since a version is never counted short",
          "[replayout][keyed_array]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    const TestLayout layout(build_radar, with_limit());
    BlockSender sender(*layout);
    Radar radar;
    std::vector<std::uint32_t> removed{0};  // by version
    std::uint32_t next_id = 1;
    for (int tick = 0; tick < 400; ++tick) {
        std::uint32_t gone = 0;
        std::erase_if(radar.tracks, [&](const Track&) {
            const bool is_gone = random.percent(20);
            gone += is_gone ? 1u : 0u;
            return is_gone;
        });
        while (radar.tracks.size() < count_max - random.below(4)) {
            radar.tracks.push_back({next_id++, 1, {}});
        }
        if (sender.update(&radar)) {
            removed.push_back(gone);
        }
        const ShadowKeyedArray& tracks = shadow_of_tracks(sender);
        std::uint64_t sum = 0;
        for (Version version = sender.state.version(); sum <= 4 * count_max; --version) {
            CHECK(tracks.removed_since(version) >= sum);
            CHECK(tracks.removed_since(version) <= sum + count_max);
            if (version == 0) {
                break;
            }
            sum += removed[version];
        }
    }
}

TEST_CASE("Keyed arrays: with the first full set that says so all goes that came before, and once",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_radar, with_limit());
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Radar radar;
    Radar remote;
    for (std::uint32_t id = 1; id <= 12; ++id) {
        radar.tracks.push_back({id * 10, 1, {7, 8}});
    }
    radar.stars = {{5, 1, {}}};
    sender.update(&radar);
    REQUIRE(receiver.receive(&remote, sender.block(since(0))));
    remote.tracks[0].speed = 99;  // to tell what is made anew
    remote.tracks[11].speed = 99;

    radar.tracks[3].speed = 2;
    sender.update(&radar);
    OwedVersions position = since(1);
    position.held_version = 1;
    position.restart_version = 2;
    const std::vector<SentPart> parts = sender.parts(position, 64);
    REQUIRE(parts.size() > 3);
    // The second part alone: only what it lists is left.
    REQUIRE(receiver.receive(&remote, parts[1].bytes));
    const std::size_t count = remote.tracks.size();
    CHECK(count < 12);
    CHECK(count > 0);
    // The others add to it, in whatever order.
    for (std::size_t i = parts.size(); i > 0; --i) {
        REQUIRE(receiver.receive(&remote, parts[i - 1].bytes));
    }
    CHECK(remote.tracks == radar.tracks);
    CHECK(remote.stars == radar.stars);
    // In whole, too, with the arrays inside of elements.
    remote.tracks.clear();
    position.restart_version = 2;
    REQUIRE(receiver.receive(&remote, sender.block(position)));
    CHECK(remote.tracks == radar.tracks);
}

TEST_CASE("Keyed arrays: one that never changed has no part in it when others begin anew",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_radar, with_limit());
    BlockSender sender(*layout);
    Radar radar;
    radar.tracks = {{1, 1, {}}};
    sender.update(&radar);
    radar.tracks[0].speed = 2;
    radar.stars = {{5, 1, {}}};
    sender.update(&radar);
    OwedVersions position = since(1);
    position.restart_version = 1;
    const ShadowKeyedArray& tracks = shadow_of_tracks(sender);
    CHECK(tracks.restart_version(position) == 1);
    const RepLayoutCmd& cmd = (*layout).cmd((*layout).cmd_of((*layout).root(), RepHandle{2}));
    const auto& stars =
        shadow_value<ShadowKeyedArray>(std::as_const(sender.state).shadow() + cmd.shadow_offset);
    CHECK(stars.restart_version(position) == 0);
    position.restart_version = 2;
    CHECK(stars.restart_version(position) == 2);
}

TEST_CASE("Keyed arrays: a full set that begins anew at version 0 is refused",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_radar, with_limit());
    for (const std::uint32_t version : {0u, 1u}) {
        Bytes memory(64);
        BitWriter writer(memory);
        ChangeMask handles;
        handles.reset(2);
        handles.set(0);
        write_change_mask(writer, handles, EmptySet::Impossible);
        writer.write_bool(true);
        writer.write_bool(true);
        writer.write_packed_uint(version);
        writer.write_bool(false);
        writer.write_bool(false);
        writer.write_packed_uint(0);
        writer.finish_byte();
        BlockReceiver receiver(*layout);
        Radar remote;
        remote.tracks = {{1, 1, {}}};
        CHECK(receiver.receive(&remote, to_bytes(writer.bytes())) == (version != 0));
        CHECK(remote.tracks.size() == (version != 0 ? 0u : 1u));
    }
}

TEST_CASE("Keyed arrays: what goes of one is nothing to another with the same key",
          "[replayout][keyed_array]") {
    const TestLayout layout(build_radar, with_limit());
    BlockSender sender(*layout);
    BlockReceiver receiver(*layout);
    Radar radar;
    Radar remote;
    for (std::uint32_t id = 1; id <= count_max; ++id) {
        radar.tracks.push_back({id, 1, {}});
    }
    radar.stars = {{count_max, 1, {}}};
    const auto send = [&] {
        const Version version = sender.state.version();
        sender.update(&radar);
        REQUIRE(receiver.receive(&remote, sender.block(exact_at(version)), true));
    };
    send();
    // The full array changes before the last of its keys, and another one loses that key.
    radar.tracks.front().speed = 2;
    radar.stars.clear();
    send();
    radar.tracks.back().speed = 2;
    send();
    CHECK(remote.tracks == radar.tracks);
    CHECK(remote.stars.empty());
}

}  // namespace replayout::test
