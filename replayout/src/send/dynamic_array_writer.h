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

/// Writes those elements of the array at command `index`, in so many other arrays (`depth`), that
/// lie in `span`.
void write_dynamic_array(WriteContext& context, CmdIndex index, const ShadowArray& array,
                         const OwedVersions& position, std::uint32_t depth, ElementSpan span,
                         BitWriter& writer);

}  // namespace replayout
