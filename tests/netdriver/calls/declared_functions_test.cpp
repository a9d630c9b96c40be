// SPDX-License-Identifier: MIT
//
// Functions that are declared and have nothing to run: of another program's, which this one only
// calls.
#include <cstdint>

#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

struct Horn {
    std::uint32_t volume = 0;  // handle 1
    std::uint32_t honks = 0;

    void multicast_honk() { ++honks; }
    void server_honk() { ++honks; }
};

[[nodiscard]] Result<const Type*> build_horn(TypeRegistry& registry) {
    using F = FunctionFlags;
    return class_builder<Horn>(registry, "Horn")
        .property<&Horn::volume>()
        .function("multicast_beep", F::Multicast | F::Reliable)
        .function<&Horn::multicast_honk>(F::Multicast | F::Reliable)
        .function("server_press", F::Server | F::Reliable | F::WithValidation)
        .function<&Horn::server_honk>(F::Server | F::Reliable)
        .build();
}

}  // namespace

TEST_CASE("Remote functions: what has nothing to run is called all the same, and runs nothing",
          "[netdriver][rpc]") {
    ClassGame<Horn> game(build_horn);
    const ObjectHandle horn = game.add();
    CHECK(game.driver().call_function(game.id_of(horn), "multicast_beep") == CallResult::Ran);
    CHECK(game.driver().call_function(game.id_of(horn), "multicast_honk") == CallResult::Ran);
    CHECK(game.object(horn).honks == 1);
    const std::size_t client = game.join();
    game.driver().set_owner(game.id_of(horn), game.peer_of(client));
    REQUIRE(game.settle());
    SECTION("by the server") {
        CHECK(game.driver().call_function(game.id_of(horn), "multicast_beep") == CallResult::Sent);
        CHECK(game.driver().call_function(game.id_of(horn), "multicast_honk") == CallResult::Sent);
        REQUIRE(game.settle());
        CHECK(game.client_driver(client).stats().calls_run == 2);
        CHECK(game.object_on(client, horn).honks == 1);
        CHECK(game.object(horn).honks == 2);
    }
    SECTION("by its owner") {
        NetDriver& driver = game.client_driver(client);
        const ObjectHandle shown = game.handle_on(client, horn);
        CHECK(driver.call_function(shown, "server_press") == CallResult::Sent);
        CHECK(driver.call_function(shown, "server_honk") == CallResult::Sent);
        game.tick();
        REQUIRE(game.settle());
        CHECK(game.driver().stats().calls_run == 2);
        CHECK(game.object(horn).honks == 2);
        CHECK(game.driver().connection_count() == 1);
    }
}

}  // namespace replayout::test
