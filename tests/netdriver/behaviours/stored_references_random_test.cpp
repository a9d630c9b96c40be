// SPDX-License-Identifier: MIT
//
// References of every form in a game that never settles, over a network that loses datagrams: each
// end assigns at random, objects come, go, hide and show, owners and readiness change, and hooks
// assign what they received. After each tick every reference that an end stores is null, or names
// an object that is spawned there.
#include <set>
#include <vector>

#include "support/checks/choices.h"
#include "support/checks/run_seed.h"
#include "support/worlds/reference_game.h"

namespace replayout::test {
namespace {

constexpr std::size_t client_count = 3;
constexpr std::size_t objects_max = 14;

class ReferenceStorm {
  public:
    explicit ReferenceStorm(std::uint64_t seed)
        : choices_(Choices::from_seed(seed, 0, 1 << 16)), game_(options(seed), add_holders) {
        game_.server_manager().auto_create_player = false;
        for (std::size_t i = 0; i < client_count; ++i) {
            game_.join();
        }
        add_pool(game_.client(1));
        game_.settle();
        if (choices_.percent(30)) {
            game_.server().start_host();
        }
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            for (std::uint32_t acts = choices_.below(5); acts > 0; --acts) {
                act_on_server();
            }
            for (std::size_t client = 0; client < client_count; ++client) {
                act_on_client(client);
            }
            game_.tick();
            check();
        }
    }
    [[nodiscard]] std::uint64_t named_count() const noexcept { return named_count_; }

  private:
    [[nodiscard]] static ArenaOptions options(std::uint64_t seed) {
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.1 * static_cast<double>(seed % 3);
        options.link.latency_ms = 15;
        return options;
    }
    /// A client whose objects stay when they are not shown any longer, and are shown again.
    void add_pool(NetworkClient& client) {
        const NetworkPrefab& prefab = game_.types().find("Holder");
        const bool is_added = client.register_spawn_handler(
            prefab.asset_id(),
            {[this, &prefab](NetworkClient& by, const SpawnInfo&) {
                 if (pool_.empty()) {
                     return &by.instantiate(prefab);
                 }
                 NetworkIdentity* object = pool_.back();
                 pool_.pop_back();
                 return object;
             },
             [this](NetworkClient& by, NetworkIdentity& object, ChannelCloseReason) {
                 if (choices_.percent(50)) {
                     pool_.push_back(&object);
                 } else {
                     by.destroy(object);
                 }
             }});
        REQUIRE(is_added);
    }

    // What they do.

