// SPDX-License-Identifier: MIT
//
// What one peer can cost: sessions that it begins, what it lets go lost, and what is under way to
// it. And a peer that is honest, and began anew.
#include <replayout/netdriver/net_driver.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrival_credit.h"
#include "packet_stream.h"

#include "support/checks/catch.h"
#include "support/hostile/forged_peer.h"
#include "support/worlds/net_fixture.h"

namespace replayout::test {
namespace {

void add_markers(ForgedClient& client, std::uint32_t count) {
    const RepLayout& layout = TestSchema::get().marker();
    for (std::uint32_t i = 0; i < count; ++i) {
        (void)client.driver().add_object(layout, client.world().add(layout), {});
    }
}

struct DispatchCost {
    std::uint32_t sessions = 0;
    std::uint64_t clients = 0;
    std::int64_t bytes_max = 0;
    std::uint64_t allocations = 0;
    std::uint64_t over_rate = 0;
};

/// One dispatch with hellos of new sessions of one peer, and thirty honest peers among them.
[[nodiscard]] DispatchCost cost_of_hellos(std::uint32_t count) {
    constexpr std::uint32_t honest_count = 30;
    ForgedClient client;
    add_markers(client, 5'000);
    client.tick();
    for (std::uint32_t i = 0; i < count; ++i) {
        client.send(client.hello_packet(static_cast<std::uint16_t>(i + 1)));
        if (i * honest_count / count != (i + 1) * honest_count / count) {
            client.send_as(PeerId{100 + i}, client.hello_packet(7));
        }
    }
    const std::int64_t bytes = client.memory().bytes_in_use();
    const std::uint64_t allocations = client.memory().allocation_count();
    client.driver().tick_dispatch(client.now().plus_milliseconds(1));
    return {client.driver().connection_count(), client.driver().memory_report().connection_count,
            client.memory().bytes_in_use_max() - bytes,
            client.memory().allocation_count() - allocations,
            client.driver().stats().packets_over_rate};
}

/// A packet that reports everything that was sent as lost.
[[nodiscard]] Bytes all_lost(ForgedClient& client, std::uint16_t highest) {
    client.forge().header().ack = highest;
    client.forge().header().ack_word_count = 8;
    return client.forge().make({});
}

/// Sends of the server in ticks of 10 ms to a client that reports all but one packet as lost, or
/// begins a new session in each tick.
[[nodiscard]] NetStats stats_of_hostile(bool is_beginning_anew, std::uint32_t ticks) {
    ForgedClient client;
    std::vector<ObjectHandle> pawns;
    for (int i = 0; i < 2'000; ++i) {
        pawns.push_back(client.world().add(TestSchema::get().pawn()));
        client.world().pawn(pawns.back()).name = std::string(200, 'x');
        (void)client.driver().add_object(TestSchema::get().pawn(), pawns.back(), {});
    }
    client.join(1);
    std::uint16_t highest = 0;
    for (std::uint32_t i = 0; i < ticks; ++i) {
        if (is_beginning_anew) {
            client.send(client.hello_packet(static_cast<std::uint16_t>(i + 2)));
        } else {
            for (const Bytes& datagram : client.take_sent()) {
                highest = parse_packet(datagram)->header.sequence;
            }
            client.send(all_lost(client, highest));
        }
        client.tick(10);
    }
    return client.driver().stats();
}

/// Ticks until a client has the whole of a world that is there, over a line that loses some.
[[nodiscard]] std::uint32_t ticks_to_join(double loss, std::uint32_t lost_packets_per_second_max) {
    NetFixtureOptions options;
    options.server.lost_packets_per_second_max = lost_packets_per_second_max;
    options.link.loss = loss;
    options.link.latency_ms = 30;
    options.is_validating = false;
    options.seed = 3;
    NetFixture net(options);
    for (int i = 0; i < 3'000; ++i) {
        net.pawn(net.add_pawn()).name = std::string(300, 'y');
    }
    const std::size_t client = net.join();
    std::uint32_t ticks = 0;
    for (; ticks < 2'000 && !net.client_driver(client).initial_batch().is_finished; ++ticks) {
        net.tick();
    }
    return ticks;
}

/// A server, and a player whose process is killed and begins anew under the same address, with the
/// same seed and a clock from 0.
class Restarts {
  public:
    Restarts()
        : network_({2'048, 1u << 14}, std::pmr::get_default_resource()),
          server_world_(server_first_handle),
          server_(settings(), network_.endpoint(server_peer), server_world_) {
        TestSchema::get().add_to(server_);
        REQUIRE(server_.listen());
        for (int i = 0; i < 20; ++i) {
            const ObjectHandle pawn = server_world_.add(TestSchema::get().pawn());
            (void)server_.add_object(TestSchema::get().pawn(), pawn, {});
        }
    }

    void start() {
        client_.reset();
        client_world_ = std::make_unique<TestWorld>(client_first_handle);
        client_ =
            std::make_unique<NetDriver>(settings(), network_.endpoint(client_peer), *client_world_);
        TestSchema::get().add_to(*client_);
        client_now_ = NetTime();
        REQUIRE(client_->connect(server_peer, client_now_));
    }
    /// The process is gone, and what was sent to it.
    void kill() {
        client_.reset();
        std::array<std::byte, 2'048> buffer;
        PeerId peer;
        while (network_.endpoint(client_peer).receive(peer, buffer) !=
               Transport::nothing_received) {
        }
    }
    void tick() {
        constexpr std::int64_t tick_ms = 20;
        server_now_ = server_now_.plus_milliseconds(tick_ms);
        server_.tick_dispatch(server_now_);
        server_.tick_flush(server_now_);
        if (client_ != nullptr) {
            client_now_ = client_now_.plus_milliseconds(tick_ms);
            client_->tick_dispatch(client_now_);
            client_->tick_flush(client_now_);
        }
    }
    /// Ticks until the client has all.
    [[nodiscard]] int ticks_until_joined() {
        int ticks = 0;
        while (ticks < 1'000 && !client_->initial_batch().is_finished) {
            tick();
            ++ticks;
        }
        return ticks;
    }
    [[nodiscard]] NetDriver& server() { return server_; }
    [[nodiscard]] NetDriver& client() { return *client_; }
    [[nodiscard]] LoopbackNetwork& network() { return network_; }
    [[nodiscard]] std::size_t object_count() const { return client_world_->object_count(); }

    static constexpr PeerId server_peer{1};
    static constexpr PeerId client_peer{2};

  private:
    [[nodiscard]] static NetDriverSettings settings() {
        NetDriverSettings result;
        result.may_leave_out_texts = true;
        return result;
    }

    LoopbackNetwork network_;
    TestWorld server_world_;
    NetDriver server_;
    std::unique_ptr<TestWorld> client_world_;
    std::unique_ptr<NetDriver> client_;
    NetTime server_now_ = NetTime::from_milliseconds(500'000);
    NetTime client_now_;
};

}  // namespace

TEST_CASE("One peer: a dispatch takes one of 1,088 hellos of new sessions, at the price of one",
          "[netdriver][hostile][one_peer]") {
    const DispatchCost one = cost_of_hellos(30);
    REQUIRE(one.sessions == 31);
    const DispatchCost all = cost_of_hellos(1'088);
    CHECK(all.sessions == 31);
    CHECK(all.clients == 31);
    CHECK(all.over_rate == 1'087);
    CHECK(all.bytes_max <= one.bytes_max + 4'096);
    CHECK(all.allocations <= one.allocations + 16);
    // A peer: less than 1 MiB, and 16 bytes for each object.
    CHECK(all.bytes_max < 31 * (1'048'576 + 16 * 5'000));
}

TEST_CASE("One peer: it begins nine sessions in timeout_ms at most, whatever it acknowledges",
          "[netdriver][hostile][one_peer]") {
    ForgedClient client;
    add_markers(client, 100);
    for (std::uint16_t session = 1; session <= 40; ++session) {
        client.deliver(client.hello_packet(session));
        CHECK(client.driver().connection_count() == 1);
        CHECK(client.driver().memory_report().connection_count == 1);
    }
    CHECK(client.closed_count(CloseReason::Replaced) == 8);
    CHECK(client.driver().stats().packets_over_rate == 31);
    // As the oldest are forgotten it begins others, and is never without one for that.
    client.tick(NetConfig().timeout_ms - 40);
    for (std::uint16_t session = 41; session <= 60; ++session) {
        client.deliver(client.hello_packet(session));
        client.tick(5);
    }
    CHECK(client.driver().connection_count() == 1);
    CHECK(client.closed_count(CloseReason::Replaced) > 8);
    CHECK(client.closed_count(CloseReason::Replaced) <= 16);
}

TEST_CASE("One peer: the world hears that it left and joined, in this order, for each session",
          "[netdriver][one_peer][peers]") {
    ForgedClient client;
    std::vector<std::string> heard;
    client.world().on_joined = [&](PeerId) { heard.emplace_back("joined"); };
    client.world().on_left = [&](PeerId, CloseReason reason) {
        heard.emplace_back(to_string(reason));
    };
    for (std::uint16_t session = 1; session <= 3; ++session) {
        client.deliver(client.hello_packet(session));
    }
    CHECK(heard == std::vector<std::string>{"joined", "replaced", "joined", "replaced", "joined"});
}

TEST_CASE("One peer: it is sent a bounded number of packets if it loses all or begins anew",
          "[netdriver][hostile][one_peer]") {
    constexpr std::uint32_t seconds = 5;
    constexpr std::uint32_t ticks = seconds * 100;
    const NetConfig config;
    const std::uint64_t packets_max =
        ArrivalCredit::packets_max + std::uint64_t{config.lost_packets_per_second_max} * seconds;
    for (const bool is_beginning_anew : {false, true}) {
        INFO("beginning anew: " << is_beginning_anew);
        const NetStats stats = stats_of_hostile(is_beginning_anew, ticks);
        CHECK(stats.packets_delivered <= ticks);
        // Beside packets with content there are answers, a header each.
        const std::uint64_t packets = packets_max + 2 * stats.packets_delivered;
        CHECK(stats.bytes_sent <=
              packets * config.packet_bytes_max + ticks * packet_header_bytes_max);
    }
}

TEST_CASE("One peer: an honest client joins as fast as without that bound, also where much is lost",
          "[netdriver][one_peer]") {
    constexpr std::uint32_t unbounded = 1'000'000;
    for (const double loss : {0.0, 0.05, 0.2, 0.35}) {
        INFO("loss " << loss);
        const std::uint32_t ticks = ticks_to_join(loss, NetConfig().lost_packets_per_second_max);
        CHECK(ticks < 1'000);
        CHECK(ticks == ticks_to_join(loss, unbounded));
    }
}

TEST_CASE("One peer: blocks under way to it are bounded, and go on when they are resolved",
          "[netdriver][hostile][one_peer]") {
    constexpr std::uint32_t packet_blocks_max = 600;
    ForgedClient client;
    std::vector<ObjectHandle> pawns;
    for (int i = 0; i < 1'000; ++i) {
        pawns.push_back(client.world().add(TestSchema::get().pawn()));
        (void)client.driver().add_object(TestSchema::get().pawn(), pawns.back(), {});
    }
    client.join(1);
    std::uint16_t highest = 0;
    const auto take = [&] {
        for (const Bytes& datagram : client.take_sent()) {
            highest = parse_packet(datagram)->header.sequence;
        }
    };
    const auto acknowledge = [&](std::uint32_t words) {
        client.forge().header().ack = highest;
        client.forge().header().ack_word_count = 8;
        client.forge().header().ack_words.fill(words);
        client.send(client.forge().make({}));
    };
    for (int i = 0; i < 100; ++i) {
        take();
        acknowledge(~0u);
        client.tick();
    }
    const auto change_all = [&] {
        for (const ObjectHandle pawn : pawns) {
            ++client.world().pawn(pawn).health;
        }
        client.tick();
        take();
    };
    const std::uint64_t before = client.driver().stats().records_sent;
    for (int i = 0; i < 60; ++i) {
        change_all();
    }
    const std::uint64_t sent = client.driver().stats().records_sent - before;
    CHECK(sent >= FateCost::objects_max / FateCost::own_block);
    CHECK(sent <= FateCost::objects_max / FateCost::bundled_block + packet_blocks_max);
    const std::uint64_t lost = client.driver().stats().records_lost;
    acknowledge(0);
    client.driver().tick_dispatch(client.now().plus_milliseconds(1));
    CHECK(client.driver().stats().records_lost - lost <= sent);
    CHECK(client.driver().stats().records_lost - lost > sent / 2);
    change_all();
    CHECK(client.driver().stats().records_sent - before > sent + 500);
}

TEST_CASE("One peer: opens under way to it are bounded, and go on when they are resolved",
          "[netdriver][hostile][one_peer]") {
    constexpr std::uint64_t packet_opens_max = 120;
    constexpr std::uint64_t opens_max = FateCost::objects_max / FateCost::bunch + packet_opens_max;
    ForgedClient client;
    add_markers(client, 6'000);
    client.join(1);
    const auto tick_and_hear = [&] {
        client.tick(10);
        for (const Bytes& datagram : client.take_sent()) {
            client.forge().header().ack = parse_packet(datagram)->header.sequence;
        }
    };
    for (int i = 0; i < 20; ++i) {
        tick_and_hear();
    }
    const std::uint64_t opened = client.driver().stats().channels_opened;
    CHECK(opened > opens_max / 2);
    CHECK(opened <= opens_max);
    for (int i = 0; i < 60; ++i) {
        client.forge().header().ack_word_count = 8;
        client.forge().header().ack_words.fill(i % 3 == 0 ? 0x5555'5555 : ~0u);
        client.deliver(client.forge().make({}));
        tick_and_hear();
    }
    CHECK(client.driver().stats().channels_opened == 6'000);
}

TEST_CASE("Session: a process that begins anew with the same seed and clock is in at once",
          "[netdriver][session][one_peer]") {
    Restarts game;
    game.start();
    REQUIRE(game.ticks_until_joined() < 10);
    for (const int played : {0, 1, 2, 3, 7, 60, 300, 700}) {
        INFO("played " << played);
        for (int i = 0; i < played; ++i) {
            game.tick();
        }
        game.kill();
        game.tick();
        game.start();
        CHECK(game.ticks_until_joined() < 12);
        CHECK(game.client().state() == ConnectionState::Joined);
        CHECK(game.object_count() == 20);
        CHECK(game.server().connection_count() == 1);
        for (int i = 0; i < 100; ++i) {
            game.tick();
        }
        CHECK(game.client().state() == ConnectionState::Joined);
    }
}

TEST_CASE("Session: a hello that comes again, in a client's name, ends no session that lives",
          "[netdriver][hostile][session][one_peer]") {
    Restarts game;
    game.start();
    game.client().tick_flush(NetTime());
    std::array<std::byte, 2'048> buffer;
    PeerId peer;
    const std::size_t size = game.network().endpoint(Restarts::server_peer).receive(peer, buffer);
    REQUIRE(size != Transport::nothing_received);
    const std::span<const std::byte> hello = std::span<const std::byte>(buffer).first(size);
    game.network().endpoint(Restarts::client_peer).send(Restarts::server_peer, hello);
    REQUIRE(game.ticks_until_joined() < 10);
    const std::uint64_t sent = game.server().stats().bytes_sent;
    for (int i = 0; i < 500; ++i) {
        game.network().endpoint(Restarts::client_peer).send(Restarts::server_peer, hello);
        game.tick();
        REQUIRE(game.client().state() == ConnectionState::Joined);
    }
    CHECK(game.server().stats().closed[static_cast<std::size_t>(CloseReason::Replaced)] == 0);
    CHECK(game.server().stats().bytes_sent - sent < 500 * 2 * size);
}

TEST_CASE("Session: hellos do not keep a session alive of which the process is gone",
          "[netdriver][hostile][session][one_peer]") {
    ForgedClient client;
    client.join(5);
    client.forge().header().ack = 1;
    client.deliver(client.forge().make({}));
    const Bytes hello = client.hello_packet(5);
    for (std::uint32_t ms = 0; ms <= NetConfig().timeout_ms; ms += 100) {
        client.send(hello);
        client.tick(100);
    }
    CHECK(client.closed_count(CloseReason::Timeout) == 1);
    CHECK(client.driver().connection_count() == 0);
}

TEST_CASE("NetDriver: a text that no message holds is refused at both ends, with both limits",
          "[netdriver][net_driver][limits]") {
    for (const std::uint32_t bunch_bytes : {1u << 20, (1u << 20) - 1}) {
        INFO("bunch_bytes_max " << bunch_bytes);
        LoopbackNetwork network(LoopbackSettings(), std::pmr::get_default_resource());
        NetDriverSettings settings;
        settings.config.bunch_bytes_max = bunch_bytes;
        for (const bool is_server : {true, false}) {
            TestWorld world(1);
            NetDriver driver(settings, network.endpoint(PeerId{is_server ? 1u : 2u}), world);
            TestSchema::get().add_to(driver);
            const Status status =
                is_server ? driver.listen() : driver.connect(PeerId{1}, NetTime());
            CHECK(status.has_value() == (bunch_bytes == 1u << 20));
            if (!status) {
                CHECK(status.error().code == ErrorCode::LimitExceeded);
                for (const char* part : {"Archive", "pages", "string_bytes_max", "1048576",
                                         "bunch_bytes_max", "1048575"}) {
                    INFO(part);
                    CHECK(status.error().message.find(part) != std::string::npos);
                }
            }
        }
    }
}

}  // namespace replayout::test
