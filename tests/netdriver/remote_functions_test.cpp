// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/byte_dump.h"
#include "support/call_game.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/packet_forge.h"

namespace replayout::test {
namespace {

using Numbers = std::vector<std::uint32_t>;

[[nodiscard]] Numbers heard(CallHost& host, const char* function) {
    return CallFixture::numbers(host.world, function);
}

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

[[nodiscard]] std::size_t call_count(const Packet& packet) {
    std::size_t count = 0;
    for (const Bunch& bunch : packet.bunches) {
        count += bunch.header.is_call ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("Remote functions: each kind runs where it belongs", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());

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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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
    net.join();
    REQUIRE(net.settle());
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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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

TEST_CASE("Remote functions: what is sent only at first is there before the first call",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    REQUIRE(net.settle());
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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    Order order{1, {}, "first"};
    (void)net.call(turret, "client_tell", order);
    order.number = 2;
    (void)net.call(turret, "client_tell", order);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2});
}

TEST_CASE("Remote functions: what is no object of the driver is null", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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

TEST_CASE("Remote functions: calls to an object that goes first are dropped and counted",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    Dropper dropper(net.server());
    dropper.is_dropping = true;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.tick();
    (void)net.call(turret, "client_hint", {2, {}, ""});
    net.remove(turret);
    dropper.is_dropping = false;
    const ObjectHandle next = net.add_owned(0);  // in the same place
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.server().driver.stats().calls_dropped == 2);
    (void)net.call(next, "client_tell", {3, {}, ""});
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{3});
}

TEST_CASE("Remote functions: a call that came with the close runs before it", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.server().driver.tick_flush(net.now());
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.client(0).world.object_count() == 0);
}

TEST_CASE("Remote functions: only the owner's calls run", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
    net.server().driver.clear_owner(net.id_of(turret));
    (void)net.call_from(0, turret, "server_aim", {2, {}, ""});
    net.tick(3);
    CHECK(net.server().world.heard.empty());
    CHECK(net.server().driver.stats().calls_not_owned == 2);
    // Not a reason to close, and the order of the channel goes on.
    net.server().driver.set_owner(net.id_of(turret), CallFixture::client_peer(0));
    (void)net.call_from(0, turret, "server_fire", {3, {}, ""});
    net.tick(3);
    CHECK(heard(net.server(), "fire") == Numbers{3});
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Remote functions: what the validation refuses closes the connection, and does not run",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    (void)net.call_from(0, turret, "server_fire", {665, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {Turret::refused_number, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {667, {}, ""});
    net.tick(3);
    CHECK(heard(net.server(), "fire") == Numbers{665});
    CHECK(net.client(0).driver.close_reason() == CloseReason::CallRefused);
    CHECK(net.server().driver.stats().closed[static_cast<std::size_t>(CloseReason::CallRefused)] ==
          1);
}

