// SPDX-License-Identifier: MIT
//
// What net_serialize answers, between a server and its clients: values that wait for an object,
// and values that fail.
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/reflection.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"

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

class RoverWorld final : public NetWorld {
  public:
    explicit RoverWorld(std::uint64_t first_handle) : next_handle_(first_handle) {}

    ObjectHandle make() {
        const ObjectHandle handle{next_handle_++};
        rovers_[handle.value] = std::make_unique<Rover>();
        return handle;
    }
    [[nodiscard]] Rover& rover(ObjectHandle object) { return *rovers_.at(object.value); }

    void* object_memory(ObjectHandle object) override { return &rover(object); }
    ObjectHandle spawn(const SpawnInfo&) override { return make(); }
    void despawn(ObjectHandle object, ChannelCloseReason) override { rovers_.erase(object.value); }

  private:
    std::map<std::uint64_t, std::unique_ptr<Rover>> rovers_;
    std::uint64_t next_handle_;
};

class RoverNet {
  public:
    explicit RoverNet(std::size_t client_count = 1,
                      bool is_validating = NetDriverSettings().is_validating) {
        NetDriverSettings server_settings;
        server_settings.is_validating = is_validating;
        (void)struct_builder<Tether>(registry_, "Tether").build();
        (void)struct_builder<Bond>(registry_, "Bond").build();
        const auto type = class_builder<Rover>(registry_, "Rover")
                              .property<&Rover::speed>()
                              .property<&Rover::tether>()
                              .property<&Rover::bond>()
                              .on_rep<&Rover::on_rep_bond>()
                              .property<&Rover::tethers>()
                              .build();
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        layout_ = std::move(*RepLayout::create(registry_, **type));
        server_ = std::make_unique<NetDriver>(server_settings, network.endpoint(PeerId{1}), world);
        REQUIRE(server_->add_layout(*layout_));
        REQUIRE(server_->listen());
        for (std::size_t i = 0; i < client_count; ++i) {
            worlds.push_back(std::make_unique<RoverWorld>(100'000 * (i + 1)));
            clients_.push_back(std::make_unique<NetDriver>(
                NetDriverSettings(), network.endpoint(PeerId{i + 2}), *worlds.back()));
            REQUIRE(clients_.back()->add_layout(*layout_));
            REQUIRE(clients_.back()->connect(PeerId{1}, now_));
        }
        settle();
    }

    void tick() {
        now_ = now_.plus_milliseconds(20);
        network.advance(now_);
        server_->tick_dispatch(now_);
        server_->tick_flush(now_);
        for (const auto& client : clients_) {
            client->tick_dispatch(now_);
            client->tick_flush(now_);
        }
    }
    void settle() {
        for (int i = 0; i < 20; ++i) {
            tick();
        }
    }

    NetObjectId announce(ObjectHandle object) { return server_->add_object(*layout_, object); }
    [[nodiscard]] NetDriver& server() { return *server_; }
    [[nodiscard]] NetDriver& client(std::size_t index = 0) { return *clients_[index]; }
    /// Null when the client does not have it.
    [[nodiscard]] ObjectHandle find_on(ObjectHandle object, std::size_t client = 0) {
        return clients_[client]->guids().find_object(server_->guids().find_guid(object));
    }
    [[nodiscard]] Rover& rover_on(ObjectHandle object, std::size_t client = 0) {
        return worlds[client]->rover(find_on(object, client));
    }
    [[nodiscard]] const ReplicationCounters& counters() { return server_->stats().replication; }

    RoverWorld world{1};
    std::vector<std::unique_ptr<RoverWorld>> worlds;
    SimulatedNetwork network{{}, 1, std::pmr::get_default_resource()};

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
    std::unique_ptr<NetDriver> server_;
    std::vector<std::unique_ptr<NetDriver>> clients_;
    NetTime now_;
};

TEST_CASE("NetDriver: a shared NetSerializer is called once a tick for all connections",
          "[netdriver][net_serialize]") {
    for (const std::size_t client_count : {1u, 4u, 16u}) {
        RoverNet net(client_count, false);  // validating, it is called once more
        const ObjectHandle dog = net.world.make();
        (void)net.announce(dog);
        net.settle();
        Bond::save_count = 0;
        for (std::uint32_t tick = 1; tick <= 10; ++tick) {
            net.world.rover(dog).bond.target = tick % 2 != 0 ? dog : ObjectHandle{};
            net.tick();
            CHECK(Bond::save_count == tick);
        }
    }
}

TEST_CASE("NetDriver: a value that is not fully mapped is owed again once the object is there",
          "[netdriver][net_serialize]") {
    RoverNet net(2);
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).tether.target = owner;
    net.settle();
    CHECK(net.rover_on(dog).tether.target.is_null());
    CHECK(net.counters().values_unmapped == 2);  // two clients

    // An idle world sends nothing: the value is not tried again and again.
    const std::uint64_t blocks = net.counters().blocks_sent;
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);

