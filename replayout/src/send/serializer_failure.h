// SPDX-License-Identifier: MIT
//
// A serializer of the game failed on a value: the property that is being written is left out, and
// the failure is logged once for all receivers.
#pragma once

#include <replayout/shadow_state.h>

#include "write_context.h"

namespace replayout {

/// `leaf` is the struct, in an array maybe.
void note_serializer_failure(WriteContext& context, const RepLayoutCmd& cmd,
                             ConstShadowBuffer leaf);

}  // namespace replayout
