// SPDX-License-Identifier: MIT
//
// A reliable call that was accepted runs at each client that has its object, before the object goes
// there: removed, or hidden, whatever is lost.
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/log_spy.h"
#include "support/hostile/packet_forge.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

/// What a client's world is called for: spawns, despawns and remote calls, in order.
class Diary {
  public:
    explicit Diary(CallWorld& world) {
        world.on_told = [this](const std::string& what, ObjectHandle) { lines.push_back(what); };
        world.on_call = [this](const char* function, const Order& order) {
            lines.push_back(function + (' ' + std::to_string(order.number)));
        };
    }
    std::vector<std::string> lines;
};

using Lines = std::vector<std::string>;

[[nodiscard]] CallFixtureOptions lossy_network() {
    CallFixtureOptions options;
    options.link.loss = 0.3;
    options.link.duplicate = 0.1;
    options.link.reorder = 0.1;
    options.link.reorder_ms = 60;
    options.link.latency_ms = 50;
    options.link.jitter_ms = 10;
    return options;
}

void hide(CallFixture& net, std::size_t client, ObjectHandle object, bool is_hidden = true) {
    net.server().driver.interest().set_relevant_for(CallFixture::client_peer(client),
                                                    net.id_of(object), !is_hidden);
}

/// Begins with a turret of the only client, which has a part.
struct GunnedTank : CallFixture {
    explicit GunnedTank(const CallFixtureOptions& options = {}) : CallFixture(options) {}

    const ObjectHandle tank = join_with_turret();
    NetDriver& driver = server().driver;
    const ObjectHandle gun = server().world.add();
    const NetObjectId gun_id = driver.add_subobject(id_of(tank), turret_layout(), gun);
};

/// Makes calls, each of an object of its own, which is removed some ticks later.
void call_and_remove(CallFixture& net, std::uint32_t count, int ticks) {
    for (std::uint32_t i = 1; i <= count; ++i) {
        const ObjectHandle object = net.add();
        for (int wait = 0; wait < 200; ++wait) {
            net.tick();
            bool is_everywhere = true;
            for (std::size_t client = 0; client < 4; ++client) {
                is_everywhere = is_everywhere && !net.find_on(client, object).is_null();
            }
            if (is_everywhere) {
                break;
            }
        }
        CHECK(net.call(object, "multicast_boom", {i, {}, ""}) == CallResult::Sent);
        net.tick(ticks);
        net.remove(object);
    }
}

[[nodiscard]] Numbers first_numbers(std::uint32_t count) {
    Numbers numbers;
    for (std::uint32_t i = 1; i <= count; ++i) {
        numbers.push_back(i);
    }
    return numbers;
}

TEST_CASE("Calls before a close: all run when the object goes in the same tick",
          "[netdriver][rpc]") {
    CallFixture net;
    for (int i = 0; i < 4; ++i) {
        net.join();
    }
    REQUIRE(net.settle());
    call_and_remove(net, 100, 0);
    REQUIRE(net.settle());
    for (std::size_t client = 0; client < 4; ++client) {
        CHECK(heard(net.client(client), "boom") == first_numbers(100));
        CHECK(net.client(client).world.object_count() == 0);
    }
    CHECK(net.server().driver.stats().calls_dropped == 0);
    CHECK(net.server().driver.object_count() == 0);
}

TEST_CASE("Calls before a close: all run whatever is lost, repeated and overtaken",
          "[netdriver][rpc]") {
    for (const int ticks : {0, 1}) {
        INFO("removed " << ticks << " ticks after the call");
        CallFixture net(lossy_network());
        for (int i = 0; i < 4; ++i) {
            net.join();
        }
        net.tick(100);
        call_and_remove(net, 40, ticks);
        net.network().heal();
        REQUIRE(net.settle());
        for (std::size_t client = 0; client < 4; ++client) {
            Numbers numbers = heard(net.client(client), "boom");
            std::sort(numbers.begin(), numbers.end());  // between objects there is no order
            CHECK(numbers == first_numbers(40));
            CHECK(net.client(client).world.object_count() == 0);
        }
        CHECK(net.server().driver.stats().calls_dropped == 0);
    }
}

