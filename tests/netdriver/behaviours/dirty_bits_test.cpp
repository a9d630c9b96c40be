// SPDX-License-Identifier: MIT
//
// The dirty mask of a behaviour, through inheritance, and by hand.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/type_builder.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

TEST_CASE("U22 IsDirty: set by a variable, gated by the interval, cleared by sending and by hand",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.sync_interval_us = 100'000;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    game.tick(10);
    Fighter& fighter = pawn.component<Fighter>(0);
    CHECK_FALSE(fighter.is_dirty());
    fighter.health = 5;
    CHECK(fighter.is_dirty());
    CHECK(fighter.sync_var_dirty_bits() == 1);
    game.tick();
    CHECK_FALSE(fighter.is_dirty());
    fighter.health = 6;
    CHECK_FALSE(fighter.is_dirty());
    CHECK(fighter.sync_var_dirty_bits() == 1);
    game.tick(5);
    CHECK(fighter.sync_var_dirty_bits() == 0);
    fighter.set_dirty_bit(0x4);
    CHECK(fighter.sync_var_dirty_bits() == 4);
    fighter.set_dirty_bit(0);
    CHECK(fighter.sync_var_dirty_bits() == 4);
    fighter.clear_all_dirty_bits();
    CHECK_FALSE(fighter.is_dirty());
}

TEST_CASE("U23 ClearAll: works before the interval is over, and what was changed is not sent",
          "[behaviours]") {
    ArenaOptions options;
    options.fighter.sync_interval_us = 1'000'000;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    Fighter& fighter = pawn.component<Fighter>(0);
    fighter.health = 50;
    game.tick(60);
    fighter.health = 40;
    fighter.clear_all_dirty_bits();
    CHECK(fighter.sync_var_dirty_bits() == 0);
    game.tick(120);
    CHECK(game.fighter_on(0, pawn).health == 50);
    fighter.set_dirty_bit(1);
    game.tick(120);
    CHECK(game.fighter_on(0, pawn).health == 40);
}

struct Coat {
    std::int32_t color = 0;
    std::int32_t size = 0;

    friend bool operator==(const Coat&, const Coat&) = default;
};

class Wardrobe : public NetworkBehaviour {
  public:
    SyncVar<Coat> coat;
    SyncVar<std::array<std::int32_t, 3>> shelves;
    std::vector<std::int32_t> previous_shelves;

    void on_shelves(const std::array<std::int32_t, 3>& previous,
                    const std::array<std::int32_t, 3>&) {
        previous_shelves.assign(previous.begin(), previous.end());
    }
};

class Level1 : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> a = 1;
    SyncVar<std::int32_t> b = 2;
};
class Level2 : public Level1 {
  public:
    SyncVar<std::int32_t> c = 3;
};
class Level3 : public Level2 {
  public:
    SyncVar<std::int32_t> d = 4;
};
class Level4 : public Level3 {
  public:
    SyncVar<std::int32_t> e = 5;
    SyncVar<std::int32_t> f = 6;
};

/// A server and a client of types of a test's own.
struct SmallGame {
    NetworkTypes& types;
    SimulatedNetwork network{wide_network({}), 1, std::pmr::get_default_resource()};
    NetworkManager manager;
    NetworkServer server{host_settings({}, 1, SharingLevel::Bundles, true),
                         network.endpoint(PeerId{1}), types, manager};
    NetworkClient client{host_settings({}, 2, SharingLevel::Bundles, true),
                         network.endpoint(PeerId{2}), types, manager};
    NetTime now;

    explicit SmallGame(NetworkTypes& frozen) : types(frozen) {
        manager.auto_create_player = false;
        REQUIRE(server.listen().has_value());
        REQUIRE(client.connect(PeerId{1}, now).has_value());
        tick();
    }
    void tick(int count = 20) {
        for (int i = 0; i < count; ++i) {
            now = now.plus_milliseconds(20);
            network.advance(now);
            server.early_update(now);
            server.late_update(now);
            client.early_update(now);
            client.late_update(now);
        }
    }
};

TEST_CASE("U24 A struct: assigning it dirties, clearing cleans, the default dirties again",
          "[behaviours]") {
    NetworkTypes types;
    REQUIRE(struct_builder<Coat>(types.registry(), "Coat")
                .property<&Coat::color>()
                .property<&Coat::size>()
                .build()
                .has_value());
    const auto wardrobe = BehaviourBuilder<Wardrobe>(types, "Wardrobe")
                              .sync_var<&Wardrobe::coat>()
                              .sync_var<&Wardrobe::shelves, &Wardrobe::on_shelves>()
                              .build();
    REQUIRE(wardrobe.has_value());
    const auto prefab = types.add_prefab("Wardrobe", {{*wardrobe}});
    REQUIRE(prefab.has_value());
    REQUIRE(types.freeze().has_value());
    SmallGame game(types);
    NetworkIdentity& object = game.server.instantiate(**prefab);
    REQUIRE(game.server.spawn(object));
    game.tick();
    auto& server = object.component<Wardrobe>(0);
    auto& client = game.client.find(object.net_id())->component<Wardrobe>(0);
    server.coat = Coat{1, 2};
    CHECK(server.is_dirty());
    server.clear_all_dirty_bits();
    CHECK_FALSE(server.is_dirty());
    server.coat = Coat{};
    CHECK(server.is_dirty());
    game.tick();
    CHECK(client.coat.get() == Coat{});
    server.coat.modify([](Coat& coat) { coat.size = 9; });
    server.shelves.modify([](auto& shelves) { shelves[2] = 7; });
    game.tick();
    CHECK(client.coat.get() == Coat{0, 9});
    CHECK(client.shelves.get() == std::array{0, 0, 7});
    CHECK(client.previous_shelves == std::vector{0, 0, 0});
    server.shelves = std::array{1, 2, 3};
    game.tick();
    CHECK(client.shelves.get() == std::array{1, 2, 3});
    CHECK(client.previous_shelves == std::vector{0, 0, 7});
}

