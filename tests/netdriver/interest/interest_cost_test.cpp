// SPDX-License-Identifier: MIT
//
// What it costs to know who sees what, by exact counters: what moved, and not what there is.
#include <replayout/netdriver/net_driver.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

/// A world of sleepers, all of which have places, and many who look on.
class LargeWorld {
  public:
    static constexpr std::size_t object_count = 50'000;
    static constexpr std::size_t viewer_count = 100;
    static constexpr std::size_t moving_count = object_count / 100;

    explicit LargeWorld(std::uint64_t seed) : random_(seed) {
        interest().set_class_relevancy(game_.layouts().prop(), NetRelevancy::Distance);
        for (std::size_t i = 0; i < object_count; ++i) {
            places_.push_back(anywhere());
            SpawnParameters parameters;
            parameters.location = places_.back();
            props_.push_back(game_.add(game_.layouts().prop(), parameters));
            driver().set_dormancy(game_.id_of(props_.back()), NetDormancy::DormantAll);
        }
        for (std::size_t i = 0; i < viewer_count; ++i) {
            (void)game_.join();
        }
        while (driver().connection_count() < viewer_count) {
            game_.tick();
        }
        for (std::size_t i = 0; i < viewer_count; ++i) {
            interest().set_viewer(SpawnGame::peer_of(i), anywhere());
        }
        REQUIRE(game_.settle());
    }

    [[nodiscard]] NetDriver& driver() { return game_.server().driver; }
    /// All say where they are, and of those so many are elsewhere than in the tick before.
    void tick(std::size_t moved_count) {
        ++tick_;
        for (std::size_t i = 0; i < moved_count; ++i) {
            places_[(i * 100 + tick_) % object_count].x += 10;  // over the border of a cell
        }
        for (std::size_t i = 0; i < object_count; ++i) {
            interest().set_location(game_.id_of(props_[i]), places_[i]);
        }
        game_.tick();
    }

