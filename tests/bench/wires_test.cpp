// SPDX-License-Identifier: MIT
//
// Matches over sockets of this machine: in one process, and with clients that know nothing of the
// server but what it sends.
#include "bench/played_match.h"
#include "match/guests/match_guests.h"
#include "match/guests/match_sockets.h"
#include "match/session/match_host.h"
#include "match/session/progress.h"
#include "support/checks/catch.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace replayout;
using namespace replayout::match;
using replayout::test::battle_of;
using replayout::test::played;
using replayout::test::schema_of;

namespace {

constexpr MatchTransport over_sockets[] = {MatchTransport::Udp, MatchTransport::Enet,
                                           MatchTransport::WebSocket};

/// Those of this build that this machine has sockets for; of others it is said that they are left
/// out.
[[nodiscard]] std::vector<MatchTransport> usable_transports() {
    std::vector<MatchTransport> usable;
    for (const MatchTransport transport : over_sockets) {
        const auto server = listen_at(transport, "127.0.0.1:0");
        if (server) {
            usable.push_back(transport);
        } else {
            WARN("left out: " << server.error().message);
        }
    }
    return usable;
}

[[nodiscard]] std::vector<Recording> battle(std::uint32_t ticks, std::uint64_t seed = 1) {
    return {battle_of(ticks, seed)};
}

/// Both sides of a match, each on a thread of its own.
struct BothSides {
    MatchResult server;
    GuestsResult clients;
};

struct Sides {
    MatchOptions server;
    MatchOptions clients;
    std::vector<Recording> server_recordings;
    std::vector<Recording> client_recordings;
};

[[nodiscard]] Sides sides(MatchTransport transport, std::uint32_t clients, std::uint32_t ticks) {
    Sides sides;
    sides.server.transport = transport;
    sides.server.clients = clients;
    sides.server.is_quiet = true;
    sides.server.timeout_s = 20;
    sides.clients = sides.server;
    sides.server_recordings = battle(ticks);
    sides.client_recordings = battle(ticks);
    return sides;
}

[[nodiscard]] BothSides play(Sides sides) {
    auto transport = listen_at(sides.server.transport, "127.0.0.1:0");
    REQUIRE(transport);
    sides.server.serve = (*transport)->local_address();
    sides.clients.connect = sides.server.serve;
    const auto server_schema = schema_of(sides.server_recordings, sides.server);
    const auto client_schema = schema_of(sides.client_recordings, sides.clients);
    MatchGuests guests(sides.clients, sides.client_recordings, *client_schema);
    REQUIRE(guests.open());
    BothSides result;
    std::thread clients([&] { result.clients = guests.run(); });
    MatchHost host(sides.server, sides.server_recordings, *server_schema, **transport);
    Progress progress("serving", host.tick_count(), true);
    result.server = host.run(progress);
    clients.join();
    return result;
}

}  // namespace

