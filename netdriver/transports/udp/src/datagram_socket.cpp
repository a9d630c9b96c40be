// SPDX-License-Identifier: MIT
#if defined(__APPLE__)
#define __APPLE_USE_RFC_3542  // or its headers leave out IPV6_RECVPKTINFO
#endif

#include "datagram_socket.h"

#include "asio_address.h"

#include <boost/asio/ip/v6_only.hpp>

#if !defined(_WIN32)
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#endif

#if !defined(_WIN32) && defined(IP_PKTINFO) && defined(IPV6_RECVPKTINFO)
#define REPLAYOUT_HAS_PACKET_INFO 1
#else
#define REPLAYOUT_HAS_PACKET_INFO 0
#endif

#if REPLAYOUT_HAS_PACKET_INFO
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#endif

namespace replayout {

namespace {

using boost::asio::ip::udp;
using boost::system::error_code;

#if REPLAYOUT_HAS_PACKET_INFO

/// One datagram, as recvmsg() and sendmsg() take it, with room for one control message. It points
/// to the bytes and to the endpoint, which outlive it.
class Message {
  public:
    Message(std::span<std::byte> bytes, udp::endpoint& remote, std::size_t remote_bytes)
        : vector_{bytes.data(), bytes.size()} {
        head_.msg_name = remote.data();
        head_.msg_namelen = static_cast<socklen_t>(remote_bytes);
        head_.msg_iov = &vector_;
        head_.msg_iovlen = 1;
        head_.msg_control = control_.data();
        head_.msg_controllen = control_.size();
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    [[nodiscard]] msghdr& head() noexcept { return head_; }

    /// Where the datagram arrived. 0.0.0.0 if the system does not tell.
    [[nodiscard]] boost::asio::ip::address local() noexcept {
        const cmsghdr* const part = CMSG_FIRSTHDR(&head_);
        if (part == nullptr) {
            return {};
        }
        if (part->cmsg_level == IPPROTO_IP) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(part), sizeof(info));
            return boost::asio::ip::address_v4(ntohl(info.ipi_spec_dst.s_addr));
        }
        in6_pktinfo info{};
        std::memcpy(&info, CMSG_DATA(part), sizeof(info));
        boost::asio::ip::address_v6::bytes_type bytes;
        std::memcpy(bytes.data(), &info.ipi6_addr, bytes.size());
        boost::asio::ip::address_v6 local(bytes);
        if (local.is_link_local()) {  // another interface may have the same one
            local.scope_id(info.ipi6_ifindex);
        }
        return local;
    }

    /// Sets the address of this host from which the datagram is sent.
    void set_local(const boost::asio::ip::address& local) noexcept {
        if (local.is_v6()) {
            const boost::asio::ip::address_v6 address = local.to_v6();
            const auto bytes = address.to_bytes();
            in6_pktinfo info{};
            std::memcpy(&info.ipi6_addr, bytes.data(), bytes.size());
            info.ipi6_ifindex = static_cast<unsigned>(address.scope_id());
            set_control(IPPROTO_IPV6, IPV6_PKTINFO, info);
        } else {
            in_pktinfo info{};
            info.ipi_spec_dst.s_addr = htonl(local.to_v4().to_uint());
            set_control(IPPROTO_IP, IP_PKTINFO, info);
        }
    }

  private:
    template <typename Info>
    void set_control(int level, int type, const Info& info) noexcept {
        head_.msg_controllen = CMSG_SPACE(sizeof(info));
        cmsghdr* const part = CMSG_FIRSTHDR(&head_);
        part->cmsg_level = level;
        part->cmsg_type = type;
        part->cmsg_len = CMSG_LEN(sizeof(info));
        std::memcpy(CMSG_DATA(part), &info, sizeof(info));
    }

    msghdr head_{};
    iovec vector_;
    alignas(cmsghdr) std::array<std::byte, std::max(CMSG_SPACE(sizeof(in_pktinfo)),
                                                    CMSG_SPACE(sizeof(in6_pktinfo)))> control_{};
};

[[nodiscard]] error_code error_of(ssize_t result) {
    return result < 0 ? error_code(errno, boost::asio::error::get_system_category()) : error_code();
}

/// To be called before bind(): where a datagram arrived that came sooner, Linux does not know.
[[nodiscard]] bool ask_for_local_addresses(udp::socket& socket, bool is_v6) {
    const int on = 1;
    return ::setsockopt(socket.native_handle(), is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                        is_v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, &on, sizeof(on)) == 0;
}

[[nodiscard]] std::size_t receive_at_local(udp::socket& socket, std::span<std::byte> buffer,
                                           DatagramRoute& route, error_code& error) {
    Message message(buffer, route.remote, route.remote.capacity());
    const ssize_t size = ::recvmsg(socket.native_handle(), &message.head(), 0);
    error = error_of(size);
    if (error) {
        return 0;
    }
    route.remote.resize(message.head().msg_namelen);
    route.local = message.local();
    return static_cast<std::size_t>(size);
}

void send_from_local(udp::socket& socket, std::span<const std::byte> bytes,
                     const DatagramRoute& route, error_code& error) {
    udp::endpoint remote = route.remote;
    // sendmsg() only reads the bytes, but it takes them by the type that recvmsg() takes.
    Message message({const_cast<std::byte*>(bytes.data()), bytes.size()}, remote, remote.size());
    message.set_local(route.local);
    error = error_of(::sendmsg(socket.native_handle(), &message.head(), 0));
}

#else

[[nodiscard]] bool ask_for_local_addresses(udp::socket&, bool) {
    return false;
}

[[nodiscard]] std::size_t receive_at_local(udp::socket&, std::span<std::byte>, DatagramRoute&,
                                           error_code&) {
    return 0;
}

void send_from_local(udp::socket&, std::span<const std::byte>, const DatagramRoute&, error_code&) {}

#endif

}  // namespace

error_code DatagramSocket::open(const udp::endpoint& bind, std::int32_t receive_buffer_bytes,
                                bool answers) {
    error_code refused;
    socket_.open(bind.protocol(), refused);
    if (refused) {
        return refused;
    }
    error_code ignored;  // the system gives what it gives
    if (bind.address().is_v6()) {
        // One socket for both families, where the system can; else for IPv6 alone.
        socket_.set_option(boost::asio::ip::v6_only(false), ignored);
    }
    socket_.set_option(boost::asio::socket_base::receive_buffer_size(receive_buffer_bytes),
                       ignored);
    knows_local_ = answers && is_all_addresses(bind.address()) &&
                   ask_for_local_addresses(socket_, bind.address().is_v6());
    socket_.bind(bind, refused);
    if (!refused) {
        socket_.non_blocking(true, refused);
    }
    return refused;
}

std::size_t DatagramSocket::receive(std::span<std::byte> buffer, DatagramRoute& route,
                                    error_code& error) {
    return knows_local_ ? receive_at_local(socket_, buffer, route, error)
                        : socket_.receive_from(boost::asio::buffer(buffer.data(), buffer.size()),
                                               route.remote, 0, error);
}

void DatagramSocket::send(std::span<const std::byte> bytes, const DatagramRoute& route,
                          error_code& error) {
    if (route.local.is_unspecified()) {
        socket_.send_to(boost::asio::buffer(bytes.data(), bytes.size()), route.remote, 0, error);
    } else {
        send_from_local(socket_, bytes, route, error);
    }
}

udp::endpoint DatagramSocket::local_endpoint() const {
    error_code error;
    return socket_.local_endpoint(error);
}

}  // namespace replayout
