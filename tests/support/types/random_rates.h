// SPDX-License-Identifier: MIT
//
// How much, how often and what first, at random, for games that are about something else: caps and
// congestion control of connections, frequencies and priorities of objects.
//
//     RandomRates rates(seed);
//     SpawnGame game(link, rates.with_caps(config), seed);
//     rates.set_object(driver.rates(), id);                  // with each new object
//     rates.maybe_change(driver.rates(), any_peer, any_id);  // in each tick
//     game.tick(RandomRates::ticks_until_looked);            // at the end
//
// It has a chance of its own, so a game does the same with it and without.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_rates.h>

#include <cstdint>

#include "support/checks/seeded_random.h"

namespace replayout::test {

class RandomRates {
  public:
    /// By when every object is looked at, in ticks of 20 ms.
    static constexpr std::uint32_t ticks_until_looked = 55;

    explicit RandomRates(std::uint64_t seed)
        : random_(seed * 0x9E37'79B9u + 1), has_frequencies_(random_.percent(75)) {}

    /// What connections begin with.
    [[nodiscard]] NetConfig with_caps(NetConfig config) {
        config.bytes_per_second_max = random_.pick(caps);
        config.has_congestion_control = random_.percent(30);
        return config;
    }
    void set_object(NetRates rates, NetObjectId id) {
        if (has_frequencies_) {
            rates.set_net_update_frequency(id, random_.pick(frequencies));
        }
        rates.set_net_priority(id, random_.pick(priorities));
    }
    /// Once in 25 ticks a connection has another cap, and once in 25 an object other rates.
    void maybe_change(NetRates rates, PeerId peer, NetObjectId id) {
        if (random_.percent(4)) {
            rates.set_bytes_per_second_max(peer, random_.pick(caps));
        }
        if (random_.percent(4)) {
            set_object(rates, id);
        }
        if (random_.percent(2)) {
            rates.force_net_update(id);
        }
    }

  private:
    static constexpr std::uint32_t caps[] = {0, 8'000, 40'000};
    // In each tick, twice as often as the others; the last two are adaptive.
    static constexpr NetUpdateFrequency frequencies[] = {{}, {}, {10}, {2}, {50, 5}, {10, 1}};
    static constexpr float priorities[] = {0.0625f, 0.5f, 1, 1, 4};

    SeededRandom random_;
    bool has_frequencies_;
};

}  // namespace replayout::test