TEST_CASE("Calls before a close: all run when the object is hidden in the same tick",
          "[netdriver][rpc][interest]") {
    CallFixture net(lossy_network());
    const ObjectHandle turret = net.join_with_turret();
    Diary diary(net.client(0).world);
    for (std::uint32_t i = 1; i <= 3; ++i) {
        (void)net.call(turret, "client_tell", {i, {}, ""});
    }
    hide(net, 0, turret);
    // It is hidden at once for all that comes now.
    CHECK_FALSE(
        net.server().driver.is_relevant_for(CallFixture::client_peer(0), net.id_of(turret)));
    CHECK(net.call(turret, "client_tell", {4, {}, ""}) == CallResult::NotOwned);
    CHECK(net.call(turret, "multicast_boom", {5, {}, ""}) == CallResult::Ran);
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "tell 2", "tell 3", "despawn"});
    CHECK(net.server().driver.stats().calls_dropped == 0);
    hide(net, 0, turret, false);
    REQUIRE(net.settle());
    (void)net.call(turret, "client_tell", {6, {}, ""});
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2, 3, 6});
}

TEST_CASE(
    "Calls before a close: what is shown again meanwhile comes again, and hears what was called "
    "since",
    "[netdriver][rpc][interest]") {
    CallFixture net(lossy_network());
    const ObjectHandle turret = net.join_with_turret();
    const PeerId client = CallFixture::client_peer(0);
    Diary diary(net.client(0).world);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    hide(net, 0, turret);
    CHECK(net.call(turret, "client_tell", {2, {}, ""}) == CallResult::NotOwned);
    net.turret(turret).power = 7;
    hide(net, 0, turret, false);
    CHECK(net.server().driver.is_relevant_for(client, net.id_of(turret)));
    CHECK(net.call(turret, "client_tell", {3, {}, ""}) == CallResult::Sent);
    CHECK(net.call(turret, "client_tell", {4, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn", "spawn", "tell 3", "tell 4"});
    CHECK(net.turret_on(0, turret).power == 7);
    CHECK(net.server().driver.stats().calls_dropped == 0);

    // And hidden once more before it came again: what was called meanwhile is not for him.
    diary.lines.clear();
    (void)net.call(turret, "client_tell", {5, {}, ""});
    hide(net, 0, turret);
    hide(net, 0, turret, false);
    (void)net.call(turret, "client_tell", {6, {}, ""});
    hide(net, 0, turret);
    CHECK_FALSE(net.server().driver.is_relevant_for(client, net.id_of(turret)));
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 5", "despawn"});
    CHECK(net.server().driver.stats().calls_dropped == 1);
}

TEST_CASE("Calls before a close: what a hidden object becomes does not go with its calls",
          "[netdriver][rpc][interest]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    const NetObjectId id = net.id_of(turret);
    const PeerId client = CallFixture::client_peer(0);
    net.server().driver.clear_owner(id);
    REQUIRE(net.settle());
    for (const int ticks : {0, 1, 5}) {
        INFO("hidden " << ticks << " ticks after the call");
        Turret& state = net.turret(turret);
        const Turret& shown = net.turret_on(0, turret);
        const std::uint32_t secret = shown.secret;
        const std::uint32_t power = state.power + 1;
        bool is_dropping = true;
        net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
        state.power = power;
        CHECK(net.call(turret, "multicast_boom", {power, {}, ""}) == CallResult::Sent);
        net.tick(ticks);
        hide(net, 0, turret);
        state.power = 1'000;
        state.secret = 1'000;
        state.label = "newer";
        net.server().driver.set_owner(id, client);
        net.tick(3);
        is_dropping = false;
        std::uint32_t seen = 0;
        net.client(0).world.on_told = [&](const std::string& what, ObjectHandle) {
            if (what == "despawn") {
                seen = shown.power;
                CHECK(shown.secret == secret);
                CHECK(shown.label != "newer");
            }
        };
        REQUIRE(net.settle());
        CHECK(seen == power);
        CHECK(net.client(0).world.heard.back().number == power);
        CHECK(net.client(0).world.heard.back().power == power);
        net.client(0).world.on_told = nullptr;
        state.label = "older";
        state.secret = 0;
        state.power = power;
        net.server().driver.clear_owner(id);
        hide(net, 0, turret, false);
        REQUIRE(net.settle());
    }
}

TEST_CASE("Calls before a close: state larger than a packet goes ahead of a hidden object's call",
          "[netdriver][rpc][interest]") {
    CallFixtureOptions options = lossy_network();
    options.is_counting_types = true;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    Diary diary(net.client(0).world);
    Turret& state = net.turret(turret);
    for (std::string& page : state.pages) {
        page.assign(900, 'a');
    }
    state.power = 7;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    (void)net.call(turret, "client_tell", {2, {}, ""});
    hide(net, 0, turret);
    state.power = 8;
    state.pages[3] = "newer";
    const Turret& shown = net.turret_on(0, turret);
    std::vector<std::string> pages;
    net.client(0).world.on_callee = [&](const Machine& callee, const Order&) {
        pages.push_back(static_cast<const Turret&>(callee).pages[3]);
        CHECK(&callee == &shown);
        CHECK(callee.power == 7);
    };
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "tell 2", "despawn"});
    CHECK(pages == std::vector<std::string>(2, std::string(900, 'a')));
    CHECK(net.find_type_difference() == "");
}

TEST_CASE("Calls before a close: a hidden object's call sees a large value as it was at the call",
          "[netdriver][rpc][interest]") {
    CallFixtureOptions options;
    options.server.packet_bytes_max = options.client.packet_bytes_max = 256;
    options.is_counting_types = true;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    Diary diary(net.client(0).world);
    Turret& state = net.turret(turret);
    // What goes in parts is lost, and all else arrives.
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes& datagram) {
        const auto packet = parse_packet(datagram);
        return !is_dropping || !packet ||
               std::none_of(packet->bunches.begin(), packet->bunches.end(),
                            [](const Bunch& bunch) { return bunch.header.is_partial; });
    });
    state.pages[3].assign(800, 'a');
    net.tick();
    state.pages[3].assign(800, 'b');
    state.power = 7;
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.tick(10);
    hide(net, 0, turret);
    state.pages[3] = "newer";
    net.tick(2);
    is_dropping = false;
    std::string page;
    net.client(0).world.on_callee = [&](const Machine& callee, const Order&) {
        page = static_cast<const Turret&>(callee).pages[3];
        CHECK(callee.power == 7);
    };
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn"});
    CHECK(page == std::string(800, 'b'));
    CHECK(net.find_type_difference() == "");
}

