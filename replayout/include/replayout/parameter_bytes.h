// SPDX-License-Identifier: MIT
//
// The parameters of a remote call as bytes of their own, for callers that carry them in another
// message. References are not carried: after reading they are null.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <span>
#include <vector>

namespace replayout {

/// `params` is of the type of `layout`. Nothing: they are beyond a limit of the layout, cannot be
/// written, or take more than `bytes_max`.
[[nodiscard]] std::vector<std::byte> write_parameter_bytes(const RepLayout& layout,
                                                           const void* params,
                                                           std::size_t bytes_max,
                                                           MemoryResource* resource);
/// False: the bytes are no such parameters. `params`, which holds the defaults, is as it was then.
[[nodiscard]] bool read_parameter_bytes(const RepLayout& layout, std::span<const std::byte> bytes,
                                        void* params, MemoryResource* resource);

}  // namespace replayout
