// SPDX-License-Identifier: MIT
//
// A function that can be called remotely, as far as this floor knows it: a name and its parameters,
// which form a struct type like any other.
#pragma once

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
    WithValidation = 16,
};

[[nodiscard]] constexpr FunctionFlags operator|(FunctionFlags left, FunctionFlags right) noexcept {
    return static_cast<FunctionFlags>(static_cast<std::uint8_t>(left) |
                                      static_cast<std::uint8_t>(right));
}

[[nodiscard]] constexpr bool has_flag(FunctionFlags set, FunctionFlags flag) noexcept {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(flag)) != 0;
}

struct Function {
    std::string name;
    FunctionFlags flags = FunctionFlags::None;
    const Type* parameters = nullptr;  ///< a struct type; null: no parameters
};

}  // namespace replayout
