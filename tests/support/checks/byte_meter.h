// SPDX-License-Identifier: MIT
//
// What goes out in ticks of 20 ms: all of it, and the most in any second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace replayout::test {

class ByteMeter {
  public:
    static constexpr std::uint32_t ticks_per_second = 50;

    void tick(std::size_t bytes) {
        ticks_.push_back(bytes);
        second_ += bytes;
        total += bytes;
        if (ticks_.size() > ticks_per_second + 1) {  // both ends of the second included
            second_ -= ticks_.front();
            ticks_.pop_front();
        }
        most = std::max(most, second_);
    }

    std::size_t most = 0;
    std::size_t total = 0;

  private:
    std::deque<std::size_t> ticks_;
    std::size_t second_ = 0;
};

}  // namespace replayout::test
