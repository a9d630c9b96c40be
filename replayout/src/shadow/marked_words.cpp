// SPDX-License-Identifier: MIT
#include "marked_words.h"

#include <bit>

namespace replayout {

bool ChangelistState::MarkedWords::find(const ChangelistState& state) {
    layout_ = nullptr;
    if (!state.is_only_words_due()) {
        return false;
    }
    const std::uint64_t due = state.due_.words().front();
    const auto begin = static_cast<std::uint32_t>(std::countr_zero(due));
    const WordRun& words = state.layout_->word_run(begin);
    const std::uint64_t marked = due >> begin;
    const auto count = static_cast<std::uint32_t>(std::bit_width(marked));
    if ((marked & (marked + 1)) != 0 || !detail::are_few_words(count) ||
        count > words.parent_count) {
        return false;
    }
    words_.begin(state, words.object_offset, words.shadow_offset, marked << (words.handle - 1u));
    layout_ = state.layout_;
    due_ = due;
    return true;
}

}  // namespace replayout
