// SPDX-License-Identifier: MIT
//
// Parts that are destroyed and made again at random, over a network that loses: in the end every
// client shows the tanks that the server has.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/tank_game.h"

namespace replayout::test {
namespace {

/// Tanks of which parts are destroyed and made again, come into sight and go out of it, sleep and
/// change owners, before clients that come later and later.
class TankStage {
  public:
    explicit TankStage(std::uint64_t seed)
        : random_(seed), rates_(seed), game_(bad_tank_link(), seed, rates_.with_caps({})) {
        (void)game_.join();
    }

    void play(int tick_count) {
        for (int i = 0; i < tick_count; ++i) {
            for (std::uint32_t turn = random_.below(3); turn > 0; --turn) {
                act();
            }
            if (game_.client_count() < 4 && random_.percent(2)) {
                (void)game_.join();
            }
            game_.tick();
        }
        game_.tick(RandomRates::ticks_until_looked);
        for (const auto& [tank, parts] : tanks_) {
            game_.server().set_dormancy(game_.id_of(tank), NetDormancy::Awake);
        }
        REQUIRE(game_.settle());
        check();
    }

  private:
    void check() {
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            for (const auto& [tank, replicated] : tanks_) {
                INFO("client " << client << ", tank " << tank.value);
                const bool is_shown =
                    game_.server().is_relevant_for(TankGame::peer_of(client), game_.id_of(tank));
                REQUIRE(!game_.find_on(client, tank).is_null() == is_shown);
                if (is_shown) {
                    CHECK(game_.parts_on(client, tank) == game_.world().parts_of(tank));
                    const ObjectHandle shown = game_.find_on(client, tank);
                    CHECK(game_.client(client).world.at(shown).hp == game_.world().at(tank).hp);
                }
            }
        }
    }
    void act() {
        if (tanks_.size() < 2 || (tanks_.size() < 6 && random_.percent(5))) {
            const ObjectHandle made = game_.add_tank();
            tanks_[made] = {};
            rates_.set_object(game_.server().rates(), game_.id_of(made));
            return;
        }
        auto tank = tanks_.begin();
        std::advance(tank, random_.below(static_cast<std::uint32_t>(tanks_.size())));
        const NetObjectId id = game_.id_of(tank->first);
        const PeerId peer = TankGame::peer_of(random_.below(4));
        rates_.maybe_change(game_.server().rates(), peer, id);
        switch (random_.below(14)) {
            case 0:
                game_.server().interest().set_relevant_for(peer, id, random_.percent(60));
                break;
            case 1:
                game_.server().set_owner(id, peer);
                break;
            case 2:
                game_.server().set_dormancy(
                    id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
                break;
            case 3:
                game_.server().flush_dormancy(id);
                break;
            case 4:
                if (random_.percent(10)) {
                    game_.remove_tank(tank->first);
                    tanks_.erase(tank);
                }
                break;
            case 5:
            case 6:
                game_.world().at(tank->first).hp = static_cast<std::int32_t>(random_.below(100));
                break;
            default:
                add_or_destroy(tank->first, tank->second);
                break;
        }
    }
    void add_or_destroy(ObjectHandle tank, Names& replicated) {
        auto name = made_parts.begin();
        std::advance(name, random_.below(static_cast<std::uint32_t>(made_parts.size())));
        if (replicated.erase(*name) != 0) {
            game_.destroy_part(tank, *name);
            return;
        }
        constexpr LifetimeCondition conditions[] = {
            LifetimeCondition::None, LifetimeCondition::OwnerOnly, LifetimeCondition::SkipOwner};
        // Made again, a part is shown to all, or who is not shown it does not know that it is.
        const bool is_made = game_.world().parts_of(tank).contains(*name);
        game_.add_part(tank, *name, is_made ? random_.pick(conditions) : LifetimeCondition::None);
        replicated.insert(*name);
    }

    SeededRandom random_;
    RandomRates rates_;
    TankGame game_;
    std::map<ObjectHandle, Names> tanks_;  // with the parts of them that are replicated
};

}  // namespace

TEST_CASE("Destroyed parts: at random over a network that loses, all show the same tanks",
          "[netdriver][subobjects][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 * 1'000 + 1, 200)) {
        INFO("REPLAYOUT_SEED=" << seed);
        TankStage stage(seed);
        stage.play(static_cast<int>(20 + 10 * (seed % 30)));
    }
}

}  // namespace replayout::test
