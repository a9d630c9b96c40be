// SPDX-License-Identifier: MIT
//
// What transports over sockets have in common: they are driven by ticks, and a client's knows its
// server.
//
//     every tick:
//         transport.tick(now);
//         driver.tick_dispatch(now);
//         ... the game ...
//         driver.tick_flush(now);
//         transport.flush();
//
// What is said of a transport in netdriver/transport.h holds.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include <cstdint>
#include <string>

namespace replayout {

/// Counted since the transport was made.
struct SocketStats {
    std::uint64_t datagrams_sent = 0;
    std::uint64_t datagrams_received = 0;  ///< that were given to the driver
    std::uint64_t send_errors = 0;         ///< they were not taken, and count as lost
    std::uint64_t challenges_sent = 0;
    std::uint64_t peers_welcomed = 0;
    /// They left, were silent, or began anew; or the driver had nothing to say to them.
    std::uint64_t peers_forgotten = 0;
    std::uint64_t dropped_unproved = 0;   ///< of an address that did not prove itself
    std::uint64_t dropped_forged = 0;     ///< in another's name, without its token
    std::uint64_t dropped_malformed = 0;  ///< nothing that a peer says, or that was asked for
    std::uint64_t dropped_origin = 0;     ///< pages of an origin that is not allowed
    std::uint64_t dropped_full = 0;       ///< no slot was left: for peers, or for what waits
};

/// One thread.
class SocketTransport : public Transport {
  public:
    /// Before NetDriver::tick_dispatch(), with the same time.
    virtual void tick(NetTime now) = 0;
    /// Behind NetDriver::tick_flush(): what was sent goes out.
    virtual void flush() = 0;

    /// The driver's connection with this peer ended (NetWorld::peer_left()): its slot is free when
    /// the driver has had nothing to say to it for close_linger_ms, in which goodbyes are repeated,
    /// whatever it says itself; and not only when that lasts for as long as peers may be silent. Of
    /// a client: its server is asked again when something is sent to it. Nothing where there is no
    /// such peer.
    virtual void close(PeerId peer) = 0;
    static constexpr std::int64_t close_linger_ms = 3'000;

    /// Of a client: its server.
    [[nodiscard]] virtual PeerId server() const noexcept = 0;
    /// Of a client: datagrams go through.
    [[nodiscard]] virtual bool is_connected() const noexcept = 0;
    /// Where a server can be reached: as its listen() takes it, with the port that it has.
    [[nodiscard]] virtual std::string local_address() const = 0;
    /// Peers that are there.
    [[nodiscard]] virtual std::uint32_t peer_count() const noexcept = 0;
    [[nodiscard]] virtual const SocketStats& stats() const noexcept = 0;
};

}  // namespace replayout
