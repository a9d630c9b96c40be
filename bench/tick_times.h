// SPDX-License-Identifier: MIT
//
// How long ticks took, of which the median counts: a tick in which the machine did something else
// is one of many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace replayout::bench {

class TickTimes {
  public:
    explicit TickTimes(std::size_t tick_count = 0) { ns_.reserve(tick_count); }

    void add(double seconds) { ns_.push_back(seconds * 1e9); }
    /// In nanoseconds; 0 where there is none. Of an even number the larger one in the middle.
    [[nodiscard]] double median() {
        if (ns_.empty()) {
            return 0;
        }
        const auto middle = ns_.begin() + static_cast<std::ptrdiff_t>(ns_.size() / 2);
        std::nth_element(ns_.begin(), middle, ns_.end());
        return *middle;
    }

  private:
    std::vector<double> ns_;
};

}  // namespace replayout::bench
