// SPDX-License-Identifier: MIT
#include "savings/savings_options.h"

#include "support/report/command_line.h"

#include <replayout/netdriver/net_config.h>

#include <algorithm>
#include <cstdio>

namespace replayout::bench {

bool SavingsOptions::has_row(const std::string& name) const {
    return rows.empty() || std::any_of(rows.begin(), rows.end(), [&](const std::string& part) {
               return name.find(part) != std::string::npos;
           });
}

std::uint32_t SavingsOptions::shown_connections() const {
    constexpr std::uint32_t usual = 64;
    return std::find(connections.begin(), connections.end(), usual) != connections.end()
               ? usual
               : connections.back();
}

int parse_savings_options(int argc, char** argv, SavingsOptions& options) {
    CLI::App app{
        "Measures what shared serialization saves: the same games to the same connections, with "
        "sharing off and at each level, beside what is written by hand for them. All subjects of a "
        "cell take turns, and medians of their ticks are compared. Prints a table; writes all "
        "figures.\n"
        "Exit status: 0 good, 1 a cell failed (what was sent differs, a client was closed), 2 bad "
        "arguments or a file that cannot be had.",
        "replayout_savings"};
    app.add_option("--connections", options.connections, "how many, separated by commas")
        ->check(number(1, NetConfig().connections_max))
        ->delimiter(',');
    app.add_option("--rows", options.rows, "only rows whose names contain one of these")
        ->delimiter(',');
    app.add_option("--trace", options.traces, "recordings to play as well, a row each");
    add_number(app, "--ticks", options.cell.ticks, 1, 100'000, "to time of each subject");
    add_number(app, "--turn", options.cell.turn, 1, 1'000, "ticks that a subject plays in a row");
    app.add_flag("--quick", options.is_quick,
                 "1, 16 and 64 connections, off and bundles alone, 40 ticks: about a minute");
    app.add_option("--json", options.json_path, "write all figures to this file; - is stdout");
    app.add_option("--csv", options.csv_path, "write them as a table, a line for each subject");
    app.add_flag("--list", options.is_list, "list the rows");
    app.add_option("--count", options.count_row,
                   "play this row once, for Callgrind; --instructions of ./run savings does so");
    static constexpr Choice<SharingLevel> levels[] = {{"off", SharingLevel::Off},
                                                      {"bundles", SharingLevel::Bundles}};
    add_choice(app, "--count-level", options.count_level, levels, "with this sharing")
        ->default_str("")
        ->needs("--count");
    if (const int status = parse_command_line(app, argc, argv); status != go_on) {
        return status;
    }
    if (!options.count_row.empty() && options.connections.size() != 1) {
        std::fputs("--count: name one number of connections\n", stderr);
        return exit_unusable;
    }
    if (options.is_quick) {
        options.cell.has_middle_levels = false;
        options.cell.joins = 1;
        if (app.count("--connections") == 0) {
            options.connections = {1, 16, 64};
        }
        if (app.count("--ticks") == 0) {
            options.cell.ticks = 40;
        }
    }
    return go_on;
}

}  // namespace replayout::bench