    void act_on_server() {
        NetworkServer& server = game_.server();
        if (objects_.size() < 4 || (objects_.size() < objects_max && choices_.percent(30))) {
            spawn();
            return;
        }
        NetworkIdentity& object = *objects_[choices_.below(count())];
        NetworkConnection& connection =
            game_.connection(choices_.below(static_cast<std::uint32_t>(client_count)));
        switch (choices_.below(8)) {
            case 0:
                server.destroy(object);
                std::erase(objects_, &object);
                break;
            case 1:
                server.unspawn(object);
                REQUIRE(server.spawn(object));
                break;
            case 2:
                (void)server.hide_from(object, connection);
                break;
            case 3:
                server.forget_shown(object, connection);
                break;
            case 4:
                if (object.connection_to_client().value == 0) {
                    (void)server.assign_client_authority(object, connection);
                } else {
                    (void)server.remove_client_authority(object);
                }
                break;
            case 5:
                if (connection.is_ready()) {
                    server.set_client_not_ready(connection);
                } else {
                    server.set_client_ready(connection);
                }
                break;
            default:
                assign(object, objects_);
        }
    }
    void spawn() {
        constexpr const char* prefabs[] = {"Holder", "OwnersHolder", "UNetHolder", "SlowHolder"};
        NetworkIdentity& made = game_.server().instantiate(
            game_.types().find(prefabs[choices_.below(static_cast<std::uint32_t>(4))]));
        if (choices_.percent(50) && !objects_.empty()) {
            assign(made, objects_);  // before it is spawned
        }
        REQUIRE(game_.server().spawn(made));
        objects_.push_back(&made);
    }
    void act_on_client(std::size_t client) {
        const std::vector<NetworkIdentity*> shown = shown_to(client);
        for (NetworkIdentity* object : shown) {
            object->component<Holder>(0).is_assigning = choices_.percent(50);
            if (choices_.percent(15)) {
                assign(*object, shown);
            }
        }
    }
    void assign(NetworkIdentity& object, const std::vector<NetworkIdentity*>& objects) {
        auto& holder = object.component<Holder>(0);
        const auto any = [&]() -> NetworkIdentity* {
            return choices_.percent(20)
                       ? nullptr
                       : objects[choices_.below(static_cast<std::uint32_t>(objects.size()))];
        };
        switch (choices_.below(5)) {
            case 0:
                holder.target = any();
                break;
            case 1:
                holder.plain = any();
                break;
            case 2:
                if (NetworkIdentity* named = any()) {
                    holder.part = BehaviourReference(named->component<Holder>(0));
                }
                break;
            case 3:
                holder.many.modify([&](std::vector<NetworkIdentity*>& many) {
                    many.resize(choices_.below(5));
                    for (NetworkIdentity*& named : many) {
                        named = any();
                    }
                });
                break;
            default:
                holder.bond = Bond{static_cast<std::int32_t>(choices_.below(9)), any()};
        }
    }

    // What must be true.

    [[nodiscard]] std::vector<NetworkIdentity*> shown_to(std::size_t client) {
        std::vector<NetworkIdentity*> shown;
        for (NetworkIdentity* object : objects_) {
            if (NetworkIdentity* here = game_.on_client(client, *object)) {
                shown.push_back(here);
            }
        }
        return shown;
    }
    void check() {
        check_end(objects_, objects_);
        for (std::size_t client = 0; client < client_count; ++client) {
            // What was destroyed may be shown for a while.
            const std::vector<NetworkIdentity*> shown = all_spawned_at(client);
            check_end(shown, shown);
        }
        check_end(pool_, {});
    }
    [[nodiscard]] std::vector<NetworkIdentity*> all_spawned_at(std::size_t client) {
        std::vector<NetworkIdentity*> spawned;
        for (NetworkIdentity* object : objects_) {
            ids_.insert(object->net_id());
        }
        for (const std::uint64_t id : ids_) {
            if (NetworkIdentity* here = game_.client(client).find(id)) {
                spawned.push_back(here);
            }
        }
        return spawned;
    }
    void check_end(const std::vector<NetworkIdentity*>& holders,
                   const std::vector<NetworkIdentity*>& spawned) {
        const std::set<const NetworkIdentity*> there(spawned.begin(), spawned.end());
        for (const NetworkIdentity* object : holders) {
            for (const NetworkIdentity* named : references_of(object->component<Holder>(0))) {
                ++named_count_;
                REQUIRE(there.contains(named));
            }
        }
    }
    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(objects_.size());
    }

    Choices choices_;
    std::vector<NetworkIdentity*> pool_;  // of client 1
    ArenaGame game_;
    std::vector<NetworkIdentity*> objects_;  // of the server
    std::set<std::uint64_t> ids_;            // that there ever were
    std::uint64_t named_count_ = 0;
};

TEST_CASE("References: none outlives its object, at any end, while everything comes and goes",
          "[behaviours][random][stress]") {
    std::uint64_t named_count = 0;
    const SeedRange seeds = seed_range(1, 30);
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        ReferenceStorm storm(seed);
        storm.play(150);
        named_count += storm.named_count();
    }
    CHECK((!seeds.is_default || named_count > 100'000));
}

}  // namespace
}  // namespace replayout::test