TEST_CASE("Calls before a close: a hidden object whose calls need too much goes at once",
          "[netdriver][rpc][interest]") {
    CallFixtureOptions options;
    options.server.bunch_bytes_max = options.client.bunch_bytes_max = 1'200;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    Diary diary(net.client(0).world);
    LogSpy log(LogLevel::Warning);
    for (std::string& page : net.turret(turret).pages) {
        page.assign(900, 'a');
    }
    (void)net.call(turret, "client_tell", {1, {}, ""});
    hide(net, 0, turret);
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"despawn"});
    CHECK(net.server().driver.stats().calls_dropped == 1);
    REQUIRE(log.messages().size() == 1);
    CHECK(contains(log.messages().front(), "1 of its reliable calls"));
}

TEST_CASE("Calls before a close: a part that is hidden with its outer, and removed, goes with it",
          "[netdriver][rpc][subobjects][interest]") {
    GunnedTank net;
    REQUIRE(net.settle());
    Diary diary(net.client(0).world);
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
    net.server().world.turret(net.gun).power = 3;
    (void)net.call(net.tank, "client_tell", {1, net.gun, ""});
    hide(net, 0, net.tank);
    net.server().world.turret(net.gun).power = 4;
    net.tick(2);
    net.driver.remove_object(net.gun_id);
    net.server().world.remove(net.gun);
    net.tick(2);
    is_dropping = false;
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn", "despawn"});
    CHECK(net.client(0).world.heard.back().target_power == 3);
    CHECK(net.driver.stats().calls_dropped == 0);
    CHECK(net.driver.object_count() == 1);
}

