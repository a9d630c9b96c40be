// SPDX-License-Identifier: MIT
//
// Behaviours that serialize themselves: on_serialize() and on_deserialize().
#include <replayout/behaviours/network_behaviour.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/executors.h"
#include "support/checks/log_spy.h"
#include "support/checks/marked_bytes.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

constexpr std::size_t scroll = 0;
constexpr std::size_t bag = 1;
constexpr std::size_t sealed = 2;
constexpr std::size_t owners = 3;

[[nodiscard]] Scroll& scroll_on(BagGame& game, std::size_t client, const NetworkIdentity& shelf,
                                std::size_t component = scroll) {
    NetworkIdentity* shown = game.on_client(client, shelf);
    REQUIRE(shown != nullptr);
    if (component == sealed) {
        return shown->component<SealedScroll>(component);
    }
    return shown->component<Scroll>(component);
}

TEST_CASE("Custom serialization: all at first, then what the mask says", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& shelf = game.server().instantiate(game.shelf());
    Scroll& server = shelf.component<Scroll>(scroll);
    server.text = "once";
    REQUIRE(game.server().spawn(shelf));
    game.settle();
    Scroll& shown = scroll_on(game, 0, shelf);
    CHECK(shown.text == "once");
    CHECK(shown.initial_read_count == 1);
    CHECK(shown.read_count == 0);

    server.turn_to(7);
    CHECK(server.sync_var_dirty_bits() == 1);
    game.settle();
    CHECK(server.sync_var_dirty_bits() == 0);
    CHECK(shown.page == 7);
    CHECK(shown.read_count == 1);
    CHECK(server.write_count == 1);
    server.turn_to(8);
    server.write("upon");
    game.settle();
    CHECK(shown.page == 8);
    CHECK(shown.text == "upon");
    CHECK(server.write_count == 2);
    CHECK(shown.initial_read_count == 1);
}

TEST_CASE("U02 Custom serialization: of what is not dirty nothing is written, nor sent",
          "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.join_with(game.shelf());
    game.tick(100);
    const Scroll& server = shelf.component<Scroll>(scroll);
    const std::uint64_t blocks = game.server().driver().stats().replication.blocks_sent;
    const std::uint32_t initial = server.initial_write_count;
    game.tick(100);
    CHECK(server.write_count == 0);
    CHECK(server.initial_write_count == initial);
    CHECK(game.server().driver().stats().replication.blocks_sent == blocks);
    // Bits that no data belongs to are the game's own: the section is asked for, and sent.
    shelf.component<Scroll>(scroll).set_dirty_bit(0x80);
    game.settle();
    CHECK(server.write_count == 1);
}

TEST_CASE("Custom serialization: false keeps the mask, and changes accumulate", "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.join_with(game.shelf());
    Scroll& server = shelf.component<Scroll>(scroll);
    server.is_accumulating = true;
    server.turn_to(1);
    game.tick(5);
    CHECK(server.sync_var_dirty_bits() == 1);
    server.write("more");
    game.tick(5);
    CHECK(server.sync_var_dirty_bits() == 3);
    CHECK(scroll_on(game, 0, shelf).read_count == 0);
    server.is_accumulating = false;
    game.settle();
    CHECK(server.sync_var_dirty_bits() == 0);
    CHECK(scroll_on(game, 0, shelf).read_count == 1);
    CHECK(scroll_on(game, 0, shelf).page == 1);
    CHECK(scroll_on(game, 0, shelf).text == "more");
}

TEST_CASE("Custom serialization: one section in a tick, however many observers there are",
          "[behaviours]") {
    const SharingLevel sharing = GENERATE(SharingLevel::Bundles, SharingLevel::Off);
    for (const std::size_t clients : {1u, 4u, 16u}) {
        BagOptions options;
        options.sharing = sharing;
        options.is_validating = clients == 4;
        BagGame game(options);
        for (std::size_t i = 0; i < clients; ++i) {
            game.join();
        }
        game.settle();
        // All of them are shown it in one flush.
        NetworkIdentity& shelf = game.spawn(game.shelf(), &game.connection(0));
        game.settle();
        Scroll& server = shelf.component<Scroll>(scroll);
        CHECK(server.initial_write_count == 1);
        CHECK(shelf.component<Scroll>(owners).initial_write_count == 1);
        for (std::int32_t i = 1; i <= 10; ++i) {
            server.turn_to(i);
            shelf.component<Scroll>(owners).turn_to(i);
            game.tick();
        }
        game.settle();
        CHECK(server.write_count == 10);
        CHECK(shelf.component<Scroll>(owners).write_count == 10);
        CHECK(server.initial_write_count == 1);
        for (std::size_t i = 0; i < clients; ++i) {
            CHECK(scroll_on(game, i, shelf).page == 10);
            CHECK(scroll_on(game, i, shelf).read_count == 10);
            CHECK(scroll_on(game, i, shelf, owners).page == (i == 0 ? 10 : 0));
        }
    }
}

