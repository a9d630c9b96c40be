// SPDX-License-Identifier: MIT
//
// Who is who where a test has a network of its own.
#pragma once

#include <replayout/netdriver/transport.h>

namespace replayout::test {

inline constexpr PeerId server_peer{1};
inline constexpr PeerId client_peer{2};

}  // namespace replayout::test
