// SPDX-License-Identifier: MIT
//
// The measurements of fan_out_bench, cell by cell: what each subject took for the same tick.
#pragma once

#include "report/measurements.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::bench {

enum class FanOutSubject : std::uint8_t {
    Off,
    Pieces,
    Payloads,
    Bundles,
    NaivePoll,
    NaiveDirty,
    SharedOnce,
    Memcpy,
};

inline constexpr std::size_t fan_out_subject_count = 8;

[[nodiscard]] std::string_view to_string(FanOutSubject subject) noexcept;

struct FanOutCell {
    std::int64_t connections = 0;
    std::int64_t objects = 0;
    std::int64_t permille = 0;  ///< of the objects, that move in a tick

    friend auto operator<=>(const FanOutCell&, const FanOutCell&) = default;
};

/// What one subject came to in a cell.
struct FanOutFigure {
    double ns = 0;          ///< of a tick; 0 where it was not measured, or failed
    double marking_us = 0;  ///< of a tick, the game's part; 0 where nothing is marked
    std::string error;      ///< why it failed
};

using FanOutRow = std::array<FanOutFigure, fan_out_subject_count>;
using FanOut = std::map<FanOutCell, FanOutRow>;

[[nodiscard]] bool is_of_fan_out(const Measurement& measurement) noexcept;
/// Without what was left out.
[[nodiscard]] FanOut fan_out_of(const std::vector<Measurement>& measurements);

[[nodiscard]] inline const FanOutFigure& figure_of(const FanOutRow& row,
                                                   FanOutSubject subject) noexcept {
    return row[static_cast<std::size_t>(subject)];
}

/// How many times the time of `whole` that of `part` is; 0 where one of them is not known.
[[nodiscard]] double ratio_of(const FanOutRow& row, FanOutSubject part,
                              FanOutSubject whole) noexcept;

}  // namespace replayout::bench
