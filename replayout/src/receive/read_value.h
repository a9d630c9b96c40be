// SPDX-License-Identifier: MIT
//
// One value out of the bits of a block: a leaf is checked or written here; arrays have their own
// readers, which come back for the leaves of their elements.
#pragma once

#include "read_context.h"

namespace replayout {

/// Returns whether the value in memory changed. Nothing is written when checking, and for a command
/// that is skipped.
bool read_value(ReadContext& context, CmdIndex index, const ReadPlace& place);

}  // namespace replayout
