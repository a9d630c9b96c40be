// SPDX-License-Identifier: MIT
//
// An evolutionary search. Each score has a population of scripts, the dearest ones that were found.
// A trial takes one or two of a population, changes them, plays the result, and keeps it wherever
// it is dearer than the cheapest one. A search belongs to one thread; several, each with a seed of
// its own, know nothing of each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "support/checks/seeded_random.h"
#include "worst/mutator.h"
#include "worst/play.h"

namespace replayout::worst {

struct Find {
    Script script;
    std::uint64_t cost = 0;
    std::uint32_t place = 0;
};

class Search {
  public:
    Search(Side side, std::uint64_t seed);
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    /// It begins with these, and with a few at random.
    void begin(std::span<const Script> scripts);
    void run_trial();
    [[nodiscard]] std::uint64_t trial_count() const noexcept { return trial_count_; }

    /// The dearest first.
    [[nodiscard]] const std::vector<Find>& population(Score score) const noexcept {
        return populations_[static_cast<std::size_t>(score)];
    }

  private:
    void try_script(const Script& script);
    [[nodiscard]] bool is_welcome(Score score, std::uint64_t cost) const noexcept;
    void keep(Score score, Find find);
    [[nodiscard]] const Steps& pick(const std::vector<Find>& population);

    Side side_;
    test::SeededRandom random_;
    Mutator mutator_;
    std::array<std::vector<Find>, score_count> populations_;
    std::uint64_t trial_count_ = 0;
};

}  // namespace replayout::worst
