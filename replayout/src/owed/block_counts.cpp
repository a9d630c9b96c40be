// SPDX-License-Identifier: MIT
#include <replayout/block_counts.h>

namespace replayout {

BlockMiss block_miss_of(const ChangelistState& state, const OwedVersions& position,
                        const SendScratch& scratch, bool is_pausing, bool is_laid_down) noexcept {
    if (is_pausing) {
        return BlockMiss::TooLarge;
    }
    if (!state.layout().is_fully_shared() || !scratch.left_out.empty()) {
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

void count_sent_values(const ChangeMask& handles, SendContext& context) {
    if (context.type_counters == nullptr) {
        return;
    }
    const SendScratch& scratch = context.scratch;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        context.type_counters->count_sent(RepHandle{bit + 1}, scratch.value_bits[bit],
                                          scratch.copied_bits[bit]);
    }
}

void append_values(const ChangeMask& handles, const SendContext& context,
                   Vector<BlockValue>& values) {
    if (context.type_counters == nullptr) {
        return;
    }
    const SendScratch& scratch = context.scratch;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        values.push_back({RepHandle{bit + 1}, scratch.value_bits[bit], scratch.copied_bits[bit]});
    }
}

void BlockValues::take(const SendContext& context) {
    const SendScratch& scratch = context.scratch;
    // Without values that failed, send_properties() writes the rest of them in `part`.
    const ChangeMask& handles = scratch.left_out.empty() ? scratch.owed : scratch.part;
    count_ = handles.count();
    values_.clear();
    append_values(handles, context, values_);
}

void BlockValues::count_sent(std::size_t block_bytes, BlockMiss miss, SendContext& context) const {
    context.counters.properties_sent += count_;
    for (const BlockValue& value : values_) {
        context.type_counters->count_sent(value.handle, value.bits, value.bits_copied);
    }
    count_block(block_bytes, miss, context);
}

}  // namespace replayout
