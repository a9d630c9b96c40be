// SPDX-License-Identifier: MIT
//
// A few words side by side that are marked, in objects of which nothing else is to be compared. It
// keeps which words these were in the last object, as mostly they are the same in the next.
#pragma once

#include "few_words.h"

#include <cstdint>

namespace replayout {

class ChangelistState::MarkedWords {
  public:
    /// Changes the words that are marked in this object. False, and nothing done: they are not a
    /// few side by side that all differ.
    [[nodiscard]] [[gnu::always_inline]] bool change(ChangelistState& state,
                                                     ConstObjectBuffer object) {
        if (state.layout_ != layout_ || !state.is_marked_ || state.has_switches_ ||
            state.due_.words().front() != due_) {
            if (!find(state)) {
                return false;
            }
        }
        if (!words_.change(state, object)) {
            return false;
        }
        state.is_marked_ = false;
        state.due_.words().front() = 0;  // where all that is due is words, nothing is polled
        return true;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return words_.count(); }

  private:
    /// Finds the words that are marked in this object. False: something else is, or they are not a
    /// few side by side.
    [[nodiscard]] [[gnu::noinline]] bool find(const ChangelistState& state);

    const RepLayout* layout_ = nullptr;
    std::uint64_t due_ = 0;
    FewWords words_;
};

}  // namespace replayout