TEST_CASE("Calls before a close: an object that is torn off before it comes again does not come",
          "[netdriver][rpc][interest][tear_off]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    NetDriver& driver = net.server().driver;
    Diary diary(net.client(0).world);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    hide(net, 0, turret);
    hide(net, 0, turret, false);
    (void)net.call(turret, "client_tell", {2, {}, ""});
    driver.tear_off(net.id_of(turret));
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn"});
    CHECK(driver.stats().calls_dropped == 1);
    CHECK(driver.object_count() == 0);
}

TEST_CASE("Calls before a close: one of four clients is slow, and all of them hear all",
          "[netdriver][rpc]") {
    CallFixture net;
    for (int i = 0; i < 4; ++i) {
        net.join();
    }
    REQUIRE(net.settle());
    net.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(3), 4'000);
    std::vector<ObjectHandle> objects = add_many(100, [&] { return net.add(); });
    REQUIRE(net.settle());
    std::uint32_t number = 0;
    for (const ObjectHandle object : objects) {
        CHECK(net.call(object, "multicast_boom", {++number, {}, ""}) == CallResult::Sent);
        net.remove(object);
    }
    net.tick(50);  // of 20 ms
    CHECK(heard(net.client(0), "boom").size() == 100);
    CHECK(net.client(0).world.object_count() == 0);
    REQUIRE(net.settle());
    CHECK(heard(net.client(3), "boom").size() == 100);
    CHECK(net.client(3).world.object_count() == 0);
    CHECK(net.server().driver.stats().calls_dropped == 0);
}

TEST_CASE("Calls before a close: thousands under a cap run, or are counted and logged in time",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.close_waits_for_calls_ms = 2'000;
    CallFixture net(options);
    net.join_settled(2);
    const LogSpy spy(LogLevel::Warning);
    std::uint64_t accepted = 0;
    std::uint32_t number = 0;
    std::vector<std::size_t> bytes;  // without ids, which are remembered
    for (int round = 0; round < 4; ++round) {
        net.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(1), 0);
        std::vector<ObjectHandle> objects = add_many(2'000, [&] { return net.add(); });
        REQUIRE(net.settle());
        net.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(1), 4'000);
        for (const ObjectHandle object : objects) {
            if (net.call(object, "multicast_boom", {++number, {}, std::string(40, 'x')}) ==
                CallResult::Sent) {
                ++accepted;
            }
            net.remove(object);
        }
        CHECK(net.server().driver.object_count() == 0);
        net.tick(110);  // 2.2 s
        net.server().driver.rates().set_bytes_per_second_max(CallFixture::client_peer(1), 0);
        REQUIRE(net.settle());
        const MemoryReport report = net.server().driver.memory_report();
        bytes.push_back(report.object_bytes + report.pair_bytes + report.in_flight_bytes +
                        report.bundle_bytes);
    }
    CHECK(accepted >= 4'000);
    CHECK(heard(net.client(0), "boom").size() == accepted);
    const std::uint64_t dropped = net.server().driver.stats().calls_dropped;
    CHECK(dropped > 0);
    CHECK(heard(net.client(1), "boom").size() + dropped == accepted);
    for (std::size_t client = 0; client < 2; ++client) {
        CHECK(net.client(client).world.object_count() == 0);
    }
    CHECK(contains(LogSpy::messages().front(), "of its reliable calls had arrived at peer 3"));
    CHECK(contains(LogSpy::messages().front(), "close_waits_for_calls_ms"));
    CHECK(bytes[3] <= bytes[1]);
}

TEST_CASE("Calls before a close: the wait is bounded, and what was dropped is logged once",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.close_waits_for_calls_ms = 500;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const LogSpy spy(LogLevel::Warning);
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
    for (std::uint32_t i = 1; i <= 3; ++i) {
        (void)net.call(turret, "client_tell", {i, {}, ""});
        net.tick();
    }
    net.remove(turret);
    net.tick(20);  // 400 ms
    CHECK(LogSpy::messages().empty());
    net.tick(10);
    REQUIRE(LogSpy::messages().size() == 1);
    CHECK(contains(LogSpy::messages().front(), "3 of its reliable calls"));
    CHECK(contains(LogSpy::messages().front(), "\"Turret\""));
    is_dropping = false;
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.client(0).world.object_count() == 0);
    CHECK(net.server().driver.stats().calls_dropped == 3);
}

