// SPDX-License-Identifier: MIT
//
// Values too large for a packet that arrive before another bunch of their channel does: they wait
// for it at the client, and must not come to stand over what they became meanwhile.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <string>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/crate_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] bool has_object_message(const Bytes& datagram) {
    const auto packet = parse_packet(datagram);
    return packet.has_value() &&
           std::any_of(packet->bunches.begin(), packet->bunches.end(), [](const Bunch& bunch) {
               return bunch.header.is_message && !bunch.header.channel.is_control();
           });
}

/// A crate at one client, of which `say` makes the server send a message: it is lost, a large value
/// arrives before it, and then that value changes.
template <typename Say>
void play_overtaken(Say say) {
    ClassGameOptions options;
    options.config.packet_bytes_max = 256;
    CrateGame game(build_crate, options);
    game.join();
    const ObjectHandle crate = game.add();
    REQUIRE(game.settle());
    bool is_dropping = true;
    std::uint32_t dropped_count = 0;
    game.server_transport().set_script([&](Bytes& datagram) {
        const bool is_dropped = is_dropping && has_object_message(datagram);
        dropped_count += is_dropped ? 1u : 0u;
        return !is_dropped;
    });
    say(game, crate);
    game.tick();
    CHECK(dropped_count == 1);
    game.object(crate).content.assign(400, 'a');
    for (int i = 0; i < 10; ++i) {
        game.tick();
    }
    for (int i = 0; i < 10; ++i) {
        game.object(crate).content.assign(10, static_cast<char>('b' + i));
        game.tick();
    }
    is_dropping = false;
    REQUIRE(game.settle());
    CHECK(dropped_count > 1);
    CHECK(game.object_on(0, crate).content == game.object(crate).content);
}

}  // namespace

TEST_CASE("Value order: one that arrives before a change of its object's role is not applied late",
          "[netdriver][reliable]") {
    play_overtaken([](CrateGame& game, ObjectHandle crate) {
        game.driver().set_owner(game.id_of(crate), CrateGame::peer_of(0));
    });
}

TEST_CASE("Value order: nor one that arrives before word of a destroyed part",
          "[netdriver][reliable]") {
    play_overtaken([](CrateGame& game, ObjectHandle crate) {
        SubobjectParameters parameters;
        parameters.stable_name = "lid";
        parameters.condition = LifetimeCondition::OwnerOnly;  // the client does not have it
        game.remove(game.add_part(crate, parameters));
    });
}

}  // namespace replayout::test
