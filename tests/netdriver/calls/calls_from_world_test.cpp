// SPDX-License-Identifier: MIT
//
// Remote calls that are made while a world is told of objects, of roles and of peers.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// One client that has a turret, and what became of its calls, by what it was told.
class ToldClient {
  public:
    ToldClient() : first(net.join_with_turret()), shown(net.find_on(0, first)) {
        world().on_told = [this](const std::string& what, ObjectHandle object) {
            of_others[what].push_back(fire(shown, object));
            if (!object.is_null()) {
                of_itself[what].push_back(fire(object, shown));
            }
        };
    }
    ~ToldClient() { world().on_told = nullptr; }
    ToldClient(const ToldClient&) = delete;
    ToldClient& operator=(const ToldClient&) = delete;

    [[nodiscard]] CallWorld& world() { return net.client(0).world; }
    [[nodiscard]] CallResult fire(ObjectHandle object, ObjectHandle target) {
        const Order order{++number, target, ""};
        return net.client(0).driver.call_function(object, "server_fire", &order);
    }
    void settle() {
        REQUIRE(net.settle());
        net.tick(5);
    }

    CallFixture net;
    ObjectHandle first;
    ObjectHandle shown;
    std::uint32_t number = 0;
    std::map<std::string, std::vector<CallResult>> of_others;
    std::map<std::string, std::vector<CallResult>> of_itself;
};

using Results = std::vector<CallResult>;

}  // namespace

TEST_CASE("Calls from the world: out of spawn of others, of the new object once it has returned",
          "[netdriver][rpc]") {
    ToldClient told;
    const ObjectHandle second = told.net.add_owned(0);
    told.settle();
    CHECK(told.of_others["spawn"] == Results{CallResult::Sent});
    CHECK(told.of_itself["spawn"] == Results{CallResult::NoChannel});
    REQUIRE(told.net.server().world.heard.size() == 1);
    CHECK(told.net.server().world.heard[0].target.is_null());  // it was nobody's yet
    CHECK(told.fire(told.net.find_on(0, second), told.shown) == CallResult::Sent);
}

TEST_CASE("Calls from the world: out of despawn of others, and no more of what goes",
          "[netdriver][rpc]") {
    ToldClient told;
    const ObjectHandle second = told.net.add_owned(0);
    told.settle();
    told.net.remove(second);
    told.settle();
    CHECK(told.of_others["despawn"] == Results{CallResult::Sent});
    CHECK(told.of_itself["despawn"] == Results{CallResult::NoChannel});
    CHECK(told.net.server().world.heard.size() == 2);
    CHECK(told.net.server().world.heard.back().target.is_null());
}

TEST_CASE("Calls from the world: out of despawn of a part, its outer's go with that",
          "[netdriver][rpc]") {
    ToldClient told;
    NetDriver& server = told.net.server().driver;
    const ObjectHandle part = told.net.server().world.add();
    (void)server.add_subobject(told.net.id_of(told.first), turret_layout(), part);
    told.settle();
    const std::uint64_t dropped = told.net.client(0).driver.stats().calls_dropped;
    const std::size_t heard = told.net.server().world.heard.size();
    told.net.remove(told.first);
    told.settle();
    CHECK(told.of_others["despawn"] == Results{CallResult::Sent, CallResult::NoChannel});
    CHECK(told.net.client(0).driver.stats().calls_dropped == dropped + 1);
    CHECK(told.net.server().world.heard.size() == heard);
    CHECK(server.connection_count() == 1);
}

TEST_CASE("Calls from the world: who is told that it owns an object may call it there",
          "[netdriver][rpc]") {
    ToldClient told;
    const ObjectHandle second = told.net.add();
    told.settle();
    told.of_others.clear();
    told.net.server().driver.set_owner(told.net.id_of(second), CallFixture::client_peer(0));
    told.settle();
    CHECK(told.of_others["role"] == Results{CallResult::Sent});
    CHECK(told.of_itself["role"] == Results{CallResult::Sent});
    CHECK(told.net.server().driver.stats().calls_not_owned == 0);
    const std::vector<HeardCall>& heard = told.net.server().world.heard;
    REQUIRE(heard.size() == 3);
    CHECK(heard[1].target == second);
    CHECK(heard[2].target == told.first);
}

