// SPDX-License-Identifier: MIT
//
// A server and clients of behaviours over a simulated network, on a virtual clock and from a
// seed, with a few classes of behaviours.
//
//     ArenaGame game;
//     game.join();
//     game.settle();
//     NetworkIdentity& pawn = game.spawn(game.types().pawn());
//     pawn.component<Fighter>(0).health = 60;
//     game.settle();
//     CHECK(game.on_client(0, pawn)->component<Fighter>(0).health == 60);
#pragma once

#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_manager.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/networks/host_settings.h"
#include "support/networks/scripted_transport.h"

namespace replayout::test {

using namespace replayout;

/// Notes what it is told, in `told`.
class Fighter : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 100;
    SyncVar<float> speed = 1.0f;
    SyncVar<std::string> name;
    SyncVar<NetworkIdentity*> target;

    std::vector<std::string> told;
    std::function<void(Fighter&)> during_hook;
    std::function<bool(const NetworkConnection&)> may_see;

    void on_health(std::int32_t previous, std::int32_t current) {
        told.push_back("health " + std::to_string(previous) + " -> " + std::to_string(current) +
                       (health.get() == current ? "" : ", not assigned"));
        if (during_hook) {
            during_hook(*this);
        }
    }
    void on_name(const std::string& current) {
        told.push_back("name " + current + (name.get() == current ? "" : ", not assigned"));
    }

    void cmd_shout() { told.push_back("shout"); }
    void rpc_cheer() { told.push_back("cheer"); }
    void target_whisper() { told.push_back("whisper"); }

    void on_set_host_visibility(bool is_visible) override {
        told.push_back(is_visible ? "shown to host" : "hidden from host");
    }
    bool on_check_observer(const NetworkConnection& connection) const override {
        return !may_see || may_see(connection);
    }
    void on_start_server() override { told.push_back("start server"); }
    void on_start_client() override { told.push_back("start client"); }
    void on_start_authority() override { told.push_back("start authority"); }
    void on_start_local_player() override { told.push_back("start local player"); }
    void on_stop_local_player() override { told.push_back("stop local player"); }
    void on_stop_authority() override { told.push_back("stop authority"); }
    void on_stop_client() override { told.push_back("stop client"); }
    void on_stop_server() override { told.push_back("stop server"); }
};

/// What it was told since the last time.
inline std::vector<std::string> take_told(Fighter& fighter) {
    return std::exchange(fighter.told, {});
}

/// A second component, of which a part is for the owner.
class Purse : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> gold;
    SyncVar<std::int32_t> secret;
};

/// Classes and prefabs, the same on both ends.
class ArenaTypes {
  public:
    /// `more` adds what a test needs beside.
    explicit ArenaTypes(const SyncSettings& fighter = {},
                        const std::function<void(NetworkTypes&)>& more = {}) {
        const auto fighter_type = BehaviourBuilder<Fighter>(types_, "Fighter")
                                      .sync_var<&Fighter::health, &Fighter::on_health>()
                                      .sync_var<&Fighter::speed>()
                                      .sync_var<&Fighter::name, &Fighter::on_name>()
                                      .sync_var<&Fighter::target>()
                                      .command<&Fighter::cmd_shout>()
                                      .client_rpc<&Fighter::rpc_cheer>()
                                      .target_rpc<&Fighter::target_whisper>()
                                      .build();
        REQUIRE(fighter_type.has_value());
        const auto purse_type = BehaviourBuilder<Purse>(types_, "Purse")
                                    .sync_var<&Purse::gold>()
                                    .sync_var<&Purse::secret>()
                                    .sync_mode(SyncMode::Owner)
                                    .build();
        REQUIRE(purse_type.has_value());
        const auto pawn = types_.add_prefab("Pawn", {{*fighter_type, fighter}, {*purse_type}});
        REQUIRE(pawn.has_value());
        const auto twins =
            types_.add_prefab("Twins", {{*fighter_type, fighter}, {*fighter_type, fighter}});
        REQUIRE(twins.has_value());
        pawn_ = *pawn;
        twins_ = *twins;
        if (more) {
            more(types_);
        }
        REQUIRE(types_.freeze().has_value());
    }

