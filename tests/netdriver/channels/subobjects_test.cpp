// SPDX-License-Identifier: MIT
//
// Objects that are parts of others: they come behind their outer, go before it, and are what it is
// to each client.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

[[nodiscard]] SubobjectParameters part_of(LifetimeCondition condition) {
    SubobjectParameters parameters;
    parameters.condition = condition;
    return parameters;
}

}  // namespace

TEST_CASE("Subobjects: come with their outer, in one packet, and go before it",
          "[netdriver][subobjects]") {
    SpawnGame game;
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    (void)take_told(game.client(client));
    const ObjectHandle pawn = game.add(game.layouts().prop());
    SubobjectParameters named;
    named.stable_name = "weapon";
    const ObjectHandle weapon = game.add_part(pawn, named);
    const ObjectHandle scope = game.add_part(weapon);
    game.prop(scope).hp = 5;
    const std::uint64_t sent = game.server().driver.stats().packets_sent;
    game.tick();
    CHECK(game.server().driver.stats().packets_sent == sent + 1);
    REQUIRE(game.settle());
    CHECK(take_told(game.client(client)) ==
          Told{"spawn", "find weapon as a part", "spawn as a part"});
    CHECK(game.prop_on(client, scope).hp == 5);
    const ObjectHandle late = game.add_part(pawn);
    game.prop(late).hp = 6;
    REQUIRE(game.settle());
    CHECK(game.prop_on(client, late).hp == 6);
    (void)take_told(game.client(client));

    SECTION("one part") {
        game.remove(weapon);
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)) == Told{"despawn: destroyed", "despawn: destroyed"});
        CHECK(game.find_on(client, scope).is_null());
        CHECK_FALSE(game.find_on(client, late).is_null());
    }
    SECTION("all of it") {
        game.remove(pawn);
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)).size() == 4);
        CHECK(game.server().driver.object_count() == 0);
    }
    SECTION("torn off") {
        const ObjectHandle shown = game.find_on(client, scope);
        game.prop(scope).hp = 1;
        game.server().driver.tear_off(game.id_of(pawn));
        REQUIRE(game.settle());
        CHECK(take_told(game.client(client)).size() == 4);
        CHECK(game.client(client).world.at(shown).hp == 1);
        CHECK(game.server().driver.object_count() == 0);
    }
    SECTION("asleep") {
        NetDriver& driver = game.server().driver;
        driver.set_dormancy(game.id_of(pawn), NetDormancy::DormantAll);
        game.tick(50);
        CHECK(driver.is_dormant_for(SpawnGame::peer_of(client), game.id_of(scope)));
        game.prop(scope).hp = 2;
        const ObjectHandle another = game.add_part(weapon);
        game.tick(50);
        CHECK(game.prop_on(client, scope).hp == 5);
        CHECK_FALSE(game.find_on(client, another).is_null());
        CHECK(driver.is_dormant_for(SpawnGame::peer_of(client), game.id_of(another)));
        driver.flush_dormancy(game.id_of(pawn));
        game.tick(50);
        CHECK(game.prop_on(client, scope).hp == 2);
    }
}

TEST_CASE("Subobjects: a call of one comes behind it and its outer", "[netdriver][subobjects]") {
    SpawnGame game(bad_link());
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    for (int i = 0; i < 100; ++i) {
        const ObjectHandle pawn = game.add(game.layouts().prop());
        const ObjectHandle part = game.add_part(pawn);
        game.server().driver.set_owner(game.id_of(pawn), SpawnGame::peer_of(client));
        CHECK(game.server().driver.call_function(game.id_of(part), "client_tell") ==
              CallResult::Sent);
        game.tick(3);
        if (i % 2 == 0) {
            REQUIRE(game.settle());
            CHECK(game.prop_on(client, part).heard == Told{"tell"});
            game.remove(pawn);
        }
    }
    REQUIRE(game.settle());
    CHECK(game.client(client).driver.state() == ConnectionState::Joined);
}

