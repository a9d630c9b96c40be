// SPDX-License-Identifier: MIT
//
// A stranger's TCP connection at a WebSocket server: the request of the upgrade, and frames. What
// is given to the driver is at most as large as a datagram and no more than was sent; nothing is
// said before it asked; a client that was there before is still there, and is heard.
//
//     u8: bit 0, a good request first   then of each piece: u8 how, u16 bytes, the bytes
//
// How: bit 0, as the payload of one frame, masked with zeros, of the opcode in the upper four bits;
// bit 1, the last of its message; bits 2 and 3, reserved bits of the frame. Else the bytes as they
// are.
#include <replayout/transports/websocket_transport.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"

namespace replayout::test {
namespace {

constexpr std::size_t pieces_max = 16;
constexpr std::size_t datagram_bytes_max = 1'200;
constexpr std::string_view good_request =
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n";

[[nodiscard]] Bytes bytes_of(std::string_view text) {
    return to_bytes(std::as_bytes(std::span(text)));
}

/// Opcode in the lower four bits, the last of its message in bit 7.
[[nodiscard]] Bytes frame(std::uint8_t head, std::span<const std::byte> payload) {
    FuzzSeed bytes;
    bytes.number(head, 1);
    if (payload.size() < 126) {
        bytes.number(0x80 | payload.size(), 1);
    } else {
        bytes.number(0x80 | 126, 1);
        bytes.number(payload.size() >> 8, 1).number(payload.size(), 1);
    }
    return bytes.number(0, 4).add(payload).bytes;
}

/// A TCP connection that says what it likes.
class Caller {
  public:
    explicit Caller(const std::string& server) : socket_(context_) {
        const auto port =
            static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
        socket_.non_blocking(true);
    }
    void send(const Bytes& bytes) {
        boost::system::error_code error;
        socket_.send(boost::asio::buffer(bytes.data(), bytes.size()), 0, error);
    }
    [[nodiscard]] std::size_t drain() {
        std::size_t count = 0;
        boost::system::error_code error;
        do {
            char buffer[512];
            count += socket_.receive(boost::asio::buffer(buffer), 0, error);
        } while (!error);
        return count;
    }

  private:
    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
};

class Target {
  public:
    Target() {
        auto made = WebSocketTransport::listen("127.0.0.1:0");
        REQUIRE(made.has_value());
        server_ = std::move(*made);
        auto connected = WebSocketTransport::connect(server_->local_address());
        REQUIRE(connected.has_value());
        client_ = std::move(*connected);
        for (int i = 0; i < 10'000 && (server_->peer_count() == 0 || !client_->is_connected());
             ++i) {
            pass();
        }
        is_heard();
        caller_ = std::make_unique<Caller>(server_->local_address());
        pass();
    }

    void say(const Bytes& bytes) {
        sent_bytes_ += bytes.size();
        caller_->send(bytes);
        for (int i = 0; i < 4; ++i) {
            pass();
        }
        const std::size_t answered = caller_->drain();
        REQUIRE((sent_bytes_ > 0 || answered == 0));
        REQUIRE(taken_bytes_ <= sent_bytes_);
        REQUIRE(server_->peer_count() <= 2);
    }
    void finish() {
        is_heard();
        caller_.reset();
        for (int i = 0; i < 10'000 && server_->peer_count() > 1; ++i) {
            pass();
        }
        REQUIRE(server_->peer_count() == 1);
        is_heard();
    }

  private:
    void pass() {
        now_ = now_.plus_milliseconds(1);
        client_->tick(now_);
        client_->flush();
        server_->tick(now_);
        server_->flush();
        Bytes buffer(4'096);
        PeerId peer;
        for (std::size_t size = server_->receive(peer, buffer); size != Transport::nothing_received;
             size = server_->receive(peer, buffer)) {
            REQUIRE(size <= datagram_bytes_max);
            if (peer == PeerId{1}) {
                REQUIRE(to_bytes(std::span(buffer).first(size)) == said_);
                ++heard_;
            } else {
                taken_bytes_ += size;
            }
        }
    }
    void is_heard() {
        const std::size_t before = heard_;
        said_ = make_bytes(5, 6, static_cast<unsigned>(heard_ & 0xFF));
        client_->send(client_->server(), said_);
        for (int i = 0; i < 10'000 && heard_ == before; ++i) {
            pass();
        }
        REQUIRE(heard_ == before + 1);
    }

    std::unique_ptr<WebSocketTransport> server_;
    std::unique_ptr<WebSocketTransport> client_;
    std::unique_ptr<Caller> caller_;
    NetTime now_;
    Bytes said_;
    std::size_t heard_ = 0;
    std::size_t sent_bytes_ = 0;
    std::size_t taken_bytes_ = 0;
};

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    const Bytes payload = make_bytes(1, 2, 3, 4);
    for (const std::uint64_t opcode : {0u, 1u, 2u, 8u, 9u, 10u}) {
        for (const std::uint64_t last : {0u, 1u}) {
            FuzzSeed seed;
            seed.number(1, 1);
            for (int i = 0; i < 2; ++i) {
                seed.number(1 | last << 1 | opcode << 4, 1).number(payload.size(), 2).add(payload);
            }
            seeds.push_back(seed.bytes);
        }
    }
    const Bytes large(datagram_bytes_max + 1);
    seeds.push_back(
        FuzzSeed().number(1, 1).number(0x23, 1).number(large.size(), 2).add(large).bytes);
    const Bytes request = bytes_of(good_request);
    seeds.push_back(FuzzSeed().number(0, 2).number(request.size(), 2).add(request).bytes);
    const Bytes whole = frame(0x82, payload);
    seeds.push_back(FuzzSeed().number(1, 2).number(whole.size(), 2).add(whole).bytes);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    Target target;
    if ((input.byte() & 1) != 0) {
        target.say(bytes_of(good_request));
    }
    for (std::size_t i = 0; i < pieces_max && !input.is_empty(); ++i) {
        const std::uint8_t how = input.byte();
        const auto bytes = input.take(input.number(2));
        if ((how & 1) == 0) {
            target.say(replayout::to_bytes(bytes));
        } else {
            const auto head =
                static_cast<std::uint8_t>((how >> 4) | (how & 2) << 6 | (how & 0xC) << 2);
            target.say(frame(head, bytes));
        }
    }
    target.finish();
    return 0;
}
