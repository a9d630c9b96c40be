// SPDX-License-Identifier: MIT
//
// Scenarios of other libraries' test suites, by the number that docs/unity.md lists them under:
// those that are about bytes, sizes and fields. Those of collections, spawning and authority stand
// in the files of these.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

struct Report {
    std::string text;
};

/// A variable for each audience, large ones, and a remote function.
class Scout : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> everybody;
    SyncVar<std::int32_t> owner;
    SyncVar<std::int32_t> others;
    SyncVar<Vector3> place;
    SyncVar<std::string> notes;
    SyncVar<std::string> letter;
    SyncVar<std::string> diary;

    std::vector<std::size_t> heard;
    void rpc_report(const Report& report) { heard.push_back(report.text.size()); }
};

const auto add_scout = [](NetworkTypes& types) {
    REQUIRE(struct_builder<Report>(types.registry(), "Report")
                .property<&Report::text>()
                .build()
                .has_value());
    const auto scout = BehaviourBuilder<Scout>(types, "Scout")
                           .sync_var<&Scout::everybody>()
                           .sync_var<&Scout::owner>()
                           .sync_mode(SyncMode::Owner)
                           .sync_var<&Scout::others>()
                           .sync_mode(SyncMode::ExcludeOwner)
                           .sync_var<&Scout::place>()
                           .quantised(Quantisation::tenth())
                           .sync_var<&Scout::notes>()
                           .sync_var<&Scout::letter>()
                           .sync_var<&Scout::diary>()
                           .client_rpc<&Scout::rpc_report>()
                           .build();
    REQUIRE(scout.has_value());
    PrefabOptions options;
    options.limits.string_bytes_max = 20'000;
    SyncSettings slow;
    slow.sync_interval_us = 100'000;
    REQUIRE(types.add_prefab("Scout", {{*scout}}, options).has_value());
    REQUIRE(types.add_prefab("SlowScout", {{*scout, slow}}, options).has_value());
    REQUIRE(types.add_prefab("FullHouse", std::vector<PrefabComponent>(components_max, {*scout}))
                .has_value());
};

/// Bytes that the server sends in one tick, without packets' headers.
[[nodiscard]] std::size_t payload_of_tick(ArenaGame& game) {
    game.server_transport().sent.clear();
    game.server_transport().is_recording = true;
    game.tick();
    game.server_transport().is_recording = false;
    std::size_t bytes = 0;
    for (const Datagram& datagram : game.server_transport().sent) {
        const auto ack_words = 1 + (std::to_integer<std::size_t>(datagram.bytes[6]) & 7);
        bytes += datagram.bytes.size() - (7 + 4 * ack_words);
    }
    return bytes;
}

TEST_CASE("U05 NetworkTypes: the 65th component is refused by name", "[behaviours]") {
    NetworkTypes types;
    const auto purse = BehaviourBuilder<Purse>(types, "Purse").sync_var<&Purse::gold>().build();
    REQUIRE(purse.has_value());
    const std::vector<PrefabComponent> components(components_max + 1, PrefabComponent{*purse});
    const auto refused = types.add_prefab("Crowd", components);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::LimitExceeded);
    CHECK(refused.error().message == "prefab \"Crowd\": has more than 64 components");
    CHECK(types.add_prefab("Crowd", std::span(components).first(components_max)).has_value());
}

TEST_CASE("U10 NetworkIdentity: the set of what changed costs a byte for seven variables",
          "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("Scout"));
    // Channel and set of handles: two bytes, and the value: four.
    scout.component<Scout>(0).everybody = 1;
    CHECK(payload_of_tick(game) == 2 + 4);
    game.settle();
    scout.component<Scout>(0).set_dirty_bit(0x7F);
    CHECK(payload_of_tick(game) == 0);
}

TEST_CASE("U11 SyncVar: while deltas are lost each next one carries all that is missing",
          "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("Scout"));
    // UNet clears bits with a send; Mirror's hybrid keeps them up to the next baseline. Here what
    // was lost is owed again, by acknowledgement, and nothing else is repeated.
    game.server_transport().set_script([](Bytes&) { return false; });
    scout.component<Scout>(0).everybody = 1;
    game.tick(3);
    scout.component<Scout>(0).place = Vector3{1, 2, 3};
    game.tick(3);
    game.server_transport().set_script({});
    game.settle();
    const Scout& shown = game.on_client(0, scout)->component<Scout>(0);
    CHECK(shown.everybody == 1);
    CHECK(shown.place.get().z == 3.0f);
}

