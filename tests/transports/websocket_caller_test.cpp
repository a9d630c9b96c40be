// SPDX-License-Identifier: MIT
//
// The WebSocket transport: connections that say by hand what no client would, break off, or are
// held up; and clients that nobody answers.
#include <replayout/transports/websocket_transport.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "transports/caller.h"
#include "transports/transport_ends.h"

namespace replayout::test {
namespace {

using namespace std::string_literals;

class CalledServer {
  public:
    explicit CalledServer(const WebSocketSettings& settings = {})
        : transport(required(WebSocketTransport::listen("127.0.0.1:0", settings))) {}

    void tick(std::int64_t milliseconds = 1) {
        now = now.plus_milliseconds(milliseconds);
        transport->tick(now);
    }
    /// Whether that came true; the machine takes the time that it takes.
    template <typename IsDone>
    [[nodiscard]] bool tick_until(IsDone is_done) {
        const auto begin = std::chrono::steady_clock::now();
        while (!is_done() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
            tick(0);
        }
        return is_done();
    }
    /// Its peers are numbered as they come.
    void join(Caller& caller) {
        const std::uint64_t before = transport->stats().peers_welcomed;
        caller.say(browser_request());
        REQUIRE(tick_until([&] { return transport->stats().peers_welcomed > before; }));
    }
    [[nodiscard]] bool has_received(std::uint64_t count) {
        return tick_until([&] { return transport->stats().datagrams_received >= count; }) &&
               transport->stats().datagrams_received == count;
    }
    /// The size of what the driver is given; nothing_received if nothing.
    std::size_t receive() { return receive_one(*transport); }
    [[nodiscard]] std::string address() const { return transport->local_address(); }

