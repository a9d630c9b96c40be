// SPDX-License-Identifier: MIT
//
// Mistakes at random about players, in Unity's words: players added, replaced and removed out of
// turn, of connections that are gone and objects that are gone or another's; a NetworkManager whose
// callbacks do the same; hosts that begin and stop at any time; and every call of a client that was
// disconnected. Nothing of it is undefined, and clients end with the server's state.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

/// Runs a server of its own, and meddles in every callback.
class MeddlingManager final : public NetworkManager {
  public:
    std::function<void(NetworkServer&, NetworkConnection&)> meddle;

    void on_server_connect(NetworkServer& server, NetworkConnection& connection) override {
        act(server, connection);
    }
    void on_server_ready(NetworkServer& server, NetworkConnection& connection) override {
        act(server, connection);
        NetworkManager::on_server_ready(server, connection);
    }
    void on_server_add_player(NetworkServer& server, NetworkConnection& connection) override {
        act(server, connection);
        if (connection.identity() == nullptr) {
            NetworkManager::on_server_add_player(server, connection);
        }
    }
    void on_start_host(NetworkServer& server, NetworkConnection& host) override {
        act(server, host);
    }
    void on_stop_host(NetworkServer& server, NetworkConnection& host) override {
        act(server, host);
    }
    /// What it owned stays.
    void on_server_disconnect(NetworkServer& server, NetworkConnection& connection) override {
        act(server, connection);
    }

  private:
    void act(NetworkServer& server, NetworkConnection& connection) {
        if (meddle && !std::exchange(is_meddling_, true)) {
            meddle(server, connection);
            is_meddling_ = false;
        }
    }

    bool is_meddling_ = false;
};

/// A server with a manager that meddles, two clients, and objects of every state.
class PlayerGame {
  public:
    explicit PlayerGame(std::uint64_t seed)
        : random_(seed),
          network_(settings_of_network(), seed, std::pmr::get_default_resource()),
          server_(settings(1), network_.endpoint(PeerId{1}), types_.get(), manager_),
          other_(settings(50), network_.endpoint(PeerId{50}), types_.get(), other_manager_) {
        manager_.player_prefab = &types_.pawn();
        manager_.meddle = [this](NetworkServer&, NetworkConnection& connection) {
            err(&connection);
        };
        client_manager_.auto_create_player = true;
        REQUIRE(server_.listen());
        for (std::uint64_t peer = 2; peer < 4; ++peer) {
            clients_.push_back(std::make_unique<NetworkClient>(
                settings(peer), network_.endpoint(PeerId{peer}), types_.get(), client_manager_));
            REQUIRE(clients_.back()->connect(PeerId{1}, now_));
        }
        for (int i = 0; i < 4; ++i) {
            objects_.push_back(&server_.instantiate(types_.pawn()));
        }
        foreign_ = &other_.instantiate(types_.pawn());
    }

    void play(int ticks) {
        for (int i = 0; i < ticks; ++i) {
            tick();
            for (int n = 0; n < 3; ++n) {
                err(server_.find_connection(PeerId{random_.between(1, 4)}));
            }
            move_clients();
            for (NetworkIdentity* object : objects_) {
                object->component<Fighter>(0).health = static_cast<std::int32_t>(random_.bits());
            }
        }
        manager_.meddle = nullptr;
        if (server_.host() != nullptr) {
            server_.stop_host();
        }
    }
    /// All clients come back, and have what the server has.
    void check_end() {
        for (NetworkIdentity* object : objects_) {
            if (!object->is_spawned()) {
                REQUIRE(server_.spawn(*object));
            }
        }
        for (const auto& client : clients_) {
            for (int i = 0; i < 1'000 && client->driver().state() != ConnectionState::Joined; ++i) {
                if (client->driver().state() == ConnectionState::Closed) {
                    (void)client->connect(PeerId{1}, now_);
                }
                tick();
            }
            REQUIRE(client->driver().state() == ConnectionState::Joined);
        }
        for (std::uint64_t peer = 2; peer < 4; ++peer) {
            NetworkConnection* const connection = server_.find_connection(PeerId{peer});
            REQUIRE(connection != nullptr);
            server_.set_client_ready(*connection);
        }
        for (int i = 0; i < 3'000 && !server_.driver().is_settled(); ++i) {
            tick();
        }
        for (int i = 0; i < 5; ++i) {
            tick();
        }
        for (const auto& client : clients_) {
            for (NetworkIdentity* object : objects_) {
                NetworkIdentity* const shown = client->find(object->net_id());
                REQUIRE(shown != nullptr);
                CHECK(shown->component<Fighter>(0).health.get() ==
                      object->component<Fighter>(0).health.get());
            }
        }
    }

  private:
    [[nodiscard]] static SimulatedNetworkSettings settings_of_network() {
        LinkSettings link;
        link.loss = 0.05;
        return wide_network(link);
    }
    [[nodiscard]] static NetDriverSettings settings(std::uint64_t seed) {
        return host_settings({}, seed, SharingLevel::Bundles, true);
    }

    void tick() {
        now_ = now_.plus_milliseconds(20);
        network_.advance(now_);
        server_.early_update(now_);
        server_.late_update(now_);
        for (const auto& client : clients_) {
            client->early_update(now_);
            client->late_update(now_);
        }
    }