    [[nodiscard]] const NetworkTypes& get() const noexcept { return types_; }
    [[nodiscard]] const NetworkPrefab& pawn() const noexcept { return *pawn_; }
    [[nodiscard]] const NetworkPrefab& twins() const noexcept { return *twins_; }
    [[nodiscard]] const NetworkPrefab& find(std::string_view name) const {
        const NetworkPrefab* found = types_.find_prefab(name);
        REQUIRE(found != nullptr);
        return *found;
    }

  private:
    NetworkTypes types_;
    const NetworkPrefab* pawn_ = nullptr;
    const NetworkPrefab* twins_ = nullptr;
};

/// Notes what it is told, in `told`.
class ArenaManager : public NetworkManager {
  public:
    std::vector<std::string> told;

    void on_server_disconnect(NetworkServer& server, NetworkConnection& connection) override {
        told.push_back("left, owning " + std::to_string(connection.owned().size()));
        NetworkManager::on_server_disconnect(server, connection);
    }
    void on_stop_host(NetworkServer&, NetworkConnection&) override { told.push_back("host stops"); }
    void on_client_not_ready(NetworkClient&) override { told.push_back("not ready"); }
    void on_client_spawn_started(NetworkClient&) override { told.push_back("spawn started"); }
    void on_client_spawn_finished(NetworkClient&) override { told.push_back("spawn finished"); }
    void on_client_unspawn(NetworkClient&, NetworkIdentity&, ChannelCloseReason reason) override {
        told.push_back("unspawned: " + std::string(to_string(reason)));
    }
};

struct ArenaOptions {
    SyncSettings fighter{};
    InterestManagement interest{};
    LinkSettings link{};
    NetConfig config{};
    std::uint64_t seed = 1;
    SharingLevel sharing = SharingLevel::Bundles;
    bool auto_create_player = false;
    std::int64_t tick_ms = 20;
    std::int64_t start_ms = 0;                 ///< where the clock begins
    std::optional<NetConfig> client_config{};  ///< of clients that have another than their server
};

class ArenaGame {
  public:
    explicit ArenaGame(const ArenaOptions& options = {},
                       const std::function<void(NetworkTypes&)>& more = {})
        : options_(options),
          types_(options.fighter, more),
          network_(wide_network(options.link), options.seed, std::pmr::get_default_resource()),
          server_transport_(network_.endpoint(PeerId{1})),
          now_(NetTime::from_milliseconds(options.start_ms)) {
        server_manager_.player_prefab = &types_.pawn();
        server_manager_.auto_create_player = options.auto_create_player;
        client_manager_.auto_create_player = options.auto_create_player;
        server_ = std::make_unique<NetworkServer>(settings(1), server_transport_, types_.get(),
                                                  server_manager_, options.interest);
        network_.advance(now_);
        REQUIRE(server_->listen().has_value());
    }

    /// Another client begins to connect; returns its index.
    std::size_t join() {
        const PeerId peer = client_peer(clients_.size());
        clients_.push_back(std::make_unique<NetworkClient>(
            settings(peer.value + 100), network_.endpoint(peer), types_.get(), client_manager_));
        REQUIRE(clients_.back()->connect(PeerId{1}, now_).has_value());
        return clients_.size() - 1;
    }

    /// So many clients join, and all is settled.
    void join_settled(std::size_t count = 1) {
        for (; count > 0; --count) {
            join();
        }
        settle();
    }

