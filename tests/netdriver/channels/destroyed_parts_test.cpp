// SPDX-License-Identifier: MIT
//
// Parts that an object makes itself, at both ends, and that are destroyed: every client that has
// the object is told, whether it saw the part or not, and whenever it comes.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"
#include "support/worlds/tank_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] Bytes parts_message(const std::vector<std::string>& names) {
    return written([&](BitWriter& writer) {
        writer.write_bits(2, 8);
        for (const std::string& name : names) {
            writer.write_packed_uint(name.size());
            for (const char character : name) {
                writer.write_bits(static_cast<unsigned char>(character), 8);
            }
        }
    });
}

}  // namespace

TEST_CASE("Destroyed parts: who joins later is told behind the open of their outer",
          "[netdriver][subobjects]") {
    TankGame game;
    const std::size_t witness = game.join();
    const ObjectHandle tank = game.add_tank();
    game.add_part(tank, "gun");
    game.add_part(tank, "hatch");
    REQUIRE(game.settle());
    game.destroy_part(tank, "gun");
    REQUIRE(game.settle());
    CHECK(game.client(witness).world.told.empty());  // by the close of its channel
    CHECK(game.parts_on(witness, tank) == Names{"hatch", "left track", "right track"});

    const std::size_t late = game.join();
    while (game.find_on(late, tank).is_null()) {
        game.tick();
    }
    CHECK(game.client(late).world.told == std::vector<std::string>{"gun"});  // in the same packet
    REQUIRE(game.settle());
    CHECK(game.parts_on(late, tank) == Names{"hatch", "left track", "right track"});
    CHECK(game.client(late).driver.initial_batch().is_finished);
}

TEST_CASE("Destroyed parts: so is who is not shown the part, or sees the outer again",
          "[netdriver][subobjects]") {
    TankGame game(bad_tank_link());
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    NetDriver& driver = game.server();
    game.add_part(tank, "gun", LifetimeCondition::OwnerOnly);
    game.add_part(tank, "hatch");
    REQUIRE(game.settle());
    CHECK(game.parts_on(client, tank) == made_parts);
    game.destroy_part(tank, "gun");
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun"});

    driver.interest().set_relevant_for(TankGame::peer_of(client), game.id_of(tank), false);
    REQUIRE(game.settle());
    game.destroy_part(tank, "hatch");
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told.size() == 1);
    driver.interest().set_relevant_for(TankGame::peer_of(client), game.id_of(tank), true);
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun", "gun", "hatch"});
    CHECK(game.parts_on(client, tank) == Names{"left track", "right track"});
}

TEST_CASE("Destroyed parts: of an outer that sleeps it is told when that wakes",
          "[netdriver][subobjects][dormancy]") {
    TankGame game;
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    NetDriver& driver = game.server();
    game.add_part(tank, "gun");
    game.add_part(tank, "hatch", LifetimeCondition::OwnerOnly);
    REQUIRE(game.settle());
    driver.set_dormancy(game.id_of(tank), NetDormancy::DormantAll);
    game.tick(50);
    REQUIRE(driver.is_dormant_for(TankGame::peer_of(client), game.id_of(tank)));
    game.destroy_part(tank, "gun");    // goes at once, as any dormant object
    game.destroy_part(tank, "hatch");  // was not shown
    game.tick(50);
    CHECK(game.parts_on(client, tank) == Names{"hatch", "left track", "right track"});
    CHECK(driver.is_settled());

    const std::size_t late = game.join();  // is sent what sleeps, and told with it
    game.tick(100);
    CHECK(game.parts_on(late, tank) == Names{"left track", "right track"});
    CHECK(driver.is_dormant_for(TankGame::peer_of(late), game.id_of(tank)));
    CHECK(game.client(client).world.told.empty());

    driver.flush_dormancy(game.id_of(tank));
    game.tick(50);
    CHECK(game.parts_on(client, tank) == Names{"left track", "right track"});
    CHECK(driver.is_dormant_for(TankGame::peer_of(client), game.id_of(tank)));
}

TEST_CASE("Destroyed parts: torn off, an object is told of them first", "[netdriver][subobjects]") {
    TankGame game;
    const std::size_t client = game.join();
    const ObjectHandle tank = game.add_tank();
    game.add_part(tank, "gun", LifetimeCondition::OwnerOnly);
    REQUIRE(game.settle());
    game.destroy_part(tank, "gun");
    game.server().tear_off(game.id_of(tank));
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told == std::vector<std::string>{"gun"});
    CHECK(game.server().object_count() == 0);
}

TEST_CASE("Destroyed parts: a name that is given again is told no more",
          "[netdriver][subobjects]") {
    TankGame game;
    const ObjectHandle tank = game.add_tank();
    for (const std::string& name : made_parts) {
        game.add_part(tank, name);
        game.destroy_part(tank, name);
    }
    game.add_part(tank, "hatch");
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told ==
          std::vector<std::string>{"gun", "left track", "right track"});
    CHECK(game.parts_on(client, tank) == Names{"hatch"});
}

