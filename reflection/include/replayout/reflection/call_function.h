// SPDX-License-Identifier: MIT
//
// From the functions of a C++ class to the pointers that the engine calls when a remote call
// arrives. Private to the typed builder, but for FunctionParameters.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace replayout {

namespace detail {

/// What a function of a remote call takes, by the form of a pointer to it; void: nothing. Only
/// declared. One that is noexcept converts to one that is not.
template <typename Result, typename T>
std::type_identity<void> parameters_of(Result (T::*)());
template <typename Result, typename T>
std::type_identity<void> parameters_of(Result (T::*)() const);
template <typename Result, typename T, typename Parameters>
std::type_identity<Parameters> parameters_of(Result (T::*)(const Parameters&));
template <typename Result, typename T, typename Parameters>
std::type_identity<Parameters> parameters_of(Result (T::*)(const Parameters&) const);
template <typename Result, typename T>
std::type_identity<void> parameters_of(Result (*)(T&));
template <typename Result, typename T, typename Parameters>
std::type_identity<Parameters> parameters_of(Result (*)(T&, const Parameters&));

template <typename Function>
concept RemoteCallable = requires(Function function) {
    parameters_of(function);
};

/// The parameters of a function of a remote call, by its type; void: none.
template <typename Function>
struct RemoteParameters {
    static_assert(RemoteCallable<Function>,
                  "a remote function is void f(), void f(const Parameters&), either may be const, "
                  "or a free function void f(T&), void f(T&, const Parameters&)");
};
template <RemoteCallable Function>
struct RemoteParameters<Function> {
    using type = typename decltype(parameters_of(std::declval<Function>()))::type;
};

}  // namespace detail

/// What a C++ function that is called remotely takes: void, or a struct.
template <auto Function>
using FunctionParameters = typename detail::RemoteParameters<decltype(Function)>::type;

namespace detail {

template <typename T, auto Function, typename Parameters>
decltype(auto) invoke_remote(void* object, const void* params) {
    if constexpr (std::is_void_v<Parameters>) {
        (void)params;
        return std::invoke(Function, *static_cast<T*>(object));
    } else {
        return std::invoke(Function, *static_cast<T*>(object),
                           *static_cast<const Parameters*>(params));
    }
}

/// FunctionThunk::call.
template <typename T, auto Function, typename Parameters>
void call_remote(void* object, const void* params, void* /*context*/) {
    static_assert(std::is_void_v<decltype(invoke_remote<T, Function, Parameters>(object, params))>,
                  "a remote function returns nothing");
    invoke_remote<T, Function, Parameters>(object, params);
}

/// FunctionThunk::validate.
template <typename T, auto Function, typename Parameters>
bool validate_remote(void* object, const void* params, void* /*context*/) {
    static_assert(
        std::is_same_v<decltype(invoke_remote<T, Function, Parameters>(object, params)), bool>,
        "a validation answers with a bool");
    return invoke_remote<T, Function, Parameters>(object, params);
}

}  // namespace detail

}  // namespace replayout
