// SPDX-License-Identifier: MIT
//
// The scenario of the benchmark of joins, small, and by its exact counters.
#include "support/joining_clients.h"

#include <cstdint>

#include "support/checks/catch.h"

namespace replayout::bench {
namespace {

[[nodiscard]] JoinSettings small_world() {
    JoinSettings settings;
    settings.clients = 12;
    settings.objects = 600;
    settings.opens_per_flush_max = 400;
    settings.join_seconds = 0.5;
    return settings;
}

}  // namespace

TEST_CASE("Joining clients: all have all, and each value is encoded once", "[bench][join]") {
    const JoinSettings settings = small_world();
    const JoinResult result = join_clients(settings);
    REQUIRE(result.error.empty());
    const std::uint64_t pairs = std::uint64_t{settings.clients} * settings.objects;
    CHECK(result.objects_equal == pairs);
    CHECK(result.stats.channels_opened == pairs);
    CHECK(result.stats.replication.values_encoded == result.values_to_encode);
    CHECK(result.batches_started == settings.clients);
    CHECK(result.batches_finished == settings.clients);
    // The bound is what takes the time: 18 flushes at least, and none may open more.
    CHECK(result.opens_in_flush_max == settings.opens_per_flush_max);
    CHECK(result.seconds >= 18.0 / 60);
    CHECK(result.seconds < 1.0);
    CHECK(result.stats.packets_lost == 0);
}

TEST_CASE("Joining clients: what changes meanwhile is encoded once a change", "[bench][join]") {
    JoinSettings settings = small_world();
    settings.changes_per_tick = 20;
    const JoinResult result = join_clients(settings);
    REQUIRE(result.error.empty());
    CHECK(result.objects_equal == std::uint64_t{settings.clients} * settings.objects);
    // Fewer where a value changed again before anybody was sent it.
    CHECK(result.stats.replication.values_encoded <=
          result.values_to_encode + result.values_changed);
    CHECK(result.stats.replication.values_encoded > result.values_to_encode);
}

TEST_CASE("Joining clients: who joins alone and who joins in a crowd cost as many encodings",
          "[bench][join]") {
    JoinSettings settings = small_world();
    const std::uint64_t of_crowd = join_clients(settings).stats.replication.values_encoded;
    settings.clients = 1;
    CHECK(join_clients(settings).stats.replication.values_encoded == of_crowd);
}

}  // namespace replayout::bench
