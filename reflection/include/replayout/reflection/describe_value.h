// SPDX-License-Identifier: MIT
//
// What the C++ type of one value says of a property: kind, size and operations. Private to the
// typed builder.
#pragma once

#include <replayout/reflection/elements.h>
#include <replayout/reflection/kind_of.h>
#include <replayout/reflection/member_pointer.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

namespace replayout::detail {

/// Fills what the C++ type of one value says. Answer: the name of a C++ struct that had to be
/// registered before and is not, or nothing.
template <typename T>
[[nodiscard]] std::string_view describe_value(TypeRegistry& registry, Property& property) {
    static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>, "a property must be assignable");
    static_assert(Elements<T>::count == 1 && std::is_same_v<typename Elements<T>::element_type, T>,
                  "an array of arrays cannot be a property: use a struct");
    using Kind = KindOf<T>;
    constexpr PropertyKind kind = Kind::kind;
    property.kind = kind;
    property.size = static_cast<std::uint32_t>(sizeof(T));
    if constexpr (is_plain(kind)) {
        static_assert(std::is_trivially_copyable_v<T>,
                      "a value of a plain kind is copied as bytes");
    } else if constexpr (kind == PropertyKind::Struct) {
        property.struct_type = registry.find(type_key_of<T>());
        if (property.struct_type == nullptr) {
            return name_of_type<T>();
        }
    } else {
        property.ops = make_type_ops<T>();
    }
    if constexpr (kind == PropertyKind::String || kind == PropertyKind::Name) {
        property.string = Kind::string_ops(registry);
    } else if constexpr (kind == PropertyKind::ObjectReference) {
        property.reference = Kind::reference_ops();
    } else if constexpr (is_array(kind)) {
        property.array = Kind::array_ops();
        const auto element = std::make_shared<Property>();
        const std::string_view unknown =
            describe_value<typename Kind::element_type>(registry, *element);
        property.element = element;
        return unknown;
    }
    return {};
}

}  // namespace replayout::detail
