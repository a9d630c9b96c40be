// SPDX-License-Identifier: MIT
//
// What a ReceiveScratch consists of: the update under way, updates that wait, and room for values
// and lists, which one block after another uses.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/elements_by_key.h>
#include <replayout/net_guid.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/reflection/memory.h>
#include <replayout/update_under_way.h>
#include <replayout/waiting_updates.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>

namespace replayout::detail {

/// The lengths of the structs with a NetSerializer in a block, in order: the check finds them out,
/// and the block is applied by them.
class StructLengths {
  public:
    explicit StructLengths(MemoryResource* resource) : bits_(Allocator<std::uint32_t>(resource)) {}

    void begin_check() noexcept { bits_.clear(); }
    void add(std::uint32_t bit_count) { bits_.push_back(bit_count); }
    void begin_apply() noexcept { next_ = 0; }
    [[nodiscard]] std::uint32_t take_next() noexcept { return bits_[next_++]; }

  private:
    Vector<std::uint32_t> bits_;
    std::size_t next_ = 0;
};

/// An element of a keyed array on its way into the order of ranks.
struct ElementRank {
    static constexpr std::uint32_t no_index = 0xFFFF'FFFFu;

    std::int64_t rank = 0;
    std::uint32_t index = 0;               ///< where it lies
    std::uint32_t known_index = no_index;  ///< in KeyedElements::elements(), if it is there

    [[nodiscard]] friend bool operator<(const ElementRank& left,
                                        const ElementRank& right) noexcept {
        return left.rank != right.rank ? left.rank < right.rank : left.index < right.index;
    }
};

struct ReceiveParts {
    explicit ReceiveParts(MemoryResource* resource);

    /// One block is much like the one before: its values fit where that one's were.
    std::pmr::unsynchronized_pool_resource values;
    ChangeMask handles;
    Vector<ChangeMask> elements;  ///< by depth
    Vector<std::byte> text;
    Vector<NetGUID> guids;  ///< that one value names
    StructLengths struct_lengths;
    WaitingUpdates waiting;
    UpdateUnderWay update;

    // Lists of one keyed array.
    ElementsByKey elements_by_key;
    Vector<std::uint64_t> named_keys;              ///< those removed, or those of a full set
    Vector<std::uint64_t> gone_keys;               ///< to be forgotten
    Vector<KeyedElements::Element> made_elements;  ///< not known before
    Vector<std::uint32_t> element_indices;
    Vector<ElementRank> ranks;        ///< in the array's order, then by rank
    Vector<ElementRank> moved_ranks;  ///< those of them that are out of order
};

}  // namespace replayout::detail
