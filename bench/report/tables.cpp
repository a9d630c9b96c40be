// SPDX-License-Identifier: MIT
#include "report/tables.h"

#include "report/floors.h"
#include "support/report/report_columns.h"
#include "support/report/report_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace replayout::bench {

namespace {

/// With a unit that makes it short.
[[nodiscard]] std::string time_text(double ns) {
    std::string text;
    if (ns >= 1e6) {
        print(text, "%.2f ms", ns / 1e6);
    } else if (ns >= 1e3) {
        print(text, "%.2f us", ns / 1e3);
    } else {
        print(text, "%.1f ns", ns);
    }
    return text;
}

[[nodiscard]] std::string number_text(double number) {
    std::string text;
    if (std::abs(number) >= 1e7) {
        print(text, "%.1fM", number / 1e6);
    } else if (std::abs(number) >= 1e5) {
        print(text, "%.1fk", number / 1e3);
    } else if (number == std::floor(number) || std::abs(number) >= 1e3) {
        print(text, "%.0f", number);
    } else {
        print(text, "%.3g", number);
    }
    return text;
}

/// Measurements of one family.
class FamilyTable {
  public:
    FamilyTable(std::vector<const Measurement*> rows, const std::vector<Measurement>& all)
        : rows_(std::move(rows)) {
        std::stable_sort(rows_.begin(), rows_.end(), [](const auto* left, const auto* right) {
            return left->arguments < right->arguments;
        });
        std::set<std::string> names;
        for (const Measurement* row : rows_) {
            longest_ns_ = std::max(longest_ns_, row->ns);
            floors_.push_back(row->has_time() ? floor_of(*row, all) : nullptr);
            has_floors_ = has_floors_ || floors_.back() != nullptr;
            for (const auto& [name, value] : row->counters) {
                if (value != 0 || name == "allocs") {
                    names.insert(name);
                }
            }
        }
        counters_.assign(names.begin(), names.end());
    }

    [[nodiscard]] std::string text() const {
        Columns columns;
        columns.add(head());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            columns.add(cells(*rows_[i], floors_[i]));
        }
        return "\n" + rows_.front()->family + "\n" + columns.text();
    }

  private:
    [[nodiscard]] Columns::Row head() const {
        Columns::Row cells{"", "time"};
        if (has_floors_) {
            const std::string name = floor_name(*rows_.front());
            cells.insert(cells.end(), {name, "of " + name});
        }
        cells.insert(cells.end(), counters_.begin(), counters_.end());
        cells.emplace_back();
        return cells;
    }

    [[nodiscard]] Columns::Row cells(const Measurement& row, const Measurement* floor) const {
        Columns::Row cells{argument_text(row), row.has_time() ? time_text(row.ns) : "-"};
        if (has_floors_) {
            cells.push_back(floor != nullptr ? time_text(floor->ns) : "-");
            cells.emplace_back(floor != nullptr ? "" : "-");
            if (floor != nullptr) {
                print(cells.back(), "%.2f", row.ns / floor->ns);
            }
        }
        for (const std::string& name : counters_) {
            const auto counter = row.counters.find(name);
            const bool is_known = row.has_time() && counter != row.counters.end();
            cells.push_back(is_known ? number_text(counter->second) : "-");
        }
        cells.push_back(row.has_time() ? bar(row.ns, longest_ns_) : "FAILED: " + row.error);
        return cells;
    }

    std::vector<const Measurement*> rows_;
    std::vector<const Measurement*> floors_;  // by row
    std::vector<std::string> counters_;
    double longest_ns_ = 0;
    bool has_floors_ = false;
};

[[nodiscard]] Columns::Row fan_out_head() {
    Columns::Row cells{"connections", "objects", "permille moved"};
    for (std::size_t i = 0; i < fan_out_subject_count; ++i) {
        cells.emplace_back(to_string(static_cast<FanOutSubject>(i)));
    }
    cells.insert(cells.end(), {"marking", "bundles/off", ""});
    return cells;
}

/// What sharing is, the game's marks are the same: those of whichever level was measured.
[[nodiscard]] std::string marking_text(const FanOutRow& row) {
    std::string text;
    for (const FanOutFigure& figure : row) {
        if (figure.marking_us > 0) {
            print(text, "%.1f", figure.marking_us);
            return text;
        }
    }
    return "-";
}

[[nodiscard]] Columns::Row fan_out_cells(const FanOutCell& cell, const FanOutRow& row) {
    Columns::Row cells{std::to_string(cell.connections), std::to_string(cell.objects),
                       std::to_string(cell.permille)};
    for (const FanOutFigure& figure : row) {
        cells.emplace_back(figure.error.empty() ? "-" : "FAILED");
        if (figure.ns > 0) {
            cells.back().clear();
            print(cells.back(), figure.ns < 1e4 ? "%.2f" : "%.1f", figure.ns / 1e3);
        }
    }
    cells.push_back(marking_text(row));
    const double share = ratio_of(row, FanOutSubject::Bundles, FanOutSubject::Off);
    cells.emplace_back(share > 0 ? "" : "-");
    cells.push_back(share > 0 ? bar(share, 1) : "");
    if (share > 0) {
        print(cells[cells.size() - 2], "%.2f", share);
    }
    return cells;
}

}  // namespace

std::string tables(const std::vector<Measurement>& measurements) {
    // By family, in the order in which they come first: repetitions in random order mix them.
    std::vector<std::vector<const Measurement*>> families;
    for (const Measurement& measurement : measurements) {
        if (is_of_fan_out(measurement) || !measurement.left_out.empty()) {
            continue;
        }
        const auto family = std::find_if(families.begin(), families.end(), [&](const auto& rows) {
            return rows.front()->family == measurement.family;
        });
        if (family != families.end()) {
            family->push_back(&measurement);
        } else {
            families.push_back({&measurement});
        }
    }
    std::string text;
    for (std::vector<const Measurement*>& rows : families) {
        text += FamilyTable(std::move(rows), measurements).text();
    }
    return text;
}

std::string fan_out_table(const FanOut& fan_out) {
    if (fan_out.empty()) {
        return {};
    }
    Columns columns;
    columns.add(fan_out_head());
    std::string failed;
    for (const auto& [cell, row] : fan_out) {
        columns.add(fan_out_cells(cell, row));
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (!row[i].error.empty()) {
                print(failed, "  FAILED: connections:%lld objects:%lld permille:%lld ",
                      static_cast<long long>(cell.connections),
                      static_cast<long long>(cell.objects), static_cast<long long>(cell.permille));
                failed += std::string(to_string(static_cast<FanOutSubject>(i))) + ": " +
                          row[i].error + "\n";
            }
        }
    }
    return "\nFan-out: us of a tick in a row of ticks like it, so what it needs is in the cache as "
           "far as it fits;\nby connections, objects, and thousandths of these that move\n" +
           columns.text() + failed;
}

std::string left_out_list(const std::vector<Measurement>& measurements) {
    std::vector<const Measurement*> rows;
    for (const Measurement& measurement : measurements) {
        if (!measurement.left_out.empty()) {
            rows.push_back(&measurement);
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* left, const auto* right) {
        return std::tie(left->family, left->arguments) < std::tie(right->family, right->arguments);
    });
    Columns columns;
    for (const Measurement* row : rows) {
        columns.add({row->family + " " + argument_text(*row), row->left_out});
    }
    return rows.empty() ? std::string() : "\nLeft out\n" + columns.text();
}

}  // namespace replayout::bench