TEST_CASE("Destroyed parts: one that is made again waits until the old one is gone",
          "[netdriver][subobjects]") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        INFO("seed " << seed);
        TankGame game(bad_tank_link(), seed);
        const std::size_t client = game.join();
        const ObjectHandle tank = game.add_tank();
        game.add_part(tank, "gun");
        REQUIRE(game.settle());
        for (std::uint32_t i = 0; i < 10; ++i) {
            game.destroy_part(tank, "gun");
            (void)game.add_tank();  // takes the slot, so that the next gun has another channel
            game.add_part(tank, "gun");
            game.world().at(game.world().part(tank, "gun")).hp = static_cast<std::int32_t>(i);
            game.tick(1 + i);
        }
        REQUIRE(game.settle());
        CHECK(game.parts_on(client, tank) == made_parts);
        const ObjectHandle shown = game.find_on(client, tank);
        const TankWorld& world = game.client(client).world;
        CHECK(game.client(client).world.at(world.part(shown, "gun")).hp == 9);
        CHECK(game.client(client).world.told.empty());
    }
}

TEST_CASE("Destroyed parts: a notice that comes behind the same name again takes nothing",
          "[netdriver][subobjects]") {
    const LogSpy log;
    ForgedServer server;
    server.welcome_with_pawn();
    server.deliver_packet({open_bunch(
        2, NetGUID{2}, TestSchema::pawn_number, (1u << 9) | (1u << 4), [](BitWriter& writer) {
            writer.write_packed_uint(1);
            writer.write_packed_uint(3);
            for (const char character : {'g', 'u', 'n'}) {
                writer.write_bits(static_cast<unsigned char>(character), 8);
            }
        })});
    REQUIRE_FALSE(server.object_on(2).is_null());
    server.deliver_packet({message_bunch(1, 2, parts_message({"gun", "hatch"}))});
    CHECK(server.is_joined());
    CHECK(server.world().destroyed_parts == std::vector<std::string>{"hatch"});
    server.deliver_packet({close_bunch(2, 2)});
    server.deliver_packet({message_bunch(1, 3, parts_message({"gun"}))});
    CHECK(server.world().destroyed_parts == std::vector<std::string>{"hatch", "gun"});
}

TEST_CASE("Hostile: a notice of destroyed parts is all names, or nothing of it is told",
          "[netdriver][hostile][subobjects]") {
    ForgedServer server;
    server.welcome();
    SECTION("of none") {
        server.open(1, TestSchema::pawn_number);
        server.deliver_packet({message_bunch(1, 2, parts_message({}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    SECTION("with one that is none behind one that is") {
        server.open(1, TestSchema::pawn_number);
        const std::string bad = GENERATE(std::string(), std::string(97, 'x'), std::string("\xFF"));
        server.deliver_packet({message_bunch(1, 2, parts_message({"gun", bad}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    SECTION("of an object that was refused") {
        const LogSpy log;
        server.world().refused_layout = &TestSchema::get().pawn();
        server.deliver_packet({open_bunch(1, NetGUID{1}, TestSchema::pawn_number)});
        server.deliver_packet({message_bunch(1, 2, parts_message({"gun"}))});
        CHECK(server.is_joined());
    }
    SECTION("of none that is there") {
        server.deliver_packet({message_bunch(1, 1, parts_message({"gun"}))});
        CHECK(server.driver().close_reason() == CloseReason::MalformedBunch);
    }
    CHECK(server.world().destroyed_parts.empty());
}

TEST_CASE("Destroyed parts: any number is told, and their number is bounded",
          "[netdriver][subobjects]") {
    constexpr int count = 3'000;
    const LogSpy log;
    NetConfig config;
    config.destroyed_names_max = count;
    TankGame game(bad_tank_link(), 1, config);
    const ObjectHandle tank = game.add_tank();
    const ObjectHandle other = game.add_tank();
    for (int i = 0; i < count; ++i) {
        const std::string name = "bolt " + std::to_string(i);
        game.add_part(i % 2 == 0 ? tank : other, name);
        game.destroy_part(i % 2 == 0 ? tank : other, name);
    }
    game.add_part(tank, "gun");
    CHECK(LogSpy::messages().empty());
    game.destroy_part(tank, "gun");  // one too many
    CHECK(LogSpy::messages().size() == 1);
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    CHECK(game.client(client).world.told.size() == count);
    CHECK(game.client(client).driver.initial_batch().is_finished);
    game.remove_tank(other);  // takes its names along
    game.add_part(tank, "hatch");
    game.destroy_part(tank, "hatch");
    CHECK(LogSpy::messages().size() == 1);
    REQUIRE(game.settle());
}

}  // namespace replayout::test
