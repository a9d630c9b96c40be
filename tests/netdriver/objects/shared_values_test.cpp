// SPDX-License-Identifier: MIT
//
// Structs with a shared NetSerializer between a server and its clients: the game is asked once for
// each change, and what it wrote goes the way of plain values.
#include <replayout/net_archive.h>
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/reflection/reflection.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/executors.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout {
namespace {

/// Names an object, which maybe nobody met before.
struct Aim {
    ObjectHandle target;
    std::int32_t angle = 0;
    bool is_bad = false;  // not sent

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        save_count += archive.is_saving() ? 1u : 0u;
        ok = !is_bad;
        archive.serialize(angle);
        (void)archive.serialize_object(target, map);
        return true;
    }
    friend bool operator==(const Aim&, const Aim&) = default;

    static inline std::uint64_t save_count = 0;
};

struct Gun {
    std::int32_t ammo = 0;
    Aim aim;
    std::string name;
    Aim next;
};

/// What is shared also lies in an array, of which receivers may be owed other elements.
struct Battery {
    std::int32_t ammo = 0;
    Aim aim;
    std::vector<Aim> plan;
};

}  // namespace

template <>
struct StructTraitsOf<Aim> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace test::shared_values_test {
namespace {

[[nodiscard]] Result<const Type*> build_gun(TypeRegistry& registry) {
    REQUIRE(struct_builder<Aim>(registry, "Aim").build());
    return class_builder<Gun>(registry, "Gun")
        .property<&Gun::ammo>()
        .property<&Gun::aim>()
        .property<&Gun::name>()
        .property<&Gun::next>()
        .build();
}

[[nodiscard]] Result<const Type*> build_battery(TypeRegistry& registry) {
    REQUIRE(struct_builder<Aim>(registry, "Aim").build());
    return class_builder<Battery>(registry, "Battery")
        .property<&Battery::ammo>()
        .property<&Battery::aim>()
        .property<&Battery::plan>()
        .build();
}

[[nodiscard]] ClassGameOptions unvalidated() {
    ClassGameOptions options;
    options.is_validating = false;
    return options;
}

constexpr std::size_t gun_count = 10;

/// Guns that all clients have, and that rest.
struct Guns {
    Guns(std::size_t client_count, const ClassGameOptions& options) : game(build_gun, options) {
        for (std::size_t i = 0; i < client_count; ++i) {
            game.join();
        }
        REQUIRE(game.settle());
        game.tick([&] {
            for (std::size_t i = 0; i < gun_count; ++i) {
                guns.push_back(game.add());
            }
        });
        REQUIRE(game.settle());
        aim_all();
        REQUIRE(game.settle());
    }
    void aim_all() {
        game.tick([&] {
            for (const ObjectHandle gun : guns) {
                ++game.object(gun).aim.angle;
            }
        });
    }
    [[nodiscard]] const ReplicationCounters& counters() {
        return game.driver().stats().replication;
    }

