// SPDX-License-Identifier: MIT
//
// The push model through the driver: what is not marked costs nothing, and marks change no byte.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/networks/scripted_transport.h"
#include "support/worlds/typed_world.h"

namespace replayout::test::push_model_test {
namespace {

struct Beacon {
    std::int32_t color = 0;
    std::int32_t charge = 0;
    ObjectHandle link;
    std::int32_t cargo = 0;  // Custom
    std::int32_t route = 0;  // Dynamic
};

[[nodiscard]] std::unique_ptr<RepLayout> make_beacon_layout(TypeRegistry& registry,
                                                            bool is_pushed) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Beacon", sizeof(Beacon),
                               alignof(Beacon));
    builder.ops(make_class_ops<Beacon>());
    const auto add = [&](Property property, LifetimeCondition condition) {
        property.is_push_based = is_pushed;
        property.condition = condition;
        builder.property(std::move(property));
    };
    using Condition = LifetimeCondition;
    add(plain_property("color", PropertyKind::Int32, offsetof(Beacon, color)), Condition::None);
    add(plain_property("charge", PropertyKind::Int32, offsetof(Beacon, charge)), Condition::None);
    add(handle_property("link", offsetof(Beacon, link)), Condition::None);
    add(plain_property("cargo", PropertyKind::Int32, offsetof(Beacon, cargo)), Condition::Custom);
    add(plain_property("route", PropertyKind::Int32, offsetof(Beacon, route)), Condition::Dynamic);
    const Result<const Type*> type = builder.build();
    REQUIRE(type);
    REQUIRE(registry.freeze());
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry, **type);
    REQUIRE(layout);
    return std::move(*layout);
}

struct GameOptions {
    bool is_pushed = true;
    std::uint32_t mark_validation_ticks = 0;
    std::uint64_t seed = 1;
    double loss = 0;
    bool is_paced = false;  ///< objects are looked at more rarely than in each tick
};

/// Now and then an object is looked at more often, or more rarely, or at once.
void change_pace(NetRates rates, NetObjectId id, SeededRandom& random) {
    if (random.percent(30)) {
        rates.force_net_update(id);
        return;
    }
    const std::uint32_t per_second = random.below(40);
    const auto per_second_min = static_cast<float>(per_second == 0 ? 0 : random.below(3));
    rates.set_net_update_frequency(id, {static_cast<float>(per_second), per_second_min});
}

