// SPDX-License-Identifier: MIT
//
// Compares two values of one type through its description, down to the last element: what
// replication promises to keep equal, and nothing that it does not.
#pragma once

#include <replayout/quantise.h>
#include <replayout/reflection/type.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace replayout {

/// Where two values first differ ("wounds[3].damage"); empty when they do not. Plain values are
/// compared by their bits, quantised ones by their integers. Both must be of the same registry.
[[nodiscard]] std::string find_difference(const Type& type, const void* left, const void* right);

namespace detail {

[[nodiscard]] inline const std::byte* at(const void* memory, std::size_t offset) {
    return static_cast<const std::byte*>(memory) + offset;
}

[[nodiscard]] inline std::string find_value_difference(const Property& property, const void* left,
                                                       const void* right) {
    if (property.quantisation) {
        return quantise(property, left) == quantise(property, right) ? "" : " (integers)";
    }
    switch (property.kind) {
        case PropertyKind::BitBool: {
            const std::byte bits = *at(left, 0) ^ *at(right, 0);
            return (bits & std::byte{property.bit_mask}) == std::byte{0} ? "" : " (bit)";
        }
        case PropertyKind::String:
        case PropertyKind::Name: {
            const StringOps& ops = property.string;
            return ops.view(left, ops.context) == ops.view(right, ops.context) ? "" : " (text)";
        }
        case PropertyKind::ObjectReference:
            return property.reference.get(left) == property.reference.get(right) ? "" : " (object)";
        case PropertyKind::Struct: {
            const std::string member = find_difference(*property.struct_type, left, right);
            return member.empty() ? "" : "." + member;
        }
        case PropertyKind::Optional:
        case PropertyKind::DynamicArray: {
            const std::size_t count = property.array.count(left);
            if (count != property.array.count(right)) {
                return " (count)";
            }
            for (std::size_t index = 0; index < count; ++index) {
                const std::size_t offset = index * property.element->size;
                const std::string element =
                    find_value_difference(*property.element, at(property.array.data(left), offset),
                                          at(property.array.data(right), offset));
                if (!element.empty()) {
                    return "[" + std::to_string(index) + "]" + element;
                }
            }
            return {};
        }
        default:
            return std::memcmp(left, right, property.size) == 0 ? "" : " (bits)";
    }
}

}  // namespace detail

inline std::string find_difference(const Type& type, const void* left, const void* right) {
    if (type.base() != nullptr) {
        const std::string difference =
            find_difference(*type.base(), detail::at(left, type.base_offset()),
                            detail::at(right, type.base_offset()));
        if (!difference.empty()) {
            return difference;
        }
    }
    for (const Property& property : type.properties()) {
        for (std::uint32_t index = 0; property.is_replicated && index < property.array_dim;
             ++index) {
            const std::size_t offset = property.offset + std::size_t{index} * property.size;
            const std::string difference = detail::find_value_difference(
                property, detail::at(left, offset), detail::at(right, offset));
            if (!difference.empty()) {
                return property.name + difference;
            }
        }
    }
    return {};
}

}  // namespace replayout
