// SPDX-License-Identifier: MIT
//
// KindOf: which kind of property a C++ type makes. The typed builder asks it for every member.
//
// Known: bool, integers, float, double, enums, std::string and std::pmr::string, Name,
// ObjectHandle, pointers to classes, std::weak_ptr, Vector3, Rotator, Quat, std::vector,
// std::pmr::vector and std::optional; a class that is nothing of these is a struct, and must be
// registered before. An engine adds its own by specialising:
//
//     // Three floats in a row are a Vector; the memory counts, not the name.
//     template <> struct replayout::KindOf<eng::Vec3> {
//         static constexpr auto kind = PropertyKind::Vector;
//     };
//
//     // A container with size(), data() and resize().
//     template <typename T>
//     struct replayout::KindOf<eng::Array<T>> : replayout::ArrayKind<eng::Array<T>> {};
//
//     // A handle of the engine's own: the two functions of ReferenceOps.
//     template <> struct replayout::KindOf<eng::Entity> {
//         static constexpr auto kind = PropertyKind::ObjectReference;
//         static ReferenceOps reference_ops() { return {get_entity, set_entity}; }
//     };
//
// What a specialisation must have beside `kind`: string_ops(TypeRegistry&) for String and Name,
// reference_ops() for ObjectReference, element_type and array_ops() for DynamicArray and Optional.
#pragma once

#include <replayout/reflection/math.h>
#include <replayout/reflection/name.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type_registry.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace replayout {

namespace detail {

// wchar_t has another size on each platform, so two ends would not agree; long double has no wire
// form.
template <typename T>
concept HasDeducedKind = !std::is_same_v<T, wchar_t> && !std::is_same_v<T, long double> &&
                         (std::is_integral_v<T> || std::is_floating_point_v<T> ||
                          std::is_enum_v<T> || std::is_class_v<T>);

// By width and sign, whatever the type is called: long is 32 bits on one platform and 64 on
// another. The sign of char differs too; it counts as unsigned everywhere.
template <typename T>
[[nodiscard]] consteval PropertyKind integer_kind() noexcept {
    constexpr bool is_signed = std::is_signed_v<T> && !std::is_same_v<T, char>;
    switch (sizeof(T)) {
        case 1:
            return is_signed ? PropertyKind::Int8 : PropertyKind::UInt8;
        case 2:
            return is_signed ? PropertyKind::Int16 : PropertyKind::UInt16;
        case 4:
            return is_signed ? PropertyKind::Int32 : PropertyKind::UInt32;
        default:
            return is_signed ? PropertyKind::Int64 : PropertyKind::UInt64;
    }
}

template <typename T>
[[nodiscard]] consteval PropertyKind deduced_kind() noexcept {
    if constexpr (std::is_same_v<T, bool>) {
        return PropertyKind::Bool;
    } else if constexpr (std::is_enum_v<T>) {
        return PropertyKind::Enum;
    } else if constexpr (std::is_same_v<T, float>) {
        return PropertyKind::Float;
    } else if constexpr (std::is_same_v<T, double>) {
        return PropertyKind::Double;
    } else if constexpr (std::is_integral_v<T>) {
        return integer_kind<T>();
    } else {
        return PropertyKind::Struct;
    }
}

}  // namespace detail

/// See the head of this file. To be specialised; this one deduces the kind of scalars and structs.
template <typename T>
struct KindOf {
    static_assert(detail::HasDeducedKind<T>,
                  "this C++ type has no property kind: specialise replayout::KindOf for it");
    static constexpr PropertyKind kind = detail::deduced_kind<T>();
};

/// Base of a KindOf for a contiguous container with value_type, size(), data() and resize().
template <typename Container>
struct ArrayKind {
    static constexpr PropertyKind kind = PropertyKind::DynamicArray;
    using element_type = typename Container::value_type;
    [[nodiscard]] static ArrayOps array_ops() noexcept { return make_array_ops<Container>(); }
};

/// Base of a KindOf for an optional value with value_type, has_value(), operator*, emplace() and
/// reset().
template <typename Optional>
struct OptionalKind {
    static constexpr PropertyKind kind = PropertyKind::Optional;
    using element_type = typename Optional::value_type;
    [[nodiscard]] static ArrayOps array_ops() noexcept { return make_optional_ops<Optional>(); }
};

