// SPDX-License-Identifier: MIT
#include <replayout/behaviours/behaviour_reference.h>

#include <string>
#include <vector>

#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

class Gunner : public NetworkBehaviour {
  public:
    SyncVar<BehaviourReference> weapon;
    int told_count = 0;

    void on_weapon(const BehaviourReference&, const BehaviourReference&) { ++told_count; }
};

void add_gunner(NetworkTypes& types) {
    const auto gunner = BehaviourBuilder<Gunner>(types, "Gunner")
                            .sync_var<&Gunner::weapon, &Gunner::on_weapon>()
                            .build();
    REQUIRE(gunner.has_value());
    REQUIRE(types.add_prefab("Gunner", {{*gunner}}).has_value());
}

/// A client that sees a gunner, and what it may hold.
struct Armory {
    Armory() : game({}, add_gunner) {
        game.join();
        game.settle();
        gunner = &game.spawn(game.types().find("Gunner"));
        twins = &game.server().instantiate(game.types().twins());
    }
    [[nodiscard]] Gunner& server() { return gunner->component<Gunner>(0); }
    [[nodiscard]] const BehaviourReference& shown() {
        return game.on_client(0, *gunner)->component<Gunner>(0).weapon.get();
    }

    ArenaGame game;
    NetworkIdentity* gunner = nullptr;
    NetworkIdentity* twins = nullptr;
};

TEST_CASE(
    "BehaviourReference: it names one of two components of a class, as soon as they are there",
    "[behaviours]") {
    Armory armory;
    Fighter& second = armory.twins->component<Fighter>(1);
    armory.server().weapon = BehaviourReference(second);
    CHECK(armory.server().weapon->get<Fighter>() == &second);
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() == nullptr);
    REQUIRE(armory.game.server().spawn(*armory.twins));
    armory.game.settle();
    NetworkIdentity* shown = armory.game.on_client(0, *armory.twins);
    REQUIRE(shown != nullptr);
    CHECK(armory.shown().get<Fighter>() == &shown->component<Fighter>(1));

    armory.server().weapon = BehaviourReference(armory.twins->component<Fighter>(0));
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() == &shown->component<Fighter>(0));
    armory.server().weapon = BehaviourReference();
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() == nullptr);
}

TEST_CASE("BehaviourReference: it is null while its object is hidden, and heals by itself",
          "[behaviours]") {
    Armory armory;
    REQUIRE(armory.game.server().spawn(*armory.twins));
    armory.server().weapon = BehaviourReference(armory.twins->component<Fighter>(1));
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() != nullptr);
    armory.twins->set_visibility(Visibility::ForceHidden);
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() == nullptr);
    armory.twins->set_visibility(Visibility::Default);
    armory.game.settle();
    NetworkIdentity* shown = armory.game.on_client(0, *armory.twins);
    REQUIRE(shown != nullptr);
    CHECK(armory.shown().get<Fighter>() == &shown->component<Fighter>(1));
    armory.game.server().destroy(*armory.twins);
    armory.game.settle();
    CHECK(armory.shown().get<Fighter>() == nullptr);
}

TEST_CASE("BehaviourReference: of another class, or of no component, it is null", "[behaviours]") {
    Armory armory;
    REQUIRE(armory.game.server().spawn(*armory.twins));
    BehaviourReference reference(armory.twins->component<Fighter>(1));
    CHECK(reference.get<Purse>() == nullptr);
    CHECK(reference.get<Fighter>() != nullptr);
    reference.component = 200;  // as a hostile server may say
    armory.server().weapon = reference;
    armory.game.settle();
    CHECK(armory.shown().object == armory.game.on_client(0, *armory.twins));
    CHECK(armory.shown().get<Fighter>() == nullptr);
    CHECK(BehaviourReference().get<Fighter>() == nullptr);
}

}  // namespace
}  // namespace replayout::test
