// SPDX-License-Identifier: MIT
//
// How far a connection has come.
#pragma once

#include <cstdint>

namespace replayout {

enum class ConnectionState : std::uint8_t {
    Connecting,  ///< client: the server has not answered yet
    Joined,
    Closing,  ///< a goodbye is on its way
    Closed,
};

}  // namespace replayout
