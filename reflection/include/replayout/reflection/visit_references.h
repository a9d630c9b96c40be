// SPDX-License-Identifier: MIT
//
// The references within a value, whatever it is made of: of structs, arrays and optional values.
// References that a struct with a serializer keeps outside its properties are not visited.
#pragma once

#include <replayout/reflection/property.h>
#include <replayout/reflection/type.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Whether values of this property may hold references.
[[nodiscard]] inline bool has_references(const Property& property) noexcept;
/// Calls visit(const ReferenceOps&, void* reference) for each of them.
template <typename Visit>
void visit_references(const Property& property, std::byte* value, const Visit& visit);

namespace detail {

template <typename Visit>
void visit_struct(const Type& type, std::byte* object, const Visit& visit) {
    if (type.base() != nullptr) {
        visit_struct(*type.base(), object + type.base_offset(), visit);
    }
    for (const Property& member : type.properties()) {
        visit_references(member, object + member.offset, visit);
    }
}

template <typename Visit>
void visit_element(const Property& property, std::byte* value, const Visit& visit) {
    if (property.kind == PropertyKind::ObjectReference) {
        visit(property.reference, value);
    } else if (property.kind == PropertyKind::Struct) {
        visit_struct(*property.struct_type, value, visit);
    } else if (is_array(property.kind)) {
        auto* elements = static_cast<std::byte*>(property.array.mutable_data(value));
        const std::size_t count = property.array.count(value);
        for (std::size_t i = 0; i < count; ++i) {
            visit_references(*property.element, elements + i * property.element->size, visit);
        }
    }
}

[[nodiscard]] inline bool has_references_in(const Type& type) noexcept {
    const std::span<const Property> members = type.properties();
    return std::any_of(members.begin(), members.end(), has_references) ||
           (type.base() != nullptr && has_references_in(*type.base()));
}

}  // namespace detail

inline bool has_references(const Property& property) noexcept {
    return property.kind == PropertyKind::ObjectReference ||
           (property.element != nullptr && has_references(*property.element)) ||
           (property.struct_type != nullptr && detail::has_references_in(*property.struct_type));
}

template <typename Visit>
void visit_references(const Property& property, std::byte* value, const Visit& visit) {
    for (std::uint32_t i = 0; i < property.array_dim; ++i) {
        detail::visit_element(property, value + i * property.size, visit);
    }
}

}  // namespace replayout
