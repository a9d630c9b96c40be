// SPDX-License-Identifier: MIT
#include "report/curves.h"

#include "report_text.h"

#include <initializer_list>
#include <span>

namespace replayout::bench {

namespace {

// What is fixed where something else is the axis.
constexpr std::int64_t connections_shown = 64;
constexpr std::int64_t objects_shown = 1'000;
constexpr std::int64_t permille_shown = 200;

struct Point {
    double x = 0;
    FanOutRow row{};
};

constexpr FanOutSubject all_subjects[] = {
    FanOutSubject::Off,        FanOutSubject::Pieces,    FanOutSubject::Payloads,
    FanOutSubject::Bundles,    FanOutSubject::NaivePoll, FanOutSubject::NaiveDirty,
    FanOutSubject::SharedOnce, FanOutSubject::Memcpy,
};
constexpr FanOutSubject levels[] = {FanOutSubject::Pieces, FanOutSubject::Payloads,
                                    FanOutSubject::Bundles};

void add_head(std::string& text, const std::string& name, const char* x_label, const char* y_label,
              const std::string& title) {
    text += "set terminal svg size 800,500 dynamic background 'white' font 'sans-serif,13'\n";
    text += "set output '" + name + ".svg'\n";
    text += "set title '" + title + "'\n";
    text += std::string("set xlabel '") + x_label + "'\nset ylabel '" + y_label + "'\n";
    text += "set logscale xy\nset grid\nset key outside right\n";
}

/// A block of data with one line for each point, and a curve for each subject. `value` gives what
/// is drawn, or 0 where there is nothing.
template <typename Value>
void add_data(std::string& text, std::span<const Point> points,
              std::span<const FanOutSubject> subjects, Value&& value) {
    text += "$points << END\n";
    for (const Point& point : points) {
        print(text, "%g", point.x);
        for (const FanOutSubject subject : subjects) {
            const double y = value(point.row, subject);
            if (y > 0) {
                print(text, " %.4g", y);
            } else {
                text += " NaN";
            }
        }
        text += "\n";
    }
    text += "END\nplot ";
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        print(text, "%s$points using 1:%zu with linespoints title '%s'", i == 0 ? "" : ", ", i + 2,
              std::string(to_string(subjects[i])).c_str());
    }
    text += "\n";
}

[[nodiscard]] double microseconds(const FanOutRow& row, FanOutSubject subject) noexcept {
    return figure_of(row, subject).ns / 1e3;
}

[[nodiscard]] double savings(const FanOutRow& row, FanOutSubject subject) noexcept {
    return ratio_of(row, FanOutSubject::Off, subject);
}

[[nodiscard]] std::vector<Point> points_by_connections(const FanOut& fan_out) {
    std::vector<Point> points;
    for (const auto& [cell, row] : fan_out) {
        if (cell.objects == objects_shown && cell.permille == permille_shown) {
            points.push_back({static_cast<double>(cell.connections), row});
        }
    }
    return points;
}

[[nodiscard]] std::vector<Point> points_by_changes(const FanOut& fan_out) {
    std::vector<Point> points;
    for (const auto& [cell, row] : fan_out) {
        if (cell.objects == objects_shown && cell.connections == connections_shown &&
            cell.permille > 0) {
            points.push_back({static_cast<double>(cell.permille) / 10.0, row});
        }
    }
    return points;
}

}  // namespace

std::vector<Curve> curves_of(const FanOut& fan_out) {
    std::vector<Curve> curves;
    const std::vector<Point> by_connections = points_by_connections(fan_out);
    if (by_connections.size() >= 2) {
        Curve curve{"tick_by_connections", {}};
        add_head(curve.program, curve.name, "connections", "microseconds a tick",
                 "1,000 objects, of which 20 % move in a tick");
        add_data(curve.program, by_connections, all_subjects, microseconds);
        curves.push_back(curve);
        curve = {"savings_by_connections", {}};
        add_head(curve.program, curve.name, "connections", "time without sharing / time with it",
                 "What sharing saves: 1,000 objects, of which 20 % move in a tick");
        add_data(curve.program, by_connections, levels, savings);
        curves.push_back(curve);
    }
    const std::vector<Point> by_changes = points_by_changes(fan_out);
    if (by_changes.size() >= 2) {
        Curve curve{"tick_by_changes", {}};
        add_head(curve.program, curve.name, "percent of the objects that move in a tick",
                 "microseconds a tick", "1,000 objects, 64 connections");
        add_data(curve.program, by_changes, all_subjects, microseconds);
        curves.push_back(curve);
    }
    return curves;
}

}  // namespace replayout::bench
