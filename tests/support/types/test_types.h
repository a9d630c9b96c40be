// SPDX-License-Identifier: MIT
//
// Types that several tests replicate: one of every kind, and some that stress one thing.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/type_builder.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace replayout {

enum class Stance : std::uint8_t { Standing, Kneeling, Lying };
enum class Region : std::uint64_t { Nowhere, Far = 0x0123'4567'89ab'cdef };

/// Flattens into five leaves, one of them a reference.
struct Wound {
    Vector3 point;
    ObjectHandle source;
    std::uint16_t damage = 0;
    bool is_open = false;
    Stance stance = Stance::Standing;

    friend bool operator==(const Wound&, const Wound&) = default;
};

/// One command: serializes itself, for all receivers at once.
struct Aim {
    std::int16_t yaw = 0;
    std::uint32_t range = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(yaw);
        std::uint64_t packed = range;
        archive.serialize_packed_uint(packed);
        range = static_cast<std::uint32_t>(packed);
        return true;
    }
    friend bool operator==(const Aim&, const Aim&) = default;
};

/// One command that is serialized for each receiver anew.
struct Secret {
    std::string word;
    std::uint8_t level = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize_string(word, 200);
        archive.serialize(level);
        return true;
    }
    friend bool operator==(const Secret&, const Secret&) = default;
};

template <>
struct StructTraitsOf<Aim> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

template <>
struct StructTraitsOf<Secret> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

/// An element that holds arrays.
struct Pouch {
    std::string label;
    std::vector<std::uint8_t> rounds;
    std::vector<std::vector<std::uint16_t>> routes;
    std::vector<ObjectHandle> owners;
    Aim aim;

    friend bool operator==(const Pouch&, const Pouch&) = default;
};

struct Unit {
    std::int64_t serial = 0;
    ObjectHandle owner;
    bool is_hidden = false;
};

/// Every kind of property, with a base.
struct Soldier : Unit {
    std::int32_t health = 100;
    Stance stance = Stance::Standing;
    Vector3 position;
    Quat turn;
    std::string title;
    Name tag;
    ObjectHandle target;
    Wound last_wound;
    std::array<std::int16_t, 3> scores{};
    std::vector<Wound> wounds;
    std::vector<std::string> words;
    std::vector<Pouch> pouches;
    Aim aim;
    Secret secret;
    double weight = 80.0;
    float stamina = 1.0f;
};

/// Plain members only, of every width; everything is shared.
struct Beacon {
    bool is_lit = false;
    std::int8_t int8 = 0;
    std::uint8_t uint8 = 0;
    std::int16_t int16 = 0;
    std::uint16_t uint16 = 0;
    std::int32_t int32 = 0;
    std::uint32_t uint32 = 0;
    std::int64_t int64 = 0;
    std::uint64_t uint64 = 0;
    float single = 0.0f;
    double twice = 0.0;
    Region region = Region::Nowhere;
    Stance stances[3] = {};
    Vector3 points[2];
    Quat turn;
};

/// Every way to be quantised, and bits, alone and in arrays.
struct Drone {
    Vector3 whole;
    Vector3 tenth;
    Vector3 hundredth;
    Vector3 up;
    Rotator facing;
    Rotator wheel;
    Quat turn;
    Quat camera;
    bool is_armed : 1 = false;
    bool is_landed : 1 = true;
    std::int16_t charge = 0;
    std::uint64_t ammunition = 0;
    Stance stance = Stance::Standing;
    float throttle = 0.0f;
    double fuel = 0.0;
    Vector3 path[2];
    Rotator raw;
    std::vector<Vector3> trail;
    std::vector<std::vector<Stance>> orders;
};

/// Optional values of every kind of element.
struct Locker {
    std::optional<std::int32_t> code;
    std::optional<bool> is_locked;
    std::optional<std::string> label;
    std::optional<ObjectHandle> owner;
    std::optional<Wound> wound;
    std::optional<Vector3> place;
    std::optional<Aim> aim;
    std::optional<std::vector<std::uint16_t>> route;
    std::optional<std::optional<std::uint8_t>> twice;
    std::optional<Pouch> pouch;
    std::vector<std::optional<std::uint32_t>> drawers;
};

/// More handles than two words of a change mask hold.
struct Depot {
    Wound places[30];
    std::string labels[4];
};

/// Arrays and nothing else.
struct Ledger {
    std::vector<std::uint8_t> bytes;
    std::vector<std::string> lines;
    std::vector<Wound> wounds;
    std::vector<std::vector<std::vector<std::uint32_t>>> cubes;
    std::vector<Pouch> pouches;
    std::uint32_t page = 0;
};

// Its handles.
inline constexpr std::uint32_t bytes_handle = 1;
inline constexpr std::uint32_t lines_handle = 2;
inline constexpr std::uint32_t wounds_handle = 3;
inline constexpr std::uint32_t cubes_handle = 4;
inline constexpr std::uint32_t pouches_handle = 5;
inline constexpr std::uint32_t page_handle = 6;

