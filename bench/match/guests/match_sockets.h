// SPDX-License-Identifier: MIT
//
// The transports over sockets that this build has, by their names on the command line.
#pragma once

#include "match/session/match_options.h"

#include <replayout/reflection/error.h>
#include <replayout/transports/socket_transport.h>

#include <memory>
#include <string>

namespace replayout::match {

/// Whether this build has it. Loopback always is there.
[[nodiscard]] bool is_built(MatchTransport transport) noexcept;

// Of one over sockets. Errors: not in this build, no such address, or what the system says.

[[nodiscard]] Result<std::unique_ptr<SocketTransport>> listen_at(MatchTransport transport,
                                                                 const std::string& address);
[[nodiscard]] Result<std::unique_ptr<SocketTransport>> connect_to(MatchTransport transport,
                                                                  const std::string& address);

}  // namespace replayout::match
