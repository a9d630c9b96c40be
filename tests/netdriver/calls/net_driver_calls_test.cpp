// SPDX-License-Identifier: MIT
//
// Who is called by the driver must not call back in (docs/integration.md).
#include <replayout/net_archive.h>
#include <replayout/netdriver/net_driver.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/refusals.h"
#include "support/worlds/class_game.h"

namespace replayout::test {
namespace {

/// What a test does from within calls of the driver.
std::function<void()> from_within;

void call_from_within() {
    if (from_within) {
        const std::function<void()> call = std::exchange(from_within, nullptr);
        call();
    }
}

struct Clapper {
    std::uint8_t weight = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        archive.serialize(weight);
        ok = true;
        if (archive.is_saving()) {
            call_from_within();
        }
        return true;
    }
    friend bool operator==(const Clapper&, const Clapper&) = default;
};
struct Pull {
    Clapper clapper;
};
struct Bell {
    std::int32_t rings = 0;
    Clapper clapper;

    void on_rep_rings(const std::int32_t&) { call_from_within(); }
    void server_pull(const Pull& pull) { rings += pull.clapper.weight; }
    void multicast_chime(const Pull& pull) { chimed += pull.clapper.weight; }

    std::int32_t chimed = 0;  // not replicated
};

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Clapper> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_identical_via_equality = true;
};