TEST_CASE("Calls before a close: with no wait they go with their object, counted and logged",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.close_waits_for_calls_ms = 0;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    const LogSpy spy(LogLevel::Warning);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(net.client(0).world.heard.empty());
    CHECK(net.server().driver.stats().calls_dropped == 1);
    CHECK(LogSpy::messages().size() == 1);
}

TEST_CASE("Calls before a close: where there is no room for a new object the oldest wait ends",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.server.channels_max = 4;
    options.client.channels_max = 4;
    CallFixture net(options);
    net.join();
    std::vector<ObjectHandle> objects;
    for (int i = 0; i < 4; ++i) {
        objects.push_back(net.add_owned(0));
    }
    REQUIRE(net.settle());
    const LogSpy spy(LogLevel::Warning);
    for (std::uint32_t i = 0; i < 4; ++i) {
        (void)net.call(objects[i], "client_tell", {i, {}, ""});
        net.remove(objects[i]);
    }
    const ObjectHandle next = net.add_owned(0);
    CHECK(net.server().driver.object_count() == 1);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1, 2, 3});
    CHECK(net.server().driver.stats().calls_dropped == 1);
    CHECK(LogSpy::messages().size() == 1);
    CHECK_FALSE(net.find_on(0, next).is_null());
}

TEST_CASE("Calls before a close: an open on its way counts as open, one not begun does not",
          "[netdriver][rpc]") {
    CallFixture net(lossy_network());
    net.join();
    net.tick(50);
    const ObjectHandle early = net.add_owned(0);
    net.tick();
    CHECK(net.find_on(0, early).is_null());
    (void)net.call(early, "client_tell", {1, {}, ""});
    net.remove(early);
    const ObjectHandle never = net.add_owned(0);
    CHECK(net.call(never, "client_tell", {2, {}, ""}) == CallResult::Sent);
    net.remove(never);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.server().driver.stats().calls_dropped == 1);
    CHECK(net.client(0).world.object_count() == 0);
}

TEST_CASE("Calls before a close: a family goes as a whole, when all calls of it ran",
          "[netdriver][rpc][subobjects]") {
    for (const bool is_hidden : {false, true}) {
        GunnedTank net(lossy_network());
        const ObjectHandle barrel = net.server().world.add();
        (void)net.driver.add_subobject(net.gun_id, turret_layout(), barrel);
        REQUIRE(net.settle());
        REQUIRE(net.client(0).world.object_count() == 3);
        Diary diary(net.client(0).world);
        Order order{1, {}, ""};
        (void)net.call(net.tank, "client_tell", order);
        order.number = 2;
        CHECK(net.driver.call_function(net.gun_id, "client_tell", &order) == CallResult::Sent);
        if (is_hidden) {
            hide(net, 0, net.tank);
        } else {
            net.remove(net.tank);
            net.server().world.remove(net.gun);
            net.server().world.remove(barrel);
        }
        net.network().heal();
        REQUIRE(net.settle());
        REQUIRE(diary.lines.size() == 5);
        std::sort(diary.lines.begin(), diary.lines.begin() + 2);
        CHECK(diary.lines == Lines{"tell 1", "tell 2", "despawn", "despawn", "despawn"});
        CHECK(net.client(0).world.object_count() == 0);
    }
}

TEST_CASE("Calls before a close: a part goes alone after its calls, and its outer after that",
          "[netdriver][rpc][subobjects]") {
    GunnedTank net;
    REQUIRE(net.settle());
    Diary diary(net.client(0).world);
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
    const Order order{1, {}, ""};
    (void)net.driver.call_function(net.gun_id, "client_tell", &order);
    net.driver.remove_object(net.gun_id);
    net.server().world.remove(net.gun);
    net.tick(3);
    // What is set for the outer meanwhile does not reach the part.
    net.driver.set_dormancy(net.id_of(net.tank), NetDormancy::DormantAll);
    net.driver.set_dormancy(net.id_of(net.tank), NetDormancy::Awake);
    net.driver.set_owner(net.id_of(net.tank), CallFixture::client_peer(0));
    hide(net, 0, net.tank);
    hide(net, 0, net.tank, false);
    net.tick(3);
    net.remove(net.tank);
    is_dropping = false;
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn", "despawn"});
}

