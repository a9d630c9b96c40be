// SPDX-License-Identifier: MIT
//
// What net_serialize answers, between a server and its clients: values that wait for an object,
// and values that fail.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/class_game.h"

namespace replayout {
namespace {

/// Writes nothing of an object that the receiver lacks, and waits for it.
struct Tether {
    ObjectHandle target;
    std::string padding;
    bool is_bad = false;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
        ok = !is_bad;
        bool has_target = archive.receiver_has(target, map);
        bool is_mapped = has_target;
        archive.serialize(has_target);
        archive.serialize_string(padding, 8'000);
        if (has_target) {
            is_mapped = archive.serialize_object(target, map);
        } else {
            target = archive.is_loading() ? ObjectHandle{} : target;
        }
        return is_mapped;
    }
    friend bool operator==(const Tether&, const Tether&) = default;
};

/// Always writes the id, and leaves the rest to the receiver.
struct Bond {
    ObjectHandle target;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        save_count += archive.is_saving() ? 1u : 0u;
        return archive.serialize_object(target, map);
    }
    static inline std::uint32_t save_count = 0;
    friend bool operator==(const Bond&, const Bond&) = default;
};

struct Rover {
    std::int32_t speed = 0;
    Tether tether;
    Bond bond;
    std::vector<Tether> tethers;
    std::uint32_t bond_calls = 0;

    void on_rep_bond() { ++bond_calls; }
};

}  // namespace

template <>
struct StructTraitsOf<Tether> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct StructTraitsOf<Bond> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace {

[[nodiscard]] Result<const Type*> build_rover(TypeRegistry& registry) {
    (void)struct_builder<Tether>(registry, "Tether").build();
    (void)struct_builder<Bond>(registry, "Bond").build();
    return class_builder<Rover>(registry, "Rover")
        .property<&Rover::speed>()
        .property<&Rover::tether>()
        .property<&Rover::bond>()
        .on_rep<&Rover::on_rep_bond>()
        .property<&Rover::tethers>()
        .build();
}

[[nodiscard]] test::ClassGameOptions validating(bool is_validating) {
    test::ClassGameOptions options;
    options.is_validating = is_validating;
    return options;
}

class RoverNet : public test::ClassGame<Rover> {
  public:
    explicit RoverNet(std::size_t client_count = 1,
                      bool is_validating = NetDriverSettings().is_validating)
        : ClassGame(build_rover, validating(is_validating)) {
        for (; client_count > 0; --client_count) {
            join();
        }
        settle();
    }

    void settle() { tick(20u); }
    /// Null when the client does not have it.
    [[nodiscard]] ObjectHandle find_on(ObjectHandle object, std::size_t client = 0) {
        return client_driver(client).guids().find_object(driver().guids().find_guid(object));
    }
    [[nodiscard]] Rover& rover_on(ObjectHandle object, std::size_t client = 0) {
        return object_on(client, object);
    }
    [[nodiscard]] const ReplicationCounters& counters() { return driver().stats().replication; }
};

/// Begins with a dog, and with its owner, who is not announced yet.
struct DogNet : RoverNet {
    explicit DogNet(std::size_t client_count = 1,
                    bool is_validating = NetDriverSettings().is_validating)
        : RoverNet(client_count, is_validating) {}

    [[nodiscard]] Rover& rover() { return object(dog); }
    [[nodiscard]] Rover& rover_shown(std::size_t client = 0) { return rover_on(dog, client); }

    ObjectHandle dog = add();
    ObjectHandle owner = make();
};

TEST_CASE("NetDriver: a shared NetSerializer is called once a tick for all connections",
          "[netdriver][net_serialize]") {
    for (const std::size_t client_count : {1u, 4u, 16u}) {
        DogNet net(client_count, false);  // validating, it is called once more
        net.settle();
        Bond::save_count = 0;
        for (std::uint32_t tick = 1; tick <= 10; ++tick) {
            net.rover().bond.target = tick % 2 != 0 ? net.dog : ObjectHandle{};
            net.tick();
            CHECK(Bond::save_count == tick);
        }
    }
}

TEST_CASE("NetDriver: a value that is not fully mapped is owed again once the object is there",
          "[netdriver][net_serialize]") {
    DogNet net(2);
    net.rover().tether.target = net.owner;
    net.settle();
    CHECK(net.rover_shown().tether.target.is_null());
    CHECK(net.counters().values_unmapped == 2);  // two clients

    // An idle world sends nothing: the value is not tried again and again.
    const std::uint64_t blocks = net.counters().blocks_sent;
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);