TEST_CASE("Subobjects: each client has those that its role and its groups say",
          "[netdriver][subobjects]") {
    SpawnGame game(bad_link());
    const std::size_t one = game.join();
    const std::size_t other = game.join();
    NetDriver& driver = game.server().driver;
    REQUIRE(game.settle());
    const ObjectHandle pawn = game.add(game.layouts().prop());
    driver.set_owner(game.id_of(pawn), SpawnGame::peer_of(one));
    const ObjectHandle owners = game.add_part(pawn, part_of(LifetimeCondition::OwnerOnly));
    const ObjectHandle others = game.add_part(pawn, part_of(LifetimeCondition::SkipOwner));
    const ObjectHandle teams = game.add_part(pawn, part_of(LifetimeCondition::NetGroup));
    const ObjectHandle nobodys = game.add_part(pawn, part_of(LifetimeCondition::Never));
    driver.interest().add_to_group(game.id_of(teams), NetGroup{1});
    driver.interest().add_to_group(game.id_of(teams), NetGroup{2});
    const auto has = [&](std::size_t client, ObjectHandle part) {
        return !game.find_on(client, part).is_null();
    };
    REQUIRE(game.settle());
    CHECK(has(one, owners));
    CHECK_FALSE(has(other, owners));
    CHECK_FALSE(has(one, others));
    CHECK(has(other, others));
    CHECK_FALSE(has(one, teams));
    CHECK_FALSE(has(one, nobodys));

    driver.interest().set_in_group(SpawnGame::peer_of(other), NetGroup{2}, true);
    driver.set_owner(game.id_of(pawn), SpawnGame::peer_of(other));
    REQUIRE(game.settle());
    CHECK(has(other, owners));
    CHECK_FALSE(has(one, owners));
    CHECK(has(one, others));
    CHECK(has(other, teams));
    CHECK_FALSE(has(one, teams));

    driver.interest().remove_from_group(game.id_of(teams), NetGroup{2});
    REQUIRE(game.settle());
    CHECK_FALSE(has(other, teams));
    driver.interest().set_in_group(SpawnGame::peer_of(other), NetGroup{1}, true);
    const std::size_t late = game.join();
    REQUIRE(game.settle());
    CHECK(has(other, teams));
    CHECK_FALSE(has(late, teams));
    CHECK_FALSE(has(late, owners));
    CHECK(has(late, others));

    driver.interest().set_relevant_for(SpawnGame::peer_of(other), game.id_of(pawn), false);
    REQUIRE(game.settle());
    CHECK_FALSE(has(other, pawn));
    CHECK_FALSE(has(other, owners));
    driver.interest().set_relevant_for(SpawnGame::peer_of(other), game.id_of(pawn), true);
    REQUIRE(game.settle());
    CHECK(has(other, owners));
    CHECK_FALSE(has(other, others));
}

TEST_CASE("Subobjects: one that is added sleeps where its outer does",
          "[netdriver][subobjects][dormancy]") {
    SpawnGame game;
    const std::size_t sleeper = game.join();
    const std::size_t other = game.join();
    NetDriver& driver = game.server().driver;
    const ObjectHandle pawn = game.add(game.layouts().prop());
    REQUIRE(game.settle());
    driver.set_dormant_for(SpawnGame::peer_of(sleeper), game.id_of(pawn), true);
    driver.set_dormancy(game.id_of(pawn), NetDormancy::DormantPartial);
    REQUIRE(game.settle());
    const ObjectHandle part = game.add_part(pawn);
    REQUIRE(game.settle());
    CHECK(driver.is_dormant_for(SpawnGame::peer_of(sleeper), game.id_of(part)));
    CHECK_FALSE(driver.is_dormant_for(SpawnGame::peer_of(other), game.id_of(part)));
    CHECK_FALSE(game.find_on(other, part).is_null());
    driver.set_dormant_for(SpawnGame::peer_of(sleeper), game.id_of(pawn), false);
    REQUIRE(game.settle());
    CHECK_FALSE(game.find_on(sleeper, part).is_null());
}