/// Names a component: its object, and which of those.
struct ComponentRef {
    NetworkIdentity* object = nullptr;
    std::uint8_t component = 0;

    friend bool operator==(const ComponentRef&, const ComponentRef&) = default;
};

class Aimer : public NetworkBehaviour {
  public:
    SyncVar<ComponentRef> first;
    SyncVar<ComponentRef> second;
};

TEST_CASE("U31 References to two components of one class and object stay distinct",
          "[behaviours]") {
    NetworkTypes types;
    REQUIRE(struct_builder<ComponentRef>(types.registry(), "ComponentRef")
                .property<&ComponentRef::object>()
                .property<&ComponentRef::component>()
                .build()
                .has_value());
    const auto aimer = BehaviourBuilder<Aimer>(types, "Aimer")
                           .sync_var<&Aimer::first>()
                           .sync_var<&Aimer::second>()
                           .build();
    REQUIRE(aimer.has_value());
    const auto prefab = types.add_prefab("Turret", {{*aimer}, {*aimer}});
    REQUIRE(prefab.has_value());
    REQUIRE(types.freeze().has_value());
    SmallGame game(types);
    NetworkIdentity& object = game.server.instantiate(**prefab);
    object.component<Aimer>(0).first = ComponentRef{&object, 0};
    object.component<Aimer>(0).second = ComponentRef{&object, 1};
    REQUIRE(game.server.spawn(object));
    game.tick();
    NetworkIdentity* shown = game.client.find(object.net_id());
    REQUIRE(shown != nullptr);
    const auto& copy = shown->component<Aimer>(0);
    CHECK(copy.first.get() == ComponentRef{shown, 0});
    CHECK(copy.second.get() == ComponentRef{shown, 1});
}

TEST_CASE("U25 Deep inheritance: each variable of four levels has a bit of its own",
          "[behaviours]") {
    NetworkTypes types;
    REQUIRE(BehaviourBuilder<Level1>(types, "Level1")
                .sync_var<&Level1::a>()
                .sync_var<&Level1::b>()
                .build()
                .has_value());
    REQUIRE(BehaviourBuilder<Level2>(types, "Level2")
                .base<Level1>()
                .sync_var<&Level2::c>()
                .build()
                .has_value());
    REQUIRE(BehaviourBuilder<Level3>(types, "Level3")
                .base<Level2>()
                .sync_var<&Level3::d>()
                .build()
                .has_value());
    const auto type = BehaviourBuilder<Level4>(types, "Level4")
                          .base<Level3>()
                          .sync_var<&Level4::e>()
                          .sync_var<&Level4::f>()
                          .build();
    REQUIRE(type.has_value());
    const auto prefab = types.add_prefab("Deep", {{*type}});
    REQUIRE(prefab.has_value());
    REQUIRE(types.freeze().has_value());
    SmallGame game(types);
    NetworkIdentity& object = game.server.instantiate(**prefab);
    REQUIRE(game.server.spawn(object));
    game.tick();
    auto& deep = object.component<Level4>(0);
    auto& shown = game.client.find(object.net_id())->component<Level4>(0);
    std::uint64_t seen = 0;
    const std::array variables = {&deep.a, &deep.b, &deep.c, &deep.d, &deep.e, &deep.f};
    const std::array copies = {&shown.a, &shown.b, &shown.c, &shown.d, &shown.e, &shown.f};
    for (std::size_t i = 0; i < variables.size(); ++i) {
        *variables[i] += 100;
        const std::uint64_t bits = deep.sync_var_dirty_bits();
        CHECK(bits == std::uint64_t{1} << i);
        CHECK((seen & bits) == 0);
        seen |= bits;
        game.tick();
        for (std::size_t other = 0; other < variables.size(); ++other) {
            CHECK(copies[other]->get() == variables[other]->get());
        }
    }
    CHECK(std::popcount(seen) == 6);
}

class Crowded : public NetworkBehaviour {
  public:
    SyncVar<bool> flag;
};

TEST_CASE("A 65th SyncVar is refused, and the error names it", "[behaviours]") {
    NetworkTypes types;
    BehaviourBuilder<Crowded> builder(types, "Crowded");
    for (int i = 0; i < 64; ++i) {
        builder.sync_var<&Crowded::flag>("flag" + std::to_string(i));
    }
    builder.sync_var<&Crowded::flag>("the_last_straw");
    const auto refused = builder.build();
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::LimitExceeded);
    CHECK(refused.error().message.find("\"the_last_straw\"") != std::string::npos);
    CHECK(refused.error().message.find("64") != std::string::npos);
}

TEST_CASE("Validation: what a sync interval holds back is no forgotten mark", "[behaviours]") {
    ArenaOptions options;
    options.fighter.sync_interval_us = 500'000;
    ArenaGame game(options);
    NetworkIdentity& pawn = game.join_with(game.types().pawn());
    const auto& stats = game.server().driver().stats();
    Fighter& fighter = pawn.component<Fighter>(0);
    for (int i = 1; i <= 90; ++i) {
        fighter.health = i;
        fighter.name = std::to_string(i);
        game.tick();
    }
    game.tick(30);
    CHECK(game.fighter_on(0, pawn).health == 90);
    CHECK(stats.replication.marks_missed == 0);
}

}  // namespace
}  // namespace replayout::test
