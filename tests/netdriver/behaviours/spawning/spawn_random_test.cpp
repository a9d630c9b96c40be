// SPDX-License-Identifier: MIT
//
// A game at random over a network that loses, doubles and swaps datagrams: clients join, leave, get
// ready or not, objects come, go, change owners, hide, show and change. In the end each ready
// client has exactly the objects that it may see, with the values that it may see, and everything
// that was told to start and is gone was told to stop.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/host_settings.h"

namespace replayout::test {
namespace {

using namespace replayout;

/// What all creatures of one side were told, by callback, to be balanced in the end.
struct Balance {
    std::int64_t client = 0;
    std::int64_t authority = 0;
    std::int64_t player = 0;
    std::int64_t started = 0;  ///< in all
};

class Creature : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 100;
    SyncVar<std::string> name;
    SyncVar<std::int32_t> secret;
    SyncVar<NetworkIdentity*> friend_of;

    std::uint64_t friend_id = 0;  // server: of friend_of when it was set
    Balance* balance = nullptr;
    bool is_started = false;
    bool has_authority = false;
    bool is_player = false;
    std::int32_t told_health = 100;

    void on_health(std::int32_t previous, std::int32_t current) {
        if (!is_server()) {
            CHECK(previous == told_health);
        }
        told_health = current;
    }
    void on_start_client() override {
        CHECK_FALSE(is_started);
        is_started = true;
        count(&Balance::client, 1);
        count(&Balance::started, 1);
    }
    void on_stop_client() override {
        CHECK(is_started);
        CHECK_FALSE(is_player);
        is_started = false;
        told_health = 100;
        count(&Balance::client, -1);
    }
    void on_start_authority() override {
        CHECK(is_started);
        CHECK_FALSE(has_authority);
        has_authority = true;
        count(&Balance::authority, 1);
    }
    void on_stop_authority() override {
        CHECK(has_authority);
        has_authority = false;
        count(&Balance::authority, -1);
    }
    void on_start_local_player() override {
        CHECK(has_authority);
        CHECK_FALSE(is_player);
        is_player = true;
        count(&Balance::player, 1);
    }
    void on_stop_local_player() override {
        CHECK(is_player);
        is_player = false;
        count(&Balance::player, -1);
    }

  private:
    void count(std::int64_t Balance::*callback, std::int64_t change) {
        if (balance != nullptr) {
            balance->*callback += change;
        }
    }
};

/// What the owner decides.
class Steering : public NetworkBehaviour {
  public:
    SyncVar<float> course;
    SyncVar<std::int32_t> gear;
};

class CreatureTypes {
  public:
    CreatureTypes() {
        const auto creature = BehaviourBuilder<Creature>(types, "Creature")
                                  .sync_var<&Creature::health, &Creature::on_health>()
                                  .sync_var<&Creature::name>()
                                  .sync_var<&Creature::secret>()
                                  .sync_mode(SyncMode::Owner)
                                  .sync_var<&Creature::friend_of>()
                                  .build();
        const auto steering = BehaviourBuilder<Steering>(types, "Steering")
                                  .sync_var<&Steering::course>()
                                  .sync_var<&Steering::gear>()
                                  .build();
        REQUIRE(creature.has_value());
        REQUIRE(steering.has_value());
        SyncSettings owners;
        owners.sync_direction = SyncDirection::ClientToServer;
        const auto made = types.add_prefab("Creature", {{*creature}, {*steering, owners}});
        REQUIRE(made.has_value());
        prefab = *made;
        REQUIRE(types.freeze().has_value());
    }