/// A server and one client, whose layout is polled: of marks only the server knows.
class BeaconGame {
  public:
    explicit BeaconGame(const GameOptions& options = {})
        : layout_(make_beacon_layout(registry_, options.is_pushed)),
          client_layout_(make_beacon_layout(client_registry_, false)),
          network_(network_settings(options), options.seed, std::pmr::get_default_resource()),
          server_transport(network_.endpoint(server_peer)),
          server_world(1'000),
          server(server_settings(options), server_transport, server_world),
          client_world_(1'000'000),
          client_(NetDriverSettings{}, network_.endpoint(client_peer), client_world_) {
        server_transport.is_recording = true;
        REQUIRE(server.add_layout(*layout_));
        REQUIRE(server.listen());
        REQUIRE(client_.add_layout(*client_layout_));
        REQUIRE(client_.connect(server_peer, now_));
    }

    ObjectHandle add() {
        const ObjectHandle handle = server_world.add();
        ids[handle] = server.add_object(*layout_, handle);
        return handle;
    }
    void remove(ObjectHandle handle) {
        server.remove_object(ids.at(handle));
        ids.erase(handle);
        server_world.remove(handle);
    }
    [[nodiscard]] Beacon& beacon(ObjectHandle handle) { return server_world.at(handle); }
    [[nodiscard]] const Beacon& beacon_on_client(ObjectHandle handle) {
        const ObjectHandle found = client_.guids().find_object(server.guid_of(ids.at(handle)));
        REQUIRE_FALSE(found.is_null());
        return client_world_.at(found);
    }
    [[nodiscard]] ParentIndex parent(std::string_view name) const {
        return *layout_->find_parent(name);
    }
    [[nodiscard]] const ReplicationCounters& counters() const { return server.stats().replication; }

    void tick() {
        now_ = now_.plus_milliseconds(20);
        network_.advance(now_);
        server.tick_dispatch(now_);
        server.tick_flush(now_);
        client_.tick_dispatch(now_);
        client_.tick_flush(now_);
    }
    [[nodiscard]] bool settle() {
        for (int i = 0; i < 2'000; ++i) {
            tick();
            if (server.connection_count() == 1 && server.is_settled()) {
                return true;
            }
        }
        return false;
    }
    void heal() { network_.heal(); }

  private:
    static constexpr PeerId server_peer{1};
    static constexpr PeerId client_peer{2};

    [[nodiscard]] static SimulatedNetworkSettings network_settings(const GameOptions& options) {
        SimulatedNetworkSettings settings;
        settings.link.loss = options.loss;
        return settings;
    }
    [[nodiscard]] static NetDriverSettings server_settings(const GameOptions& options) {
        NetDriverSettings settings;
        settings.mark_validation_ticks = options.mark_validation_ticks;
        return settings;
    }

    TypeRegistry registry_;
    TypeRegistry client_registry_;
    std::unique_ptr<RepLayout> layout_;
    std::unique_ptr<RepLayout> client_layout_;
    SimulatedNetwork network_;
    NetTime now_ = NetTime::from_milliseconds(1'000);

  public:
    ScriptedTransport server_transport;
    TypedWorld<Beacon> server_world;
    NetDriver server;
    std::map<ObjectHandle, NetObjectId> ids;

  private:
    TypedWorld<Beacon> client_world_;
    NetDriver client_;
};

/// Edits at random, each marked; what the server sent, in order. With the same seed the calls are
/// the same, except that a polled property is not marked.
[[nodiscard]] std::vector<Datagram> play_at_random(const GameOptions& options,
                                                   std::uint32_t ticks) {
    BeaconGame game(options);
    SeededRandom random(options.seed);
    std::vector<ObjectHandle> beacons{game.add(), game.add(), game.add()};
    std::uint64_t newest = beacons.back().value;
    const auto mark = [&](ObjectHandle handle, std::string_view name) {
        if (!options.is_pushed) {
            return;
        }
        const NetObjectId id = game.ids.at(handle);
        switch (handle.value % 3) {
            case 0:
                game.server.mark_property_dirty(id, name);
                return;
            case 1:
                game.server.mark_property_dirty(id, game.parent(name));
                return;
            default:
                game.server.mark_object_dirty(id);
                return;
        }
    };
    for (std::uint32_t tick = 0; tick < ticks; ++tick) {
        if (options.is_paced && random.percent(20)) {
            change_pace(game.server.rates(), game.ids.at(random.pick(beacons)), random);
        }
        for (std::uint32_t i = random.below(5); i > 0; --i) {
            const ObjectHandle handle = random.pick(beacons);
            const auto value = static_cast<std::int32_t>(random.below(4));
            switch (random.below(9)) {
                case 0:
                    game.beacon(handle).color = value;
                    mark(handle, "color");
                    break;
                case 1:
                    game.beacon(handle).charge = value;
                    mark(handle, "charge");
                    break;
                case 2:  // some name an object that nobody knows yet, some one that is gone
                    game.beacon(handle).link = ObjectHandle{newest - 6 + random.below(10)};
                    mark(handle, "link");
                    break;
                case 3:
                    game.beacon(handle).cargo = value;
                    mark(handle, "cargo");
                    break;
                case 4:
                    game.beacon(handle).route = value;
                    mark(handle, "route");
                    break;
                case 5:
                    game.server.set_property_active(game.ids.at(handle), "cargo", value % 2 == 0);
                    break;
                case 6:
                    game.server.set_dynamic_condition(
                        game.ids.at(handle), "route",
                        value % 2 == 0 ? LifetimeCondition::None : LifetimeCondition::Never);
                    break;
                case 7:
                    beacons.push_back(game.add());
                    newest = beacons.back().value;
                    break;
                default:
                    if (beacons.size() > 2) {
                        const std::uint32_t place =
                            random.below(static_cast<std::uint32_t>(beacons.size()));
                        game.remove(beacons[place]);
                        beacons.erase(beacons.begin() + place);
                    }
                    break;
            }
        }
        game.tick();
    }
    game.heal();
    for (const ObjectHandle handle : beacons) {
        game.server.rates().force_net_update(game.ids.at(handle));
    }
    REQUIRE(game.settle());
    for (const ObjectHandle handle : beacons) {
        REQUIRE(game.beacon_on_client(handle).color == game.beacon(handle).color);
        REQUIRE(game.beacon_on_client(handle).charge == game.beacon(handle).charge);
    }
    return game.server_transport.sent;
}

struct LogLines {
    LogLines() {
        set_log_handler(
            [](LogLevel level, std::string_view message, void* context) {
                if (level == LogLevel::Error) {
                    static_cast<LogLines*>(context)->lines.emplace_back(message);
                }
            },
            this);
    }
    ~LogLines() { set_log_handler(nullptr, nullptr); }
    LogLines(const LogLines&) = delete;
    LogLines& operator=(const LogLines&) = delete;

    std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("Push model: marks, polling and validation give the same packets",
          "[netdriver][push_model]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    const bool is_paced = GENERATE(false, true);
    for (const double loss : {0.0, 0.2}) {
        GameOptions options{true, 0, seed, loss, is_paced};
        const auto pushed = play_at_random(options, 150);
        options.mark_validation_ticks = 3;
        const auto validated = play_at_random(options, 150);
        options.is_pushed = false;
        const auto polled = play_at_random(options, 150);
        REQUIRE(pushed.size() == polled.size());
        REQUIRE(pushed.size() == validated.size());
        for (std::size_t i = 0; i < pushed.size(); ++i) {
            REQUIRE(pushed[i].bytes == polled[i].bytes);
            REQUIRE(pushed[i].bytes == validated[i].bytes);
        }
    }
}

TEST_CASE("Push model: a reference to what is gone stays as it was when another names it",
          "[netdriver][push_model]") {
    const bool is_pushed = GENERATE(true, false);
    BeaconGame game(GameOptions{is_pushed, 0, 1, 0.0});
    const ObjectHandle first = game.add();
    const ObjectHandle second = game.add();
    const ObjectHandle target = game.add();
    game.beacon(first).link = target;
    REQUIRE(game.settle());
    game.remove(target);
    REQUIRE(game.settle());
    const std::uint64_t changed = game.counters().properties_changed;
    game.beacon(second).link = target;
    game.server.mark_property_dirty(game.ids.at(second), "link");
    REQUIRE(game.settle());
    CHECK(game.counters().properties_changed == changed + 1);
}

TEST_CASE("Push model: ten thousand objects that nobody marks cost no look and no comparison",
          "[netdriver][push_model]") {
    BeaconGame game;
    std::vector<ObjectHandle> beacons = add_many(10'000, [&] { return game.add(); });
    REQUIRE(game.settle());
    const ReplicationCounters before = game.counters();
    const std::uint64_t lookups = game.server_world.lookup_count;
    for (int i = 0; i < 5; ++i) {
        game.tick();
    }
    CHECK(game.counters().objects_compared == before.objects_compared);
    CHECK(game.counters().objects_skipped - before.objects_skipped == 50'000);
    CHECK(game.server_world.lookup_count == lookups);

    game.beacon(beacons[7'000]).color = 3;
    game.server.mark_property_dirty(game.ids.at(beacons[7'000]), "color");
    game.server.mark_property_dirty(game.ids.at(beacons[7]), game.parent("charge"));
    game.tick();
    CHECK(game.counters().objects_compared - before.objects_compared == 2);
    CHECK(game.counters().objects_changed - before.objects_changed == 1);
    CHECK(game.server_world.lookup_count - lookups == 2);
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacons[7'000]).color == 3);
}

TEST_CASE("Push model: marks of a dormant object wait until it wakes", "[netdriver][push_model]") {
    GameOptions options;
    options.mark_validation_ticks = 1;
    BeaconGame game(options);
    const ObjectHandle beacon = game.add();
    game.server.set_dormancy(game.ids.at(beacon), NetDormancy::DormantAll);
    REQUIRE(game.settle());
    const std::uint64_t lookups = game.server_world.lookup_count;
    game.beacon(beacon).color = 3;
    game.server.mark_property_dirty(game.ids.at(beacon), "color");
    game.beacon(beacon).charge = 4;  // its mark comes with the flush
    for (int i = 0; i < 10; ++i) {
        game.tick();
    }
    CHECK(game.server_world.lookup_count == lookups);
    CHECK(game.beacon_on_client(beacon).color == 0);
    game.server.flush_dormancy(game.ids.at(beacon));
    game.server.mark_property_dirty(game.ids.at(beacon), "charge");
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).color == 3);
    CHECK(game.beacon_on_client(beacon).charge == 4);
    CHECK(game.counters().marks_missed == 0);
}

TEST_CASE("Push model: an object in a slot that is used again is new, and so dirty",
          "[netdriver][push_model]") {
    BeaconGame game;
    const ObjectHandle first = game.add();
    REQUIRE(game.settle());
    game.server.mark_object_dirty(game.ids.at(first));
    const NetObjectId old = game.ids.at(first);
    game.remove(first);
    const ObjectHandle second = game.add();
    REQUIRE(game.ids.at(second).index == old.index);
    game.beacon(second).charge = 9;
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(second).charge == 9);
    game.beacon(second).charge = 10;
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(second).charge == 9);  // the mark of the slot's first object ended
}

TEST_CASE("Push model: a switch takes effect without a mark", "[netdriver][push_model]") {
    BeaconGame game;
    const ObjectHandle beacon = game.add();
    const NetObjectId id = game.ids.at(beacon);
    REQUIRE(game.settle());
    game.server.set_property_active(id, "cargo", false);
    REQUIRE(game.settle());
    game.beacon(beacon).cargo = 5;
    game.server.mark_property_dirty(id, "cargo");
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).cargo == 0);
    game.server.set_property_active(id, "cargo", true);
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).cargo == 5);

    game.server.set_dynamic_condition(id, "route", LifetimeCondition::Never);
    game.beacon(beacon).route = 6;
    game.server.mark_property_dirty(id, "route");
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).route == 0);
    game.server.set_dynamic_condition(id, "route", LifetimeCondition::None);
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).route == 6);
}

