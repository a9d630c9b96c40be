// SPDX-License-Identifier: MIT
//
// Functions of the game that the library calls, and that call it back where they must not: objects
// are destroyed while the server asks who sees them, a host stops while it stops, an object of
// another process is handed in. Each is refused in every build, and the game goes on.
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/checks/refusals.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

/// Calls the test from each of its callbacks.
class Meddler : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> value;

    static inline std::function<void(std::string_view)> meddle;

    bool on_check_observer(const NetworkConnection&) const override {
        act("on_check_observer");
        return true;
    }
    void on_start_client() override { act("on_start_client"); }
    void on_stop_client() override { act("on_stop_client"); }
    void on_stop_local_player() override { act("on_stop_local_player"); }
    void on_stop_authority() override { act("on_stop_authority"); }
    void on_stop_server() override { act("on_stop_server"); }

    static void act(std::string_view callback) {
        if (meddle) {
            meddle(callback);
        }
    }
};

/// The same of a behaviour that writes itself.
class WritingMeddler : public NetworkBehaviour {
  public:
    std::int32_t value = 0;

    bool on_serialize(NetworkWriter& writer, bool) override {
        Meddler::act("on_serialize");
        writer.write_int32(value);
        return true;
    }
    bool on_deserialize(NetworkReader& reader, bool) override {
        value = reader.read_int32();
        return true;
    }
};

class StoppingManager final : public NetworkManager {
  public:
    void on_server_connect(NetworkServer& server, NetworkConnection& connection) override {
        Meddler::act("on_server_connect");
        NetworkManager::on_server_connect(server, connection);
    }
    void on_start_host(NetworkServer& server, NetworkConnection& host) override {
        Meddler::act("on_start_host");
        NetworkManager::on_start_host(server, host);
    }
    void on_stop_host(NetworkServer&, NetworkConnection&) override { Meddler::act("on_stop_host"); }
    void on_server_disconnect(NetworkServer& server, NetworkConnection& connection) override {
        Meddler::act("on_server_disconnect");
        NetworkManager::on_server_disconnect(server, connection);
    }
};

void add_meddlers(NetworkTypes& types) {
    const auto meddler =
        BehaviourBuilder<Meddler>(types, "Meddler").sync_var<&Meddler::value>().build();
    REQUIRE(meddler.has_value());
    REQUIRE(types.add_prefab("MeddlerPrefab", {{*meddler}}).has_value());
    const auto writing =
        BehaviourBuilder<WritingMeddler>(types, "WritingMeddler").custom_serialization().build();
    REQUIRE(writing.has_value());
    REQUIRE(types.add_prefab("WriterPrefab", {{*writing}}).has_value());
}

/// For the length of a test.
class Meddling {
  public:
    explicit Meddling(std::function<void(std::string_view)> meddle) {
        Meddler::meddle = std::move(meddle);
    }
    ~Meddling() { Meddler::meddle = nullptr; }
    Meddling(const Meddling&) = delete;
    Meddling& operator=(const Meddling&) = delete;
};

/// A server that listens, and may be a host; all of its objects meddle.
struct MeddledServer {
    explicit MeddledServer(bool has_players = true) {
        manager.player_prefab = has_players ? &prefab : nullptr;
        manager.auto_create_player = has_players;
        REQUIRE(server.listen());
    }
    NetworkIdentity& spawn(NetworkConnection* owner = nullptr) {
        NetworkIdentity& object = server.instantiate(prefab);
        REQUIRE(server.spawn(object, owner));
        return object;
    }
    void tick(int count = 1) {
        for (; count > 0; --count) {
            now = now.plus_milliseconds(20);
            server.early_update(now);
            server.late_update(now);
        }
    }

    const ArenaTypes types{{}, add_meddlers};
    const NetworkPrefab& prefab = types.find("MeddlerPrefab");
    StoppingManager manager;
    SimulatedNetwork network{wide_network({}), 1, std::pmr::get_default_resource()};
    NetTime now;
    NetworkServer server{{}, network.endpoint(PeerId{1}), types.get(), manager};
};

}  // namespace

