// SPDX-License-Identifier: MIT
//
// All that the server's crafts ever were: for each slot its values in the order in which the game
// wrote them. What a client shows must be found there, and never further back than what it showed
// before.
#pragma once

#include "simulation/fleet/craft_slots.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace replayout::test {

class CraftHistory {
  public:
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    /// The craft is so from now on. Each slot begins with 0, which is what a new craft has.
    void note(const Craft& now, std::uint32_t escort_number) {
        visit_slots(
            now, [&](ObjectHandle) { return escort_number; },
            [&](Slot slot, std::uint64_t value) { note(slot, value); });
    }
    void note(Slot slot, std::uint64_t value) {
        std::vector<std::uint64_t>& values = slots_[slot];
        if (values.empty()) {
            values.push_back(0);
        }
        if (values.back() != value) {
            values.push_back(value);
        }
    }
    /// Where `value` stands at `position` or behind it, or npos.
    [[nodiscard]] std::size_t find(Slot slot, std::uint64_t value, std::size_t position) const {
        const auto found = slots_.find(slot);
        if (found == slots_.end()) {
            return npos;
        }
        for (std::size_t i = position; i < found->second.size(); ++i) {
            if (found->second[i] == value) {
                return i;
            }
        }
        return npos;
    }

  private:
    std::map<Slot, std::vector<std::uint64_t>> slots_;
};

/// By the number of the craft, which is never used again.
using Histories = std::map<std::uint32_t, CraftHistory>;

}  // namespace replayout::test