TEST_CASE("Push model: a forgotten mark is logged once, counted, and not sent",
          "[netdriver][push_model]") {
    GameOptions options;
    options.mark_validation_ticks = 1;
    BeaconGame game(options);
    const ObjectHandle beacon = game.add();
    const ObjectHandle other = game.add();
    REQUIRE(game.settle());
    const LogLines log;
    game.beacon(beacon).charge = 4;
    game.tick();
    game.tick();
    CHECK(game.counters().marks_missed == 2);
    game.beacon(other).charge = 4;
    game.tick();
    CHECK(game.counters().marks_missed == 4);
    const auto line = [&](ObjectHandle object) {
        return "forgotten mark: property \"charge\" of a \"Beacon\" (network id " +
               std::to_string(game.server.guid_of(game.ids.at(object)).value) +
               ") changed, and was not marked dirty, so it is not sent: charge was 0 and is 4";
    };
    CHECK(log.lines == std::vector<std::string>{line(beacon), line(other)});
    game.beacon(other).link = beacon;
    game.tick();
    CHECK(log.lines.size() == 3);
    REQUIRE(game.settle());
    CHECK(game.beacon_on_client(beacon).charge == 0);

    game.server.mark_object_dirty(game.ids.at(beacon));
    game.server.mark_object_dirty(game.ids.at(other));
    const std::uint64_t missed = game.counters().marks_missed;
    REQUIRE(game.settle());
    CHECK(game.counters().marks_missed == missed);
    CHECK(game.beacon_on_client(beacon).charge == 4);
}