TEST_CASE("Subobjects: more than a packet holds come, too", "[netdriver][subobjects]") {
    SpawnGame game(bad_link());
    const ObjectHandle pawn = game.add(game.layouts().prop());
    std::vector<ObjectHandle> parts;
    for (std::int32_t i = 0; i < 500; ++i) {
        parts.push_back(game.add_part(i % 2 == 0 || parts.empty() ? pawn : parts.back()));
        game.prop(parts.back()).hp = i;
    }
    const std::size_t client = game.join();
    REQUIRE(game.settle());
    for (std::int32_t i = 0; i < 500; ++i) {
        CHECK(game.prop_on(client, parts[static_cast<std::size_t>(i)]).hp == i);
    }
}

namespace {

constexpr std::uint32_t group_count = 3;

struct Part {
    ObjectHandle object;
    ObjectHandle outer;  // null: an object of its own
    LifetimeCondition condition = LifetimeCondition::None;
    std::set<std::uint32_t> groups;
    std::set<std::uint32_t> hidden;  // clients
    int owner = -1;
    bool is_autonomous = false;
};

class FamilyStage {
  public:
    static constexpr std::uint32_t client_count = 3;

    explicit FamilyStage(std::uint64_t seed)
        : random_(seed), game_(bad_link(), patient_config(), seed), driver_(game_.server().driver) {
        for (std::uint32_t i = 0; i < client_count; ++i) {
            (void)game_.join();
        }
        REQUIRE(game_.settle());
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            for (std::uint32_t turn = random_.below(4); turn > 0; --turn) {
                act();
            }
            game_.tick();
        }
        REQUIRE(game_.settle());
        check();
    }

  private:
    /// So much is lost that who joins may not be heard for ten seconds, once in thousands of games.
    [[nodiscard]] Part& find(ObjectHandle object) {
        for (Part& part : parts_) {
            if (part.object == object) {
                return part;
            }
        }
        FAIL("no such part");
        return parts_.front();
    }
    [[nodiscard]] Part& root_of(ObjectHandle object) {
        Part& part = find(object);
        return part.outer.is_null() ? part : root_of(part.outer);
    }
    [[nodiscard]] bool is_expected(std::uint32_t client, const Part& part) {
        const Part& root = root_of(part.object);
        if (part.outer.is_null()) {
            return !part.hidden.contains(client);
        }
        if (!is_expected(client, find(part.outer))) {
            return false;
        }
        const bool is_owner = root.owner == static_cast<int>(client);
        switch (part.condition) {
            case LifetimeCondition::OwnerOnly:
                return is_owner;
            case LifetimeCondition::SkipOwner:
                return !is_owner;
            case LifetimeCondition::AutonomousOnly:
                return is_owner && root.is_autonomous;
            case LifetimeCondition::NetGroup:
                for (const std::uint32_t group : part.groups) {
                    if (in_group_[client].contains(group)) {
                        return true;
                    }
                }
                return false;
            default:
                return true;
        }
    }

    void check() {
        for (std::uint32_t client = 0; client < client_count; ++client) {
            INFO("client " << client);
            std::size_t shown_count = 0;
            for (const Part& part : parts_) {
                INFO("object " << part.object.value);
                const ObjectHandle shown = game_.find_on(client, part.object);
                REQUIRE(!shown.is_null() == is_expected(client, part));
                if (!shown.is_null()) {
                    ++shown_count;
                    CHECK(game_.client(client).world.at(shown).hp == game_.prop(part.object).hp);
                }
            }
            CHECK(shown_count + std::size(SpawnGame::map_names) ==
                  game_.client(client).world.objects().size());
        }
    }