    (void)net.announce(net.owner);
    net.settle();
    for (const std::size_t client : {0u, 1u}) {
        REQUIRE_FALSE(net.find_on(net.owner, client).is_null());
        CHECK(net.rover_shown(client).tether.target == net.find_on(net.owner, client));
    }
    CHECK(net.counters().blocks_sent == blocks + 2);  // the value, once for each
    CHECK(net.driver().is_settled());
}

TEST_CASE("NetDriver: values that wait for each other's objects all arrive",
          "[netdriver][net_serialize]") {
    RoverNet net;
    std::vector<ObjectHandle> rovers;
    for (int i = 0; i < 10; ++i) {
        rovers.push_back(net.make());
        (void)net.announce(rovers.back());
    }
    for (std::size_t i = 0; i < rovers.size(); ++i) {
        Rover& rover = net.object(rovers[i]);
        rover.speed = static_cast<std::int32_t>(i);
        rover.tether.target = rovers[(i + 1) % rovers.size()];
        rover.tethers.resize(2);
        rover.tethers[1].target = rovers[(i + 3) % rovers.size()];
    }
    net.settle();
    for (std::size_t i = 0; i < rovers.size(); ++i) {
        const Rover& rover = net.rover_on(rovers[i]);
        CHECK(rover.tether.target == net.find_on(rovers[(i + 1) % rovers.size()]));
        CHECK(rover.tethers[1].target == net.find_on(rovers[(i + 3) % rovers.size()]));
    }
    CHECK(net.driver().is_settled());
}

TEST_CASE("NetDriver: an element that waits is not forgotten when another element is sent",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().tethers.resize(2);
    net.rover().tethers[0].target = net.owner;
    net.settle();
    net.rover().tethers[1].padding = "other";
    net.settle();
    (void)net.announce(net.owner);
    net.settle();
    CHECK(net.rover_shown().tethers[0].target == net.find_on(net.owner));
    CHECK(net.rover_shown().tethers[1].padding == "other");
}

TEST_CASE("NetDriver: a value that changes waits for its new object only",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().tether.target = net.owner;
    net.settle();
    net.rover().tether.target = {};
    net.settle();
    const std::uint64_t blocks = net.counters().blocks_sent;
    (void)net.announce(net.owner);
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);
}

