// SPDX-License-Identifier: MIT
//
// What a game says wrongly in Unity's words: it is refused in every build, and the game goes on.
#include <replayout/behaviours/sync_list.h>

#include <functional>
#include <vector>

#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

class Satchel : public NetworkBehaviour {
  public:
    SyncList<std::int32_t> coins;
};

void add_satchel(NetworkTypes& types) {
    const auto satchel =
        BehaviourBuilder<Satchel>(types, "Satchel").sync_list<&Satchel::coins>().build();
    REQUIRE(satchel.has_value());
    REQUIRE(types.add_prefab("SatchelPrefab", {{*satchel}}).has_value());
}

/// Another process, so to speak: its objects and connections are none of the first one's.
struct OtherGame {
    OtherGame() {
        game.join();
        game.settle();
        object = &game.spawn(game.types().pawn());
        loose = &game.server().instantiate(game.types().pawn());
        game.settle();
    }

    ArenaGame game;
    NetworkIdentity* object = nullptr;
    NetworkIdentity* loose = nullptr;  // not spawned
};

using Mistake = std::function<void(ArenaGame&, OtherGame&, NetworkIdentity&)>;

/// `own` is spawned by the game's server, and shown to its first client.
[[nodiscard]] const std::vector<Mistake>& mistakes() {
    using G = ArenaGame;
    using O = OtherGame;
    using N = NetworkIdentity;
    static const std::vector<Mistake> all = {
        [](G& g, O& o, N&) { CHECK_FALSE(g.server().spawn(*o.loose)); },
        [](G& g, O&, N& own) { CHECK_FALSE(g.server().spawn(own)); },
        [](G& g, O& o, N&) { g.server().unspawn(*o.object); },
        [](G& g, O& o, N&) { g.server().destroy(*o.object); },
        [](G& g, O& o, N&) { g.server().destroy(*o.loose); },
        [](G& g, O& o, N& own) {
            NetworkConnection& there = o.game.connection(0);
            CHECK_FALSE(g.server().assign_client_authority(own, there));
            CHECK_FALSE(g.server().show_to(own, there));
            CHECK_FALSE(g.server().hide_from(own, there));
            g.server().forget_shown(own, there);
            g.server().destroy_owned(there);
            g.server().set_client_ready(there);
            g.server().set_client_not_ready(there);
            CHECK_FALSE(g.server().add_player_for_connection(there, own));
            CHECK_FALSE(
                g.server().remove_player_for_connection(there, RemovePlayerOptions::Destroy));
        },
        [](G& g, O& o, N&) {
            NetworkConnection& here = g.connection(0);
            CHECK_FALSE(g.server().assign_client_authority(*o.object, here));
            CHECK_FALSE(g.server().remove_client_authority(*o.object));
            CHECK_FALSE(g.server().show_to(*o.object, here));
            CHECK_FALSE(g.server().hide_from(*o.object, here));
            g.server().forget_shown(*o.object, here);
            g.server().rebuild_observers(*o.object);
            CHECK_FALSE(g.server().add_player_for_connection(here, *o.object));
        },
        [](G& g, O&, N& own) { g.client(0).destroy(*g.on_client(0, own)); },
        [](G& g, O&, N& own) { g.client(0).destroy(own); },
        [](G& g, O&, N&) { (void)g.server().start_host(G::client_peer(0)); },
        [](G&, O&, N& own) { own.set_interest_range(-1); },
        [](G&, O&, N& own) { own.set_interest_group(~0u); },
        [](G&, O& o, N&) {
            CHECK(o.loose->component<Fighter>(0).call<&Fighter::rpc_cheer>() ==
                  CallResult::NoChannel);
        },
        [](G& g, O&, N& own) {
            const std::int32_t wrong = 1;
            CHECK(own.component<Fighter>(0).call("rpc_cheer", &wrong) == CallResult::Misused);
            CHECK(g.fighter_on(0, own).call("cmd_shout", &wrong) == CallResult::Misused);
            CHECK(own.component<Fighter>(0).call("rpc_chear") == CallResult::UnknownFunction);
        },
    };
    return all;
}

}  // namespace

