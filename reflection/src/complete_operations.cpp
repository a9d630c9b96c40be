// SPDX-License-Identifier: MIT
#include "description_checks.h"

#include <replayout/reflection/math.h>
#include <replayout/reflection/type_registry.h>

#include "property_checks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace replayout::detail {
namespace {

// Values of plain kinds are copied and compared as bytes, whatever their C++ type: an engine's own
// vector type never has to be named, and a NaN equals itself, so that it is not sent again on each
// tick.
template <std::size_t Size>
TypeOps byte_ops(std::size_t alignment) {
    TypeOps ops;
    ops.construct = [](void* memory) { std::memset(memory, 0, Size); };
    ops.copy_assign = [](void* target, const void* source) { std::memcpy(target, source, Size); };
    ops.copy_construct = ops.copy_assign;
    ops.destroy = [](void*) {};
    ops.equal = [](const void* left, const void* right) {
        return std::memcmp(left, right, Size) == 0;
    };
    ops.size = Size;
    ops.alignment = static_cast<std::uint32_t>(alignment);
    ops.is_trivial = true;
    return ops;
}

// What an eight-byte scalar is aligned to as a member; on some 32-bit systems that is four.
struct Aligned8 {
    char before;
    std::uint64_t value;
};

TypeOps plain_ops(const Property& property) {
    if (property.kind == PropertyKind::Vector || property.kind == PropertyKind::Rotator) {
        static_assert(sizeof(Vector3) == sizeof(Rotator));
        return byte_ops<sizeof(Vector3)>(alignof(Vector3));
    }
    if (property.kind == PropertyKind::Quat) {
        TypeOps ops = byte_ops<sizeof(Quat)>(alignof(Quat));
        ops.construct = [](void* memory) { ::new (memory) Quat(); };
        return ops;
    }
    switch (property.size) {
        case 1:
            return byte_ops<1>(1);
        case 2:
            return byte_ops<2>(2);
        case 4:
            return byte_ops<4>(4);
        case 8:
            return byte_ops<8>(offsetof(Aligned8, value));
        default:
            return {};  // A size that no plain kind has; the checks refuse it.
    }
}

// An element is shared and const, so it is replaced by a completed copy of its own. Depth is
// bounded by what the checks accept: deeper elements belong to a description that they refuse.
void complete_property(Property& property, std::uint32_t depth) {
    if (is_absent(property.ops)) {
        if (is_plain(property.kind) || property.kind == PropertyKind::BitBool) {
            property.ops = plain_ops(property);
        } else if (property.kind == PropertyKind::Struct && property.struct_type != nullptr) {
            property.ops = property.struct_type->ops();
        }
    }
    if (is_array(property.kind) && property.element != nullptr && depth > 0) {
        const auto element = std::make_shared<Property>(*property.element);
        complete_property(*element, depth - 1);
        property.element = element;
    }
}

}  // namespace

void complete_operations(TypeDescription& description) {
    if (description.ops.copy_assign == nullptr && description.traits.has_copy) {
        description.ops.copy_assign = description.traits.copy;
    }
    for (Property& property : description.properties) {
        complete_property(property, nesting_depth_max);
    }
}

}  // namespace replayout::detail