    (void)net.announce(owner);
    net.settle();
    for (const std::size_t client : {0u, 1u}) {
        REQUIRE_FALSE(net.find_on(owner, client).is_null());
        CHECK(net.rover_on(dog, client).tether.target == net.find_on(owner, client));
    }
    CHECK(net.counters().blocks_sent == blocks + 2);  // the value, once for each
    CHECK(net.server().is_settled());
}

TEST_CASE("NetDriver: values that wait for each other's objects all arrive",
          "[netdriver][net_serialize]") {
    RoverNet net;
    std::vector<ObjectHandle> rovers;
    for (int i = 0; i < 10; ++i) {
        rovers.push_back(net.world.make());
        (void)net.announce(rovers.back());
    }
    for (std::size_t i = 0; i < rovers.size(); ++i) {
        Rover& rover = net.world.rover(rovers[i]);
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
    CHECK(net.server().is_settled());
}

TEST_CASE("NetDriver: an element that waits is not forgotten when another element is sent",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).tethers.resize(2);
    net.world.rover(dog).tethers[0].target = owner;
    net.settle();
    net.world.rover(dog).tethers[1].padding = "other";
    net.settle();
    (void)net.announce(owner);
    net.settle();
    CHECK(net.rover_on(dog).tethers[0].target == net.find_on(owner));
    CHECK(net.rover_on(dog).tethers[1].padding == "other");
}

TEST_CASE("NetDriver: a value that changes waits for its new object only",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).tether.target = owner;
    net.settle();
    net.world.rover(dog).tether.target = {};
    net.settle();
    const std::uint64_t blocks = net.counters().blocks_sent;
    (void)net.announce(owner);
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);
}

TEST_CASE("NetDriver: a value that travels reliably and waits is sent again when both are over",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).tether.padding = std::string(5'000, 'x');
    net.world.rover(dog).tether.target = owner;
    net.tick();
    (void)net.announce(owner);  // while the value is under way
    net.settle();
    CHECK(net.rover_on(dog).tether.padding.size() == 5'000);
    CHECK(net.rover_on(dog).tether.target == net.find_on(owner));
    CHECK(net.server().is_settled());
}

TEST_CASE("NetDriver: a value that waits is not forgotten when another value is sent",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).tether.target = owner;
    net.settle();
    net.world.rover(dog).speed = 5;
    net.settle();
    REQUIRE(net.rover_on(dog).speed == 5);
    (void)net.announce(owner);
    net.settle();
    CHECK(net.rover_on(dog).tether.target == net.find_on(owner));
}

TEST_CASE("NetDriver: a value waits for an object whose open is not known to have arrived",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.settle();
    LinkSettings dead;
    dead.loss = 1.0;
    net.network.set_settings(dead);
    (void)net.announce(owner);
    net.tick();
    net.network.heal();
    net.world.rover(dog).tether.target = owner;
    net.tick();
    net.tick();
    CHECK(net.counters().values_unmapped == 1);
    net.settle();
    CHECK(net.client().stats().values_unmapped == 0);  // it is sent no id that it has not
    CHECK(net.rover_on(dog).tether.target == net.find_on(owner));
}

