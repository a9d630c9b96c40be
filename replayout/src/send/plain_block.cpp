// SPDX-License-Identifier: MIT
#include <replayout/send_properties.h>

#include "plain_leaf_run.h"

namespace replayout {

PlainBlock::PlainBlock(const RepLayout& layout, std::uint64_t handles) noexcept
    : layout_(&layout), handles_(handles) {
    REPLAYOUT_ASSERT(handles != 0 && layout.handle_count() <= small_set_bits_max);
    PlainLeafRun leaves;
    if (!find_plain_run(layout, handles, leaves)) {
        return;
    }
    const BitRegister code = leaves.code(layout.handle_count());
    code_ = code.bits;
    code_bits_ = code.count;
    begin_ = layout.plain_leaf(layout.root(), RepHandle{leaves.begin_bit + 1}).shadow_begin;
    value_bytes_ =
        layout.plain_leaf(layout.root(), RepHandle{leaves.end_bit}).shadow_end.value - begin_.value;
    value_count_ = leaves.value_count();
    byte_count_ = (code_bits_ + 7) / 8 + value_bytes_;
}

void PlainBlock::shift_values(const std::byte* source, std::byte* target) const noexcept {
    const std::uint32_t shift = code_bits_ % 8;
    std::uint64_t carry = code_ >> (code_bits_ - shift);
    std::size_t left = value_bytes_;
    for (; left >= 8; left -= 8, source += 8, target += 8) {
        const std::uint64_t word = detail::load_little_endian(source);
        detail::store_little_endian(target, carry | (word << shift));
        carry = word >> (64 - shift);
    }
    detail::store_little_endian(target, carry | (detail::load_short(source, left) << shift));
}

}  // namespace replayout
