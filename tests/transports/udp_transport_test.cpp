// SPDX-License-Identifier: MIT
//
// The UDP transport: who may speak to a server, and what strangers can do to it.
#include <replayout/transports/udp_transport.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/seeded_random.h"
#include "transports/false_server.h"
#include "transports/random_bytes.h"
#include "transports/stranger.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

class Server {
  public:
    explicit Server(UdpSettings settings = {}) {
        auto made = UdpTransport::listen("127.0.0.1:0", settings);
        REQUIRE(made.has_value());
        transport = std::move(*made);
        pump();
    }
    /// What is there is read.
    std::size_t pump(std::int64_t milliseconds = 1) {
        now = now.plus_milliseconds(milliseconds);
        transport->tick(now);
        return receive_all(*transport);
    }

    std::unique_ptr<UdpTransport> transport;
    NetTime now;
};

[[nodiscard]] Bytes ask_twice(Server& server, Stranger& stranger, std::uint64_t client) {
    return stranger.ask_twice(client, [&] { CHECK(server.pump() == 0); });
}

/// The token of one that became a peer.
[[nodiscard]] Bytes join(Server& server, Stranger& stranger, std::uint64_t client) {
    return token_of(ask_twice(server, stranger, client));
}

TEST_CASE("UdpTransport: an address that proved nothing is answered with less than it sent",
          "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    stranger.send(Stranger::request(5, {}));
    CHECK(server.pump() == 0);
    const Bytes challenge = stranger.receive();
    CHECK(challenge.size() == 17);
    CHECK(server.transport->peer_count() == 0);
    // Data of it is not taken.
    stranger.send(Bytes(100));
    CHECK(server.pump() == 0);
    CHECK(server.transport->stats().dropped_unproved == 1);

    stranger.send(Stranger::request(5, cookie_of(challenge)));
    CHECK(server.pump() == 0);
    const Bytes token = token_of(stranger.receive());
    CHECK(server.transport->peer_count() == 1);
    stranger.send(data_of(token, 100));
    CHECK(server.pump() == 1);
}

