// SPDX-License-Identifier: MIT
//
// Datagrams over UDP, IPv4 and IPv6, over Boost.Asio.
//
//     auto server = UdpTransport::listen("0.0.0.0:7777", settings);     // or "[::]:7777"
//     NetDriver driver({}, **server, world);
//     every tick:
//         (*server)->tick(now);
//         driver.tick_dispatch(now);  ...  driver.tick_flush(now);
//         (*server)->flush();
//
//     auto client = UdpTransport::connect("203.0.113.7:7777", settings);
//     driver.connect((*client)->server(), now);
//
// Before a server takes a datagram of an address it has that prove that it receives there: it
// answers a request of 1,000 bytes with a cookie of 17, and keeps nothing until the cookie comes
// back. So nobody makes it send more than it was sent, or hold memory, in another's name. With the
// welcome goes a token, by which each end knows the other's datagrams from what others send in its
// name without having read one. A datagram takes nine bytes more on the wire than the driver gave.
// docs/wire_format.md, section 17, has the bytes.
//
// A client takes datagrams only from the address that it connects to. A server that listens on all
// addresses of its host answers each client from the address that the client sends to, where the
// system has IP_PKTINFO and IPV6_RECVPKTINFO, as Linux does. Elsewhere the system chooses the
// address: listen on the one that clients use.
//
// Nothing here is encrypted, and an address that changes is another peer.
#pragma once

#include <replayout/reflection/error.h>
#include <replayout/reflection/memory.h>
#include <replayout/transports/socket_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace replayout {

struct UdpSettings {
    /// Of the driver's, without our nine bytes. 1,200 go through wherever IPv6 does.
    std::size_t datagram_bytes_max = 1'200;
    /// Of a server: addresses that are proved and not forgotten. One more is not welcome.
    std::uint32_t peers_max = 1'024;
    /// Of these, at one address, whatever the ports; of IPv6 at those whose first 64 bits are
    /// alike. 64 are a school, or a provider with few addresses.
    std::uint32_t peers_per_address_max = 64;
    /// What is read of the socket between two calls of tick(), whatever it is.
    std::uint32_t datagrams_per_tick_max = 65'536;
    /// Of a server: a peer that was silent as long, or to which the driver was, is forgotten, and
    /// its address must be proved again. Longer than a driver waits (NetConfig::timeout_ms).
    std::int64_t forget_ms = 30'000;
    /// Likewise, for one that was welcome, until both have spoken.
    std::int64_t handshake_ms = 5'000;
    /// Asked of the system for what waits to be read; it may give less. Bytes.
    std::int32_t receive_buffer_bytes = 4 * 1024 * 1024;
    /// Of a server: the key of its cookies, which nobody else knows. Of a client: of its numbers.
    /// All zeros: the system's randomness gives one.
    std::array<std::byte, 16> secret{};
    MemoryResource* resource = std::pmr::get_default_resource();
};

/// One socket, and one thread. tick() asks, forgets, and grants another datagrams_per_tick_max.
/// What is sent goes out at once, so flush() does nothing; to a peer that is not there, and before
/// a client is welcome, it is lost.
class UdpTransport : public SocketTransport {
  public:
    /// `address` is "1.2.3.4:7777" or "[::1]:7777"; port 0: any. Errors, with what the
    /// system says: LimitExceeded, where the process has no descriptor left, else InvalidArgument;
    /// Unsupported: libsodium does not begin.
    [[nodiscard]] static Result<std::unique_ptr<UdpTransport>> listen(
        std::string_view address, const UdpSettings& settings = {});
    /// A socket of a client, of any port; the server is asked from tick() on. Errors: those of
    /// listen(), and InvalidArgument for "0.0.0.0" and "[::]", which are no address of a server.
    [[nodiscard]] static Result<std::unique_ptr<UdpTransport>> connect(
        std::string_view address, const UdpSettings& settings = {});
    UdpTransport(const UdpTransport&) = delete;
    UdpTransport& operator=(const UdpTransport&) = delete;

    /// Empty: there is no such peer, or it was forgotten.
    [[nodiscard]] virtual std::string address_of(PeerId peer) const = 0;

  private:
    class Socket;  // so that nobody else sees Boost.Asio
    UdpTransport() = default;
};

}  // namespace replayout
