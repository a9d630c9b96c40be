// SPDX-License-Identifier: MIT
//
// Values too large for a packet for which there is no room: they wait as what they are, not as
// bytes, so who is not to have them any more is not sent them later.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include "value_turns.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/crate_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr std::uint32_t ticks_per_second = 50;

/// Filled with this, a value is found in a packet wherever in a byte it begins.
constexpr char marker = 'S';

[[nodiscard]] bool has_marker(const Bytes& datagram) {
    std::size_t run = 0;
    for (std::size_t i = 0; i < datagram.size() && run < 16; ++i) {
        const auto value = std::to_integer<unsigned>(datagram[i]);
        bool is_marker = false;
        for (unsigned shift = 0; shift < 8; ++shift) {
            const unsigned turned = (unsigned{marker} << shift | unsigned{marker} >> (8 - shift));
            is_marker = is_marker || value == (turned & 0xFF);
        }
        run = is_marker && (run == 0 || datagram[i] == datagram[i - 1]) ? run + 1 : 0;
    }
    return run >= 16;
}

template <typename Game>
[[nodiscard]] std::size_t packets_with_marker(Game& game, PeerId peer) {
    const auto& sent = game.server_transport().sent;
    return static_cast<std::size_t>(
        std::count_if(sent.begin(), sent.end(), [&](const Datagram& datagram) {
            return datagram.peer == peer && has_marker(datagram.bytes);
        }));
}

[[nodiscard]] ClassGameOptions large_values() {
    ClassGameOptions options;
    options.layout.limits.string_bytes_max = 60'000;
    return options;
}

