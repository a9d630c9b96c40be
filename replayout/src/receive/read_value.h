// SPDX-License-Identifier: MIT
//
// Reads a block, the set of handles and then their values, in one of two ways that take exactly the
// same steps through the bits: check, which writes nothing, and apply, which cannot fail on what
// was checked. A leaf is checked or written here; arrays have their own readers, which come back
// for the leaves of their elements.
//
// Checking looks at the object for one thing, how many elements its arrays have: only growth takes
// memory, and so only growth is charged to the budget. Without an object, for a block that is
// thrown away, every array is empty at first and is charged in full.
#pragma once

#include "read_context.h"

namespace replayout {

/// Returns whether the value in memory changed. Nothing is written when checking, and for a command
/// that is skipped.
bool read_value(ReadContext& context, CmdIndex index, const ReadPosition& position);

/// One block up to its end. False: malformed.
[[nodiscard]] bool check_block(ReadContext& context);
[[nodiscard]] bool apply_block(ReadContext& context);

}  // namespace replayout
