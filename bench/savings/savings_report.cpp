// SPDX-License-Identifier: MIT
#include "savings/savings_report.h"

#include "support/report/report_columns.h"
#include "support/report/report_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace replayout::bench {

namespace {

constexpr double least_gain = 1.05;

[[nodiscard]] const SavingsCell* find_cell(const SavingsResult& result, std::uint32_t connections) {
    const auto found =
        std::find_if(result.cells.begin(), result.cells.end(),
                     [=](const SavingsCell& cell) { return cell.connections == connections; });
    return found == result.cells.end() ? nullptr : &*found;
}

[[nodiscard]] std::string microseconds(double nanoseconds) {
    return nanoseconds == 0 ? "-" : grouped(nanoseconds / 1e3, nanoseconds < 1e5 ? 1 : 0);
}

[[nodiscard]] std::string pays_text(const SavingsResult& result) {
    const std::uint32_t connections = pays_from(result);
    return connections == 0 ? "never" : std::to_string(connections);
}

[[nodiscard]] std::string times_table(std::span<const SavingsResult> results,
                                      std::uint32_t connections) {
    Columns columns;
    Columns::Row head{"row"};
    for (std::size_t i = 0; i < savings_subject_count; ++i) {
        head.emplace_back(to_string(static_cast<SavingsSubject>(i)));
    }
    head.insert(head.end(), {"off / bundles", "pays from", "a tick changes"});
    columns.add(head);
    for (const SavingsResult& result : results) {
        const SavingsCell* cell = find_cell(result, connections);
        if (cell == nullptr || !cell->error.empty()) {
            continue;
        }
        Columns::Row row{result.row};
        for (const SavingsTime& time : cell->times) {
            row.push_back(microseconds(time.median));
        }
        row.insert(row.end(), {grouped(cell->gain(), 2), pays_text(result), result.changes});
        columns.add(row);
    }
    return columns.text();
}

[[nodiscard]] std::string gains_table(std::span<const SavingsResult> results) {
    std::vector<std::uint32_t> counts;
    for (const SavingsResult& result : results) {
        for (const SavingsCell& cell : result.cells) {
            if (std::find(counts.begin(), counts.end(), cell.connections) == counts.end()) {
                counts.push_back(cell.connections);
            }
        }
    }
    std::sort(counts.begin(), counts.end());
    Columns columns;
    Columns::Row head{"off / bundles, by connections"};
    for (const std::uint32_t count : counts) {
        head.push_back(std::to_string(count));
    }
    columns.add(head);
    for (const SavingsResult& result : results) {
        Columns::Row row{result.row};
        for (const std::uint32_t count : counts) {
            const SavingsCell* cell = find_cell(result, count);
            row.push_back(cell == nullptr || !cell->error.empty() ? "-" : grouped(cell->gain(), 2));
        }
        columns.add(row);
    }
    return columns.text();
}

}  // namespace

std::uint32_t pays_from(const SavingsResult& result) noexcept {
    std::uint32_t connections = 0;
    for (auto cell = result.cells.rbegin(); cell != result.cells.rend(); ++cell) {
        if (!cell->error.empty() || cell->gain() < least_gain) {
            break;
        }
        connections = cell->connections;
    }
    return connections;
}

std::string savings_tables(std::span<const SavingsResult> results, std::uint32_t connections) {
    std::string text;
    print(text, "\n  Microseconds of a server's tick, %u connections, medians\n\n", connections);
    text += times_table(results, connections);
    text += "\n";
    text += gains_table(results);
    for (const SavingsResult& result : results) {
        for (const SavingsCell& cell : result.cells) {
            if (!cell.error.empty()) {
                print(text, "\n  %s, %u connections: %s\n", result.row.c_str(), cell.connections,
                      cell.error.c_str());
            }
        }
    }
    return text;
}

std::string savings_json(std::span<const SavingsResult> results) {
    nlohmann::ordered_json json;
    json["rows"] = nlohmann::ordered_json::array();
    for (const SavingsResult& result : results) {
        nlohmann::ordered_json cells = nlohmann::ordered_json::array();
        for (const SavingsCell& cell : result.cells) {
            nlohmann::ordered_json one{{"connections", cell.connections}};
            if (!cell.error.empty()) {
                one["error"] = cell.error;
                cells.push_back(one);
                continue;
            }
            for (std::size_t i = 0; i < savings_subject_count; ++i) {
                const SavingsTime& time = cell.times[i];
                if (time.median > 0) {
                    one["times"][std::string(to_string(static_cast<SavingsSubject>(i)))] = {
                        {"median_ns", time.median}, {"p10_ns", time.p10}, {"p90_ns", time.p90}};
                }
            }
            one["gain"] = cell.gain();
            one["bytes_per_connection"] = cell.bytes_per_connection;
            cells.push_back(one);
        }
        json["rows"].push_back({{"row", result.row},
                                {"changes", result.changes},
                                {"pays_from", pays_from(result)},
                                {"cells", cells}});
    }
    return json.dump(2) + "\n";
}

std::string counted_json(const CountedTicks& counted) {
    const nlohmann::ordered_json json{{"ticks", counted.ticks}, {"bytes", counted.bytes}};
    return json.dump(2) + "\n";
}

std::string savings_csv(std::span<const SavingsResult> results) {
    std::string text = "row,connections,subject,median_ns,p10_ns,p90_ns,bytes_per_connection\n";
    for (const SavingsResult& result : results) {
        for (const SavingsCell& cell : result.cells) {
            for (std::size_t i = 0; i < savings_subject_count; ++i) {
                const SavingsTime& time = cell.times[i];
                if (time.median > 0) {
                    print(text, "\"%s\",%u,%s,%.0f,%.0f,%.0f,%.1f\n", result.row.c_str(),
                          cell.connections,
                          std::string(to_string(static_cast<SavingsSubject>(i))).c_str(),
                          time.median, time.p10, time.p90, cell.bytes_per_connection);
                }
            }
        }
    }
    return text;
}

}  // namespace replayout::bench