/// So many crates that the client has, all of which but the last one get a large value.
struct Queue {
    Queue(CrateGame& of, std::size_t count, std::uint32_t cap) : game(of) {
        game.join();
        for (std::size_t i = 0; i < count; ++i) {
            crates.push_back(game.add());
        }
        REQUIRE(game.settle());
        set_cap(game, cap);
        game.server_transport().is_recording = true;
        for (const ObjectHandle crate : crates) {
            game.object(crate).content.assign(50'000, 'x');
        }
        game.object(crates.back()).content.assign(50'000, marker);
    }
    [[nodiscard]] NetObjectId last() const { return game.id_of(crates.back()); }
    /// Ticks until the client has one crate less.
    [[nodiscard]] std::uint32_t ticks_until_gone() {
        std::uint32_t ticks = 0;
        while (game.object_count_on(0) == crates.size() && ticks < 100) {
            game.tick();
            ++ticks;
        }
        return ticks;
    }

    CrateGame& game;
    std::vector<ObjectHandle> crates;
};

struct Safe {
    std::uint32_t tick = 0;
    std::string secret;
};

template <LifetimeCondition condition>
[[nodiscard]] Result<const Type*> build_safe_of(TypeRegistry& registry) {
    return class_builder<Safe>(registry, "Safe")
        .property<&Safe::tick>()
        .property<&Safe::secret>()
        .condition(condition)
        .build();
}
constexpr auto build_safe = &build_safe_of<LifetimeCondition::OwnerOnly>;

using SafeGame = ClassGame<Safe>;

/// One way to cease to see the secret, and back.
struct Sight {
    const char* name;
    Result<const Type*> (*build)(TypeRegistry&);
    std::function<void(SafeGame&, NetObjectId, bool)> show;
};

[[nodiscard]] std::vector<Sight> sights() {
    using C = LifetimeCondition;
    const PeerId peer = SafeGame::peer_of(0);
    return {
        {"owner", build_safe_of<C::OwnerOnly>,
         [peer](SafeGame& game, NetObjectId id, bool is_seen) {
             if (is_seen) {
                 game.driver().set_owner(id, peer);
             } else {
                 game.driver().clear_owner(id);
             }
         }},
        {"chosen", build_safe_of<C::Dynamic>,
         [](SafeGame& game, NetObjectId id, bool is_seen) {
             game.driver().set_dynamic_condition(id, "secret", is_seen ? C::None : C::Never);
         }},
        {"replay", build_safe_of<C::SkipReplay>,
         [peer](SafeGame& game, NetObjectId, bool is_seen) {
             game.driver().set_is_replay(peer, !is_seen);
         }},
        {"role", build_safe_of<C::AutonomousOnly>,
         [peer](SafeGame& game, NetObjectId id, bool is_seen) {
             game.driver().set_owner(id, peer);
             game.driver().set_autonomous(id, is_seen);
         }},
        {"physics", build_safe_of<C::SimulatedOrPhysics>,
         [peer](SafeGame& game, NetObjectId id, bool is_seen) {
             game.driver().set_owner(id, peer);
             game.driver().set_autonomous(id, true);
             game.driver().set_replicates_physics(id, is_seen);
         }},
    };
}

}  // namespace

TEST_CASE("Value turns: who waits has a turn in order, as many as there is room for",
          "[netdriver][reliable]") {
    ValueTurns turns(std::pmr::get_default_resource());
    CHECK(turns.may_go(ObjectIndex{7}));
    turns.wait(ObjectIndex{7}, 10);
    turns.wait(ObjectIndex{3}, 20);
    turns.wait(ObjectIndex{5}, 1);
    turns.wait(ObjectIndex{3}, 1);  // it waits already
    CHECK_FALSE(turns.may_go(ObjectIndex{9}));
    std::vector<std::uint32_t> begun;
    std::vector<std::uint32_t> ended;
    std::size_t begun_max = 100;
    const auto begin_round = [&](std::uint32_t room) {
        begun.clear();
        ended.clear();
        turns.begin_round(
            room, [&](ObjectIndex index) { ended.push_back(value_of(index)); },
            [&](ObjectIndex index) {
                begun.push_back(value_of(index));
                return begun.size() < begun_max;
            });
    };
    begin_round(0);
    CHECK(begun.empty());
    begin_round(12);
    CHECK((begun == std::vector<std::uint32_t>{7, 3}));
    CHECK(turns.may_go(ObjectIndex{7}));
    CHECK_FALSE(turns.may_go(ObjectIndex{5}));
    turns.leave(ObjectIndex{7});
    CHECK(turns.may_go(ObjectIndex{7}));  // another value of it
    turns.wait(ObjectIndex{3}, 20);       // it found no room
    CHECK_FALSE(turns.may_go(ObjectIndex{3}));
    CHECK_FALSE(turns.may_go(ObjectIndex{7}));
    begin_round(100);
    CHECK((ended == std::vector<std::uint32_t>{7, 3}));
    CHECK((begun == std::vector<std::uint32_t>{3}));  // alone, and before who came later
    turns.wait(ObjectIndex{4}, 1);
    turns.wait(ObjectIndex{2}, 1);
    begun_max = 2;
    begin_round(100);  // 3 did without, and in the turn of the second one there is no room
    CHECK((begun == std::vector<std::uint32_t>{5, 4}));
    CHECK(turns.may_go(ObjectIndex{5}));
    CHECK_FALSE(turns.may_go(ObjectIndex{4}));
    begun_max = 100;
    begin_round(100);  // 5 did without
    CHECK((begun == std::vector<std::uint32_t>{4, 2}));
    turns.leave(ObjectIndex{4});
    turns.leave(ObjectIndex{2});
    turns.wait(ObjectIndex{5}, 1);
    begin_round(1);
    CHECK((begun == std::vector<std::uint32_t>{5}));
    turns.leave(ObjectIndex{5});
    CHECK(turns.is_empty());
    CHECK(turns.may_go(ObjectIndex{9}));
}

TEST_CASE("Value turns: of an object that was hidden before its turn nothing goes out",
          "[netdriver][reliable]") {
    const std::uint32_t cap = GENERATE(0u, 8'000u);
    CAPTURE(cap);
    CrateGame game(build_crate, large_values());
    Queue queue(game, 20, cap);
    game.tick();
    game.driver().interest().set_relevant_for(CrateGame::peer_of(0), queue.last(), false);
    CHECK(queue.ticks_until_gone() < 50);
    CHECK(packets_with_marker(game, CrateGame::peer_of(0)) == 0);
}

TEST_CASE("Value turns: an object that is destroyed is not held up by values that wait",
          "[netdriver][reliable]") {
    CrateGame game(build_crate, large_values());
    Queue queue(game, 20, 8'000);
    game.tick();
    game.remove(queue.crates.back());
    CHECK(queue.ticks_until_gone() < 50);
}

TEST_CASE("Value turns: of an object that is hidden amid a large value the rest is not sent",
          "[netdriver][reliable]") {
    const double loss = GENERATE(0.0, 0.3);
    CAPTURE(loss);
    ClassGameOptions options = large_values();
    options.link.latency_ms = 40;
    CrateGame game(build_crate, options);
    Queue queue(game, 1, 8'000);
    LinkSettings link = options.link;
    link.loss = loss;
    game.network().set_settings(link);
    const PeerId peer = CrateGame::peer_of(0);
    std::uint32_t ticks = 0;
    while (packets_with_marker(game, peer) < 5) {
        REQUIRE(++ticks < 1'000);
        game.tick();
    }
    game.driver().interest().set_relevant_for(peer, queue.last(), false);
    CHECK(queue.ticks_until_gone() < 100);
    CHECK(packets_with_marker(game, peer) == 5);
    // And again: what was begun does not stand in the way of what comes.
    set_cap(game, 0);
    game.driver().interest().set_relevant_for(peer, queue.last(), true);
    REQUIRE(game.settle());
    CHECK(game.object_on(0, queue.crates.back()).content ==
          game.object(queue.crates.back()).content);
}

TEST_CASE("Value turns: who owned an object is not sent its owner's values later",
          "[netdriver][reliable]") {
    SafeGame game(build_safe, large_values());
    game.join();
    game.join();
    std::vector<ObjectHandle> safes;
    for (int i = 0; i < 20; ++i) {
        safes.push_back(game.add());
        game.driver().set_owner(game.id_of(safes.back()), SafeGame::peer_of(0));
    }
    REQUIRE(game.settle());
    game.driver().rates().set_bytes_per_second_max(SafeGame::peer_of(0), 8'000);
    game.server_transport().is_recording = true;
    for (const ObjectHandle safe : safes) {
        game.object(safe).secret.assign(30'000, safe == safes.back() ? marker : 'x');
    }
    game.tick();
    game.driver().set_owner(game.id_of(safes.back()), SafeGame::peer_of(1));
    game.driver().rates().set_bytes_per_second_max(SafeGame::peer_of(0), 0);
    REQUIRE(game.settle());
    CHECK(packets_with_marker(game, SafeGame::peer_of(0)) == 0);
    CHECK(packets_with_marker(game, SafeGame::peer_of(1)) > 20);
    CHECK(game.object_on(0, safes.back()).secret.empty());
    CHECK(game.object_on(1, safes.back()).secret == game.object(safes.back()).secret);
}

TEST_CASE("Value turns: who ceases to own an object amid its owner's value has no more of it",
          "[netdriver][reliable][conditions]") {
    const double loss = GENERATE(0.0, 0.3);
    const std::size_t packets_before = GENERATE(std::size_t{1}, std::size_t{5});
    CAPTURE(loss, packets_before);
    ClassGameOptions options = large_values();
    options.link.latency_ms = 40;
    SafeGame game(build_safe, options);
    game.join();
    game.join();
    const ObjectHandle safe = game.add();
    const NetObjectId id = game.id_of(safe);
    const PeerId first = SafeGame::peer_of(0);
    const PeerId second = SafeGame::peer_of(1);
    game.driver().set_owner(id, first);
    REQUIRE(game.settle());
    LinkSettings link = options.link;
    link.loss = loss;
    game.network().set_settings(link);
    game.driver().rates().set_bytes_per_second_max(first, 8'000);
    game.server_transport().is_recording = true;
    game.object(safe).secret.assign(30'000, marker);
    for (std::uint32_t ticks = 0; packets_with_marker(game, first) < packets_before; ++ticks) {
        REQUIRE(ticks < 1'000);
        game.tick();
    }
    game.driver().set_owner(id, second);
    game.driver().rates().set_bytes_per_second_max(first, 0);
    game.object(safe).tick = 7;  // what he may see goes on
    REQUIRE(game.settle());
    CHECK(packets_with_marker(game, first) == packets_before);
    CHECK(packets_with_marker(game, second) > 20);
    CHECK(game.object_on(0, safe).secret.empty());
    CHECK(game.object_on(0, safe).tick == 7);
    CHECK(game.object_on(1, safe).secret == game.object(safe).secret);
    CHECK(game.driver().stats().values_abandoned == 1);
    // Who owns it again has all of it.
    game.driver().set_owner(id, first);
    REQUIRE(game.settle());
    CHECK(game.object_on(0, safe).secret == game.object(safe).secret);
}

TEST_CASE("Value turns: however a client ceases to see a value, it has no more of it",
          "[netdriver][reliable][conditions]") {
    for (const Sight& sight : sights()) {
        INFO(sight.name);
        SafeGame game(sight.build, large_values());
        game.join();
        const ObjectHandle safe = game.add();
        const NetObjectId id = game.id_of(safe);
        const PeerId peer = SafeGame::peer_of(0);
        sight.show(game, id, true);
        REQUIRE(game.settle());
        game.driver().rates().set_bytes_per_second_max(peer, 8'000);
        game.server_transport().is_recording = true;
        game.object(safe).secret.assign(30'000, marker);
        while (packets_with_marker(game, peer) < 5) {
            game.tick();
        }
        sight.show(game, id, false);
        game.driver().rates().set_bytes_per_second_max(peer, 0);
        REQUIRE(game.settle());
        CHECK(packets_with_marker(game, peer) == 5);
        CHECK(game.object_on(0, safe).secret.empty());
        sight.show(game, id, true);
        REQUIRE(game.settle());
        CHECK(game.object_on(0, safe).secret == game.object(safe).secret);
    }
}

TEST_CASE(
    "Value turns: what is sent only at first arrives amid other conditions, if it may be seen",
    "[netdriver][reliable][conditions]") {
    using C = LifetimeCondition;
    const struct {
        C at_first;
        C amid;
        bool arrives;
    } cases[] = {
        {C::InitialOnly, C::Never, false},    {C::InitialOnly, C::OwnerOnly, false},
        {C::InitialOrOwner, C::Never, false}, {C::None, C::InitialOnly, true},
        {C::None, C::InitialOrOwner, true},   {C::InitialOnly, C::InitialOrOwner, true},
        {C::InitialOnly, C::SkipOwner, true},
    };
    for (const auto& test : cases) {
        CAPTURE(static_cast<int>(test.at_first), static_cast<int>(test.amid));
        ClassGameOptions options = large_values();
        options.config.bytes_per_second_max = 8'000;
        SafeGame game(build_safe_of<C::Dynamic>, options);
        const ObjectHandle safe = game.add();
        const NetObjectId id = game.id_of(safe);
        const PeerId peer = SafeGame::peer_of(0);
        game.driver().set_dynamic_condition(id, "secret", test.at_first);
        game.object(safe).secret.assign(30'000, marker);
        game.server_transport().is_recording = true;
        game.join();
        for (std::uint32_t ticks = 0; packets_with_marker(game, peer) < 5; ++ticks) {
            REQUIRE(ticks < 1'000);
            game.tick();
        }
        game.driver().set_dynamic_condition(id, "secret", test.amid);
        game.driver().rates().set_bytes_per_second_max(peer, 0);
        REQUIRE(game.settle());
        CHECK((packets_with_marker(game, peer) == 5) != test.arrives);
        CHECK((game.object_on(0, safe).secret == game.object(safe).secret) == test.arrives);
    }
}

TEST_CASE("Value turns: of who is closing no value is taken back from what came in its place",
          "[netdriver][reliable]") {
    NetFixture net;
    const ObjectHandle archive = net.add_archive();
    net.join_settled();
    net.archive(archive).pages[7].assign(20'000, 'x');
    net.tick();
    net.server_driver().disconnect(NetFixture::client_peer(0));
    net.remove(archive);
    const ObjectHandle other = net.add_marker();  // of fewer properties
    net.server_driver().set_owner(net.id_of(other), NetFixture::client_peer(0));
    net.server_driver().clear_owner(net.id_of(other));
    net.join();
    REQUIRE(net.tick_until([&] {
        return net.server_driver().connection_state(NetFixture::client_peer(1)) ==
               ConnectionState::Joined;
    }));
    net.tick(10);
    CHECK_FALSE(net.find_on(1, other).is_null());
}

TEST_CASE("Value turns: a value that was all sent to its owner arrives, and is not sent again",
          "[netdriver][reliable][conditions]") {
    const bool is_lost = GENERATE(false, true);
    const bool is_owner_again = GENERATE(false, true);
    CAPTURE(is_lost, is_owner_again);
    ClassGameOptions options = large_values();
    options.link.latency_ms = 100;
    SafeGame game(build_safe, options);
    game.join();
    const ObjectHandle safe = game.add();
    const NetObjectId id = game.id_of(safe);
    const PeerId peer = SafeGame::peer_of(0);
    game.driver().set_owner(id, peer);
    REQUIRE(game.settle());
    game.server_transport().is_recording = true;
    std::uint32_t sent_count = 0;
    game.server_transport().set_script(
        [&](Bytes&) { return !is_lost || ++sent_count != 2; });  // one in the middle
    game.object(safe).secret.assign(5'000, marker);
    game.tick();
    const std::size_t packets = packets_with_marker(game, peer);
    REQUIRE(packets >= 4);
    game.driver().clear_owner(id);
    game.object(safe).secret.assign(5'000, 'y');
    if (is_owner_again) {
        game.tick();
        game.driver().set_owner(id, peer);
    }
    REQUIRE(game.settle());
    CHECK(packets_with_marker(game, peer) == packets);
    CHECK(game.driver().stats().values_abandoned == (is_lost ? 1 : 0));
    const std::string& secret = game.object_on(0, safe).secret;
    if (is_owner_again) {
        CHECK(secret == game.object(safe).secret);
    } else {
        CHECK(secret == (is_lost ? std::string() : std::string(5'000, marker)));
    }
}

TEST_CASE("Value turns: under a cap, beside a flood of state, who came first has its turn first",
          "[netdriver][reliable][priority]") {
    CrateGame game(build_crate, large_values());
    game.join();
    std::vector<ObjectHandle> flood = add_many(60, [&] { return game.add(); });
    std::vector<ObjectHandle> large = add_many(8, [&] { return game.add(); });
    REQUIRE(game.settle());
    for (const ObjectHandle crate : large) {
        game.driver().rates().set_net_priority(game.id_of(crate), 0.0625f);
    }
    set_cap(game, 40'000);
    for (const ObjectHandle crate : large) {
        game.object(crate).content.assign(30'000, 'x');
    }
    std::vector<std::uint32_t> arrived(large.size(), 0);
    std::uint32_t tick = 0;
    while (std::count(arrived.begin(), arrived.end(), 0u) > 0) {
        REQUIRE(++tick < 120 * ticks_per_second);
        for (const ObjectHandle crate : flood) {
            fill(game.object(crate), tick, 200);
        }
        game.tick();
        for (std::size_t i = 0; i < large.size(); ++i) {
            if (arrived[i] == 0 && !game.object_on(0, large[i]).content.empty()) {
                arrived[i] = tick;
            }
        }
    }
    CAPTURE(arrived);
    CHECK(std::is_sorted(arrived.begin(), arrived.end()));
    // A quarter of the cap is theirs: 10,000 bytes a second.
    CHECK(arrived.back() - arrived.front() < 7 * 3 * ticks_per_second);
}

TEST_CASE("Value turns: what waits takes no memory, and is told as owed", "[netdriver][reliable]") {
    const auto play = [](std::size_t count, std::uint32_t cap, bool is_deaf) {
        ClassGameOptions options = large_values();
        options.config.timeout_ms = 60'000;
        CrateGame game(build_crate, options);
        Queue queue(game, count, cap);
        game.server_transport().is_recording = false;
        if (is_deaf) {
            game.server_transport().set_script([](Bytes&) { return false; });
        }
        std::size_t most = 0;
        for (std::uint32_t i = 0; i < 4 * ticks_per_second; ++i) {
            game.tick();
            most = std::max(most, game.driver().memory_report().in_flight_bytes);
        }
        const OwedUpdate owed = game.driver().rates().owed_to(CrateGame::peer_of(0), queue.last());
        CHECK(owed.reason == (cap > 0 ? OwedReason::NoBudget : OwedReason::WindowFull));
        return most;
    };
    CHECK(play(500, 1'800, false) <= 2 * play(20, 1'800, false));
    CHECK(play(500, 0, true) <= 2 * play(40, 0, true));
}

TEST_CASE("Value turns: while one object's value changes all the time the others have their turn",
          "[netdriver][reliable]") {
    const std::uint32_t cap = GENERATE(0u, 60'000u);
    CAPTURE(cap);
    ClassGameOptions options = large_values();
    options.link.latency_ms = 100;
    CrateGame game(build_crate, options);
    game.join();
    std::vector<ObjectHandle> crates = add_many(40, [&] { return game.add(); });
    REQUIRE(game.settle());
    set_cap(game, cap);
    for (const ObjectHandle crate : crates) {
        game.object(crate).content.assign(20'000, 'x');
    }
    for (std::uint32_t tick = 0; tick < 40 * ticks_per_second; ++tick) {
        for (std::size_t i = 0; i < 20; ++i) {
            fill(game.object(crates[i]), tick, 20'000);
        }
        game.tick();
    }
    for (std::size_t i = 20; i < crates.size(); ++i) {
        CHECK(game.object_on(0, crates[i]).content.size() == 20'000);
    }
}

TEST_CASE("Value turns: what a close ended counts at the other end until the close is there",
          "[netdriver][reliable]") {
    ClassGameOptions options = large_values();
    options.config.reliable_waiting_bytes_max = options.config.bunch_bytes_max;
    CrateGame game(build_crate, options);
    game.join();
    std::vector<ObjectHandle> crates = add_many(6, [&] { return game.add(); });
    REQUIRE(game.settle());
    set_cap(game, 100'000);
    bool is_dropping = true;
    game.server_transport().set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        const bool has_close =
            packet.has_value() &&
            std::any_of(packet->bunches.begin(), packet->bunches.end(),
                        [](const Bunch& bunch) { return bunch.header.is_close; });
        return !has_close || !is_dropping;
    });
    for (const ObjectHandle crate : crates) {
        game.object(crate).content.assign(50'000, 'x');
    }
    for (std::size_t i = 0; i + 1 < crates.size(); ++i) {
        for (int tick = 0; tick < 15; ++tick) {
            game.tick();
        }
        game.driver().interest().set_relevant_for(CrateGame::peer_of(0), game.id_of(crates[i]),
                                                  false);
    }
    for (int tick = 0; tick < 100; ++tick) {
        game.tick();
    }
    is_dropping = false;
    REQUIRE(game.settle());
    CHECK(game.driver().connection_count() == 1);
    CHECK(game.object_count_on(0) == 1);
    CHECK(game.object_on(0, crates.back()).content == game.object(crates.back()).content);
}

TEST_CASE("Value turns: small values that never end do not keep a large one from its turn",
          "[netdriver][reliable]") {
    ClassGameOptions options = large_values();
    options.link.latency_ms = 60;
    options.config.reliable_waiting_bytes_max = options.config.bunch_bytes_max;
    CrateGame game(build_crate, options);
    game.join();
    std::vector<ObjectHandle> crates = add_many(30, [&] { return game.add(); });
    const ObjectHandle large = game.add();
    REQUIRE(game.settle());
    game.object(large).content.assign(60'000, 'x');
    std::uint32_t tick = 0;
    while (game.object_on(0, large).content.empty()) {
        REQUIRE(++tick < 20 * ticks_per_second);
        for (const ObjectHandle crate : crates) {
            fill(game.object(crate), tick, 3'000);
        }
        game.tick();
    }
}

TEST_CASE("Value turns: the initial batch is not over before its large values are there",
          "[netdriver][reliable]") {
    CrateGame game(build_crate, large_values());
    std::vector<ObjectHandle> crates;
    for (int i = 0; i < 8; ++i) {
        crates.push_back(game.add());
        fill(game.object(crates.back()), 1, 20'000);
    }
    game.join();
    while (game.driver().connection_count() == 0) {
        game.tick();
    }
    set_cap(game, 40'000);
    for (std::uint32_t tick = 2; !game.client_driver(0).initial_batch().is_finished; ++tick) {
        REQUIRE(tick < 60 * ticks_per_second);
        for (const ObjectHandle crate : crates) {
            fill(game.object(crate), tick, 20'000);
        }
        game.tick();
    }
    for (const ObjectHandle crate : crates) {
        CHECK(game.object_on(0, crate).content.size() == 20'000);
    }
}

}  // namespace replayout::test
