// SPDX-License-Identifier: MIT
#include "bundle_run.h"

#include <algorithm>

namespace replayout {

bool SentBundle::carries(std::uint32_t index) const noexcept {
    const Bundle& all = run->bundles()[bundle];
    const std::span<const BundleBlock> among = run->blocks().subspan(all.begin, all.block_count());
    const auto found = std::lower_bound(
        among.begin(), among.end(), index,
        [](const BundleBlock& block, std::uint32_t sought) { return block.index < sought; });
    return found != among.end() && found->index == index &&
           ((blocks >> (found - among.begin())) & 1) != 0;
}

}  // namespace replayout
