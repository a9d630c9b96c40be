// SPDX-License-Identifier: MIT
//
// Remote functions: a client asks its server to open a door, and the server tells everybody that it
// did, with the door as it is then.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>

using namespace replayout;

namespace {

struct Push {
    std::int32_t degrees = 90;
};

struct Door {
    std::int32_t angle = 0;
    std::function<void(Door&, const Push&)> on_push;  // what the game does, on the server

    void server_push(const Push& push) {
        std::printf("  server_push: %d degrees\n", push.degrees);
        on_push(*this, push);
    }
    // A client that asks for this is not one of ours.
    bool server_push_validate(const Push& push) { return push.degrees <= 180; }
    void multicast_creak(const Push& push) {
        std::printf("  multicast_creak: %d degrees, the door stands at %d\n", push.degrees, angle);
    }
};

class World final : public NetWorld {
  public:
    ObjectHandle make() { return {doors_.try_emplace(++last_).first->first}; }
    [[nodiscard]] Door& door(ObjectHandle object) { return doors_.at(object.value); }

    void* object_memory(ObjectHandle object) override { return &door(object); }
    ObjectHandle spawn(const SpawnInfo&) override { return make(); }
    void despawn(ObjectHandle object, ChannelCloseReason) override { doors_.erase(object.value); }

  private:
    std::map<std::uint64_t, Door> doors_;
    std::uint64_t last_ = 0;
};

void tick(NetDriver& server, NetDriver& client, NetTime& now) {
    now = now.plus_milliseconds(33);
    for (NetDriver* driver : {&server, &client}) {
        driver->tick_dispatch(now);
        driver->tick_flush(now);
    }
}

}  // namespace

int main() {
    TypeRegistry registry;
    using F = FunctionFlags;
    (void)struct_builder<Push>(registry, "Push").property<&Push::degrees>().build();
    const auto type =
        class_builder<Door>(registry, "Door")
            .property<&Door::angle>()
            .function<&Door::server_push, &Door::server_push_validate>(F::Server | F::Reliable)
            .function<&Door::multicast_creak>(F::Multicast)
            .build();
    if (!type || !registry.freeze()) {
        return 1;
    }
    const auto layout = RepLayout::create(registry, **type);
    if (!layout) {
        return 1;
    }
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    World server_world;
    World client_world;
    NetDriver server({}, network.endpoint(PeerId{1}), server_world);
    NetDriver client({}, network.endpoint(PeerId{2}), client_world);
    NetTime now;
    if (!server.add_layout(**layout) || !client.add_layout(**layout) || !server.listen() ||
        !client.connect(PeerId{1}, now)) {
        return 1;
    }
    const ObjectHandle object = server_world.make();
    const NetObjectId id = server.add_object(**layout, object);
    server.set_owner(id, PeerId{2});  // whose calls run
    server_world.door(object).on_push = [&](Door& door, const Push& push) {
        door.angle += push.degrees;
        (void)server.call<&Door::multicast_creak>(id, push);  // another struct does not compile
    };
    tick(server, client, now);
    tick(server, client, now);

    std::printf("the client pushes\n");
    (void)client.call<&Door::server_push>(ObjectHandle{1}, {45});
    tick(server, client, now);
    tick(server, client, now);

    std::printf("the client pushes too far\n");
    const Push push{720};
    (void)client.call_function(ObjectHandle{1}, "server_push", &push);  // by name, as scripts do
    tick(server, client, now);
    tick(server, client, now);
    const std::string_view reason = to_string(client.close_reason());
    std::printf("  closed: %s\n", std::string(reason).c_str());
}
