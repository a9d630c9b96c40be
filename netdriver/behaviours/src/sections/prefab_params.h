// SPDX-License-Identifier: MIT
//
// Parameters of a type that was described without a C++ type. The code that makes them ensures that
// it is the type that the prefab's function takes.
#pragma once

#include <replayout/behaviours/network_prefab.h>
#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/rep_layout.h>

namespace replayout {

[[nodiscard]] inline CallArguments params_of(const NetworkPrefab& prefab, FunctionIndex function,
                                             const void* params) noexcept {
    return {params, prefab.layout().functions()[function.value].function->parameters};
}

/// A function of a spawned object, to be called with what a collection makes of its operations or
/// items.
[[nodiscard]] inline auto call_of(NetDriver& driver, NetObjectId object,
                                  const NetworkPrefab& prefab, FunctionIndex function) noexcept {
    return [&driver, object, &prefab, function](const void* params) {
        return driver.call_function(object, function, params_of(prefab, function, params));
    };
}

}  // namespace replayout