TEST_CASE("U12 SyncVar: a late joiner's initial state takes nothing from the deltas of others",
          "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("SlowScout"));
    game.tick(6);
    scout.component<Scout>(0).everybody = 1;
    game.tick();
    scout.component<Scout>(0).everybody = 2;  // not due yet
    game.join_settled();
    game.tick(6);
    for (std::size_t client : {0u, 1u}) {
        CHECK(game.on_client(client, scout)->component<Scout>(0).everybody == 2);
    }
}

TEST_CASE("U16 NetworkBehaviour: a call larger than a packet arrives whole", "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("Scout"));
    const Report report{std::string(15'000, 'x')};
    CHECK(scout.component<Scout>(0).call("rpc_report", &report) == CallResult::Sent);
    game.settle();
    CHECK(game.on_client(0, scout)->component<Scout>(0).heard == std::vector<std::size_t>{15'000});
}

TEST_CASE("U17 NetworkBehaviour: small, giant and small calls arrive in order", "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.2;
    options.link.reorder = 0.2;
    ArenaGame game(options, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("Scout"));
    std::vector<std::size_t> sizes;
    for (const std::size_t size : {1u, 12'000u, 2u, 9'000u, 3u}) {
        const Report report{std::string(size, 'x')};
        REQUIRE(scout.component<Scout>(0).call("rpc_report", &report) == CallResult::Sent);
        sizes.push_back(size);
    }
    game.settle();
    CHECK(game.on_client(0, scout)->component<Scout>(0).heard == sizes);
}

TEST_CASE("U15 NetworkBehaviour: a flood of reliable calls is refused visibly, and loses nothing",
          "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("Scout"));
    std::vector<std::size_t> accepted;
    bool was_full = false;
    for (std::size_t i = 0; i < 5'000; ++i) {
        const Report report{std::string(1 + i % 100, 'x')};
        const CallResult result = scout.component<Scout>(0).call("rpc_report", &report);
        if (result == CallResult::Sent) {
            accepted.push_back(report.text.size());
        }
        was_full = was_full || result == CallResult::Full;
    }
    CHECK(was_full);
    game.settle();
    CHECK(game.on_client(0, scout)->component<Scout>(0).heard == accepted);
}

TEST_CASE("U20 NetworkIdentity: an object larger than a packet is replicated", "[behaviours]") {
    ArenaGame game({}, add_scout);
    game.join();
    NetworkIdentity& scout = game.server().instantiate(game.types().find("Scout"));
    scout.component<Scout>(0).notes = std::string(900, 'n');
    scout.component<Scout>(0).letter = std::string(900, 'l');
    scout.component<Scout>(0).diary = std::string(15'000, 'd');
    REQUIRE(game.server().spawn(scout));
    game.settle();
    const Scout& shown = game.on_client(0, scout)->component<Scout>(0);
    CHECK(shown.notes.get().size() == 900);
    CHECK(shown.letter.get().size() == 900);
    CHECK(shown.diary.get().size() == 15'000);
}

TEST_CASE("U30 SyncVar: a reference can be read before its object is spawned", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    NetworkIdentity& target = game.server().instantiate(game.types().pawn());
    pawn.component<Fighter>(0).target = &target;
    CHECK(pawn.component<Fighter>(0).target.get() == &target);
    game.settle();
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).target.get() == nullptr);
    REQUIRE(game.server().spawn(target));
    game.settle();
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).target.get() == game.on_client(0, target));
    game.server().unspawn(target);
    game.settle();
    CHECK(game.on_client(0, pawn)->component<Fighter>(0).target.get() == nullptr);
}

TEST_CASE("U32 SyncVar: behind the initial batch hooks run at once", "[behaviours]") {
    ArenaGame game;
    game.join_settled();
    NetworkIdentity& pawn = game.spawn(game.types().pawn());
    game.settle();
    Fighter& shown = game.on_client(0, pawn)->component<Fighter>(0);
    shown.told.clear();
    pawn.component<Fighter>(0).health = 1;
    game.tick();
    game.tick();
    CHECK(shown.told == std::vector<std::string>{"health 100 -> 1"});
}

TEST_CASE("U34 SyncVar: the interval holds back also what is beyond its step", "[behaviours]") {
    ArenaGame game({}, add_scout);
    NetworkIdentity& scout = game.join_with(game.types().find("SlowScout"));
    game.tick(6);
    SyncVar<Vector3>& place = scout.component<Scout>(0).place;
    place = Vector3{1, 0, 0};
    game.tick(2);
    place = Vector3{1.01f, 0, 0};  // less than a step: never sent
    CHECK(payload_of_tick(game) == 0);
    place = Vector3{2, 0, 0};  // more, and not due
    CHECK(payload_of_tick(game) == 0);
    game.tick(5);
    CHECK(game.on_client(0, scout)->component<Scout>(0).place.get().x == 2.0f);
}

TEST_CASE("U65 NetworkIdentity: what does not change is not sent, and what does is, at 30 % loss",
          "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.3;
    options.link.latency_ms = 40;
    ArenaGame game(options, add_scout);
    game.join();
    std::vector<NetworkIdentity*> scouts;
    for (int i = 0; i < 20; ++i) {
        scouts.push_back(&game.spawn(game.types().find("Scout")));
    }
    game.settle();
    CHECK(payload_of_tick(game) == 0);
    scouts[7]->component<Scout>(0).everybody = 9;
    game.settle();
    for (const NetworkIdentity* scout : scouts) {
        CHECK(game.on_client(0, *scout)->component<Scout>(0).everybody ==
              (scout == scouts[7] ? 9 : 0));
    }
}

TEST_CASE("U66 SyncVar: variables for the owner, and for all but the owner", "[behaviours]") {
    ArenaGame game({}, add_scout);
    game.join_settled(2);
    NetworkIdentity& scout = game.spawn(game.types().find("Scout"), &game.connection(0));
    game.settle();
    scout.component<Scout>(0).everybody = 1;
    scout.component<Scout>(0).owner = 2;
    scout.component<Scout>(0).others = 3;
    game.settle();
    const Scout& of_owner = game.on_client(0, scout)->component<Scout>(0);
    const Scout& of_other = game.on_client(1, scout)->component<Scout>(0);
    CHECK((of_owner.everybody == 1 && of_owner.owner == 2 && of_owner.others == 0));
    CHECK((of_other.everybody == 1 && of_other.owner == 0 && of_other.others == 3));
}

TEST_CASE("U67 NetworkServer: sharing changes no byte", "[behaviours]") {
    const auto packets_of = [](SharingLevel sharing) {
        ArenaOptions options;
        options.sharing = sharing;
        options.link.loss = 0.1;
        ArenaGame game(options, add_scout);
        game.server_transport().is_recording = true;
        for (int i = 0; i < 4; ++i) {
            game.join();
        }
        game.settle();
        NetworkIdentity& scout = game.spawn(game.types().find("Scout"), &game.connection(0));
        NetworkIdentity& pawn = game.spawn(game.types().pawn(), &game.connection(1));
        for (int i = 0; i < 60; ++i) {
            scout.component<Scout>(0).everybody = i;
            scout.component<Scout>(0).others = i / 2;
            scout.component<Scout>(0).owner = i / 3;
            pawn.component<Fighter>(0).health -= 1;
            pawn.component<Purse>(1).secret = i;
            pawn.component<Fighter>(0).name = std::string(static_cast<std::size_t>(i) % 7, 'a');
            game.tick();
        }
        game.settle();
        return game.server_transport().sent;
    };
    const std::vector<Datagram> without = packets_of(SharingLevel::Off);
    CHECK(without.size() > 200);
    for (const SharingLevel sharing :
         {SharingLevel::Pieces, SharingLevel::Payloads, SharingLevel::Bundles}) {
        CHECK(packets_of(sharing) == without);
    }
}

}  // namespace
}  // namespace replayout::test
