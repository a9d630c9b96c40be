// SPDX-License-Identifier: MIT
#include "kept_bunches.h"

#include <algorithm>

#include "close_bunch.h"

namespace replayout {

bool KeptBunches::has_block_of(ObjectIndex index) const noexcept {
    const auto is_block = [index](const OpenRun::Open& open) {
        return open.object_index == index && open.block_version > 0;
    };
    for (std::size_t i = 0; i < bunches_.count(); ++i) {
        const KeptBunch& bunch = bunches_.at(i);
        if (bunch.is_run()) {
            const std::span<const OpenRun::Open> opens = bunch.opens.opens();
            if (std::any_of(opens.begin(), opens.end(), is_block)) {
                return true;
            }
        } else if (bunch.open != nullptr && bunch.object_index == index &&
                   bunch.block_version > 0) {
            return true;
        }
    }
    return false;
}

void KeptBunches::pop_front() noexcept {
    KeptBunch& front = bunches_.front();
    std::size_t payload_bytes = close_payload_bytes;
    std::uint32_t left = 0;
    if (front.is_run()) {
        const OpenRun::Open& open = front.opens.opens().front();
        payload_bytes = open.bunch->payload().size();
        front.opens.block_count -= open.block_version > 0 ? 1u : 0u;
        ++front.opens.begin;
        left = --front.opens.count;
    } else if (front.open == nullptr) {
        left = --front.close_count;
    }
    if (left > 0) {
        ++front.order.value;
        ++front.begin.others.bunches;
        front.begin.others.bytes += payload_bytes;
        return;
    }
    release(front);
    bunches_.pop_front();
}

void KeptBunches::clear() noexcept {
    while (!is_empty()) {
        release(bunches_.front());
        bunches_.pop_front();
    }
}

void KeptBunches::release(KeptBunch& bunch) noexcept {
    if (bunch.is_run()) {
        bunch.opens.run->release();
    } else if (bunch.open != nullptr) {
        bunch.open->release();
    }
}

}  // namespace replayout
