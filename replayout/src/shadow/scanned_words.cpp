// SPDX-License-Identifier: MIT
#include "scanned_words.h"

#include <algorithm>
#include <bit>

namespace replayout {

void ChangelistState::ScannedWords::find_word_run(const RepLayout& layout) {
    layout_ = &layout;
    word_run_ = {};
    differing_ = 0;
    const ScanPlan* const plan = layout.scan_plan();
    if (plan == nullptr || plan->word_run().count == 0) {
        return;
    }
    const RepScope& root = layout.root();
    const auto runs = layout.runs().subspan(root.run_start, root.run_end - root.run_start);
    const auto is_long = [](const CompareRun& run) { return run.size >= ScanPlan::chunk_bytes; };
    const auto run = std::find_if(runs.begin(), runs.end(), is_long);
    if (run != runs.end() && std::find_if(run + 1, runs.end(), is_long) == runs.end() &&
        run->object_offset.value == plan->word_run().object_offset.value) {
        word_run_ = plan->word_run();
        rest_bytes_ = run->size - word_run_.count * static_cast<std::uint32_t>(detail::word_bytes);
    }
}

bool ChangelistState::ScannedWords::find_words(const ChangelistState& state,
                                               std::uint64_t differing) {
    differing_ = 0;
    if (differing == 0) {
        return false;
    }
    const auto first = static_cast<std::uint32_t>(std::countr_zero(differing));
    const std::uint64_t among = differing >> first;
    const auto offset = static_cast<std::uint32_t>(first * detail::word_bytes);
    if ((among & (among + 1)) != 0 ||
        !detail::are_few_words(static_cast<std::uint32_t>(std::bit_width(among)))) {
        return false;
    }
    words_.begin(state, ObjectOffset{word_run_.object_offset.value + offset},
                 ShadowOffset{word_run_.shadow_offset.value + offset},
                 differing << (word_run_.handle - 1));
    differing_ = differing;
    return true;
}

}  // namespace replayout
