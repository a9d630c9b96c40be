// SPDX-License-Identifier: MIT
#include <replayout/receive_parts.h>

namespace replayout::detail {

ReceiveParts::ReceiveParts(MemoryResource* resource)
    : values(resource),
      handles(resource),
      elements(Allocator<ChangeMask>(resource)),
      text(Allocator<std::byte>(resource)),
      guids(Allocator<NetGUID>(resource)),
      struct_lengths(resource),
      waiting(values, resource),
      update(values, resource),
      elements_by_key(resource),
      named_keys(Allocator<std::uint64_t>(resource)),
      gone_keys(Allocator<std::uint64_t>(resource)),
      made_elements(Allocator<KeyedElements::Element>(resource)),
      element_indices(Allocator<std::uint32_t>(resource)),
      ranks(Allocator<ElementRank>(resource)),
      moved_ranks(Allocator<ElementRank>(resource)) {
    elements.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements.emplace_back(resource);
    }
}

}  // namespace replayout::detail
