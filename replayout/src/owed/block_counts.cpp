// SPDX-License-Identifier: MIT
#include <replayout/block_counts.h>

namespace replayout {

BlockMiss block_miss_of(const ChangelistState& state, const OwedVersions& position,
                        bool has_left_out, bool is_pausing, bool is_laid_down) noexcept {
    if (is_pausing) {
        return BlockMiss::TooLarge;
    }
    if (!state.layout().is_fully_shared() || has_left_out) {
        return BlockMiss::NotShared;
    }
    if (!position.lost.is_empty()) {
        return BlockMiss::Lost;
    }
    if (!is_laid_down && !state.shared().has_payload_of(state.version())) {
        return BlockMiss::FirstUse;
    }
    return position.sent_version == 0 ? BlockMiss::NewReceiver : BlockMiss::OtherPosition;
}

void count_sent_values(std::span<const BlockValue> values, SendContext& context) {
    for (const BlockValue& value : values) {
        context.type_counters->count_sent(value.handle, value.bits, value.bits_copied);
    }
}

void BlockValues::take(const SentBlock& block) {
    count_ = block.property_count;
    values_ = block.findings->values;
}

void BlockValues::count_sent(std::size_t block_bytes, BlockMiss miss, SendContext& context) const {
    context.counters.properties_sent += count_;
    count_sent_values(values_, context);
    count_block(block_bytes, miss, context);
}

}  // namespace replayout