TEST_CASE("Remote functions: beyond the rate unreliable calls are dropped, reliable ones close",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.function_calls_per_second_max = 10;
    options.server.function_calls_burst_max = 5;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    for (std::uint32_t i = 0; i < 6; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(2);
    CHECK(heard(net.server(), "aim") == Numbers{0, 1, 2, 3, 4});
    CHECK(net.server().driver.stats().calls_over_rate == 1);
    net.tick(10);  // 200 ms: two more
    for (std::uint32_t i = 10; i < 14; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(2);
    CHECK(heard(net.server(), "aim") == Numbers{0, 1, 2, 3, 4, 10, 11});
    CHECK(net.server().driver.connection_count() == 1);
    for (std::uint32_t i = 0; i < 6; ++i) {
        (void)net.call_from(0, turret, "server_fire", {i, {}, ""});
    }
    net.tick(3);
    CHECK(heard(net.server(), "fire") == Numbers{0, 1, 2, 3, 4});
    CHECK(net.client(0).driver.close_reason() == CloseReason::TooManyCalls);
}

TEST_CASE("Remote functions: a client's calls of all functions together are limited, too",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_per_second_max = 1;
    options.server.calls_burst_max = 3;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    (void)net.call_from(0, turret, "server_fire", {1, {}, ""});
    (void)net.call_from(0, turret, "remote_ping", {2, {}, ""});
    for (std::uint32_t i = 3; i < 6; ++i) {
        (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
    }
    net.tick(3);
    CHECK(net.server().world.heard.size() == 3);
    CHECK(net.server().driver.stats().calls_over_rate == 2);
}

TEST_CASE("Remote functions: too many that wait are refused, not dropped", "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.calls_waiting_max = 3;
    options.client.calls_waiting_max = 2;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(net.call(turret, "client_tell", {i, {}, ""}) == CallResult::Sent);
    }
    CHECK(net.call(turret, "client_tell", {9, {}, ""}) == CallResult::Full);
    CHECK(net.call(turret, "multicast_boom", {9, {}, ""}) == CallResult::Full);
    CHECK(net.server().world.heard.empty());  // nor did it run here
    CHECK(net.call_from(0, turret, "server_fire", {0, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, ""}) == CallResult::Sent);
    CHECK(net.call_from(0, turret, "server_fire", {2, {}, ""}) == CallResult::Full);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{0, 1, 2});
    CHECK(heard(net.server(), "fire") == Numbers{0, 1});
    CHECK(net.call(turret, "client_tell", {4, {}, ""}) == CallResult::Sent);
}

TEST_CASE("Remote functions: what cannot be sent is refused, and runs nowhere",
          "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    const std::string long_text(1'025, 'x');
    CHECK(net.call(turret, "multicast_boom", {1, {}, long_text}) == CallResult::ValueOverLimit);
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, long_text}) ==
          CallResult::ValueOverLimit);
    CHECK(net.call(turret, "client_tell", {1, {}, "\xff"}) == CallResult::ValueOverLimit);
    CHECK(net.call(turret, "client_tell", {1, {}, std::string(1'024, 'x')}) == CallResult::Sent);
    CHECK(net.client(0).driver.call_function(ObjectHandle{5}, "server_reset") ==
          CallResult::NoChannel);
    CHECK(net.call(turret, "no_such", {1, {}, ""}) == CallResult::UnknownFunction);
    CHECK(net.call_from(0, turret, "no_such", {1, {}, ""}) == CallResult::UnknownFunction);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.server().world.heard.empty());
}

TEST_CASE("Remote functions: a call larger than a packet is refused", "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = 512;
    options.client.packet_bytes_max = 512;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    // 448 bytes are left by headers: one of the function, one of the set, four of the number, two
    // of the length.
    const std::string fits(448 - 8, 'x');
    CHECK(net.call(turret, "client_tell", {0xFFFF'FFFF, {}, fits + "x"}) == CallResult::TooLarge);
    CHECK(net.call(turret, "client_tell", {0xFFFF'FFFF, {}, fits}) == CallResult::Sent);
    net.turret(turret).power = 3;
    CHECK(net.call_from(0, turret, "server_fire", {1, {}, fits}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{0xFFFF'FFFF});
    CHECK(heard(net.server(), "fire") == Numbers{1});
}

TEST_CASE("Remote functions: calls make calls", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
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
    net.join();
    REQUIRE(net.settle());
    net.client(0).world.is_refusing = true;
    const ObjectHandle turret = net.add_owned(0);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.client(0).driver.stats().calls_unknown == 1);
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Remote functions: parameters of a multicast are encoded once", "[netdriver][rpc]") {
    for (const bool is_sharing : {true, false}) {
        CallFixtureOptions options;
        options.is_sharing = is_sharing;
        CallFixture net(options);
        for (int i = 0; i < 16; ++i) {
            net.join();
        }
        const ObjectHandle turret = net.add();
        REQUIRE(net.settle());
        const ReplicationCounters before = net.server().driver.stats().replication;
        (void)net.call(turret, "multicast_boom", {1, turret, "text"});
        const ReplicationCounters after = net.server().driver.stats().replication;
        CHECK(after.payloads_built - before.payloads_built == (is_sharing ? 1 : 0));
        CHECK(after.payloads_reused - before.payloads_reused == (is_sharing ? 15 : 0));
        REQUIRE(net.settle());
    }
}

TEST_CASE("Remote functions: sharing and validation change no byte", "[netdriver][rpc]") {
    const auto record = [](bool is_sharing, bool is_validating) {
        CallFixtureOptions options;
        options.is_sharing = is_sharing;
        options.is_validating = is_validating;
        options.link.loss = 0.1;
        options.link.latency_ms = 30;
        CallFixture net(options);
        std::vector<Bytes> sent;
        net.server().transport.set_script([&](Bytes& datagram) {
            sent.push_back(datagram);
            return true;
        });
        for (int i = 0; i < 3; ++i) {
            net.join();
        }
        const ObjectHandle turret = net.add_owned(1);
        const ObjectHandle other = net.add();
        for (std::uint32_t step = 1; step < 60; ++step) {
            net.turret(turret).power = step;
            net.turret(turret).label = "step " + std::to_string(step / 3);
            net.turret(other).power = step / 2;
            (void)net.call(turret, "multicast_boom", {step, other, std::to_string(step)});
            (void)net.call(turret, "multicast_flash", {step, {}, ""});
            (void)net.call(turret, "client_hint", {step, turret, ""});
            net.tick();
        }
        net.network().heal();
        CHECK(net.settle());
        CHECK(heard(net.client(0), "boom").back() == 59);
        return sent;
    };
    const std::vector<Bytes> first = record(true, true);
    CHECK(first == record(false, true));
    CHECK(first == record(true, false));
}

TEST_CASE("Remote functions: calls of a warm server and client allocate nothing",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.is_validating = false;
    options.server.calls_per_second_max = 1'000'000;
    options.server.calls_burst_max = 1'000'000;
    options.server.function_calls_per_second_max = 1'000'000;
    options.server.function_calls_burst_max = 1'000'000;
    CallFixture net(options);
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    net.server().world.is_listening = false;
    net.client(0).world.is_listening = false;
    REQUIRE(net.settle());
    const auto play = [&](std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            ++net.turret(turret).power;
            (void)net.call(turret, "client_tell", {i, turret, "short"});
            (void)net.call(turret, "multicast_flash", {i, turret, ""});
            (void)net.call_from(0, turret, "server_fire", {i, {}, "short"});
            (void)net.call_from(0, turret, "server_aim", {i, {}, ""});
            net.tick();
        }
    };
    play(100);
    const std::size_t server_before = net.server().memory.allocation_count();
    const std::size_t client_before = net.client(0).memory.allocation_count();
    play(200);
    CHECK(net.server().memory.allocation_count() == server_before);
    CHECK(net.client(0).memory.allocation_count() == client_before);
    net.tick(3);
    CHECK(net.server().driver.stats().calls_run == 600);
    CHECK(net.client(0).driver.stats().calls_run == 600);
}

TEST_CASE("Remote functions: a call in each packet, and one packet for many", "[netdriver][rpc]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    std::vector<std::size_t> counts;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && call_count(*packet) > 0) {
            counts.push_back(call_count(*packet));
            CHECK(!packet->blocks.empty());
        }
        return true;
    });
    net.turret(turret).power = 1;
    for (std::uint32_t i = 0; i < 300; ++i) {
        (void)net.call(turret, "client_tell", {i, {}, ""});
    }
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell").size() == 300);
    // Each packet has the state: none of them can tell that those before it arrive.
    CHECK(counts.size() == 3);
}

TEST_CASE("Remote functions: packets with calls are written as they are pinned",
          "[netdriver][rpc][packet]") {
    CallFixture net;
    net.join();
    const ObjectHandle turret = net.add_owned(0);
    REQUIRE(net.settle());
    std::vector<Bytes> sent;
    const auto record = [&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        if (packet && call_count(*packet) > 0) {
            sent.push_back(datagram);
        }
        return true;
    };
    net.server().transport.set_script(record);
    net.client(0).transport.set_script(record);
    net.turret(turret).power = 5;
    (void)net.call(turret, "multicast_flash", {3, {}, ""});
    (void)net.call(turret, "client_tell", {1, turret, "go"});
    (void)net.call(turret, "client_hint", {0, {}, ""});
    (void)net.call_from(0, turret, "server_fire", {7, {}, ""});
    (void)net.client(0).driver.call_function(net.find_on(0, turret), "server_reset");
    (void)net.call_from(0, turret, "server_aim", {8, net.find_on(0, turret), ""});
    REQUIRE(net.settle());
    REQUIRE(sent.size() == 2);
    check_golden("packet_calls_of_server", sent[0]);
    check_golden("packet_calls_of_client", sent[1]);
    const std::vector<HeardCall> told{
        {"tell", 1, 5, net.find_on(0, turret), 5}, {"hint", 0, 5, {}, 0}, {"flash", 3, 5, {}, 0}};
    CHECK(net.client(0).world.heard == told);
    const std::vector<HeardCall> asked{{"flash", 3, 5, {}, 0},
                                       {"fire", 7, 5, {}, 0},
                                       {"reset", 0, 5, {}, 0},
                                       {"aim", 8, 5, turret, 5}};
    CHECK(net.server().world.heard == asked);
}

}  // namespace replayout::test