TEST_CASE("Misuse, Unity: nothing is destroyed while the server asks who sees it",
          "[behaviours][misuse]") {
    ArenaOptions options;
    options.interest.kind = InterestKind::Custom;
    ArenaGame game(options, add_meddlers);
    NetworkIdentity& other = game.join_ready_with(game.types().find("MeddlerPrefab"));
    const Refusals refusals;
    NetworkIdentity& asked = game.spawn(game.types().find("MeddlerPrefab"));
    int count = 0;
    const Meddling meddling([&](std::string_view callback) {
        if (callback == "on_check_observer" && ++count < 20) {
            game.server().destroy(other);
            game.server().unspawn(other);
            CHECK_FALSE(game.server().spawn(game.server().instantiate(game.types().pawn())));
            game.server().destroy_owned(game.connection(0));
            game.server().set_client_not_ready(game.connection(0));
            CHECK_FALSE(game.server().assign_client_authority(other, game.connection(0)));
            CHECK_FALSE(game.server().hide_from(other, game.connection(0)));
            game.server().stop_host();
        }
    });
    game.settle();
    REQUIRE(count > 0);
    CHECK(other.is_spawned());
    CHECK(game.on_client(0, other) != nullptr);
    CHECK(game.on_client(0, asked) != nullptr);
    // A client that joins is asked about, too.
    game.join();
    game.tick(4);
    game.server().set_client_ready(game.connection(1));
    game.settle();
    CHECK(game.on_client(1, other) != nullptr);
    if (Refusals::are_told) {
        CHECK(refusals.count("destroy: called from within on_check_observer()") > 0);
        CHECK(refusals.count("stop_host: called from within on_check_observer()") > 0);
    }
}

TEST_CASE("Misuse, Unity: nothing is destroyed while an object is written for the first time",
          "[behaviours][misuse]") {
    ArenaGame game({}, add_meddlers);
    NetworkIdentity& other = game.join_ready_with(game.types().pawn());
    const Refusals refusals;
    int count = 0;
    const Meddling meddling([&](std::string_view callback) {
        if (callback == "on_serialize" && ++count < 20) {
            game.server().destroy(other);
        }
    });
    NetworkIdentity& writer = game.spawn(game.types().find("WriterPrefab"));
    writer.component<WritingMeddler>(0).value = 7;
    game.settle();
    REQUIRE(count > 0);
    // Either it was refused, or it took place as a whole.
    CHECK((game.on_client(0, other) != nullptr) == other.is_spawned());
    CHECK(game.on_client(0, writer)->component<WritingMeddler>(0).value == 7);
}

TEST_CASE("Misuse, Unity: a host that is stopped within its stop stops once",
          "[behaviours][misuse]") {
    const std::string_view callbacks[] = {"on_stop_client",       "on_stop_host",
                                          "on_server_disconnect", "on_stop_local_player",
                                          "on_stop_authority",    "on_stop_server"};
    for (const std::string_view within : callbacks) {
        INFO(std::string(within));
        MeddledServer game;
        NetworkServer& server = game.server;
        (void)server.start_host();
        NetworkIdentity& more = game.spawn();
        game.tick(2);
        const Refusals refusals;
        int count = 0;
        const Meddling meddling([&](std::string_view callback) {
            if (callback == within && ++count < 4) {
                server.stop_host();
            }
        });
        server.stop_host();
        CHECK(count > 0);
        CHECK(server.host() == nullptr);
        if (Refusals::are_told) {
            CHECK(refusals.count("stop_host: called from within a callback of stop_host()") ==
                  static_cast<std::size_t>(count < 4 ? count : 3));
        }
        game.tick(2);
        CHECK_FALSE(more.component<Meddler>(0).is_client());
        // It may come back.
        CHECK(server.start_host().is_host());
        game.tick();
    }
}

