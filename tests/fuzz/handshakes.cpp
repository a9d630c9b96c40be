// SPDX-License-Identifier: MIT
//
// Strangers at the socket of a server, over UDP or ENet. Whose address is not proved is sent no
// more than it sent, answer by answer, and nothing is kept of it; only who sends its token is
// taken, and exactly what he sent; there are no more peers than addresses that were proved; and a
// client that was there before is still there, and is heard.
//
//     u8: bit 0, ENet   then of each step: u8 what, u8 who
//
// What: 0, u16 bytes, the bytes as they are; 1, a request with the last cookie; 2, u16 bytes, the
// bytes behind the last token; 3, u8 milliseconds pass; 4, u8, u16 bytes, the bytes filled up to a
// request, with the last cookie changed by the number; 5, u16 bytes, the bytes with the checksum of
// ENet.
#include <replayout/transports/enet_transport.h>
#include <replayout/transports/udp_transport.h>

#include <cstring>
#include <memory>
#include <optional>

#include <enet/enet.h>

#include "address_handshake.h"
#include "fuzz/fuzz_target.h"
#include "support/checks/counting_resource.h"
#include "transports/stranger.h"

namespace replayout::test {
namespace {

constexpr std::size_t steps_max = 48;
constexpr std::size_t stranger_count = 2;
constexpr std::size_t datagram_bytes_max = 1'200;
constexpr std::int64_t memory_bytes_max = 256 * 1'024;

enum What : std::uint8_t { as_it_is, request, data, time_passes, padded, checked, what_count };

/// One of an address of its own, and what the server told it.
struct Visitor {
    explicit Visitor(const std::string& server) : line(server) {}

    Stranger line;
    Bytes cookie = Bytes(8);
    std::optional<Bytes> token;
};

template <typename Transport>
[[nodiscard]] std::unique_ptr<Transport> listen(MemoryResource& memory) {
    auto settings = [] {
        if constexpr (std::is_same_v<Transport, UdpTransport>) {
            return UdpSettings();
        } else {
            return EnetSettings();
        }
    }();
    settings.secret[0] = std::byte{7};
    settings.peers_max = 8;
    settings.resource = &memory;
    auto made = Transport::listen("127.0.0.1:0", settings);
    REQUIRE(made.has_value());
    return std::move(*made);
}

template <typename Transport>
class Target {
  public:
    Target() : server_(listen<Transport>(memory_)) {
        auto made = Transport::connect(server_->local_address());
        REQUIRE(made.has_value());
        client_ = std::move(*made);
        for (int i = 0; i < 1'000 && !client_->is_connected(); ++i) {
            pass(1);
        }
        REQUIRE(client_->is_connected());
        for (std::size_t i = 0; i < stranger_count; ++i) {
            visitors_.push_back(std::make_unique<Visitor>(server_->local_address()));
        }
        is_heard();
    }

    void step(FuzzInput& input) {
        const std::uint8_t what = input.byte() % what_count;
        Visitor& visitor = *visitors_[input.byte() % stranger_count];
        if (what == time_passes) {
            pass(input.byte());
            is_heard();  // a peer of which one side says nothing is let go after a while
            return;
        }
        visitor.line.drop_all();
        const Bytes datagram = datagram_of(what, visitor, input);
        if (!datagram.empty()) {
            say(visitor, datagram);
        }
    }

    void finish() {
        is_heard();
        REQUIRE(client_->is_connected());
        client_.reset();
        server_.reset();
        REQUIRE(memory_.blocks_in_use() == 0);
    }