TEST_CASE("Custom serialization: what the initial section says is not said again", "[behaviours]") {
    BagOptions options;
    options.link.latency_ms = 30;
    options.link.loss = 0.3;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        options.seed = seed;
        BagGame game(options);
        game.join_settled();
        NetworkIdentity& shelf = game.spawn(game.shelf());
        Scroll& server = shelf.component<Scroll>(scroll);
        game.tick(static_cast<std::uint32_t>(seed % 4));
        for (std::int32_t i = 1; i <= 8; ++i) {
            server.turn_to(i);
            game.tick();
        }
        game.settle();
        // Each section that came was of a page behind that of the initial one.
        const Scroll& shown = scroll_on(game, 0, shelf);
        CHECK(shown.page == 8);
        CHECK(shown.first_page + static_cast<std::int32_t>(shown.read_count) == 8);
    }
}

TEST_CASE("Custom serialization: without observers nothing is written", "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.spawn(game.shelf());
    Scroll& server = shelf.component<Scroll>(scroll);
    server.turn_to(3);
    game.tick(3);
    CHECK(server.write_count == 0);
    CHECK(server.initial_write_count == 0);
    CHECK(server.sync_var_dirty_bits() == 0);
    game.join_settled();
    CHECK(scroll_on(game, 0, shelf).page == 3);
}

TEST_CASE("Custom serialization: who writes may change other objects meanwhile", "[behaviours]") {
    BagGame game;
    game.join();
    std::vector<NetworkIdentity*> shelves;
    for (std::int32_t i = 0; i < 20; ++i) {
        shelves.push_back(&game.spawn(game.shelf()));
    }
    game.settle();
    shelves[0]->component<Scroll>(scroll).during_write = [&] {
        for (NetworkIdentity* shelf : shelves) {
            shelf->component<Bag>(bag).numbers.add(1);
            shelf->component<SealedScroll>(sealed).write("told");
        }
    };
    shelves[0]->component<Scroll>(scroll).turn_to(1);
    game.settle();
    for (const NetworkIdentity* shelf : shelves) {
        CHECK(game.bag_on(0, *shelf, bag).numbers.items() == std::vector{1});
        CHECK(scroll_on(game, 0, *shelf, sealed).text == "told");
    }
}

TEST_CASE("U13 Custom serialization: that of a base, by a class that adds to it", "[behaviours]") {
    BagGame game;
    game.join();
    NetworkIdentity& shelf = game.server().instantiate(game.shelf());
    auto& server = shelf.component<SealedScroll>(sealed);
    server.seal = 5;
    server.page = 2;
    REQUIRE(game.server().spawn(shelf));
    game.settle();
    auto& shown = game.on_client(0, shelf)->component<SealedScroll>(sealed);
    CHECK(shown.seal == 5);
    CHECK(shown.page == 2);
    server.seal = 6;
    server.write("sealed");
    game.settle();
    CHECK(shown.seal == 6);
    CHECK(shown.text == "sealed");
}

class Character : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> level;
};
class Knight : public Character {
  public:
    SyncVar<std::string> oath;
};
class Hero : public Knight {
  public:
    bool on_serialize(NetworkWriter&, bool) override { return true; }
};

TEST_CASE("U13 SyncVar: those of a base and of its class come and go together", "[behaviours]") {
    NetworkTypes types;
    const auto character =
        BehaviourBuilder<Character>(types, "Character").sync_var<&Character::level>().build();
    const auto knight = BehaviourBuilder<Knight>(types, "Knight")
                            .base<Character>()
                            .sync_var<&Knight::oath>()
                            .build();
    REQUIRE(knight.has_value());
    REQUIRE((*knight)->sync_vars.size() == 2);
    CHECK((*knight)->sync_vars[0].property.name == "level");
    CHECK((*knight)->sync_vars[1].property.name == "oath");
}

