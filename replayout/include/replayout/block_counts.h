// SPDX-License-Identifier: MIT
//
// What is counted of a block that goes to a receiver, by who writes blocks.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/changelist_state.h>
#include <replayout/reflection/memory.h>
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

/// Counts the values `handles` of the block that was last written as sent, by type.
void count_sent_values(const ChangeMask& handles, SendContext& context);

/// A value of a block, as it counts once the block is sent.
struct BlockValue {
    RepHandle handle;
    std::uint64_t bits = 0;
    std::uint64_t bits_copied = 0;  ///< all or none: it was copied alone
};
/// Appends the values `handles` of the block that was last written, where types are counted.
void append_values(const ChangeMask& handles, const SendContext& context,
                   Vector<BlockValue>& values);

/// The values of a block that send_properties() wrote with SendContext::is_counting_sent off. They
/// are counted each time the block is sent.
class BlockValues {
  public:
    explicit BlockValues(MemoryResource* resource) : values_(Allocator<BlockValue>(resource)) {}

    /// Takes those of the block that was just written: SendResult::Whole, of SendScratch::owed.
    void take(const SendContext& context);
    /// The block is sent: counts it, too. SendContext::type_counters are those of its type.
    void count_sent(std::size_t block_bytes, BlockMiss miss, SendContext& context) const;

  private:
    Vector<BlockValue> values_;  // where types are counted
    std::uint32_t count_ = 0;
};

}  // namespace replayout