namespace replayout::test {
namespace {

[[nodiscard]] Result<const Type*> build_bell(TypeRegistry& registry) {
    REQUIRE(struct_builder<Clapper>(registry, "Clapper").build());
    REQUIRE(struct_builder<Pull>(registry, "Pull").property<&Pull::clapper>().build());
    return class_builder<Bell>(registry, "Bell")
        .property<&Bell::rings>()
        .on_rep<&Bell::on_rep_rings>()
        .property<&Bell::clapper>()
        .function<&Bell::server_pull>(FunctionFlags::Server | FunctionFlags::Reliable)
        .function<&Bell::multicast_chime>(FunctionFlags::Multicast | FunctionFlags::Reliable)
        .build();
}

using Calls = std::vector<std::function<void()>>;

/// How many of these calls are refused because the driver is calling, or for what is said.
[[nodiscard]] std::size_t refused_count(const Calls& calls,
                                        const char* reason = "called from within the world") {
    const Refusals refusals;
    for (const std::function<void()>& call : calls) {
        call();
    }
    return refusals.count(reason);
}

}  // namespace

TEST_CASE("NetDriver: a notify that calls back into it is refused", "[netdriver][net_driver]") {
    ClassGame<Bell> game(build_bell);
    const std::size_t client = game.join();
    const ObjectHandle bell = game.add();
    REQUIRE(game.settle());
    NetDriver& driver = game.client_driver(client);
    const NetTime now = NetTime::from_milliseconds(0);
    const Calls calls = {
        [&] { driver.disconnect(PeerId{1}); },
        [&] { driver.tick_dispatch(now); },
        [&] { driver.tick_flush(now); },
    };
    const auto is_start_refused = [&] {
        return !driver.add_layout(game.layout()) && !driver.listen() &&
               !driver.connect(PeerId{1}, now);
    };
    bool has_refused_start = false;
    std::size_t refused = 0;
    bool is_joined = false;
    from_within = [&] {
        refused = refused_count(calls);
        has_refused_start = is_start_refused();
        is_joined = driver.state() == ConnectionState::Joined;  // to ask is no harm
    };
    game.object(bell).rings = 1;
    REQUIRE(game.settle());
    CHECK(refused == (Refusals::are_told ? calls.size() : 0));
    CHECK(has_refused_start);
    CHECK(is_joined);
    CHECK(game.object_on(client, bell).rings == 1);
    driver.disconnect(PeerId{1});
    CHECK(driver.state() != ConnectionState::Joined);
}

TEST_CASE("NetDriver: a serializer that calls back into it is refused", "[netdriver][net_driver]") {
    ClassGame<Bell> game(build_bell);
    game.join();
    const ObjectHandle bell = game.add();
    const NetObjectId id = game.id_of(bell);
    REQUIRE(game.settle());
    NetDriver& driver = game.driver();
    const Calls calls = {
        [&] { (void)driver.add_object(game.layout(), ObjectHandle{99}); },
        [&] { driver.remove_object(id); },
        [&] { driver.mark_object_dirty(id); },
        [&] { driver.mark_property_dirty(id, "rings"); },
        [&] { driver.mark_property_dirty(id, ParentIndex{0}); },
        [&] { driver.set_owner(id, PeerId{2}); },
        [&] { driver.clear_owner(id); },
        [&] { driver.set_autonomous(id, true); },
        [&] { driver.set_replicates_physics(id, true); },
        [&] { driver.set_property_active(id, "rings", false); },
        [&] { driver.set_dynamic_condition(id, "rings", LifetimeCondition::None); },
        [&] { driver.set_is_replay(PeerId{2}, true); },
        [&] { driver.set_dormancy(id, NetDormancy::DormantAll); },
        [&] { driver.set_dormant_for(PeerId{2}, id, true); },
        [&] { driver.flush_dormancy(id); },
        [&] { (void)driver.call_function(id, "ring"); },
        [&] { (void)driver.call_function(id, FunctionIndex{0}); },
        [&] { driver.disconnect(PeerId{2}); },
    };
    std::size_t refused = 0;
    from_within = [&] { refused = refused_count(calls); };
    game.object(bell).clapper.weight = 3;
    REQUIRE(game.settle());
    CHECK(refused == (Refusals::are_told ? calls.size() : 0));
    CHECK(game.object_on(0, bell).clapper.weight == 3);
}

TEST_CASE("NetDriver: a server's calls out of the serializer of a call's parameters are refused",
          "[netdriver][net_driver][rpc]") {
    ClassGame<Bell> game(build_bell);
    game.join();
    game.join();
    const ObjectHandle bell = game.add();
    REQUIRE(game.settle());
    NetDriver& driver = game.driver();
    const NetObjectId id = game.id_of(bell);
    const Pull pull{{3}};
    const Calls calls = {
        [&] { (void)driver.call<&Bell::multicast_chime>(id, pull); },
        [&] { driver.remove_object(id); },
        [&] { driver.set_owner(id, game.peer_of(0)); },
        [&] { driver.interest().set_relevant_for(game.peer_of(0), id, false); },
    };
    std::size_t refused = 0;
    from_within = [&] { refused = refused_count(calls); };
    CHECK(driver.call<&Bell::multicast_chime>(id, pull) == CallResult::Sent);
    CHECK(refused == (Refusals::are_told ? calls.size() : 0));
    REQUIRE(game.settle());
    for (std::size_t client = 0; client < 2; ++client) {
        CHECK(game.client_driver(client).close_reason() == CloseReason::None);
        CHECK(game.object_on(client, bell).chimed == 3);
    }
}

TEST_CASE("NetDriver: a call out of the serializer of another call is refused",
          "[netdriver][net_driver][rpc]") {
    ClassGame<Bell> game(build_bell);
    const std::size_t client = game.join();
    const ObjectHandle bell = game.add();
    game.driver().set_owner(game.id_of(bell), game.peer_of(client));
    REQUIRE(game.settle());
    NetDriver& driver = game.client_driver(client);
    const ObjectHandle shown = game.handle_on(client, bell);
    const Pull pull{{3}};
    std::size_t refused = 0;
    from_within = [&] {
        refused = refused_count({[&] { (void)driver.call_function(shown, "server_pull", &pull); }},
                                "net_serialize");
    };
    CHECK(driver.call_function(shown, "server_pull", &pull) == CallResult::Sent);
    CHECK(refused == (Refusals::are_told ? 1 : 0));
    game.tick();
    REQUIRE(game.settle());
    CHECK(game.object(bell).rings == 3);
}

TEST_CASE("NetDriver: a part that no group decides about is put into none",
          "[netdriver][net_driver][interest]") {
    ClassGame<Bell> game(build_bell);
    const ObjectHandle bell = game.add();
    SubobjectParameters of_group;
    of_group.condition = LifetimeCondition::NetGroup;
    SubobjectParameters of_owner;
    of_owner.condition = LifetimeCondition::OwnerOnly;
    const NetObjectId grouped = game.id_of(game.add_part(bell, of_group));
    const NetObjectId plain = game.id_of(game.add_part(bell));
    const NetObjectId owned = game.id_of(game.add_part(bell, of_owner));
    Interest interest = game.driver().interest();
    const char* const reason = "is a part that is not of LifetimeCondition::NetGroup";
    CHECK(refused_count({[&] { interest.add_to_group(plain, NetGroup{1}); },
                         [&] { interest.add_to_group(owned, NetGroup{1}); },
                         [&] { interest.add_to_group(grouped, NetGroup{1}); },
                         [&] { interest.add_to_group(game.id_of(bell), NetGroup{1}); },
                         [&] { interest.remove_from_group(plain, NetGroup{1}); },
                         [&] { interest.clear_groups(owned); }},
                        reason) == (Refusals::are_told ? 2 : 0));
}

}  // namespace replayout::test
