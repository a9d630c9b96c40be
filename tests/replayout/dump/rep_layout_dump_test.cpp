// SPDX-License-Identifier: MIT
//
// The listing is for people, and pinned so that people can rely on it. Offsets in it are those of a
// 64-bit machine.
#include <replayout/dump.h>
#include <replayout/net_archive.h>
#include <replayout/rep_layout.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

struct Shot {
    Vector3 point;
    ObjectHandle shooter;

    friend bool operator==(const Shot&, const Shot&) = default;
};

struct Facing {
    std::uint16_t yaw = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(yaw);
        return true;
    }
    friend bool operator==(const Facing&, const Facing&) = default;
};

/// Promises sharing and does not serialize itself: the promise has no effect.
struct Promise {
    std::uint8_t kept = 0;
    std::uint8_t broken = 0;
};

struct Turret {
    std::int32_t health = 0;
    bool is_armed = false;
    Promise promise;
    Facing facing;
    std::vector<Shot> shots;
    std::vector<std::vector<std::uint8_t>> patterns;
    std::uint16_t ammo[2] = {};
};

}  // namespace

template <>
struct StructTraitsOf<Facing> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

template <>
struct StructTraitsOf<Promise> : DefaultStructTraits {
    static constexpr bool with_net_shared_serialization = true;
};

namespace {

Result<const Type*> build_turret(TypeRegistry& registry) {
    (void)struct_builder<Shot>(registry, "Shot")
        .property<&Shot::point>()
        .property<&Shot::shooter>()
        .build();
    (void)struct_builder<Facing>(registry, "Facing").build();
    (void)struct_builder<Promise>(registry, "Promise")
        .property<&Promise::kept>()
        .property<&Promise::broken>()
        .build();
    return class_builder<Turret>(registry, "Turret")
        .property<&Turret::health>()
        .property<&Turret::is_armed>()
        .property<&Turret::promise>()
        .property<&Turret::facing>()
        .property<&Turret::shots>()
        .property<&Turret::patterns>()
        .property<&Turret::ammo>()
        .build();
}

constexpr std::string_view expected_dump =
    R"(layout of Turret, 9 handles, 88 shadow bytes, fingerprint c07b8db890c77d16f7f50850a88ecc5c
  cmd  type                    handle   object  shadow   end   property
    0  Bits32                       1        0       0      1   health shared
    1  Bool                         2        4       4      2   is_armed shared
    2  Bits8                        3        5       5      3   promise.kept shared
    3  Bits8                        4        6       6      4   promise.broken shared
    4  NetSerializeStruct           5        8       8      5   facing
    5  DynamicArray                 6       16      16      9   shots shared references
    6    Vector                     1        0       0      7   point shared
    7    Object                     2       16      16      8   shooter shared references
    8    Return                     -        -       -      9
    9  DynamicArray                 7       40      48     14   patterns shared
   10    DynamicArray               1        0       0     13   (element) shared
   11      Bits8                    1        0       0     12   (element) shared
   12      Return                   -        -       -     13
   13    Return                     -        -       -     14
   14  Bits16                       8       64      80     15   ammo[0] shared
   15  Bits16                       9       66      82     16   ammo[1] shared
   16  Return                       -        -       -     17
whole blocks are not shared, because of facing
note: struct "Promise" promises NetSharedSerialization without NetSerializer: it is flattened, so the promise has no effect
)";

TEST_CASE("dump: lists commands, handles, offsets and flags as pinned here",
          "[replayout][rep_layout_dump]") {
    const TestLayout layout(build_turret);
    CHECK(dump(*layout) == expected_dump);
}

struct TowerAim {
    float yaw = 0;
    float pitch = 0;
};

struct Crew {
    std::uint16_t seat = 0;
    TowerAim aim;
    std::uint8_t rank = 0;
};

struct Tower {
    bool is_lit = false;
    TowerAim aim;
    std::vector<Crew> crew;
    std::vector<Crew> guests;
};

}  // namespace

