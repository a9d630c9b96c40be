// SPDX-License-Identifier: MIT
//
// A first game in Unity's words, in one process: a server, a client, and a basket of apples that
// the server spawned. Asked by a command of the player, the server takes one out of it.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/reflection/type_builder.h>

#include <cstdio>
#include <memory_resource>
#include <string>

using namespace replayout;

namespace {

class Basket : public NetworkBehaviour {
  public:
    SyncList<std::string> apples;

    void on_start_client() override {
        std::printf("client: a basket of %u apples\n", apples.size());
        apples.on_remove = [](std::uint32_t index, const std::string& apple) {
            std::printf("client: apple %u is gone, the %s one\n", index, apple.c_str());
        };
    }
};

struct Meal {
    NetworkIdentity* basket = nullptr;
    std::uint32_t index = 0;
};

class Player : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> health = 50;

    void on_health_changed(std::int32_t previous, std::int32_t current) {
        std::printf("client: health %d -> %d\n", previous, current);
    }
    void on_start_local_player() override { std::puts("client: this is my player"); }
    /// Runs on the server. What a client says may be anything.
    void cmd_eat(const Meal& meal) {
        Basket* basket = meal.basket == nullptr ? nullptr : meal.basket->get_component<Basket>();
        if (basket == nullptr || meal.index >= basket->apples.size()) {
            std::puts("server: there is no such apple");
            return;
        }
        std::printf("server: eats the %s apple\n", basket->apples[meal.index].c_str());
        basket->apples.remove_at(meal.index);
        health += 10;
        call<&Player::rpc_burp>();
    }
    void rpc_burp() { std::puts("client: burp"); }
};

/// Said once, the same on both ends.
bool describe(NetworkTypes& types) {
    const auto meal = struct_builder<Meal>(types.registry(), "Meal")
                          .property<&Meal::basket>()
                          .property<&Meal::index>()
                          .build();
    const auto player = BehaviourBuilder<Player>(types, "Player")
                            .sync_var<&Player::health, &Player::on_health_changed>()
                            .command<&Player::cmd_eat>()
                            .client_rpc<&Player::rpc_burp>()
                            .build();
    const auto basket =
        BehaviourBuilder<Basket>(types, "Basket").sync_list<&Basket::apples>().build();
    return meal && player && basket && types.add_prefab("PlayerPrefab", {{*player}}) &&
           types.add_prefab("BasketPrefab", {{*basket}}) && types.freeze();
}

}  // namespace

int main() {
    NetworkTypes types;
    if (!describe(types)) {
        return 1;
    }
    NetworkManager manager;  // who joins becomes ready, and is given a player
    manager.player_prefab = types.find_prefab("PlayerPrefab");
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    NetworkServer server({}, network.endpoint({1}), types, manager);
    NetworkClient client({}, network.endpoint({2}), types, manager);
    NetTime now;
    if (!server.listen() || !client.connect({1}, now)) {
        return 1;
    }
    NetworkIdentity& basket = server.instantiate(*types.find_prefab("BasketPrefab"));
    basket.component<Basket>(0).apples.add("green");
    basket.component<Basket>(0).apples.add("red");
    server.spawn(basket);

    for (int tick = 0; tick < 60; ++tick, now = now.plus_milliseconds(20)) {
        server.early_update(now);
        server.late_update(now);
        client.early_update(now);
        if (NetworkIdentity* mine = client.local_player(); mine != nullptr && tick % 20 == 19) {
            NetworkIdentity* shown = client.find(basket.net_id());
            mine->get_component<Player>()->call<&Player::cmd_eat>({shown, 1});
        }
        client.late_update(now);
    }
}
