// SPDX-License-Identifier: MIT
#include "support/report/report_columns.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace replayout::bench {

namespace {

constexpr std::size_t bar_width = 30;

/// Characters of UTF-8: all bytes but those that continue one.
[[nodiscard]] std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
    }));
}

}  // namespace

void Columns::add(Row row) {
    widths_.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
        widths_[i] = std::max(widths_[i], width_of(row[i]));
    }
    rows_.push_back(std::move(row));
}

std::string Columns::text() const {
    std::string text;
    for (const Row& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths_[i] - width_of(row[i]), ' ');
            const bool is_left = i == 0 || i + 1 == row.size();
            line += "  " + (is_left ? row[i] + padding : padding + row[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string bar(double part, double whole) {
    const double share = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0;
    const auto width = static_cast<std::size_t>(std::lround(share * bar_width));
    return std::string(std::max<std::size_t>(width, 1), '#');
}

}  // namespace replayout::bench