TEST_CASE("Misuse, Unity: a host that is stopped while it starts is not started",
          "[behaviours][misuse]") {
    for (const std::string_view within :
         {std::string_view("on_server_connect"), std::string_view("on_start_host")}) {
        INFO(std::string(within));
        MeddledServer game;
        NetworkServer& server = game.server;
        std::vector<std::string> callbacks;
        const Meddling meddling([&](std::string_view callback) {
            callbacks.emplace_back(callback);
            if (callback == within && callbacks.size() < 3) {
                server.stop_host();
            }
        });
        const Refusals refusals;
        NetworkConnection& stopped = server.start_host();
        std::vector<std::string> expected = {"on_server_connect", "on_stop_host",
                                             "on_server_disconnect"};
        if (within == "on_start_host") {
            expected.insert(expected.begin() + 1, "on_start_host");
        }
        CHECK(callbacks == expected);
        CHECK(server.host() == nullptr);
        server.set_client_ready(stopped);
        if (Refusals::are_told) {
            CHECK(refusals.count("set_client_ready: the connection is none of this server") > 0);
        }
        // It may come back.
        callbacks.resize(3);
        CHECK(server.start_host().is_host());
        game.tick(2);
        CHECK(server.host() != nullptr);
    }
}

TEST_CASE("Misuse, Unity: a host that is stopped while one of its objects stops is gone after that",
          "[behaviours][misuse]") {
    for (const bool is_players : {false, true}) {
        for (const std::string_view within :
             {std::string_view("on_stop_client"), std::string_view("on_stop_authority"),
              std::string_view("on_stop_local_player"), std::string_view("on_stop_server")}) {
            MeddledServer game;
            NetworkServer& server = game.server;
            NetworkConnection& host = server.start_host();
            NetworkIdentity& owned = game.spawn(&host);
            game.tick(3);
            int count = 0;
            const Meddling meddling([&](std::string_view callback) {
                if (callback == within && ++count == 1) {
                    server.stop_host();
                }
            });
            if (is_players) {
                (void)server.remove_player_for_connection(host, RemovePlayerOptions::Destroy);
            } else {
                server.destroy(owned);
            }
            game.tick(3);
            CHECK((count == 0 || server.host() == nullptr));
        }
    }
}

TEST_CASE("Misuse, Unity: a host may stop while one of several objects starts for it",
          "[behaviours][misuse]") {
    MeddledServer game(false);
    NetworkServer& server = game.server;
    NetworkConnection& host = server.start_host();
    server.set_client_ready(host);
    for (int i = 0; i < 3; ++i) {
        (void)game.spawn();
    }
    int count = 0;
    const Meddling meddling([&](std::string_view callback) {
        if (callback == "on_start_client" && ++count == 2) {
            server.stop_host();
        }
    });
    game.tick(4);
    CHECK(count == 2);  // the third one never starts
    CHECK(server.host() == nullptr);
}

TEST_CASE("Misuse, Unity: a host starts after listen(), with an id of its own",
          "[behaviours][misuse]") {
    const Refusals refusals;
    const ArenaTypes types;
    ArenaManager manager;
    SimulatedNetwork network(wide_network({}), 1, std::pmr::get_default_resource());
    NetworkServer server({}, network.endpoint(PeerId{1}), types.get(), manager);
    NetworkConnection& none = server.start_host();
    CHECK(server.host() == nullptr);
    CHECK_FALSE(none.is_host());
    REQUIRE(server.listen());
    (void)server.start_host(PeerId{});
    CHECK(server.host() == nullptr);
    server.set_client_ready(none);  // refused like any connection of another server
    CHECK(server.start_host().is_host());
    CHECK(server.host() != nullptr);
    if (Refusals::are_told) {
        CHECK(refusals.count("start_host: the server does not listen") == 1);
        CHECK(refusals.count("start_host: peer 0 is nobody") == 1);
        CHECK(refusals.count("set_client_ready: the connection is none of this server") == 1);
    }
}

TEST_CASE("Misuse, Unity: a spawn handler hands in objects of its own client alone",
          "[behaviours][misuse]") {
    ArenaGame game;
    game.join();
    game.join();
    for (const bool is_servers : {false, true}) {
        NetworkSpawnHandler handler;
        handler.spawn = [&game, is_servers](NetworkClient&, const SpawnInfo&) {
            return is_servers ? &game.server().instantiate(game.types().pawn())
                              : &game.client(1).instantiate(game.types().pawn());
        };
        handler.unspawn = [](NetworkClient&, NetworkIdentity&, ChannelCloseReason) {};
        const Refusals quiet;  // one takes the place of the other
        REQUIRE(game.client(0).register_spawn_handler(game.types().pawn().asset_id(), handler));
        game.tick(6);
        game.server().set_client_ready(game.connection(0));
        NetworkIdentity& pawn = game.spawn(game.types().pawn());
        game.tick(8);
        CHECK(game.on_client(0, pawn) == nullptr);
        CHECK(quiet.line_count("gave no free object of it that this client made") == 1);
        game.server().destroy(pawn);
        game.tick(8);
    }
    CHECK(game.client(0).counters().handlers_failed == 2);
}

