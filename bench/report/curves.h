// SPDX-License-Identifier: MIT
//
// The curves of what sharing saves, as programs for gnuplot that draw SVG. Each holds its data.
#pragma once

#include "report/fan_out.h"

#include <string>
#include <vector>

namespace replayout::bench {

struct Curve {
    std::string name;     ///< of its files, without an ending
    std::string program;  ///< writes `name`.svg
};

/// By connections and by share of changes: the time of a tick for each connection, beside the
/// yardsticks and the floor; and by how many times a level makes it shorter, the time without
/// sharing divided by that with it. None where the fan-out has not enough of it: two points at
/// least.
[[nodiscard]] std::vector<Curve> curves_of(const FanOut& fan_out);

}  // namespace replayout::bench
