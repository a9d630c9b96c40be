// SPDX-License-Identifier: MIT
//
// Mistakes of every kind, at random, in Unity's words: ends that did not begin or have ended,
// variables and collections at the wrong end or of objects that are not spawned, indices and keys
// that are none, and updates, spawns and ends of connections from within callbacks. Nothing of it
// is undefined, and what clients show is what the server has.
#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/behaviours/sync_dictionary.h>
#include <replayout/behaviours/sync_list.h>
#include <replayout/behaviours/sync_set.h>

#include <functional>
#include <string>
#include <vector>

#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

class Chest : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> coins;
    SyncVar<std::string> label;
    SyncList<std::int32_t> items;
    SyncSet<std::int32_t> marks;
    SyncDictionary<std::int32_t, std::int32_t> prices;
};

void add_chest(NetworkTypes& types) {
    const auto chest = BehaviourBuilder<Chest>(types, "Chest")
                           .sync_var<&Chest::coins>()
                           .sync_var<&Chest::label>()
                           .sync_list<&Chest::items>()
                           .sync_set<&Chest::marks>()
                           .sync_dictionary<&Chest::prices>()
                           .build();
    REQUIRE(chest.has_value());
    REQUIRE(types.add_prefab("ChestPrefab", {{*chest}}).has_value());
}