TEST_CASE("Misuse, Unity: the driver of a server takes no object that the server did not make",
          "[behaviours][misuse]") {
    ArenaGame game;
    game.join_settled();
    const Refusals refusals;
    const RepLayout& layout = game.types().pawn().layout();
    CHECK(game.server().driver().add_object(layout, ObjectHandle{0x1234}).generation == 0);
    game.tick(4);
    if (Refusals::are_told) {
        CHECK(refusals.count("handle 4660, which is no object of this world") == 1);
    }
}

TEST_CASE("Misuse, Unity: what is done twice, or at the wrong end, is logged with its name",
          "[behaviours][misuse]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_ready_with(game.types().pawn());
    const Refusals refusals;
    const std::string name =
        "an object of prefab \"Pawn\" (net id " + std::to_string(pawn.net_id()) + ")";
    CHECK_FALSE(game.server().spawn(pawn));
    CHECK(refusals.line_count("spawn: " + name + " is spawned already") == 1);
    CHECK_FALSE(game.server().remove_client_authority(pawn));
    CHECK(refusals.line_count("remove_client_authority: nobody has authority of " + name) == 1);
    NetworkIdentity& shown = *game.on_client(0, pawn);
    const Vector3 place = shown.transform.position;
    shown.set_position({9, 9, 9});
    shown.set_visibility(Visibility::ForceHidden);
    shown.set_interest_group(3);
    shown.set_interest_range(3);
    CHECK(shown.transform.position.x == place.x);
    CHECK(refusals.line_count("is a client's copy: only the server sets this") == 4);
    game.server().destroy(pawn);
    game.server().destroy(pawn);
    CHECK(refusals.line_count("destroy: an object of prefab \"Pawn\" was destroyed already") == 1);
    CHECK_FALSE(game.server().spawn(pawn));
    CHECK(refusals.line_count("spawn: an object of prefab \"Pawn\" was destroyed") == 1);
    game.server().set_answer_wait_ms(0);
    CHECK(game.server().answer_wait_ms() == 10'000);
    CHECK_FALSE(game.server().remove_player_for_connection(game.connection(0),
                                                           static_cast<RemovePlayerOptions>(44)));
    if (Refusals::are_told) {
        CHECK(refusals.count("set_answer_wait_ms: 0 is not between") == 1);
        CHECK(refusals.count("44 is no RemovePlayerOptions") == 1);
    }
}

TEST_CASE("Misuse, Unity: settings of a component that are no enumerators are refused",
          "[behaviours][misuse]") {
    for (int which = 0; which < 4; ++which) {
        NetworkTypes types;
        const auto meddler =
            BehaviourBuilder<Meddler>(types, "Meddler").sync_var<&Meddler::value>().build();
        REQUIRE(meddler.has_value());
        SyncSettings settings;
        switch (which) {
            case 0:
                settings.sync_mode = static_cast<SyncMode>(9);
                break;
            case 1:
                settings.sync_direction = static_cast<SyncDirection>(9);
                break;
            case 2:
                settings.hook_style = static_cast<HookStyle>(9);
                break;
            default:
                settings.sync_interval_us = -5;
                break;
        }
        CHECK_FALSE(types.add_prefab("MeddlerPrefab", {{*meddler, settings}}).has_value());
    }
}

TEST_CASE("Misuse, Unity: an unknown function is named as the game named it, and so is the advice",
          "[behaviours][misuse]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_ready_with(game.types().pawn());
    const Refusals refusals;
    CHECK(pawn.component<Fighter>(0).call("rpc_chear") == CallResult::UnknownFunction);
    CHECK(refusals.line_count("has no function \"rpc_chear\"") == 1);
    CHECK(refusals.line_count("\"rpc_cheer\"") == 1);
    CHECK(refusals.line_count("0.rpc") == 0);
}

}  // namespace replayout::test
