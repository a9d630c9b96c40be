// SPDX-License-Identifier: MIT
//
// The band of an object that nobody gave a priority: see SendOrder.
#pragma once

#include <cstdint>

namespace replayout {

inline constexpr std::uint8_t ordinary_send_band = 3;

}  // namespace replayout
