// SPDX-License-Identifier: MIT
//
// Parameters of a type that was described without a C++ type. The code that makes them ensures that
// it is the type that the prefab's function takes.
#pragma once

#include <replayout/netdriver/call_params.h>
#include <replayout/rep_layout.h>
#include <replayout/syncvar/network_prefab.h>

namespace replayout::syncvar {

[[nodiscard]] inline CallParams params_of(const NetworkPrefab& prefab, FunctionIndex function,
                                          const void* params) noexcept {
    return {params, prefab.layout().functions()[function.value].function->parameters};
}

}  // namespace replayout::syncvar