inline void register_parts(TypeRegistry& registry) {
    (void)struct_builder<Wound>(registry, "Wound")
        .property<&Wound::point>()
        .property<&Wound::source>()
        .property<&Wound::damage>()
        .property<&Wound::is_open>()
        .property<&Wound::stance>()
        .build();
    (void)struct_builder<Aim>(registry, "Aim")
        .property<&Aim::yaw>()
        .property<&Aim::range>()
        .build();
    (void)struct_builder<Secret>(registry, "Secret")
        .property<&Secret::word>()
        .property<&Secret::level>()
        .build();
    (void)struct_builder<Pouch>(registry, "Pouch")
        .property<&Pouch::label>()
        .property<&Pouch::rounds>()
        .property<&Pouch::routes>()
        .property<&Pouch::owners>()
        .property<&Pouch::aim>()
        .build();
}

[[nodiscard]] inline Result<const Type*> build_soldier(TypeRegistry& registry) {
    register_parts(registry);
    (void)class_builder<Unit>(registry, "Unit")
        .property<&Unit::serial>()
        .property<&Unit::owner>()
        .property<&Unit::is_hidden>()
        .build();
    return class_builder<Soldier>(registry, "Soldier")
        .base<Unit>()
        .property<&Soldier::health>()
        .property<&Soldier::stance>()
        .property<&Soldier::position>()
        .property<&Soldier::turn>()
        .property<&Soldier::title>()
        .property<&Soldier::tag>()
        .property<&Soldier::target>()
        .property<&Soldier::last_wound>()
        .property<&Soldier::scores>()
        .property<&Soldier::wounds>()
        .property<&Soldier::words>()
        .property<&Soldier::pouches>()
        .property<&Soldier::aim>()
        .property<&Soldier::secret>()
        .property<&Soldier::weight>()
        .property<&Soldier::stamina>()
        .build();
}

[[nodiscard]] inline Result<const Type*> build_beacon(TypeRegistry& registry) {
    return class_builder<Beacon>(registry, "Beacon")
        .property<&Beacon::is_lit>()
        .property<&Beacon::int8>()
        .property<&Beacon::uint8>()
        .property<&Beacon::int16>()
        .property<&Beacon::uint16>()
        .property<&Beacon::int32>()
        .property<&Beacon::uint32>()
        .property<&Beacon::int64>()
        .property<&Beacon::uint64>()
        .property<&Beacon::single>()
        .property<&Beacon::twice>()
        .property<&Beacon::region>()
        .property<&Beacon::stances>()
        .property<&Beacon::points>()
        .property<&Beacon::turn>()
        .build();
}

[[nodiscard]] inline Result<const Type*> build_drone(TypeRegistry& registry) {
    return class_builder<Drone>(registry, "Drone")
        .property<&Drone::whole>()
        .quantised(Quantisation::whole())
        .property<&Drone::tenth>()
        .quantised(Quantisation::tenth())
        .property<&Drone::hundredth>()
        .quantised(Quantisation::hundredth())
        .property<&Drone::up>()
        .quantised(Quantisation::normal())
        .property<&Drone::facing>()
        .quantised(Quantisation::angles())
        .property<&Drone::wheel>()
        .quantised(Quantisation::angles(8))
        .property<&Drone::turn>()
        .quantised(Quantisation::smallest_three())
        .property<&Drone::camera>()
        .quantised(Quantisation::smallest_three(10))
        .bit<[](Drone& drone, bool is_set) { drone.is_armed = is_set; }>("is_armed")
        .bit<[](Drone& drone, bool is_set) { drone.is_landed = is_set; }>("is_landed")
        .property<&Drone::charge>()
        .quantised(Quantisation::range(-100, 100))
        .property<&Drone::ammunition>()
        .quantised(Quantisation::range(0, 500))
        .property<&Drone::stance>()
        .quantised(Quantisation::enumerators(3))
        .property<&Drone::throttle>()
        .quantised(Quantisation::steps(-1.0, 1.0, 0.01))
        .property<&Drone::fuel>()
        .quantised(Quantisation::steps(0.0, 80.0, 0.25))
        .property<&Drone::path>()
        .quantised(Quantisation::tenth())
        .property<&Drone::raw>()
        .property<&Drone::trail>()
        .quantised(Quantisation::hundredth())
        .property<&Drone::orders>()
        .quantised(Quantisation::enumerators(3))
        .build();
}

[[nodiscard]] inline Result<const Type*> build_locker(TypeRegistry& registry) {
    register_parts(registry);
    return class_builder<Locker>(registry, "Locker")
        .property<&Locker::code>()
        .property<&Locker::is_locked>()
        .property<&Locker::label>()
        .property<&Locker::owner>()
        .property<&Locker::wound>()
        .property<&Locker::place>()
        .quantised(Quantisation::tenth())
        .property<&Locker::aim>()
        .property<&Locker::route>()
        .property<&Locker::twice>()
        .property<&Locker::pouch>()
        .property<&Locker::drawers>()
        .build();
}

[[nodiscard]] inline Result<const Type*> build_depot(TypeRegistry& registry) {
    register_parts(registry);
    return class_builder<Depot>(registry, "Depot")
        .property<&Depot::places>()
        .property<&Depot::labels>()
        .build();
}

[[nodiscard]] inline Result<const Type*> build_ledger(TypeRegistry& registry) {
    register_parts(registry);
    return class_builder<Ledger>(registry, "Ledger")
        .property<&Ledger::bytes>()
        .property<&Ledger::lines>()
        .property<&Ledger::wounds>()
        .property<&Ledger::cubes>()
        .property<&Ledger::pouches>()
        .property<&Ledger::page>()
        .build();
}

}  // namespace replayout