    [[nodiscard]] NetworkIdentity& any_object() {
        switch (random_.below(8)) {
            case 0:
                return *foreign_;
            case 1: {
                NetworkIdentity& gone = server_.instantiate(types_.pawn());
                server_.destroy(gone);
                return gone;  // freed with the next update
            }
            default:
                return *objects_[random_.below(static_cast<std::uint32_t>(objects_.size()))];
        }
    }
    /// `connection`: null, where there is none of that id.
    void err(NetworkConnection* connection) {
        NetworkIdentity& object = any_object();
        const auto replace = static_cast<ReplacePlayerOptions>(random_.below(4));
        const auto remove = static_cast<RemovePlayerOptions>(random_.below(3));
        if (connection == nullptr) {
            err_without_connection(object);
            return;
        }
        // The objects that are compared in the end stay.
        const bool may_end = replace != ReplacePlayerOptions::Destroy;
        switch (random_.below(12)) {
            case 0:
                (void)server_.add_player_for_connection(*connection, object);
                break;
            case 1:
            case 2:
                if (may_end) {
                    (void)server_.replace_player_for_connection(*connection, object, replace);
                }
                break;
            case 3:
                if (remove != RemovePlayerOptions::Destroy) {
                    (void)server_.remove_player_for_connection(*connection, remove);
                }
                break;
            case 4:
                (void)server_.assign_client_authority(object, *connection);
                break;
            case 5:
                (void)server_.remove_client_authority(object);
                break;
            case 6:
                server_.set_client_ready(*connection);
                break;
            case 7:
                server_.set_client_not_ready(*connection);
                break;
            case 8:
                (void)other_.add_player_for_connection(*connection, object);
                (void)other_.replace_player_for_connection(*connection, object, replace);
                (void)other_.remove_player_for_connection(*connection, remove);
                break;
            case 9:
                if (connection->identity() != nullptr) {
                    (void)server_.replace_player_for_connection(*connection,
                                                                *connection->identity(), replace);
                }
                break;
            case 10:
                (void)server_.spawn(object, connection);
                break;
            default:
                if (connection->identity() != nullptr) {
                    server_.unspawn(*connection->identity());
                }
                break;
        }
    }
    void err_without_connection(NetworkIdentity& object) {
        switch (random_.below(6)) {
            case 0:
                if (server_.host() == nullptr) {
                    (void)server_.start_host();
                }
                break;
            case 1:
                (void)server_.spawn(object);
                break;
            case 2:
                server_.unspawn(object);
                break;
            case 3:
                server_.early_update(now_);
                break;
            case 4:
                if (NetworkConnection* host = server_.host()) {
                    (void)server_.add_player_for_connection(*host, object);
                    (void)server_.start_host();
                }
                break;
            default:
                other_.early_update(now_);
                other_.late_update(now_);
                break;
        }
    }
    void move_clients() {
        NetworkClient& client = *clients_[random_.below(2)];
        if (random_.percent(3)) {
            client.disconnect();
            use_what_ended(client);
        } else if (client.driver().state() == ConnectionState::Closed && random_.percent(10)) {
            (void)client.connect(PeerId{1}, now_);
        }
        if (random_.percent(2) && server_.host() != nullptr) {
            server_.stop_host();
            server_.stop_host();
        }
        if (random_.percent(20)) {
            (void)client.ready();
            (void)client.add_player();
        }
    }
    /// Each call of a client that has ended.
    void use_what_ended(NetworkClient& client) {
        CHECK_FALSE(client.ready());
        CHECK_FALSE(client.add_player());
        client.disconnect();
        CHECK(client.find(1) == nullptr);
        CHECK(client.local_player() == nullptr);
        NetworkIdentity& own = client.instantiate(types_.pawn());
        own.component<Fighter>(0).health = 3;
        CHECK(own.component<Fighter>(0).call("cmd_shout") == CallResult::NoChannel);
        CHECK(client.driver().call_function(ObjectHandle{1}, "none") != CallResult::Sent);
        client.driver().disconnect(PeerId{1});
        client.destroy(own);
        client.destroy(own);
        client.unregister_spawn_handler(types_.pawn().asset_id());
        client.early_update(now_);
        client.late_update(now_);
    }

    SeededRandom random_;
    ArenaTypes types_;
    SimulatedNetwork network_;
    MeddlingManager manager_;
    ArenaManager other_manager_;
    ArenaManager client_manager_;
    NetTime now_;
    NetworkServer server_;
    NetworkServer other_;
    std::vector<std::unique_ptr<NetworkClient>> clients_;
    std::vector<NetworkIdentity*> objects_;
    NetworkIdentity* foreign_ = nullptr;
};

}  // namespace

TEST_CASE(
    "Misuse, Unity: players, managers, hosts and clients that ended at random, and all end equal",
    "[behaviours][misuse][random][stress]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        const Refusals refusals;
        PlayerGame game(seed);
        game.play(300);
        game.check_end();
        CHECK(refusals.sentences().size() >= (Refusals::are_told ? 20u : 0u));
    }
}

}  // namespace replayout::test