TEST_CASE("Calls before a close: a client that has it asleep hears them, too",
          "[netdriver][rpc][dormancy]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    net.server().driver.set_dormancy(net.id_of(turret), NetDormancy::DormantAll);
    REQUIRE(net.settle());
    REQUIRE(net.server().driver.is_dormant_for(CallFixture::client_peer(0), net.id_of(turret)));
    Diary diary(net.client(0).world);
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.remove(turret);
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"tell 1", "despawn"});
}

TEST_CASE("Calls before a close: a call of a hidden object that names a part asleep does not wait",
          "[netdriver][rpc][subobjects][interest][dormancy]") {
    enum class Part { Closing, Asleep, Woken };
    for (const Part part : {Part::Closing, Part::Asleep, Part::Woken}) {
        INFO("closing, asleep, woken: " << static_cast<int>(part));
        GunnedTank net;
        net.server().world.turret(net.gun).power = 3;
        REQUIRE(net.settle());
        net.driver.set_dormancy(net.id_of(net.tank), NetDormancy::DormantAll);
        if (part == Part::Closing) {
            net.tick(1);
        } else {
            REQUIRE(net.settle());
        }
        Diary diary(net.client(0).world);
        net.server().world.turret(net.gun).power = 4;
        if (part == Part::Woken) {
            net.driver.set_dormancy(net.id_of(net.tank), NetDormancy::Awake);
        }
        (void)net.call(net.tank, "client_tell", {1, net.gun, ""});
        hide(net, 0, net.tank);
        net.tick(20);
        CHECK(diary.lines == Lines{"tell 1", "despawn", "despawn"});
        REQUIRE(net.client(0).world.heard.size() == 1);
        CHECK(net.client(0).world.heard.back().target_power == (part == Part::Woken ? 4u : 3u));
        CHECK(net.driver.stats().calls_dropped == 0);
        REQUIRE(net.settle());
        net.driver.remove_object(net.gun_id);
        net.server().world.remove(net.gun);
        net.remove(net.tank);
        REQUIRE(net.settle());
        CHECK(net.driver.object_count() == 0);
    }
}

TEST_CASE("Calls before a close: a part that is removed with its outer is as it was at the call",
          "[netdriver][rpc][subobjects]") {
    for (std::uint32_t lost = 0; lost < 64; ++lost) {
        INFO("the first packets, as bits, 1 is lost: " << lost);
        GunnedTank net;
        REQUIRE(net.settle());
        Diary diary(net.client(0).world);
        Turret& state = net.server().world.turret(net.gun);
        state.pages.fill(std::string(500, 'a'));  // all of it is more than a packet holds
        state.power = 3;
        (void)net.call(net.tank, "client_tell", {1, net.gun, ""});
        net.remove(net.tank);
        net.server().world.remove(net.gun);
        std::uint32_t count = 0;
        net.server().transport.set_script(
            [&](Bytes&) { return count >= 6 || ((lost >> count++) & 1) == 0; });
        REQUIRE(net.settle());
        CHECK(diary.lines == Lines{"tell 1", "despawn", "despawn"});
        CHECK(net.client(0).world.heard.back().target_power == 3);
    }
}

TEST_CASE("Calls before a close: a client that joins meanwhile is not shown the removed object",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
    (void)net.call(turret, "client_tell", {1, {}, ""});
    net.remove(turret);
    net.join();
    net.tick(5);
    is_dropping = false;
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.client(1).world.heard.empty());
    CHECK(net.client(1).world.object_count() == 0);
}

