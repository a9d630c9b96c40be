// SPDX-License-Identifier: MIT
//
// What the registry does to a description before it makes a Type of it: complete what may be left
// out, and refuse what would show only when it is sent.
#pragma once

#include <replayout/reflection/error.h>

namespace replayout {

class TypeRegistry;
struct TypeDescription;

namespace detail {

/// Gives each property of a plain kind operations on its bytes, and each struct property those of
/// its struct, where it has none; also elements of arrays. A struct type without assignment gets
/// the one that its copy trait promises.
void complete_operations(TypeDescription& description);

/// Everything that TypeRegistry::add promises to refuse, except what concerns the registry's own
/// state.
[[nodiscard]] Status check_description(const TypeRegistry& registry,
                                       const TypeDescription& description);

}  // namespace detail
}  // namespace replayout