template <>
struct StructTraitsOf<TowerAim> : DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace {

Result<const Type*> build_tower(TypeRegistry& registry) {
    (void)struct_builder<TowerAim>(registry, "Aim")
        .property<&TowerAim::yaw>()
        .property<&TowerAim::pitch>()
        .build();
    (void)struct_builder<Crew>(registry, "Crew")
        .property<&Crew::seat>()
        .property<&Crew::aim>()
        .property<&Crew::rank>()
        .build();
    return class_builder<Tower>(registry, "Tower")
        .property<&Tower::is_lit>()
        .property<&Tower::aim>()
        .property<&Tower::crew>()
        .keyed_by<&Crew::seat>(ArrayOrder::Kept)
        .property<&Tower::guests>()
        .keyed_by<&Crew::rank>(ArrayOrder::Free)
        .build();
}

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST_CASE("dump: tells keys of arrays, and which leaves are one atomic group",
          "[replayout][rep_layout_dump]") {
    const TestLayout layout(build_tower);
    const std::string text = dump(*layout);
    INFO(text);
    CHECK(text.find("crew shared key of 2 bytes, order kept\n") != std::string::npos);
    CHECK(text.find("guests shared key of 1 byte, order free\n") != std::string::npos);
    // Of the object handles 2 and 3; of an element of either array those without its key.
    CHECK(count_of(text, "yaw shared atomic 2 to 3\n") == 2);
    CHECK(count_of(text, "pitch shared atomic 2 to 3\n") == 2);
    CHECK(count_of(text, " atomic ") == 6);
    CHECK(count_of(text, "is_lit shared\n") == 1);
}

struct Signal {
    std::uint8_t color = 0;
    std::vector<Facing> facings;
    Facing own;
};

Result<const Type*> build_signal(TypeRegistry& registry) {
    (void)struct_builder<Facing>(registry, "Facing").build();
    return class_builder<Signal>(registry, "Signal")
        .property<&Signal::color>()
        .property<&Signal::facings>()
        .property<&Signal::own>()
        .build();
}

TEST_CASE("dump: tells because of what whole blocks are not shared, elements included",
          "[replayout][rep_layout_dump]") {
    const std::string text = dump(*TestLayout(build_signal));
    CHECK(text.ends_with("whole blocks are not shared, because of facings, own\n"));
    CHECK(dump(*TestLayout(build_tower)).find("whole blocks") == std::string::npos);
}

TEST_CASE("dump: a property is named by its whole path", "[replayout][rep_layout_dump]") {
    struct Barrel {
        std::uint8_t heat = 0;
        std::uint8_t wear[2] = {};
    };
    struct Gun {
        std::uint16_t ammo = 0;
        Barrel barrels[2];
    };
    struct Hull {
        std::uint32_t plates = 0;
        Gun bow;
    };
    struct Tank : Hull {
        Gun turret;
    };
    const TestLayout layout([](TypeRegistry& registry) {
        (void)struct_builder<Barrel>(registry, "Barrel")
            .property<&Barrel::heat>()
            .property<&Barrel::wear>()
            .build();
        (void)struct_builder<Gun>(registry, "Gun")
            .property<&Gun::ammo>()
            .property<&Gun::barrels>()
            .build();
        (void)class_builder<Hull>(registry, "Hull")
            .property<&Hull::plates>()
            .property<&Hull::bow>()
            .build();
        return class_builder<Tank>(registry, "Tank").base<Hull>().property<&Tank::turret>().build();
    });
    const auto path = [&](std::uint32_t handle) {
        return property_path(*layout, RepHandle{handle});
    };
    CHECK(path(1) == "plates");
    CHECK(path(2) == "bow.ammo");
    CHECK(path(3) == "bow.barrels[0].heat");
    CHECK(path(8) == "bow.barrels[1].wear[1]");
    CHECK(path(9) == "turret.ammo");
    CHECK(path(15) == "turret.barrels[1].wear[1]");
    CHECK(dump(*layout).find(" turret.barrels[1].wear[1] shared\n") != std::string::npos);
}

TEST_CASE("dump: a layout tells what is push based", "[replayout][rep_layout_dump]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Turret>(registry, "Turret")
            .property<&Turret::health>()
            .push_based()
            .property<&Turret::is_armed>()
            .build();
    });
    const std::string text = dump(*layout);
    CHECK(text.find("health shared push based\n") != std::string::npos);
    CHECK(text.find("is_armed shared\n") != std::string::npos);
}

TEST_CASE("dump: a type without properties has a listing too", "[replayout][rep_layout_dump]") {
    struct Nothing {
        int hidden = 0;
    };
    const TestLayout layout(
        [](TypeRegistry& registry) { return class_builder<Nothing>(registry, "Nothing").build(); });
    const std::string text = dump(*layout);
    CHECK(text.starts_with("layout of Nothing, 0 handles, 0 shadow bytes, fingerprint "));
    CHECK(text.find("Return") != std::string::npos);
}

}  // namespace
}  // namespace replayout
