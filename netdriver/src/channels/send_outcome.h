// SPDX-License-Identifier: MIT
//
// What the parts of a sender answer when they try to send something.
#pragma once

#include <cstdint>

namespace replayout {

/// What became of the attempt to send something.
enum class SendOutcome : std::uint8_t {
    Done,
    NoRoom,    ///< in packets, by their window or by the cap: nothing more can be sent
    HeldBack,  ///< by the window of bunches: this object must wait
};

}  // namespace replayout