TEST_CASE("UdpTransport: in a peer's name nobody speaks who does not know its token",
          "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    const Bytes token = join(server, stranger, 5);
    SeededRandom random(8);
    for (int i = 0; i < 1'000; ++i) {
        Bytes forged = data_of(token, random.below(100));
        forged[1 + random.below(8)] ^= std::byte(1 + random.below(255));
        stranger.send(forged);
        stranger.send(data_of(Bytes(8), 10));
        CHECK(server.pump() == 0);
    }
    CHECK(server.transport->stats().dropped_forged == 2'000);
    CHECK(server.transport->stats().datagrams_received == 0);
    // What is forged does not keep a peer that is silent.
    for (int i = 0; i < 40; ++i) {
        stranger.send(data_of(Bytes(8), 10));
        server.pump(1'000);
    }
    CHECK(server.transport->peer_count() == 0);
    const Bytes again = join(server, stranger, 5);
    CHECK(again == token);  // of this address and client, for as long as there is this server
    stranger.send(data_of(again, 1'200));
    CHECK(server.pump() == 1);
    stranger.send(data_of(again, 1'201));
    CHECK(server.pump() == 0);
    CHECK(server.transport->stats().dropped_malformed == 1);
    CHECK(join(server, stranger, 6) != token);  // another client has this address now
    CHECK(server.transport->peer_count() == 1);
    stranger.send(data_of(token, 10));
    CHECK(server.pump() == 0);
}

TEST_CASE("UdpTransport: a client takes nothing but its server's data and answers",
          "[transport][udp]") {
    UdpEnds ends;
    connect_clients(ends);
    Stranger stranger(ends.client(0).local_address());
    SeededRandom random(9);
    for (int i = 0; i < 500; ++i) {
        Bytes bytes = random_bytes(random, random.below(40));
        if (!bytes.empty()) {
            bytes[0] = std::byte(random.below(4));
        }
        stranger.send(bytes);
        ends.advance();
        CHECK(receive_one(ends.client(0)) == Transport::nothing_received);
    }
    CHECK(ends.client(0).is_connected());
}

TEST_CASE("UdpTransport: what is shorter than a token, or longer than a datagram, is none",
          "[transport][udp]") {
    UdpSettings settings;
    settings.datagram_bytes_max = 100;
    Server server(settings);
    Stranger stranger(server.transport->local_address());
    const Bytes token = join(server, stranger, 5);
    for (const std::size_t size : {1u, 2u, 8u, 9u, 10u, 109u, 110u, 500u}) {
        CAPTURE(size);
        Bytes bytes = data_of(token, 500);
        bytes.resize(size);
        const std::uint64_t before = server.transport->stats().dropped_malformed;
        const bool is_good = size >= 9 && size <= 109;
        stranger.send(bytes);
        CHECK(server.pump() == (is_good ? 1 : 0));
        CHECK(server.transport->stats().dropped_malformed - before == (is_good ? 0 : 1));
    }
}

TEST_CASE("UdpTransport: a server answers requests alone", "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    for (const int answer : {2, 3}) {
        stranger.send(handshake_bytes(answer, 5, 0));
        CHECK(server.pump() == 0);
        CHECK(stranger.receive().empty());
    }
    CHECK(server.transport->stats().dropped_malformed == 2);
    // Nor what comes behind one, and is none.
    stranger.send(Stranger::request(5, {}));
    stranger.send(make_bytes(1));
    CHECK(server.pump() == 0);
    CHECK(server.transport->stats().dropped_malformed == 3);
    CHECK(server.transport->stats().challenges_sent == 1);
    CHECK(stranger.receive().size() == 17);
    CHECK(stranger.receive().empty());
}

TEST_CASE("UdpTransport: it tells where a peer is, while there is one", "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    CHECK(server.transport->address_of(PeerId{1}).empty());
    (void)join(server, stranger, 5);
    CHECK(server.transport->address_of(PeerId{1}) == stranger.address());
    CHECK(server.transport->address_of(PeerId{2}).empty());
    server.pump(10'000);
    CHECK(server.transport->peer_count() == 0);
    CHECK(server.transport->address_of(PeerId{1}).empty());
    UdpV6Ends ends;
    connect_clients(ends);
    CHECK(ends.server().address_of(PeerId{1}).find("[::1]:") == 0);
}

TEST_CASE("UdpTransport: to nobody nothing is sent, and nobody is closed", "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    (void)join(server, stranger, 5);
    server.transport->send(PeerId{2}, Bytes(10));
    server.transport->close(PeerId{2});
    CHECK(server.transport->stats().datagrams_sent == 0);
    CHECK(server.transport->stats().send_errors == 0);
    server.transport->send(PeerId{1}, Bytes(10));
    CHECK(server.transport->stats().datagrams_sent == 1);
    CHECK(stranger.receive().size() == 19);
}

TEST_CASE("UdpTransport: whatever strangers send, they are sent less, and nothing is kept of them",
          "[transport][udp]") {
    Server server;
    SeededRandom random(10);
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t requests = 0;
    for (int i = 0; i < 2'000; ++i) {
        Stranger stranger(server.transport->local_address());
        Bytes bytes = Stranger::request(random.below(256), {});
        if (random.percent(50)) {
            bytes.resize(random.between(0, 1'400));
            if (!bytes.empty()) {
                bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] =
                    std::byte(random.below(256));
            }
        } else {
            bytes[9 + random.below(8)] = std::byte(random.below(256));  // a cookie that is none
            ++requests;
        }
        stranger.send(bytes);
        CHECK(server.pump() == 0);
        const Bytes answer = stranger.receive();
        CHECK(answer.size() <= bytes.size());
        bytes_in += bytes.size();
        bytes_out += answer.size();
    }
    CHECK(server.transport->stats().challenges_sent >= requests);
    CHECK(bytes_out == 17 * server.transport->stats().challenges_sent);
    CHECK(bytes_out * 50 <= bytes_in);
    CHECK(server.transport->peer_count() == 0);
}

TEST_CASE("UdpTransport: before an address is proved it takes no memory", "[transport][udp]") {
    CountingResource memory;
    UdpSettings settings;
    settings.resource = &memory;
    Server server(settings);
    const std::uint64_t before = memory.allocation_count();
    for (int i = 0; i < 300; ++i) {
        Stranger stranger(server.transport->local_address());
        stranger.send(Stranger::request(5, {}));
        stranger.send(Bytes(100));
        server.pump();
    }
    CHECK(server.transport->stats().challenges_sent == 300);
    CHECK(memory.allocation_count() == before);
    Stranger stranger(server.transport->local_address());
    (void)join(server, stranger, 5);
    CHECK(memory.allocation_count() > before);
}

TEST_CASE("UdpTransport: one address has so many places, and who leaves gives his back",
          "[transport][udp]") {
    UdpSettings settings;
    settings.peers_per_address_max = 3;
    Server server(settings);
    std::deque<Stranger> strangers;
    std::vector<Bytes> tokens;
    for (std::uint64_t i = 0; i < 3; ++i) {
        Stranger& stranger = strangers.emplace_back(server.transport->local_address());
        tokens.push_back(join(server, stranger, i));
        stranger.send(data_of(tokens.back(), 1));
        CHECK(server.pump() == 1);
    }
    CHECK(server.transport->peer_count() == 3);
    Stranger& late = strangers.emplace_back(server.transport->local_address());
    CHECK(ask_twice(server, late, 3).empty());
    CHECK(server.transport->stats().dropped_full == 1);
    server.transport->close(PeerId{2});  // the driver's connection ended
    server.pump(2'000);
    CHECK(server.transport->peer_count() == 3);  // while it may say goodbye
    for (const std::size_t i : {0u, 2u}) {
        strangers[i].send(data_of(tokens[i], 1));
    }
    CHECK(server.pump() == 2);
    server.pump(2'000);
    CHECK(server.transport->peer_count() == 2);
    (void)join(server, late, 3);
    CHECK(server.transport->peer_count() == 3);
}

TEST_CASE("UdpTransport: who is welcome and says nothing is forgotten sooner", "[transport][udp]") {
    Server server;
    Stranger silent(server.transport->local_address());
    (void)join(server, silent, 1);
    Stranger spoke(server.transport->local_address());
    const Bytes token = join(server, spoke, 2);
    spoke.send(data_of(token, 1));
    CHECK(server.pump() == 1);
    server.transport->send(PeerId{2}, Bytes(1));
    server.pump(4'900);
    CHECK(server.transport->peer_count() == 2);
    server.pump(1'200);
    CHECK(server.transport->peer_count() == 1);
    server.pump(20'000);
    CHECK(server.transport->peer_count() == 1);
    server.pump(10'000);
    CHECK(server.transport->peer_count() == 0);
}

TEST_CASE("UdpTransport: with whom the driver does not speak has no place for long",
          "[transport][udp]") {
    UdpSettings settings;
    settings.peers_max = 1;
    Server server(settings);
    Stranger chatty(server.transport->local_address());
    Bytes token = join(server, chatty, 1);
    for (int i = 0; i < 6; ++i) {  // as if each were no hello
        chatty.send(data_of(token, 1));
        server.pump(1'000);
    }
    CHECK(server.transport->peer_count() == 0);
    // Whose session ended has none either, whatever he says.
    token = join(server, chatty, 2);
    chatty.send(data_of(token, 1));
    CHECK(server.pump() == 1);
    const PeerId peer{2};
    server.transport->send(peer, Bytes(1));
    server.transport->close(peer);
    for (int i = 0; i < 2; ++i) {
        server.transport->send(peer, Bytes(1));  // a goodbye
        chatty.send(data_of(token, 1));
        CHECK(server.pump(1'000) == 1);
    }
    for (int i = 0; i < 4; ++i) {
        chatty.send(data_of(token, 1));
        server.pump(1'000);
    }
    CHECK(server.transport->peer_count() == 0);
    Stranger late(server.transport->local_address());
    CHECK_FALSE(ask_twice(server, late, 3).empty());
}

TEST_CASE("UdpTransport: who begins anew with the same peer is not closed for what ended before",
          "[transport][udp]") {
    Server server;
    Stranger stranger(server.transport->local_address());
    const Bytes token = join(server, stranger, 1);
    stranger.send(data_of(token, 1));
    CHECK(server.pump() == 1);
    server.transport->close(PeerId{1});
    for (int i = 0; i < 10; ++i) {
        stranger.send(data_of(token, 1));
        server.transport->send(PeerId{1}, Bytes(1));
        CHECK(server.pump(1'000) == 1);
    }
    server.pump(10'000);  // a pause of the machine's, longer than goodbyes are waited for
    CHECK(server.transport->peer_count() == 1);
}

TEST_CASE("UdpTransport: a client that begins anew at its address gets in at once",
          "[transport][udp]") {
    UdpSettings settings;
    settings.peers_max = 2;
    Server server(settings);
    Stranger other(server.transport->local_address());
    const Bytes others = join(server, other, 9);
    Stranger stranger(server.transport->local_address());
    const Bytes before = join(server, stranger, 1);
    stranger.send(data_of(before, 1));
    CHECK(server.pump() == 1);
    const Bytes after = join(server, stranger, 2);  // another process, another number
    CHECK(after != before);
    stranger.send(data_of(after, 1));
    other.send(data_of(others, 1));
    CHECK(server.pump() == 2);
    stranger.send(data_of(before, 1));
    CHECK(server.pump() == 0);
    CHECK(server.transport->peer_count() == 2);
}

TEST_CASE("UdpTransport: a client that was closed asks again when something is sent to its server",
          "[transport][udp]") {
    UdpEnds ends;
    connect_clients(ends);
    ends.client(0).close(ends.server_peer(0));
    const auto pump = [&](int ticks) {
        std::size_t got = 0;
        for (int i = 0; i < ticks; ++i) {
            ends.advance();
            got += receive_all(ends.server());
            (void)receive_one(ends.client(0));
        }
        return got;
    };
    (void)pump(3'100);
    CHECK_FALSE(ends.client(0).is_connected());
    (void)pump(8'000);
    CHECK_FALSE(ends.client(0).is_connected());
    CHECK(ends.server().peer_count() == 0);
    ends.client(0).send(ends.server_peer(0), Bytes(7));  // lost
    (void)pump(300);
    CHECK(ends.client(0).is_connected());
    ends.client(0).send(ends.server_peer(0), Bytes(7));
    CHECK(pump(10) == 1);
}

TEST_CASE("UdpTransport: a cookie is good for its address, its client and a while",
          "[transport][udp]") {
    Server server;
    Stranger first(server.transport->local_address());
    Stranger second(server.transport->local_address());
    first.send(Stranger::request(5, {}));
    server.pump();
    const Bytes cookie = cookie_of(first.receive());
    second.send(Stranger::request(5, cookie));
    server.pump();
    CHECK(server.transport->peer_count() == 0);  // another address
    first.send(Stranger::request(6, cookie));
    server.pump();
    CHECK(server.transport->peer_count() == 0);  // another client
    first.send(Stranger::request(5, cookie));
    server.pump(21'000);
    CHECK(server.transport->peer_count() == 0);  // too late
    (void)join(server, first, 5);
    CHECK(server.transport->peer_count() == 1);
}

TEST_CASE("UdpTransport: garbage on the port harms nobody, and is counted", "[transport][udp]") {
    UdpEnds ends;
    connect_clients(ends);
    Stranger stranger(ends.server().local_address());
    SeededRandom random(3);
    std::uint64_t answered = 0;
    for (int i = 0; i < 2'000; ++i) {
        Bytes bytes = random_bytes(random, random.below(1'400));
        if (!bytes.empty() && random.percent(50)) {
            bytes[0] = std::byte(random.below(5));
        }
        stranger.send(bytes);
        if (i % 32 == 0) {
            ends.advance();
            CHECK(receive_one(ends.server()) == Transport::nothing_received);
        }
        answered += stranger.receive().empty() ? 0u : 1u;
    }
    CHECK(ends.server().peer_count() == 1);
    ends.advance();
    CHECK(receive_one(ends.server()) == Transport::nothing_received);
    const SocketStats& stats = ends.server().stats();
    // The client's own request was challenged once, too.
    CHECK(stats.dropped_malformed + stats.dropped_unproved + stats.challenges_sent == 2'000 + 1);
    CHECK(answered <= stats.challenges_sent);
    check_heard(ends);
}

TEST_CASE("UdpTransport: between two ticks it reads so many datagrams, whatever they are",
          "[transport][udp]") {
    UdpSettings settings;
    settings.datagrams_per_tick_max = 10;
    Server server(settings);
    Stranger stranger(server.transport->local_address());
    for (int i = 0; i < 25; ++i) {
        stranger.send({});
    }
    server.pump();
    CHECK(server.transport->stats().dropped_malformed == 10);
    server.pump();
    server.pump();
    CHECK(server.transport->stats().dropped_malformed == 25);
}

TEST_CASE("UdpTransport: there is an end to peers, and who is silent is forgotten",
          "[transport][udp]") {
    UdpSettings settings;
    settings.peers_max = 2;
    Server server(settings);
    std::deque<Stranger> strangers;
    std::vector<Bytes> answers;
    for (std::uint64_t i = 0; i < 3; ++i) {
        Stranger& stranger = strangers.emplace_back(server.transport->local_address());
        answers.push_back(ask_twice(server, stranger, i));
        if (i < 2) {
            stranger.send(data_of(token_of(answers[i]), 1));
            CHECK(server.pump() == 1);
            server.transport->send(PeerId{i + 1}, Bytes(1));
        }
    }
    CHECK(answers[2].empty());
    CHECK(server.transport->peer_count() == 2);
    CHECK(server.transport->stats().dropped_full == 1);
    server.pump(20'000);
    strangers[0].send(data_of(token_of(answers[0]), 1));
    CHECK(server.pump() == 1);
    server.transport->send(PeerId{1}, Bytes(1));
    server.pump(15'000);
    CHECK(server.transport->peer_count() == 1);
    CHECK(server.transport->stats().peers_forgotten == 1);
}

}  // namespace
}  // namespace replayout::test