    void act() {
        if (parts_.size() < 4 || (parts_.size() < 40 && random_.percent(20))) {
            add();
            return;
        }
        Part& part = parts_[random_.below(static_cast<std::uint32_t>(parts_.size()))];
        Part& root = root_of(part.object);
        const NetObjectId root_id = game_.id_of(root.object);
        switch (random_.below(10)) {
            case 0:
                remove(part.object);
                break;
            case 1:
                root.owner = static_cast<int>(random_.below(client_count));
                driver_.set_owner(root_id, SpawnGame::peer_of(owner_of(root)));
                break;
            case 2:
                root.is_autonomous = random_.percent(50);
                driver_.set_autonomous(root_id, root.is_autonomous);
                break;
            case 3:
                set_relevant(root);
                break;
            case 4:
                set_in_group();
                break;
            case 5:
                set_groups(part);
                break;
            case 6:
                driver_.set_dormancy(
                    root_id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
                driver_.flush_dormancy(root_id);
                break;
            default:
                game_.prop(part.object).hp = static_cast<std::int32_t>(random_.below(9));
                driver_.flush_dormancy(root_id);
                break;
        }
    }
    [[nodiscard]] static std::size_t owner_of(const Part& root) {
        return static_cast<std::size_t>(root.owner);
    }
    void add() {
        constexpr LifetimeCondition conditions[] = {
            LifetimeCondition::None,      LifetimeCondition::None,
            LifetimeCondition::OwnerOnly, LifetimeCondition::SkipOwner,
            LifetimeCondition::NetGroup,  LifetimeCondition::AutonomousOnly};
        Part part;
        if (!parts_.empty() && random_.percent(70)) {
            part.outer = random_.pick(parts_).object;
            part.condition = random_.pick(conditions);
            part.object = game_.add_part(part.outer, part_of(part.condition));
        } else {
            part.object = game_.add(game_.layouts().prop());
        }
        parts_.push_back(part);
    }
    void remove(ObjectHandle object) {
        std::vector<ObjectHandle> gone = {object};
        for (std::size_t i = 0; i < gone.size(); ++i) {
            for (const Part& part : parts_) {
                if (part.outer == gone[i]) {
                    gone.push_back(part.object);
                }
            }
        }
        game_.remove(object);
        for (const ObjectHandle each : gone) {
            game_.server().world.remove(each);
            std::erase_if(parts_, [&](const Part& part) { return part.object == each; });
        }
    }
    void set_relevant(Part& root) {
        const std::uint32_t client = random_.below(client_count);
        const bool is_relevant = random_.percent(50);
        driver_.interest().set_relevant_for(SpawnGame::peer_of(client), game_.id_of(root.object),
                                            is_relevant);
        if (is_relevant) {
            root.hidden.erase(client);
        } else {
            root.hidden.insert(client);
        }
    }
    void set_in_group() {
        const std::uint32_t client = random_.below(client_count);
        const std::uint32_t group = random_.below(group_count);
        const bool is_in = random_.percent(50);
        driver_.interest().set_in_group(SpawnGame::peer_of(client), NetGroup{group}, is_in);
        if (is_in) {
            in_group_[client].insert(group);
        } else {
            in_group_[client].erase(group);
        }
    }
    void set_groups(Part& part) {
        if (part.condition != LifetimeCondition::NetGroup) {
            return;
        }
        const std::uint32_t group = random_.below(group_count);
        if (part.groups.insert(group).second) {
            driver_.interest().add_to_group(game_.id_of(part.object), NetGroup{group});
        } else {
            part.groups.erase(group);
            driver_.interest().remove_from_group(game_.id_of(part.object), NetGroup{group});
        }
    }

    SeededRandom random_;
    SpawnGame game_;
    NetDriver& driver_;
    std::vector<Part> parts_;
    std::set<std::uint32_t> in_group_[client_count];
};

}  // namespace

TEST_CASE("Subobjects: at random over a network that loses, each client has those it is to have",
          "[netdriver][subobjects][random]") {
    for (const std::uint64_t seed : seed_range(1, 30)) {
        INFO("REPLAYOUT_SEED=" << seed);
        FamilyStage stage(seed);
        for (int round = 0; round < 4; ++round) {
            stage.play(60);
        }
    }
}

TEST_CASE("Subobjects: who is about to leave is told of none any more, whatever it is said to be",
          "[netdriver][subobjects]") {
    SpawnGame game;
    const PeerId peer = SpawnGame::peer_of(game.join());
    const ObjectHandle pawn = game.add(game.layouts().prop());
    (void)game.add_part(pawn, part_of(LifetimeCondition::SkipReplay));
    REQUIRE(game.settle());
    NetDriver& driver = game.server().driver;
    const std::uint64_t sent = driver.stats().bunches_sent;
    driver.disconnect(peer);
    driver.set_is_replay(peer, true);
    game.tick(20);
    CHECK(driver.connection_count() == 0);
    CHECK(driver.stats().bunches_sent == sent + 1);  // the goodbye
}

}  // namespace replayout::test
