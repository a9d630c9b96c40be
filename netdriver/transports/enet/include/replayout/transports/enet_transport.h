// SPDX-License-Identifier: MIT
//
// Datagrams over ENet 1.3, for who has ENet in his game already. Each goes as an unsequenced
// packet; ENet's own reliability, order and channels are not used, and its throttle, which would
// drop datagrams before they are sent, is off. IPv4 alone, as ENet is.
//
//     auto server = EnetTransport::listen("0.0.0.0:7777");
//     auto client = EnetTransport::connect("203.0.113.7:7777");
//
// A client takes datagrams only from the address that it connects to, and ENet cannot choose the
// address that it sends from. So a server that listens on "0.0.0.0" is reached only at the address
// from which its system sends to the client, which is the primary one of the interface. Listen on
// the address that clients use if the host has several.
//
// ENet begins to keep something of an address with the first packet that asks to connect. Here it
// sees none before the address is proved, as udp_transport.h has it, nor one that asks to connect
// without what the welcome told; so no client of other makers can connect. Its checksum is on,
// which holds a number that only the two ends of a connection know: what others send in a peer's
// name is dropped.
#pragma once

#include <replayout/reflection/error.h>
#include <replayout/reflection/memory.h>
#include <replayout/transports/socket_transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace replayout {

struct EnetSettings {
    /// Beyond 1,300 ENet would cut datagrams and send the parts reliably.
    std::size_t datagram_bytes_max = 1'200;
    std::uint32_t peers_max = 1'024;  ///< of a server; at most 4,095
    /// Of these, at one address, whatever the ports.
    std::uint32_t peers_per_address_max = 64;
    /// That wait between two calls of tick(); more are dropped.
    std::uint32_t datagrams_per_tick_max = 65'536;
    /// Datagrams of one peer that a server takes in a tick. It drops the others
    /// (SocketStats::dropped_full) before ENet looks at them, which costs far more than to read
    /// them. A client sends a few in each of its frames, so this is a stall of many seconds.
    std::uint32_t datagrams_per_peer_max = 1'024;
    /// Of a server: a peer that was silent as long, or to which the driver was, is forgotten, and
    /// its address must be proved again. Longer than a driver waits (NetConfig::timeout_ms).
    std::int64_t forget_ms = 30'000;
    /// Likewise, for an address that did not connect, and a peer with which nobody spoke yet.
    std::int64_t handshake_ms = 5'000;
    std::int32_t receive_buffer_bytes = 4 * 1024 * 1024;
    /// As UdpSettings::secret.
    std::array<std::byte, 16> secret{};
    /// ENet itself takes the heap.
    MemoryResource* resource = std::pmr::get_default_resource();
};

/// One ENet host, and one thread. tick() takes what has arrived, and lets ENet do what it must.
/// What is sent to a peer that is not there is lost.
class EnetTransport : public SocketTransport {
  public:
    /// `address` is "1.2.3.4:7777"; port 0: any. Errors: InvalidArgument, whatever the system
    /// says, as ENet does not tell; Unsupported: libsodium does not begin.
    [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> listen(
        std::string_view address, const EnetSettings& settings = {});
    /// Errors: those of listen(), and InvalidArgument for "0.0.0.0", which is no address of a
    /// server.
    [[nodiscard]] static Result<std::unique_ptr<EnetTransport>> connect(
        std::string_view address, const EnetSettings& settings = {});
    EnetTransport(const EnetTransport&) = delete;
    EnetTransport& operator=(const EnetTransport&) = delete;

  private:
    class Host;  // so that nobody else sees ENet
    EnetTransport() = default;
};

}  // namespace replayout
