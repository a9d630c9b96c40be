// SPDX-License-Identifier: MIT
//
// Chance for tests: the same seed gives the same draws with every compiler. The engine's output is
// fixed by the standard, and the distributions of <random> are not, so draws are taken modulo.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace replayout::test {

class SeededRandom {
  public:
    explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

    [[nodiscard]] std::uint64_t bits() { return engine_(); }

    /// 0 to count - 1; count is above 0.
    [[nodiscard]] std::uint32_t below(std::uint32_t count) {
        return static_cast<std::uint32_t>(engine_() % count);
    }
    /// low to high, both included.
    [[nodiscard]] std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + below(high - low + 1);
    }
    [[nodiscard]] bool percent(std::uint32_t probability) { return below(100) < probability; }

    /// One of a container's or C array's elements, of which there is at least one.
    template <typename Container>
    [[nodiscard]] const auto& pick(const Container& values) {
        return values[below(static_cast<std::uint32_t>(std::size(values)))];
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace replayout::test