    std::unique_ptr<WebSocketTransport> transport;
    NetTime now;
};

/// A frame without content, masked as frames to a server are.
void append_frame(Bytes& bytes, int head) {
    const Bytes frame = make_bytes(head, 0x80, 0, 0, 0, 0);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
}

/// A request of a page from there.
[[nodiscard]] std::string request_from(const std::string& origin) {
    std::string request = browser_request();
    request.insert(request.size() - 2, "Origin: " + origin + "\r\n");
    return request;
}

TEST_CASE("WebSocketTransport: text closes the connection", "[transport][websocket]") {
    CalledServer server;
    Caller caller(server.address());
    server.join(caller);
    Caller other(server.address());
    server.join(other);
    caller.say_message(Caller::text_message, Bytes(3, std::byte{'a'}));
    caller.say_message(Caller::binary_message, Bytes(4));
    CHECK(server.tick_until([&] { return server.transport->stats().dropped_malformed == 1; }));
    // The caller is sent the reason, and may answer; anything else that it sends is thrown away.
    const Bytes close = make_bytes(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xeb);
    caller.send(close);
    CHECK(server.tick_until([&] { return server.transport->peer_count() == 1; }));
    CHECK(caller.is_closed());
    CHECK(server.transport->stats().datagrams_received == 0);
    other.say_message(Caller::binary_message, Bytes(5));
    CHECK(server.has_received(1));
    CHECK(server.receive() == 5);
}

TEST_CASE(
    "WebSocketTransport: pings, pongs and empty fragments of one connection are read a "
    "little in each tick",
    "[transport][websocket][hostile]") {
    constexpr int frame_count = 50'000;  // of 6 bytes
    for (const int head : {0x89, 0x8a, 0x00}) {
        INFO("head " << head);
        CalledServer server;
        Caller flood(server.address());
        server.join(flood);
        Caller honest(server.address());
        server.join(honest);
        Bytes bytes;
        const bool is_fragment = head == 0;
        if (is_fragment) {
            append_frame(bytes, 0x02);
        }
        for (int i = 0; i < frame_count; ++i) {
            append_frame(bytes, head);
        }
        const Bytes last = is_fragment ? make_bytes(0x80, 0x81, 0, 0, 0, 0, 7)
                                       : make_bytes(0x82, 0x81, 0, 0, 0, 0, 7);
        bytes.insert(bytes.end(), last.begin(), last.end());
        flood.send(bytes);
        honest.say_message(Caller::binary_message, Bytes(9));
        int ticks = 0;
        CHECK(server.tick_until([&] {
            ++ticks;
            return server.transport->stats().datagrams_received >= 1;
        }));
        CHECK(server.receive() == 9);
        CHECK(ticks < 5);
        // All of it is read in the end, 64 KiB at a time at most.
        CHECK(server.tick_until([&] {
            ++ticks;
            (void)flood.is_closed();  // what the server answers is taken
            return server.transport->stats().datagrams_received >= 2;
        }));
        CHECK(server.receive() == 1);
        CHECK(ticks > frame_count * 6 / (64 * 1'024));
    }
}

TEST_CASE("WebSocketTransport: while one connection floods, the others are heard in each tick",
          "[transport][websocket][hostile]") {
    constexpr int tick_count = 30;
    constexpr int frames_in_tick = 2'700;  // 16 KB
    // The pings of a tick, and those that Boost.Beast already has: 4 KiB of 6 bytes each.
    constexpr std::uint64_t answers_in_tick = 64 + 4'096 / 6;
    for (const int head : {0x89, 0x8a, 0x00, 0x81}) {  // pings, pongs, fragments, texts
        INFO("head " << head);
        CalledServer server;
        Caller flood(server.address());
        server.join(flood);
        (void)flood.take_answers();
        Caller honest(server.address());
        server.join(honest);
        Bytes bytes;
        if (head == 0x00) {
            append_frame(bytes, 0x02);
        }
        int heard_count = 0;
        const auto hear = [&] { heard_count += static_cast<int>(receive_all(*server.transport)); };
        std::uint64_t answer_bytes = 0;
        for (int i = 0; i < tick_count; ++i) {
            for (int frame = 0; frame < frames_in_tick; ++frame) {
                append_frame(bytes, head);
            }
            flood.send(bytes);
            bytes.clear();
            honest.say_message(Caller::binary_message, Bytes(9));
            server.tick(33);
            hear();
            answer_bytes += flood.take_answers();
            CHECK(heard_count >= i - 4);  // of i + 1, as the system has its own time
        }
        CHECK(server.tick_until([&] {
            hear();
            return heard_count == tick_count;
        }));
        if (head == 0x89) {
            constexpr std::uint64_t pong_bytes = 2;
            CHECK(answer_bytes > 0);
            CHECK(answer_bytes <= pong_bytes * answers_in_tick * tick_count);
        }
        if (head == 0x81) {
            CHECK(server.tick_until([&] { return server.transport->peer_count() == 1; }));
        }
    }
}

TEST_CASE("WebSocketTransport: a page of another origin is refused, a request without any is not",
          "[transport][websocket][hostile]") {
    const std::string own = "https://play.example.net";
    const struct {
        std::vector<std::string> allowed;
        std::string origin;
        bool is_welcome;
    } cases[] = {
        {{}, "", true},
        {{}, own, false},
        {{}, "null", false},
        {{own}, own, true},
        {{own}, "", true},
        {{own}, "https://play.example.net:444", false},
        {{own}, "http://play.example.net", false},
        {{own}, "https://play.example.network", false},
        {{"https://other.example.net", own}, own, true},
        {{"*"}, "https://anything.example", true},
    };
    for (const auto& test : cases) {
        INFO("origin \"" << test.origin << "\", allowed " << test.allowed.size());
        WebSocketSettings settings;
        settings.allowed_origins = test.allowed;
        CalledServer server(settings);
        Caller caller(server.address());
        caller.say(test.origin.empty() ? browser_request() : request_from(test.origin));
        const auto& stats = server.transport->stats();
        CHECK(server.tick_until([&] { return stats.peers_welcomed + stats.dropped_origin == 1; }));
        CHECK(stats.peers_welcomed == (test.is_welcome ? 1u : 0u));
        if (!test.is_welcome) {
            CHECK(server.tick_until([&] { return caller.is_closed(); }));
        }
    }
}

TEST_CASE("WebSocketTransport: of all peers so much waits to be received, and more is dropped",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.datagrams_waiting_max = 10;
    CalledServer server(settings);
    Caller caller(server.address());
    server.join(caller);
    for (int i = 0; i < 25; ++i) {
        caller.say_message(Caller::binary_message, Bytes(5));
    }
    CHECK(server.tick_until([&] { return server.transport->stats().dropped_full == 15; }));
    CHECK(server.transport->stats().datagrams_received == 10);
    for (int i = 0; i < 10; ++i) {
        CHECK(server.receive() == 5);
    }
    CHECK(server.receive() == Transport::nothing_received);
}

TEST_CASE("WebSocketTransport: for one peer so many bytes wait to be sent, and no more",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.send_bytes_max = 10;
    CalledServer server(settings);
    Caller caller(server.address());
    server.join(caller);
    const auto is_dropped = [&](std::size_t size) {
        const std::uint64_t before = server.transport->stats().send_errors;
        server.transport->send(PeerId{1}, Bytes(size));
        return server.transport->stats().send_errors > before;
    };
    CHECK(is_dropped(11));
    CHECK_FALSE(is_dropped(4));
    CHECK_FALSE(is_dropped(6));
    CHECK(is_dropped(1));
    CHECK(server.tick_until([&] { return server.transport->stats().datagrams_sent == 2; }));
    CHECK_FALSE(is_dropped(10));
    CHECK(is_dropped(1));
    server.transport->send(PeerId{2}, Bytes(1));  // is nobody
    server.transport->close(PeerId{2});
    CHECK(server.tick_until([&] { return server.transport->stats().datagrams_sent == 3; }));
}

TEST_CASE("WebSocketTransport: who has gone before he is accepted takes no place",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.peers_max = 1;
    CalledServer server(settings);
    for (int i = 0; i < 5; ++i) {
        Caller gone(server.address());
        gone.break_off();
    }
    Caller caller(server.address());
    server.join(caller);
    Caller late(server.address());  // nor is he counted as one that there was none for
    late.break_off();
    for (int i = 0; i < 100; ++i) {
        server.tick();
    }
    CHECK(server.transport->stats().dropped_full == 0);
}

TEST_CASE("WebSocketTransport: who asks for something else, or does not wait, is closed",
          "[transport][websocket]") {
    for (const std::string& text :
         {"GET / HTTP/1.1\r\nHost: a\r\n\r\n"s, browser_request() + "x"}) {
        CAPTURE(text);
        CalledServer server;
        Caller caller(server.address());
        caller.say(text);
        CHECK(server.tick_until([&] { return caller.is_closed(); }));
        CHECK(server.transport->stats().peers_welcomed == 0);
    }
}

TEST_CASE("WebSocketTransport: a connection that breaks off is one peer less, once",
          "[transport][websocket]") {
    const bool is_read = GENERATE(true, false);
    CAPTURE(is_read);
    WebSocketSettings settings;
    settings.peers_max = 1;
    settings.datagrams_waiting_per_peer_max = 1;
    CalledServer server(settings);
    Caller caller(server.address());
    server.join(caller);
    if (!is_read) {
        caller.say_message(Caller::binary_message, Bytes(1));
        REQUIRE(server.has_received(1));
    }
    caller.break_off();
    server.transport->send(PeerId{1}, Bytes(1));
    server.transport->send(PeerId{1}, Bytes(1));
    CHECK(server.tick_until([&] { return server.transport->peer_count() == 0; }));
    CHECK(server.transport->stats().peers_forgotten == 1);
    Caller next(server.address());
    server.join(next);
    Caller late(server.address());
    CHECK(server.tick_until([&] { return server.transport->stats().dropped_full == 1; }));
}

TEST_CASE("WebSocketTransport: who is held up and goes holds nobody up", "[transport][websocket]") {
    const bool is_clogged = GENERATE(false, true);
    CAPTURE(is_clogged);
    WebSocketSettings settings;
    settings.datagrams_waiting_per_address_max = 2;
    settings.send_bytes_max = 10'000;
    CalledServer server(settings);
    Caller first(server.address());
    Caller second(server.address());
    server.join(first);
    server.join(second);
    for (int i = 0; i < 5; ++i) {
        first.say_message(Caller::binary_message, Bytes(1));
    }
    REQUIRE(server.has_received(2));
    second.say_message(Caller::binary_message, Bytes(2));
    second.say_message(Caller::binary_message, Bytes(2));
    REQUIRE(server.has_received(3));  // what it was reading, and no more
    server.transport->send(PeerId{1}, Bytes(1));
    for (int i = 0; is_clogged && i < 20'000 && server.transport->stats().send_errors == 0; ++i) {
        server.transport->send(PeerId{2}, Bytes(1'000));
        server.tick(0);
    }
    CHECK((server.transport->stats().send_errors > 0) == is_clogged);
    server.transport->close(PeerId{2});
    server.tick(3'001);
    CHECK(server.transport->peer_count() == 1);
    for (int i = 0; i < 3; ++i) {
        CHECK(server.receive() != Transport::nothing_received);
    }
    CHECK(server.has_received(5));
    CHECK(server.receive() == 1);
    CHECK(server.has_received(6));
    CHECK(server.transport->peer_count() == 1);
}

#if defined(__linux__)  // answers to all of 127.0.0.0/8

TEST_CASE("WebSocketTransport: of addresses that are gone nothing is kept, of others what waits is",
          "[transport][websocket]") {
    WebSocketSettings settings;
    settings.peers_max = 3;
    settings.datagrams_waiting_per_address_max = 2;
    CalledServer server(settings);
    Caller stays(server.address(), "127.0.0.100");
    server.join(stays);
    for (int i = 0; i < 5; ++i) {
        stays.say_message(Caller::binary_message, Bytes(1));
    }
    REQUIRE(server.has_received(2));
    for (int i = 1; i <= 20; ++i) {
        Caller passes(server.address(), "127.0.0." + std::to_string(i));
        server.join(passes);
        passes.break_off();
        REQUIRE(server.tick_until([&] { return server.transport->peer_count() == 1; }));
    }
    Caller other(server.address(), "127.0.0.100");
    server.join(other);
    other.say_message(Caller::binary_message, Bytes(1));
    for (int i = 0; i < 100; ++i) {
        server.tick(0);
    }
    CHECK(server.transport->stats().datagrams_received == 2);  // none of the same address
}

#endif

TEST_CASE("WebSocketTransport: of who has left and was received nothing is kept",
          "[transport][websocket]") {
    CountingResource memory;
    WebSocketSettings settings;
    settings.resource = &memory;
    CalledServer server(settings);
    std::int64_t blocks = 0;
    for (std::uint64_t i = 1; i <= 5; ++i) {
        Caller caller(server.address());
        server.join(caller);
        caller.say_message(Caller::binary_message, Bytes(1));
        CHECK(server.has_received(i));
        CHECK(server.receive() == 1);
        caller.break_off();
        CHECK(server.tick_until([&] { return server.transport->peer_count() == 0; }));
        blocks = i == 1 ? memory.blocks_in_use() : blocks;
        CHECK(memory.blocks_in_use() == blocks);
    }
}

TEST_CASE("WebSocketTransport: a client asks again, once a second, while nobody is there",
          "[transport][websocket]") {
    const bool is_v6 = GENERATE(false, true);
    const std::string any = is_v6 ? "[::1]:0" : "127.0.0.1:0";
    auto server = required(WebSocketTransport::listen(any));
    const std::string address = server->local_address();
    CHECK(address.find(any.substr(0, any.size() - 1)) == 0);
    server.reset();
    auto client = required(WebSocketTransport::connect(address));
    NetTime now;
    const auto tick = [&](std::int64_t milliseconds) {
        now = now.plus_milliseconds(milliseconds);
        client->tick(now);
        if (server != nullptr) {
            server->tick(now);
        }
        return client->is_connected();
    };
    for (int i = 0; i < 500; ++i) {
        CHECK_FALSE(tick(1));
    }
    server = required(WebSocketTransport::listen(address));
    for (int i = 0; i < 499; ++i) {
        CHECK_FALSE(tick(1));
    }
    CHECK(server->stats().peers_welcomed == 0);
    bool is_connected = false;
    for (int i = 0; i < 10'000 && !is_connected; ++i) {
        is_connected = tick(i < 10 ? 1 : 0);
    }
    CHECK(is_connected);
}

}  // namespace
}  // namespace replayout::test
