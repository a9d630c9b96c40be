// SPDX-License-Identifier: MIT
//
// Spawning: what a client does with handlers and servers that give it what cannot be, or in another
// order than ours do.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

TEST_CASE(
    "U46 FindOrSpawnObject: a handler that gives what is not free, or another's, gives nothing",
    "[behaviours]") {
    ArenaGame game;
    NetworkClient& client = game.client(game.join());
    NetworkIdentity* given = nullptr;
    bool is_destroying = false;
    const NetworkSpawnHandler handler{[&](NetworkClient& asked, const SpawnInfo&) {
                                          if (is_destroying) {
                                              asked.destroy(*given);
                                          }
                                          return given;
                                      },
                                      [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {}};
    REQUIRE(client.register_spawn_handler(game.types().pawn().asset_id(), handler));
    const LogSpy spy;
    given = &client.instantiate(game.types().pawn());
    NetworkIdentity& first = game.spawn(game.types().pawn());
    game.settle();
    REQUIRE(game.on_client(0, first) == given);

    const NetworkIdentity& second = game.spawn(game.types().pawn());  // the one that is spawned
    game.settle();
    CHECK(client.counters().handlers_failed == 1);
    given = &client.instantiate(game.types().twins());
    const NetworkIdentity& third = game.spawn(game.types().pawn());
    game.settle();
    CHECK(client.counters().handlers_failed == 2);
    given = &client.instantiate(game.types().pawn());
    is_destroying = true;
    const NetworkIdentity& fourth = game.spawn(game.types().pawn());
    game.settle();
    CHECK(client.counters().handlers_failed == 3);
    for (const NetworkIdentity* missing : {&second, &third, &fourth}) {
        CHECK(game.on_client(0, *missing) == nullptr);
    }
    first.component<Fighter>(0).health = 3;
    game.settle();
    CHECK(game.fighter_on(0, first).health == 3);
}

TEST_CASE("Ready: a scene object that was spawned anew meanwhile is taken, and no other",
          "[behaviours]") {
    const std::vector<std::uint64_t> scene_ids = {9, 5, 7};
    for (const bool are_others_hidden : {false, true}) {
        for (std::size_t anew = 0; anew < scene_ids.size(); ++anew) {
            CAPTURE(are_others_hidden, scene_ids[anew]);
            ArenaGame game;
            game.join();
            std::vector<NetworkIdentity*> doors;
            std::vector<NetworkIdentity*> shown;
            for (const std::uint64_t scene_id : scene_ids) {
                doors.push_back(&game.server().add_scene_object(game.types().pawn(), scene_id));
                shown.push_back(&game.client(0).add_scene_object(game.types().pawn(), scene_id));
                REQUIRE(game.server().spawn(*doors.back()));
            }
            game.settle();
            for (NetworkIdentity* door : shown) {
                std::ignore = take_told(door->component<Fighter>(0));
            }
            game.server().set_client_not_ready(game.connection(0));
            game.tick(20);
            game.server().unspawn(*doors[anew]);
            REQUIRE(game.server().spawn(*doors[anew]));
            for (std::size_t i = 0; are_others_hidden && i < doors.size(); ++i) {
                REQUIRE((i == anew || game.server().hide_from(*doors[i], game.connection(0))));
            }
            REQUIRE(game.client(0).ready());
            game.settle();
            for (std::size_t i = 0; i < doors.size(); ++i) {
                CAPTURE(scene_ids[i]);
                const bool is_there = i == anew || !are_others_hidden;
                CHECK(game.on_client(0, *doors[i]) == (is_there ? shown[i] : nullptr));
                Told expected = i == anew ? Told{"stop client", "start client"} : Told{};
                if (!is_there) {
                    expected = {"stop client"};
                }
                CHECK(take_told(shown[i]->component<Fighter>(0)) == expected);
            }
            CHECK(game.client(0).counters().scene_objects_missing == 0);
        }
    }
}

TEST_CASE("Hostile server: a second object of one scene id is left out, and the first stays",
          "[behaviours]") {
    ArenaGame game;
    game.join();
    NetworkIdentity& door = game.client(0).add_scene_object(game.types().twins(), 9);
    NetworkIdentity& first = game.server().add_scene_object(game.types().twins(), 9);
    NetworkIdentity& second = game.server().add_scene_object(game.types().twins(), 9);
    const LogSpy spy;
    REQUIRE(game.server().spawn(first));
    game.settle();
    CHECK_FALSE(game.server().spawn(second));
    SpawnParameters parameters;  // by a server that does not look; its own would refuse "9"
    parameters.stable_name = "09";
    const NetObjectId id = game.server().driver().add_object(
        second.prefab().layout(), ObjectHandle{reinterpret_cast<std::uintptr_t>(&second)},
        parameters);
    REQUIRE(id.generation != 0);
    game.settle();
    CHECK(game.on_client(0, first) == &door);
    CHECK(game.client(0).counters().scene_objects_missing == 1);
}

TEST_CASE("Hostile server: a second object of the connection is left out, and the first stays",
          "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    const LogSpy spy;
    NetDriver& driver = game.server().driver();
    const NetworkPrefab& prefab = game.types().get().connection_prefab();
    NetworkIdentity& second = game.server().instantiate(prefab);
    const NetObjectId id =
        driver.add_object(prefab.layout(), {reinterpret_cast<std::uintptr_t>(&second)});
    driver.interest().set_relevancy(id, NetRelevancy::OnlyToOwner);
    driver.set_owner(id, ArenaGame::client_peer(0));
    game.settle();
    CHECK_FALSE(LogSpy::messages().empty());
    driver.remove_object(id);
    game.settle();
    CHECK(game.client(0).is_ready());
    game.server().set_client_not_ready(game.connection(0));
    game.tick(20);
    CHECK_FALSE(game.client(0).is_ready());
    REQUIRE(game.client(0).ready());
    game.settle();
}

/// Notes when it is started.
class Runner : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> number;
    static inline std::vector<std::uint64_t> started;
    void on_start_client() override { started.push_back(identity().net_id()); }
};

