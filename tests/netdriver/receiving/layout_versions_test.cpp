// SPDX-License-Identifier: MIT
//
// Ends of different versions: a server whose classes have changed and clients that are older, the
// other way round, and what happens where somebody does not want that, or lies.
#include <replayout/layout_description.h>
#include <replayout/netdriver/loopback_transport.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/forged_peer.h"
#include "support/types/test_layout.h"
#include "support/types/versioned_pawn.h"
#include "support/worlds/typed_world.h"

namespace replayout::test {
namespace {

[[nodiscard]] std::uint64_t closed_count(const NetDriver& driver, CloseReason reason) {
    return driver.stats().closed[static_cast<std::size_t>(reason)];
}

/// The class Pawn in one version, and perhaps a class Beacon.
struct Schema {
    Schema(BuildType build_pawn, bool has_beacon) : pawn(build_pawn) {
        if (has_beacon) {
            beacon = std::make_unique<TestLayout>(build_beacon);
        }
    }

    TestLayout pawn;
    std::unique_ptr<TestLayout> beacon;
};

template <typename Pawn>
struct Host {
    Host(const Schema& schema, const NetDriverSettings& settings, Transport& transport,
         std::uint64_t first_handle)
        : world(first_handle), driver(settings, transport, world) {
        REQUIRE(driver.add_layout(*schema.pawn));
        if (schema.beacon != nullptr) {
            world.begin_with(**schema.beacon, Beacon());
            REQUIRE(driver.add_layout(**schema.beacon));
        }
    }

    [[nodiscard]] Pawn& pawn(ObjectHandle object) { return world.template get<Pawn>(object); }

    TypedWorld<Pawn, Beacon> world;
    NetDriver driver;
};

struct MatchOptions {
    LayoutPolicy server_policy = LayoutPolicy::SkipUnknown;
    LayoutPolicy client_policy = LayoutPolicy::SkipUnknown;
    bool is_sharing = true;
    double loss = 0.0;
    bool server_has_beacon = false;
    bool client_has_beacon = false;
    std::uint64_t seed = 1;
    NetConfig server_config;
    NetConfig client_config;
};

/// A server of one version and clients of another.
template <typename ServerPawn, typename ClientPawn>
class Match {
  public:
    static constexpr PeerId server_peer{1};

