// SPDX-License-Identifier: MIT
#include <replayout/transports/websocket_transport.h>

#include "asio_address.h"
#include "asio_start.h"
#include "bounded_stream.h"
#include "drive_watch.h"
#include "peer_stay.h"

#include <replayout/netdriver/datagram_pool.h>
#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace replayout {

namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::asio::ip::tcp;
using boost::system::error_code;

/// Who the server is to a client.
constexpr PeerId server_peer{1};
constexpr std::int64_t reconnect_us = 1'000'000;
constexpr std::uint32_t request_bytes_max = 8 * 1024;
/// Bytes read from one connection in a tick: what 54 of the largest datagrams take. So frames that
/// are no datagrams cost a few milliseconds of a tick at most.
constexpr std::size_t read_bytes_max = 64 * 1024;
/// Pings, pongs and closes of one connection in a tick: each is answered, which costs more than to
/// read it. Beyond these, reading goes on in the next tick, except for what Boost.Beast already
/// has.
constexpr std::uint32_t control_frames_max = 64;

constexpr std::string_view kind = "WebSocket";

}  // namespace

class WebSocketTransport::Endpoint final : public WebSocketTransport {
  public:
    [[nodiscard]] static Result<std::unique_ptr<WebSocketTransport>> start(
        std::string_view address, const WebSocketSettings& settings, bool is_server) {
        const Result<tcp::endpoint> endpoint = parse_endpoint<tcp>(kind, address, is_server);
        if (!endpoint) {
            return endpoint.error();
        }
        auto made = make_with_asio<Endpoint>(kind, address, settings, is_server);
        if (!made) {
            return made.error();
        }
        if (!is_server) {
            (*made)->server_ = *endpoint;
        } else if (const error_code refused = (*made)->listen_at(*endpoint)) {
            return start_error(kind, address, refused);
        }
        return std::unique_ptr<WebSocketTransport>(std::move(*made));
    }

    Endpoint(const WebSocketSettings& settings, bool is_server)
        : settings_(settings),
          acceptor_(context_),
          pool_(settings.datagram_bytes_max, settings.resource),
          peer_slots_(settings.peers_max, settings.peers_per_address_max, settings.resource),
          waiting_(settings.resource),
          is_server_(is_server) {}
    ~Endpoint() override {
        for (const ConnectionPointer& connection : connections_) {
            connection->stream.next_layer().abandon();
        }
    }

    void tick(NetTime now) override {
        watch_.ticked();
        now_ = now;
        if (std::exchange(has_failed_to_accept_, false)) {
            accept_next();
        }
        if (!is_server_ && is_wanted_ && connections_.empty() &&
            now.microseconds >= next_connect_us_) {
            next_connect_us_ = now.microseconds + reconnect_us;
            begin_to_connect();
        }
        for (const ConnectionPointer& connection : connections_) {
            connection->control_frames = 0;
            connection->stream.next_layer().grant(read_bytes_max);
        }
        flush();
        end_stays();
    }