TEST_CASE("U48 OnSpawn: objects are started in the order in which the server spawned them",
          "[behaviours]") {
    Runner::started.clear();
    ArenaOptions options;
    options.link.loss = 0.3;
    options.link.reorder = 0.3;
    options.link.latency_ms = 20;
    ArenaGame game(options, [](NetworkTypes& types) {
        const auto runner =
            BehaviourBuilder<Runner>(types, "Runner").sync_var<&Runner::number>().build();
        REQUIRE(runner.has_value());
        REQUIRE(types.add_prefab("Runner", {{*runner}}).has_value());
    });
    std::vector<std::uint64_t> spawned;
    for (int i = 0; i < 200; ++i) {
        NetworkIdentity& runner = game.spawn(game.types().find("Runner"));
        runner.component<Runner>(0).number = i;
        spawned.push_back(runner.net_id());
    }
    game.join_settled();
    CHECK(Runner::started == spawned);
}

TEST_CASE("Hostile server: another prefab under the id of what a client kept takes its place",
          "[behaviours]") {
    ArenaGame game;
    const std::size_t client = game.join();
    Told told;
    const NetworkSpawnHandler handler{
        [&](NetworkClient& asked, const SpawnInfo&) {
            told.push_back("made");
            return &asked.instantiate(game.types().pawn());
        },
        [&](NetworkClient& asked, NetworkIdentity& object, ChannelCloseReason reason) {
            told.push_back("back: " + std::string(to_string(reason)));
            asked.destroy(object);
        }};
    REQUIRE(game.client(client).register_spawn_handler(game.types().pawn().asset_id(), handler));
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    const std::uint64_t kept_id = pawn.net_id();
    game.settle();
    game.server().set_client_not_ready(game.connection(0));
    game.tick(20);
    game.server().destroy(pawn);
    const NetworkIdentity& twins = game.spawn(game.types().twins());
    REQUIRE(twins.net_id() < 128);  // one byte in the message that opens it, which begins with it
    std::uint32_t changed = 0;
    game.server_transport().set_script([&](Bytes& datagram) {
        const std::optional<Packet> packet = parse_packet(datagram);
        for (const Bunch& bunch : packet ? packet->bunches : std::vector<Bunch>{}) {
            if (bunch.header.is_open) {
                const auto place = std::search(datagram.begin(), datagram.end(),
                                               bunch.payload.begin(), bunch.payload.end());
                REQUIRE(place != datagram.end());
                *place = written([&](BitWriter& writer) { writer.write_packed_uint(kept_id); })[0];
                ++changed;
            }
        }
        return true;
    });
    REQUIRE(game.client(client).ready());
    game.tick(20);
    CHECK(changed == 1);
    const NetworkIdentity* shown = game.client(client).find(kept_id);
    REQUIRE(shown != nullptr);
    CHECK(&shown->prefab() == &game.types().twins());
    CHECK(told == Told{"made", "back: destroyed"});
}

