// SPDX-License-Identifier: MIT
//
// Of several properties whose conditions are chosen at run time, who is sent which.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/worlds/class_game.h"

namespace replayout::test::dynamic_conditions_test {
namespace {

struct Beacon {
    std::int32_t plain = 0;
    std::int32_t code = 0;   // of condition Dynamic
    std::int32_t range = 0;  // likewise
};

[[nodiscard]] Result<const Type*> build_beacon(TypeRegistry& registry) {
    return class_builder<Beacon>(registry, "Beacon")
        .property<&Beacon::plain>()
        .property<&Beacon::code>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Beacon::range>()
        .condition(LifetimeCondition::Dynamic)
        .build();
}

}  // namespace

TEST_CASE("Conditions: choosing one Dynamic property sends that one alone",
          "[netdriver][conditions]") {
    ClassGame<Beacon> game(build_beacon);
    const std::size_t client = game.join();
    const ObjectHandle beacon = game.add();
    const NetObjectId id = game.id_of(beacon);
    game.driver().set_dynamic_condition(id, "code", LifetimeCondition::OwnerOnly);
    game.object(beacon) = {1, 1, 1};
    REQUIRE(game.settle());
    REQUIRE(game.object_on(client, beacon).code == 0);
    REQUIRE(game.object_on(client, beacon).range == 1);

    const std::uint64_t sent = game.driver().stats().replication.properties_sent;
    game.driver().set_dynamic_condition(id, "code", LifetimeCondition::SkipOwner);
    REQUIRE(game.settle());
    CHECK(game.object_on(client, beacon).code == 1);
    CHECK(game.driver().stats().replication.properties_sent - sent == 1);
}

}  // namespace replayout::test::dynamic_conditions_test
