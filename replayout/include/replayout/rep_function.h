// SPDX-License-Identifier: MIT
//
// The functions of a layout that can be called remotely, in an order that both ends have: those of
// the base first, each in its order of declaration. The index travels with a call.
#pragma once

#include <replayout/handle.h>
#include <replayout/reflection/function.h>

#include <cstdint>
#include <memory>

namespace replayout {

class RepLayout;

struct RepFunction {
    const Function* function = nullptr;
    /// Of the type that declares it, within the object; bytes.
    std::uint32_t object_offset = 0;
    std::unique_ptr<RepLayout> parameters;  ///< null: it has none

    [[nodiscard]] bool has(FunctionFlags flag) const noexcept {
        return has_flag(function->flags, flag);
    }
    /// A client may call it on a server.
    [[nodiscard]] bool runs_on_server() const noexcept {
        return has(FunctionFlags::Server) || has(FunctionFlags::Remote);
    }
    /// A server may call it on clients.
    [[nodiscard]] bool runs_on_clients() const noexcept {
        return has(FunctionFlags::Client) || has(FunctionFlags::Multicast) ||
               has(FunctionFlags::Remote);
    }
};

}  // namespace replayout
