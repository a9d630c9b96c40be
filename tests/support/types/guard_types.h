// SPDX-License-Identifier: MIT
//
// A class with one member for each way in which a value may travel, or not: plain, under a
// condition, waiting for an object, atomic, as deltas, in keyed and fast arrays, failing, too large
// for a packet.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/types/delta_types.h"
#include "support/types/fast_array_types.h"

namespace replayout::test {

/// Cannot be written while it is broken.
struct GuardSeal {
    std::int32_t stamp = 0;
    bool is_broken = false;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(stamp);
        ok = ok && !(archive.is_saving() && is_broken);
        return true;
    }
    friend bool operator==(const GuardSeal&, const GuardSeal&) = default;
};

/// Names its holder only to who has him, and is sent again once one has.
struct GuardLeash {
    ObjectHandle holder;
    std::string tag;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        archive.serialize_string(tag, 4'000);
        bool has_holder = archive.receiver_has(holder, map);
        const bool is_mapped = has_holder;
        archive.serialize(has_holder);
        return has_holder ? archive.serialize_object(holder, map) : is_mapped;
    }
    friend bool operator==(const GuardLeash&, const GuardLeash&) = default;
};

/// Right only as a whole: `rounds` is made of the other two.
struct GuardKit {
    std::string weapon;
    std::int32_t magazines = 0;
    std::int32_t rounds = 0;
    GuardSeal seal;

    void set(std::int32_t magazines_now, std::string weapon_now) {
        magazines = magazines_now;
        weapon = std::move(weapon_now);
        rounds = magazines * 10 + static_cast<std::int32_t>(weapon.size());
    }
    [[nodiscard]] bool is_consistent() const {
        return rounds == magazines * 10 + static_cast<std::int32_t>(weapon.size());
    }
};

struct GuardItem {
    std::uint32_t id = 0;
    std::int32_t count = 0;

    friend bool operator==(const GuardItem&, const GuardItem&) = default;
};

struct Guard {
    std::int32_t health = 100;        // handle 1
    GuardLeash leash;                 // 2
    GuardKit kit;                     // 3 to 6
    Scores scores;                    // 7
    std::vector<GuardItem> items;     // 8
    Inventory stock;                  // 9
    std::vector<std::uint32_t> path;  // 10
    std::string name;                 // 11
    std::vector<GuardSeal> seals;     // 12
    std::int32_t secret = 0;          // 13, of the owner
    std::vector<std::int32_t> plan;   // 14, of the owner
    std::int32_t rank = 0;            // 15, at first
    std::int32_t mood = 0;            // 16, by a condition that is chosen
    GuardSeal last;                   // 17
    std::int32_t orders = 0;          // 18, at first and of the owner

    std::uint32_t health_notifies = 0;
    void on_rep_health() { ++health_notifies; }
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::GuardSeal> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::GuardLeash> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::GuardKit> : replayout::DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace replayout::test {

[[nodiscard]] inline Result<const Type*> build_guard(TypeRegistry& registry) {
    REQUIRE(struct_builder<GuardSeal>(registry, "GuardSeal").build());
    REQUIRE(struct_builder<GuardLeash>(registry, "GuardLeash").build());
    REQUIRE(struct_builder<GuardKit>(registry, "GuardKit")
                .property<&GuardKit::weapon>()
                .property<&GuardKit::magazines>()
                .property<&GuardKit::rounds>()
                .property<&GuardKit::seal>()
                .build());
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    REQUIRE(struct_builder<GuardItem>(registry, "GuardItem")
                .property<&GuardItem::id>()
                .property<&GuardItem::count>()
                .build());
    register_inventory(registry);
    return class_builder<Guard>(registry, "Guard")
        .property<&Guard::health>()
        .on_rep<&Guard::on_rep_health>()
        .property<&Guard::leash>()
        .property<&Guard::kit>()
        .property<&Guard::scores>()
        .property<&Guard::items>()
        .keyed_by<&GuardItem::id>(ArrayOrder::Kept)
        .property<&Guard::stock>()
        .property<&Guard::path>()
        .property<&Guard::name>()
        .property<&Guard::seals>()
        .property<&Guard::secret>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Guard::plan>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Guard::rank>()
        .condition(LifetimeCondition::InitialOnly)
        .property<&Guard::mood>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Guard::last>()
        .property<&Guard::orders>()
        .condition(LifetimeCondition::InitialOrOwner)
        .build();
}

/// Parents of properties by their place in the class.
inline constexpr ParentIndex guard_mood{12};

}  // namespace replayout::test
