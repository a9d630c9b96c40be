// SPDX-License-Identifier: MIT
//
// Datagrams over WebSockets (RFC 6455), over Boost.Beast: for browsers, and where nothing but HTTP
// goes through. Each datagram is a binary message.
//
//     auto server = WebSocketTransport::listen("0.0.0.0:8080");
//     new WebSocket("ws://example.net:8080/").binaryType = "arraybuffer";     // in a browser
//
// TCP proves the address, and delivers all of it in order. So nothing is lost but what was never
// sent: while more waits for a client than send_bytes_max, datagrams for it are dropped, and the
// driver, which learns by its acknowledgements, sends what is newer. Not encrypted: put a proxy
// that speaks TLS before it.
#pragma once

#include <replayout/reflection/error.h>
#include <replayout/reflection/memory.h>
#include <replayout/transports/socket_transport.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {

struct WebSocketSettings {
    std::size_t datagram_bytes_max = 1'200;
    /// Of a server: connections, those whose handshake is under way included.
    std::uint32_t peers_max = 1'024;
    /// Of these, from one address, whatever the ports; of IPv6 from those whose first 64 bits are
    /// alike.
    std::uint32_t peers_per_address_max = 64;
    /// Of a server: from the connection of TCP to the answer to its request, which may have 8 KiB
    /// of headers; else it is closed. Milliseconds of the machine's clock.
    std::int64_t handshake_ms = 5'000;
    /// Of a server: a peer that was silent as long, or to which the driver was, is closed; one with
    /// which nobody spoke yet, after handshake_ms. Milliseconds of the ticks' clock. Longer than a
    /// driver waits (NetConfig::timeout_ms).
    std::int64_t forget_ms = 30'000;
    /// That wait to be received; more are dropped.
    std::uint32_t datagrams_waiting_max = 65'536;
    /// Of these, of one connection; then it is not read until some were received, so nothing of it
    /// is lost. 1 at least.
    std::uint32_t datagrams_waiting_per_peer_max = 4'096;
    /// The same in bytes, each counted as datagram_bytes_max. One datagram may wait in any case.
    std::size_t waiting_bytes_per_peer_max = 512 * 1024;
    /// Likewise, of all connections of one address, and one more of each. 1 at least.
    std::uint32_t datagrams_waiting_per_address_max = 16'384;
    /// Bytes of one connection that wait to be sent. From 16 KiB on, a third of them is the buffer
    /// of the system (SO_SNDBUF), which bounds what goes out in a round trip, and two thirds wait
    /// here: with the default a window of 224 packets of 1,168 bytes. Below 16 KiB, the smallest
    /// buffer of the system, some 5 KB, is added to them.
    std::size_t send_bytes_max = 384 * 1024;
    /// Server: origins of pages that may connect, as browsers send them: "https://example.net",
    /// with the port unless it is the usual one; "*": any. A request without an origin does not
    /// come from a page, and is accepted. A request with another origin is answered with 403
    /// (dropped_origin).
    std::vector<std::string> allowed_origins;
    /// Of received datagrams. Boost.Beast itself takes the heap.
    MemoryResource* resource = std::pmr::get_default_resource();
};

/// One thread, which runs all in tick() and flush().
class WebSocketTransport : public SocketTransport {
  public:
    /// `address` is "1.2.3.4:8080" or "[::1]:8080"; port 0: any. Errors, with what the
    /// system says: LimitExceeded, where the process has no descriptor left, else InvalidArgument.
    [[nodiscard]] static Result<std::unique_ptr<WebSocketTransport>> listen(
        std::string_view address, const WebSocketSettings& settings = {});
    /// Connects to the path "/" of the server, and again a second after it was lost. Errors: those
    /// of listen(), and InvalidArgument for "0.0.0.0" and "[::]", which are no address of a server.
    [[nodiscard]] static Result<std::unique_ptr<WebSocketTransport>> connect(
        std::string_view address, const WebSocketSettings& settings = {});
    WebSocketTransport(const WebSocketTransport&) = delete;
    WebSocketTransport& operator=(const WebSocketTransport&) = delete;

  private:
    class Endpoint;  // so that nobody else sees Boost.Beast
    WebSocketTransport() = default;
};

}  // namespace replayout
