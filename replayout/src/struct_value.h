// SPDX-License-Identifier: MIT
//
// Copy and comparison of a NetSerializer struct, in the order of preference that Unreal has: the
// trait, then what the C++ type offers. The registry has made sure that there is one of each.
#pragma once

#include <replayout/reflection/type.h>

namespace replayout {

inline void copy_struct(const Type& type, void* target, const void* source) {
    if (type.traits().copy != nullptr) {
        type.traits().copy(target, source);
    } else {
        type.ops().copy_assign(target, source);
    }
}

[[nodiscard]] inline bool structs_identical(const Type& type, const void* left, const void* right) {
    if (type.traits().identical != nullptr) {
        return type.traits().identical(left, right);
    }
    return type.ops().equal(left, right);
}

}  // namespace replayout