TEST_CASE("Misuse, Unity: objects and connections of another server are refused, in any order",
          "[behaviours][misuse][random]") {
    for (const std::uint64_t seed : seed_range(1, 4)) {
        INFO("seed " << seed);
        const Refusals refusals;
        SeededRandom random(seed);
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.05;
        ArenaGame game(options);
        game.join_settled();
        game.server().set_client_ready(game.connection(0));
        OtherGame other;
        other.game.server().set_client_ready(other.game.connection(0));
        NetworkIdentity& own = game.spawn(game.types().pawn());
        game.settle();
        for (int i = 0; i < 150; ++i) {
            own.component<Fighter>(0).health = static_cast<std::int32_t>(random.below(1'000));
            if (game.on_client(0, own) != nullptr) {
                random.pick(mistakes())(game, other, own);
            }
            game.tick();
            other.game.tick();
        }
        CHECK(refusals.sentences().size() >= (Refusals::are_told ? 50u : 0u));
        game.settle();
        CHECK(game.fighter_on(0, own).health.get() == own.component<Fighter>(0).health.get());
        CHECK(other.object->is_spawned());
        CHECK(game.client(0).driver().state() == ConnectionState::Joined);
    }
}

TEST_CASE("Misuse, Unity: a behaviour without an object refuses calls, and is nobody's",
          "[behaviours][misuse]") {
    const Refusals refusals;
    Fighter lone;
    CHECK(lone.call<&Fighter::rpc_cheer>() == CallResult::Misused);
    CHECK(lone.call("rpc_cheer") == CallResult::Misused);
    lone.set_dirty_bit(1);
    CHECK_FALSE(lone.is_server());
    CHECK_FALSE(lone.is_client());
    CHECK_FALSE(lone.is_owned());
    CHECK_FALSE(lone.is_local_player());
    if (Refusals::are_told) {
        CHECK(refusals.count("this behaviour belongs to no object yet") == 7);
    }
}

TEST_CASE("Misuse, Unity: a SyncVar names no object of another end", "[behaviours][misuse]") {
    ArenaGame game;
    game.join_settled();
    game.server().set_client_ready(game.connection(0));
    NetworkIdentity& holder = game.spawn(game.types().pawn());
    NetworkIdentity& named = game.spawn(game.types().pawn());
    game.settle();
    Fighter& fighter = holder.component<Fighter>(0);
    fighter.target = &named;
    const Refusals refusals;
    CHECK_FALSE(fighter.target.set(game.on_client(0, named)));
    CHECK(fighter.target.get() == &named);
    if (Refusals::are_told) {
        CHECK(refusals.count("it would name an object that this end does not have") == 1);
    }
    game.server().destroy(named);
    game.settle();
    CHECK(fighter.target.get() == nullptr);
}

TEST_CASE("Misuse, Unity: a SyncVar that is declared twice is refused", "[behaviours][misuse]") {
    NetworkTypes types;
    const auto of_one_name = BehaviourBuilder<Purse>(types, "Purse")
                                 .sync_var<&Purse::gold>("gold")
                                 .sync_var<&Purse::secret>("gold")
                                 .build();
    CHECK_FALSE(of_one_name.has_value());
    const auto of_one_member = BehaviourBuilder<Purse>(types, "Purse")
                                   .sync_var<&Purse::gold>("gold")
                                   .sync_var<&Purse::gold>("silver")
                                   .build();
    REQUIRE_FALSE(of_one_member.has_value());
    CHECK(of_one_member.error().code == ErrorCode::DuplicateName);
}

TEST_CASE(
    "Misuse, Unity: updates before listen() and connect() and from within callbacks are refused",
    "[behaviours][misuse]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_ready_with(game.types().pawn());
    const Refusals refusals;
    ArenaManager manager;
    SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
    NetworkServer idle({}, network.endpoint(PeerId{1}), game.types().get(), manager);
    idle.early_update({});
    idle.late_update({});
    NetworkClient unconnected({}, network.endpoint(PeerId{2}), game.types().get(), manager);
    unconnected.early_update({});
    unconnected.late_update({});
    bool has_run = false;
    game.fighter_on(0, pawn).during_hook = [&](Fighter& fighter) {
        (void)fighter;
        has_run = true;
        game.client(0).early_update(game.client(0).now());
        game.client(0).late_update(game.client(0).now());
        game.client(0).disconnect();
    };
    pawn.component<Fighter>(0).health = 5;
    game.settle();
    CHECK(has_run);
    CHECK(game.fighter_on(0, pawn).health.get() == 5);
    CHECK(game.client(0).driver().state() == ConnectionState::Joined);
    if (Refusals::are_told) {
        CHECK(refusals.count("_update: the server does not listen: call listen() before") == 2);
        CHECK(refusals.count("_update: the client was never connected: call connect() before") ==
              2);
        CHECK(refusals.count("_update: called from within a callback; do it after the update") ==
              2);
        CHECK(refusals.count("disconnect: called from within the world, a notify or a hook") == 1);
    }
}

TEST_CASE("Misuse, Unity: an index out of range names no item, and changes none",
          "[behaviours][misuse]") {
    ArenaGame game({}, add_satchel);
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("SatchelPrefab"));
    Satchel& satchel = object.component<Satchel>(0);
    REQUIRE(satchel.coins.add(7));
    const Refusals refusals;
    CHECK(satchel.coins[1] == 0);
    CHECK_FALSE(satchel.coins.set(1, 3));
    CHECK_FALSE(satchel.coins.remove_at(1));
    CHECK_FALSE(satchel.coins.insert(9, 3));
    CHECK(satchel.coins.size() == 1);
    if (Refusals::are_told) {
        CHECK(refusals.count("item 1 of a list of 1") == 3);
        CHECK(refusals.count("SyncList::insert: item 9 of a list of 1") == 1);
    }
}

TEST_CASE("Misuse, Unity: a call out of place is logged", "[behaviours][misuse]") {
    ArenaGame game;
    NetworkIdentity& pawn = game.join_ready_with(game.types().pawn());
    const Refusals refusals;
    CHECK(game.fighter_on(0, pawn).call<&Fighter::rpc_cheer>() == CallResult::Ran);
    CHECK(pawn.component<Fighter>(0).call<&Fighter::cmd_shout>() == CallResult::Ran);
    NetworkIdentity& loose = game.server().instantiate(game.types().pawn());
    CHECK(loose.component<Fighter>(0).call<&Fighter::rpc_cheer>() == CallResult::NoChannel);
    CHECK(refusals.line_count(
              "call of \"Fighter.rpc_cheer\": a client calls what a server calls") == 1);
    CHECK(
        refusals.line_count("call of \"Fighter.cmd_shout\": a server calls a command of an object "
                            "without an owner") == 1);
    CHECK(refusals.line_count("call of \"Fighter.rpc_cheer\": the object is not spawned") == 1);
    // In their places they say nothing.
    REQUIRE(game.server().assign_client_authority(pawn, game.connection(0)));
    game.settle();
    Refusals::lines().clear();
    CHECK(game.fighter_on(0, pawn).call<&Fighter::cmd_shout>() == CallResult::Sent);
    CHECK(pawn.component<Fighter>(0).call<&Fighter::rpc_cheer>() != CallResult::NoChannel);
    CHECK(Refusals::lines().empty());
}

TEST_CASE("Misuse, Unity: types that are not frozen are refused at listen() and connect()",
          "[behaviours][misuse]") {
    NetworkTypes types;
    ArenaManager manager;
    SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
    NetworkServer server({}, network.endpoint(PeerId{1}), types, manager);
    NetworkClient client({}, network.endpoint(PeerId{2}), types, manager);
    CHECK(server.listen().error().code == ErrorCode::RegistryNotFrozen);
    CHECK(client.connect(PeerId{1}, {}).error().code == ErrorCode::RegistryNotFrozen);
}

}  // namespace replayout::test
