// SPDX-License-Identifier: MIT
//
// What an object was spawned with is there when it is started, in a world that never settles.
#include <replayout/behaviours/behaviour_builder.h>
#include <replayout/behaviours/sync_list.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/worlds/arena_game.h"

namespace replayout::test {
namespace {

class Recruit : public NetworkBehaviour {
  public:
    SyncVar<std::int32_t> number;
    SyncVar<std::int32_t> steps;
    SyncList<std::int32_t> orders;

    std::int32_t number_at_start = -1;
    std::size_t orders_at_start = 0;

    void on_start_client() override {
        number_at_start = number;
        orders_at_start = orders.size();
    }
};

void add_recruits(NetworkTypes& types) {
    const auto type = BehaviourBuilder<Recruit>(types, "Recruit")
                          .sync_var<&Recruit::number>()
                          .sync_var<&Recruit::steps>()
                          .sync_list<&Recruit::orders>()
                          .build();
    REQUIRE(type.has_value());
    REQUIRE(types.add_prefab("Recruit", {{*type}}).has_value());
}

}  // namespace

TEST_CASE(
    "First values: on_start_client() finds what the object was spawned with, whatever is lost",
    "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 4)) {
        INFO("REPLAYOUT_SEED=" << seed);
        ArenaOptions options;
        options.seed = seed;
        options.link.loss = 0.15;
        options.link.latency_ms = 30;
        ArenaGame game(options, add_recruits);
        std::vector<NetworkIdentity*> recruits;
        const auto add = [&] {
            NetworkIdentity& object = game.server().instantiate(game.types().find("Recruit"));
            Recruit& recruit = object.component<Recruit>(0);
            recruit.number = static_cast<std::int32_t>(recruits.size()) + 1;
            recruit.orders.add(7);
            recruit.orders.add(8);
            REQUIRE(game.server().spawn(object));
            recruits.push_back(&object);
        };
        const auto move = [&] {
            for (NetworkIdentity* object : recruits) {
                ++object->component<Recruit>(0).steps;
            }
        };
        for (int i = 0; i < 200; ++i) {
            add();
        }
        game.join();
        for (int tick = 0; tick < 300; ++tick) {
            if (tick < 200) {
                add();
            }
            move();
            game.tick();
        }
        std::size_t started = 0;
        for (const NetworkIdentity* object : recruits) {
            NetworkIdentity* shown = game.on_client(0, *object);
            REQUIRE(shown != nullptr);
            const Recruit& recruit = shown->component<Recruit>(0);
            if (recruit.number_at_start >= 0) {
                ++started;
                CHECK(recruit.number_at_start == object->component<Recruit>(0).number);
                CHECK(recruit.orders_at_start == 2);
            }
        }
        CHECK(started == recruits.size());
    }
}

}  // namespace replayout::test
