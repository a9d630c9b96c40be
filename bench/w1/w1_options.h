// SPDX-License-Identifier: MIT
//
// What the command line of replayout_w1 says.
#pragma once

#include <replayout/sharing_level.h>

#include <cstdint>
#include <string>

namespace replayout::bench {

struct W1Options {
    std::uint32_t objects = 1'000;  ///< a multiple of 50
    std::uint32_t connections = 64;
    std::uint32_t ticks = 200;  ///< that are timed warm, and as many cold
    std::uint32_t turn = 50;    ///< warm ticks of a subject before it is the next one's turn
    std::uint32_t workers = 1;  ///< threads that a flush is split over
    SharingLevel sharing = SharingLevel::Bundles;
    bool is_push_based = true;
    /// W1 is defined for so many packets to one connection.
    std::uint32_t packets_per_tick_max = 128;
    std::string json_path;
};

/// 0 (--help) or 2 (bad arguments): what the process is to exit with. -1: go on.
[[nodiscard]] int parse_w1_options(int argc, char** argv, W1Options& options);

}  // namespace replayout::bench