TEST_CASE("NetDriver: of two large values that wait for one object each is sent again in its turn",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.settle();
    LinkSettings slow;
    slow.latency_ms = 100;
    net.network.set_settings(slow);
    (void)net.announce(owner);
    net.world.rover(dog).tethers.resize(1);
    net.world.rover(dog).tethers[0].padding = std::string(5'000, 'x');
    net.world.rover(dog).tethers[0].target = owner;
    net.tick();
    // The second one is lost, and so comes after the object is there.
    LinkSettings dead = slow;
    dead.loss = 1.0;
    net.network.set_settings(dead);
    net.world.rover(dog).tether.padding = std::string(5'000, 'y');
    net.world.rover(dog).tether.target = owner;
    net.tick();
    net.network.set_settings(slow);
    for (std::int32_t tick = 0; tick < 60; ++tick) {
        net.world.rover(dog).speed = tick;  // something is sent all the time
        net.tick();
    }
    CHECK(net.rover_on(dog).tethers[0].target == net.find_on(owner));
    CHECK(net.rover_on(dog).tether.padding.size() == 5'000);
    CHECK(net.rover_on(dog).tether.target == net.find_on(owner));
}

TEST_CASE("NetDriver: objects that go take what waits for them along",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    const NetObjectId dog_id = net.announce(dog);
    net.world.rover(dog).tether.target = owner;
    net.settle();
    net.server().remove_object(dog_id);
    net.settle();
    const ObjectHandle cat = net.world.make();
    (void)net.announce(cat);  // in the slot of the dog
    net.settle();
    const std::uint64_t blocks = net.counters().blocks_sent;
    (void)net.announce(owner);
    net.settle();
    CHECK(net.counters().blocks_sent == blocks);
    CHECK(net.server().is_settled());
}

TEST_CASE("NetDriver: a reference inside of a NetSerializer binds, and is null before it dangles",
          "[netdriver][net_serialize]") {
    RoverNet net;
    const ObjectHandle dog = net.world.make();
    const ObjectHandle owner = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).bond.target = owner;
    net.settle();
    CHECK(net.rover_on(dog).bond.target.is_null());
    CHECK(net.client().stats().values_unmapped == 1);
    const std::uint64_t blocks = net.counters().blocks_sent;

    const NetObjectId owner_id = net.announce(owner);
    net.settle();
    CHECK(net.rover_on(dog).bond.target == net.find_on(owner));
    CHECK(net.rover_on(dog).bond_calls == 1);
    CHECK(net.counters().blocks_sent == blocks);  // the client had all it needed

    net.server().remove_object(owner_id);
    net.settle();
    CHECK(net.rover_on(dog).bond.target.is_null());
    CHECK(net.rover_on(dog).bond_calls == 2);
}

TEST_CASE("NetDriver: a value that fails is left out, and the rest goes its way",
          "[netdriver][net_serialize]") {
    RoverNet net(2);
    const ObjectHandle dog = net.world.make();
    (void)net.announce(dog);
    net.world.rover(dog).speed = 4;
    net.world.rover(dog).tether.is_bad = true;
    net.settle();
    CHECK(net.rover_on(dog, 1).speed == 4);
    CHECK(net.counters().values_failed == 2);
    net.world.rover(dog).tether.padding = "alone";
    net.settle();
    CHECK(net.server().is_settled());
    CHECK(net.counters().values_failed == 4);
    net.world.rover(dog).tether.is_bad = false;
    net.settle();
    CHECK(net.rover_on(dog).tether.padding == "alone");
    CHECK(net.client().state() == ConnectionState::Joined);
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
        net.network.set_settings(link);
        std::vector<ObjectHandle> rovers;
        std::vector<NetObjectId> ids(30);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            rovers.push_back(net.world.make());
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
                    net.server().remove_object(ids[i]);
                }
            }
            Rover& rover = net.world.rover(rovers[random.below(count)]);
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
        net.network.heal();
        for (int i = 0; i < 20; ++i) {
            net.settle();
        }
        REQUIRE(net.server().is_settled());
        const std::uint64_t blocks = net.counters().blocks_sent;
        net.settle();
        CHECK(net.counters().blocks_sent == blocks);
        for (std::size_t client = 0; client < 2; ++client) {
            for (std::size_t i = 0; i < rovers.size(); ++i) {
                if (lives[i] != 1) {
                    continue;
                }
                const Rover& server = net.world.rover(rovers[i]);
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