/// A server beneath the door, which gives a client the object of its connection when the test says,
/// and hears nothing of it from when it is connected: it could not run what that calls.
class BareServer final : public NetWorld {
  public:
    explicit BareServer(const ArenaTypes& types)
        : types_(types),
          network_(wide_network({}), 1, std::pmr::get_default_resource()),
          transport_(network_.endpoint(PeerId{1})),
          driver_(host_settings({}, 1, SharingLevel::Bundles, true), transport_, *this),
          client_(host_settings({}, 2, SharingLevel::Bundles, true), network_.endpoint(PeerId{2}),
                  types.get(), manager_) {
        REQUIRE(types.get().add_layouts_to(driver_).has_value());
        REQUIRE(driver_.listen().has_value());
        REQUIRE(client_.connect(PeerId{1}, now_).has_value());
    }

    void give_connection() {
        const NetObjectId id = driver_.add_object(types_.get().connection_prefab().layout(), {1});
        driver_.set_owner(id, PeerId{2});
    }
    void tick() {
        now_ = now_.plus_milliseconds(20);
        network_.advance(now_);
        driver_.tick_dispatch(now_);
        driver_.tick_flush(now_);
        client_.early_update(now_);
        client_.late_update(now_);
    }
    void tick(int count) {
        for (int i = 0; i < count; ++i) {
            tick();
        }
    }
    [[nodiscard]] bool has_joined() const noexcept { return has_joined_; }
    [[nodiscard]] ScriptedTransport& transport() noexcept { return transport_; }
    [[nodiscard]] NetworkClient& client() noexcept { return client_; }

    void* object_memory(ObjectHandle) override { return memory_.data(); }
    ObjectHandle spawn(const SpawnInfo&) override { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
    void peer_joined(PeerId) override { has_joined_ = true; }

  private:
    struct Manager final : NetworkManager {
        explicit Manager(SimulatedNetwork& network) : network_(network) {}
        void on_client_connect(NetworkClient& client) override {
            NetworkManager::on_client_connect(client);
            LinkSettings dead;
            dead.loss = 1;
            network_.set_settings(PeerId{2}, PeerId{1}, dead);
        }
        SimulatedNetwork& network_;
    };

    const ArenaTypes& types_;
    SimulatedNetwork network_;
    ScriptedTransport transport_;
    NetTime now_;
    NetDriver driver_;
    Manager manager_{network_};
    NetworkClient client_;
    bool has_joined_ = false;
    alignas(std::max_align_t) std::array<std::byte, 1'024> memory_{};
};

TEST_CASE("Connect: a client is connected once it may join and has the object of its connection",
          "[behaviours]") {
    const ArenaTypes types;
    for (const bool is_object_first : {false, true}) {
        CAPTURE(is_object_first);
        BareServer server(types);
        NetworkClient& client = server.client();
        if (is_object_first) {
            // That it may join is said once, and lost, and then once more.
            server.transport().set_script([&](Bytes&) { return !server.has_joined(); });
            for (int i = 0; i < 20 && !server.has_joined(); ++i) {
                server.tick();
            }
            REQUIRE(server.has_joined());
            server.transport().set_script({});
            REQUIRE(client.driver().state() == ConnectionState::Connecting);
            server.give_connection();
            server.tick(2);
        } else {
            server.tick(20);
            REQUIRE(client.driver().state() == ConnectionState::Joined);
            CHECK_FALSE(client.is_connected());
            server.give_connection();
        }
        server.tick(20);
        CHECK(client.is_connected());
        CHECK(client.is_ready());
        CHECK(client.counters().requests_refused == 0);
    }
}

}  // namespace
}  // namespace replayout::test
