// SPDX-License-Identifier: MIT
//
// Parameters whose type no C++ type stands behind: they are of the type that the prefab's function
// takes, as whoever made them saw to.
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
