// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace replayout {

/// What is computed once for all who are sent the same. Each level does what those before it do,
/// too, and none changes a byte: they are there to be measured against each other.
enum class SharingLevel : std::uint8_t {
    Off,       ///< every value is encoded for every receiver
    Pieces,    ///< a value is encoded once, and copied into every block
    Payloads,  ///< the block of an object is laid down once, and copied into every packet
    Bundles,   ///< of a NetDriver: the blocks of a packet are laid down once, and copied as a whole
};

/// All of it, or nothing.
[[nodiscard]] constexpr SharingLevel sharing_level(bool is_sharing) noexcept {
    return is_sharing ? SharingLevel::Bundles : SharingLevel::Off;
}

}  // namespace replayout
