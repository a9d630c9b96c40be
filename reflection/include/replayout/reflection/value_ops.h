// SPDX-License-Identifier: MIT
//
// Erased access to the three kinds of value that are not plain bytes: a dynamic array, a string,
// and a reference to another object. An engine with containers of its own fills these tables; for
// containers and strings in the manner of the standard library make_array_ops, make_string_ops and
// make_reference_ops do.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace replayout {

/// The embedder's own identity of an object: a pointer, an entity, a generation handle. The engine
/// never looks inside. 0 is null. A value names one object at a time; another one later only where
/// who gives ids says so, as NetDriver::add_object() does.
struct ObjectHandle {
    std::uint64_t value = 0;

    [[nodiscard]] constexpr bool is_null() const noexcept { return value == 0; }
    friend constexpr auto operator<=>(ObjectHandle, ObjectHandle) noexcept = default;
};

/// A dynamic array: elements lie one after another, `element_size` bytes apart (Property::element).
struct ArrayOps {
    std::size_t (*count)(const void* array) = nullptr;
    /// First element; any value when the array is empty.
    const void* (*data)(const void* array) = nullptr;
    void* (*mutable_data)(void* array) = nullptr;
    /// New elements are default-constructed. The engine has checked `count` against its limits.
    void (*resize)(void* array, std::size_t count) = nullptr;
    /// Lets two elements change places. Only keyed arrays need it.
    void (*swap_elements)(void* array, std::size_t left, std::size_t right) = nullptr;
};

/// Text in UTF-8. `context` is the table's own and is handed back in each call.
struct StringOps {
    std::string_view (*view)(const void* string, const void* context) = nullptr;
    /// False: the text cannot be held (a table is full); the value stays as it was.
    bool (*assign)(void* string, std::string_view text, void* context) = nullptr;
    void* context = nullptr;
    /// The string is a std::string: who looks at many of them need not call.
    bool is_std_string = false;
};

/// A reference to a replicated object, in whatever form the object's class keeps it.
struct ReferenceOps {
    ObjectHandle (*get)(const void* reference) = nullptr;
    void (*set)(void* reference, ObjectHandle object) = nullptr;
    /// The reference is the eight bytes of ObjectHandle::value, so it can be compared without
    /// get().
    bool is_plain = false;
};

/// Operations of a contiguous container with value_type, size(), data() and resize().
template <typename Container>
[[nodiscard]] ArrayOps make_array_ops() noexcept {
    static_assert(std::default_initializable<typename Container::value_type>,
                  "elements of a replicated array must be default-constructible");
    ArrayOps ops;
    ops.count = [](const void* array) -> std::size_t {
        return static_cast<const Container*>(array)->size();
    };
    ops.data = [](const void* array) -> const void* {
        return static_cast<const Container*>(array)->data();
    };
    ops.mutable_data = [](void* array) -> void* { return static_cast<Container*>(array)->data(); };
    ops.resize = [](void* array, std::size_t count) {
        static_cast<Container*>(array)->resize(count);
    };
    if constexpr (std::swappable<typename Container::value_type>) {
        ops.swap_elements = [](void* array, std::size_t left, std::size_t right) {
            using std::swap;
            auto* elements = static_cast<Container*>(array)->data();
            swap(elements[left], elements[right]);
        };
    }
    return ops;
}

/// Operations of an optional value with value_type, has_value(), operator*, emplace() and reset(),
/// as of an array that holds one element or none.
template <typename Optional>
[[nodiscard]] ArrayOps make_optional_ops() noexcept {
    static_assert(std::default_initializable<typename Optional::value_type>,
                  "a replicated optional value must be default-constructible");
    ArrayOps ops;
    ops.count = [](const void* optional) -> std::size_t {
        return static_cast<const Optional*>(optional)->has_value() ? 1 : 0;
    };
    ops.data = [](const void* optional) -> const void* {
        const auto& value = *static_cast<const Optional*>(optional);
        return value.has_value() ? std::addressof(*value) : nullptr;
    };
    ops.mutable_data = [](void* optional) -> void* {
        auto& value = *static_cast<Optional*>(optional);
        return value.has_value() ? std::addressof(*value) : nullptr;
    };
    ops.resize = [](void* optional, std::size_t count) {
        auto& value = *static_cast<Optional*>(optional);
        if (count == 0) {
            value.reset();
        } else if (!value.has_value()) {
            value.emplace();
        }
    };
    return ops;
}

/// Operations of a string that converts to std::string_view and has assign(data, size).
template <typename String>
[[nodiscard]] StringOps make_string_ops() noexcept {
    StringOps ops;
    ops.view = [](const void* string, const void*) -> std::string_view {
        return *static_cast<const String*>(string);
    };
    ops.assign = [](void* string, std::string_view text, void*) -> bool {
        static_cast<String*>(string)->assign(text.data(), text.size());
        return true;
    };
    ops.is_std_string = std::is_same_v<String, std::string>;
    return ops;
}

/// Operations of an ObjectHandle, or of a pointer: then the object's handle is its address.
template <typename Reference>
[[nodiscard]] ReferenceOps make_reference_ops() noexcept {
    static_assert(std::is_same_v<Reference, ObjectHandle> || std::is_pointer_v<Reference>,
                  "a reference of another type needs ReferenceOps of its own");
    ReferenceOps ops;
    ops.is_plain = sizeof(Reference) == sizeof(std::uint64_t);
    if constexpr (std::is_same_v<Reference, ObjectHandle>) {
        ops.get = [](const void* reference) {
            return *static_cast<const ObjectHandle*>(reference);
        };
        ops.set = [](void* reference, ObjectHandle object) {
            *static_cast<ObjectHandle*>(reference) = object;
        };
    } else {
        ops.get = [](const void* reference) {
            const auto address =
                reinterpret_cast<std::uintptr_t>(*static_cast<const Reference*>(reference));
            return ObjectHandle{address};
        };
        ops.set = [](void* reference, ObjectHandle object) {
            const auto address = static_cast<std::uintptr_t>(object.value);
            *static_cast<Reference*>(reference) = reinterpret_cast<Reference>(address);
        };
    }
    return ops;
}

}  // namespace replayout
