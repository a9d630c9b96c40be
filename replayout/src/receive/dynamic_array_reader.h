// SPDX-License-Identifier: MIT
//
// One dynamic array or optional value of a block, checked or applied: its count, the set of the
// leaves that follow, and these.
#pragma once

#include "read_context.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class DynamicArrayReader {
  public:
    /// The array at command `index` of the scope at `position`. `array` null: to check it, or to
    /// pass over it.
    DynamicArrayReader(ReadContext& context, CmdIndex index, const ReadPosition& position,
                       std::byte* array) noexcept
        : context_(context),
          cmd_(context.layout().cmd(index)),
          element_(context.layout().element_scope(index)),
          position_(position),
          array_(array) {}

    /// Returns whether anything changed.
    bool read();

  private:
    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] bool is_optional() const noexcept {
        return cmd_.property->kind == PropertyKind::Optional;
    }
    /// False, and failed: the array may not have so many elements, or nothing is left of the budget
    /// for those that are added.
    [[nodiscard]] bool check_count(std::size_t old_count, std::uint64_t count);
    /// Returns whether the count changed.
    bool resize(std::uint32_t count);
    void read_set(std::uint32_t count, ChangeMask& changed);

    ReadContext& context_;
    const RepLayoutCmd& cmd_;
    const RepScope& element_;
    const ReadPosition& position_;
    std::byte* array_;
};

}  // namespace replayout