    ClassGame<Gun> game;
    std::vector<ObjectHandle> guns;
};

void change(Gun& gun, SeededRandom& random, ObjectHandle target) {
    Aim& aim = random.percent(50) ? gun.aim : gun.next;
    aim.angle += 1;
    aim.target = random.percent(50) ? target : aim.target;
    gun.ammo += random.percent(30) ? 1 : 0;
    gun.name = random.percent(10) ? std::to_string(gun.ammo) : gun.name;
}

void change(Battery& battery, SeededRandom& random, ObjectHandle target) {
    if (random.percent(30)) {
        battery.aim.target = target;
    }
    if (random.percent(20)) {
        battery.plan.resize(random.below(6));
    }
    if (!battery.plan.empty()) {
        battery.plan[random.below(static_cast<std::uint32_t>(battery.plan.size()))].target = target;
    }
    ++battery.ammo;
}

/// All datagrams of a server whose world never rests: objects come, change, are hidden and go,
/// clients join, packets are lost, some clients have a cap.
template <typename Object>
[[nodiscard]] std::vector<Datagram> play(BuildType build, std::uint64_t seed, SharingLevel sharing,
                                         Executor* executor) {
    SeededRandom random(seed);
    ClassGameOptions options;
    options.seed = seed;
    options.sharing = sharing;
    options.executor = executor;
    options.link.loss = 0.05;
    ClassGame<Object> game(build, options);
    game.server_transport().is_recording = true;
    std::vector<ObjectHandle> objects;
    std::uint64_t unmet = 1'000'000'000;
    for (std::uint32_t tick = 0; tick < 150; ++tick) {
        if (tick % 25 == 0 && game.client_count() < 5) {
            game.join();
        }
        if (tick % 25 == 5) {
            game.driver().rates().set_bytes_per_second_max(game.peer_of(1), 6'000);
        }
        game.tick([&] {
            if (objects.size() < 12 || random.percent(15)) {
                objects.push_back(game.add());
            }
            if (objects.size() > 30 && random.percent(15)) {
                const std::uint32_t gone = random.below(static_cast<std::uint32_t>(objects.size()));
                game.remove(objects[gone]);
                objects.erase(objects.begin() + gone);
            }
            for (int i = 0; i < 10; ++i) {
                // Sometimes one that the driver never met, or will meet later.
                const ObjectHandle target =
                    random.percent(60) ? random.pick(objects) : ObjectHandle{unmet++};
                change(game.object(random.pick(objects)), random, target);
            }
            if (random.percent(20)) {
                game.driver().interest().set_relevant_for(game.peer_of(random.below(5)),
                                                          game.id_of(random.pick(objects)),
                                                          random.percent(50));
            }
        });
    }
    return game.server_transport().sent;
}

template <typename Object>
void check_twins(BuildType build) {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        CAPTURE(seed);
        const std::vector<Datagram> alone = play<Object>(build, seed, SharingLevel::Off, nullptr);
        for (const SharingLevel sharing :
             {SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
            CAPTURE(sharing);
            REQUIRE(play<Object>(build, seed, sharing, nullptr) == alone);
            OrderedExecutor executor(3, JobOrder::Shuffled, seed);
            REQUIRE(play<Object>(build, seed, sharing, &executor) == alone);
        }
        OrderedExecutor executor(3, JobOrder::Reverse, seed);
        REQUIRE(play<Object>(build, seed, SharingLevel::Off, &executor) == alone);
    }
}

}  // namespace

TEST_CASE("Shared values: the game is asked once for each change, however many clients there are",
          "[netdriver][shared_values]") {
    for (const std::size_t client_count : {1u, 4u, 16u}) {
        CAPTURE(client_count);
        Guns guns(client_count, unvalidated());
        const std::uint64_t calls = guns.counters().serializer_calls;
        const std::uint64_t saves = Aim::save_count;
        guns.aim_all();
        CHECK(Aim::save_count - saves == gun_count);
        CHECK(guns.counters().serializer_calls - calls == gun_count);
        REQUIRE(guns.game.settle());
        CHECK(Aim::save_count - saves == gun_count);
    }
}

TEST_CASE("Shared values: without sharing the game is asked once more than there are clients",
          "[netdriver][shared_values]") {
    ClassGameOptions options = unvalidated();
    options.sharing = SharingLevel::Off;
    Guns guns(4, options);
    const std::uint64_t saves = Aim::save_count;
    guns.aim_all();
    CHECK(Aim::save_count - saves == gun_count * 5);
}

TEST_CASE(
    "Shared values: a client that joins or loses a packet gets what the game wrote for others",
    "[netdriver][shared_values]") {
    Guns guns(3, unvalidated());
    int sent_count = 0;
    const std::uint64_t saves = Aim::save_count;
    guns.game.server_transport().set_script([&](Bytes&) { return ++sent_count != 1; });
    guns.aim_all();
    guns.game.join();
    REQUIRE(guns.game.settle());
    CHECK(guns.game.driver().stats().records_lost > 0);
    CHECK(Aim::save_count - saves == gun_count);
    for (const ObjectHandle gun : guns.guns) {
        for (std::size_t client = 0; client < 4; ++client) {
            CHECK(guns.game.object_on(client, gun).aim.angle == guns.game.object(gun).aim.angle);
        }
    }
}

TEST_CASE("Shared values: objects with them go out in bundles", "[netdriver][shared_values]") {
    Guns guns(4, unvalidated());
    const ReplicationCounters before = guns.counters();
    guns.aim_all();
    const ReplicationCounters& after = guns.counters();
    CHECK(after.bundles_built - before.bundles_built == 1);
    CHECK(after.bundles_copied - before.bundles_copied == 4);
    CHECK(after.payloads_reused - before.payloads_reused == 3 * gun_count);
}

TEST_CASE("Shared values: one that fails is one call and one log line for all clients",
          "[netdriver][shared_values]") {
    Guns guns(8, unvalidated());
    const LogSpy log;
    const std::uint64_t saves = Aim::save_count;
    guns.game.tick([&] {
        Gun& gun = guns.game.object(guns.guns[3]);
        gun.aim.angle = 77;
        gun.aim.is_bad = true;
        gun.ammo = 5;
    });
    for (int i = 0; i < 20; ++i) {
        guns.game.tick();
    }
    CHECK(Aim::save_count - saves == 1);
    CHECK(LogSpy::messages().size() == 1);
    for (std::size_t client = 0; client < 8; ++client) {
        CHECK(guns.game.object_on(client, guns.guns[3]).ammo == 5);
        CHECK(guns.game.object_on(client, guns.guns[3]).aim.angle != 77);
    }
    guns.game.tick([&] {
        Gun& gun = guns.game.object(guns.guns[3]);
        gun.aim.angle = 78;
        gun.aim.is_bad = false;
    });
    REQUIRE(guns.game.settle());
    CHECK(Aim::save_count - saves == 2);
    for (std::size_t client = 0; client < 8; ++client) {
        CHECK(guns.game.object_on(client, guns.guns[3]).aim.angle == 78);
    }
}

TEST_CASE("Shared values: of an object that no client is shown the game is not asked",
          "[netdriver][shared_values]") {
    Guns guns(2, unvalidated());
    for (std::size_t client = 0; client < 2; ++client) {
        guns.game.driver().interest().set_relevant_for(guns.game.peer_of(client),
                                                       guns.game.id_of(guns.guns[0]), false);
    }
    REQUIRE(guns.game.settle());
    const std::uint64_t saves = Aim::save_count;
    for (int i = 0; i < 5; ++i) {
        guns.aim_all();
    }
    CHECK(Aim::save_count - saves == 5 * (gun_count - 1));
    guns.game.driver().interest().set_relevant_for(guns.game.peer_of(1),
                                                   guns.game.id_of(guns.guns[0]), true);
    REQUIRE(guns.game.settle());
    CHECK(guns.game.object_on(1, guns.guns[0]).aim.angle ==
          guns.game.object(guns.guns[0]).aim.angle);
    CHECK(Aim::save_count - saves == 5 * (gun_count - 1) + 1);  // `next` never changed
}

TEST_CASE("Shared values: which objects they name changes no packet, shared or not, by any lanes",
          "[netdriver][shared_values][random]") {
    check_twins<Gun>(build_gun);
}

TEST_CASE("Shared values: in arrays, too, which objects they name changes no packet",
          "[netdriver][shared_values][random]") {
    check_twins<Battery>(build_battery);
}

}  // namespace test::shared_values_test
}  // namespace replayout
