// SPDX-License-Identifier: MIT
//
// What tests of packet headers have in common.
#pragma once

#include <replayout/netdriver/packet_notify.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace replayout::test {

/// The number of the session that all of them are of.
inline constexpr std::uint16_t notified_session = 0x5e55;

using HeaderBytes = std::array<std::byte, packet_header_bytes_max>;

}  // namespace replayout::test
