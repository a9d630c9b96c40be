// SPDX-License-Identifier: MIT
//
// A player walks along a road with a crate every 40 steps: it is sent those that are near, and
// loses those that it leaves behind. A chest is for its team alone, and a purse for its owner.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory_resource>

using namespace replayout;

namespace {

struct Crate {
    std::int32_t number = 0;
};

struct World final : NetWorld {
    std::map<std::uint64_t, Crate> crates;
    std::uint64_t last = 0;

    ObjectHandle add(std::int32_t number) {
        crates[++last].number = number;
        return {last};
    }
    void* object_memory(ObjectHandle object) override { return &crates.at(object.value); }
    ObjectHandle spawn(const SpawnInfo&) override { return add(0); }
    void despawn(ObjectHandle object, ChannelCloseReason) override { crates.erase(object.value); }
};

constexpr PeerId player{2};
constexpr NetGroup team{1};

}  // namespace

int main() {
    TypeRegistry types;
    const auto crate = class_builder<Crate>(types, "Crate").property<&Crate::number>().build();
    if (!crate || !types.freeze()) {
        return 1;
    }
    const auto crates = RepLayout::create(types, **crate);
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    World ours;
    World theirs;
    NetDriver server({}, network.endpoint(PeerId{1}), ours);
    NetDriver client({}, network.endpoint(player), theirs);
    if (!server.add_layout(**crates) || !server.listen() || !client.add_layout(**crates) ||
        !client.connect(PeerId{1}, NetTime())) {
        return 1;
    }
    Interest interest = server.interest();
    interest.set_class_relevancy(**crates, NetRelevancy::Distance);
    interest.set_class_cull_distance(**crates, 50);
    for (std::int32_t number = 1; number <= 6; ++number) {
        SpawnParameters parameters;
        parameters.location = Vector3{static_cast<float>(number) * 40.0f, 0, 0};
        (void)server.add_object(**crates, ours.add(number), parameters);
    }
    const NetObjectId chest = server.add_object(**crates, ours.add(100));
    interest.set_relevancy(chest, NetRelevancy::Always);
    interest.add_to_group(chest, team);
    const NetObjectId purse = server.add_object(**crates, ours.add(200));
    interest.set_relevancy(purse, NetRelevancy::OnlyToOwner);

    for (int frame = 0; frame <= 6; ++frame) {
        const NetTime now = NetTime::from_milliseconds(frame * 33);
        client.tick_dispatch(now);
        client.tick_flush(now);
        server.tick_dispatch(now);
        interest.set_viewer(player, Vector3{static_cast<float>(frame) * 40.0f, 0, 0});
        interest.set_in_group(player, team, frame >= 3);
        if (frame == 5) {
            server.set_owner(purse, player);
        }
        server.tick_flush(now);
        client.tick_dispatch(now);
        client.tick_flush(now);
        std::printf("at %3d:", frame * 40);
        for (const auto& [handle, object] : theirs.crates) {
            std::printf(" %d", object.number);
        }
        std::printf("\n");
    }
    const NetStats& stats = server.stats();
    std::printf("opened %d, closed %d; %d distances looked at\n",
                static_cast<int>(stats.channels_opened), static_cast<int>(stats.channels_closed),
                static_cast<int>(stats.interest.pairs_examined));
}