    NetworkTypes types;
    const NetworkPrefab* prefab = nullptr;
};

class RandomGame final : public NetworkManager {
  public:
    RandomGame(std::uint64_t seed, SharingLevel sharing)
        : random_(seed),
          sharing_(sharing),
          network_(wide_network(link()), seed, std::pmr::get_default_resource()) {
        player_prefab = types_.prefab;
        server_ = std::make_unique<NetworkServer>(settings(seed), network_.endpoint(PeerId{1}),
                                                  types_.types, *this,
                                                  InterestManagement{InterestKind::Team});
        REQUIRE(server_->listen().has_value());
        if (seed % 3 == 0) {
            host_ = &server_->start_host(PeerId{host_peer});
        }
        for (std::uint64_t id = 1; id <= 6; ++id) {
            scene_.push_back(&server_->add_scene_object(*types_.prefab, id));
        }
    }

    void play(int steps) {
        for (int step = 0; step < steps; ++step) {
            act();
            drop_lost_friends();
            tick(random_.below(4));
        }
    }

    void finish() {
        for (const auto& client : clients_) {
            if (NetworkConnection* connection = server_->find_connection(client->peer)) {
                server_->set_client_ready(*connection);
            }
        }
        if (host_ != nullptr) {
            server_->set_client_ready(*host_);
        }
        for (int i = 0; i < 5'000; ++i) {
            tick(1);
            // Who left, and was not heard to, is given up after ten seconds.
            if (i > 600 && server_->driver().is_settled() && is_everybody_there()) {
                break;
            }
        }
        tick(50);
        check();
    }

    struct Sent {
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;

        friend bool operator==(const Sent&, const Sent&) = default;
    };
    [[nodiscard]] Sent sent() const {
        return {server_->driver().stats().packets_sent, server_->driver().stats().bytes_sent};
    }

    void end() {
        for (const auto& client : clients_) {
            client->driver->disconnect();
        }
        tick(50);
        for (const auto& client : clients_) {
            check_balanced(*client);
        }
    }

  private:
    static constexpr std::uint64_t host_peer = 1'000'000;

    struct Client {
        PeerId peer;
        std::unique_ptr<NetworkClient> driver;
        Balance balance;
        std::vector<NetworkIdentity*> pool;
    };

    [[nodiscard]] static LinkSettings link() {
        LinkSettings link;
        link.loss = 0.2;
        link.duplicate = 0.1;
        link.reorder = 0.2;
        link.reorder_ms = 60;
        link.latency_ms = 30;
        link.jitter_ms = 20;
        return link;
    }
    [[nodiscard]] NetDriverSettings settings(std::uint64_t seed) const {
        return host_settings({}, seed, sharing_, true);
    }

    void on_server_disconnect(NetworkServer& server, NetworkConnection& connection) override {
        for (const NetworkIdentity* object : connection.owned()) {
            forget(object);
        }
        NetworkManager::on_server_disconnect(server, connection);
    }

    void join() {
        auto client = std::make_unique<Client>();
        client->peer = PeerId{next_peer_++};
        client->driver =
            std::make_unique<NetworkClient>(settings(client->peer.value + 1'000),
                                            network_.endpoint(client->peer), types_.types, *this);
        Client* self = client.get();
        const NetworkPrefab* prefab = types_.prefab;
        REQUIRE(client->driver->register_spawn_handler(
            prefab->asset_id(),
            {[self, prefab](NetworkClient& driver, const SpawnInfo&) {
                 if (self->pool.empty()) {
                     NetworkIdentity& made = driver.instantiate(*prefab);
                     made.component<Creature>(0).balance = &self->balance;
                     return &made;
                 }
                 NetworkIdentity* kept = self->pool.back();
                 self->pool.pop_back();
                 return kept;
             },
             [self](NetworkClient&, NetworkIdentity& object, ChannelCloseReason) {
                 object.component<Creature>(0).told_health = 100;
                 self->pool.push_back(&object);
             }}));
        for (std::uint64_t id = 1; id <= 6; ++id) {
            client->driver->add_scene_object(*prefab, id).component<Creature>(0).balance =
                &self->balance;
        }
        REQUIRE(client->driver->connect(PeerId{1}, now_).has_value());
        clients_.push_back(std::move(client));
    }

    void leave() {
        if (clients_.size() < 2) {
            return;
        }
        const auto index =
            static_cast<std::ptrdiff_t>(random_.below(static_cast<std::uint32_t>(clients_.size())));
        const auto& client = clients_[static_cast<std::size_t>(index)];
        client->driver->disconnect();
        for (int i = 0; i < 10; ++i) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            client->driver->early_update(now_);
            client->driver->late_update(now_);
        }
        check_balanced(*client);
        clients_.erase(clients_.begin() + index);
    }

