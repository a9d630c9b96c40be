// SPDX-License-Identifier: MIT
//
// The command line of replayout_worst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worst/step.h"

namespace replayout::worst {

struct Options {
    std::optional<Side> side;  ///< none: --replay
    std::uint64_t seed = 1;
    std::uint32_t seconds = 60;
    std::optional<std::uint64_t> trials;  ///< of each job, in place of the seconds
    std::uint32_t job_count = 1;
    std::string from;                 ///< a folder of scripts; empty: none
    std::string out = "worst_finds";  ///< where the finds go
    std::vector<std::string> replayed;
    std::optional<std::uint32_t> marked;

    /// What is wrong with them, or nothing.
    [[nodiscard]] std::string read(const std::vector<std::string_view>& arguments);
    [[nodiscard]] static std::string_view help();
};

}  // namespace replayout::worst
