// SPDX-License-Identifier: MIT
//
// The seed of the run, which main.cpp prints and --rng-seed sets. Catch2 2.13 and 3 spell it
// differently.
//
// And the seeds of tests that play many games, each with one of its own: REPLAYOUT_SEED=n plays
// that one alone, REPLAYOUT_SEEDS=n plays n of them, REPLAYOUT_FIRST_SEED=n begins elsewhere.
// `./run seeds` goes through many of them that way.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "support/checks/catch.h"

#if __has_include(<catch2/catch_get_random_seed.hpp>)
#include <catch2/catch_get_random_seed.hpp>
#endif

namespace replayout {

[[nodiscard]] inline std::uint64_t run_seed() {
#if __has_include(<catch2/catch_get_random_seed.hpp>)
    return Catch::getSeed();
#else
    return Catch::rngSeed();
#endif
}

struct SeedRange {
    std::uint64_t first = 1;
    std::uint64_t count = 0;
    bool is_default = true;  ///< nobody asked for others, so much is known of what happens

    struct Iterator {
        std::uint64_t seed;
        std::uint64_t operator*() const noexcept { return seed; }
        void operator++() noexcept { ++seed; }
        friend bool operator==(const Iterator&, const Iterator&) = default;
    };
    [[nodiscard]] Iterator begin() const noexcept { return {first}; }
    [[nodiscard]] Iterator end() const noexcept { return {first + count}; }
};

/// Of a test that plays `count` games from seed `first` on unless it is told otherwise.
[[nodiscard]] inline SeedRange seed_range(std::uint64_t first, std::uint64_t count) {
    const auto number = [](const char* name, std::uint64_t otherwise) {
        const char* text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    };
    const std::uint64_t only = number("REPLAYOUT_SEED", 0);
    if (only != 0) {
        return {only, 1, false};
    }
    const SeedRange range{number("REPLAYOUT_FIRST_SEED", first), number("REPLAYOUT_SEEDS", count)};
    return {range.first, range.count, range.first == first && range.count == count};
}

}  // namespace replayout
