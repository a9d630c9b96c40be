// SPDX-License-Identifier: MIT
#include <replayout/send_properties.h>

namespace replayout {

namespace {

constexpr std::pmr::pool_options delta_state_pool{.largest_required_pool_block = 64 * 1024};

}  // namespace

BlockFindings::BlockFindings(MemoryResource* resource)
    : carried(Allocator<LostPart>(resource)),
      unmapped(Allocator<UnmappedValue>(resource)),
      put_off(Allocator<RepHandle>(resource)),
      left_out(Allocator<RepHandle>(resource)),
      values(Allocator<BlockValue>(resource)),
      deltas(Allocator<SentDelta>(resource)),
      unchanged(Allocator<UnchangedDelta>(resource)) {}

// Not inline, as releasing states takes more registers than all else in a send.
[[gnu::noinline]] void BlockFindings::forget_deltas() noexcept {
    deltas.clear();
    unchanged.clear();
}

SendScratch::SendScratch(MemoryResource* resource)
    : owed(resource),
      part(resource),
      elements(Allocator<ChangeMask>(resource)),
      value(Allocator<std::byte>(resource)),
      check(Allocator<std::byte>(resource)),
      delta(Allocator<std::byte>(resource)),
      delta_states(delta_state_pool, resource),
      guids(Allocator<NetGUID>(resource)),
      keys(Allocator<std::uint64_t>(resource)),
      full_spans(Allocator<PlaceSpan>(resource)),
      told_put_off(Allocator<const Property*>(resource)),
      findings_(resource) {
    elements.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements.emplace_back(resource);
    }
}

}  // namespace replayout
