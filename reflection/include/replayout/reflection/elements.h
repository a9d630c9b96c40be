// SPDX-License-Identifier: MIT
//
// What an array as a member is made of. Private to the typed builder.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace replayout::detail {

/// The element type of a C array or std::array and how many there are; else the type itself, once.
template <typename T>
struct Elements {
    using element_type = T;
    static constexpr std::size_t count = 1;
};

template <typename T, std::size_t Count>
struct Elements<T[Count]> {
    static_assert(!std::is_array_v<T>, "an array of arrays cannot be a property: use a struct");
    using element_type = std::remove_all_extents_t<T>;
    static constexpr std::size_t count = Count;
};

template <typename T, std::size_t Count>
struct Elements<std::array<T, Count>> {
    static_assert(sizeof(std::array<T, Count>) == Count * sizeof(T));
    using element_type = T;
    static constexpr std::size_t count = Count;
};

}  // namespace replayout::detail
