// SPDX-License-Identifier: MIT
//
// Commands and RPCs that are named to the compiler.
#include <replayout/reflection/type_builder.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {

namespace {

struct Shot {
    std::uint32_t power = 0;
    std::string word;
};

struct Other {
    std::uint32_t power = 0;
};

class Gun : public NetworkBehaviour {
  public:
    std::vector<std::string> heard;

    void cmd_fire(const Shot& shot) { note("fire", shot); }
    void rpc_bang(const Shot& shot) { note("bang", shot); }
    void target_click() { heard.push_back("click"); }
    void undeclared() {}

  private:
    void note(std::string what, const Shot& shot) {
        heard.push_back(std::move(what) + ' ' + std::to_string(shot.power) + ' ' + shot.word);
    }
};

class BigGun : public Gun {
  public:
    void rpc_reload() { heard.push_back("reload"); }
};

void add_guns(NetworkTypes& types) {
    REQUIRE(struct_builder<Shot>(types.registry(), "Shot")
                .property<&Shot::power>()
                .property<&Shot::word>()
                .build()
                .has_value());
    const auto gun = BehaviourBuilder<Gun>(types, "Gun")
                         .command<&Gun::cmd_fire>()
                         .client_rpc<&Gun::rpc_bang>()
                         .target_rpc<&Gun::target_click>("click")
                         .build();
    REQUIRE(gun.has_value());
    const auto big_gun = BehaviourBuilder<BigGun>(types, "BigGun")
                             .base<Gun>()
                             .client_rpc<&BigGun::rpc_reload>()
                             .build();
    REQUIRE(big_gun.has_value());
    // Two of a class: a call is of the component that it is made of.
    REQUIRE(types.add_prefab("Guns", {{*gun}, {*big_gun}, {*gun}}).has_value());
}

template <auto Member, typename... Arguments>
concept CallsWith = requires(Gun& gun, const Arguments&... arguments) {
    gun.call<Member>(arguments...);
};

}  // namespace

TEST_CASE("Typed calls: they run where the function is said to run, with what was passed",
          "[behaviours]") {
    ArenaOptions options;
    options.link.loss = 0.2;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.2;
    ArenaGame game(options, add_guns);
    game.join_settled(2);
    NetworkIdentity& guns = game.spawn(game.types().find("Guns"), &game.connection(0));
    game.settle();
    const auto gun_on = [&](std::size_t client) -> Gun& {
        return game.on_client(client, guns)->component<Gun>(2);
    };
    Gun& gun = guns.component<Gun>(2);

    CHECK(gun_on(0).call<&Gun::cmd_fire>({7, "pow"}) == CallResult::Sent);
    game.settle();
    CHECK(gun.heard == std::vector<std::string>{"fire 7 pow"});
    CHECK(gun.call<&Gun::rpc_bang>({.power = 8, .word = "bum"}) == CallResult::Sent);
    CHECK(gun.call<&Gun::target_click>() == CallResult::Sent);
    game.settle();
    CHECK(gun_on(0).heard == std::vector<std::string>{"bang 8 bum", "click"});
    CHECK(gun_on(1).heard == std::vector<std::string>{"bang 8 bum"});
    CHECK(guns.component<Gun>(0).heard.empty());
    CHECK(game.on_client(1, guns)->component<Gun>(0).heard.empty());
}

TEST_CASE("Typed calls: other parameters, or none, do not compile", "[behaviours]") {
    STATIC_REQUIRE(CallsWith<&Gun::cmd_fire, Shot>);
    STATIC_REQUIRE(CallsWith<&Gun::target_click>);
    STATIC_REQUIRE(!CallsWith<&Gun::cmd_fire>);
    STATIC_REQUIRE(!CallsWith<&Gun::cmd_fire, Other>);
    STATIC_REQUIRE(!CallsWith<&Gun::cmd_fire, Shot*>);
    STATIC_REQUIRE(!CallsWith<&Gun::cmd_fire, std::uint32_t>);
    STATIC_REQUIRE(!CallsWith<&Gun::target_click, Shot>);
}

TEST_CASE("Typed calls: one of a base, one of another name, and one that the class does not have",
          "[behaviours]") {
    ArenaGame game({}, add_guns);
    game.join();
    NetworkIdentity& guns = game.server().instantiate(game.types().find("Guns"));
    BigGun& gun = guns.component<BigGun>(1);
    CHECK(gun.call<&BigGun::rpc_reload>() == CallResult::NoChannel);  // not spawned
    REQUIRE(game.server().spawn(guns));
    game.settle();
    CHECK(gun.call<&Gun::rpc_bang>({1, ""}) == CallResult::Sent);
    CHECK(gun.call<&BigGun::rpc_reload>() == CallResult::Sent);
    CHECK(gun.call<&Gun::target_click>() == CallResult::NotOwned);
    CHECK(gun.call("click") == CallResult::NotOwned);
    CHECK(gun.call<&Gun::undeclared>() == CallResult::UnknownFunction);
    CHECK(guns.component<Gun>(0).call<&BigGun::rpc_reload>() == CallResult::UnknownFunction);
    CHECK(gun.call<&Fighter::rpc_cheer>() == CallResult::UnknownFunction);
    game.settle();
    CHECK(game.on_client(0, guns)->component<BigGun>(1).heard ==
          std::vector<std::string>{"bang 1 ", "reload"});
}

TEST_CASE("Calls: one that can never be made is refused, and an error in the log", "[behaviours]") {
    ArenaGame game({}, add_guns);
    game.join_settled();
    NetworkIdentity& guns = game.spawn(game.types().find("Guns"), &game.connection(0));
    game.settle();
    Gun& gun = guns.component<Gun>(0);
    Gun& shown = game.on_client(0, guns)->component<Gun>(0);
    const Shot endless{1, std::string(RepLimits{}.string_bytes_max + 1, 'x')};
    const LogSpy log;

    CHECK(gun.call<&Gun::rpc_bang>(endless) == CallResult::ValueOverLimit);
    REQUIRE(log.messages().size() == 1);
    CHECK(log.messages().back().find("\"Gun.rpc_bang\"") != std::string::npos);
    CHECK(shown.call<&Gun::cmd_fire>(endless) == CallResult::ValueOverLimit);
    REQUIRE(log.messages().size() == 2);
    CHECK(log.messages().back().find("\"Gun.cmd_fire\"") != std::string::npos);
    CHECK(shown.call<&Gun::cmd_fire>({1, "pow"}) == CallResult::Sent);
    CHECK(log.messages().size() == 2);
}

}  // namespace replayout::test
