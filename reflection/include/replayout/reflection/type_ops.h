// SPDX-License-Identifier: MIT
//
// What the engine must be able to do to a value whose C++ type it does not know.
//
// The operations are made from a C++ type by make_type_ops<T>(), or filled by hand for a type that
// exists only at run time. A null entry means "not available"; who needs it refuses the type when
// it is built, and not when it is sent.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace replayout {

/// Erased lifetime and comparison of one value. All functions are called with suitably aligned
/// memory; `construct` and `copy_construct` with raw memory, the others with a living value.
struct TypeOps {
    void (*construct)(void* memory) = nullptr;
    void (*copy_construct)(void* memory, const void* source) = nullptr;
    void (*copy_assign)(void* target, const void* source) = nullptr;
    void (*destroy)(void* value) = nullptr;
    bool (*equal)(const void* left, const void* right) = nullptr;
    std::uint32_t size = 0;       ///< bytes
    std::uint32_t alignment = 1;  ///< bytes, a power of two
    /// The value may be copied with memcpy and needs no destructor.
    bool is_trivial = false;
};

namespace detail {

// A container says that it can be compared and copied whatever its elements can, and the lie shows
// only when the operation is compiled. So containers are asked about their elements too.
template <typename T>
concept Container = requires {
    typename T::value_type;
    typename T::allocator_type;
};

template <typename T>
[[nodiscard]] consteval bool can_be_compared() noexcept {
    if constexpr (Container<T>) {
        return std::equality_comparable<T> && can_be_compared<typename T::value_type>();
    } else {
        return std::equality_comparable<T>;
    }
}

template <typename T>
[[nodiscard]] consteval bool can_be_copied() noexcept {
    if constexpr (Container<T>) {
        return std::is_copy_constructible_v<T> && can_be_copied<typename T::value_type>();
    } else {
        return std::is_copy_constructible_v<T>;
    }
}

}  // namespace detail

/// Operations of an object of class `T`, which is made and destroyed, and never copied or compared
/// whole.
template <typename T>
[[nodiscard]] constexpr TypeOps make_class_ops() noexcept {
    TypeOps ops;
    ops.size = static_cast<std::uint32_t>(sizeof(T));
    ops.alignment = static_cast<std::uint32_t>(alignof(T));
    if constexpr (std::is_default_constructible_v<T>) {
        ops.construct = [](void* memory) { ::new (memory) T(); };
    }
    if constexpr (std::is_destructible_v<T>) {
        ops.destroy = [](void* value) { std::destroy_at(static_cast<T*>(value)); };
    }
    return ops;
}

/// Operations of the C++ type `T`; what `T` does not offer stays null. A type that holds a
/// container of what cannot be copied or compared must say so itself, with a deleted function: C++
/// does not tell.
template <typename T>
[[nodiscard]] constexpr TypeOps make_type_ops() noexcept {
    TypeOps ops = make_class_ops<T>();
    ops.is_trivial = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;
    if constexpr (detail::can_be_copied<T>()) {
        ops.copy_construct = [](void* memory, const void* source) {
            ::new (memory) T(*static_cast<const T*>(source));
        };
    }
    if constexpr (std::is_copy_assignable_v<T> && detail::can_be_copied<T>()) {
        ops.copy_assign = [](void* target, const void* source) {
            *static_cast<T*>(target) = *static_cast<const T*>(source);
        };
    }
    if constexpr (detail::can_be_compared<T>()) {
        ops.equal = [](const void* left, const void* right) {
            return static_cast<bool>(*static_cast<const T*>(left) == *static_cast<const T*>(right));
        };
    }
    return ops;
}

}  // namespace replayout
