// SPDX-License-Identifier: MIT
//
// A function that can be called remotely: a name, its parameters, which form a struct type like any
// other, and what runs when a call arrives. It returns nothing.
#pragma once

#include <replayout/reflection/type_key.h>

#include <cstdint>
#include <string>

namespace replayout {

class Type;

enum class FunctionFlags : std::uint8_t {
    None = 0,
    Server = 1,     ///< called by the owning client, runs on the server
    Client = 2,     ///< called by the server, runs on the owning client
    Multicast = 4,  ///< called by the server, runs everywhere
    Reliable = 8,
    WithValidation = 16,  ///< of a call from a client: FunctionThunk::validate is asked first
    Remote = 32,          ///< called by either side, runs on the other: Server and Client in one
    /// Brings state that its caller decides. A server counts such calls of a client apart from all
    /// others (NetConfig::client_updates_per_second_max).
    Update = 64,
};

[[nodiscard]] constexpr FunctionFlags operator|(FunctionFlags left, FunctionFlags right) noexcept {
    return static_cast<FunctionFlags>(static_cast<std::uint8_t>(left) |
                                      static_cast<std::uint8_t>(right));
}

[[nodiscard]] constexpr bool has_flag(FunctionFlags set, FunctionFlags flag) noexcept {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(flag)) != 0;
}

/// What runs when a call arrives. `object` is the value of the type that declares the function: for
/// a function of a base that is the base's part of the object. `params` is an object of the
/// parameters' type, on loan for the call; null where the function has none. May do anything to the
/// object, also remove it.
struct FunctionThunk {
    void (*call)(void* object, const void* params, void* context) = nullptr;
    /// Asked for calls of clients only, where the function says WithValidation. False: the call
    /// does not run, and the connection that it came on is closed. Decides alone: the object stays.
    bool (*validate)(void* object, const void* params, void* context) = nullptr;
    void* context = nullptr;

    explicit operator bool() const noexcept { return call != nullptr; }
};

struct Function {
    std::string name;
    FunctionFlags flags = FunctionFlags::None;
    const Type* parameters = nullptr;  ///< a struct type; null: no parameters
    FunctionThunk thunk = {};          ///< empty: it can be called from here, and not run here
    TypeKey key = {};                  ///< function_key_of(); null: it was described without one
};

}  // namespace replayout