TEST_CASE("Push model: of one property sixteen forgotten marks are logged, and all are counted",
          "[netdriver][push_model]") {
    GameOptions options;
    options.mark_validation_ticks = 1;
    BeaconGame game(options);
    std::vector<ObjectHandle> beacons = add_many(20, [&] { return game.add(); });
    REQUIRE(game.settle());
    const LogLines log;
    for (const ObjectHandle beacon : beacons) {
        game.beacon(beacon).charge = 4;
    }
    game.beacon(beacons[0]).color = 1;
    game.tick();
    game.tick();
    CHECK(game.counters().marks_missed == 42);
    CHECK(log.lines.size() == 17);
}

TEST_CASE("Push model: the last change before a switch needs its mark, and validation says so",
          "[netdriver][push_model]") {
    GameOptions options;
    options.mark_validation_ticks = 1;
    BeaconGame game(options);
    const ObjectHandle beacon = game.add();
    const NetObjectId id = game.ids.at(beacon);
    REQUIRE(game.settle());
    const LogLines log;
    game.beacon(beacon).cargo = 5;
    game.server.set_property_active(id, "cargo", false);
    game.tick();
    CHECK(game.counters().marks_missed == 1);
    CHECK(log.lines.size() == 1);
    game.beacon(beacon).cargo = 6;  // while it is off, nobody is to be told
    REQUIRE(game.settle());
    CHECK(game.counters().marks_missed == 1);
    CHECK(game.beacon_on_client(beacon).cargo == 0);

    game.server.set_property_active(id, "cargo", true);
    REQUIRE(game.settle());
    game.beacon(beacon).cargo = 7;
    game.server.mark_property_dirty(id, "cargo");
    game.server.set_property_active(id, "cargo", false);
    REQUIRE(game.settle());
    CHECK(game.counters().marks_missed == 1);
    CHECK(game.beacon_on_client(beacon).cargo == 7);
}

