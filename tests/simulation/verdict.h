// SPDX-License-Identifier: MIT
//
// What a simulation found: the first thing that was wrong, by the number of its invariant
// (docs/simulation.md). Nothing after it counts, as it may follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace replayout::test {

struct Finding {
    std::uint32_t invariant = 0;  ///< 0: nothing was wrong
    std::uint32_t tick = 0;
    std::string text;
};

class Verdict {
  public:
    void begin_tick(std::uint32_t tick) noexcept { tick_ = tick; }
    [[nodiscard]] std::uint32_t tick() const noexcept { return tick_; }

    void fail(std::uint32_t invariant, std::string text) {
        if (is_good()) {
            finding_ = {invariant, tick_, std::move(text)};
        }
    }
    /// `describe` is called only where it does not hold.
    template <typename Describe>
    void require(std::uint32_t invariant, bool holds, Describe describe) {
        if (!holds && is_good()) {
            fail(invariant, describe());
        }
    }

    [[nodiscard]] bool is_good() const noexcept { return finding_.invariant == 0; }
    [[nodiscard]] const Finding& finding() const noexcept { return finding_; }

  private:
    std::uint32_t tick_ = 0;
    Finding finding_;
};

}  // namespace replayout::test