    static void check_balanced(const Client& client) {
        CHECK(client.balance.client == 0);
        CHECK(client.balance.authority == 0);
        CHECK(client.balance.player == 0);
    }

    [[nodiscard]] NetworkConnection* some_connection() {
        if (host_ != nullptr && random_.percent(15)) {
            return host_;
        }
        if (clients_.empty()) {
            return nullptr;
        }
        return server_->find_connection(random_.pick(clients_)->peer);
    }
    [[nodiscard]] NetworkIdentity* some_object() {
        const std::vector<NetworkIdentity*> spawned = all_objects();
        return spawned.empty() ? nullptr : random_.pick(spawned);
    }
    /// As a game has to: a pointer to what is gone means whatever comes to lie there.
    void drop_lost_friends() {
        for (NetworkIdentity* object : all_objects()) {
            auto& creature = object->component<Creature>(0);
            if (creature.friend_of.get() != server_->find(creature.friend_id)) {
                creature.friend_of = nullptr;
                creature.friend_id = 0;
            }
        }
    }
    [[nodiscard]] std::vector<NetworkIdentity*> all_objects() {
        std::vector<NetworkIdentity*> spawned = objects_;
        for (const auto& client : clients_) {
            const NetworkConnection* connection = server_->find_connection(client->peer);
            if (connection != nullptr && connection->identity() != nullptr) {
                spawned.push_back(connection->identity());
            }
        }
        if (host_ != nullptr && host_->identity() != nullptr) {
            spawned.push_back(host_->identity());
        }
        return spawned;
    }
    void forget(const NetworkIdentity* object) { std::erase(objects_, object); }

    void act() {
        NetworkConnection* connection = some_connection();
        NetworkIdentity* object = some_object();
        const std::uint32_t what = random_.below(100);
        if (what < 6 && clients_.size() < 5) {
            join();
        } else if (what < 8) {
            leave();
        } else if (what < 30) {
            spawn();
        } else if (connection == nullptr) {
            return;
        } else if (what < 34) {
            random_.percent(50) ? server_->set_client_not_ready(*connection)
                                : server_->set_client_ready(*connection);
        } else if (what < 38) {
            change_player(*connection);
        } else if (what < 46) {
            steer(*connection);
        } else if (object != nullptr) {
            act_on(*object, *connection, what);
        }
    }

    void spawn() {
        NetworkIdentity* object = nullptr;
        if (random_.percent(20)) {
            object = random_.pick(scene_);
        } else if (random_.percent(30) && !unspawned_.empty()) {
            object = unspawned_.back();
            unspawned_.pop_back();
        } else if (objects_.size() < 40) {
            object = &server_->instantiate(*types_.prefab);
        }
        if (object != nullptr && !object->is_spawned()) {
            object->component<Creature>(0).friend_of = nullptr;
            object->component<Creature>(0).friend_id = 0;
        }
        if (object != nullptr && !object->is_spawned() &&
            server_->spawn(*object, random_.percent(30) ? some_connection() : nullptr)) {
            objects_.push_back(object);
        }
    }

    void change_player(NetworkConnection& connection) {
        if (connection.identity() == nullptr || random_.percent(50)) {
            NetworkIdentity& player = server_->instantiate(*types_.prefab);
            NetworkIdentity* previous = connection.identity();
            const auto option = static_cast<ReplacePlayerOptions>(random_.below(4));
            REQUIRE(server_->replace_player_for_connection(connection, player, option));
            forget(previous);
            if (previous != nullptr && previous->is_spawned()) {
                objects_.push_back(previous);
            } else if (previous != nullptr && option == ReplacePlayerOptions::Unspawn &&
                       previous->scene_id() == 0) {
                unspawned_.push_back(previous);
            }
        } else {
            server_->remove_player_for_connection(connection, RemovePlayerOptions::Destroy);
        }
    }