TEST_CASE("Wires: one seed and recording give the same packets over every transport",
          "[bench][wires]") {
    const auto recordings = battle(120);
    MatchOptions options;
    options.clients = 5;
    options.loss = 0;
    options.latency_ms = 0;
    options.jitter_ms = 0;
    options.churn_s = 1;
    options.owners_s = 0.5;
    const MatchResult expected = played(options, recordings);
    REQUIRE(expected.is_good(options));
    REQUIRE(expected.stats.replication.blocks_sent > 1'000);
    for (const MatchTransport transport : usable_transports()) {
        CAPTURE(name_of(transport));
        options.transport = transport;
        const MatchResult result = played(options, recordings);
        INFO(result.first_difference << result.twin_difference);
        CHECK(result.is_good(options));
        CHECK(result.packets_digest == expected.packets_digest);
        CHECK(result.server_crc32 == expected.server_crc32);
    }
}

TEST_CASE("Wires: clients elsewhere end equal, and are sent the same values over every transport",
          "[bench][wires]") {
    std::optional<ReplicationCounters> first;
    for (const MatchTransport transport : usable_transports()) {
        CAPTURE(name_of(transport));
        Sides both = sides(transport, 6, 90);
        const BothSides result = play(both);
        INFO(result.server.first_difference << result.server.twin_difference);
        INFO(result.clients.first_difference);
        CHECK(result.server.is_good(both.server));
        CHECK(result.clients.is_good(both.clients));
        CHECK(result.server.clients_joined == 6);
        CHECK(result.clients.clients_equal == 6);
        CHECK(result.clients.client_crc32 ==
              std::vector<std::uint32_t>(6, result.server.server_crc32));
        CHECK(result.server.client_crc32 == result.clients.client_crc32);
        CHECK(result.server.server_crc32 == end_state_crc32(both.server_recordings[0]));
        const ReplicationCounters& sent = result.server.stats.replication;
        if (!first) {
            first = sent;
        }
        CHECK(sent.properties_changed == first->properties_changed);
        // What was lost is sent again; where nothing was, all of it is the same.
        if (result.server.stats.packets_lost == 0) {
            CHECK(sent.blocks_sent == first->blocks_sent);
            CHECK(sent.block_bytes_sent == first->block_bytes_sent);
            CHECK(sent.properties_sent == first->properties_sent);
            CHECK(sent.values_encoded == first->values_encoded);
        }
    }
}

TEST_CASE("Wires: with interest, owners and quantisation each client elsewhere holds what it may",
          "[bench][wires]") {
    const auto usable = usable_transports();
    if (usable.empty()) {
        return;
    }
    Sides both = sides(usable.front(), 4, 90);
    both.server.interest = MatchInterest::Grid;
    both.server.radius = 12;
    both.server.owners_s = 0.5;
    both.server.is_push_based = both.clients.is_push_based = true;
    both.server.is_quantised = both.clients.is_quantised = true;
    const BothSides result = play(both);
    INFO(result.server.first_difference << result.server.twin_difference);
    INFO(result.clients.first_difference);
    CHECK(result.server.is_good(both.server));
    CHECK(result.clients.is_good(both.clients));
    CHECK(result.server.pairs_relevant < result.server.pairs);
    CHECK(result.clients.client_crc32 == result.clients.server_crc32);
    const std::vector<std::uint32_t> whole(4, result.server.server_crc32);
    CHECK(result.clients.client_crc32 != whole);
}

TEST_CASE("Wires: both sides write what they are, and what was held", "[bench][wires]") {
    const auto usable = usable_transports();
    if (usable.empty()) {
        return;
    }
    Sides both = sides(usable.front(), 2, 30);
    both.server.speed = 20;
    const BothSides result = play(both);
    CHECK(result.clients.first_difference.empty());
    const auto server = nlohmann::json::parse(to_json(both.server, result.server));
    const auto clients = nlohmann::json::parse(to_json(both.clients, result.clients));
    CHECK(server["transport"] == name_of(usable.front()));
    CHECK(server["options"]["speed"] == 20);
    CHECK(clients["role"] == "clients");
    CHECK(server["played"] == true);
    for (const auto& json : {server, clients}) {
        CHECK(json["converged"] == true);
        CHECK(json["clients"] == 2);
        CHECK(json["clients_joined"] == 2);
        CHECK(json["clients_equal"] == 2);
        CHECK(json["ticks"] == 30);
        CHECK(json["client_crc32"].size() == 2);
        CHECK(json["client_crc32"][1] == server["server_crc32"]);
    }
    CHECK(report(both.clients, result.clients).find("equal the server") != std::string::npos);
}

TEST_CASE("Wires: who has another recording, or as much of it, is told so", "[bench][wires]") {
    const auto usable = usable_transports();
    if (usable.empty()) {
        return;
    }
    Sides both = sides(usable.front(), 2, 60);
    const bool has_other_seed = GENERATE(true, false);
    both.client_recordings = has_other_seed ? battle(60, 2) : battle(50);
    const BothSides result = play(both);
    CHECK(result.server.clients_joined == 2);
    CHECK(result.server.clients_equal == 0);
    CHECK(result.clients.clients_equal == 0);
    CHECK_FALSE(result.server.is_good(both.server));
    CHECK_FALSE(result.clients.is_good(both.clients));
    CHECK(result.server.first_difference == result.clients.first_difference);
    if (!has_other_seed) {
        CHECK(result.clients.first_difference ==
              "client 0: the server played 60 ticks, which here are 50");
    }
}

TEST_CASE("Wires: where nobody comes both sides say so, and end", "[bench][wires]") {
    for (const MatchTransport transport : usable_transports()) {
        CAPTURE(name_of(transport));
        Sides both = sides(transport, 2, 30);
        both.server.timeout_s = 0.2;
        both.clients.timeout_s = 0.2;
        auto socket = listen_at(transport, "127.0.0.1:0");
        REQUIRE(socket);
        both.server.serve = both.clients.connect = (*socket)->local_address();
        const auto schema = schema_of(both.server_recordings, both.server);
        MatchHost host(both.server, both.server_recordings, *schema, **socket);
        Progress progress("serving", host.tick_count(), true);
        const MatchResult result = host.run(progress);
        CHECK_FALSE(result.is_good(both.server));
        CHECK(result.first_difference == "nobody came within 0.2 s");
        CHECK(report(both.server, result) ==
              "\nreplayout match, seed 1\n\n  NOT PLAYED: nobody came within 0.2 s\n");
        const auto json = nlohmann::json::parse(to_json(both.server, result));
        CHECK(json["played"] == false);
        CHECK(json["converged"] == false);
        socket->reset();  // So nobody is there.
        MatchGuests guests(both.clients, both.client_recordings, *schema);
        REQUIRE(guests.open());
        const GuestsResult left = guests.run();
        CHECK_FALSE(left.is_good(both.clients));
        CHECK(left.first_difference == "client 0: the server does not answer");
        CHECK(report(both.clients, left)
                  .ends_with("\n\n  NOT PLAYED: client 0: the server does not answer\n"));
    }
}

TEST_CASE("Wires: where some come and others do not, the server says how many did",
          "[bench][wires]") {
    const auto usable = usable_transports();
    if (usable.empty()) {
        return;
    }
    Sides both = sides(usable.front(), 3, 30);
    both.server.timeout_s = 3;
    both.clients.clients = 2;
    const BothSides result = play(both);
    CHECK_FALSE(result.server.is_good(both.server));
    CHECK_FALSE(result.server.is_played);
    CHECK(result.server.clients_joined == 2);
    CHECK(result.server.first_difference == "only 2 of 3 clients came within 3 s");
}

TEST_CASE("Wires: an address that is none is refused with a sentence", "[bench][wires]") {
    for (const MatchTransport transport : usable_transports()) {
        CHECK_FALSE(listen_at(transport, "nowhere"));
        CHECK_FALSE(connect_to(transport, "127.0.0.1:port"));
    }
    CHECK_FALSE(listen_at(MatchTransport::Loopback, "127.0.0.1:0"));
}
