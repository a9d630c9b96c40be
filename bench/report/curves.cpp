// SPDX-License-Identifier: MIT
#include "report/curves.h"

#include "support/report/report_text.h"

#include <initializer_list>
#include <span>
#include <utility>

namespace replayout::bench {

namespace {

// What is fixed where something else is the axis.
constexpr std::int64_t connections_shown = 64;
constexpr std::int64_t objects_shown = 1'000;
constexpr std::int64_t permille_shown = 200;

struct Point {
    double x = 0;
    std::int64_t connections = 0;
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
    text += "set terminal svg name '" + name +
            "' size 800,500 dynamic background 'white' font 'sans-serif,13'\n";
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
            const double y = value(point, subject);
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

[[nodiscard]] double microseconds_each(const Point& point, FanOutSubject subject) noexcept {
    return figure_of(point.row, subject).ns / 1e3 / static_cast<double>(point.connections);
}

[[nodiscard]] double savings(const Point& point, FanOutSubject subject) noexcept {
    return ratio_of(point.row, FanOutSubject::Off, subject);
}

[[nodiscard]] std::vector<Point> points_by_connections(const FanOut& fan_out) {
    std::vector<Point> points;
    for (const auto& [cell, row] : fan_out) {
        if (cell.objects == objects_shown && cell.permille == permille_shown) {
            points.push_back({static_cast<double>(cell.connections), cell.connections, row});
        }
    }
    return points;
}

[[nodiscard]] std::vector<Point> points_by_changes(const FanOut& fan_out) {
    std::vector<Point> points;
    for (const auto& [cell, row] : fan_out) {
        if (cell.objects == objects_shown && cell.connections == connections_shown &&
            cell.permille > 0) {
            points.push_back({static_cast<double>(cell.permille) / 10.0, cell.connections, row});
        }
    }
    return points;
}

/// What is drawn along one axis.
struct Axis {
    const char* name;   ///< in the names of files
    const char* label;  ///< of the axis
    const char* what;   ///< is fixed
};

void add_curves(std::vector<Curve>& curves, std::span<const Point> points, const Axis& axis) {
    if (points.size() < 2) {
        return;
    }
    Curve tick{std::string("tick_by_") + axis.name, {}};
    add_head(tick.program, tick.name, axis.label, "microseconds a tick and connection",
             std::string("What a connection costs: ") + axis.what);
    add_data(tick.program, points, all_subjects, microseconds_each);
    curves.push_back(std::move(tick));
    Curve saved{std::string("savings_by_") + axis.name, {}};
    add_head(saved.program, saved.name, axis.label, "time without sharing / time with it",
             std::string("What sharing saves: ") + axis.what);
    add_data(saved.program, points, levels, savings);
    curves.push_back(std::move(saved));
}

}  // namespace

std::vector<Curve> curves_of(const FanOut& fan_out) {
    std::vector<Curve> curves;
    add_curves(curves, points_by_connections(fan_out),
               {"connections", "connections", "1,000 objects, of which 20 % move in a tick"});
    add_curves(
        curves, points_by_changes(fan_out),
        {"changes", "percent of the objects that move in a tick", "1,000 objects, 64 connections"});
    return curves;
}

}  // namespace replayout::bench
