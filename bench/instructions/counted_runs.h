// SPDX-License-Identifier: MIT
//
// The runs that ./run instructions counts, by name. count.py says which of them make a row.
#pragma once

#include "instructions/counted_run.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace replayout::bench {

/// The names of all runs.
[[nodiscard]] std::span<const std::string_view> counted_run_names() noexcept;

struct CountedRunPlan {
    std::string error;  ///< empty: the others are there
    CountedRunSettings settings;
    std::unique_ptr<CountedGame> game;
};

/// `traces`: the folder with the recordings. An error where no run has this name, or its recording
/// cannot be read.
[[nodiscard]] CountedRunPlan plan_counted_run(std::string_view name, const std::string& traces);

}  // namespace replayout::bench