    /// What can be done without waiting, and no more of it than a flood is to cost.
    void flush() override {
        context_.restart();
        for (std::uint32_t i = 0; i < settings_.datagrams_waiting_max; ++i) {
            if (context_.poll_one() == 0) {
                return;
            }
        }
    }

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        REPLAYOUT_EXPECT(datagram.size() <= settings_.datagram_bytes_max, void(),
                         "send: a datagram of %zu bytes, and datagram_bytes_max is %zu: send no "
                         "larger ones (Transport::datagram_bytes_max)",
                         datagram.size(), std::size_t{settings_.datagram_bytes_max});
        const auto found = peers_.find(peer);
        if (found == peers_.end()) {
            is_wanted_ = true;
            return;
        }
        Connection& connection = *found->second;
        connection.stay.speak(now_);
        if (connection.outgoing_bytes + datagram.size() >
            settings_.send_bytes_max - socket_bytes_max()) {
            ++stats_.send_errors;
            return;
        }
        connection.outgoing.emplace_back(datagram.begin(), datagram.end());
        connection.outgoing_bytes += datagram.size();
        if (connection.outgoing.size() == 1) {
            write_next(found->second);
        }
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        const std::size_t size =
            watch_.answered(arrived_.receive(pool_, peer, buffer), "WebSocket transport");
        const auto found =
            size == Transport::nothing_received ? waiting_.end() : waiting_.find(peer);
        if (found == waiting_.end()) {
            return size;
        }
        const std::shared_ptr<Address> address = found->second.address;
        --address->waiting;
        if (--found->second.count == 0) {
            waiting_.erase(found);
        }
        if (const auto connection = peers_.find(peer); connection != peers_.end()) {
            go_on_reading(connection->second);
        }
        go_on_with(*address);
        return size;
    }

    void close(PeerId peer) override {
        if (const auto found = peers_.find(peer); found != peers_.end()) {
            found->second->stay.close(now_);
        }
    }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return settings_.datagram_bytes_max;
    }
    [[nodiscard]] PeerId server() const noexcept override { return server_peer; }
    [[nodiscard]] const SocketStats& stats() const noexcept override { return stats_; }
    [[nodiscard]] bool is_connected() const noexcept override {
        return !is_server_ && !peers_.empty();
    }
    [[nodiscard]] std::uint32_t peer_count() const noexcept override {
        return static_cast<std::uint32_t>(peers_.size());
    }
    [[nodiscard]] std::string local_address() const override {
        error_code error;
        return text_of(acceptor_.local_endpoint(error));
    }

  private:
    struct Connection;
    using ConnectionPointer = std::shared_ptr<Connection>;
    /// What the connections of one address have in common, see PeerSlots.
    struct Address {
        std::uint32_t waiting = 0;                      // datagrams that nobody has received yet
        std::deque<std::weak_ptr<Connection>> held_up;  // they read when there is room again
    };
    /// Of one peer, that may have left.
    struct Waiting {
        std::shared_ptr<Address> address;
        std::uint32_t count = 0;
    };
    struct Connection {
        Connection(tcp::socket socket, std::shared_ptr<Address> from)
            : stream(std::move(socket)), address(std::move(from)) {}

        websocket::stream<BoundedStream> stream;
        beast::flat_buffer incoming;
        std::optional<beast::http::request_parser<beast::http::empty_body>> request;
        std::deque<std::vector<std::byte>> outgoing;  // the first is under way
        std::size_t outgoing_bytes = 0;
        PeerId peer;  // 0: its handshake is under way
        std::shared_ptr<Address> address;
        PeerStay stay;
        AddressKey address_key{};
        std::uint32_t control_frames = 0;  // in this tick
        bool is_reading = false;
        bool is_held_up = false;
        bool is_closing = false;  // it is sent the reason, and nothing of it is read any more
    };

    /// Bytes of the system's buffer. These and what waits here are send_bytes_max, unless that is
    /// below 16 KiB: then the system's smallest buffer is added.
    [[nodiscard]] std::size_t socket_bytes_max() const noexcept {
        constexpr std::size_t least = 16 * 1024;
        return settings_.send_bytes_max < least ? 0 : settings_.send_bytes_max / 3;
    }

    void set_up(Connection& connection, beast::role_type role) {
        auto timeout = websocket::stream_base::timeout::suggested(role);
        timeout.handshake_timeout = std::chrono::milliseconds(settings_.handshake_ms);
        connection.stream.set_option(timeout);
        connection.stream.binary(true);
        connection.stream.read_message_max(settings_.datagram_bytes_max);
        connection.stream.control_callback([&connection](websocket::frame_type, auto) {
            if (++connection.control_frames >= control_frames_max) {
                connection.stream.next_layer().exhaust();
            }
        });
        error_code ignored;
        tcp::socket& socket = beast::get_lowest_layer(connection.stream).socket();
        socket.set_option(tcp::no_delay(true), ignored);
        socket.set_option(
            boost::asio::socket_base::send_buffer_size(static_cast<int>(socket_bytes_max())),
            ignored);
    }

    // A server.

    [[nodiscard]] error_code listen_at(const tcp::endpoint& bind) {
        error_code error;
        acceptor_.open(bind.protocol(), error);
        if (!error) {
            acceptor_.set_option(boost::asio::socket_base::reuse_address(true), error);
        }
        if (!error) {
            acceptor_.bind(bind, error);
        }
        if (!error) {
            acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
        }
        if (!error) {
            accept_next();
        }
        return error;
    }

    void accept_next() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            if (error) {
                // Descriptors may have run out: at once it would fail again, for ever.
                has_failed_to_accept_ = true;
                ++stats_.dropped_full;
                return;
            }
            accept(std::move(socket));
            accept_next();
        });
    }

    void accept(tcp::socket socket) {
        error_code error;
        const tcp::endpoint from = socket.remote_endpoint(error);
        if (error) {
            return;  // It has gone already.
        }
        const AddressKey address_key = key_of(from.address());
        if (!peer_slots_.take(address_key)) {
            ++stats_.dropped_full;
            return;
        }
        const auto connection =
            std::make_shared<Connection>(std::move(socket), address_of(address_key));
        connection->address_key = address_key;
        connections_.insert(connection);
        set_up(*connection, beast::role_type::server);
        // Read by ourselves, as Boost.Beast would take 1,536 bytes of it, less than a browser with
        // cookies may send.
        connection->request.emplace();
        connection->request->header_limit(request_bytes_max);
        auto& lowest = beast::get_lowest_layer(connection->stream);
        lowest.expires_after(std::chrono::milliseconds(settings_.handshake_ms));
        beast::http::async_read(lowest, connection->incoming, *connection->request,
                                [this, connection](error_code refused, std::size_t) {
                                    // More than the request before its answer is nobody who waits
                                    // for one.
                                    refused || connection->incoming.size() > 0 ? drop(connection)
                                                                               : answer(connection);
                                });
    }

    /// A browser adds the origin of the page, which the page cannot change; other programs need
    /// none.
    [[nodiscard]] bool is_welcome(const Connection& connection) const {
        const auto& request = connection.request->get();
        const auto origin = request.find(beast::http::field::origin);
        if (origin == request.end()) {
            return true;
        }
        const std::string_view name(origin->value().data(), origin->value().size());
        return std::any_of(
            settings_.allowed_origins.begin(), settings_.allowed_origins.end(),
            [&](const std::string& allowed) { return allowed == "*" || allowed == name; });
    }

    void refuse(const ConnectionPointer& connection) {
        static constexpr std::string_view forbidden =
            "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        ++stats_.dropped_origin;
        boost::asio::async_write(beast::get_lowest_layer(connection->stream),
                                 boost::asio::buffer(forbidden.data(), forbidden.size()),
                                 [this, connection](error_code, std::size_t) { drop(connection); });
    }

    void answer(const ConnectionPointer& connection) {
        if (!is_welcome(*connection)) {
            refuse(connection);
            return;
        }
        beast::get_lowest_layer(connection->stream).expires_never();  // the stream has its own
        connection->stream.async_accept(connection->request->get(),
                                        [this, connection](error_code refused) {
                                            connection->request.reset();
                                            refused ? drop(connection) : add_peer(connection);
                                        });
    }

    // A client.

    void begin_to_connect() {
        const auto connection =
            std::make_shared<Connection>(tcp::socket(context_), address_of(AddressKey{}));
        connections_.insert(connection);
        beast::get_lowest_layer(connection->stream)
            .async_connect(server_, [this, connection](error_code unreachable) {
                if (unreachable) {
                    drop(connection);
                    return;
                }
                set_up(*connection, beast::role_type::client);
                connection->stream.async_handshake(
                    text_of(server_), "/", [this, connection](error_code refused) {
                        refused ? drop(connection) : add_peer(connection);
                    });
            });
    }

    // Both.

    [[nodiscard]] std::shared_ptr<Address> address_of(const AddressKey& address_key) {
        if (addresses_.size() >= 2 * std::size_t{settings_.peers_max}) {
            std::erase_if(addresses_, [](const auto& entry) { return entry.second.expired(); });
        }
        std::weak_ptr<Address>& known = addresses_[PeerSlots::owner_of(address_key)];
        std::shared_ptr<Address> address = known.lock();
        if (address == nullptr) {
            address = std::make_shared<Address>();
            known = address;
        }
        return address;
    }

    void add_peer(const ConnectionPointer& connection) {
        connection->peer = PeerId{is_server_ ? ++last_peer_ : server_peer.value};
        if (!is_server_) {
            arrived_.clear(pool_);  // of the connection before, whose peer had the same id
            waiting_.clear();
            connection->address->waiting = 0;
        }
        peers_[connection->peer] = connection;
        connection->stay = PeerStay(now_);
        ++stats_.peers_welcomed;
        go_on_reading(connection);
    }

    void drop(const ConnectionPointer& connection) {
        if (connections_.erase(connection) == 0) {
            return;
        }
        if (is_server_) {
            peer_slots_.give_back(connection->address_key);
        }
        if (connection->peer != PeerId{}) {
            peers_.erase(connection->peer);
            is_wanted_ = !connection->stay.is_closing();  // it was, or there were no connection
            ++stats_.peers_forgotten;
        }
        connection->stream.next_layer().abandon();
        beast::get_lowest_layer(connection->stream).close();
    }

    /// The peer sent what no peer of ours sends: closes the connection.
    void close_for(const ConnectionPointer& connection, websocket::close_code code) {
        ++stats_.dropped_malformed;
        connection->is_closing = true;
        connection->stream.async_close(code, [this, connection](error_code) { drop(connection); });
    }

    /// Unless too much of it, or of its address, waits: then it is left to TCP to hold the sender
    /// back.
    void go_on_reading(const ConnectionPointer& connection) {
        if (connection->is_reading || connection->is_held_up || connection->is_closing) {
            return;
        }
        const auto own = waiting_.find(connection->peer);
        if (own != waiting_.end() &&
            (own->second.count >= settings_.datagrams_waiting_per_peer_max ||
             (own->second.count + std::size_t{1}) * settings_.datagram_bytes_max >
                 settings_.waiting_bytes_per_peer_max)) {
            return;
        }
        Address& address = *connection->address;
        if (address.waiting >= settings_.datagrams_waiting_per_address_max) {
            address.held_up.push_back(connection);
            connection->is_held_up = true;
            return;
        }
        connection->is_reading = true;
        connection->stream.async_read(
            connection->incoming, [this, connection](error_code error, std::size_t size) {
                connection->is_reading = false;
                if (error) {
                    drop(connection);
                    return;
                }
                if (!connection->stream.got_binary()) {
                    close_for(connection, websocket::close_code::unknown_data);
                    return;
                }
                take(*connection, size);
                connection->incoming.consume(size);
                go_on_reading(connection);
            });
    }

    /// As many as there is room for, should each read no more than one.
    void go_on_with(Address& address) {
        const std::uint32_t most = settings_.datagrams_waiting_per_address_max;
        std::uint32_t room = most - std::min(most, address.waiting);
        for (; room > 0 && !address.held_up.empty(); --room) {
            const ConnectionPointer connection = address.held_up.front().lock();
            address.held_up.pop_front();
            if (connection != nullptr && connections_.contains(connection)) {
                connection->is_held_up = false;
                go_on_reading(connection);
            }
        }
    }

    /// Who was closed, or with whom the driver does not speak.
    void end_stays() {
        const PeerStay::Limits limits =
            is_server_ ? PeerStay::Limits{settings_.handshake_ms, settings_.forget_ms}
                       : PeerStay::Limits{};
        std::vector<ConnectionPointer> over;
        for (const auto& [peer, connection] : peers_) {
            if (connection->stay.is_over(now_, limits)) {
                over.push_back(connection);
            }
        }
        for (const ConnectionPointer& connection : over) {
            drop(connection);
        }
    }

    void take(Connection& connection, std::size_t size) {
        connection.stay.hear(now_);
        if (arrived_.count() >= settings_.datagrams_waiting_max) {
            ++stats_.dropped_full;
        } else {
            ++stats_.datagrams_received;
            Waiting& waiting = waiting_[connection.peer];
            waiting.address = connection.address;
            ++waiting.count;
            ++waiting.address->waiting;
            const auto* bytes = static_cast<const std::byte*>(connection.incoming.cdata().data());
            arrived_.push(pool_, pool_.take(connection.peer, std::span(bytes, size)));
        }
    }

    void write_next(const ConnectionPointer& connection) {
        const std::vector<std::byte>& datagram = connection->outgoing.front();
        connection->stream.async_write(boost::asio::buffer(datagram.data(), datagram.size()),
                                       [this, connection](error_code error, std::size_t) {
                                           if (error) {
                                               drop(connection);
                                               return;
                                           }
                                           ++stats_.datagrams_sent;
                                           connection->outgoing_bytes -=
                                               connection->outgoing.front().size();
                                           connection->outgoing.pop_front();
                                           if (!connection->outgoing.empty()) {
                                               write_next(connection);
                                           }
                                       });
    }

    WebSocketSettings settings_;
    SocketStats stats_;
    bool has_failed_to_accept_ = false;
    // Handlers that are left when it goes are thrown away, and none of them runs.
    boost::asio::io_context context_;
    tcp::acceptor acceptor_;
    DatagramPool pool_;
    DatagramQueue arrived_;
    PeerSlots peer_slots_;
    std::set<ConnectionPointer> connections_;
    std::map<PeerId, ConnectionPointer> peers_;
    std::map<AddressKey, std::weak_ptr<Address>> addresses_;
    std::pmr::map<PeerId, Waiting> waiting_;
    DriveWatch watch_;
    NetTime now_;
    std::uint64_t last_peer_ = 0;
    tcp::endpoint server_;
    std::int64_t next_connect_us_ = std::numeric_limits<std::int64_t>::min();
    bool is_wanted_ = true;  // somebody wants to send
    bool is_server_;
};

Result<std::unique_ptr<WebSocketTransport>> WebSocketTransport::listen(
    std::string_view address, const WebSocketSettings& settings) {
    return Endpoint::start(address, settings, true);
}

Result<std::unique_ptr<WebSocketTransport>> WebSocketTransport::connect(
    std::string_view address, const WebSocketSettings& settings) {
    return Endpoint::start(address, settings, false);
}

}  // namespace replayout
