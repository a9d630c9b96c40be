// SPDX-License-Identifier: MIT
//
// Synchronized collections under chance: writes, clients who come, go, and are shown the object or
// not, over a network that loses, repeats and swaps datagrams.
#include <replayout/behaviours/sync_collection.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/executors.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/bag_game.h"

namespace replayout::test {
namespace {

/// Chance writes; clients come, go, and are shown the object or not.
class CollectionModel {
  public:
    CollectionModel(BagGame& game, std::uint64_t seed) : game_(game), random_(seed) {
        for (std::uint32_t i = 0; i < 2; ++i) {
            game_.join();
        }
        chest_ = &game_.spawn(game_.chest());
        name_bytes_ = seed % 5 == 0 ? 900 : 40;  // what is sent whole takes many packets
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            for (std::uint32_t writes = random_.below(4); writes > 0; --writes) {
                write(chest_->component<Bag>(random_.percent(50) ? 0 : 2));
            }
            move_clients();
            game_.tick();
        }
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            if (game_.is_there(client)) {
                game_.show(client, *chest_, true);
            }
        }
    }
    [[nodiscard]] const NetworkIdentity& chest() const noexcept { return *chest_; }
    /// What is for the owner he has, if there is one.
    void check_owner() const {
        const PeerId owner = chest_->connection_to_client();
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            if (owner == BagGame::peer_of(client)) {
                const NetworkIdentity* shown = game_.on_client(client, *chest_);
                REQUIRE(shown != nullptr);
                CHECK(shown->component<Pouch>(1).secrets.items() ==
                      chest_->component<Pouch>(1).secrets.items());
            }
        }
    }

  private:
    template <typename List, typename Make>
    void write_list(List& list, Make make) {
        const std::uint32_t size = list.size();
        switch (random_.below(12)) {
            case 0:
                list.clear();
                break;
            case 1:
            case 2:
                if (size > 0) {
                    list.remove_at(random_.below(size));
                }
                break;
            case 3:
            case 4:
                list.insert(random_.below(size + 1), make());
                break;
            case 5:
            case 6:
            case 7:
                list.add(make());
                break;
            default:
                if (size > 0) {
                    list.set(random_.below(size), make());
                }
        }
    }
    void write(Bag& bag) {
        const auto number = [&] { return static_cast<std::int32_t>(random_.below(100)); };
        switch (random_.below(5)) {
            case 4:
                write_list(chest_->component<Pouch>(1).secrets,
                           [&] { return std::string(random_.below(name_bytes_), 's'); });
                break;
            case 0:
                write_list(bag.numbers, number);
                break;
            case 1:
                write_list(bag.things, [&] {
                    return Thing{std::string(random_.below(name_bytes_), 'n'), number()};
                });
                break;
            case 2:
                write_dictionary(bag.prices);
                break;
            default:
                write_set(bag.keys);
        }
    }
    void write_dictionary(SyncDictionary<std::string, std::int32_t>& prices) {
        const std::string key(1, static_cast<char>('a' + random_.below(10)));
        const std::uint32_t choice = random_.below(20);
        if (choice == 0) {
            prices.clear();
        } else if (choice < 6) {
            prices.remove(key);
        } else {
            prices.set(key, static_cast<std::int32_t>(random_.below(5)));
        }
    }
    void write_set(SyncSet<std::uint32_t>& keys) {
        const std::uint32_t key = random_.below(12);
        const std::uint32_t choice = random_.below(20);
        if (choice == 0) {
            keys.clear();
        } else if (choice < 8) {
            keys.remove(key);
        } else {
            keys.add(key);
        }
    }
    void move_clients() {
        const std::size_t client = random_.below(static_cast<std::uint32_t>(game_.client_count()));
        const bool is_known = game_.server().find_connection(BagGame::peer_of(client)) != nullptr;
        if (random_.percent(2) && game_.client_count() < 9) {
            game_.join();
        } else if (random_.percent(1) && client > 0 && game_.is_there(client) &&
                   chest_->connection_to_client() != BagGame::peer_of(client) &&
                   game_.client(client).is_connected()) {
            game_.leave(client);
        } else if (random_.percent(8) && is_known) {
            game_.show(client, *chest_, random_.percent(50));
        } else if (random_.percent(6) && is_known) {
            if (chest_->connection_to_client().value != 0) {
                REQUIRE(game_.server().remove_client_authority(*chest_));
            }
            if (random_.percent(70) && game_.is_there(client)) {
                REQUIRE(game_.server().assign_client_authority(*chest_, game_.connection(client)));
            }
        } else if (random_.percent(1)) {
            game_.server().unspawn(*chest_);
            game_.tick(random_.below(3));
            REQUIRE(game_.server().spawn(*chest_));
        }
    }

    BagGame& game_;
    SeededRandom random_;
    NetworkIdentity* chest_ = nullptr;
    std::uint32_t name_bytes_ = 0;
};

[[nodiscard]] BagOptions model_options(std::uint64_t seed, SharingLevel sharing,
                                       Executor* executor) {
    BagOptions options;
    options.seed = seed;
    options.sharing = sharing;
    options.executor = executor;
    options.link.loss = 0.2;
    options.link.duplicate = 0.05;
    options.link.reorder = 0.1;
    options.link.reorder_ms = 60;
    options.link.latency_ms = 25;
    options.link.jitter_ms = 10;
    options.bag.sync_interval_us = seed % 3 == 0 ? 60'000 : 0;
    options.is_keeping_datagrams = true;
    if (seed % 4 == 1) {
        options.config.calls_waiting_max = 4;
    }
    return options;
}

TEST_CASE("Collections: whatever is lost, every client ends with the server's, same bytes always",
          "[behaviours][random]") {
    for (const std::uint64_t seed : seed_range(run_seed() % 1'000'000 + 1, 12)) {
        INFO("REPLAYOUT_SEED=" << seed);
        std::vector<std::vector<Datagram>> sent;
        OrderedExecutor executor(3, JobOrder::Shuffled, seed);
        for (const std::uint32_t variant : {0u, 1u, 2u}) {
            BagGame game(model_options(seed,
                                       variant == 1 ? SharingLevel::Off : SharingLevel::Bundles,
                                       variant == 2 ? &executor : nullptr));
            CollectionModel model(game, seed);
            model.play(150);
            game.network().heal();
            game.settle();
            game.tick(8);  // what an interval held back
            game.settle();
            game.check_equal(model.chest());
            model.check_owner();
            sent.push_back(game.transport().sent);
        }
        CHECK(sent[0] == sent[1]);
        CHECK(sent[0] == sent[2]);
    }
}

}  // namespace
}  // namespace replayout::test
