// SPDX-License-Identifier: MIT
//
// A UDP socket that does not block. It can tell at which address of its host a datagram arrived,
// and answer from that address.
//
//     DatagramRoute route;
//     socket.receive(buffer, route, error);  // from route.remote, at route.local
//     socket.send(bytes, route, error);      // to route.remote, from route.local
//
// A socket that is bound to one address sends from that address. If a socket is bound to all
// addresses, the system chooses the source of each datagram, and it need not choose the address
// that the receiver had sent to. A client drops what comes from another address than its server's.
// So a server's socket asks the system where each datagram arrived, and names the source of each
// that it sends: IP_PKTINFO, and IPV6_PKTINFO of RFC 3542, which maps addresses of IPv4. Where the
// system lacks these options, it goes on choosing.
//
// Rejected: one socket for each address of the host, as addresses come and go while a server runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

namespace replayout {

/// Between which addresses a datagram goes, in either direction.
struct DatagramRoute {
    boost::asio::ip::udp::endpoint remote;
    /// An address of this host, without a port. 0.0.0.0 if the system chooses it.
    boost::asio::ip::address local;
};

class DatagramSocket {
  public:
    DatagramSocket() : socket_(context_) {}

    /// Binds the socket. The system may give a smaller buffer. With `answers`, the routes of what
    /// arrives have their `local`, if `bind` stands for all addresses and the system can tell.
    [[nodiscard]] boost::system::error_code open(const boost::asio::ip::udp::endpoint& bind,
                                                 std::int32_t receive_buffer_bytes, bool answers);
    /// How many bytes arrived, cut to the buffer. On an error `route` says nothing.
    [[nodiscard]] std::size_t receive(std::span<std::byte> buffer, DatagramRoute& route,
                                      boost::system::error_code& error);
    void send(std::span<const std::byte> bytes, const DatagramRoute& route,
              boost::system::error_code& error);
    [[nodiscard]] boost::asio::ip::udp::endpoint local_endpoint() const;

  private:
    boost::asio::io_context context_;
    boost::asio::ip::udp::socket socket_;
    bool knows_local_ = false;  // the system tells where datagrams arrive
};

}  // namespace replayout