/// With a chest at any end, spawned or not.
void do_anything(Chest& chest, SeededRandom& random) {
    const auto number = static_cast<std::int32_t>(random.below(20));
    const std::uint32_t index = random.below(40);
    switch (random.below(14)) {
        case 0:
            (void)chest.items.set(index, number);
            break;
        case 1:
            (void)chest.items.remove_at(index);
            break;
        case 2:
            (void)chest.items.insert(index, number);
            break;
        case 3:
            (void)chest.items[index];
            break;
        case 4:
            (void)chest.items.add(number);
            break;
        case 5:
            chest.items.clear();
            break;
        case 6:
            (void)chest.marks.add(number);
            break;
        case 7:
            (void)chest.marks.remove(number);
            break;
        case 8:
            (void)chest.prices.set(number, number);
            break;
        case 9:
            (void)chest.prices.remove(number);
            break;
        case 10:
            (void)chest.coins.set(number);
            break;
        case 11:
            (void)chest.label.set(std::string(random.below(3'000), 'x'));
            break;
        case 12:
            (void)chest.label.set("\xFF");
            break;
        default:
            (void)chest.call("none");
            break;
    }
}

/// What a server does that does not listen, with objects and connections of another one.
void misuse_idle_server(NetworkServer& idle, ArenaGame& game, NetworkIdentity& own,
                        SeededRandom& random) {
    NetworkConnection& connection = game.connection(0);
    switch (random.below(13)) {
        case 0:
            CHECK_FALSE(idle.spawn(own));
            break;
        case 1:
            idle.unspawn(own);
            break;
        case 2:
            idle.destroy(own);
            break;
        case 3:
            idle.set_client_ready(connection);
            break;
        case 4:
            idle.set_client_not_ready(connection);
            break;
        case 5:
            CHECK_FALSE(idle.add_player_for_connection(connection, own));
            break;
        case 6:
            CHECK_FALSE(idle.show_to(own, connection));
            break;
        case 7:
            idle.rebuild_observers(own);
            break;
        case 8:
            CHECK_FALSE(idle.remove_client_authority(own));
            break;
        case 9:
            idle.stop_host();
            break;
        case 10:
            idle.destroy_owned(connection);
            break;
        case 11:
            CHECK(idle.find(random.below(5)) == nullptr);
            CHECK(idle.find_connection(PeerId{random.below(5)}) == nullptr);
            break;
        default:
            idle.early_update(game.server().now());
            idle.late_update(game.server().now());
            break;
    }
}

/// What a client does that is not connected.
void misuse_idle_client(NetworkClient& idle, ArenaGame& game, NetworkIdentity& own,
                        SeededRandom& random) {
    switch (random.below(7)) {
        case 0:
            CHECK_FALSE(idle.ready());
            break;
        case 1:
            CHECK_FALSE(idle.add_player());
            break;
        case 2:
            idle.disconnect();
            break;
        case 3:
            idle.destroy(own);
            break;
        case 4:
            CHECK(idle.find(own.net_id()) == nullptr);
            break;
        case 5:
            idle.unregister_spawn_handler(random.below(100));
            break;
        default:
            idle.early_update(game.server().now());
            idle.late_update(game.server().now());
            break;
    }
}

/// From within a hook of a client.
void misuse_within(ArenaGame& game, SeededRandom& random) {
    switch (random.below(4)) {
        case 0:
            game.client(0).early_update(game.client(0).now());
            break;
        case 1:
            game.client(0).late_update(game.client(0).now());
            break;
        case 2:
            game.client(0).disconnect();
            break;
        default:
            CHECK_FALSE(game.client(0).connect(PeerId{1}, game.client(0).now()));
            break;
    }
}

}  // namespace

TEST_CASE(
    "Misuse, Unity: mistakes of every kind at random, and clients end with the server's state",
    "[behaviours][misuse][random][stress]") {
    for (const std::uint64_t seed : seed_range(1, 5)) {
        INFO("seed " << seed);
        SeededRandom random(seed);
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.05;
        ArenaGame game(options, add_chest);
        game.join_settled();
        game.server().set_client_ready(game.connection(0));
        NetworkIdentity& own = game.spawn(game.types().find("ChestPrefab"));
        NetworkIdentity& pawn = game.spawn(game.types().pawn());
        NetworkIdentity& loose = game.server().instantiate(game.types().find("ChestPrefab"));
        game.settle();
        const Refusals refusals;
        ArenaManager manager;
        SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
        NetworkServer idle_server({}, network.endpoint(PeerId{1}), game.types().get(), manager);
        NetworkClient idle_client({}, network.endpoint(PeerId{2}), game.types().get(), manager);
        game.fighter_on(0, pawn).during_hook = [&](Fighter&) { misuse_within(game, random); };
        for (int i = 0; i < 200; ++i) {
            do_anything(own.component<Chest>(0), random);
            do_anything(loose.component<Chest>(0), random);
            NetworkIdentity* const shown = game.on_client(0, own);
            REQUIRE(shown != nullptr);
            // What a client assigns is its own business until the server's next change of it.
            const std::int32_t before = shown->component<Chest>(0).coins.get();
            (void)shown->component<Chest>(0).items.add(1);
            (void)shown->component<Chest>(0).marks.add(1);
            (void)shown->component<Chest>(0).prices.remove(1);
            CHECK(shown->component<Chest>(0).coins.get() == before);
            misuse_idle_server(idle_server, game, own, random);
            misuse_idle_client(idle_client, game, own, random);
            pawn.component<Fighter>(0).health = static_cast<std::int32_t>(random.below(1'000));
            game.tick();
        }
        game.settle();
        CHECK(game.client(0).driver().state() == ConnectionState::Joined);
        NetworkIdentity* const shown = game.on_client(0, own);
        REQUIRE(shown != nullptr);
        const Chest& there = shown->component<Chest>(0);
        const Chest& here = own.component<Chest>(0);
        CHECK(there.coins.get() == here.coins.get());
        CHECK(there.label.get() == here.label.get());
        REQUIRE(there.items.size() == here.items.size());
        for (std::uint32_t i = 0; i < here.items.size(); ++i) {
            CHECK(there.items[i] == here.items[i]);
        }
        CHECK(there.marks.size() == here.marks.size());
        CHECK(there.prices.size() == here.prices.size());
        CHECK(refusals.sentences().size() >= (Refusals::are_told ? 100u : 0u));
        CHECK_FALSE(loose.is_spawned());
    }
}

}  // namespace replayout::test