    void tick() {
        now_ = now_.plus_milliseconds(options_.tick_ms);
        network_.advance(now_);
        server_->early_update(now_);
        server_->late_update(now_);
        for (const auto& client : clients_) {
            client->early_update(now_);
            client->late_update(now_);
        }
    }
    void tick(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            tick();
        }
    }
    /// The clients' processes stand still.
    void tick_server() {
        now_ = now_.plus_milliseconds(options_.tick_ms);
        network_.advance(now_);
        server_->early_update(now_);
        server_->late_update(now_);
    }
    /// The server's process stands still.
    void tick_clients() {
        now_ = now_.plus_milliseconds(options_.tick_ms);
        network_.advance(now_);
        for (const auto& client : clients_) {
            client->early_update(now_);
            client->late_update(now_);
        }
    }
    /// Ticks until nothing is owed or under way.
    void settle(std::uint32_t ticks_max = 2'000) {
        tick(3);
        for (std::uint32_t i = 0; i < ticks_max; ++i) {
            if (server_->driver().is_settled() && are_clients_there()) {
                tick(2);
                return;
            }
            tick();
        }
        FAIL("the game does not settle");
    }

    NetworkIdentity& spawn(const NetworkPrefab& prefab, NetworkConnection* owner = nullptr) {
        NetworkIdentity& object = server_->instantiate(prefab);
        REQUIRE(server_->spawn(object, owner));
        return object;
    }

    /// Another client joins, and is shown one of these.
    NetworkIdentity& join_with(const NetworkPrefab& prefab) {
        join();
        NetworkIdentity& object = spawn(prefab);
        settle();
        return object;
    }
    /// The first client joins and is ready, and then it is shown one of these.
    NetworkIdentity& join_ready_with(const NetworkPrefab& prefab) {
        join_settled();
        server_->set_client_ready(connection(0));
        NetworkIdentity& object = spawn(prefab);
        settle();
        return object;
    }

    [[nodiscard]] static PeerId client_peer(std::size_t client) noexcept { return {client + 2}; }
    [[nodiscard]] ArenaTypes& types() noexcept { return types_; }
    [[nodiscard]] NetworkServer& server() noexcept { return *server_; }
    [[nodiscard]] NetworkClient& client(std::size_t index) noexcept { return *clients_[index]; }
    [[nodiscard]] NetworkConnection& connection(std::size_t client) {
        NetworkConnection* found = server_->find_connection(client_peer(client));
        REQUIRE(found != nullptr);
        return *found;
    }
    /// The same object there; null: it does not have it.
    [[nodiscard]] NetworkIdentity* on_client(std::size_t client, const NetworkIdentity& object) {
        return clients_[client]->find(object.net_id());
    }
    /// The first component of the same object there.
    [[nodiscard]] Fighter& fighter_on(std::size_t client, const NetworkIdentity& object) {
        NetworkIdentity* shown = on_client(client, object);
        REQUIRE(shown != nullptr);
        return shown->component<Fighter>(0);
    }
    [[nodiscard]] ArenaManager& server_manager() noexcept { return server_manager_; }
    /// That of all clients.
    [[nodiscard]] ArenaManager& client_manager() noexcept { return client_manager_; }
    [[nodiscard]] ScriptedTransport& server_transport() noexcept { return server_transport_; }
    [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }

  private:
    [[nodiscard]] NetDriverSettings settings(std::uint64_t seed) const {
        const bool is_client = seed != 1;
        return host_settings(
            is_client ? options_.client_config.value_or(options_.config) : options_.config, seed,
            options_.sharing, true);
    }
    [[nodiscard]] bool are_clients_there() const {
        for (const auto& client : clients_) {
            if (!client->is_spawn_finished()) {
                return false;
            }
        }
        return true;
    }

    ArenaOptions options_;
    ArenaTypes types_;
    SimulatedNetwork network_;
    ScriptedTransport server_transport_;
    NetTime now_;
    ArenaManager server_manager_;
    ArenaManager client_manager_;
    std::unique_ptr<NetworkServer> server_;
    std::vector<std::unique_ptr<NetworkClient>> clients_;
};

}  // namespace replayout::test