TEST_CASE("Push model: an unknown property name is refused with its class and the names there are",
          "[netdriver][push_model]") {
    BeaconGame game;
    const NetObjectId id = game.ids.at(game.add());
    const Refusals refusals;
    game.server.mark_property_dirty(id, "colour");
    game.server.set_property_active(id, "kargo", true);
    game.server.set_dynamic_condition(id, "rout", LifetimeCondition::Never);
    CHECK(game.server.dynamic_condition_of(id, "") == LifetimeCondition::None);
    if (Refusals::are_told) {
        const std::string has_no = ": object 0.1, a \"Beacon\", has no property ";
        REQUIRE(refusals.sentences().size() == 4);
        CHECK(refusals.sentences()[0] == "mark_property_dirty" + has_no +
                                             "\"colour\" that is replicated; did you mean "
                                             "\"color\"?");
        CHECK(refusals.count("set_property_active" + has_no + "\"kargo\"") == 1);
        CHECK(refusals.count("did you mean \"cargo\"?") == 1);
        CHECK(refusals.count("set_dynamic_condition" + has_no + "\"rout\"") == 1);
        CHECK(refusals.count("dynamic_condition_of" + has_no +
                             "\"\" that is replicated; it has "
                             "\"") == 1);
    }
}

TEST_CASE("Push model: validation looks at each object once in so many ticks",
          "[netdriver][push_model]") {
    GameOptions options;
    options.mark_validation_ticks = 4;
    BeaconGame game(options);
    std::vector<ObjectHandle> beacons = add_many(10, [&] { return game.add(); });
    REQUIRE(game.settle());
    const LogLines log;  // silence
    for (const ObjectHandle beacon : beacons) {
        game.beacon(beacon).color = 1;
    }
    const std::uint64_t lookups = game.server_world.lookup_count;
    for (int i = 0; i < 8; ++i) {
        game.tick();
    }
    CHECK(game.counters().marks_missed == 20);
    CHECK(game.server_world.lookup_count - lookups == 20);
}

}  // namespace replayout::test::push_model_test
