// SPDX-License-Identifier: MIT
//
// What one connection does with datagrams that are not its own, that came in another order, or that
// came when it was over; and when it answers. The other end is made by hand.
#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/hostile/forged_pawn.h"
#include "support/hostile/forged_peer.h"

namespace replayout::test {
namespace {

[[nodiscard]] Bytes health_block(std::uint32_t channel, std::uint32_t health) {
    return block_of(channel, pawn_block({health_handle}, [health](BitWriter& writer) {
                        writer.write_bits(health, 32);
                    }));
}

[[nodiscard]] Bytes requested_goodbye() {
    return goodbye_bytes(static_cast<std::uint8_t>(CloseReason::Requested));
}

/// A client that has joined and has a pawn on channel 1. What that was worth at its end it tells.
struct ClientWithPawn {
    explicit ClientWithPawn(const NetConfig& config = {}) : server(config) {
        server.welcome_with_pawn();
        server.world().on_despawn = [this](ObjectHandle pawn) {
            last_health = server.world().pawn(pawn).health;
        };
    }

    ForgedServer server;
    std::int32_t last_health = 0;
};

/// Packets of a server, told apart by how many they are ahead of the last that was processed.
class ShuffledServer {
  public:
    explicit ShuffledServer(std::uint32_t reorder_packets_max)
        : server_(config(reorder_packets_max)) {
        server_.welcome();
        for (std::uint32_t ahead = 1; ahead <= packets_in_flight_max + 1; ++ahead) {
            packets_.push_back(server_.forge().make({}));
        }
    }

    /// All in one dispatch.
    void deliver(const std::vector<std::size_t>& order) {
        const NetStats before = server_.driver().stats();
        for (const std::size_t ahead : order) {
            server_.send(packets_[ahead - 1]);
        }
        server_.tick();
        processed = server_.driver().stats().packets_received - before.packets_received;
        dropped = server_.driver().stats().packets_dropped - before.packets_dropped;
        CHECK(server_.is_joined());
    }

    std::uint64_t processed = 0;
    std::uint64_t dropped = 0;

  private:
    [[nodiscard]] static NetConfig config(std::uint32_t reorder_packets_max) {
        NetConfig config;
        config.reorder_packets_max = reorder_packets_max;
        return config;
    }

