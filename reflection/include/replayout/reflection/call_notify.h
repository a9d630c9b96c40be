// SPDX-License-Identifier: MIT
//
// From the functions of a C++ class to the pointers that the engine calls, for notifies and hooks.
#pragma once

#include <functional>
#include <type_traits>

namespace replayout::detail {

/// NotifyFunction::call for a function that takes the object, or the object and the previous value.
template <typename T, typename Value, auto Function>
void call_notify(void* object, const void* previous, void* /*context*/) {
    using Callable = decltype(Function);
    constexpr bool takes_previous = std::is_invocable_v<Callable, T&, const Value&>;
    static_assert(takes_previous || std::is_invocable_v<Callable, T&>,
                  "on_rep needs void f() or void f(const Value& previous) of the object, or a free "
                  "function void f(T&) or void f(T&, const Value& previous)");
    if constexpr (takes_previous) {
        std::invoke(Function, *static_cast<T*>(object), *static_cast<const Value*>(previous));
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