TEST_CASE("Custom serialization: a class that has SyncVars is refused, its bases' included",
          "[behaviours]") {
    NetworkTypes types;
    const auto both = BehaviourBuilder<Character>(types, "Character")
                          .sync_var<&Character::level>()
                          .custom_serialization()
                          .build();
    REQUIRE_FALSE(both.has_value());
    CHECK(both.error().message.find("\"Character\"") != std::string::npos);
    CHECK(both.error().message.find("\"level\"") != std::string::npos);
    REQUIRE(BehaviourBuilder<Character>(types, "Character")
                .sync_var<&Character::level>()
                .build()
                .has_value());
    REQUIRE(BehaviourBuilder<Knight>(types, "Knight").base<Character>().build().has_value());
    const auto hero =
        BehaviourBuilder<Hero>(types, "Hero").base<Knight>().custom_serialization().build();
    CHECK_FALSE(hero.has_value());
}

TEST_CASE("U06 Custom serialization: a misread does not touch its neighbours, and is reported",
          "[behaviours]") {
    for (const std::int32_t misread : {-1, 1, 42, 250, 100'000}) {
        INFO("misread by " << misread);
        BagGame game;
        NetworkIdentity& shelf = game.join_with(game.shelf());
        const LogSpy log;
        scroll_on(game, 0, shelf).misread_by = misread;
        shelf.component<Scroll>(scroll).write(std::string(300, 'x'));
        shelf.component<Bag>(bag).numbers.add(5);
        shelf.component<SealedScroll>(sealed).seal = 9;
        shelf.component<SealedScroll>(sealed).write("right");
        game.settle();
        CHECK(game.bag_on(0, shelf, bag).numbers.items() == std::vector{5});
        CHECK(scroll_on(game, 0, shelf, sealed).text == "right");
        CHECK(game.on_client(0, shelf)->component<SealedScroll>(sealed).seal == 9);
        REQUIRE(LogSpy::messages().size() == 1);
        CHECK(LogSpy::messages()[0].find("\"Scroll\" (component 0)") != std::string::npos);
        if (misread < 0) {
            CHECK(LogSpy::messages()[0].find(" bytes left") != std::string::npos);
        } else if (misread > 1'000) {
            CHECK(LogSpy::messages()[0].find(to_string(UNetError::EndOfBytes)) !=
                  std::string::npos);
        }
        CHECK(game.client(0).counters().sections_misread == 1);
        // Behind it all is as it should be.
        scroll_on(game, 0, shelf).misread_by = 0;
        shelf.component<Scroll>(scroll).write("again");
        game.settle();
        CHECK(scroll_on(game, 0, shelf).text == "again");
    }
}

TEST_CASE("U06 Custom serialization: a misread initial section does not touch its neighbours",
          "[behaviours]") {
    BagGame game;
    const LogSpy log;
    game.on_made = [](NetworkIdentity& made) { made.component<Scroll>(scroll).misread_by = 2; };
    NetworkIdentity& shelf = game.spawn(game.shelf());
    shelf.component<SealedScroll>(sealed).text = "right";
    shelf.component<Bag>(bag).numbers.add(5);
    game.join_settled();
    CHECK(game.bag_on(0, shelf, bag).numbers.items() == std::vector{5});
    CHECK(scroll_on(game, 0, shelf, sealed).text == "right");
    CHECK_FALSE(LogSpy::messages().empty());
}

TEST_CASE("U04 Custom serialization: what cannot be written stops nothing beside it",
          "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.join_with(game.shelf());
    const LogSpy log;
    shelf.component<Scroll>(scroll).write(std::string(40'000, 'x'));
    shelf.component<SealedScroll>(sealed).write("right");
    shelf.component<Bag>(bag).numbers.add(5);
    game.settle();
    CHECK(game.bag_on(0, shelf, bag).numbers.items() == std::vector{5});
    CHECK(scroll_on(game, 0, shelf, sealed).text == "right");
    CHECK(scroll_on(game, 0, shelf).text.empty());
    REQUIRE_FALSE(LogSpy::messages().empty());
    CHECK(LogSpy::messages()[0].find("\"Scroll\"") != std::string::npos);
    // Not a part of it either, which nobody could read.
    CHECK(scroll_on(game, 0, shelf).read_count == 0);
    CHECK(game.client(0).counters().sections_misread == 0);
    // Who joins is sent the others, too.
    game.join_settled();
    CHECK(scroll_on(game, 1, shelf, sealed).text == "right");
    CHECK(game.bag_on(1, shelf, bag).numbers.items() == std::vector{5});
    shelf.component<Scroll>(scroll).write("short");
    game.settle();
    CHECK(scroll_on(game, 0, shelf).text == "short");
    CHECK(scroll_on(game, 1, shelf).text == "short");
}

TEST_CASE("U04 Custom serialization: an initial section that cannot be written is told of once",
          "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.spawn(game.shelf());
    const LogSpy log;
    const auto join_again = [&] {
        game.join_settled();
        return LogSpy::messages().size();
    };
    shelf.component<Scroll>(scroll).text.assign(40'000, 'x');
    CHECK(join_again() == 1);
    CHECK(join_again() == 1);
    shelf.component<Scroll>(scroll).text = "short";
    CHECK(join_again() == 1);
    CHECK(scroll_on(game, 2, shelf).text == "short");
    shelf.component<Scroll>(scroll).text.assign(40'000, 'x');
    CHECK(join_again() == 2);
}

TEST_CASE("U06 Custom serialization: a reader that says so misread, though no byte is left",
          "[behaviours]") {
    BagGame game;
    NetworkIdentity& shelf = game.join_with(game.shelf());
    const LogSpy log;
    scroll_on(game, 0, shelf).is_refusing = true;
    shelf.component<Scroll>(scroll).write("unread");
    game.settle();
    CHECK(game.client(0).counters().sections_misread == 1);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("on_deserialize() says so") != std::string::npos);
}

TEST_CASE("Custom serialization: a section of the greatest size arrives", "[behaviours]") {
    BagOptions options;
    options.link.loss = 0.2;
    BagGame game(options);
    NetworkIdentity& shelf = game.join_with(game.shelf());
    shelf.component<Scroll>(scroll).write(std::string(32'700, 'x'));
    game.settle();
    CHECK(scroll_on(game, 0, shelf).text.size() == 32'700);
    game.join_settled();
    CHECK(scroll_on(game, 1, shelf).text.size() == 32'700);
}

TEST_CASE("U01 Custom serialization: what is for the owner reaches nobody else", "[behaviours]") {
    BagOptions options;
    options.is_keeping_datagrams = true;
    BagGame game(options);
    game.join_settled(2);
    NetworkIdentity& shelf = game.server().instantiate(game.shelf());
    Scroll& server = shelf.component<Scroll>(owners);
    server.text = MarkedValue{1, 1, 1}.text(2);
    REQUIRE(game.server().spawn(shelf, &game.connection(0)));
    game.settle();
    CHECK(scroll_on(game, 0, shelf, owners).text == server.text);
    server.write(MarkedValue{2, 2, 2}.text(2));
    game.settle();
    CHECK(scroll_on(game, 0, shelf, owners).text == server.text);
    CHECK(scroll_on(game, 1, shelf, owners).text.empty());
    std::uint32_t count = 0;
    for (const Datagram& datagram : game.transport().sent) {
        for_each_marked(datagram.bytes, [&](const MarkedValue&) {
            CHECK(datagram.peer == BagGame::peer_of(0));
            ++count;
        });
    }
    CHECK(count > 0);

    REQUIRE(game.server().remove_client_authority(shelf));
    REQUIRE(game.server().assign_client_authority(shelf, game.connection(1)));
    game.settle();
    CHECK(scroll_on(game, 1, shelf, owners).text == server.text);
}

TEST_CASE("Custom serialization: whatever is lost, every client ends with the server's",
          "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 12)) {
        INFO("REPLAYOUT_SEED=" << seed);
        std::vector<std::vector<Datagram>> sent;
        OrderedExecutor executor(3, JobOrder::Shuffled, seed);
        for (const std::uint32_t variant : {0u, 1u, 2u}) {
            BagOptions options;
            options.seed = seed;
            options.sharing = variant == 1 ? SharingLevel::Off : SharingLevel::Bundles;
            options.executor = variant == 2 ? &executor : nullptr;
            options.link.loss = 0.2;
            options.link.duplicate = 0.05;
            options.link.reorder = 0.1;
            options.link.reorder_ms = 60;
            options.link.latency_ms = 25;
            options.is_keeping_datagrams = true;
            options.config.calls_waiting_max = seed % 3 == 0 ? 4 : 1'024;
            BagGame game(options);
            SeededRandom random(seed);
            game.join();
            NetworkIdentity& shelf = game.spawn(game.shelf());
            for (std::uint32_t i = 0; i < 150; ++i) {
                for (const std::size_t component : {scroll, sealed}) {
                    Scroll& written = component == sealed ? shelf.component<SealedScroll>(sealed)
                                                          : shelf.component<Scroll>(scroll);
                    written.is_accumulating = random.percent(30);
                    if (random.percent(40)) {
                        written.turn_to(static_cast<std::int32_t>(random.below(1'000)));
                    }
                    if (random.percent(10)) {
                        written.write(std::string(random.below(200), 'w'));
                    }
                }
                const std::size_t client =
                    random.below(static_cast<std::uint32_t>(game.client_count()));
                if (random.percent(3) && game.client_count() < 6) {
                    game.join();
                } else if (random.percent(10) &&
                           game.server().find_connection(BagGame::peer_of(client)) != nullptr) {
                    game.show(client, shelf, random.percent(50));
                }
                game.tick();
            }
            for (std::size_t client = 0; client < game.client_count(); ++client) {
                game.show(client, shelf, true);
            }
            shelf.component<Scroll>(scroll).is_accumulating = false;
            shelf.component<SealedScroll>(sealed).is_accumulating = false;
            game.network().heal();
            game.settle();
            for (std::size_t client = 0; client < game.client_count(); ++client) {
                INFO("client " << client);
                for (const std::size_t component : {scroll, sealed}) {
                    const Scroll& server = component == sealed
                                               ? shelf.component<SealedScroll>(sealed)
                                               : shelf.component<Scroll>(scroll);
                    CHECK(scroll_on(game, client, shelf, component).page == server.page);
                    CHECK(scroll_on(game, client, shelf, component).text == server.text);
                }
            }
            sent.push_back(game.transport().sent);
        }
        CHECK(sent[0] == sent[1]);
        CHECK(sent[0] == sent[2]);
    }
}

/// Serializes itself, and has a collection beside it.
class CountedScroll : public Scroll {
  public:
    SyncList<std::int32_t> sums;
};

TEST_CASE("Custom serialization: where only a collection changed there is no section",
          "[behaviours]") {
    ArenaGame game({}, [](NetworkTypes& types) {
        const auto ledger = BehaviourBuilder<CountedScroll>(types, "Ledger")
                                .custom_serialization()
                                .sync_list<&CountedScroll::sums>()
                                .build();
        REQUIRE(ledger.has_value());
        REQUIRE(types.add_prefab("Ledger", {{*ledger}}).has_value());
    });
    game.join_settled();
    NetworkIdentity& object = game.spawn(game.types().find("Ledger"));
    game.settle();
    CountedScroll& server = object.component<CountedScroll>(0);
    const CountedScroll& shown = game.on_client(0, object)->component<CountedScroll>(0);
    server.sums.add(4);
    game.settle();
    CHECK(shown.sums.items() == std::vector{4});
    CHECK(server.write_count == 0);
    CHECK(shown.read_count == 0);
    server.turn_to(2);
    server.sums.add(5);
    game.settle();
    CHECK(shown.page == 2);
    CHECK(shown.sums.items() == std::vector{4, 5});
    CHECK(server.write_count == 1);
}

TEST_CASE("Custom serialization: of a component that its owner decides it is refused by name",
          "[behaviours]") {
    NetworkTypes types;
    const auto scroll_type =
        BehaviourBuilder<Scroll>(types, "Scroll").custom_serialization().build();
    REQUIRE(scroll_type.has_value());
    SyncSettings settings;
    settings.sync_direction = SyncDirection::ClientToServer;
    const auto prefab = types.add_prefab("Letter", {{*scroll_type, settings}});
    const Status frozen = prefab ? types.freeze() : Status(prefab.error());
    REQUIRE_FALSE(frozen.has_value());
    CHECK(frozen.error().code == ErrorCode::Unsupported);
    CHECK(frozen.error().message.find("\"Scroll\"") != std::string::npos);
}

TEST_CASE("Custom serialization: an owner for whom there is no room is sent the section later",
          "[behaviours]") {
    BagOptions options;
    options.config.calls_waiting_max = 1;
    BagGame game(options);
    game.join_settled();
    NetworkIdentity& shelf = game.spawn(game.shelf());
    shelf.component<Scroll>(owners).text = "for the owner";
    game.settle();
    LinkSettings dead;
    dead.loss = 1;
    game.network().set_settings(PeerId{1}, BagGame::peer_of(0), dead);
    shelf.component<Scroll>(scroll).turn_to(1);
    game.tick();
    REQUIRE(game.server().assign_client_authority(shelf, game.connection(0)));
    game.tick(10);
    game.network().heal();
    game.settle();
    game.tick(50);
    CHECK(scroll_on(game, 0, shelf, scroll).page == 1);
    CHECK(scroll_on(game, 0, shelf, owners).text == "for the owner");
}

}  // namespace
}  // namespace replayout::test
