// SPDX-License-Identifier: MIT
//
// Wrong calls of a game are refused, in every build: nothing happens, and a sentence names class
// and id and says what to do.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/replay_player.h>

#include <limits>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/refusals.h"
#include "support/worlds/call_game.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

/// A class that nobody registered.
struct Stranger {
    void wave() {}
};

/// A world that may lose the memory of what it holds.
class ForgetfulWorld final : public TypedWorld<Turret> {
  public:
    explicit ForgetfulWorld(std::uint64_t first_handle) : TypedWorld(first_handle) {
        on_made = [this](ObjectHandle, Turret& turret) { turret.world = &heard_; };
    }

    void* object_memory(ObjectHandle handle) override {
        return is_forgetful ? nullptr : find(handle);
    }

    bool is_forgetful = false;

  private:
    CallWorld heard_{1};  // for what turrets hear
};

struct ForgetfulGame {
    ForgetfulGame() {
        REQUIRE(server.add_layout(turret_layout()));
        REQUIRE(client.add_layout(turret_layout()));
        REQUIRE(server.listen());
        REQUIRE(client.connect(PeerId{1}, now));
        object = server_world.add();
        id = server.add_object(turret_layout(), object);
        tick(4);
        REQUIRE(server.is_settled());
    }
    void tick(int count = 1) {
        for (int i = 0; i < count; ++i) {
            now = now.plus_milliseconds(33);
            for (NetDriver* driver : {&server, &client}) {
                driver->tick_dispatch(now);
                driver->tick_flush(now);
            }
        }
    }

