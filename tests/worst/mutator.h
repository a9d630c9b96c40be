// SPDX-License-Identifier: MIT
//
// Makes lists of steps, and from one or two of them another: numbers change a little, a lot or to a
// number at a limit; steps are put in, left out, repeated, swapped or taken from the other list.
// Bytes of a packet change too: that is a step of its own (StepKind::Flip).
#pragma once

#include "support/checks/seeded_random.h"
#include "worst/step.h"

namespace replayout::worst {

class Mutator {
  public:
    Mutator(Side side, test::SeededRandom& random) : side_(side), random_(random) {}

    [[nodiscard]] Steps random_steps();
    /// The first part of one and the last of the other, or one of them, changed in a few places.
    [[nodiscard]] Steps child(const Steps& first, const Steps& second);

  private:
    [[nodiscard]] Step random_step();
    [[nodiscard]] std::uint32_t random_number();
    void change(Steps& steps, const Steps& other);
    void change_number(Step& step);
    void repeat_range(Steps& steps);

    Side side_;
    test::SeededRandom& random_;
};

}  // namespace replayout::worst
