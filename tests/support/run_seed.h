// SPDX-License-Identifier: MIT
//
// The seed of the run, which main.cpp prints and --rng-seed sets. Catch2 2.13 and 3 spell it
// differently.
#pragma once

#include <cstdint>

#include "support/catch.h"

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

}  // namespace replayout
