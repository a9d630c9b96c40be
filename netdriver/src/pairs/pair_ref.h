// SPDX-License-Identifier: MIT
//
// A pair at hand: its slot, and the object that was found there. The function that begins with a
// pair finds the object once, and passes both on to all functions that work on the pair.
//
// Rejected: its SendingRepState and its PairExtra as well. An extra moves when another pair gets
// one, and a regular pair has its versions only once ConnectionPairs::edit() wrote them.
#pragma once

#include "object_store.h"

namespace replayout {

struct PairRef {
    ObjectIndex index{};
    ServerObject& object;

    [[nodiscard]] ChangelistState& state() const noexcept { return object.changelist_state(); }
    [[nodiscard]] const RepLayout& layout() const noexcept { return state().layout(); }
};

}  // namespace replayout
