// SPDX-License-Identifier: MIT
//
// What is counted of a block that goes to a receiver, by who writes blocks.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/changelist_state.h>
#include <replayout/replication_counters.h>
#include <replayout/send_properties.h>

#include <cstddef>
#include <optional>

namespace replayout {

/// A block of so many bytes was sent. `miss`: why it was written, if it was not copied whole; where
/// blocks are not shared at all it is BlockMiss::SharingOff, whatever is given.
inline void count_block(std::size_t bytes, std::optional<BlockMiss> miss,
                        SendContext& context) noexcept {
    if (miss && !context.shares_payloads()) {
        miss = BlockMiss::SharingOff;
    }
    const auto count = [bytes, miss](auto& counters) {
        ++counters.blocks_sent;
        counters.block_bytes_sent += bytes;
        if (miss) {
            counters.count_miss(*miss);
        }
    };
    count(context.counters);
    if (context.type_counters != nullptr) {
        count(*context.type_counters);
    }
}

/// Why a whole block at `position` had to be written that was just written, and is not yet kept for
/// others. `is_pausing`: values of the object are under way apart; `is_laid_down`: a block of its
/// newest version lies elsewhere, in a bundle.
[[nodiscard]] BlockMiss block_miss_of(const ChangelistState& state, const OwedVersions& position,
                                      const SendScratch& scratch, bool is_pausing,
                                      bool is_laid_down) noexcept;

/// What was last written, with SendContext::is_counting_sent off, was sent: `handles`.
void count_sent_values(const ChangeMask& handles, SendContext& context);

}  // namespace replayout
