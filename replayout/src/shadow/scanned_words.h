// SPDX-License-Identifier: MIT
//
// A few words side by side that differ, in objects of which a scan found that all else but some of
// the longer stretches of bytes is what it was: where there is one such stretch, and the words are
// its begin. It keeps which words these were in the last object, as mostly they are the same in the
// next.
#pragma once

#include <replayout/scan_plan.h>

#include "equal_bytes.h"
#include "few_words.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class ChangelistState::ScannedWords {
  public:
    /// Changes the words that differ in this object. False, and nothing done: something else
    /// differs, too, or they are not a few side by side.
    [[nodiscard]] [[gnu::always_inline]] bool change(ChangelistState& state,
                                                     ConstObjectBuffer object) {
        if (state.layout_ != layout_) {
            find_word_run(*state.layout_);
        }
        if (word_run_.count == 0 || !state.is_compared_whole_ || state.is_marked_) {
            return false;
        }
        const std::byte* const from = (object + word_run_.object_offset).data();
        const std::byte* const to = (state.shadow_.buffer() + word_run_.shadow_offset).data();
        const std::uint64_t differing = detail::differing_words(from, to, word_run_.count);
        if (differing != differing_ && !find_words(state, differing)) {
            return false;
        }
        const std::size_t size = word_run_.count * detail::word_bytes;
        return equal_bytes(from + size, to + size, rest_bytes_) && words_.change(state, object);
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return words_.count(); }

  private:
    /// Finds the words that may differ in objects of that class.
    [[gnu::noinline]] void find_word_run(const RepLayout& layout);
    /// Finds those that differ in this object. False: none, or not a few side by side.
    [[nodiscard]] [[gnu::noinline]] bool find_words(const ChangelistState& state,
                                                    std::uint64_t differing);

    const RepLayout* layout_ = nullptr;
    ScanPlan::WordRun word_run_;    // of count 0: there is none
    std::uint32_t rest_bytes_ = 0;  // after it in its run
    std::uint64_t differing_ = 0;
    FewWords words_;
};

}  // namespace replayout