    ForgedServer server_;
    std::vector<Bytes> packets_;
};

}  // namespace

TEST_CASE("NetConnection: what is not of its session takes nothing of what it may send at once",
          "[netdriver][net_connection]") {
    NetConfig config;
    config.datagrams_per_connection_max = 4;
    const auto check_taken = [](ForgedPeer& end, const std::vector<Bytes>& strange) {
        const NetStats before = end.driver().stats();
        for (int round = 0; round < 5; ++round) {
            for (const Bytes& datagram : strange) {
                end.send(datagram);
            }
        }
        end.deliver(end.forge().make({}));
        const NetStats& stats = end.driver().stats();
        CHECK(stats.packets_received == before.packets_received + 1);
        CHECK(stats.packets_dropped == before.packets_dropped + 5 * strange.size());
        CHECK(stats.packets_over_rate == 0);
    };
    SECTION("at a client, of sessions before and behind its own") {
        ForgedServer server(config);
        server.welcome();
        const std::uint16_t session = server.forge().header().session;
        const auto packet_of = [](int number) {
            return PacketForge(static_cast<std::uint16_t>(number)).make({});
        };
        const std::vector<Bytes> others{packet_of(session - 1), packet_of(session + 1)};
        check_taken(server, others);
        check_taken(server, {others[0]});
        check_taken(server, {others[1]});
    }
    SECTION("at a server, cut short, also where the session is the one that nothing would be") {
        for (const std::uint16_t session : {std::uint16_t{0}, std::uint16_t{7}}) {
            INFO("session " << session);
            ForgedClient client(config);
            client.join(session);
            Bytes reserved = PacketForge(session).make({});
            Bytes short_one = reserved;
            short_one.pop_back();
            reserved[6] |= std::byte{0x20};
            check_taken(client, {short_one, reserved});
        }
    }
}

TEST_CASE("NetConnection: of what comes when it is closed nothing is taken, kept or counted",
          "[netdriver][net_connection]") {
    NetConfig config;
    config.reorder_packets_max = 8;
    ClientWithPawn client(config);
    ForgedServer& server = client.server;
    server.deliver_packet({control_bunch(2, requested_goodbye())});
    REQUIRE(server.driver().state() == ConnectionState::Closed);
    const NetStats before = server.driver().stats();
    const std::int64_t bytes = server.memory().bytes_in_use();
    const Bytes next = server.forge().make({open_bunch(2, NetGUID{2}, TestSchema::pawn_number)});
    server.send(server.forge().make({open_bunch(3, NetGUID{3}, TestSchema::pawn_number)}));
    server.send(next);
    server.send(PacketForge(1).make({}));
    server.send(Bytes(40));
    server.tick();
    CHECK(server.driver().stats().packets_received == before.packets_received);
    CHECK(server.driver().stats().packets_dropped == before.packets_dropped);
    CHECK(server.memory().bytes_in_use() == bytes);
    CHECK(server.world().spawn_count == 1);
}

TEST_CASE("NetConnection: that it is given up, when it is over, changes nothing",
          "[netdriver][net_connection]") {
    ClientWithPawn client;
    ForgedServer& server = client.server;
    server.deliver_packet(
        {control_bunch(2, goodbye_bytes(static_cast<std::uint8_t>(CloseReason::ServerFull)))});
    REQUIRE(server.driver().state() == ConnectionState::Closed);
    (void)server.take_sent();
    server.driver().disconnect(ForgedPeer::server_peer);
    CHECK(server.driver().state() == ConnectionState::Closed);
    CHECK(server.driver().close_reason() == CloseReason::ServerFull);
    server.tick(200);
    CHECK(server.take_sent().empty());
    const auto& closed = server.driver().stats().closed;
    CHECK(closed[static_cast<std::size_t>(CloseReason::ServerFull)] == 1);
    CHECK(closed[static_cast<std::size_t>(CloseReason::Requested)] == 0);
}

TEST_CASE("NetConnection: behind a goodbye nothing of its packet is taken",
          "[netdriver][net_connection]") {
    const Bunch goodbye = control_bunch(2, requested_goodbye());
    SECTION("no bunch") {
        ClientWithPawn client;
        client.server.deliver_packet({goodbye, open_bunch(2, NetGUID{2}, TestSchema::pawn_number)});
        CHECK(client.server.driver().state() == ConnectionState::Closed);
        CHECK(client.server.world().spawn_count == 1);
    }
    SECTION("no block") {
        ClientWithPawn client;
        client.server.deliver_packet({goodbye}, health_block(1, 7));
        CHECK(client.server.driver().state() == ConnectionState::Closed);
        CHECK(client.last_health == 100);
    }
    SECTION("though both are taken without it") {
        ClientWithPawn client;
        client.server.deliver_packet({open_bunch(2, NetGUID{2}, TestSchema::pawn_number)},
                                     health_block(1, 7));
        CHECK(client.server.is_joined());
        CHECK(client.server.world().spawn_count == 2);
        CHECK(client.server.world().pawn(client.server.object_on(1)).health == 7);
    }
}

TEST_CASE("NetConnection: packets held back for one that ends it are not taken any more",
          "[netdriver][net_connection][reorder_buffer]") {
    NetConfig config;
    config.reorder_packets_max = 8;
    const bool is_goodbye = GENERATE(true, false);
    CAPTURE(is_goodbye);
    ClientWithPawn client(config);
    ForgedServer& server = client.server;
    const std::uint64_t received = server.driver().stats().packets_received;
    const Bytes last = is_goodbye ? server.forge().make({control_bunch(2, requested_goodbye())})
                                  : server.forge().make_raw(true, {});
    const Bytes with_block = server.forge().make({}, health_block(1, 7));
    const Bytes with_open =
        server.forge().make({open_bunch(2, NetGUID{2}, TestSchema::pawn_number)});
    server.send(with_open);
    server.send(with_block);
    server.send(last);
    server.tick();
    CHECK_FALSE(server.is_joined());
    CHECK(server.driver().close_reason() ==
          (is_goodbye ? CloseReason::Requested : CloseReason::MalformedBunch));
    CHECK(client.last_health == 100);
    CHECK(server.world().spawn_count == 1);
    // Who says goodbye himself still reads acks; who heard one reads nothing.
    CHECK(server.driver().stats().packets_received == received + (is_goodbye ? 1 : 3));
}

TEST_CASE("NetConnection: packets that overtook others wait for them, as many as it may hold",
          "[netdriver][net_connection][reorder_buffer]") {
    constexpr std::size_t far = packets_in_flight_max;
    const struct {
        const char* name;
        std::vector<std::size_t> order;
        std::uint64_t processed;
        std::uint64_t dropped;
    } cases[] = {
        {"in order", {1, 2, 3}, 3, 0},
        {"the first comes last, and needs no room", {2, 3, 1}, 3, 0},
        {"twice the same takes one place", {2, 2, 3, 1}, 3, 0},
        {"twice the last takes one place", {3, 3, 2, 1}, 3, 0},
        {"one too many: the lowest waits no longer", {2, 3, 4, 1}, 3, 1},
        {"one too many, and lower than those that wait: it is the one", {4, 3, 2, 1}, 3, 1},
        {"one that is not missed for long", {1, 3, 2, 5}, 4, 0},
        {"as far ahead as any may be", {far, 1}, 2, 0},
        {"further ahead than any may be: holds no place", {2, far + 1, far + 1, 1}, 2, 2},
        {"had before: holds no place", {1, 3, 1, 4, 1, 2}, 4, 2},
    };
    for (const auto& test : cases) {
        INFO(test.name);
        ShuffledServer server(2);
        server.deliver(test.order);
        CHECK(server.processed == test.processed);
        CHECK(server.dropped == test.dropped);
    }
}

TEST_CASE("NetConnection: who asks is answered at once, and with a full window now and then",
          "[netdriver][net_connection]") {
    constexpr int window_packets = 224;
    const NetConfig config;
    ForgedServer server(config);
    server.welcome();
    (void)server.take_sent();
    server.forge().header().ack_requested = true;  // and acknowledges no answer
    for (int answer = 0; answer < window_packets; ++answer) {
        INFO("answer " << answer);
        server.deliver(server.forge().make({}));
        REQUIRE(server.take_sent().size() == 1);
    }
    for (int answer = 0; answer < 5; ++answer) {
        INFO("further answer " << answer);
        for (std::uint32_t i = 1; i < config.probe_ms; ++i) {
            server.deliver(server.forge().make({}));
            REQUIRE(server.take_sent().empty());
        }
        server.deliver(server.forge().make({}));
        REQUIRE(server.take_sent().size() == 1);
    }
}

TEST_CASE("NetConnection: that a goodbye was heard is said with the last packet of the window, too",
          "[netdriver][net_connection]") {
    for (const std::uint32_t in_flight : {packets_in_flight_max - 1, packets_in_flight_max}) {
        INFO("in flight " << in_flight);
        const NetConfig config;
        ForgedServer server(config);
        server.welcome();
        (void)server.take_sent();
        server.forge().header().ack_requested = true;  // and acknowledges no answer
        for (std::uint32_t answer = 0; answer < in_flight; ++answer) {
            server.send(server.forge().make({}));
            server.tick(config.probe_ms);
            REQUIRE(server.take_sent().size() == 1);
        }
        server.deliver_packet({control_bunch(2, requested_goodbye())});
        CHECK(server.driver().state() == ConnectionState::Closed);
        CHECK(server.driver().close_reason() == CloseReason::Requested);
        CHECK(server.take_sent().size() == packets_in_flight_max - in_flight);
    }
}

TEST_CASE("NetConnection: when it answers does not hang on where the clock begins",
          "[netdriver][net_connection]") {
    /// A server before a client that begins anew, in debt for its first session.
    struct Server : ForgedClient {
        Server(const NetConfig& config, std::int64_t clock_ms) : ForgedClient(config) {
            now_ = NetTime::from_milliseconds(clock_ms);
        }
    };
    /// Which millisecond a datagram was sent in, and of how many bytes.
    using Sent = std::vector<std::pair<std::int64_t, std::size_t>>;
    NetConfig config;
    config.bytes_per_second_max = 1'800;
    const auto sent_from = [&](std::int64_t clock_ms) {
        Server server(config, clock_ms);
        Sent sent;
        const auto note_sent = [&] {
            for (const Bytes& datagram : server.take_sent()) {
                sent.emplace_back((server.now().microseconds / 1'000) - clock_ms, datagram.size());
            }
        };
        server.join(7);
        note_sent();
        server.deliver(server.forge().make({control_bunch(2, requested_goodbye())}));
        note_sent();
        server.forge() = PacketForge(8);
        server.forge().header().ack_requested = true;
        server.deliver(server.forge().make({control_bunch(1, server.hello())}));
        for (int i = 0; i < 1'500; ++i) {
            note_sent();
            server.tick();
        }
        return sent;
    };
    const Sent expected = sent_from(1'000);
    REQUIRE(expected.size() > 3);
    REQUIRE(expected[2].first == 3 + config.probe_ms);  // it is in debt
    for (std::int64_t clock_ms = -5; clock_ms <= 0; ++clock_ms) {
        INFO("from " << clock_ms);
        CHECK(sent_from(clock_ms) == expected);
    }
}

TEST_CASE("NetConnection: its answers keep to its cap, and are not silenced by it",
          "[netdriver][net_connection]") {
    NetConfig config;
    config.bytes_per_second_max = 1'800;
    const auto acknowledge_all = [](ForgedPeer& end) {
        std::size_t bytes = 0;
        for (const Bytes& datagram : end.take_sent()) {
            bytes += datagram.size();
            end.forge().header().ack = parse_packet(datagram)->header.sequence;
            end.forge().header().ack_words.fill(~std::uint32_t{0});
        }
        return bytes;
    };
    SECTION("asked each millisecond") {
        ForgedServer server(config);
        server.welcome();
        server.forge().header().ack_requested = true;
        std::size_t bytes = 0;
        for (int i = 0; i < 3'000; ++i) {
            server.deliver(server.forge().make({}));
            bytes += acknowledge_all(server);
        }
        CHECK(bytes <= 3 * config.bytes_per_second_max + config.packet_bytes_max);
        CHECK(bytes >= 2 * config.bytes_per_second_max);
    }
    SECTION("asked each millisecond by a session that begins anew") {
        ForgedClient client(config);
        std::size_t bytes = 0;
        for (std::uint16_t session = 1; session <= 3'000; ++session) {
            client.forge() = PacketForge(session);
            client.forge().header().ack_requested = true;
            client.deliver(client.forge().make({control_bunch(1, client.hello())}));
            REQUIRE(client.is_joined());
            for (const Bytes& datagram : client.take_sent()) {
                bytes += datagram.size();
            }
        }
        CHECK(bytes <= 3 * config.bytes_per_second_max + config.packet_bytes_max);
    }
    SECTION("asked when a large packet used it up") {
        ForgedClient client(config);
        client.join(7);
        client.tick(2'000);
        (void)acknowledge_all(client);
        client.deliver(client.forge().make({}));
        (void)acknowledge_all(client);
        const ObjectHandle archive = client.world().add(TestSchema::get().archive());
        client.world().archive(archive).pages[0].assign(1'050, 'x');
        (void)client.driver().add_object(TestSchema::get().archive(), archive);
        client.tick(1'500);
        REQUIRE(acknowledge_all(client) > 1'000);
        client.forge().header().ack_requested = true;
        std::uint32_t wait_ms = 0;
        do {
            REQUIRE(wait_ms < 1'000);
            client.deliver(client.forge().make({}));
            ++wait_ms;
        } while (acknowledge_all(client) == 0);
        CHECK(wait_ms == config.probe_ms);
    }
}

TEST_CASE("NetConnection: whose goodbye was heard is gone at once, without lingering",
          "[netdriver][net_connection]") {
    ForgedServer server;
    server.welcome();
    (void)server.take_sent();
    server.driver().disconnect(ForgedPeer::server_peer);
    server.tick();
    const std::vector<Bytes> sent = server.take_sent();
    REQUIRE(sent.size() == 1);
    server.deliver(server.forge().make({}));
    CHECK(server.driver().state() == ConnectionState::Closing);
    server.forge().header().ack = parse_packet(sent[0])->header.sequence;
    server.forge().header().ack_words.fill(~std::uint32_t{0});
    server.deliver(server.forge().make({}));
    CHECK(server.driver().state() == ConnectionState::Closed);
}

TEST_CASE("NetConnection: a goodbye has its time, also to who acknowledged nothing for long",
          "[netdriver][net_connection]") {
    ForgedClient client;
    client.join(7);  // its welcome is never acknowledged
    const auto speak_for_ms = [&](std::int64_t milliseconds) {
        for (; milliseconds > 0; milliseconds -= 100) {
            client.send(client.forge().make({}));
            client.tick(100);
        }
    };
    speak_for_ms(19'500);
    REQUIRE(client.is_joined());
    client.driver().disconnect(ForgedPeer::client_peer);
    speak_for_ms(1'900);
    CHECK(client.driver().connection_state(ForgedPeer::client_peer) == ConnectionState::Closing);
    speak_for_ms(200);
    CHECK(client.driver().connection_state(ForgedPeer::client_peer) == ConnectionState::Closed);
}

}  // namespace replayout::test