TEST_CASE("Calls from the world: as a client joins, they are of what was spawned",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.add_owned(0);  // of who is to join
    net.join();
    std::map<std::string, CallResult> results;
    std::vector<std::string> order;
    CallWorld& world = net.client(0).world;
    world.on_told = [&](const std::string& what, ObjectHandle object) {
        const ObjectHandle shown = net.find_on(0, turret);
        const Order fire{static_cast<std::uint32_t>(order.size() + 1), object, ""};
        results[what] = net.client(0).driver.call_function(shown, "server_fire", &fire);
        order.push_back(what);
    };
    REQUIRE(net.settle());
    net.tick(5);
    net.server().driver.disconnect(CallFixture::client_peer(0));
    net.tick(5);
    world.on_told = nullptr;
    CHECK(order ==
          std::vector<std::string>{"started", "spawn", "joined", "finished", "despawn", "left"});
    CHECK(results["started"] == CallResult::NoChannel);
    CHECK(results["spawn"] == CallResult::NoChannel);
    CHECK(results["joined"] == CallResult::Sent);
    CHECK(results["finished"] == CallResult::Sent);
    CHECK(results["despawn"] == CallResult::NoChannel);
    CHECK(results["left"] == CallResult::NoChannel);
    CHECK(heard(net.server(), "fire") == Numbers{3, 4});
}

TEST_CASE("Calls from the world: a server greets who joins, behind what the greeting means",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.link.loss = 0.2;
    options.link.latency_ms = 30;
    CallFixture net(options);
    const ObjectHandle host = net.add();
    std::map<std::string, CallResult> results;
    net.server().world.on_told = [&](const std::string& what, ObjectHandle) {
        if (what == "joined") {
            const ObjectHandle turret = net.add_owned(0);
            net.turret(turret).power = 77;
            results["owned"] = net.call(turret, "client_tell", {1, host, ""});
            results["large"] = net.call_with(turret, "client_deliver", make_cargo(2, 10'000));
        }
        results[what] = net.call(host, "multicast_boom", {3, {}, ""});
    };
    net.join();
    net.turret(host).power = 55;
    REQUIRE(net.settle());
    net.tick(10);
    CHECK(results["owned"] == CallResult::Sent);
    CHECK(results["large"] == CallResult::Sent);
    CHECK(results["joined"] == CallResult::Sent);
    const std::vector<HeardCall>& heard = net.client(0).world.heard;
    REQUIRE(heard.size() == 3);
    for (const HeardCall& call : heard) {
        CHECK(call.power == (call.function == "boom" ? 55u : 77u));
        CHECK(call.target_power == (call.function == "tell" ? 55u : 0u));
    }
    // Who left is called no more; everybody else is.
    net.join_settled();
    net.client(0).driver.disconnect({});
    net.tick(100);
    net.server().world.on_told = nullptr;
    CHECK(results["left"] == CallResult::Sent);
    CHECK(net.client(1).world.heard.back() == HeardCall{"boom", 3, 55, {}, 0});
}

TEST_CASE("Calls from the world: what runs at the client alone runs within them",
          "[netdriver][rpc]") {
    ToldClient told;
    CallResult result = CallResult::Full;
    told.world().on_told = [&](const std::string& what, ObjectHandle) {
        if (what == "spawn") {
            const Order order{5, {}, ""};
            result = told.net.client(0).driver.call_function(told.shown, "client_tell", &order);
        }
    };
    (void)told.net.add();
    told.settle();
    CHECK(result == CallResult::Ran);
    CHECK(heard(told.net.client(0), "tell") == Numbers{5});
}

}  // namespace replayout::test
