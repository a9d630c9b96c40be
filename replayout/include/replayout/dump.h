// SPDX-License-Identifier: MIT
//
// What the engine knows, as a person can read it: sets of changes, histories, the state of an
// object, its shared buffer, and the counters of a type. For logs, debuggers and documents; the
// form may change from version to version. dump(const RepLayout&) stands in rep_layout.h.
//
// They allocate from the global heap and take no care of speed.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/connection_shadow.h>
#include <replayout/type_counters.h>

#include <string>

namespace replayout {

/// A property's path for people: "ammo[1]", "loadout.weapon.name"; of one that a receive-only
/// layout skips, the sender's name.
[[nodiscard]] std::string property_path(const RepLayout& layout, RepHandle handle);

/// The value at `handle` of a shadow for people: numbers as numbers, text in quotes. Of a struct
/// with a NetSerializer only its type is told; of long texts and arrays only the beginning.
[[nodiscard]] std::string value_text(const RepLayout& layout, RepHandle handle,
                                     ConstShadowBuffer shadow);

/// The properties of a set, one line without its end: "health, position". `handles` is over the
/// layout's handles.
[[nodiscard]] std::string dump(const ChangeMask& handles, const RepLayout& layout);

/// Each entry: its version, and what changed then.
[[nodiscard]] std::string dump(const ChangelistHistory& history, const RepLayout& layout);

/// Version, and of each property its last change and its value.
[[nodiscard]] std::string dump(const ChangelistState& state);

/// What is kept for the next receiver: pieces of values, and whole blocks. In parentheses stands
/// the whole question that it answers (position, conditions met); a receiver whose question differs
/// in one word is sent bytes of its own. A piece whose version is not the last change of its
/// property, and a payload whose version is not the object's, are left over and serve nobody.
[[nodiscard]] std::string dump(const SharedSerialization& shared, const RepLayout& layout);
/// The shared buffer of `state`, and with each piece and payload that is left over that it is.
[[nodiscard]] std::string dump_shared(const ChangelistState& state);

/// Who asks for what is shared: in parentheses the question that the next block of this receiver
/// answers, word by word that of a payload; whether the receiver is exact, which is part of the
/// question only where it makes a difference; and what it is owed.
[[nodiscard]] std::string dump(const ConnectionShadow& receiver);

/// A table of what each property cost: values sent, the bits of those that were encoded or copied
/// alone, values copied in whole blocks (whose bytes the first line tells) and as pieces, pieces
/// built, how often it was encoded, and why (EncodeReason). `counters.layout` must be alive.
[[nodiscard]] std::string dump(const TypeCounters& counters);

}  // namespace replayout
