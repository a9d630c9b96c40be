// SPDX-License-Identifier: MIT
//
// replayout_savings: what shared serialization saves, row by row. See --help.
#include "savings/counted_ticks.h"
#include "savings/savings_options.h"
#include "savings/savings_report.h"
#include "savings/savings_rows.h"
#include "support/report/command_line.h"
#include "support/report/json_file.h"

#include <algorithm>
#include <cstdio>

namespace {

using namespace replayout::bench;

constexpr int exit_good = 0;
constexpr int exit_cell_failed = 1;

[[nodiscard]] std::vector<SavingsResult> measure(const SavingsOptions& options,
                                                 std::span<const SavingsRow> rows) {
    std::vector<SavingsResult> results;
    for (const SavingsRow& row : rows) {
        if (!options.has_row(row.name)) {
            continue;
        }
        SavingsResult& result = results.emplace_back(SavingsResult{row.name, row.changes, {}});
        for (const std::uint32_t connections : options.connections) {
            std::fprintf(stderr, "%s, %u connections\n", row.name.c_str(), connections);
            SavingsCellSettings settings = options.cell;
            settings.connections = connections;
            result.cells.push_back(measure_cell(row, settings));
        }
    }
    return results;
}

/// Plays one row for Callgrind.
[[nodiscard]] int count(const SavingsOptions& options, std::span<const SavingsRow> rows,
                        JsonFile& json) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SavingsRow& one) {
        return one.name == options.count_row;
    });
    if (row == rows.end()) {
        std::fputs("there is no row of just this name\n", stderr);
        return exit_unusable;
    }
    const CountedTicks counted =
        play_counted_ticks(*row, options.connections.front(), options.count_level);
    if (!counted.error.empty()) {
        std::fprintf(stderr, "%s: %s\n", row->name.c_str(), counted.error.c_str());
        return exit_cell_failed;
    }
    json.write(counted_json(counted));
    return json.is_good() ? exit_good : exit_unusable;
}

[[nodiscard]] int run(SavingsOptions& options) {
    std::sort(options.connections.begin(), options.connections.end());
    JsonFile json(options.json_path);
    JsonFile csv(options.csv_path);
    if (!json.is_good() || !csv.is_good()) {
        return exit_unusable;
    }
    std::string error;
    const std::vector<SavingsRow> rows = savings_rows(options.traces, error);
    if (!error.empty()) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return exit_unusable;
    }
    if (options.is_list) {
        for (const SavingsRow& row : rows) {
            std::printf("%s\n", row.name.c_str());
        }
        return exit_good;
    }
    if (!options.count_row.empty()) {
        return count(options, rows, json);
    }
    const std::vector<SavingsResult> results = measure(options, rows);
    if (results.empty()) {
        std::fputs("there is no such row\n", stderr);
        return exit_unusable;
    }
    json.write(savings_json(results));
    csv.write(savings_csv(results));
    std::fputs(savings_tables(results, options.shown_connections()).c_str(), json.screen());
    for (const SavingsResult& result : results) {
        for (const SavingsCell& cell : result.cells) {
            if (!cell.error.empty()) {
                return exit_cell_failed;
            }
        }
    }
    return json.is_good() && csv.is_good() ? exit_good : exit_unusable;
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(argc, argv, parse_savings_options, run, ": fewer connections need less");
}
