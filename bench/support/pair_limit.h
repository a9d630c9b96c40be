// SPDX-License-Identifier: MIT
//
// How many connections x objects the programs play, which is a question of memory.
#pragma once

#include <cstdint>

namespace replayout::bench {

/// Of a pair a server keeps 16 bytes at most, and a naive replicator a shadow of 72. The fan-out
/// has four servers at once, one for each level of sharing, and two naive replicators; W1 has one
/// server and two:
///
///     20,000,000 x (4 x 16 + 2 x 72) = 4.2 GB
///     20,000,000 x (1 x 16 + 2 x 72) = 3.2 GB
inline constexpr std::uint64_t pairs_max = 20'000'000;

}  // namespace replayout::bench
