// SPDX-License-Identifier: MIT
#include "peer_slots.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>

namespace replayout {

namespace {

constexpr std::size_t prefix_bytes = 8;
constexpr AddressKey mapped_v4{std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
                               std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
                               std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}};

}  // namespace

AddressKey PeerSlots::owner_of(AddressKey address) noexcept {
    if (!std::equal(mapped_v4.begin(), mapped_v4.begin() + 12, address.begin())) {
        std::fill(address.begin() + prefix_bytes, address.end(), std::byte{0});
    }
    return address;
}

bool PeerSlots::take(const AddressKey& address) {
    if (count_ >= max_ || per_address_max_ == 0) {
        return false;
    }
    std::uint32_t& taken = taken_[owner_of(address)];
    if (taken >= per_address_max_) {
        return false;
    }
    ++taken;
    ++count_;
    return true;
}

void PeerSlots::give_back(const AddressKey& address) {
    const auto found = taken_.find(owner_of(address));
    REPLAYOUT_ASSERT(found != taken_.end() && count_ > 0);
    --count_;
    if (--found->second == 0) {
        taken_.erase(found);
    }
}

}  // namespace replayout