TEST_CASE("NetDriver: a value that travels reliably and waits is sent again when both are over",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().tether.padding = std::string(5'000, 'x');
    net.rover().tether.target = net.owner;
    net.tick();
    (void)net.announce(net.owner);  // while the value is under way
    net.settle();
    CHECK(net.rover_shown().tether.padding.size() == 5'000);
    CHECK(net.rover_shown().tether.target == net.find_on(net.owner));
    CHECK(net.driver().is_settled());
}

TEST_CASE("NetDriver: a value that waits is not forgotten when another value is sent",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().tether.target = net.owner;
    net.settle();
    net.rover().speed = 5;
    net.settle();
    REQUIRE(net.rover_shown().speed == 5);
    (void)net.announce(net.owner);
    net.settle();
    CHECK(net.rover_shown().tether.target == net.find_on(net.owner));
}

TEST_CASE("NetDriver: a value waits for an object whose open is not known to have arrived",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.settle();
    LinkSettings dead;
    dead.loss = 1.0;
    net.network().set_settings(dead);
    (void)net.announce(net.owner);
    net.tick();
    net.network().heal();
    net.rover().tether.target = net.owner;
    net.tick();
    net.tick();
    CHECK(net.counters().values_unmapped == 1);
    net.settle();
    CHECK(net.client_driver(0).stats().values_unmapped == 0);  // it is sent no id that it has not
    CHECK(net.rover_shown().tether.target == net.find_on(net.owner));
}

TEST_CASE("NetDriver: of two large values that wait for one object each is sent again in its turn",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.settle();
    LinkSettings slow;
    slow.latency_ms = 100;
    net.network().set_settings(slow);
    (void)net.announce(net.owner);
    net.rover().tethers.resize(1);
    net.rover().tethers[0].padding = std::string(5'000, 'x');
    net.rover().tethers[0].target = net.owner;
    net.tick();
    // The second one is lost, and so comes after the object is there.
    LinkSettings dead = slow;
    dead.loss = 1.0;
    net.network().set_settings(dead);
    net.rover().tether.padding = std::string(5'000, 'y');
    net.rover().tether.target = net.owner;
    net.tick();
    net.network().set_settings(slow);
    for (std::int32_t tick = 0; tick < 60; ++tick) {
        net.rover().speed = tick;  // something is sent all the time
        net.tick();
    }
    CHECK(net.rover_shown().tethers[0].target == net.find_on(net.owner));
    CHECK(net.rover_shown().tether.padding.size() == 5'000);
    CHECK(net.rover_shown().tether.target == net.find_on(net.owner));
}

TEST_CASE("NetDriver: objects that go take what waits for them along",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().tether.target = net.owner;
    net.settle();
    net.driver().remove_object(net.id_of(net.dog));
    net.settle();
    const ObjectHandle cat = net.make();
    (void)net.announce(cat);  // in the slot of the dog
    net.settle();
    const std::uint64_t blocks = net.counters().blocks_sent;
    (void)net.announce(net.owner);
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);
    CHECK(net.driver().is_settled());
}

TEST_CASE("NetDriver: a reference inside of a NetSerializer binds, and is null before it dangles",
          "[netdriver][net_serialize]") {
    DogNet net;
    net.rover().bond.target = net.owner;
    net.settle();
    CHECK(net.rover_shown().bond.target.is_null());
    CHECK(net.client_driver(0).stats().values_unmapped == 1);
    const std::uint64_t blocks = net.counters().blocks_sent;

    const NetObjectId owner_id = net.announce(net.owner);
    net.settle();
    CHECK(net.rover_shown().bond.target == net.find_on(net.owner));
    CHECK(net.rover_shown().bond_calls == 1);
    CHECK(net.counters().blocks_sent == blocks);  // the client had all it needed

    net.driver().remove_object(owner_id);
    net.settle();
    CHECK(net.rover_shown().bond.target.is_null());
    CHECK(net.rover_shown().bond_calls == 2);
}

TEST_CASE("NetDriver: a value that fails is left out, and the rest goes its way",
          "[netdriver][net_serialize]") {
    DogNet net(2);
    net.rover().speed = 4;
    net.rover().tether.is_bad = true;
    net.settle();
    CHECK(net.rover_shown(1).speed == 4);
    CHECK(net.counters().values_failed == 2);
    net.rover().tether.padding = "alone";
    net.settle();
    CHECK(net.driver().is_settled());
    CHECK(net.counters().values_failed == 4);
    net.rover().tether.is_bad = false;
    net.settle();
    CHECK(net.rover_shown().tether.padding == "alone");
    CHECK(net.client_driver(0).state() == ConnectionState::Joined);
}

TEST_CASE("NetDriver: over a bad network what waits for objects ends right, and idle",
          "[netdriver][net_serialize]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        test::SeededRandom random(run_seed() + seed);
        RoverNet net(2);
        LinkSettings link;
        link.loss = 0.3;
        link.burst_packets = 2;
        link.latency_ms = 35;
        link.jitter_ms = 30;
        net.network().set_settings(link);
        std::vector<ObjectHandle> rovers;
        std::vector<NetObjectId> ids(30);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            rovers.push_back(net.make());
        }
        // Not there yet, there, and gone for good.
        std::vector<int> lives(rovers.size(), 0);
        const auto count = static_cast<std::uint32_t>(rovers.size());
        for (std::uint32_t step = 0; step < 200; ++step) {
            const std::uint32_t i = random.below(count);
            if (lives[i] == 0 || (lives[i] == 1 && random.below(4) == 0)) {
                if (lives[i]++ == 0) {
                    ids[i] = net.announce(rovers[i]);
                } else {
                    net.driver().remove_object(ids[i]);
                }
            }
            Rover& rover = net.object(rovers[random.below(count)]);
            const ObjectHandle target = rovers[random.below(count)];
            rover.tether.target = random.below(4) == 0 ? ObjectHandle{} : target;
            rover.tether.padding = std::string(random.below(20) == 0 ? 3'000 : 3, 'x');
            rover.tethers.resize(random.below(3));
            if (!rover.tethers.empty()) {
                rover.tethers.back().target = rovers[random.below(count)];
            }
            rover.bond.target = rovers[random.below(count)];
            net.tick();
        }
        net.network().heal();
        for (int i = 0; i < 20; ++i) {
            net.settle();
        }
        REQUIRE(net.driver().is_settled());
        const std::uint64_t blocks = net.counters().blocks_sent;
        net.settle();
        CHECK(net.counters().blocks_sent == blocks);
        for (std::size_t client = 0; client < 2; ++client) {
            for (std::size_t i = 0; i < rovers.size(); ++i) {
                if (lives[i] != 1) {
                    continue;
                }
                const Rover& server = net.object(rovers[i]);
                const Rover& shown = net.rover_on(rovers[i], client);
                CHECK(shown.tether.target == net.find_on(server.tether.target, client));
                CHECK(shown.tether.padding == server.tether.padding);
                CHECK(shown.bond.target == net.find_on(server.bond.target, client));
                REQUIRE(shown.tethers.size() == server.tethers.size());
                for (std::size_t k = 0; k < server.tethers.size(); ++k) {
                    CHECK(shown.tethers[k].target == net.find_on(server.tethers[k].target, client));
                }
            }
        }
    }
}

}  // namespace
}  // namespace replayout
