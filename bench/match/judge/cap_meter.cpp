// SPDX-License-Identifier: MIT
#include "match/judge/cap_meter.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace replayout::match {

std::uint64_t CapMeter::end_tick() {
    std::uint64_t all = 0;
    for (std::size_t client = 0; client < tick_bytes_.size(); ++client) {
        std::vector<std::uint64_t>& second = seconds_[client];
        const std::uint64_t bytes = std::exchange(tick_bytes_[client], 0);
        all += bytes;
        second.push_back(bytes);
        if (second.size() > ticks_of_second) {
            second.erase(second.begin());
        }
        most_ = std::max(most_, std::accumulate(second.begin(), second.end(), std::uint64_t{0}));
    }
    return all;
}

}  // namespace replayout::match
