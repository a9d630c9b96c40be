// SPDX-License-Identifier: MIT
//
// From the functions of a C++ class to the pointers that the engine calls, for notifies and hooks.
#pragma once

#include <replayout/reflection/elements.h>

#include <functional>
#include <span>
#include <type_traits>

namespace replayout::detail {

/// NotifyFunction::call for a function that takes the object, or the object and the previous value.
/// `Value` is the type of the member: of a C array or std::array the whole.
template <typename T, typename Value, auto Function>
void call_notify(void* object, const void* previous, void* /*context*/) {
    using Callable = decltype(Function);
    using Element = typename Elements<Value>::element_type;
    using Span = std::span<const Element, Elements<Value>::count>;
    constexpr bool takes_previous = std::is_invocable_v<Callable, T&, const Value&>;
    // Asked by itself, because gcc 12 makes no span of a C array in a call through a pointer.
    constexpr bool takes_span =
        !std::is_same_v<Value, Element> && std::is_invocable_v<Callable, T&, Span>;
    static_assert(takes_previous || takes_span || std::is_invocable_v<Callable, T&>,
                  "on_rep needs void f() or void f(const Value& previous) of the object, or a free "
                  "function void f(T&) or void f(T&, const Value& previous); of an array previous "
                  "may be a std::span<const Element>");
    // Else the address of an array would pass for a bool.
    static_assert(
        std::is_same_v<Value, Element> || !std::is_invocable_v<Callable, T&, const Element&>,
        "on_rep of an array runs once for all of it: let it take the array by reference, "
        "or a std::span<const Element>");
    if constexpr (takes_previous) {
        std::invoke(Function, *static_cast<T*>(object), *static_cast<const Value*>(previous));
    } else if constexpr (takes_span) {
        std::invoke(Function, *static_cast<T*>(object), Span(*static_cast<const Value*>(previous)));
    } else if constexpr (std::is_invocable_v<Callable, T&>) {
        std::invoke(Function, *static_cast<T*>(object));
    }
}

/// ReceiveHook::call for a function that takes the object.
template <typename T, auto Function>
void call_hook(void* object, void* /*context*/) {
    static_assert(std::is_invocable_v<decltype(Function), T&>,
                  "a hook needs void f() of the object, or a free function void f(T&)");
    std::invoke(Function, *static_cast<T*>(object));
}

}  // namespace replayout::detail
