// SPDX-License-Identifier: MIT
//
// What tests of dormancy play with: a class of a bit of everything that can keep an object awake.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>

#include "support/worlds/class_game.h"

namespace replayout::test {

/// Writes nothing of an object that the receiver lacks, and waits for it.
struct Leash {
    ObjectHandle target;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        bool has_target = target.is_null() || archive.receiver_has(target, map);
        archive.serialize(has_target);
        return has_target ? archive.serialize_object(target, map) : false;
    }
    friend bool operator==(const Leash&, const Leash&) = default;
};

struct Door {
    std::int32_t state = 0;
    std::int32_t skin = 0;  // InitialOnly
    std::int32_t key = 0;   // OwnerOnly
    ObjectHandle room;
    std::string note;
    Leash leash;
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Leash> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::test {

[[nodiscard]] inline Result<const Type*> build_door(TypeRegistry& registry) {
    (void)struct_builder<Leash>(registry, "Leash").build();
    return class_builder<Door>(registry, "Door")
        .property<&Door::state>("state")
        .property<&Door::skin>("skin")
        .condition(LifetimeCondition::InitialOnly)
        .property<&Door::key>("key")
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Door::room>("room")
        .property<&Door::note>("note")
        .property<&Door::leash>("leash")
        .build();
}

class DoorGame : public ClassGame<Door> {
  public:
    explicit DoorGame(const ClassGameOptions& options = {}) : ClassGame(build_door, options) {}

    [[nodiscard]] Door& door(ObjectHandle door) { return object(door); }
    [[nodiscard]] const Door& door_on(std::size_t client, ObjectHandle door) {
        return object_on(client, door);
    }
    void set_dormancy(ObjectHandle door, NetDormancy dormancy) {
        driver().set_dormancy(id_of(door), dormancy);
    }
    void flush(ObjectHandle door) { driver().flush_dormancy(id_of(door)); }
    [[nodiscard]] bool is_dormant_on(std::size_t client, ObjectHandle door) {
        return driver().is_dormant_for(peer_of(client), id_of(door));
    }

    void tick_times(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            tick();
        }
    }
    /// Nothing arrives any more, at either end.
    void cut() {
        LinkSettings link;
        link.loss = 1;
        network().set_settings(link);
    }
    void mend() { network().set_settings(LinkSettings()); }
};

}  // namespace replayout::test
