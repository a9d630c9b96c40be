// SPDX-License-Identifier: MIT
//
// Four to eight words side by side that change together, in any object of one class, while nothing
// else of it does. Most changes are like that: everything that moves makes them. What there is to
// know of these words is found once, so an object costs only the words themselves.
#pragma once

#include <replayout/changelist_state.h>

#include "change_words.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace replayout {

class ChangelistState::FewWords {
  public:
    /// `handles`: of the words, side by side, in a class with at most 64 handles.
    void begin(const ChangelistState& state, ObjectOffset object_offset, ShadowOffset shadow_offset,
               std::uint64_t handles) noexcept {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(handles));
        count_ = static_cast<std::uint32_t>(std::bit_width(handles)) - first;
        REPLAYOUT_ASSERT(detail::are_few_words(count_) && handles == detail::low_mask(count_)
                                                                         << first);
        first_ = first;
        handles_ = handles;
        object_offset_ = object_offset;
        shadow_offset_ = shadow_offset;
        const std::size_t value_bytes = state.previous_.value_bytes_;
        starts_before_ = 2 * value_bytes + first * sizeof(Version);
        starts_step_ = state.previous_.handle_count_ * sizeof(Version);
        returned_ = 2 * (value_bytes + starts_step_);
        value_step_ = value_bytes;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// Makes the words what they are in the object. False, and nothing done: some do not differ, or
    /// nothing of the object ever changed.
    [[nodiscard]] [[gnu::always_inline]] inline bool change(ChangelistState& state,
                                                            ConstObjectBuffer object) const;

  private:
    std::uint64_t handles_ = 0;
    std::uint32_t first_ = 0;  // handle of the first, less one
    std::uint32_t count_ = 0;
    ObjectOffset object_offset_;
    ShadowOffset shadow_offset_;
    // As PreviousValues lays its memory out, in bytes.
    std::size_t starts_before_ = 0;
    std::size_t starts_step_ = 0;
    std::size_t value_step_ = 0;
    std::size_t returned_ = 0;
};

inline bool ChangelistState::FewWords::change(ChangelistState& state,
                                              ConstObjectBuffer object) const {
    using detail::Words;
    const std::byte* const from = (object + object_offset_).data();
    std::byte* const to = (state.shadow_.buffer() + shadow_offset_).data();
    std::byte* const memory = state.previous_.memory_;
    const std::uint32_t last = count_ - detail::words_at_once;
    const detail::ComparedWords<Words> first_words(from, to, 0);
    const detail::ComparedWords<Words> last_words(from, to, last);
    if (memory == nullptr || detail::bits_of(first_words.same | last_words.same) != 0) {
        return false;
    }
    std::byte* const before = memory + shadow_offset_.value;
    std::byte* const starts = memory + starts_before_;
    const Version version = state.version_ + 1;
    const detail::WordArrays arrays{from,
                                    to,
                                    before,
                                    before + value_step_,
                                    state.last_changed_.data() + first_,
                                    reinterpret_cast<Version*>(starts),
                                    reinterpret_cast<Version*>(starts + starts_step_),
                                    version};
    // All is read before anything is written, so what is in both is written twice as the same.
    const detail::KnownWords<Words> first_known(arrays, 0);
    const detail::KnownWords<Words> last_known(arrays, last);
    const std::uint64_t first_back = detail::change_all(arrays, 0, first_words, first_known);
    const std::uint64_t last_back = detail::change_all(arrays, last, last_words, last_known);
    auto& returned = *reinterpret_cast<std::uint64_t*>(memory + returned_);
    returned = (returned & ~handles_) | (first_back | last_back << last) << first_;
    state.version_ = version;
    state.history_.add(version, handles_);
    return true;
}

}  // namespace replayout
