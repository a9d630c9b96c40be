// SPDX-License-Identifier: MIT
//
// Callbacks that do everything that they may: at random they spawn, destroy, hide, take and give
// owners and players, assign, write collections, call, replace themselves and each other, at a
// server, a host and clients. Nothing that the game was given is touched after it ended (that is
// for a sanitizer to see), references are null or name what is there, and in the end all ends hold
// the same.
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/checks/choices.h"
#include "support/checks/run_seed.h"
#include "support/worlds/arena_game.h"

namespace replayout::test::callback_storm_test {
namespace {

class Storm;

/// Passes every callback that it gets to the storm.
class Leaf : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> number;
    SyncVar<NetworkIdentity*> other;
    SyncVar<std::vector<NetworkIdentity*>> all;
    SyncList<std::string> list;
    SyncDictionary<std::string, std::int32_t> dictionary;
    SyncSet<std::uint32_t> set;

    Storm* storm = nullptr;
    std::optional<std::uint32_t> client;  // none at the server

    void told();
    void listen();
    void listen_to(std::uint32_t callback);

    void on_number(std::int32_t, std::int32_t) { told(); }
    void on_other(NetworkIdentity* const&, NetworkIdentity* const&) { told(); }
    void on_all(const std::vector<NetworkIdentity*>&, const std::vector<NetworkIdentity*>&) {
        told();
    }
    void cmd() { told(); }
    void rpc() { told(); }
    void target_rpc() { told(); }
    void on_start_server() override { told(); }
    void on_start_client() override { told(); }
    void on_start_authority() override { told(); }
    void on_start_local_player() override { told(); }
    void on_stop_local_player() override { told(); }
    void on_stop_client() override { told(); }
    void on_stop_authority() override { told(); }
    void on_stop_server() override { told(); }
    void on_set_host_visibility(bool) override { told(); }
};

void add_leaves(NetworkTypes& types) {
    const auto leaf = BehaviourBuilder<Leaf>(types, "Leaf")
                          .sync_var<&Leaf::number, &Leaf::on_number>()
                          .sync_var<&Leaf::other, &Leaf::on_other>()
                          .sync_var<&Leaf::all, &Leaf::on_all>()
                          .sync_list<&Leaf::list>()
                          .sync_dictionary<&Leaf::dictionary>()
                          .sync_set<&Leaf::set>()
                          .command<&Leaf::cmd>()
                          .client_rpc<&Leaf::rpc>()
                          .target_rpc<&Leaf::target_rpc>()
                          .build();
    REQUIRE(leaf.has_value());
    SyncSettings unet;
    unet.hook_style = HookStyle::UNet;
    REQUIRE(types.add_prefab("Leaf", {{*leaf}}).has_value());
    REQUIRE(types.add_prefab("Leaves", {{*leaf, unet}, {*leaf}}).has_value());
}

class Storm {
  public:
    Storm(std::uint64_t seed, std::uint32_t client_count)
        : choices_(Choices::from_seed(seed, 2, 1 << 18)),
          game_(options(seed), add_leaves),
          client_count_(client_count) {
        for (std::uint32_t i = 0; i < client_count; ++i) {
            game_.join();
            add_handlers(game_.client(i));
        }
        game_.settle();
        if (choices_.percent(40)) {
            game_.server().start_host();
            is_host_ = true;
        }
    }
    ~Storm() { is_over_ = true; }
    Storm(const Storm&) = delete;
    Storm& operator=(const Storm&) = delete;

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            acts_left_ = 40;
            for (std::uint32_t acts = choices_.below(6); acts > 0; --acts) {
                act_on_server();
            }
            for (std::uint32_t client = 0; client < client_count_; ++client) {
                act_on_client(client, any_on_client(client));
            }
            game_.tick();
            check();
        }
        end();
    }
    [[nodiscard]] std::uint64_t told_count() const noexcept { return told_count_; }

    /// A callback of `leaf` ran; it acts at the end of that leaf.
    void told(Leaf& leaf) {
        ++told_count_;
        if (is_over_ || depth_ > 2 || acts_left_ == 0 || !choices_.percent(60)) {
            return;
        }
        ++depth_;
        --acts_left_;
        if (leaf.client) {
            act_on_client(*leaf.client, &leaf.identity());
        } else {
            act_on_server();
        }
        --depth_;
    }

  private:
    [[nodiscard]] static ArenaOptions options(std::uint64_t seed) {
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.1 * static_cast<double>(seed % 3);
        options.link.latency_ms = 10;
        return options;
    }
    NetworkIdentity& prepare(NetworkIdentity& made, std::optional<std::uint32_t> client) {
        for (std::size_t i = 0; i < made.components().size(); ++i) {
            Leaf& leaf = made.component<Leaf>(i);
            leaf.storm = this;
            leaf.client = client;
            leaf.listen();
        }
        return made;
    }
    void add_handlers(NetworkClient& client) {
        for (const char* prefab : {"Leaf", "Leaves"}) {
            add_handler(client, game_.types().find(prefab));
        }
    }
    void add_handler(NetworkClient& client, const NetworkPrefab& prefab) {
        NetworkSpawnHandler handler;
        const std::string text(60, 'h');  // is freed with the handler
        handler.spawn = [this, text, &prefab](NetworkClient& by, const SpawnInfo&) {
            if (choices_.percent(30)) {
                add_handler(by, prefab);  // It replaces itself.
            }
            NetworkIdentity& made = by.instantiate(prefab);
            captured_ += text.size();
            return &prepare(made, end_of(by));
        };
        handler.unspawn = [this, text, &prefab](NetworkClient& by, NetworkIdentity& object,
                                                ChannelCloseReason) {
            if (choices_.percent(30)) {
                add_handler(by, prefab);
            }
            by.destroy(object);
            captured_ += text.size();
        };
        REQUIRE(client.register_spawn_handler(prefab.asset_id(), handler));
    }
    [[nodiscard]] std::uint32_t end_of(const NetworkClient& client) {
        for (std::uint32_t i = 0; i < client_count_; ++i) {
            if (&game_.client(i) == &client) {
                return i;
            }
        }
        return 0;
    }

    // What they do.

    [[nodiscard]] std::vector<NetworkIdentity*> on_server() {
        std::vector<NetworkIdentity*> spawned;
        for (const std::uint64_t id : ids_) {
            if (NetworkIdentity* object = game_.server().find(id)) {
                spawned.push_back(object);
            }
        }
        return spawned;
    }
    [[nodiscard]] std::vector<NetworkIdentity*> on_client(std::uint32_t client) {
        std::vector<NetworkIdentity*> spawned;
        for (const std::uint64_t id : ids_) {
            if (NetworkIdentity* object = game_.client(client).find(id)) {
                spawned.push_back(object);
            }
        }
        return spawned;
    }
    [[nodiscard]] NetworkIdentity* any_of(const std::vector<NetworkIdentity*>& objects) {
        return objects.empty()
                   ? nullptr
                   : objects[choices_.below(static_cast<std::uint32_t>(objects.size()))];
    }
    [[nodiscard]] NetworkIdentity* any_on_client(std::uint32_t client) {
        return any_of(on_client(client));
    }
    [[nodiscard]] NetworkConnection& any_connection() {
        if (is_host_ && choices_.percent(30)) {
            return *game_.server().host();
        }
        return game_.connection(choices_.below(client_count_));
    }
    void spawn() {
        const char* prefab = choices_.percent(50) ? "Leaf" : "Leaves";
        NetworkIdentity& made =
            prepare(game_.server().instantiate(game_.types().find(prefab)), std::nullopt);
        write(made, on_server());
        (void)game_.server().spawn(made, choices_.percent(40) ? &any_connection() : nullptr);
        if (made.is_spawned()) {
            ids_.insert(made.net_id());
        }
    }
    void act_on_server() {
        NetworkServer& server = game_.server();
        const std::vector<NetworkIdentity*> objects = on_server();
        if (objects.size() < 3 || (objects.size() < 12 && choices_.percent(15))) {
            spawn();
            return;
        }
        NetworkIdentity& object = *any_of(objects);
        NetworkConnection& connection = any_connection();
        switch (choices_.below(14)) {
            case 0:
                server.destroy(object);
                break;
            case 1:
                server.unspawn(object);
                if (!object.is_spawned() && server.spawn(object)) {
                    ids_.insert(object.net_id());
                } else {
                    server.destroy(object);
                }
                break;
            case 2:
                (void)server.hide_from(object, connection);
                break;
            case 3:
                server.forget_shown(object, connection);
                break;
            case 4:
                (void)server.assign_client_authority(object, connection);
                break;
            case 5:
                (void)server.remove_client_authority(object);
                break;
            case 6:
                (void)server.replace_player_for_connection(
                    connection, object, static_cast<ReplacePlayerOptions>(choices_.below(4)));
                break;
            case 7:
                (void)server.remove_player_for_connection(
                    connection, static_cast<RemovePlayerOptions>(choices_.below(3)));
                break;
            case 8:
                if (connection.is_ready() && choices_.percent(30)) {
                    server.set_client_not_ready(connection);
                } else {
                    server.set_client_ready(connection);
                }
                break;
            case 9:
                (void)any_leaf(object).call<&Leaf::rpc>();
                break;
            case 10:
                (void)any_leaf(object).call<&Leaf::target_rpc>();
                break;
            case 11:
                any_leaf(object).listen_to(choices_.below(8));
                break;
            default:
                write(object, objects);
        }
    }
    void act_on_client(std::uint32_t client, NetworkIdentity* object) {
        if (object == nullptr || object->components().empty()) {
            return;
        }
        Leaf& leaf = any_leaf(*object);
        switch (choices_.below(6)) {
            case 0:
                leaf.listen_to(choices_.below(8));
                break;
            case 1:
                if (object->is_spawned()) {
                    (void)leaf.call<&Leaf::cmd>();
                }
                break;
            case 2: {
                NetworkIdentity& made = game_.client(client).instantiate(object->prefab());
                prepare(made, client).component<Leaf>(0).other = object;
                leaf.other = &made;
                game_.client(client).destroy(made);
                break;
            }
            case 3:
                leaf.other = any_on_client(client);
                break;
            case 4:
                leaf.all = on_client(client);
                break;
            default:
                add_handlers(game_.client(client));
        }
    }
    [[nodiscard]] Leaf& any_leaf(NetworkIdentity& object) {
        return object.component<Leaf>(
            choices_.below(static_cast<std::uint32_t>(object.components().size())));
    }
    void write(NetworkIdentity& object, const std::vector<NetworkIdentity*>& objects) {
        Leaf& leaf = any_leaf(object);
        const auto value = static_cast<std::int32_t>(choices_.below(50));
        switch (choices_.below(9)) {
            case 0:
                leaf.other = any_of(objects);
                break;
            case 1:
                leaf.all.modify([&](std::vector<NetworkIdentity*>& all) {
                    all.push_back(any_of(objects));
                    all.resize(all.size() % 5);
                });
                break;
            case 2:
                (void)leaf.list.add(std::string(40, static_cast<char>('a' + value % 26)));
                break;
            case 3:
                (void)(leaf.list.empty() || leaf.list.remove_at(0));
                break;
            case 4:
                (void)leaf.dictionary.set(std::to_string(value % 5), value);
                break;
            case 5:
                (void)leaf.set.add(static_cast<std::uint32_t>(value));
                break;
            case 6:
                (void)(choices_.percent(50) ? leaf.list.clear() : leaf.dictionary.clear());
                break;
            default:
                leaf.number = value;
        }
    }

    // What must be true.

    void check() {
        check_references(on_server());
        for (std::uint32_t client = 0; client < client_count_; ++client) {
            check_references(on_client(client));
        }
    }
    static void check_references(const std::vector<NetworkIdentity*>& spawned) {
        const std::set<const NetworkIdentity*> there(spawned.begin(), spawned.end());
        for (const NetworkIdentity* object : spawned) {
            for (std::size_t i = 0; i < object->components().size(); ++i) {
                const Leaf& leaf = object->component<Leaf>(i);
                REQUIRE((leaf.other.get() == nullptr || there.contains(leaf.other.get())));
                for (const NetworkIdentity* named : leaf.all.get()) {
                    REQUIRE((named == nullptr || there.contains(named)));
                }
            }
        }
    }
    void end() {
        is_over_ = true;
        for (std::uint32_t client = 0; client < client_count_; ++client) {
            game_.server().set_client_ready(game_.connection(client));
        }
        game_.tick(60);
        game_.settle();
        for (const NetworkIdentity* object : on_server()) {
            for (std::uint32_t client = 0; client < client_count_; ++client) {
                const NetworkIdentity* shown = game_.on_client(client, *object);
                for (std::size_t i = 0; shown != nullptr && i < object->components().size(); ++i) {
                    check_equal(object->component<Leaf>(i), shown->component<Leaf>(i));
                }
            }
        }
    }
    static void check_equal(const Leaf& leaf, const Leaf& shown) {
        CHECK(shown.list.items() == leaf.list.items());
        CHECK(shown.dictionary.items() == leaf.dictionary.items());
        CHECK(shown.set.items() == leaf.set.items());
        CHECK(shown.list.refused_count() == 0);
        if (leaf.sync_settings().hook_style == HookStyle::Mirror) {
            CHECK(shown.number.get() == leaf.number.get());
        }
    }

    Choices choices_;
    std::set<std::uint64_t> ids_;  // that there ever were
    std::uint64_t told_count_ = 0;
    std::uint64_t captured_ = 0;
    std::uint32_t acts_left_ = 40;
    std::uint32_t depth_ = 0;
    bool is_over_ = false;
    bool is_host_ = false;
    ArenaGame game_;
    std::uint32_t client_count_;
};

