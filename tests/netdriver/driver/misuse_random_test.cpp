// SPDX-License-Identifier: MIT
//
// Mistakes of every kind, at random, in the middle of a game: each public function of a driver with
// ids that are stale, another driver's or none, with values beyond their range, before the start,
// after the end, at the wrong end and from within the world. They change no byte of what is sent.
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <functional>
#include <limits>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/call_game.h"

namespace replayout::test {
namespace {

using Mistake = std::function<void(NetDriver&, NetObjectId)>;

constexpr PeerId peer{2};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// What no function takes.
struct Stray {
    std::uint8_t byte = 0;
};

/// Functions of a server about an object. With an id that is none they are all mistakes.
[[nodiscard]] const std::vector<Mistake>& with_ids() {
    using D = NetDriver;
    using Id = NetObjectId;
    static const Order order;
    static const std::vector<Mistake> all = {
        [](D& d, Id i) { (void)d.add_subobject(i, turret_layout(), ObjectHandle{77}); },
        [](D& d, Id i) { d.remove_object(i); },
        [](D& d, Id i) { d.tear_off(i); },
        [](D& d, Id i) { (void)d.is_relevant_for(peer, i); },
        [](D& d, Id i) { d.mark_property_dirty(i, "power"); },
        [](D& d, Id i) { d.mark_property_dirty(i, ParentIndex{0}); },
        [](D& d, Id i) { d.mark_object_dirty(i); },
        [](D& d, Id i) { d.set_owner(i, peer); },
        [](D& d, Id i) { d.clear_owner(i); },
        [](D& d, Id i) { d.set_autonomous(i, true); },
        [](D& d, Id i) { d.set_player(i, true); },
        [](D& d, Id i) { (void)d.role_for(peer, i); },
        [](D& d, Id i) { d.set_replicates_physics(i, true); },
        [](D& d, Id i) { d.set_property_active(i, "power", false); },
        [](D& d, Id i) { d.set_dynamic_condition(i, "power", LifetimeCondition::OwnerOnly); },
        [](D& d, Id i) { (void)d.dynamic_condition_of(i, "power"); },
        [](D& d, Id i) { d.set_dormancy(i, NetDormancy::DormantAll); },
        [](D& d, Id i) { (void)d.dormancy_of(i); },
        [](D& d, Id i) { d.set_dormant_for(peer, i, true); },
        [](D& d, Id i) { d.flush_dormancy(i); },
        [](D& d, Id i) { (void)d.is_dormant_for(peer, i); },
        [](D& d, Id i) { (void)d.call_function(i, "multicast_boom", &order); },
        [](D& d, Id i) { (void)d.call_function(i, FunctionIndex{0}, &order); },
        [](D& d, Id i) { (void)d.call<&Turret::multicast_boom>(i, {}); },
        [](D& d, Id i) { (void)d.guid_of(i); },
        [](D& d, Id i) { (void)d.connection_shadow(peer, i); },
        [](D& d, Id i) { d.interest().set_relevancy(i, NetRelevancy::OnlyToOwner); },
        [](D& d, Id i) { d.interest().set_cull_distance(i, 5); },
        [](D& d, Id i) { d.interest().set_owner_object(i, i); },
        [](D& d, Id i) {
            d.interest().set_location(i, {1, 2, 3});
        },
        [](D& d, Id i) { d.interest().add_to_group(i, NetGroup{1}); },
        [](D& d, Id i) { d.interest().remove_from_group(i, NetGroup{1}); },
        [](D& d, Id i) { d.interest().clear_groups(i); },
        [](D& d, Id i) { d.interest().set_relevant_for(peer, i, false); },
        [](D& d, Id i) { d.interest().clear_relevant_for(peer, i); },
        [](D& d, Id i) { d.interest().reconsider(i); },
        [](D& d, Id i) { d.interest().reconsider(peer, i); },
        [](D& d, Id i) { (void)d.interest().is_in_sight(peer, i); },
        [](D& d, Id i) { d.rates().set_net_update_frequency(i, {1}); },
        [](D& d, Id i) { (void)d.rates().net_update_frequency_of(i); },
        [](D& d, Id i) { d.rates().force_net_update(i); },
        [](D& d, Id i) { d.rates().set_net_priority(i, 8); },
        [](D& d, Id i) { (void)d.rates().owed_to(peer, i); },
    };
    return all;
}

/// Functions of a server that name no object.
[[nodiscard]] const std::vector<Mistake>& without_ids() {
    using D = NetDriver;
    using Id = NetObjectId;
    static const std::vector<Mistake> all = {
        [](D& d, Id) { (void)d.add_object(turret_layout(), ObjectHandle{78}); },
        [](D& d, Id) { d.forget_destroyed("gate"); },
        [](D& d, Id) { d.forget_all_destroyed(); },
        [](D& d, Id) { d.set_host(PeerId{99}); },
        [](D& d, Id) { d.clear_host(); },
        [](D& d, Id) { d.set_is_replay(peer, true); },
        [](D& d, Id) { d.stop_recording(); },
        [](D& d, Id) { d.interest().set_class_relevancy(turret_layout(), NetRelevancy::Grid); },
        [](D& d, Id) { d.interest().set_class_cull_distance(turret_layout(), 5); },
        [](D& d, Id) {
            d.interest().set_viewer(peer, {1, 2, 3});
        },
        [](D& d, Id) { d.interest().remove_viewer(peer); },
        [](D& d, Id) { d.interest().look_around(); },
        [](D& d, Id) { d.interest().set_view_radius(peer, 5); },
        [](D& d, Id) { d.interest().set_in_group(peer, NetGroup{1}, true); },
        [](D& d, Id) { d.rates().set_class_net_update_frequency(turret_layout(), {1}); },
        [](D& d, Id) { d.rates().set_bytes_per_second_max(peer, 5'000); },
        [](D& d, Id) { d.rates().set_class_net_priority(turret_layout(), 4); },
        [](D& d, Id) { d.rates().set_priority_distance(5); },
    };
    return all;
}

/// With an object that is there, and a value that is wrong.
[[nodiscard]] const std::vector<Mistake>& with_wrong_values() {
    using D = NetDriver;
    using Id = NetObjectId;
    static const Stray stray;
    static const std::vector<Mistake> all = {
        [](D& d, Id i) { d.remove_object(i, ChannelCloseReason::Dormancy); },
        [](D& d, Id i) { d.mark_property_dirty(i, "powr"); },
        [](D& d, Id i) { d.mark_property_dirty(i, ParentIndex{500}); },
        [](D& d, Id i) { d.set_property_active(i, "power", false); },
        [](D& d, Id i) { d.set_dynamic_condition(i, "power", LifetimeCondition::OwnerOnly); },
        [](D& d, Id i) { (void)d.call_function(i, "multicast_boom", &stray); },
        [](D& d, Id i) { (void)d.call_function(i, "multicast_boom"); },
        [](D& d, Id i) { (void)d.call_function(i, "multicast_bom", &stray); },
        [](D& d, Id i) { (void)d.call_function(i, FunctionIndex{500}, &stray); },
        [](D& d, Id i) {
            SubobjectParameters parameters;
            parameters.condition = LifetimeCondition::InitialOnly;
            (void)d.add_subobject(i, turret_layout(), ObjectHandle{77}, parameters);
        },
        [](D& d, Id) {
            SpawnParameters parameters;
            parameters.location = {0, not_a_number, 0};
            (void)d.add_object(turret_layout(), ObjectHandle{77}, parameters);
        },
        [](D& d, Id) {
            SpawnParameters parameters;
            parameters.stable_name = "\xFF";
            (void)d.add_object(turret_layout(), ObjectHandle{77}, parameters);
        },
        [](D& d, Id i) { d.interest().set_cull_distance(i, not_a_number); },
        [](D& d, Id i) { d.interest().set_owner_object(i, i); },
        [](D& d, Id i) {
            d.interest().set_location(i, {not_a_number, 0, 0});
        },
        [](D& d, Id) {
            d.interest().set_viewer(peer, {0, not_a_number, 0});
        },
        [](D& d, Id) {
            d.interest().set_viewer(peer, {1, 2, 3}, 99);
        },
        [](D& d, Id) { d.interest().set_view_radius(peer, -1); },
        [](D& d, Id i) { d.rates().set_net_update_frequency(i, {-1}); },
        [](D& d, Id i) { d.rates().set_net_priority(i, 0); },
        [](D& d, Id) { d.rates().set_bytes_per_second_max(peer, 5); },
        [](D& d, Id) { d.rates().set_priority_distance(not_a_number); },
        [](D& d, Id) { d.set_host(peer); },
        [](D& d, Id) { (void)d.add_object(turret_layout(), {}); },
        [](D& d, Id) { (void)d.add_layout(turret_layout()); },
        [](D& d, Id) { (void)d.add_archetype(ArchetypeId{7}, turret_layout()); },
        [](D& d, Id) { (void)d.add_archetype(ArchetypeId{0}, turret_layout()); },
        [](D& d, Id) { (void)d.listen(); },
        [](D& d, Id) { (void)d.connect(peer, {}); },
        [](D& d, Id i) { (void)d.interest().is_in_sight(PeerId{77}, i); },
    };
    return all;
}

/// The same game each time, with mistakes in it or without.
class MistakenGame {
  public:
    MistakenGame(std::uint64_t seed, bool is_mistaken)
        : random_(seed), mistakes_(seed + 1), is_mistaken_(is_mistaken), net_(options(seed)) {
        net_.server().transport.is_recording = true;
        (void)net_.join();
        (void)net_.join();
        while (net_.server().driver.connection_count() < 2) {
            net_.tick();
        }
        idle_ = std::make_unique<NetDriver>(NetDriverSettings(), network_.endpoint(PeerId{1}),
                                            idle_world_);
        ended_ = std::make_unique<NetDriver>(NetDriverSettings(), network_.endpoint(PeerId{2}),
                                             idle_world_);
        end(*ended_);
        // From within the world of a client, which may call nothing but what is const.
        net_.client(0).world.on_told = [this](const std::string& what, ObjectHandle) {
            if (is_mistaken_ && (what == "spawn" || what == "despawn" || what == "role")) {
                err_within();
            }
        };
        // A body may do anything but the ticks.
        net_.client(1).world.on_call = [this](const char*, const Order&) {
            if (is_mistaken_) {
                net_.client(1).driver.tick_dispatch(net_.now());
                net_.client(1).driver.tick_flush(net_.now());
            }
        };
    }

    void play(int ticks) {
        for (int i = 0; i < ticks; ++i) {
            net_.tick([this] {
                move();
                for (int n = 0; is_mistaken_ && n < 4; ++n) {
                    err();
                }
            });
        }
        REQUIRE(net_.settle());
    }

    [[nodiscard]] const std::vector<Datagram>& sent() { return net_.server().transport.sent; }
    void check_clients() {
        for (const ObjectHandle handle : turrets_) {
            for (std::size_t client = 0; client < 2; ++client) {
                const Turret& shown = net_.turret_on(client, handle);
                REQUIRE(shown.power == net_.turret(handle).power);
                REQUIRE(shown.label == net_.turret(handle).label);
            }
        }
        CHECK(net_.client(0).world.object_count() == turrets_.size());
    }
    [[nodiscard]] std::size_t object_count() const noexcept { return turrets_.size(); }

  private:
    /// It connected, and said goodbye.
    static void end(NetDriver& driver) {
        REQUIRE(driver.add_layout(turret_layout()));
        REQUIRE(driver.connect(PeerId{1}, {}));
        driver.tick_dispatch({});
        driver.tick_flush({});
        driver.disconnect(PeerId{1});
        const NetTime later = NetTime::from_milliseconds(60'000);
        driver.tick_dispatch(later);
        driver.tick_flush(later);
        REQUIRE(driver.state() == ConnectionState::Closed);
    }
    [[nodiscard]] static CallFixtureOptions options(std::uint64_t seed) {
        CallFixtureOptions all;
        all.seed = seed;
        all.link.loss = 0.05;
        return all;
    }

    void move() {
        if (turrets_.size() < 4 || (turrets_.size() < 12 && random_.percent(20))) {
            turrets_.push_back(net_.add());
        } else if (random_.percent(10)) {
            stale_.push_back(net_.id_of(turrets_.back()));
            net_.remove(turrets_.back());
            turrets_.pop_back();
        }
        for (int i = 0; i < 3; ++i) {
            Turret& turret = net_.turret(random_.pick(turrets_));
            turret.power = random_.below(1'000);
            turret.label = std::string(random_.below(20), 'x');
        }
        if (random_.percent(30)) {
            (void)net_.call(random_.pick(turrets_), "multicast_boom", {random_.below(100), {}, ""});
        }
    }

    [[nodiscard]] NetObjectId wrong_id() {
        switch (mistakes_.below(4)) {
            case 0:
                return {};
            case 1:
                return {mistakes_.below(1'000) + 50, 1};
            case 2:
                return {mistakes_.below(4), 1'000'000};
            default:
                return stale_.empty() ? NetObjectId() : mistakes_.pick(stale_);
        }
    }
    void err() {
        NetDriver& server = net_.server().driver;
        const std::uint32_t which = mistakes_.below(4);
        NetDriver& wrong = which == 0   ? *idle_
                           : which == 1 ? *ended_
                                        : net_.client(which - 2).driver;
        const NetObjectId right = net_.id_of(mistakes_.pick(turrets_));
        switch (mistakes_.below(6)) {
            case 0:
            case 1:
                mistakes_.pick(with_ids())(server, wrong_id());
                break;
            case 2:
                mistakes_.pick(with_ids())(wrong, right);
                break;
            case 3:
                mistakes_.pick(without_ids())(wrong, right);
                break;
            case 4:
                mistakes_.pick(with_wrong_values())(server, right);
                break;
            default:
                err_otherwise(server, wrong);
        }
    }
    void err_otherwise(NetDriver& server, NetDriver& wrong) {
        const ObjectHandle there = mistakes_.pick(turrets_);
        const Stray stray;
        switch (mistakes_.below(6)) {
            case 0:
                (void)server.add_object(turret_layout(), there);
                break;
            case 1:
                (void)server.call_function(there, "server_reset");
                break;
            case 2:
                (void)net_.client(0).driver.call_function(ObjectHandle{12'345'678}, "server_fire",
                                                          &stray);
                break;
            case 3:
                (void)net_.client(0).driver.call_function(net_.find_on(0, there), "server_fire",
                                                          &stray);
                break;
            case 4:
                (void)server.role_of(there);
                (void)server.server_layout("Turret");
                (void)server.find_reference(there, {});
                break;
            default:
                (void)wrong.object_count();
                (void)wrong.connection_count();
                (void)wrong.connection_state(peer);
                (void)wrong.is_settled();
                (void)wrong.find_object(there);
                (void)wrong.type_counters(turret_layout());
                (void)wrong.rates().bandwidth_of(peer);
                for (NetDriver* driver : {idle_.get(), ended_.get()}) {
                    driver->tick_dispatch(net_.now());
                    driver->tick_flush(net_.now());
                    driver->disconnect(peer);
                    (void)driver->call_function(there, "server_fire", &stray);
                }
        }
    }
    void err_within() {
        NetDriver& driver = net_.client(0).driver;
        driver.disconnect(CallFixture::server_peer);
        driver.tick_dispatch(net_.now());
        driver.tick_flush(net_.now());
        driver.set_spawn_handler(turret_layout(), nullptr);
        (void)driver.add_layout(turret_layout());
        (void)driver.connect(peer, net_.now());
        mistakes_.pick(with_ids())(driver, {0, 1});
    }

    SeededRandom random_;
    SeededRandom mistakes_;
    bool is_mistaken_;
    CallFixture net_;
    LoopbackNetwork network_{{}, std::pmr::get_default_resource()};
    CallWorld idle_world_{1};
    std::unique_ptr<NetDriver> idle_;
    std::unique_ptr<NetDriver> ended_;
    std::vector<ObjectHandle> turrets_;
    std::vector<NetObjectId> stale_;
};

}  // namespace

TEST_CASE("Misuse: mistakes at random in every tick of a game change no byte of it",
          "[netdriver][misuse][random]") {
    for (const std::uint64_t seed : seed_range(1, 6)) {
        INFO("seed " << seed);
        const Refusals refusals;
        MistakenGame right(seed, false);
        MistakenGame mistaken(seed, true);
        right.play(200);
        CHECK(refusals.sentences().empty());
        mistaken.play(200);
        right.check_clients();
        mistaken.check_clients();
        CHECK(refusals.sentences().size() >= (Refusals::are_told ? 500u : 0u));
        CHECK(mistaken.object_count() == right.object_count());
        REQUIRE(mistaken.sent() == right.sent());
    }
}

}  // namespace replayout::test
