// SPDX-License-Identifier: MIT
#include "bunch_pool.h"

#include <utility>

namespace replayout {

BunchPool::BunchPool(MemoryResource* resource)
    : allocator_(resource), spare_(Allocator<OutBunch*>(resource)) {}

BunchPool::~BunchPool() {
    for (OutBunch* bunch : spare_) {
        free(bunch);
    }
}

BunchPool::BunchPtr BunchPool::make(const BunchHeader& header, const BunchTag& tag,
                                    std::span<const std::byte> payload,
                                    std::uint64_t message_bytes) {
    if (spare_.empty() || payload.size() > spare_bytes_max) {
        spare_.reserve(spare_count_max);  // so that nothing is thrown when one comes back
        Vector<std::byte> bytes(payload.begin(), payload.end(), Allocator<std::byte>(allocator_));
        OutBunch* const bunch = allocator_.allocate(1);
        return own(std::construct_at(bunch, OutBunch{header, tag, std::move(bytes), message_bytes,
                                                     WindowPosition(), false, false}));
    }
    BunchPtr bunch = own(spare_.back());
    spare_.pop_back();
    bunch->header = header;
    bunch->tag = tag;
    bunch->payload.assign(payload.begin(), payload.end());
    bunch->message_bytes = message_bytes;
    bunch->begin = {};
    bunch->was_sent = false;
    bunch->is_lost = false;
    return bunch;
}

void BunchPool::give_back(OutBunch* bunch) noexcept {
    if (spare_.size() < spare_count_max && bunch->payload.capacity() <= spare_bytes_max) {
        spare_.push_back(bunch);
    } else {
        free(bunch);
    }
}

void BunchPool::free(OutBunch* bunch) noexcept {
    std::destroy_at(bunch);
    allocator_.deallocate(bunch, 1);
}

}  // namespace replayout