    Match(BuildType build_server, BuildType build_client, const MatchOptions& options)
        : options_(options),
          server_schema(build_server, options.server_has_beacon),
          client_schema(build_client, options.client_has_beacon),
          network_(network_settings(options), options.seed, std::pmr::get_default_resource()),
          now_(NetTime::from_milliseconds(1'000)),
          server(server_schema, settings(options.server_policy, options.server_config),
                 network_.endpoint(server_peer), 100) {
        REQUIRE(server.driver.listen());
    }

    Host<ClientPawn>& join() {
        const PeerId peer{clients.size() + 2};
        clients.push_back(std::make_unique<Host<ClientPawn>>(
            client_schema, settings(options_.client_policy, options_.client_config),
            network_.endpoint(peer), 1'000'000));
        REQUIRE(clients.back()->driver.connect(server_peer, now_));
        return *clients.back();
    }

    [[nodiscard]] ObjectHandle add(const RepLayout& layout) {
        const ObjectHandle object = server.world.add(layout);
        ids[object] = server.driver.add_object(layout, object);
        return object;
    }
    [[nodiscard]] ObjectHandle add_pawn() { return add(*server_schema.pawn); }

    void tick(int count = 1) {
        for (; count > 0; --count) {
            now_ = now_.plus_milliseconds(20);
            network_.advance(now_);
            server.driver.tick_dispatch(now_);
            server.driver.tick_flush(now_);
            for (const auto& client : clients) {
                client->driver.tick_dispatch(now_);
                client->driver.tick_flush(now_);
            }
        }
    }
    [[nodiscard]] bool settle() {
        network_.heal();
        for (int i = 0; i < 1'000; ++i) {
            tick();
            bool is_joined = true;
            for (const auto& client : clients) {
                is_joined = is_joined && client->driver.state() == ConnectionState::Joined;
            }
            if (is_joined && server.driver.is_settled()) {
                return true;
            }
        }
        return false;
    }

    /// The client's object, or null.
    [[nodiscard]] ObjectHandle find_on(const Host<ClientPawn>& client, ObjectHandle object) {
        return client.driver.guids().find_object(server.driver.guid_of(ids.at(object)));
    }

    /// Every client shows of every pawn what both versions have.
    void check_pawns() {
        for (const auto& client : clients) {
            for (const auto& [object, id] : ids) {
                const ObjectHandle shown = find_on(*client, object);
                if (shown.is_null()) {
                    continue;
                }
                ServerPawn expected = server.pawn(object);
                if (!expected.target.is_null()) {
                    expected.target = find_on(*client, expected.target);
                }
                check_common(expected, client->pawn(shown));
            }
        }
    }

  private:
    [[nodiscard]] static SimulatedNetworkSettings network_settings(const MatchOptions& options) {
        SimulatedNetworkSettings settings;
        settings.link.loss = options.loss;
        settings.link.duplicate = options.loss / 4;
        settings.link.reorder = options.loss / 2;
        settings.link.latency_ms = options.loss > 0 ? 30 : 0;
        settings.datagram_bytes_max = 1'400;
        return settings;
    }
    [[nodiscard]] NetDriverSettings settings(LayoutPolicy policy, const NetConfig& config) {
        NetDriverSettings result;
        result.config = config;
        result.seed = options_.seed + clients.size();
        result.sharing = sharing_level(options_.is_sharing);
        result.layout_policy = policy;
        return result;
    }

    MatchOptions options_;

  public:
    Schema server_schema;
    Schema client_schema;

  private:
    SimulatedNetwork network_;
    NetTime now_;

  public:
    std::vector<std::unique_ptr<Host<ClientPawn>>> clients;
    Host<ServerPawn> server;
    std::map<ObjectHandle, NetObjectId> ids;
};

template <typename Pawn>
void change(Pawn& pawn, SeededRandom& random, const std::vector<ObjectHandle>& objects) {
    switch (random.below(8)) {
        case 0:
            pawn.health = static_cast<std::int32_t>(random.below(1'000));
            return;
        case 1:
            pawn.title = std::string(random.below(30), 'x');
            return;
        case 2:
            pawn.target = random.percent(30) ? ObjectHandle{} : random.pick(objects);
            return;
        case 3:
            pawn.hits.resize(random.below(5));
            return;
        case 4:
            for (auto& hit : pawn.hits) {
                hit.damage = static_cast<float>(random.below(100));
                hit.bone = static_cast<std::uint8_t>(random.below(100));
            }
            return;
        case 5:
            pawn.code.reset();
            if (random.percent(60)) {
                pawn.code = random.below(10);
            }
            return;
        case 6:
            pawn.aim.range = random.below(5'000);
            pawn.is_armed = random.percent(50);
            return;
        default:
            // What the other version has not, or otherwise.
            pawn.retyped = static_cast<decltype(pawn.retyped)>(random.below(9'000));
            pawn.numbers.resize(random.below(6), 5);
            pawn.place.x += 1.0f;
            return;
    }
}

template <typename ServerPawn, typename ClientPawn>
std::uint64_t play(BuildType build_server, BuildType build_client, const MatchOptions& options) {
    Match<ServerPawn, ClientPawn> match(build_server, build_client, options);
    SeededRandom random(options.seed);
    std::vector<ObjectHandle> objects = add_many(5, [&] { return match.add_pawn(); });
    for (int tick = 0; tick < 150; ++tick) {
        if (tick % 40 == 0) {
            match.join();
        }
        for (std::uint32_t i = random.below(5); i > 0; --i) {
            change(match.server.pawn(random.pick(objects)), random, objects);
        }
        match.tick();
    }
    REQUIRE(match.settle());
    for (const auto& client : match.clients) {
        REQUIRE(client->world.object_count() == objects.size());
        CHECK(client->driver.server_layout("Pawn")->is_receive_only());
        CHECK(client->driver.server_layout("Pawn")->diagnostics().size() > 5);
    }
    match.check_pawns();
    return match.server.driver.stats().bytes_sent;
}

TEST_CASE("Layout versions: clients of another version show what both have, whatever is lost",
          "[netdriver][layout_versions]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    for (const double loss : {0.0, 0.25}) {
        std::uint64_t bytes[2][2]{};
        for (const bool is_sharing : {false, true}) {
            MatchOptions options;
            options.seed = seed;
            options.loss = loss;
            options.is_sharing = is_sharing;
            // What is told takes several packets, of which some are lost.
            options.server_config.packet_bytes_max = 256;
            options.client_config.packet_bytes_max = 256;
            INFO("loss " << loss << ", sharing " << is_sharing);
            bytes[0][is_sharing ? 1 : 0] =
                play<newer::Pawn, older::Pawn>(newer::build, older::build, options);
            bytes[1][is_sharing ? 1 : 0] =
                play<older::Pawn, newer::Pawn>(older::build, newer::build, options);
        }
        CHECK(bytes[0][0] == bytes[0][1]);
        CHECK(bytes[1][0] == bytes[1][1]);
    }
}

TEST_CASE("Layout versions: who refuses, on either side, closes as layout mismatch",
          "[netdriver][layout_versions]") {
    for (const LayoutPolicy server : {LayoutPolicy::Refuse, LayoutPolicy::SkipUnknown}) {
        for (const LayoutPolicy client : {LayoutPolicy::Refuse, LayoutPolicy::SkipUnknown}) {
            MatchOptions options;
            options.server_policy = server;
            options.client_policy = client;
            Match<newer::Pawn, older::Pawn> match(newer::build, older::build, options);
            Host<older::Pawn>& host = match.join();
            match.tick(200);
            const bool is_taken =
                server == LayoutPolicy::SkipUnknown && client == LayoutPolicy::SkipUnknown;
            CHECK((host.driver.state() == ConnectionState::Joined) == is_taken);
            CHECK(closed_count(host.driver, CloseReason::LayoutMismatch) == (is_taken ? 0 : 1));
            CHECK(closed_count(match.server.driver, CloseReason::LayoutMismatch) ==
                  (is_taken ? 0 : 1));
        }
    }
}

TEST_CASE("Layout versions: peers of one version are told nothing",
          "[netdriver][layout_versions]") {
    for (const LayoutPolicy policy : {LayoutPolicy::Refuse, LayoutPolicy::SkipUnknown}) {
        MatchOptions options;
        options.server_policy = policy;
        options.client_policy = policy;
        Match<older::Pawn, older::Pawn> match(older::build, older::build, options);
        const ObjectHandle pawn = match.add_pawn();
        Host<older::Pawn>& host = match.join();
        REQUIRE(match.settle());
        CHECK(host.driver.server_layout("Pawn") == &*match.client_schema.pawn);
        CHECK(host.driver.server_layout("Beacon") == nullptr);
        CHECK(!match.find_on(host, pawn).is_null());
        // The welcome, the open, and when the initial batch starts and is finished.
        CHECK(match.server.driver.stats().bunches_sent == 4);
    }
}

TEST_CASE("Layout versions: objects of a class that the client lacks are refused, others are not",
          "[netdriver][layout_versions]") {
    MatchOptions options;
    options.server_has_beacon = true;
    Match<older::Pawn, older::Pawn> match(older::build, older::build, options);
    const ObjectHandle beacon = match.add(**match.server_schema.beacon);
    const ObjectHandle pawn = match.add_pawn();
    match.server.world.get<Beacon>(beacon).int32 = 5;
    Host<older::Pawn>& host = match.join();
    REQUIRE(match.settle());
    match.server.world.get<Beacon>(beacon).int64 = 77;
    match.server.pawn(pawn).health = 7;
    REQUIRE(match.settle());
    CHECK(match.find_on(host, beacon).is_null());
    CHECK(host.world.object_count() == 1);
    CHECK(host.pawn(match.find_on(host, pawn)).health == 7);
    CHECK(host.driver.stats().blocks_skipped >= 2);
    CHECK(host.driver.server_layout("Pawn") == &*match.client_schema.pawn);
    CHECK(host.driver.server_layout("Beacon")->is_receive_only());
    match.server.driver.remove_object(match.ids.at(beacon));
    match.ids.erase(beacon);
    REQUIRE(match.settle());
    CHECK(host.driver.state() == ConnectionState::Joined);
}

TEST_CASE("Layout versions: a class that the server lacks does not matter",
          "[netdriver][layout_versions]") {
    MatchOptions options;
    options.client_has_beacon = true;
    Match<older::Pawn, older::Pawn> match(older::build, older::build, options);
    const ObjectHandle pawn = match.add_pawn();
    Host<older::Pawn>& host = match.join();
    REQUIRE(match.settle());
    CHECK(!match.find_on(host, pawn).is_null());
    CHECK(host.driver.server_layout("Beacon") == nullptr);
}

TEST_CASE("Layout versions: what a client lets itself be told is bounded",
          "[netdriver][layout_versions]") {
    MatchOptions options;
    options.server_has_beacon = true;
    const auto outcome = [&] {
        Match<newer::Pawn, older::Pawn> match(newer::build, older::build, options);
        Host<older::Pawn>& host = match.join();
        match.tick(200);
        CHECK(closed_count(match.server.driver, host.driver.close_reason()) ==
              (host.driver.state() == ConnectionState::Joined ? 0 : 1));
        return host.driver.close_reason();
    };
    CHECK(outcome() == CloseReason::None);
    options.client_config.described_layouts_max = 2;
    CHECK(outcome() == CloseReason::None);
    options.client_config.described_layouts_max = 1;
    CHECK(outcome() == CloseReason::TooManyLayouts);
}

/// A client of ours that takes descriptions, before a server of the test's making.
struct LayoutTaker {
    explicit LayoutTaker(const NetConfig& config = {})
        : server(config, LayoutPolicy::SkipUnknown) {}

    void tell(const Bytes& message) {
        server.deliver_packet({control_bunch(next_sequence++, message)});
    }
    [[nodiscard]] CloseReason reason() { return server.driver().close_reason(); }

    ForgedServer server;
    std::uint16_t next_sequence = 1;
};

Bytes described(const RepLayout& layout) {
    const auto description = describe_layout(layout, std::pmr::get_default_resource());
    Bytes message(1 + description.size());
    BitWriter writer(message);
    writer.write_bits(6, 8);
    writer.write_bytes({description.data(), description.size()});
    return message;
}

Bytes known(const RepLayout& layout, std::uint64_t change = 0) {
    Bytes message(17 + layout.name().size());
    BitWriter writer(message);
    writer.write_bits(5, 8);
    writer.write_bits(layout.fingerprint().low ^ change, 64);
    writer.write_bits(layout.fingerprint().high, 64);
    writer.write_bytes(std::as_bytes(std::span(layout.name().data(), layout.name().size())));
    return message;
}

TEST_CASE("Layout versions: a server that tells nonsense is closed, and leaves nothing behind",
          "[netdriver][layout_versions]") {
    const TestSchema& schema = TestSchema::get();
    TestLayout strange(older::build);  // another Pawn, with a NetSerializer that nobody knows here
    const auto check = [&](const std::vector<Bytes>& messages, CloseReason reason) {
        LayoutTaker client;
        for (const Bytes& message : messages) {
            client.tell(message);
        }
        CHECK(client.reason() == reason);
        CHECK(client.server.world().object_count() == 0);
        if (reason != CloseReason::None) {
            CHECK(closed_count(client.server.driver(), reason) == 1);
        }
    };
    check({known(schema.archive()), known(schema.pawn()), welcome_bytes()}, CloseReason::None);
    check({described(schema.archive()), described(schema.pawn()), welcome_bytes()},
          CloseReason::None);
    check({known(schema.pawn()), known(schema.archive())}, CloseReason::MalformedBunch);
    check({known(schema.pawn()), known(schema.pawn())}, CloseReason::MalformedBunch);
    check({known(schema.pawn(), 1)}, CloseReason::LayoutMismatch);
    check({known(*strange)}, CloseReason::LayoutMismatch);
    check({described(*strange)}, CloseReason::LayoutMismatch);
    check({Bytes{std::byte{6}}}, CloseReason::NotAllowed);
    check({Bytes{std::byte{5}}}, CloseReason::NotAllowed);
    check({Bytes{std::byte{7}}}, CloseReason::NotAllowed);
    check({welcome_bytes(), known(schema.pawn())}, CloseReason::NotAllowed);
    Bytes cut = described(schema.pawn());
    cut.pop_back();
    check({cut}, CloseReason::MalformedBunch);
}

TEST_CASE("Layout versions: the bytes of what a client is told are bounded",
          "[netdriver][layout_versions]") {
    const TestSchema& schema = TestSchema::get();
    NetConfig config;
    config.described_bytes_max = 1'024;
    const std::size_t known_bytes = known(schema.archive()).size();
    for (const std::size_t excess : {std::size_t{0}, std::size_t{1}}) {
        LayoutTaker client(config);
        client.tell(known(schema.archive()));
        REQUIRE(client.reason() == CloseReason::None);
        Bytes message = described(schema.pawn());  // with nonsense behind it
        message.resize(1'024 - known_bytes + excess);
        client.tell(message);
        CHECK(client.reason() ==
              (excess == 0 ? CloseReason::MalformedBunch : CloseReason::TooManyLayouts));
    }
}

TEST_CASE("Layout versions: a layout that is described and is ours is ours",
          "[netdriver][layout_versions]") {
    const TestSchema& schema = TestSchema::get();
    LayoutTaker client;
    client.tell(described(schema.archive()));
    client.tell(known(schema.pawn()));
    REQUIRE(client.reason() == CloseReason::None);
    CHECK(client.server.driver().server_layout("Archive") == &schema.archive());
    CHECK(client.server.driver().server_layout("Pawn") == &schema.pawn());
}

TEST_CASE("Layout versions: a layout without a name is refused", "[netdriver][layout_versions]") {
    const Bytes whole = described(TestSchema::get().marker());
    const std::size_t name_bytes = TestSchema::get().marker().name().size();
    Bytes message(whole.begin(), whole.begin() + 2);  // the kind, and the description's version
    message.push_back(std::byte{0});
    message.insert(message.end(), whole.begin() + 3 + static_cast<std::ptrdiff_t>(name_bytes),
                   whole.end());
    LayoutTaker client;
    client.tell(message);
    CHECK(client.reason() == CloseReason::MalformedBunch);
    LayoutTaker named;
    named.tell(whole);
    CHECK(named.reason() == CloseReason::None);
}

/// A class with a description of some thousand bytes.
struct Wall {
    std::array<std::uint32_t, 150> stones{};
};

Result<const Type*> build_wall(TypeRegistry& registry) {
    return class_builder<Wall>(registry, "Wall").property<&Wall::stones>().build();
}

/// Two drivers that skip what they do not know, and how it ends when one joins the other.
CloseReason outcome_of(const std::vector<const RepLayout*>& server_layouts,
                       const NetConfig& server_config, const RepLayout& client_layout) {
    LoopbackNetwork network({2'048, 1u << 16}, std::pmr::get_default_resource());
    TestWorld world(1);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    settings.layout_policy = LayoutPolicy::SkipUnknown;
    NetDriver client(settings, network.endpoint(PeerId{2}), world);
    settings.config = server_config;
    NetDriver server(settings, network.endpoint(PeerId{1}), world);
    REQUIRE(client.add_layout(client_layout));
    for (const RepLayout* layout : server_layouts) {
        REQUIRE(server.add_layout(*layout));
    }
    REQUIRE(server.listen());
    NetTime now = NetTime::from_milliseconds(1'000);
    REQUIRE(client.connect(PeerId{1}, now));
    for (int i = 0; i < 10; ++i) {
        now = now.plus_milliseconds(20);
        client.tick_dispatch(now);
        client.tick_flush(now);
        server.tick_dispatch(now);
        server.tick_flush(now);
    }
    const bool is_joined = client.state() == ConnectionState::Joined;
    CHECK(server.connection_count() == (is_joined ? 1 : 0));
    CHECK(is_joined == (client.close_reason() == CloseReason::None));
    return client.close_reason();
}

TEST_CASE("Layout versions: a server with a description beyond its largest message describes none",
          "[netdriver][layout_versions]") {
    const TestLayout wall(build_wall);
    const RepLayout& marker = TestSchema::get().marker();
    const std::size_t bytes = described(*wall).size();
    REQUIRE(bytes > 1'200);  // the least that bunch_bytes_max may be
    NetConfig config;
    for (const std::size_t missing : {std::size_t{0}, std::size_t{1}}) {
        INFO("missing " << missing);
        const LogSpy log;
        config.bunch_bytes_max = static_cast<std::uint32_t>(bytes - missing);
        CHECK(outcome_of({&*wall}, config, marker) ==
              (missing == 0 ? CloseReason::None : CloseReason::LayoutMismatch));
        CHECK(LogSpy::messages().size() == missing);
        // Nor is the one before it described.
        CHECK(outcome_of({&TestSchema::get().pawn(), &*wall}, config, marker) ==
              (missing == 0 ? CloseReason::None : CloseReason::LayoutMismatch));
    }
}

TEST_CASE("Layout versions: a server without layouts has none to describe",
          "[netdriver][layout_versions]") {
    const RepLayout& marker = TestSchema::get().marker();
    CHECK(outcome_of({&marker}, {}, marker) == CloseReason::None);
    CHECK(outcome_of({&TestSchema::get().pawn()}, {}, marker) == CloseReason::None);
    CHECK(outcome_of({}, {}, marker) == CloseReason::LayoutMismatch);
}

TEST_CASE(
    "Layout versions: a client reads by no layout whose arrays may grow beyond what it allows",
    "[netdriver][layout_versions]") {
    MatchOptions options;
    // Of the classes here the largest array has 2,048 elements of 100 bytes, or less.
    for (const std::uint32_t bytes : {1'000'000u, 10'000u}) {
        INFO("bytes " << bytes);
        options.client_config.decode_allocation_bytes_max = bytes;
        const LogSpy log;
        Match<newer::Pawn, older::Pawn> match(newer::build, older::build, options);
        Host<older::Pawn>& host = match.join();
        match.tick(200);
        const bool is_taken = bytes > 100'000;
        CHECK(host.driver.close_reason() ==
              (is_taken ? CloseReason::None : CloseReason::LayoutMismatch));
        const bool is_told =
            !LogSpy::messages().empty() &&
            LogSpy::messages().front().find("decode_allocation_bytes_max") != std::string::npos;
        CHECK(is_told == !is_taken);
    }
}

TEST_CASE("Layout versions: numbers are the server's, and none before it has told them",
          "[netdriver][layout_versions]") {
    const TestSchema& schema = TestSchema::get();
    {
        LayoutTaker client;
        client.tell(known(schema.pawn()));
        client.server.deliver_packet({open_bunch(1, NetGUID{1}, 0)});
        CHECK(client.server.world().object_count() == 1);
        client.server.deliver_packet({open_bunch(2, NetGUID{2}, 1)});
        CHECK(client.reason() == CloseReason::MalformedBunch);
    }
    {
        LayoutTaker client;
        client.server.deliver_packet({open_bunch(1, NetGUID{1}, 0)});
        client.tell(known(schema.pawn()));
        CHECK(client.reason() == CloseReason::NotAllowed);
    }
    {
        // A client that refuses does not listen.
        ForgedServer server;
        server.deliver_packet({control_bunch(1, known(schema.pawn()))});
        CHECK(server.driver().close_reason() == CloseReason::NotAllowed);
    }
}

TEST_CASE("Layout versions: descriptions with any bit flipped are refused or safe to play with",
          "[netdriver][layout_versions]") {
    const TestSchema& schema = TestSchema::get();
    const Bytes message = described(schema.pawn());
    const Bytes block = make_block(6, {1, 2}, [](BitWriter& writer) {
        writer.write_bits(77, 32);
        writer.write_packed_uint(0);
    });
    std::uint64_t joined = 0;
    for (std::size_t bit = 8; bit < message.size() * 8; bit += 3) {
        Bytes flipped = message;
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
        LayoutTaker client;
        client.tell(flipped);
        client.tell(welcome_bytes());
        joined += client.server.is_joined() ? 1u : 0u;
        client.server.deliver_packet({open_bunch(1, NetGUID{1}, 0)}, block_of(1, block));
        REQUIRE(client.server.world().object_count() <= 1);
    }
    CHECK(joined > 0);
}

}  // namespace
}  // namespace replayout::test
