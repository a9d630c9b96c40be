// SPDX-License-Identifier: MIT
//
// What lies between server and clients of a match that is played within one process: the network of
// the simulation, or sockets of this machine. Either is moved by the clock of the match alone, and
// what is sent in one tick is there in the next one at the soonest; so where nothing is lost and
// nothing delayed all of them give the same packets.
#pragma once

#include "match/session/match_options.h"

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/error.h>

#include <cstdint>
#include <memory>

namespace replayout::match {

class MatchNetwork {
  public:
    static constexpr PeerId server_peer{1};
    [[nodiscard]] static PeerId client_peer(std::uint32_t index) noexcept { return {index + 2}; }

    virtual ~MatchNetwork() = default;
    /// Of server_peer, or client_peer() of a client that there is. Lives as long as the network.
    [[nodiscard]] virtual Transport& endpoint(PeerId peer) = 0;
    /// Moves the clock, never back, and delivers.
    virtual void advance(NetTime now) = 0;
    /// From now on nothing is lost or delayed that can be helped.
    virtual void heal() = 0;
};

/// By MatchOptions::transport, for all its clients. Errors: what is not in this build, and sockets
/// that the system refuses.
[[nodiscard]] Result<std::unique_ptr<MatchNetwork>> make_network(const MatchOptions& options);

}  // namespace replayout::match