  private:
    [[nodiscard]] Interest interest() { return driver().interest(); }
    [[nodiscard]] Vector3 anywhere() {
        Vector3 place;
        place.x = static_cast<float>(random_.below(20'000));
        place.y = static_cast<float>(random_.below(20'000));
        return place;
    }

    SeededRandom random_;
    SpawnGame game_;
    std::vector<ObjectHandle> props_;
    std::vector<Vector3> places_;
    std::size_t tick_ = 0;
};

}  // namespace

TEST_CASE("Interest: of 50,000 objects to 100 viewers those are looked at that moved",
          "[netdriver][interest][dormancy]") {
    LargeWorld world(run_seed());
    const NetStats start = world.driver().stats();
    CHECK(start.channels_opened > LargeWorld::viewer_count);  // they see something
    for (int i = 0; i < 10; ++i) {
        world.tick(0);
    }
    const InterestCounters still = world.driver().stats().interest;
    CHECK(still.cells_crossed == start.interest.cells_crossed);
    CHECK(still.pairs_examined == start.interest.pairs_examined);
    CHECK(still.pairs_decided == start.interest.pairs_decided);
    CHECK(world.driver().stats().records_sent == start.records_sent);
    CHECK(world.driver().stats().bunches_sent == start.bunches_sent);
    constexpr std::uint64_t ticks = 20;
    for (std::uint64_t i = 0; i < ticks; ++i) {
        world.tick(LargeWorld::moving_count);
    }
    const InterestCounters& after = world.driver().stats().interest;
    CHECK(after.cells_crossed - still.cells_crossed == ticks * LargeWorld::moving_count);
    // What is looked at lies around a viewer, in a 400th of the world or less.
    CHECK(after.pairs_examined - still.pairs_examined <= ticks * LargeWorld::moving_count);
    // Nothing is decided but what came into sight or went out of it.
    CHECK(after.pairs_decided - still.pairs_decided ==
          after.pairs_shown + after.pairs_hidden - still.pairs_shown - still.pairs_hidden);
    CHECK(after.pairs_decided - still.pairs_decided <= ticks * LargeWorld::moving_count / 20);
    // And all of them sleep.
    const ReplicationCounters& replication = world.driver().stats().replication;
    CHECK(replication.objects_compared == start.replication.objects_compared);
}

TEST_CASE("Interest: what is counted follows what moved and what changed, not all pairs",
          "[netdriver][interest]") {
    constexpr std::size_t client_count = 3;
    SpawnGame game;
    for (std::size_t i = 0; i < client_count; ++i) {
        (void)game.join();
    }
    REQUIRE(game.settle());
    Interest interest = game.server().driver.interest();
    interest.set_class_relevancy(game.layouts().prop(), NetRelevancy::Distance);
    constexpr std::uint32_t object_count = 3'000;
    std::vector<ObjectHandle> props;
    for (std::uint32_t i = 0; i < object_count; ++i) {
        props.push_back(game.add_at(static_cast<float>(i) * 100));
    }
    for (std::size_t i = 0; i < client_count; ++i) {
        interest.set_viewer(SpawnGame::peer_of(i), {static_cast<float>(i) * 50'000, 0, 0});
    }
    REQUIRE(game.settle());
    const InterestCounters before = game.server().driver.stats().interest;
    CHECK(before.pairs_hidden == 0);  // as they began
    game.tick(20);
    CHECK(game.server().driver.stats().interest.pairs_examined == before.pairs_examined);
    CHECK(game.server().driver.stats().interest.pairs_decided == before.pairs_decided);
    for (std::uint32_t i = 1'000; i < 1'030; ++i) {  // one per cent, far from everybody
        interest.set_location(game.id_of(props[i]), {static_cast<float>(i) * 100 + 50, 0, 5});
    }
    interest.set_location(game.id_of(props[2'000]), {0, 0, 5});
    game.tick();
    const InterestCounters& after = game.server().driver.stats().interest;
    CHECK(after.cells_crossed - before.cells_crossed == 31);
    CHECK(after.pairs_examined - before.pairs_examined <= 31 + 3);
    CHECK(after.pairs_decided - before.pairs_decided == 1);
    CHECK(after.pairs_shown - before.pairs_shown == 1);
}

TEST_CASE("Interest: a call without news costs nothing", "[netdriver][interest]") {
    SpawnGame game;
    (void)game.join();
    REQUIRE(game.settle());
    Interest interest = game.server().driver.interest();
    constexpr PeerId peer = SpawnGame::peer_of(0);
    interest.set_viewer(peer, {0, 0, 0});
    interest.set_view_radius(peer, 200);
    std::vector<NetObjectId> ids;
    for (int i = 0; i < 300; ++i) {
        ids.push_back(game.id_of(game.add_at(static_cast<float>(i))));
        interest.set_relevancy(ids.back(), i % 3 == 0   ? NetRelevancy::Grid
                                           : i % 3 == 1 ? NetRelevancy::Distance
                                                        : NetRelevancy::UseOwner);
        interest.set_cull_distance(ids.back(), 150);
        if (i > 0) {
            interest.set_owner_object(ids.back(), ids.front());
        }
        interest.set_relevant_for(peer, ids.back(), true);
        interest.add_to_group(ids.back(), NetGroup{1});
    }
    interest.set_in_group(peer, NetGroup{1}, true);
    REQUIRE(game.settle());
    const InterestCounters before = game.server().driver.stats().interest;
    for (int i = 0; i < 20; ++i) {
        interest.set_viewer(peer, {0, 0, 0});
        interest.set_view_radius(peer, 200);
        interest.set_in_group(peer, NetGroup{1}, true);
        interest.set_in_group(peer, NetGroup{2}, false);
        for (std::size_t n = 0; n < ids.size(); ++n) {
            interest.set_relevancy(ids[n], n % 3 == 0   ? NetRelevancy::Grid
                                           : n % 3 == 1 ? NetRelevancy::Distance
                                                        : NetRelevancy::UseOwner);
            interest.set_location(ids[n], {static_cast<float>(n), 0, 0});
            interest.set_cull_distance(ids[n], 150);
            if (n > 0) {
                interest.set_owner_object(ids[n], ids.front());
            }
            interest.set_relevant_for(peer, ids[n], true);
            interest.clear_relevant_for({99}, ids[n]);
            interest.add_to_group(ids[n], NetGroup{1});
            interest.remove_from_group(ids[n], NetGroup{2});
        }
        game.tick();
    }
    const InterestCounters& after = game.server().driver.stats().interest;
    CHECK(after.pairs_examined == before.pairs_examined);
    CHECK(after.pairs_decided == before.pairs_decided);
}

TEST_CASE("Interest: what goes with an object may be removed in any order, and costs the same",
          "[netdriver][interest]") {
    SpawnGame game;
    (void)game.join();
    REQUIRE(game.settle());
    Interest interest = game.server().driver.interest();
    const ObjectHandle owner = game.add_at(0);
    interest.set_relevancy(game.id_of(owner), NetRelevancy::OnlyToOwner);
    std::vector<ObjectHandle> owned;
    for (int i = 0; i < 30'000; ++i) {  // a walk over all of them for each would take seconds
        owned.push_back(game.add_at(0));
        interest.set_relevancy(game.id_of(owned.back()), NetRelevancy::UseOwner);
        interest.set_owner_object(game.id_of(owned.back()), game.id_of(owner));
    }
    std::vector<ObjectHandle> left;
    for (std::size_t i = 0; i < owned.size(); ++i) {
        if (i % 3'000 == 7) {
            left.push_back(owned[i]);
        } else {
            game.remove(owned[i]);
        }
    }
    game.remove(left.back());  // the first of the list
    left.pop_back();
    REQUIRE(game.settle());
    for (const bool is_shown : {true, false, true}) {
        interest.set_relevant_for(SpawnGame::peer_of(0), game.id_of(owner), is_shown);
        REQUIRE(game.settle());
        for (const ObjectHandle prop : left) {
            CHECK(game.server().driver.is_relevant_for(SpawnGame::peer_of(0), game.id_of(prop)) ==
                  is_shown);
        }
    }
}

}  // namespace replayout::test
