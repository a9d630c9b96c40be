// SPDX-License-Identifier: MIT
//
// A server and a client in one process, over a network in memory: spawn, update, destroy, and what
// the client's objects are told about it. Over a real network only the transport differs.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory_resource>
#include <string>

using namespace replayout;

namespace {

struct Pawn {
    std::int32_t health = 100;
    ObjectHandle target;

    void on_rep_health(std::int32_t previous) {
        std::printf("  on_rep_health: %d -> %d\n", previous, health);
    }
    void on_rep_target() {
        std::printf("  on_rep_target: %s\n", target.is_null() ? "nobody" : "somebody");
    }
};

/// The objects of one side. The driver knows them by handle and asks for their memory.
class World final : public NetWorld {
  public:
    /// A new object; its handle is never used again.
    ObjectHandle make() {
        const ObjectHandle handle{++last_handle_};
        pawns_[handle.value] = Pawn();
        return handle;
    }
    [[nodiscard]] Pawn& pawn(ObjectHandle object) { return pawns_[object.value]; }
    void destroy(ObjectHandle object) { pawns_.erase(object.value); }

    void* object_memory(ObjectHandle object) override { return &pawn(object); }
    ObjectHandle spawn(const SpawnInfo& info) override {
        std::printf("  spawn: %s %u\n", std::string(info.layout.type().name()).c_str(),
                    static_cast<unsigned>(info.guid.value));
        return make();
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override {
        std::printf("  despawn, with health %d\n", pawn(object).health);
        destroy(object);
    }

  private:
    std::map<std::uint64_t, Pawn> pawns_;
    std::uint64_t last_handle_ = 0;
};

/// One frame of both sides: what has arrived, then what there is to send.
void tick(const char* what, NetDriver& server, NetDriver& client, NetTime& now) {
    std::printf("%s\n", what);
    now = now.plus_milliseconds(33);
    for (NetDriver* driver : {&server, &client}) {
        driver->tick_dispatch(now);
        driver->tick_flush(now);
    }
}

}  // namespace

int main() {
    TypeRegistry registry;
    const auto type = class_builder<Pawn>(registry, "Pawn")
                          .property<&Pawn::health>()
                          .on_rep<&Pawn::on_rep_health>()
                          .property<&Pawn::target>()
                          .on_rep<&Pawn::on_rep_target>()
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
    if (!server.add_layout(**layout) || !server.listen() || !client.add_layout(**layout) ||
        !client.connect(PeerId{1}, now)) {
        return 1;
    }

    const ObjectHandle hunter = server_world.make();
    const ObjectHandle prey = server_world.make();
    const NetObjectId hunter_id = server.add_object(**layout, hunter);
    const NetObjectId prey_id = server.add_object(**layout, prey);
    tick("the client says hello", server, client, now);
    tick("the server shows its world", server, client, now);

    server_world.pawn(hunter).target = prey;
    server_world.pawn(prey).health = 60;
    tick("an update", server, client, now);

    server.remove_object(prey_id);
    server_world.destroy(prey);
    tick("the prey is destroyed", server, client, now);

    server.remove_object(hunter_id);
    server_world.destroy(hunter);
    tick("the hunter is destroyed", server, client, now);
    return client.state() == ConnectionState::Joined ? 0 : 1;
}
