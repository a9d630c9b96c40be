// SPDX-License-Identifier: MIT
//
// How long ticks took, of which the median counts: a tick in which the machine did something else
// is one of many.
#pragma once

#include "support/report/percentile.h"

#include <cstddef>
#include <vector>

namespace replayout::bench {

class TickTimes {
  public:
    explicit TickTimes(std::size_t tick_count = 0) { ns_.reserve(tick_count); }

    void add(double seconds) { ns_.push_back(seconds * 1e9); }
    /// In nanoseconds; 0 where there is none. Of an even number the larger one in the middle.
    [[nodiscard]] double median() { return percentile(ns_, 50); }

  private:
    std::vector<double> ns_;
};

}  // namespace replayout::bench
