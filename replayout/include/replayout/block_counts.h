// SPDX-License-Identifier: MIT
//
// What is counted of a block that goes to a receiver, by who writes blocks.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/reflection/memory.h>
#include <replayout/replication_counters.h>
#include <replayout/send_properties.h>

#include <cstddef>
#include <optional>
#include <span>

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

/// A block was sent that is a copy of one that another receiver was sent.
inline void count_copied_block(std::span<const std::byte> block, std::uint32_t property_count,
                               SendContext& context) {
    context.counters.values_reused += property_count;
    context.counters.properties_sent += property_count;
    ++context.counters.payloads_reused;
    if (context.type_counters != nullptr) {
        context.type_counters->count_payload_reuse(block, context.scratch.part);
    }
    count_block(block.size(), std::nullopt, context);
}

/// Keeps a whole block that was written, of which nothing was left out, for other receivers.
inline void keep_payload(SharedSerialization& shared, const SharedSerialization::PayloadKey& key,
                         const SentBlock& block, std::span<const std::byte> bytes,
                         SendContext& context) {
    shared.keep_payload(key, block.property_count, bytes, block.array_steps);
    ++context.counters.payloads_built;
    if (context.type_counters != nullptr) {
        ++context.type_counters->payloads_built;
    }
}

/// Why a whole block at `position` had to be written that is not yet kept for others.
/// `has_left_out`: some of its values were left out; `is_pausing`: values of the object are under
/// way apart; `is_laid_down`: a block of its newest version lies elsewhere, in a bundle.
[[nodiscard]] BlockMiss block_miss_of(const ChangelistState& state, const OwedVersions& position,
                                      bool has_left_out, bool is_pausing,
                                      bool is_laid_down) noexcept;

/// Counts these values of a block as sent, by type. There are none unless types are counted.
void count_sent_values(std::span<const BlockValue> values, SendContext& context);

/// The values of a block that send_properties() wrote with SendContext::is_counting_sent off. They
/// are counted each time the block is sent.
class BlockValues {
  public:
    explicit BlockValues(MemoryResource* resource) : values_(Allocator<BlockValue>(resource)) {}

    /// Takes those of `block`, which was written and not copied.
    void take(const SentBlock& block);
    /// The block is sent: counts it, too. SendContext::type_counters are those of its type.
    void count_sent(std::size_t block_bytes, BlockMiss miss, SendContext& context) const;

  private:
    Vector<BlockValue> values_;  // where types are counted
    std::uint32_t count_ = 0;
};

}  // namespace replayout