    /// The owner changes what it decides.
    void steer(const NetworkConnection& connection) {
        for (const auto& client : clients_) {
            if (client->peer != connection.peer() || connection.owned().empty()) {
                continue;
            }
            const NetworkIdentity* object = random_.pick(connection.owned());
            if (NetworkIdentity* shown = client->driver->find(object->net_id());
                shown != nullptr && shown->is_owned()) {
                shown->component<Steering>(1).course = static_cast<float>(random_.below(360));
                shown->component<Steering>(1).gear = static_cast<std::int32_t>(random_.below(6));
            }
        }
    }

    void act_on(NetworkIdentity& object, NetworkConnection& connection, std::uint32_t what) {
        Creature& creature = object.component<Creature>(0);
        if (what < 70) {
            creature.health = static_cast<std::int32_t>(random_.below(50) + 75);
            creature.secret = static_cast<std::int32_t>(random_.below(50));
            creature.name = "name " + std::to_string(random_.below(20));
            NetworkIdentity* friend_of = some_object();
            creature.friend_of = friend_of;
            creature.friend_id = friend_of == nullptr ? 0 : friend_of->net_id();
            if (object.connection_to_client() == PeerId{}) {
                object.component<Steering>(1).gear = static_cast<std::int32_t>(random_.below(6));
            }
        } else if (what < 74) {
            server_->assign_client_authority(object, connection);
        } else if (what < 78) {
            server_->remove_client_authority(object);
        } else if (what < 82) {
            object.set_visibility(static_cast<Visibility>(random_.below(3)));
        } else if (what < 86) {
            object.set_interest_group(random_.below(3));
        } else if (what < 90) {
            const bool is_shown = random_.percent(50);
            REQUIRE((is_shown ? server_->show_to(object, connection)
                              : server_->hide_from(object, connection)));
            decided_[{object.net_id(), connection.peer()}] = is_shown;
        } else if (what < 92) {
            server_->forget_shown(object, connection);
            decided_.erase({object.net_id(), connection.peer()});
        } else {
            end(object);
        }
    }

    void end(NetworkIdentity& object) {
        forget(&object);
        if (random_.percent(50)) {
            server_->destroy(object);
        } else {
            server_->unspawn(object);
            if (object.scene_id() == 0) {
                unspawned_.push_back(&object);
            }
        }
    }

    void tick(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            server_->early_update(now_);
            drop_lost_friends();
            server_->late_update(now_);
            for (const auto& client : clients_) {
                client->driver->early_update(now_);
                client->driver->late_update(now_);
            }
        }
    }

    [[nodiscard]] bool is_everybody_there() {
        for (const auto& client : clients_) {
            if (!client->driver->is_spawn_finished()) {
                return false;
            }
        }
        return true;
    }

    /// What the rules say, in other words than those of the server.
    [[nodiscard]] bool may_see(const NetworkConnection& connection, NetworkIdentity& object) {
        const auto decided = decided_.find({object.net_id(), connection.peer()});
        if (decided != decided_.end()) {
            return decided->second;
        }
        if (object.connection_to_client() == connection.peer()) {
            return true;
        }
        if (object.visibility() != Visibility::Default) {
            return object.visibility() == Visibility::ForceShown;
        }
        if (object.interest_group() == 0) {
            return true;
        }
        for (const NetworkIdentity* owned : connection.owned()) {
            if (owned->interest_group() == object.interest_group()) {
                return true;
            }
        }
        return false;
    }