void Leaf::told() {
    if (storm != nullptr) {
        storm->told(*this);
    }
}

void Leaf::listen() {
    for (std::uint32_t callback = 0; callback < 8; ++callback) {
        listen_to(callback);
    }
}

void Leaf::listen_to(std::uint32_t callback) {
    // What it captured is freed with it, and read after all that it did.
    const auto tell = [this, callback, text = std::string(50, 't')](const auto&...) {
        told();
        if (callback % 2 == 0) {
            listen_to(callback);
        }
        told();
        REQUIRE(text.size() == 50);
    };
    switch (callback) {
        case 0:
            list.on_add = tell;
            break;
        case 1:
            list.on_remove = tell;
            break;
        case 2:
            list.on_change = tell;
            break;
        case 3:
            list.on_clear = tell;
            break;
        case 4:
            dictionary.on_add = tell;
            break;
        case 5:
            dictionary.on_set = tell;
            break;
        case 6:
            dictionary.on_change = tell;
            break;
        default:
            set.on_change = tell;
    }
}

TEST_CASE("Callbacks: they may remove, replace and destroy anything at random, at every end",
          "[behaviours][random][stress]") {
    std::uint64_t told_count = 0;
    const SeedRange seeds = seed_range(1, 25);
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        Storm storm(seed, 1 + static_cast<std::uint32_t>(seed % 3));
        storm.play(120);
        told_count += storm.told_count();
    }
    CHECK((!seeds.is_default || told_count > 20'000));
}

}  // namespace
}  // namespace replayout::test::callback_storm_test
