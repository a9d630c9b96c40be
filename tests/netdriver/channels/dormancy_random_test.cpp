// SPDX-License-Identifier: MIT
//
// Games in which objects are put to sleep, flushed, woken, changed, removed and joined at random,
// over a network that loses. In builds that validate, each pair is compared with a copy of what its
// client holds in each tick of it, dormant or not.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/delta_types.h"
#include "support/types/random_rates.h"
#include "support/worlds/door_game.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

constexpr NetDormancy any_dormancy[] = {NetDormancy::Never,          NetDormancy::Awake,
                                        NetDormancy::DormantAll,     NetDormancy::DormantAll,
                                        NetDormancy::DormantPartial, NetDormancy::Initial};

[[nodiscard]] NetDormancy pick_dormancy(SeededRandom& random) {
    return any_dormancy[random.below(6)];
}

/// Pawns with arrays and references among them.
class PawnGame {
  public:
    PawnGame(std::uint64_t seed, bool is_sharing)
        : random_(seed), rates_(seed), net_(options(seed, is_sharing, rates_)) {
        net_.server().transport.set_script([this](Bytes& datagram) {
            sent.push_back(datagram);
            return true;
        });
        net_.join();
        net_.join();
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t tick = 0; tick < ticks; ++tick) {
            if (pawns_.size() < 8 && random_.below(6) == 0) {
                pawns_.push_back(net_.add_pawn());
                rates_.set_object(net_.server_driver().rates(), net_.id_of(pawns_.back()));
            }
            // Before a tick, or when the server knows what became of its packets.
            const bool is_late = random_.below(2) == 0;
            const auto move = [this] {
                for (std::uint32_t i = random_.below(4); i > 0 && !pawns_.empty(); --i) {
                    act();
                }
            };
            if (!is_late) {
                move();
            }
            if (tick % 60 == 59 && joined_ < 4) {
                net_.join();
                ++joined_;
            }
            if (random_.below(150) == 0) {
                net_.restart(random_.below(joined_));
            }
            net_.tick([&] {
                if (is_late) {
                    move();
                }
            });
        }
    }

    void check_end() {
        net_.network().heal();
        REQUIRE(net_.settle());
        for (const ObjectHandle pawn : pawns_) {
            net_.server_driver().flush_dormancy(net_.id_of(pawn));
        }
        net_.tick(RandomRates::ticks_until_looked);
        REQUIRE(net_.settle());
        for (std::uint32_t client = 0; client < joined_; ++client) {
            INFO("client " << client);
            CHECK(net_.client_text(client) == net_.server_text());
        }
        NetHost& server = net_.server();
        CHECK(static_cast<std::int64_t>(server.driver->memory_report().total_bytes()) ==
              server.memory.bytes_in_use());
        went_dormant = server.driver->stats().channels_dormant;
    }

    std::vector<Bytes> sent;
    std::uint64_t went_dormant = 0;

  private:
    [[nodiscard]] static NetFixtureOptions options(std::uint64_t seed, bool is_sharing,
                                                   RandomRates& rates) {
        NetFixtureOptions options;
        options.server = rates.with_caps({});
        options.seed = seed;
        options.sharing = sharing_level(is_sharing);
        options.server.packet_bytes_max = 256;  // so that a name can be too large for one
        options.client.packet_bytes_max = 256;
        options.link.loss = 0.2;
        options.link.latency_ms = 30;
        options.link.jitter_ms = 20;
        return options;
    }

    [[nodiscard]] ObjectHandle pick() {
        return pawns_[random_.below(static_cast<std::uint32_t>(pawns_.size()))];
    }

    void act() {
        const ObjectHandle object = pick();
        const NetObjectId id = net_.id_of(object);
        NetDriver& driver = net_.server_driver();
        Pawn& pawn = net_.pawn(object);
        rates_.maybe_change(driver.rates(), NetFixture::client_peer(random_.below(joined_)), id);
        switch (random_.below(10)) {
            case 0:
                driver.set_dormancy(id, pick_dormancy(random_));
                return;
            case 1: {
                const PeerId peer = NetFixture::client_peer(random_.below(joined_));
                const bool is_dormant = random_.below(2) == 0;
                driver.set_dormant_for(peer, id, is_dormant);
                return;
            }
            case 2:
                driver.flush_dormancy(id);
                return;
            case 3:
                if (random_.below(3) == 0) {
                    net_.remove(object);
                    pawns_.erase(std::find(pawns_.begin(), pawns_.end(), object));
                }
                return;
            case 4:
                pawn.target = pick();
                return;
            case 5:
                pawn.friends.assign(random_.below(5), pick());
                return;
            case 6:
                pawn.hits.resize(random_.below(6));
                return;
            case 7:
                pawn.name = random_.below(6) == 0 ? std::string(600, 'n') : "short";
                return;
            default:
                pawn.health = static_cast<std::int32_t>(random_.below(4));
                return;
        }
    }

    SeededRandom random_;
    RandomRates rates_;
    NetFixture net_;
    std::vector<ObjectHandle> pawns_;
    std::uint32_t joined_ = 2;
};

