// SPDX-License-Identifier: MIT
//
// An object that is torn off goes, whatever cannot be sent of it any more.
#include <replayout/netdriver/net_driver.h>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/types/guard_types.h"
#include "support/worlds/class_game.h"

namespace replayout::test {

TEST_CASE("Tear-off: a value that cannot be written does not keep the object",
          "[netdriver][spawn]") {
    const LogSpy log;
    ClassGame<Guard> game(build_guard);
    (void)game.join();
    REQUIRE(game.settle());
    const ObjectHandle guard = game.add();
    REQUIRE(game.settle());
    game.object(guard).last.stamp = 4;
    game.object(guard).last.is_broken = true;
    game.object(guard).health = 3;
    game.driver().tear_off(game.id_of(guard));
    REQUIRE(game.settle());
    CHECK(game.driver().object_count() == 0);
}

TEST_CASE("Tear-off: a value that waits for what is out of sight does not keep the object",
          "[netdriver][spawn]") {
    ClassGame<Guard> game(build_guard);
    (void)game.join();
    REQUIRE(game.settle());
    const ObjectHandle guard = game.add();
    const ObjectHandle holder = game.add();
    game.driver().interest().set_relevant_for(ClassGame<Guard>::peer_of(0), game.id_of(holder),
                                              false);
    REQUIRE(game.settle());
    game.object(guard).leash.holder = holder;
    game.object(guard).leash.tag = "x";
    game.driver().tear_off(game.id_of(guard));
    REQUIRE(game.settle());
    CHECK(game.driver().object_count() == 1);
}

}  // namespace replayout::test
