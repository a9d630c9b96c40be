// SPDX-License-Identifier: MIT
//
// One dynamic array or optional value on the wire, see docs/wire_format.md, "Values": its count,
// the set of the leaves that are owed, and these.
#pragma once

#include <replayout/bit_writer.h>

#include "array_elements.h"
#include "write_context.h"

#include <cstdint>

namespace replayout {

class DynamicArrayWriter {
  public:
    /// The array at command `index`, in so many other arrays (`depth`).
    DynamicArrayWriter(WriteContext& context, CmdIndex index, const ShadowArray& array,
                       const OwedVersions& position, std::uint32_t depth) noexcept
        : is_optional_(context.layout().cmd(index).property->kind == PropertyKind::Optional),
          changed_(context.scratch().elements[depth]),
          elements_(context, index, array, position, depth) {}

    /// Writes the elements that lie in `span`.
    void write(ElementSpan span, BitWriter& writer);

  private:
    /// Fills changed_.
    void collect(ElementSpan span);

    bool is_optional_;
    ChangeMask& changed_;  // leaves of all elements; each depth has its own
    ArrayElements elements_;
};

}  // namespace replayout