TEST_CASE("Calls before a close: what a call opened before its turn in the initial batch may go",
          "[netdriver][rpc][initial_batch]") {
    CallFixtureOptions options;
    options.server.initial_opens_per_flush_max = 1;
    CallFixture net(options);
    std::vector<ObjectHandle> objects = add_many(40, [&] { return net.add(); });
    const ObjectHandle last = objects.back();
    net.join();
    while (net.client(0).world.object_count() == 0) {
        net.tick();
    }
    CHECK(net.call(objects.front(), "multicast_boom", {1, last, ""}) == CallResult::Sent);
    for (int wait = 0; wait < 10 && net.find_on(0, last).is_null(); ++wait) {
        net.tick();
    }
    CHECK_FALSE(net.find_on(0, last).is_null());
    REQUIRE(net.client(0).world.object_count() < objects.size());
    // It leaves for as long as the call is on its way, and meanwhile its turn comes.
    bool is_dropping = true;
    net.server().transport.set_script([&](Bytes&) { return !is_dropping; });
    CHECK(net.call(last, "multicast_boom", {2, {}, ""}) == CallResult::Sent);
    net.remove(last);
    net.tick(static_cast<int>(objects.size()));
    is_dropping = false;
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "boom") == Numbers{1, 2});
    CHECK(net.client(0).world.object_count() == objects.size() - 1);
    CHECK(net.server().driver.object_count() == objects.size() - 1);
}

TEST_CASE("Calls before a close: calls of clients to what was removed are dropped",
          "[netdriver][rpc]") {
    CallFixtureOptions options;
    options.link.latency_ms = 50;
    CallFixture net(options);
    const ObjectHandle turret = net.join_with_turret();
    (void)net.call(turret, "client_tell", {1, {}, ""});
    CHECK(net.call_from(0, turret, "server_fire", {2, {}, ""}) == CallResult::Sent);
    net.remove(turret);
    net.tick(2);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "tell") == Numbers{1});
    CHECK(net.server().world.heard.empty());
    CHECK(net.server().driver.stats().calls_dropped == 1);
    CHECK(net.server().driver.connection_count() == 1);
}

TEST_CASE("Calls before a close: the next object of a stable name appears after the despawn",
          "[netdriver][rpc][stable_names]") {
    CallFixture net;
    net.join();
    NetDriver& driver = net.server().driver;
    SpawnParameters parameters;
    parameters.stable_name = "gate";
    const ObjectHandle first = net.server().world.add();
    const NetObjectId id = driver.add_object(turret_layout(), first, parameters);
    REQUIRE(net.settle());
    Diary diary(net.client(0).world);
    const Order order{1, {}, ""};
    (void)driver.call_function(id, "multicast_boom", &order);
    driver.remove_object(id);
    net.server().world.remove(first);
    const ObjectHandle second = net.server().world.add();
    (void)driver.add_object(turret_layout(), second, parameters);
    REQUIRE(net.settle());
    CHECK(diary.lines == Lines{"boom 1", "despawn", "spawn"});
}

TEST_CASE("Calls before a close: a multicast may remove its object when it runs at the server",
          "[netdriver][rpc]") {
    CallFixture net;
    const ObjectHandle turret = net.join_with_turret();
    net.server().world.on_call = [&](const char*, const Order&) { net.remove(turret); };
    CHECK(net.call(turret, "multicast_boom", {1, {}, ""}) == CallResult::Sent);
    REQUIRE(net.settle());
    CHECK(heard(net.client(0), "boom") == Numbers{1});
    CHECK(net.client(0).world.object_count() == 0);
}

TEST_CASE("Calls before a close: a large call and large state are waited for", "[netdriver][rpc]") {
    CallFixture net(lossy_network());
    const ObjectHandle turret = net.join_with_turret();
    for (std::string& page : net.turret(turret).pages) {
        page.assign(900, 'p');  // together more than a packet
    }
    net.turret(turret).power = 9;
    net.tick();
    CHECK(net.call_with(turret, "client_deliver", make_cargo(1, 20'000)) == CallResult::Sent);
    (void)net.call(turret, "client_tell", {2, {}, ""});
    net.remove(turret);
    REQUIRE(net.settle());
    REQUIRE(net.client(0).world.heard.size() == 2);
    CHECK(net.client(0).world.heard[0].function == "deliver");
    CHECK(net.client(0).world.heard[0].power == 9);
    CHECK(net.client(0).world.heard[1].number == 2);
    CHECK(net.client(0).world.object_count() == 0);
}

}  // namespace
}  // namespace replayout::test
