// SPDX-License-Identifier: MIT
//
// The elements of one array of any kind, for one receiver: which of their leaves it is owed, and
// the bits of these.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>
#include <replayout/keyed_array.h>
#include <replayout/owed_versions.h>

#include "write_context.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace replayout {

/// Elements of a top-level array that may be written; the others are left for another part.
struct ElementSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = std::numeric_limits<std::uint32_t>::max();
};

/// The last end of a span that `fits`, below `too_many`; `fitting` where none does.
template <class Fits>
[[nodiscard]] std::uint32_t last_fitting(std::uint32_t fitting, std::uint32_t too_many,
                                         const Fits& fits) {
    while (fitting + 1 < too_many) {
        const std::uint32_t end = fitting + (too_many - fitting) / 2;
        (fits(end) ? fitting : too_many) = end;
    }
    return fitting;
}

class ArrayElements {
  public:
    /// Elements of the array at command `index`, in so many other arrays (`depth`). `keyed` null:
    /// it has no keys. All must outlive the object.
    ArrayElements(WriteContext& context, CmdIndex index, const ShadowArray& array,
                  const OwedVersions& position, std::uint32_t depth,
                  const ShadowKeyedArray* keyed = nullptr) noexcept
        : context_(context),
          array_(array),
          scope_(context.layout().element_scope(index)),
          position_(&position),
          keyed_(keyed),
          depth_(depth),
          handle_{context.layout().cmd(index).relative_handle} {}

    /// The same elements for a receiver at another position.
    [[nodiscard]] ArrayElements at(const OwedVersions& position) const noexcept {
        ArrayElements elements = *this;
        elements.position_ = &position;
        return elements;
    }

    [[nodiscard]] const RepScope& scope() const noexcept { return scope_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return array_.count; }
    [[nodiscard]] const OwedVersions& position() const noexcept { return *position_; }
    /// The handle of the array, in its scope.
    [[nodiscard]] RepHandle handle() const noexcept { return handle_; }

    /// What the receiver is owed of the element `index`.
    [[nodiscard]] OwedAt owed_at(std::uint32_t index) const noexcept {
        if (depth_ > 0) {
            return {position_->sent_version, position_->lost, 0, {}, handle_};
        }
        return keyed_ == nullptr ? position_->at(handle_, index)
                                 : keyed_->owed_at(*position_, handle_, keyed_->items[index].key);
    }
    /// Adds the leaves of the element `index` that are owed, the first at bit `offset`.
    void collect_owed(std::uint32_t index, const OwedAt& owed, std::uint32_t offset,
                      ChangeMask& leaves) const {
        for (RepHandle leaf{1}; leaf.value <= scope_.handle_count; ++leaf.value) {
            if (owes_leaf(index, leaf, owed)) {
                leaves.set(offset + leaf.value - 1);
            }
        }
    }
    /// Adds what the receiver may not hold of those groups of the element `index` of which a leaf
    /// is set.
    void complete_groups(std::uint32_t index, std::uint32_t offset, ChangeMask& leaves) const;

    /// Writes the leaves of a set, of which the first bit is `offset` in a set over all elements.
    void write_leaves(std::uint32_t offset, const ChangeMask& leaves, BitWriter& writer) const;

  private:
    [[nodiscard]] bool owes_leaf(std::uint32_t index, RepHandle leaf, const OwedAt& owed) const {
        const Version last_changed =
            array_.versions[std::size_t{index} * scope_.handle_count + leaf.value - 1];
        const bool is_owed = owed.owes(last_changed);
        return is_owed || owed.lost.is_empty() ? is_owed : owes_inner_array(index, leaf, owed);
    }
    /// The leaf is an array, of which something was lost that changed before.
    [[nodiscard]] bool owes_inner_array(std::uint32_t index, RepHandle leaf,
                                        const OwedAt& owed) const;
    [[nodiscard]] ConstShadowBuffer memory_of(std::uint32_t index) const noexcept {
        return ConstShadowBuffer(array_.elements + std::size_t{index} * scope_.shadow_size);
    }
    /// Writes the leaves from `begin` to `end`, which are bits of a set over all elements.
    void write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer) const;
    void write_one(std::uint32_t index, RepHandle handle, BitWriter& writer) const;

    WriteContext& context_;
    const ShadowArray& array_;
    const RepScope& scope_;
    const OwedVersions* position_;
    const ShadowKeyedArray* keyed_;
    std::uint32_t depth_;
    RepHandle handle_;
};

}  // namespace replayout
