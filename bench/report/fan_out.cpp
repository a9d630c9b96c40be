// SPDX-License-Identifier: MIT
#include "report/fan_out.h"

#include <optional>

namespace replayout::bench {

namespace {

[[nodiscard]] std::optional<FanOutSubject> subject_of(const Measurement& measurement) noexcept {
    if (measurement.family == "BM_FanOut") {
        const std::int64_t sharing = measurement.argument("sharing").value_or(-1);
        return sharing >= 0 && sharing <= 3
                   ? std::optional(static_cast<FanOutSubject>(sharing))  // named in its order
                   : std::nullopt;
    }
    if (measurement.family == "BM_FanOutNaivePoll") {
        return FanOutSubject::NaivePoll;
    }
    if (measurement.family == "BM_FanOutNaiveDirty") {
        return FanOutSubject::NaiveDirty;
    }
    if (measurement.family == "BM_FanOutSharedOnce") {
        return FanOutSubject::SharedOnce;
    }
    return measurement.family == "BM_FanOutMemcpy" ? std::optional(FanOutSubject::Memcpy)
                                                   : std::nullopt;
}

}  // namespace

std::string_view to_string(FanOutSubject subject) noexcept {
    constexpr std::array<std::string_view, fan_out_subject_count> names = {
        "off",           "pieces",           "payloads",    "bundles",
        "naive polling", "naive dirty list", "shared once", "memcpy"};
    return names[static_cast<std::size_t>(subject)];
}

bool is_of_fan_out(const Measurement& measurement) noexcept {
    return subject_of(measurement).has_value();
}

FanOut fan_out_of(const std::vector<Measurement>& measurements) {
    FanOut fan_out;
    for (const Measurement& measurement : measurements) {
        const std::optional<FanOutSubject> subject = subject_of(measurement);
        const auto connections = measurement.argument("connections");
        const auto objects = measurement.argument("objects");
        const auto permille = measurement.argument("permille");
        if (!subject || !connections || !objects || !permille || !measurement.left_out.empty()) {
            continue;
        }
        FanOutRow& row = fan_out[{*connections, *objects, *permille}];
        FanOutFigure& figure = row[static_cast<std::size_t>(*subject)];
        if (!measurement.error.empty()) {
            figure = {0, 0, measurement.error};
            continue;
        }
        figure.ns = measurement.ns;
        const auto marking = measurement.counters.find("marking_us");
        figure.marking_us = marking != measurement.counters.end() ? marking->second : 0;
    }
    return fan_out;
}

double ratio_of(const FanOutRow& row, FanOutSubject part, FanOutSubject whole) noexcept {
    const double ns = figure_of(row, whole).ns;
    return ns > 0 ? figure_of(row, part).ns / ns : 0.0;
}

}  // namespace replayout::bench