/// Base of a KindOf for a string that converts to std::string_view and has assign(data, size).
template <typename String>
struct StringKind {
    static constexpr PropertyKind kind = PropertyKind::String;
    [[nodiscard]] static StringOps string_ops(TypeRegistry&) noexcept {
        return make_string_ops<String>();
    }
};

/// Base of a KindOf for an ObjectHandle or a pointer.
template <typename Reference>
struct ReferenceKind {
    static constexpr PropertyKind kind = PropertyKind::ObjectReference;
    [[nodiscard]] static ReferenceOps reference_ops() noexcept {
        return make_reference_ops<Reference>();
    }
};

template <>
struct KindOf<Vector3> {
    static constexpr PropertyKind kind = PropertyKind::Vector;
};

template <>
struct KindOf<Rotator> {
    static constexpr PropertyKind kind = PropertyKind::Rotator;
};

template <>
struct KindOf<Quat> {
    static constexpr PropertyKind kind = PropertyKind::Quat;
};

template <typename Allocator>
struct KindOf<std::basic_string<char, std::char_traits<char>, Allocator>>
    : StringKind<std::basic_string<char, std::char_traits<char>, Allocator>> {};

template <>
struct KindOf<Name> {
    static constexpr PropertyKind kind = PropertyKind::Name;
    [[nodiscard]] static StringOps string_ops(TypeRegistry& registry) noexcept {
        return registry.names().string_ops();
    }
};

template <>
struct KindOf<ObjectHandle> : ReferenceKind<ObjectHandle> {};

/// The object is known by its address, as this pointer type sees it. A pointer to a second base,
/// whose address is not that of the object, needs a KindOf of its own.
template <typename Object>
struct KindOf<Object*> : ReferenceKind<Object*> {
    static_assert(std::is_class_v<Object>,
                  "only a pointer to a class refers to a replicated object");
};

/// Base of a KindOf for a reference in a wrapper: to an interface, a handle of the engine's own.
/// `Get` is ObjectHandle(const Wrapper&), `Set` is void(Wrapper&, ObjectHandle).
template <typename Wrapper, auto Get, auto Set>
struct WrappedReferenceKind {
    static constexpr PropertyKind kind = PropertyKind::ObjectReference;
    [[nodiscard]] static ReferenceOps reference_ops() noexcept {
        ReferenceOps ops;
        ops.get = [](const void* reference) -> ObjectHandle {
            return Get(*static_cast<const Wrapper*>(reference));
        };
        ops.set = [](void* reference, ObjectHandle object) {
            Set(*static_cast<Wrapper*>(reference), object);
        };
        return ops;
    }
};

/// The object is known by its address and held by shared pointers; its class derives from
/// std::enable_shared_from_this. Null once the object is gone.
template <typename Object>
struct KindOf<std::weak_ptr<Object>> {
    static constexpr PropertyKind kind = PropertyKind::ObjectReference;
    [[nodiscard]] static ReferenceOps reference_ops() noexcept {
        ReferenceOps ops;
        ops.get = [](const void* reference) {
            const auto object = static_cast<const std::weak_ptr<Object>*>(reference)->lock();
            return ObjectHandle{reinterpret_cast<std::uintptr_t>(object.get())};
        };
        ops.set = [](void* reference, ObjectHandle handle) {
            auto* object = reinterpret_cast<Object*>(static_cast<std::uintptr_t>(handle.value));
            *static_cast<std::weak_ptr<Object>*>(reference) =
                object == nullptr
                    ? std::shared_ptr<Object>()
                    : std::static_pointer_cast<Object>(object->weak_from_this().lock());
        };
        return ops;
    }
};

template <typename T>
struct KindOf<std::optional<T>> : OptionalKind<std::optional<T>> {};

template <typename T, typename Allocator>
struct KindOf<std::vector<T, Allocator>> : ArrayKind<std::vector<T, Allocator>> {};

template <typename Allocator>
struct KindOf<std::vector<bool, Allocator>> {
    static_assert(!std::is_same_v<Allocator, Allocator>,
                  "std::vector<bool> has no elements in memory: use a vector of std::uint8_t");
    static constexpr PropertyKind kind = PropertyKind::Struct;  // Ends the compiler's complaints.
};

}  // namespace replayout
