// SPDX-License-Identifier: MIT
//
// Objects that come, go, sleep, change hands and go out of sight at random, over a network that
// loses: at rest each client has exactly what it is to have, under the role that it is to have.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/spawn_game.h"

namespace replayout::test {
namespace {

class RandomStage {
  public:
    static constexpr std::uint32_t client_count = 3;

    explicit RandomStage(std::uint64_t seed)
        : random_(seed),
          rates_(seed),
          game_(link(), rates_.with_caps(patient_config()), seed),
          driver_(game_.server().driver) {
        for (std::size_t i = 0; i < client_count; ++i) {
            (void)game_.join();
        }
        REQUIRE(game_.settle());
    }

    void play(std::uint32_t tick_count) {
        for (std::uint32_t i = 0; i < tick_count; ++i) {
            // Before a tick, or when the server knows what became of its packets.
            const std::uint32_t early_count = random_.percent(50) ? random_.below(4) : 0;
            act_times(early_count);
            game_.tick([&] { act_times(early_count == 0 ? random_.below(4) : 0); });
            for (const ObjectHandle object : std::exchange(torn_off_, {})) {
                game_.server().world.remove(object);
            }
        }
        game_.tick(RandomRates::ticks_until_looked);
        REQUIRE(game_.settle());
        check();
    }

    void check() {
        for (std::size_t client = 0; client < client_count; ++client) {
            const PeerId peer = SpawnGame::peer_of(client);
            INFO("client " << client);
            std::size_t shown_count = 0;
            for (const ObjectHandle object : objects_) {
                const ObjectHandle shown = game_.find_on(client, object);
                INFO("object " << object.value);
                REQUIRE(shown.is_null() == hidden_[client].contains(object));
                if (shown.is_null()) {
                    continue;
                }
                ++shown_count;
                const Prop& here = game_.prop(object);
                const Prop& there = game_.client(client).world.at(shown);
                const ObjectRole role = driver_.role_for(peer, game_.id_of(object));
                // What sleeps may be told of its role when it wakes.
                if (!sleeping_.contains(object)) {
                    CHECK(game_.client(client).driver.role_of(shown) == role);
                    CHECK(there.hp == here.hp);
                    CHECK(there.link == expected_link(client, here.link));
                    CHECK((!role.is_owned || there.secret == here.secret));
                }
            }
            const Told& told = game_.client(client).world.told;
            const auto kept_count =
                static_cast<std::size_t>(std::count(told.begin(), told.end(), "despawn: tear-off"));
            CHECK(shown_count + kept_count + std::size(SpawnGame::map_names) ==
                  game_.client(client).world.objects().size());
        }
    }

  private:
    /// So much is lost that who joins may not be heard for ten seconds, once in thousands of games.
    [[nodiscard]] static LinkSettings link() {
        LinkSettings link;
        link.loss = 0.2;
        link.duplicate = 0.1;
        link.reorder = 0.2;
        link.latency_ms = 40;
        link.jitter_ms = 30;
        return link;
    }
    [[nodiscard]] ObjectHandle any_object() { return random_.pick(objects_); }
    [[nodiscard]] std::size_t any_client() { return random_.below(client_count); }
    [[nodiscard]] ObjectHandle expected_link(std::size_t client, ObjectHandle link) {
        return link.is_null() ? link : game_.find_on(client, link);
    }

    void act_times(std::uint32_t count) {
        for (; count > 0; --count) {
            act();
        }
    }
    void act() {
        if (!objects_.empty()) {
            rates_.maybe_change(driver_.rates(), SpawnGame::peer_of(any_client()),
                                game_.id_of(any_object()));
        }
        if (objects_.size() < 5 || (objects_.size() < 40 && random_.percent(15))) {
            add();
            return;
        }
        const ObjectHandle object = any_object();
        const NetObjectId id = game_.id_of(object);
        switch (random_.below(13)) {
            case 0:
                driver_.set_owner(id, SpawnGame::peer_of(any_client()));
                break;
            case 1:
                driver_.clear_owner(id);
                break;
            case 2:
                driver_.set_autonomous(id, random_.percent(50));
                break;
            case 3:
                driver_.set_player(id, random_.percent(50));
                break;
            case 4:
                set_relevant(any_client(), object);
                break;
            case 5:
                remove(object);
                break;
            case 6:
                sleep(object);
                break;
            case 7:
                wake(object);
                break;
            case 8:
                (void)driver_.call_function(id, "multicast_boom");
                break;
            case 9:
                game_.prop(object).link = random_.percent(70) ? any_object() : ObjectHandle{};
                break;
            case 10:
                forget(object);
                driver_.tear_off(id);
                torn_off_.push_back(object);
                break;
            default:
                change(object);
                break;
        }
    }
    void add() {
        const bool is_barrel = random_.percent(40);
        SpawnParameters parameters;
        if (random_.percent(50)) {
            parameters.location = Vector3{1, 2, 3};
        }
        const ObjectHandle object =
            game_.add(is_barrel ? game_.layouts().barrel() : game_.layouts().prop(), parameters);
        objects_.push_back(object);
        rates_.set_object(driver_.rates(), game_.id_of(object));
        if (random_.percent(50)) {
            change(object);
        }
    }
    void change(ObjectHandle object) {
        if (!sleeping_.contains(object)) {
            game_.prop(object).hp = static_cast<std::int32_t>(random_.below(5));
            game_.prop(object).secret = static_cast<std::int32_t>(random_.below(5));
        }
    }
    void sleep(ObjectHandle object) {
        driver_.set_dormancy(game_.id_of(object), NetDormancy::DormantAll);
        sleeping_.insert(object);
    }
    void wake(ObjectHandle object) {
        driver_.set_dormancy(game_.id_of(object), NetDormancy::Awake);
        sleeping_.erase(object);
    }
    void set_relevant(std::size_t client, ObjectHandle object) {
        const bool is_relevant = random_.percent(50);
        driver_.interest().set_relevant_for(SpawnGame::peer_of(client), game_.id_of(object),
                                            is_relevant);
        if (is_relevant) {
            hidden_[client].erase(object);
        } else {
            hidden_[client].insert(object);
        }
    }
    void remove(ObjectHandle object) {
        forget(object);
        game_.remove(object);
    }
    /// The object is about to go.
    void forget(ObjectHandle object) {
        for (const ObjectHandle other : objects_) {
            if (game_.prop(other).link == object) {
                wake(other);  // so that its reference is compared once more
                game_.prop(other).link = ObjectHandle{};
            }
        }
        std::erase(objects_, object);
        sleeping_.erase(object);
        for (std::set<ObjectHandle>& hidden : hidden_) {
            hidden.erase(object);
        }
    }

    SeededRandom random_;
    RandomRates rates_;
    SpawnGame game_;
    NetDriver& driver_;
    std::vector<ObjectHandle> objects_;
    std::vector<ObjectHandle> torn_off_;  // in this tick
    std::set<ObjectHandle> sleeping_;
    std::set<ObjectHandle> hidden_[client_count];
};

}  // namespace

TEST_CASE("Spawn: at random over a network that loses, each client has what it is to have",
          "[netdriver][spawn][random]") {
    for (const std::uint64_t seed : seed_range(1, 30)) {
        INFO("REPLAYOUT_SEED=" << seed);
        RandomStage stage(seed);
        for (int round = 0; round < 4; ++round) {
            stage.play(60);
        }
    }
}

}  // namespace replayout::test
