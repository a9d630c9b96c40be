// SPDX-License-Identifier: MIT
//
// Which remote functions run where, in which order, and with which state of which objects.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// Drops packets of the server with content, as long as it is told to.
struct Dropper {
    explicit Dropper(CallHost& host) {
        host.transport.set_script([this](Bytes& datagram) {
            const auto packet = parse_packet(datagram);
            return !is_dropping || !packet || !packet->has_content();
        });
    }
    bool is_dropping = false;
};

}  // namespace

TEST_CASE("Remote functions: each kind runs where it belongs", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    net.join_settled();

    CHECK(net.call(turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "client_hint", {2, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "multicast_boom", {3, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "multicast_flash", {4, {}, ""}) == CallResult::Queued);
    CHECK(net.call(turret, "server_fire", {5, {}, ""}) == CallResult::Ran);
    CHECK(net.call(turret, "remote_ping", {6, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());

    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(heard(net.client(0), "hint") == Numbers{2});
    CHECK(heard(net.client(0), "ping") == Numbers{6});
    CHECK(heard(net.client(1), "tell").empty());
    CHECK(heard(net.client(1), "ping").empty());
    for (CallHost* host : {&net.server(), &net.client(0), &net.client(1)}) {
        CHECK(heard(*host, "boom") == Numbers{3});
        CHECK(heard(*host, "flash") == Numbers{4});
    }
    CHECK(heard(net.server(), "fire") == Numbers{5});
    CHECK(heard(net.server(), "tell").empty());
}

TEST_CASE("Remote functions: a client calls the server for what it owns", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "server_aim", {2, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "remote_ping", {3, {}, ""}) == CallResult::Sent);
    CHECK(net.client(0).driver.call_function(net.find_on(0, turret), "server_reset") ==
          CallResult::Sent);
    net.tick(4);
    CHECK(heard(net.server(), "fire") == Numbers{1});
    CHECK(heard(net.server(), "aim") == Numbers{2});
    CHECK(heard(net.server(), "ping") == Numbers{3});
    CHECK(heard(net.server(), "reset") == Numbers{0});
    CHECK(net.client(0).world.heard.empty());

    // Its own multicasts and client functions run there alone.
    CHECK(net.call_from(0, turret, "multicast_boom", {4, {}, ""}) == CallResult::Ran);
    CHECK(net.call_from(0, turret, "client_tell", {5, {}, ""}) == CallResult::Ran);
    net.tick(4);
    CHECK(heard(net.client(0), "boom") == Numbers{4});
    CHECK(heard(net.client(0), "tell") == Numbers{5});
    CHECK(heard(net.server(), "boom").empty());
}

TEST_CASE("Remote functions: a function of a base is called on the base's part",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add();
    net.turret(turret).power = 7;
    REQUIRE(net.settle());
    (void)net.call(turret, "multicast_shake", {9, {}, ""});
    REQUIRE(net.settle());
    CHECK(net.turret_on(0, turret).heard == std::vector<HeardCall>{{"shake", 9, 7, {}, 0}});
}

TEST_CASE("Remote functions: a call made with the object comes after its spawn and its state",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join_settled();
    Dropper dropper(net.server());
    dropper.is_dropping = GENERATE(false, true);
    const ObjectHandle target = net.add();
    const ObjectHandle turret = net.add_owned(0);
    net.turret(turret).power = 10;
    net.turret(target).power = 20;
    CHECK(net.call(turret, "client_tell", {1, target, "go"}) == CallResult::Sent);
    net.tick(3);
    if (!dropper.is_dropping) {
        // In one packet with both opens and both blocks: nobody waited for an answer.
        CHECK(heard(net.client(0), "tell") == Numbers{1});
    }
    dropper.is_dropping = false;
    REQUIRE(net.settle());
    REQUIRE(net.client(0).world.heard.size() == 1);
    CHECK(net.client(0).world.heard[0] == HeardCall{"tell", 1, 10, net.find_on(0, target), 20});
}

TEST_CASE("Remote functions: a call that is lost is rebuilt with the state that it means",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    Dropper dropper(net.server());
    dropper.is_dropping = true;
    net.turret(turret).power = 1;
    net.tick();
    net.turret(turret).power = 2;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.tick();
    dropper.is_dropping = false;
    net.turret(turret).power = 3;
    net.tick();
    CHECK(heard(net.client(0), "tell").empty());
    REQUIRE(net.settle());
    REQUIRE(net.client(0).world.heard.size() == 1);
    CHECK(net.client(0).world.heard[0].power >= 2);
    CHECK(net.server().driver.stats().calls_resent == 1);
}

TEST_CASE("Remote functions: what is under way goes with the call once more", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    Dropper dropper(net.server());
    dropper.is_dropping = true;
    net.turret(turret).label = "first";  // its packet is lost, and nobody knows yet
    net.tick();
    dropper.is_dropping = false;
    (void)net.call(turret, "client_hint", {1, {}, ""});
    std::string label;
    net.client(0).world.on_call = [&](const char*, const Order&) {
        label = net.turret_on(0, turret).label;
    };
    net.tick(2);
    CHECK(heard(net.client(0), "hint") == Numbers{1});
    CHECK(label == "first");
}

TEST_CASE("Remote functions: a call whose state no packet holds waits until that has arrived",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 60;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    for (std::string& page : net.turret(turret).pages) {
        page.assign(1'000, 'p');
    }
    net.turret(turret).power = 5;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    (void)net.call(turret, "client_tell", {2, {}, ""});
    std::size_t bytes = 0;
    net.client(0).world.on_call = [&](const char*, const Order&) {
        for (const std::string& page : net.turret_on(0, turret).pages) {
            bytes += page.size();
        }
    };
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2});
    CHECK(bytes == 8'000);
}

TEST_CASE("Remote functions: state that a lost call had said again holds up no later call",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = options.client.packet_bytes_max = 256;
    options.link.latency_ms = 60;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle other = net.add();
    (void)net.call(turret, "client_tell", {1, {}, ""});
    REQUIRE(net.settle());
    Dropper dropper(net.server());
    const auto tick_dropping = [&](bool is_dropping) {
        dropper.is_dropping = is_dropping;
        net.tick();
    };
    net.turret(turret).power = 1;
    tick_dropping(true);
    net.turret(other).power = 1;
    tick_dropping(false);
    (void)net.call(turret, "client_hint", {2, {}, ""});
    tick_dropping(true);
    net.turret(other).power = 2;
    tick_dropping(false);
    // Of the first packet the server hears two ticks before it hears of the call.
    const std::uint64_t lost_before = net.server().driver.stats().packets_lost;
    while (net.server().driver.stats().packets_lost == lost_before) {
        net.tick();
    }
    for (std::string& page : net.turret(turret).pages) {
        page.assign(200, 'p');  // together more than a packet
    }
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "hint").empty());
    (void)net.call(turret, "client_tell", {3, {}, ""});
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 3});
}

