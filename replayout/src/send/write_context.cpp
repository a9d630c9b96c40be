// SPDX-License-Identifier: MIT
#include "write_context.h"

namespace replayout {

void WriteContext::keep_bits(RepHandle handle, std::size_t bit_count, bool is_copied) {
    SendScratch& scratch = sending_.scratch;
    Vector<std::uint64_t>& bits = scratch.value_bits;
    if (bits.size() < layout_.handle_count()) {
        bits.resize(layout_.handle_count());
        scratch.copied_bits.resize(layout_.handle_count());
    }
    bits[handle.value - 1] = bit_count;
    scratch.copied_bits[handle.value - 1] = is_copied ? bit_count : 0;
}

}  // namespace replayout
