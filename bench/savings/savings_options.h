// SPDX-License-Identifier: MIT
//
// The command line of replayout_savings.
#pragma once

#include "savings/savings_cell.h"

#include <replayout/sharing_level.h>

#include <cstdint>
#include <string>
#include <vector>

namespace replayout::bench {

struct SavingsOptions {
    std::vector<std::uint32_t> connections{1, 4, 16, 64, 256};
    std::vector<std::string> rows;    ///< parts of their names; empty: all
    std::vector<std::string> traces;  ///< a row each
    SavingsCellSettings cell;         ///< all but the connections
    bool is_quick = false;
    std::string json_path;
    std::string csv_path;
    bool is_list = false;   ///< names of the rows, and nothing else
    std::string count_row;  ///< if any, this one is played once, for Callgrind
    SharingLevel count_level = SharingLevel::Bundles;

    [[nodiscard]] bool has_row(const std::string& name) const;
    /// The number of connections that the table shows: 64 if it is measured, else the largest,
    /// which is the last.
    [[nodiscard]] std::uint32_t shown_connections() const;
};

/// go_on, or what the process is to exit with.
[[nodiscard]] int parse_savings_options(int argc, char** argv, SavingsOptions& options);

}  // namespace replayout::bench