TEST_CASE("Remote functions: a new owner is told with what owners may see", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add();
    net.turret(turret).secret = 42;
    REQUIRE(net.settle());
    CHECK(net.call(turret, "client_tell", {1, {}, ""}) == CallResult::NotOwned);
    net.server().driver.set_owner(net.id_of(turret), CallFixture::client_peer(0));
    CHECK(net.call(turret, "client_tell", {2, {}, ""}) == CallResult::Sent);
    std::uint32_t secret = 0;
    net.client(0).world.on_call = [&](const char*, const Order&) {
        secret = net.turret_on(0, turret).secret;
    };
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{2});
    CHECK(secret == 42);
}

TEST_CASE("Remote functions: a call under way when the owner changed does not count as his",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 60;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add();
    const ObjectHandle other = net.add();
    net.turret(turret).secret = 5;
    REQUIRE(net.settle());
    net.turret(turret).power = 1;
    (void)net.call(turret, "multicast_boom", {1, {}, ""});  // with all that he may see
    net.tick();
    net.server().driver.set_owner(net.id_of(turret), CallFixture::client_peer(0));
    Dropper dropper(net.server());
    dropper.is_dropping = true;
    net.tick();  // what owners see
    dropper.is_dropping = false;
    net.turret(other).power = 1;
    bool has_called = false;
    for (int i = 0; i < 20; ++i) {
        net.tick([&] {
            // It is owed again, and calls go before it.
            if (!has_called && net.server().driver.stats().packets_lost > 0) {
                has_called = true;
                net.turret(turret).power = 2;
                (void)net.call(turret, "multicast_boom", {2, {}, ""});
            }
        });
    }
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "boom") == Numbers{1, 2});
    CHECK(net.turret_on(0, turret).secret == 5);
}

TEST_CASE("Remote functions: what is sent only at first is there before the first call",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join_settled();
    Dropper dropper(net.server());
    dropper.is_dropping = GENERATE(false, true);
    const ObjectHandle turret = net.add_owned(0);
    net.turret(turret).born = 77;
    net.tick();  // the first block is under way
    net.turret(turret).power = 1;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    std::uint32_t born = 0;
    net.client(0).world.on_call = [&](const char*, const Order&) {
        born = net.turret_on(0, turret).born;
    };
    net.tick(2);
    dropper.is_dropping = false;
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(born == 77);
}

TEST_CASE("Remote functions: parameters are those of the call, whatever becomes of them",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    Order order{1, {}, "first"};
    (void)net.call(turret, "client_tell", order);
    order.number = 2;
    (void)net.call(turret, "client_tell", order);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2});
}

TEST_CASE("Remote functions: what is no object of the driver is null", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const ObjectHandle stranger = net.server().world.add();
    CHECK(net.call(turret, "client_tell", {1, stranger, ""}) == CallResult::Sent);
    const ObjectHandle target = net.add();
    CHECK(net.call(turret, "client_tell", {2, target, ""}) == CallResult::Sent);
    net.remove(target);  // before it was ever opened
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2});
    CHECK(net.client(0).world.heard[0].target.is_null());
    CHECK(net.client(0).world.heard[1].target.is_null());
}

