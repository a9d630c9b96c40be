// SPDX-License-Identifier: MIT
//
// An object store of your own, in the manner of an ECS: components of a kind lie side by side, and
// move when others go. An entity is replicated as its position, with its health as a part of that.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

using namespace replayout;

namespace {

struct Position {
    std::int32_t x = 0;
};
struct Health {
    std::int32_t points = 100;
};
using Entity = std::uint64_t;

/// Components side by side; the last one moves into the slot of one that goes.
template <typename Component>
struct Pool {
    std::vector<std::pair<Entity, Component>> components;
    std::map<Entity, std::size_t> indices;
    void add(Entity entity) {
        indices[entity] = components.size();
        components.emplace_back(entity, Component());
    }
    void remove(Entity entity) {
        components[indices.at(entity)] = components.back();
        indices[components.back().first] = indices.at(entity);
        indices.erase(entity);
        components.pop_back();
    }
    Component& of(Entity entity) { return components[indices.at(entity)].second; }
};

/// A handle says which component of which entity; where that lies is asked for when it matters.
struct Store final : NetWorld {
    Pool<Position> positions;
    Pool<Health> healths;
    Entity last = 0;
    static ObjectHandle position_of(Entity entity) { return {entity * 2}; }
    static ObjectHandle health_of(Entity entity) { return {entity * 2 + 1}; }
    static Entity entity_of(ObjectHandle object) { return object.value / 2; }
    static bool is_health(ObjectHandle object) { return object.value % 2 != 0; }
    void* object_memory(ObjectHandle object) override {
        return is_health(object) ? static_cast<void*>(&healths.of(entity_of(object)))
                                 : &positions.of(entity_of(object));
    }
    ObjectHandle spawn(const SpawnInfo& info) override {
        if (info.outer.is_null()) {
            positions.add(++last);
            return position_of(last);
        }
        healths.add(entity_of(info.outer));
        return health_of(entity_of(info.outer));
    }
    void despawn(ObjectHandle object, ChannelCloseReason) override {
        if (is_health(object)) {
            healths.remove(entity_of(object));
        } else {
            positions.remove(entity_of(object));
        }
    }
};

}  // namespace

int main() {
    TypeRegistry types;
    const auto place = class_builder<Position>(types, "Position").property<&Position::x>().build();
    const auto health = class_builder<Health>(types, "Health").property<&Health::points>().build();
    if (!place || !health || !types.freeze()) {
        return 1;
    }
    const auto positions = RepLayout::create(types, **place);
    const auto healths = RepLayout::create(types, **health);
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    Store ours;
    Store theirs;
    NetDriver server({}, network.endpoint(PeerId{1}), ours);
    NetDriver client({}, network.endpoint(PeerId{2}), theirs);
    if (!server.add_layout(**positions) || !server.add_layout(**healths) || !server.listen() ||
        !client.add_layout(**positions) || !client.add_layout(**healths) ||
        !client.connect(PeerId{1}, NetTime())) {
        return 1;
    }
    for (Entity entity = 1; entity <= 3; ++entity) {
        ours.positions.add(entity);
        ours.positions.of(entity).x = static_cast<std::int32_t>(entity * 10);
        ours.healths.add(entity);
        const NetObjectId id = server.add_object(**positions, Store::position_of(entity));
        (void)server.add_subobject(id, **healths, Store::health_of(entity));
    }
    for (int frame = 1; frame <= 4; ++frame) {
        if (frame == 3) {
            server.remove_object(server.find_object(Store::position_of(1)));
            ours.positions.remove(1);
            ours.healths.remove(1);
            ours.healths.of(3).points = 42;  // where that of entity 1 was
        }
        for (NetDriver* driver : {&client, &server, &client}) {
            driver->tick_dispatch(NetTime::from_milliseconds(frame * 33));
            driver->tick_flush(NetTime::from_milliseconds(frame * 33));
        }
        for (const auto& [entity, position] : theirs.positions.components) {
            std::printf("at %d, health %d\n", position.x, theirs.healths.of(entity).points);
        }
    }
}