/// The same of one class over a network that loses, with conditions or with deltas. Returns how
/// often a channel closed for dormancy.
template <typename Game, typename Edit>
std::uint64_t play_class(Game& game, std::uint64_t seed, Edit edit) {
    SeededRandom random(seed);
    RandomRates rates(seed);
    game.join();
    game.join();
    std::vector<ObjectHandle> objects;
    for (std::uint32_t i = 0; i < 4; ++i) {
        objects.push_back(game.add());
        rates.set_object(game.driver().rates(), game.id_of(objects.back()));
    }
    const auto move = [&] {
        const ObjectHandle object = objects[random.below(4)];
        const NetObjectId id = game.id_of(object);
        rates.maybe_change(game.driver().rates(), Game::peer_of(random.below(3)), id);
        switch (random.below(8)) {
            case 0:
                game.driver().set_dormancy(id, pick_dormancy(random));
                break;
            case 1:
                game.driver().set_dormant_for(Game::peer_of(random.below(2)), id,
                                              random.below(2) == 0);
                break;
            case 2:
                game.driver().flush_dormancy(id);
                break;
            default:
                edit(object, random);
                break;
        }
    };
    for (std::uint32_t tick = 0; tick < 300; ++tick) {
        if (tick == 150) {
            game.join();
        }
        // Before a tick, or when the server knows what became of its packets.
        if (random.below(2) == 0) {
            move();
            game.tick();
        } else {
            game.tick(move);
        }
    }
    game.network().set_settings(LinkSettings());
    REQUIRE(game.settle());
    for (const ObjectHandle object : objects) {
        game.driver().flush_dormancy(game.id_of(object));
    }
    for (std::uint32_t tick = 0; tick < RandomRates::ticks_until_looked; ++tick) {
        game.tick();
    }
    REQUIRE(game.settle());
    return game.driver().stats().channels_dormant;
}

[[nodiscard]] ClassGameOptions lossy(std::uint64_t seed) {
    ClassGameOptions options;
    options.config = RandomRates(seed).with_caps({});
    options.seed = seed;
    options.sharing = sharing_level(seed % 2 == 0);
    options.link.loss = 0.2;
    options.link.latency_ms = 50;
    options.link.jitter_ms = 30;
    return options;
}

}  // namespace

TEST_CASE("Dormancy: at random over a network that loses, every client ends equal, shared or not",
          "[netdriver][dormancy][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 20);
    std::uint64_t went_dormant = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        PawnGame shared(seed, true);
        shared.play(300);
        shared.check_end();
        went_dormant += shared.went_dormant;
        PawnGame alone(seed, false);
        alone.play(300);
        alone.check_end();
        CHECK(shared.sent == alone.sent);
    }
    CHECK((went_dormant >= 10 * seeds.count || !seeds.is_default));
}

TEST_CASE("Dormancy: at random with conditions and waiting values, every client ends right",
          "[netdriver][dormancy][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 20);
    std::uint64_t went_dormant = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        DoorGame game(lossy(seed));
        std::vector<ObjectHandle> edited;
        went_dormant += play_class(game, seed, [&](ObjectHandle object, SeededRandom& random) {
            Door& door = game.door(object);
            const auto value = static_cast<std::int32_t>(random.below(5));
            edited.push_back(object);
            const ObjectHandle other =
                edited[random.below(static_cast<std::uint32_t>(edited.size()))];
            switch (random.below(8)) {
                case 0:
                    game.driver().set_owner(game.id_of(object), DoorGame::peer_of(random.below(3)));
                    break;
                case 1:
                    game.driver().clear_owner(game.id_of(object));
                    break;
                case 2:
                    door.skin = value;
                    break;
                case 3:
                    door.key = value;
                    break;
                case 4:
                    door.room = other;
                    break;
                case 5:
                    door.leash.target = other;
                    break;
                default:
                    door.state = value;
                    break;
            }
        });
        const auto handle_on = [&](std::size_t client, ObjectHandle object) {
            return object.is_null() ? object : game.handle_on(client, object);
        };
        for (const ObjectHandle object : edited) {
            const Door& door = game.door(object);
            for (std::size_t client = 0; client < game.client_count(); ++client) {
                CHECK(game.door_on(client, object).state == door.state);
                CHECK(game.door_on(client, object).room == handle_on(client, door.room));
                CHECK(game.door_on(client, object).leash.target ==
                      handle_on(client, door.leash.target));
                const NetObjectId id = game.id_of(object);
                if (game.driver().role_for(DoorGame::peer_of(client), id).is_owned) {
                    CHECK(game.door_on(client, object).key == door.key);
                }
            }
        }
    }
    CHECK((went_dormant >= 10 * seeds.count || !seeds.is_default));
}

TEST_CASE("Dormancy: at random with custom deltas, every client ends equal",
          "[netdriver][dormancy][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 10);
    std::uint64_t went_dormant = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        ClassGame<Table> game(build_table, lossy(seed));
        std::vector<ObjectHandle> edited;
        went_dormant += play_class(game, seed, [&](ObjectHandle object, SeededRandom& random) {
            edited.push_back(object);
            const std::uint32_t key = random.below(12);
            if (random.below(3) == 0) {
                game.object(object).scores.values.erase(key);
            } else {
                game.object(object).scores.values[key] = static_cast<std::int32_t>(random.bits());
            }
        });
        for (const ObjectHandle object : edited) {
            for (std::size_t client = 0; client < game.client_count(); ++client) {
                CHECK(game.object_on(client, object).scores == game.object(object).scores);
            }
        }
    }
    CHECK((went_dormant >= 10 * seeds.count || !seeds.is_default));
}

}  // namespace replayout::test