TEST_CASE("Remote functions: unreliable calls to an object that goes first are dropped and counted",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call(turret, "client_hint", {2, {}, ""});
    net.remove(turret);
    const ObjectHandle next = net.add_owned(0);  // in the same place
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.server().driver.stats().calls_dropped == 1);
    (void)net.call(next, "client_tell", {3, {}, ""});
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{3});
}

TEST_CASE("Remote functions: a call that came with the close runs before it", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.server().driver.tick_flush(net.now());
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.client(0).world.object_count() == 0);
}

TEST_CASE("Remote functions: calls make calls", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    net.server().world.on_call = [&](const char* function, const Order& order) {
        if (std::string(function) == "fire") {
            (void)net.call(turret, "client_tell", {order.number + 1, {}, ""});
            (void)net.call(turret, "multicast_boom", {order.number + 2, {}, ""});
        }
    };
    net.client(0).world.on_call = [&](const char* function, const Order& order) {
        if (std::string(function) == "tell" && order.number < 10) {
            (void)net.call_from(0, turret, "server_fire", {order.number + 1, {}, ""});
        }
    };
    (void)net.call_from(0, turret, "server_fire", {0, {}, ""});
    net.tick(20);
    CHECK(heard(net.server(), "fire") == Numbers{0, 2, 4, 6, 8, 10});
    CHECK(heard(net.client(0), "tell") == Numbers{1, 3, 5, 7, 9, 11});
    CHECK(heard(net.client(0), "boom") == Numbers{2, 4, 6, 8, 10, 12});
    CHECK(heard(net.server(), "boom") == Numbers{2, 4, 6, 8, 10, 12});
}

TEST_CASE("Remote functions: an object may go in its own call", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    const ObjectHandle other = net.add_owned(0);
    REQUIRE(net.settle());
    ObjectHandle next;
    net.server().world.on_call = [&](const char*, const Order& order) {
        if (order.number == 1) {
            net.remove(turret);
            next = net.add();  // in the place of the first, which another call still names
        }
    };
    for (std::uint32_t i = 1; i <= 3; ++i) {
        (void)net.call_from(0, turret, "server_fire", {i, {}, ""});
    }
    (void)net.call_from(0, other, "server_fire", {4, {}, ""});
    net.tick(2);
    CHECK(heard(net.server(), "fire") == Numbers{1, 4});
    CHECK(net.server().driver.stats().calls_dropped == 2);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.object_count() == 2);

    // And on a server a multicast may remove its object when it runs there.
    net.server().world.on_call = [&](const char*, const Order&) { net.remove(other); };
    CHECK(net.call(other, "multicast_boom", {5, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.object_count() == 1);
}

TEST_CASE("Remote functions: a connection may end in a call", "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    SECTION("the client's") {
        net.client(0).world.on_call = [&](const char*, const Order&) {
            net.client(0).driver.disconnect(CallFixture::server_peer);
        };
        (void)net.call(turret, "client_tell", {1, {}, ""});
        (void)net.call(turret, "client_tell", {2, {}, ""});
        net.tick(5);
        CHECK(heard(net.client(0), "tell") == Numbers{1});
        CHECK(net.client(0).world.object_count() == 0);
    }
    SECTION("the server's") {
        net.server().world.on_call = [&](const char*, const Order&) {
            net.server().driver.disconnect(CallFixture::client_peer(0));
        };
        (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
        (void)net.call_from(0, turret, "server_fire", {2, {}, ""});
        net.tick(5);
        CHECK(heard(net.server(), "fire") == Numbers{1});
        CHECK(net.client(0).driver.close_reason() == CloseReason::Requested);
    }
}

TEST_CASE("Remote functions: a client whose world made no object passes over its calls",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join_settled();
    net.client(0).world.is_refusing = true;
    const ObjectHandle turret = net.add_owned(0);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.client(0).driver.stats().calls_unknown == 1);
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Remote functions: a call is delivered though its object came in pieces",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = 256;
    options.client.packet_bytes_max = 256;
    options.link.latency_ms = 100;
    CallFixture net(options);
    const std::size_t client = net.join();
    ObjectHandle turret;
    const std::string large(300, 'x');
    SECTION("a value grew beyond a packet while its open was under way, before the client joined") {
        turret = net.add_owned(client);
        while (net.server().driver.stats().channels_opened == 0) {
            net.tick();
        }
        net.tick(4);
        net.turret(turret).label = large;
    }
    SECTION("a value grew beyond a packet while its open was under way") {
        REQUIRE(net.settle());
        turret = net.add_owned(client);
        net.tick(4);
        net.turret(turret).label = large;
    }
    SECTION("its open was lost") {
        REQUIRE(net.settle());
        LinkSettings dead;
        dead.loss = 1;
        net.network().set_settings(CallFixture::server_peer, CallFixture::client_peer(client),
                                   dead);
        turret = net.add_owned(client);
        net.turret(turret).power = 5;
        net.turret(turret).label = large;
        net.tick();
        net.network().heal();
    }
    REQUIRE(net.settle());
    REQUIRE(net.turret_on(client, turret).label == large);
    CHECK(net.call(turret, "client_tell", {1, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(heard(net.client(client), "tell") == Numbers{1});
}

}  // namespace replayout::test
