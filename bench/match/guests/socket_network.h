// SPDX-License-Identifier: MIT
//
// A MatchNetwork of real sockets of this machine: a server's and one for each client. The clock of
// the match stands still until what was sent has arrived, however slow the system is; so one seed
// gives the same packets each time.
#pragma once

#include "match/session/match_network.h"

namespace replayout::match {

[[nodiscard]] Result<std::unique_ptr<MatchNetwork>> make_socket_network(MatchTransport transport,
                                                                        std::uint32_t clients);

}  // namespace replayout::match
