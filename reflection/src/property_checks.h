// SPDX-License-Identifier: MIT
//
// What of a description is checked property by property.
#pragma once

#include <replayout/reflection/type.h>

#include "culprit.h"

#include <cstdint>

namespace replayout {

class TypeRegistry;

namespace detail {

/// A size and an alignment that a type can have.
[[nodiscard]] Status check_size(const Culprit& culprit, std::uint32_t size,
                                std::uint32_t alignment);
/// Operations say which size and alignment they are made for; when there are any, both must fit.
[[nodiscard]] Status check_ops(const Culprit& culprit, const TypeOps& ops, std::uint32_t size);

/// One property of `type`: its value, its location, its key, its condition, its notify.
[[nodiscard]] Status check_property(const TypeRegistry& registry, const TypeDescription& type,
                                    const Property& property, const Culprit& culprit);

/// Returns whether neither a function nor a size is given, so that nothing tells how to make, copy
/// and compare values.
[[nodiscard]] inline bool is_absent(const TypeOps& ops) noexcept {
    return ops.construct == nullptr && ops.copy_construct == nullptr &&
           ops.copy_assign == nullptr && ops.destroy == nullptr && ops.equal == nullptr &&
           ops.size == 0;
}

/// Where a property ends, one past its last byte. Exact: 32 bits times 32 bits plus 32 bits fit.
[[nodiscard]] inline std::uint64_t end_of(const Property& property) noexcept {
    return property.offset + std::uint64_t{property.size} * property.array_dim;
}

}  // namespace detail
}  // namespace replayout