  private:
    [[nodiscard]] static Bytes datagram_of(std::uint8_t what, const Visitor& visitor,
                                           FuzzInput& input) {
        if (what == request) {
            return Stranger::request(5, visitor.cookie);
        }
        const std::byte change = what == padded ? std::byte{input.byte()} : std::byte{0};
        Bytes bytes = to_bytes(input.take(input.number(2) % 1'600));
        switch (what) {
            case data:
                return with(data_of(visitor.token.value_or(Bytes(8)), 0), bytes);
            case padded:
                bytes.resize(address_request_bytes);
                std::copy(visitor.cookie.begin(), visitor.cookie.end(), bytes.begin() + 9);
                bytes[9] ^= change;
                return bytes;
            case checked:
                return with_checksum(bytes);
            default:
                return bytes;
        }
    }
    [[nodiscard]] static Bytes with(Bytes head, const Bytes& bytes) {
        head.insert(head.end(), bytes.begin(), bytes.end());
        return head;
    }
    /// As ENet makes it where it knows no peer.
    [[nodiscard]] static Bytes with_checksum(Bytes bytes) {
        if (bytes.size() >= 8) {
            std::memset(bytes.data() + 4, 0, 4);
            ENetBuffer buffer{};
            buffer.data = bytes.data();
            buffer.dataLength = bytes.size();
            const enet_uint32 sum = enet_crc32(&buffer, 1);
            std::memcpy(bytes.data() + 4, &sum, sizeof(sum));
        }
        return bytes;
    }

    void say(Visitor& visitor, const Bytes& datagram) {
        const bool was_proved = visitor.token.has_value();
        const std::uint64_t allocations = memory_.allocation_count();
        const std::uint32_t peers = server_->peer_count();
        visitor.line.send(datagram);
        server_->tick(now_);
        read(&visitor, datagram);
        server_->flush();
        std::size_t bytes_back = 0;
        for (Bytes answer = visitor.line.receive(); !answer.empty();
             answer = visitor.line.receive()) {
            bytes_back += answer.size();
            hear(visitor, answer);
        }
        REQUIRE((was_proved || bytes_back <= datagram.size()));
        if (!was_proved && !visitor.token) {
            REQUIRE(memory_.allocation_count() == allocations);
            REQUIRE(server_->peer_count() == peers);
        }
        REQUIRE(server_->peer_count() <= 1 + proved_count());
        REQUIRE(memory_.bytes_in_use_max() <= memory_bytes_max);
    }

    static void hear(Visitor& visitor, const Bytes& answer) {
        const auto handshake = read_address_handshake(answer);
        if (!handshake || handshake->message == AddressMessage::Request) {
            return;
        }
        const Bytes told(answer.begin() + 9, answer.end());
        if (handshake->message == AddressMessage::Challenge) {
            visitor.cookie = told;
        } else {
            visitor.token = told;
        }
    }

    /// All that the server gives its driver: of UDP it is what was said behind a token.
    void read(const Visitor* visitor, const Bytes& datagram) {
        Bytes buffer(2'048);
        PeerId peer;
        for (std::size_t size = server_->receive(peer, buffer);
             size != replayout::Transport::nothing_received;
             size = server_->receive(peer, buffer)) {
            REQUIRE(size <= datagram_bytes_max);
            if (peer == client_peer_ || client_peer_ == PeerId{}) {
                client_peer_ = peer;
                REQUIRE(is_same(std::span(buffer).first(size), said_));
                server_->send(peer, said_);
                ++heard_;
                continue;
            }
            if (std::is_same_v<Transport, UdpTransport>) {
                REQUIRE((visitor != nullptr && visitor->token.has_value()));
                REQUIRE(is_same(std::span(std::as_const(datagram)).first(9),
                                data_of(*visitor->token, 0)));
                REQUIRE(is_same(std::span(buffer).first(size), std::span(datagram).subspan(9)));
            }
        }
    }
    [[nodiscard]] static bool is_same(std::span<const std::byte> left,
                                      std::span<const std::byte> right) {
        return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }

    void pass(std::int64_t milliseconds) {
        now_ = now_.plus_milliseconds(milliseconds);
        client_->tick(now_);
        client_->flush();
        server_->tick(now_);
        read(nullptr, {});
        server_->flush();
        Bytes buffer(2'048);
        PeerId peer;
        while (client_->receive(peer, buffer) != replayout::Transport::nothing_received) {
        }
    }

    /// What the client says arrives.
    void is_heard() {
        const std::size_t before = heard_;
        said_ = make_bytes(1, 2, 3, static_cast<unsigned>(heard_ & 0xFF));
        for (int i = 0; i < 200 && heard_ == before; ++i) {
            client_->send(client_->server(), said_);
            pass(1);
        }
        REQUIRE(heard_ > before);
    }
    [[nodiscard]] std::size_t proved_count() const {
        return static_cast<std::size_t>(
            std::count_if(visitors_.begin(), visitors_.end(),
                          [](const auto& visitor) { return visitor->token.has_value(); }));
    }

    CountingResource memory_;
    std::unique_ptr<Transport> server_;
    std::unique_ptr<Transport> client_;
    std::vector<std::unique_ptr<Visitor>> visitors_;
    NetTime now_ = NetTime::from_milliseconds(1'000);
    PeerId client_peer_;
    Bytes said_;
    std::size_t heard_ = 0;
};

template <typename Transport>
void run(FuzzInput& input) {
    Target<Transport> target;
    for (std::size_t i = 0; i < steps_max && !input.is_empty(); ++i) {
        target.step(input);
    }
    target.finish();
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    for (const std::uint64_t transport : {0u, 1u}) {
        FuzzSeed seed;
        seed.number(transport, 1);
        const auto say = [&seed](What what, std::uint64_t who, const Bytes& bytes) {
            seed.number(what, 1).number(who, 1).number(bytes.size(), 2).add(bytes);
        };
        say(as_it_is, 0, Stranger::request(5, {}));
        seed.number(request, 1).number(0, 1);
        say(data, 0, make_bytes(9, 8, 7));
        say(data, 1, make_bytes(9, 8, 7));
        seed.number(padded, 1).number(1, 1).number(1, 1).number(2, 2).add(make_bytes(1, 5));
        seed.number(time_passes, 1).number(0, 1).number(200, 1);
        Bytes connect(8 + sizeof(ENetProtocolConnect));
        connect[0] = std::byte{0x8F};
        connect[1] = std::byte{0xFF};
        connect[8] = std::byte{0x82};
        connect[9] = std::byte{0xFF};
        say(checked, 0, connect);
        seeds.push_back(seed.bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout;
    using namespace replayout::test;
    FuzzInput input(data, size);
    if ((input.byte() & 1) != 0) {
        run<EnetTransport>(input);
    } else {
        run<UdpTransport>(input);
    }
    return 0;
}
