// SPDX-License-Identifier: MIT
//
// What a pointer to a member says at compile time: the class, the type and the name of the member;
// and, at run time, where it lies. Private to the typed builder.
//
// Names come out of the compiler's own text for a function template's arguments, which gcc and
// clang print in full. Offsets come from a pointer to the member of an object that is never made:
// only its address is taken, in zero-initialised memory that no one reads or writes, so it costs no
// pages.
#pragma once

#include <replayout/reflection/config.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace replayout::detail {

template <typename Pointer>
struct MemberPointer {
    static_assert(!std::is_same_v<Pointer, Pointer>, "not a pointer to a data member");
};

template <typename Class, typename Value>
struct MemberPointer<Value Class::*> {
    static_assert(!std::is_function_v<Value>,
                  "a pointer to a data member is needed, not a function");
    using class_type = Class;
    using value_type = Value;
};

[[nodiscard]] constexpr bool is_identifier_character(char character) noexcept {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_' ||
           static_cast<unsigned char>(character) >= 0x80;
}

/// The last identifier of a text: "[with auto Member = &Pawn::health]" gives "health".
[[nodiscard]] constexpr std::string_view last_identifier(std::string_view text) noexcept {
    while (!text.empty() && !is_identifier_character(text.back())) {
        text.remove_suffix(1);
    }
    std::size_t begin = text.size();
    while (begin > 0 && is_identifier_character(text[begin - 1])) {
        --begin;
    }
    return text.substr(begin);
}

// The return types are deduced: gcc would print an alias such as std::string_view behind the
// arguments.

template <auto Member>
[[nodiscard]] constexpr auto name_of_member() noexcept {
    constexpr std::string_view name = last_identifier(REPLAYOUT_FUNCTION_TEXT);
    static_assert(!name.empty() || sizeof(Member) == 0,
                  "this compiler does not tell a member's name: give it, .property<...>(\"name\")");
    return name;
}

/// The C++ name of a type for an error sentence. Never empty.
template <typename T>
[[nodiscard]] constexpr auto name_of_type() noexcept {
    constexpr std::string_view text = REPLAYOUT_FUNCTION_TEXT;
    constexpr std::size_t begin = text.find("T = ");
    if constexpr (begin == std::string_view::npos) {
        return std::string_view("(of unknown name)");
    } else {
        return text.substr(begin + 4, text.rfind(']') - begin - 4);
    }
}

template <typename T>
struct ObjectNeverMade {
    alignas(T) static inline std::byte memory[sizeof(T)];

    [[nodiscard]] static T* address() noexcept { return reinterpret_cast<T*>(memory); }
};

/// Bytes from the start of a `T` to `Member`, which may belong to a base of `T`.
template <typename T, auto Member>
[[nodiscard]] std::size_t offset_of_member() noexcept {
    using Value = typename MemberPointer<decltype(Member)>::value_type;
    Value T::*const member = Member;
    const auto* address = std::addressof(ObjectNeverMade<T>::address()->*member);
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(address) -
                                    ObjectNeverMade<T>::memory);
}

/// Where the bit is that `Set` sets in a `T`.
struct BitPosition {
    std::size_t offset = 0;  ///< bytes
    std::uint8_t mask = 0;   ///< 0: it is not one bit of one byte
};

/// A bitfield has no member pointer. So an object is made, the bit is cleared and set, and what
/// differs is where it lies.
template <typename T, auto Set>
[[nodiscard]] BitPosition position_of_bit() {
    const auto object = std::make_unique<T>();
    Set(*object, false);
    std::vector<std::byte> cleared(sizeof(T));
    std::memcpy(cleared.data(), static_cast<const void*>(object.get()), sizeof(T));
    Set(*object, true);
    std::vector<std::byte> set(sizeof(T));
    std::memcpy(set.data(), static_cast<const void*>(object.get()), sizeof(T));
    BitPosition position;
    for (std::size_t offset = 0; offset < sizeof(T); ++offset) {
        const auto bits = std::to_integer<std::uint8_t>(cleared[offset] ^ set[offset]);
        if (bits == 0) {
            continue;
        }
        if (position.mask != 0 || (bits & (bits - 1)) != 0) {
            return {};
        }
        position = {offset, bits};
    }
    return position;
}

/// Bytes from the start of a `T` to its base `Base`.
template <typename T, typename Base>
[[nodiscard]] std::size_t offset_of_base() noexcept {
    const Base* base = ObjectNeverMade<T>::address();
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(base) -
                                    ObjectNeverMade<T>::memory);
}

/// A base whose offset is known without an object: unambiguous, accessible, not virtual.
template <typename T, typename Base>
concept PlainBaseOf =
    std::is_base_of_v<Base, T> && !std::is_same_v<Base, T> && requires(Base * base) {
    static_cast<T*>(base);
};

}  // namespace replayout::detail