    void check_host() {
        for (std::uint64_t net_id = 1; net_id < 2'000; ++net_id) {
            NetworkIdentity* object = server_->find(net_id);
            if (object == nullptr) {
                continue;
            }
            CAPTURE(net_id);
            const auto& creature = object->component<Creature>(0);
            const bool is_owner = object->connection_to_client() == PeerId{host_peer};
            CHECK(object->is_visible_to_host() == may_see(*host_, *object));
            CHECK((creature.is_started || !object->is_visible_to_host()));
            if (creature.is_started) {
                CHECK(creature.has_authority == is_owner);
                CHECK(creature.is_player == (host_->identity() == object));
            }
        }
    }

    void check() {
        if (host_ != nullptr) {
            check_host();
        }
        for (const auto& client : clients_) {
            CAPTURE(client->peer.value);
            NetworkConnection* connection = server_->find_connection(client->peer);
            REQUIRE(connection != nullptr);
            REQUIRE(client->driver->is_spawn_finished());
            const NetworkIdentity* player = connection->identity();
            CHECK(client->driver->local_player() ==
                  (player == nullptr ? nullptr : client->driver->find(player->net_id())));
            for (std::uint64_t net_id = 1; net_id < 2'000; ++net_id) {
                NetworkIdentity* object = server_->find(net_id);
                const NetworkIdentity* shown = client->driver->find(net_id);
                CAPTURE(net_id);
                if (object == nullptr) {
                    CHECK(shown == nullptr);
                    continue;
                }
                CHECK((shown != nullptr) == may_see(*connection, *object));
                if (shown != nullptr) {
                    check_values(*object, *shown, *client, *connection);
                }
            }
        }
    }

    void check_values(const NetworkIdentity& object, const NetworkIdentity& shown,
                      const Client& client, const NetworkConnection& connection) {
        const auto& creature = object.component<Creature>(0);
        const auto& copy = shown.component<Creature>(0);
        const bool is_owner = object.connection_to_client() == connection.peer();
        CHECK(copy.is_started);
        CHECK(copy.has_authority == is_owner);
        CHECK(copy.is_player == (connection.identity() == &object));
        CHECK(copy.health.get() == creature.health.get());
        CHECK(copy.told_health == creature.health.get());
        CHECK(copy.name.get() == creature.name.get());
        if (is_owner) {
            CHECK(copy.secret.get() == creature.secret.get());
        }
        const NetworkIdentity* friend_of = creature.friend_of.get();
        REQUIRE((friend_of == nullptr || friend_of->net_id() == creature.friend_id));
        CHECK(copy.friend_of.get() ==
              (friend_of == nullptr ? nullptr : client.driver->find(friend_of->net_id())));
        CHECK(shown.component<Steering>(1).gear.get() == object.component<Steering>(1).gear.get());
        CHECK(shown.component<Steering>(1).course.get() ==
              object.component<Steering>(1).course.get());
    }

    SeededRandom random_;
    SharingLevel sharing_;
    CreatureTypes types_;
    SimulatedNetwork network_;
    NetTime now_;
    std::unique_ptr<NetworkServer> server_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<NetworkIdentity*> objects_;  // spawned, players not
    std::vector<NetworkIdentity*> unspawned_;
    std::vector<NetworkIdentity*> scene_;
    std::map<std::pair<std::uint64_t, PeerId>, bool> decided_;  // shown or hidden by the game
    NetworkConnection* host_ = nullptr;
    std::uint64_t next_peer_ = 2;
};

TEST_CASE("Spawn at random: each client has what it may see, and starts have their stops",
          "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        RandomGame::Sent unshared;
        for (const SharingLevel sharing : {SharingLevel::Off, SharingLevel::Bundles}) {
            CAPTURE(seed, static_cast<int>(sharing));
            RandomGame game(seed, sharing);
            game.play(400);
            game.finish();
            if (sharing == SharingLevel::Off) {
                unshared = game.sent();
            } else {
                CHECK(game.sent() == unshared);
            }
            game.end();
        }
    }
}

}  // namespace
}  // namespace replayout::test
