// SPDX-License-Identifier: MIT
//
// An Rpc that was accepted runs at each observer before its object goes there: destroyed,
// unspawned, hidden, or out of the interest of the client.
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/arena_game.h"
#include "support/worlds/ledger_game.h"

namespace replayout::test {
namespace {

using Told = std::vector<std::string>;

/// How an observer loses an object.
enum class End : std::uint8_t { Destroy, Unspawn, Hide, Interest };

void lose(ArenaGame& game, NetworkIdentity& object, End end) {
    switch (end) {
        case End::Destroy:
            game.server().destroy(object);
            return;
        case End::Unspawn:
            game.server().unspawn(object);
            return;
        case End::Hide:
            CHECK(game.server().hide_from(object, game.connection(0)));
            return;
        case End::Interest:
            object.set_interest_group(2);
            return;
    }
}

/// Writes itself.
class Scribe : public NetworkBehaviour {
  public:
    std::int32_t value = 7;

    static inline Told told;

    bool on_serialize(NetworkWriter& writer, bool) override {
        writer.write_int32(value);
        return true;
    }
    bool on_deserialize(NetworkReader& reader, bool) override {
        value = reader.read_int32();
        return true;
    }
    void rpc_say() {
        if (!is_server()) {
            told.push_back("call with " + std::to_string(value));
        }
    }
    void on_start_client() override { told.push_back("start with " + std::to_string(value)); }
    void on_stop_client() override { told.push_back("stop"); }
};

void add_scribe(NetworkTypes& types) {
    const auto scribe = BehaviourBuilder<Scribe>(types, "Scribe")
                            .custom_serialization()
                            .client_rpc<&Scribe::rpc_say>()
                            .build();
    REQUIRE(scribe.has_value());
    REQUIRE(types.add_prefab("ScribePrefab", {{*scribe}}).has_value());
}

}  // namespace

TEST_CASE(
    "Rpc then destroy: it runs first, however the observer loses the object, whatever is lost",
    "[behaviours]") {
    const End end = GENERATE(End::Destroy, End::Unspawn, End::Hide, End::Interest);
    const std::uint32_t ticks = GENERATE(0u, 1u);
    CAPTURE(static_cast<int>(end), ticks);
    ArenaOptions options;
    options.interest = {InterestKind::Team};
    options.link.loss = 0.2;
    options.link.latency_ms = 30;
    ArenaGame game(options, add_ledgers({}));
    game.join_settled();
    for (std::int32_t round = 1; round <= 10; ++round) {
        NetworkIdentity& object = game.spawn(game.types().find("Plain"));
        object.set_interest_group(0);
        game.settle();
        REQUIRE(game.on_client(0, object) != nullptr);
        Ledger& server = object.component<Ledger>(0);
        Ledger::last_told.clear();
        game.on_client(0, object)->component<Ledger>(0).told.clear();
        (void)server.list.add(round);
        CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Sent);
        game.tick(ticks);
        lose(game, object, end);
        if (end == End::Hide || end == End::Interest) {
            game.tick(end == End::Interest ? 1 : 0);  // a tick decides who sees it
            // What it becomes now is not for a client that lost it.
            server.value = round;
            (void)server.list.add(100 + round);
            CHECK(server.call<&Ledger::rpc_check>(counts_of(server)) == CallResult::Ran);
            game.tick();
        }
        game.settle();
        CHECK(Ledger::last_told == Told{"call 0," + std::to_string(round), "stop client"});
    }
    CHECK(game.server().driver().stats().calls_dropped == 0);
}

// The open goes out again after the object is gone: what the behaviour wrote last is kept.
TEST_CASE(
    "Rpc then destroy: a behaviour that writes itself arrives as it was, if its open was lost",
    "[behaviours]") {
    const End end = GENERATE(End::Destroy, End::Unspawn, End::Hide);
    CAPTURE(static_cast<int>(end));
    ArenaGame game({}, add_scribe);
    game.join_settled();
    game.server().set_client_ready(game.connection(0));
    game.settle();
    Scribe::told.clear();
    game.server_transport().set_script([](Bytes&) { return false; });
    NetworkIdentity& object = game.spawn(game.types().find("ScribePrefab"));
    game.tick();
    Scribe& scribe = object.component<Scribe>(0);
    scribe.value = 9;
    scribe.set_dirty_bit(1);
    REQUIRE(scribe.call<&Scribe::rpc_say>() == CallResult::Sent);
    lose(game, object, end);
    game.tick(2);
    game.server_transport().set_script(nullptr);
    game.settle();
    CHECK(Scribe::told == Told{"start with 9", "call with 9", "stop"});
}

}  // namespace replayout::test