    LoopbackNetwork network{{}, std::pmr::get_default_resource()};
    ForgetfulWorld server_world{1'000};
    ForgetfulWorld client_world{2'000};
    NetDriver server{{}, network.endpoint(PeerId{1}), server_world};
    NetDriver client{{}, network.endpoint(PeerId{2}), client_world};
    NetTime now = NetTime::from_milliseconds(1'000);
    ObjectHandle object;
    NetObjectId id;
};

}  // namespace

TEST_CASE("Misuse: what is done twice with an object, or with a stale id, is refused by name",
          "[netdriver][misuse]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const NetObjectId stale = net.id_of(turret);
    NetDriver& server = net.server().driver;
    const Refusals refusals;
    server.remove_object(stale);
    server.remove_object(stale);
    if (Refusals::are_told) {
        CHECK(refusals.last() ==
              "remove_object: object " + std::to_string(stale.index) + "." +
                  std::to_string(stale.generation) +
                  ", a \"Turret\", was removed or torn off: forget an id with its "
                  "object");
    }
    // The slot is used again: the id means nothing of what is there now.
    net.server().world.remove(turret);
    const ObjectHandle other = net.add();
    REQUIRE(net.id_of(other).index == stale.index);
    server.set_owner(stale, CallFixture::client_peer(0));
    CHECK_FALSE(server.role_for(CallFixture::client_peer(0), net.id_of(other)).is_owned);
    if (Refusals::are_told) {
        CHECK(refusals.count("set_owner: object 0.1 was removed or torn off: forget an id with its "
                             "object; in its place is object 0.2, a \"Turret\"") == 1);
    }
    server.tear_off(stale);
    server.mark_object_dirty({99, 1});
    server.flush_dormancy({});
    if (Refusals::are_told) {
        CHECK(refusals.count("object 99.1 was never added to this driver") == 1);
        CHECK(refusals.count("no object (generation 0)") == 1);
    }
    CHECK(net.settle());
    CHECK(net.turret_on(0, other).power == net.turret(other).power);
}

TEST_CASE("Misuse: a handle that names an object is not added again", "[netdriver][misuse]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const Refusals refusals;
    NetDriver& server = net.server().driver;
    const std::uint32_t count = server.object_count();
    CHECK(server.add_object(turret_layout(), turret).generation == 0);
    CHECK(server.add_subobject(net.id_of(turret), turret_layout(), turret).generation == 0);
    CHECK(server.add_object(turret_layout(), {}).generation == 0);
    CHECK(server.object_count() == count);
    if (Refusals::are_told) {
        const std::string twice =
            ": the handle of a \"Turret\" is that of object 0.1, a \"Turret\", which is replicated";
        CHECK(refusals.count("add_object" + twice) == 1);
        CHECK(refusals.count("add_subobject" + twice) == 1);
        CHECK(refusals.count("a \"Turret\" without a handle") == 1);
    }
    CHECK(net.settle());
    CHECK(net.client(0).world.object_count() == 1);
}

TEST_CASE("Misuse: calls before listen() and at the wrong end get one refusal",
          "[netdriver][misuse]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle shown = net.find_on(0, turret);
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    CallWorld world(1);
    NetDriver idle({}, network.endpoint(PeerId{1}), world);
    const Refusals refusals;
    idle.tick_dispatch({});
    idle.tick_flush({});
    for (NetDriver* driver : {&idle, &net.client(0).driver}) {
        CHECK(driver->add_object(turret_layout(), ObjectHandle{5}).generation == 0);
        driver->remove_object({0, 1});
        driver->interest().set_location({0, 1}, {1, 2, 3});
        driver->rates().force_net_update({0, 1});
        CHECK(driver->object_count() == 0);
        CHECK(driver->connection_count() == 0);
        CHECK(driver->call_function(NetObjectId{0, 1}, "server_reset") == CallResult::Misused);
        driver->set_host(PeerId{9});
        CHECK(driver->find_object(shown).generation == 0);
    }
    CHECK(net.server().driver.call_function(turret, "server_reset") == CallResult::Misused);
    CHECK_FALSE(net.server().driver.role_of(turret).is_owned);
    CHECK(net.server().driver.server_layout("Turret") == nullptr);
    if (Refusals::are_told) {
        CHECK(refusals.count(
                  "tick_flush: the driver has not started: call listen() or connect()") == 1);
        // A facet does not know of what driver it is.
        CHECK(refusals.count("this driver does not serve: call listen(), look at its Status") ==
              11);
        CHECK(refusals.count("this driver is a client, and only a server may call it") == 7);
        CHECK(refusals.count("this driver is a server, and only a client may call it") == 3);
    }
    CHECK(net.settle());
}

TEST_CASE("Misuse: a layout that was not added is named, and what would use it refused",
          "[netdriver][misuse]") {
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    CallWorld world(1);
    NetDriver server({}, network.endpoint(PeerId{1}), world);
    REQUIRE(server.listen());
    const Refusals refusals;
    CHECK(server.add_object(turret_layout(), ObjectHandle{1}).generation == 0);
    server.interest().set_class_relevancy(turret_layout(), NetRelevancy::Grid);
    server.rates().set_class_net_priority(turret_layout(), 2);
    CHECK(server.type_counters(turret_layout()) == nullptr);
    CHECK(server.object_count() == 0);
    if (Refusals::are_told) {
        CHECK(refusals.count("the layout of \"Turret\" was not added: call add_layout() on both "
                             "ends") == 4);
    }
}

TEST_CASE("Misuse: a layout that equals an added one is refused all the same",
          "[netdriver][misuse]") {
    // Its members may lie elsewhere, and it may go before the driver does.
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    CallWorld world(1);
    NetDriver server({}, network.endpoint(PeerId{1}), world);
    REQUIRE(server.add_layout(turret_layout()));
    REQUIRE(server.listen());
    const Result<std::unique_ptr<RepLayout>> twin =
        RepLayout::create(turret_layout().registry(), turret_layout().type(), RepLayoutOptions());
    REQUIRE(twin);
    REQUIRE((*twin)->fingerprint() == turret_layout().fingerprint());
    const Refusals refusals;
    CHECK(server.add_object(**twin, ObjectHandle{1}).generation == 0);
    server.interest().set_class_relevancy(**twin, NetRelevancy::Grid);
    server.set_spawn_handler(**twin, nullptr);
    CHECK(server.object_count() == 0);
    if (Refusals::are_told) {
        CHECK(refusals.count("the layout of \"Turret\" was not added") == 3);
    }
}

TEST_CASE("Misuse: peer 0 and values that no enumeration has are refused", "[netdriver][misuse]") {
    ForgetfulGame game;
    const Refusals refusals;
    game.server.set_owner(game.id, PeerId{});
    game.server.set_host(PeerId{});
    game.server.set_dormancy(game.id, static_cast<NetDormancy>(200));
    game.server.interest().set_relevancy(game.id, static_cast<NetRelevancy>(77));
    game.server.interest().set_owner_object(game.id, game.id);
    CHECK(game.server.dormancy_of(game.id) == NetDormancy::Awake);
    if (Refusals::are_told) {
        CHECK(refusals.sentences().size() == 5);
    }
    LoopbackNetwork network({}, std::pmr::get_default_resource());
    CallWorld world(1);
    NetDriver client({}, network.endpoint(PeerId{1}), world);
    CHECK_FALSE(client.connect(PeerId{}, {}));
}

TEST_CASE("Misuse: kept calls do not run from within the world or a notify",
          "[netdriver][misuse]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    CallWorld& world = net.client(0).world;
    NetDriver& driver = net.client(0).driver;
    bool is_ready = false;
    bool is_ticking = true;
    world.may_run = [&](ObjectHandle, const Function&, bool is_last) {
        if (is_ticking) {
            driver.run_kept_calls();
        }
        return is_ready || is_last;
    };
    const Refusals refusals;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.tick();
    net.tick();
    CHECK(world.heard.empty());
    if (Refusals::are_told) {
        CHECK(refusals.count("run_kept_calls: called from within the world") > 0);
    }
    is_ticking = false;
    is_ready = true;
    driver.run_kept_calls();
    CHECK(world.heard.size() == 1);
    net.server().driver.run_kept_calls();
    if (Refusals::are_told) {
        CHECK(refusals.count("run_kept_calls: this driver is a server") == 1);
    }
}

TEST_CASE("Misuse: times at the ends of what can be told overflow nothing", "[netdriver][misuse]") {
    ForgetfulGame game;
    const Refusals refusals;
    constexpr NetTime last{std::numeric_limits<std::int64_t>::max()};
    game.server.tick_dispatch({std::numeric_limits<std::int64_t>::min()});
    game.server.tick_flush(last);
    game.server.tick_dispatch({std::numeric_limits<std::int64_t>::min()});
    game.server.tick_flush(last);
    if (Refusals::are_told) {
        CHECK(refusals.count("now went back by") == 2);
    }
    CHECK(last.plus_milliseconds(1) == last);
    CHECK(NetTime{-5}.plus_milliseconds(std::numeric_limits<std::int64_t>::min()).microseconds ==
          std::numeric_limits<std::int64_t>::min());
    CHECK(last.microseconds_since({-1}) == last.microseconds);
    CHECK(NetTime{7}.microseconds_since({3}) == 4);
}

TEST_CASE("Misuse: an object without memory is left as it was, and named", "[netdriver][misuse]") {
    ForgetfulGame game;
    const Refusals refusals;
    game.server_world.at(game.object).power = 7;
    game.server_world.is_forgetful = true;
    game.tick(3);
    CHECK(game.server.call_function(game.id, "server_reset") == CallResult::Misused);
    if (Refusals::are_told) {
        CHECK(refusals.count("tick_flush: object_memory() of the world is null for object 0.1, a "
                             "\"Turret\", handle 1000: call remove_object()") == 3);
        CHECK(refusals.count("call_function: object_memory() of the world is null") == 1);
    }
    // It is looked at as soon as it is there again.
    game.server_world.is_forgetful = false;
    game.tick(4);
    CHECK(game.client_world.first().power == 7);
    CHECK(game.server.is_settled());
}

TEST_CASE("Misuse: a client without the memory of an object skips what comes for it",
          "[netdriver][misuse]") {
    ForgetfulGame game;
    const Refusals refusals;
    const ObjectHandle shown = game.client_world.objects().begin()->first;
    game.client_world.is_forgetful = true;
    game.server_world.at(game.object).power = 7;
    Order order;
    CHECK(game.server.call<&Turret::multicast_boom>(game.id, order) == CallResult::Sent);
    game.tick(4);
    CHECK(game.client.state() == ConnectionState::Joined);
    CHECK(game.client_world.at(shown).power == 0);
    CHECK(game.client_world.at(shown).heard.empty());
    if (Refusals::are_told) {
        CHECK(refusals.count("is null for a \"Turret\" that the server shows") == 1);
        CHECK(refusals.count("a call of \"multicast_boom\" is dropped") == 1);
    }
    game.client_world.is_forgetful = false;
    game.server_world.at(game.object).power = 8;
    game.tick(4);
    CHECK(game.client_world.at(shown).power == 8);
}

TEST_CASE("Misuse: if the clock goes back, no time passes", "[netdriver][misuse]") {
    ForgetfulGame game;
    const Refusals refusals;
    const NetTime real = game.now;
    constexpr std::int64_t hour_ms = 3'600'000;
    game.now = real.plus_milliseconds(-hour_ms);
    game.server_world.at(game.object).power = 7;
    game.tick(2);
    CHECK(refusals.count("now went back by 3599967000 us") == (Refusals::are_told ? 4 : 0));
    CHECK(game.client_world.first().power == 7);
    game.now = real;
    game.server_world.at(game.object).power = 8;
    game.tick(4);
    CHECK(game.client_world.first().power == 8);
    CHECK(game.server.is_settled());
}

TEST_CASE("Misuse: parameters of another type are refused, and their memory is not read",
          "[netdriver][misuse][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle shown = net.find_on(0, turret);
    const NetObjectId id = net.id_of(turret);
    NetDriver& server = net.server().driver;
    NetDriver& client = net.client(0).driver;
    const Refusals refusals;
    const std::uint8_t small = 1;
    const Cargo cargo;
    const Order order{3, {}, ""};
    CHECK(server.call_function(id, "multicast_boom", &small) == CallResult::Misused);
    CHECK(server.call_function(id, "multicast_boom", &cargo) == CallResult::Misused);
    CHECK(server.call_function(id, "server_reset", &order) == CallResult::Misused);
    CHECK(server.call_function(id, FunctionIndex{999}, &order) == CallResult::Misused);
    CHECK(client.call_function(shown, "server_fire", &small) == CallResult::Misused);
    if (Refusals::are_told) {
        CHECK(refusals.count(
                  "\"multicast_boom\" of \"Turret\" takes a \"Order\" and was given a struct "
                  "that is not registered") == 1);
        CHECK(refusals.count("takes a \"Order\" and was given a \"Cargo\"") == 1);
        CHECK(refusals.count("\"server_reset\" of \"Turret\" takes no parameters") == 1);
        CHECK(refusals.count("function 999 of \"Turret\"") == 1);
        CHECK(refusals.count("\"server_fire\" of \"Turret\" takes a \"Order\"") == 1);
    }
    // With the type in its own words it goes, as scripts do.
    const Type* const type = turret_layout().registry().find("Order");
    const void* const memory = &order;
    CHECK(server.call_function(id, "multicast_boom", {memory, type}) == CallResult::Sent);
    CHECK(client.call_function(shown, "server_fire", {memory, type}) == CallResult::Sent);
    net.tick(4);
    CHECK(heard(net.client(0), "boom") == Numbers{3});
    CHECK(heard(net.server(), "fire") == Numbers{3});
}

TEST_CASE("Misuse: a typed call runs what it names, of a base too, and of no other class",
          "[netdriver][misuse][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle shown = net.find_on(0, turret);
    NetDriver& server = net.server().driver;
    NetDriver& client = net.client(0).driver;
    const NetObjectId id = net.id_of(turret);
    CHECK(server.call<&Turret::multicast_boom>(id, {4, {}, ""}) == CallResult::Sent);
    CHECK(server.call<&Machine::multicast_shake>(id, {5, {}, ""}) == CallResult::Queued);
    CHECK(client.call<&Turret::server_fire>(shown, {6, {}, ""}) == CallResult::Sent);
    CHECK(client.call<&Turret::server_reset>(shown) == CallResult::Sent);
    net.turret(turret).power = 1;  // a queued call goes with an update
    net.tick(4);
    CHECK(heard(net.client(0), "boom") == Numbers{4});
    CHECK(heard(net.client(0), "shake") == Numbers{5});
    CHECK(heard(net.server(), "fire") == Numbers{6});
    CHECK(heard(net.server(), "reset") == Numbers{0});
    const LogSpy log(LogLevel::Warning);
    CHECK(server.call<&Stranger::wave>(id) == CallResult::UnknownFunction);
    CHECK(LogSpy::messages().size() == 1);
}

TEST_CASE("Misuse: an unknown function name is logged with the name that is likely meant",
          "[netdriver][misuse][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle shown = net.find_on(0, turret);
    const LogSpy log(LogLevel::Warning);
    const Order order;
    CHECK(net.call(turret, "multicast_bom", order) == CallResult::UnknownFunction);
    CHECK(net.client(0).driver.call_function(shown, "fire", &order) == CallResult::UnknownFunction);
    REQUIRE(LogSpy::messages().size() == 2);
    CHECK(LogSpy::messages()[0] ==
          "call_function: \"Turret\" has no function \"multicast_bom\"; did you mean "
          "\"multicast_boom\"?");
    CHECK(
        LogSpy::messages()[1].find(
            "\"Turret\" has no function \"fire\"; it has \"multicast_shake\", \"server_fire\", ") !=
        std::string::npos);
    // However often it is called.
    for (int i = 0; i < 1'000; ++i) {
        (void)net.call(turret, "multicast_bom", order);
    }
    CHECK(LogSpy::messages().size() <= 11);  // ten of the server, one of the client
}

TEST_CASE("Misuse: a client without a viewer among objects of the grid is logged once",
          "[netdriver][misuse][interest]") {
    CallFixture net;
    const ObjectHandle turret = net.add();
    net.server().driver.interest().set_location(net.id_of(turret), {1, 2, 3});
    (void)net.join();
    const LogSpy log(LogLevel::Warning);
    net.tick(300);
    CHECK(LogSpy::messages().empty());  // nothing is of the grid
    net.server().driver.interest().set_relevancy(net.id_of(turret), NetRelevancy::Grid);
    net.tick(300);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(LogSpy::messages()[0].find("peer 2 has no viewer") == 0);
    net.tick(300);
    CHECK(LogSpy::messages().size() == 1);
}

TEST_CASE("Misuse: a player that is not open, or is called out of order, answers Misused",
          "[netdriver][misuse][replay]") {
    class NoSource final : public ReplaySource {
      public:
        [[nodiscard]] std::uint64_t size() override { return 0; }
        [[nodiscard]] bool read(std::uint64_t, std::span<std::byte>) override { return false; }
    };
    NoSource source;
    CallWorld world(1);
    ReplayPlayer player({}, source, world);
    const Refusals refusals;
    CHECK(player.seek({}) == ReplayError::Misused);
    CHECK(player.advance({}) == ReplayError::Misused);
    CHECK(player.checkpoint_time(7) == NetTime{});
    CHECK_FALSE(player.driver().listen());
    CHECK_FALSE(player.driver().connect(PeerId{1}, {}));
    player.driver().tick_dispatch({});
    player.driver().disconnect({});
    CHECK(player.open() == ReplayError::NotAReplay);
    CHECK(player.open() == ReplayError::Misused);
    CHECK(player.advance({}) == ReplayError::Misused);
    if (Refusals::are_told) {
        CHECK(refusals.count("advance: the recording is not open: call open() before") == 2);
        CHECK(refusals.count("tick_dispatch: the driver belongs to a ReplayPlayer") == 1);
        CHECK(refusals.count("open: called before: a player is for one recording") == 1);
    }
}

}  // namespace replayout::test
