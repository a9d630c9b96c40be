// SPDX-License-Identifier: MIT
//
// The identity of a C++ type without RTTI: the address of a variable that exists once per type.
// With it the registry finds the Type that was built from a C++ type.
//
// A shared library whose symbols are hidden has a variable of its own, and so another key for the
// same C++ type. Register a type, and the types that hold or derive from it, within one such
// library, or find the registered type by its name and hand it over (DynamicTypeBuilder).
#pragma once

#include <type_traits>

namespace replayout {

/// A value; null for a type that no C++ type stands behind.
struct TypeKey {
    const void* address = nullptr;

    [[nodiscard]] constexpr bool is_null() const noexcept { return address == nullptr; }
    friend constexpr bool operator==(TypeKey, TypeKey) noexcept = default;
};

namespace detail {

// Not const: a linker may fold equal constants, and then two types would have one key.
template <typename T>
struct TypeKeyVariable {
    static inline char variable = 0;
};

template <auto Function>
struct FunctionKeyType {};

}  // namespace detail

/// The key of `T`, the same for const and volatile.
template <typename T>
[[nodiscard]] TypeKey type_key_of() noexcept {
    return {&detail::TypeKeyVariable<std::remove_cv_t<T>>::variable};
}

/// One key for each C++ function, whatever its name is to the other end.
template <auto Function>
[[nodiscard]] TypeKey function_key_of() noexcept {
    return type_key_of<detail::FunctionKeyType<Function>>();
}

}  // namespace replayout
