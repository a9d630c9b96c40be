// SPDX-License-Identifier: MIT
//
// Slots of a server for peers. They are bounded in all and for one address, so one address does not
// take the slots of all others. For IPv6 the first 64 bits of an address count, because the owner
// of one address there has all that begin alike.
#pragma once

#include <replayout/reflection/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace replayout {

/// An address without its port: 16 bytes, of IPv4 as IPv6 maps it.
using AddressKey = std::array<std::byte, 16>;

class PeerSlots {
  public:
    PeerSlots(std::uint32_t max, std::uint32_t per_address_max, MemoryResource* resource)
        : max_(max), per_address_max_(per_address_max), taken_(resource) {}

    /// False: there is none left.
    [[nodiscard]] bool take(const AddressKey& address);
    /// One that was taken.
    void give_back(const AddressKey& address);
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// The same for all that count as one address.
    [[nodiscard]] static AddressKey owner_of(AddressKey address) noexcept;

  private:
    std::uint32_t max_;
    std::uint32_t per_address_max_;
    std::uint32_t count_ = 0;
    std::pmr::map<AddressKey, std::uint32_t> taken_;
};

}  // namespace replayout
