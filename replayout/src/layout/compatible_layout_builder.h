// SPDX-License-Identifier: MIT
//
// Makes a layout to receive with: the commands of a sender's description, each either that of the
// local layout which is the same, or skipped.
#pragma once

#include <replayout/rep_layout.h>

#include <memory>
#include <span>

namespace replayout {

/// Does what RepLayout::create_compatible() promises: reads `description`, makes the layout, and
/// judges by `policy` how it differs from `local`.
[[nodiscard]] Result<std::unique_ptr<RepLayout>> create_compatible_layout(
    const TypeRegistry& registry, const RepLayout* local, std::span<const std::byte> description,
    LayoutPolicy policy, MemoryResource* resource);

}  // namespace replayout
