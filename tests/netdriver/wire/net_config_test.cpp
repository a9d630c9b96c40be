// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_config.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "support/checks/catch.h"

namespace replayout {
namespace {

struct Limit {
    const char* name;
    std::uint32_t NetConfig::*value;
    std::uint32_t min;
    std::uint32_t max;
};

// Where one limit bounds another, of a configuration that leaves it all its room.
constexpr Limit limits[] = {
    {"packet_bytes_max", &NetConfig::packet_bytes_max, 256, 1'400},
    {"bytes_per_second_max", &NetConfig::bytes_per_second_max, 1'800, 1'000'000'000},
    {"lost_packets_per_second_max", &NetConfig::lost_packets_per_second_max, 1, 1'000'000},
    {"connections_max", &NetConfig::connections_max, 1, 4'096},
    {"channels_max", &NetConfig::channels_max, 1, 1'048'576},
    {"destroyed_names_max", &NetConfig::destroyed_names_max, 0, 1'048'576},
    {"initial_opens_per_flush_max", &NetConfig::initial_opens_per_flush_max, 1, 1'048'576},
    {"reorder_packets_max", &NetConfig::reorder_packets_max, 0, 224},
    {"bunch_bytes_max", &NetConfig::bunch_bytes_max, 1'200, 1'048'576},
    {"call_bytes_max", &NetConfig::call_bytes_max, 0, 1'048'576},
    {"close_waits_for_calls_ms", &NetConfig::close_waits_for_calls_ms, 0, 3'600'000},
    {"calls_full_timeout_ms", &NetConfig::calls_full_timeout_ms, 0, 3'600'000},
    {"reliable_waiting_max", &NetConfig::reliable_waiting_max, 1, 65'536},
    {"reliable_waiting_bytes_max", &NetConfig::reliable_waiting_bytes_max, 64 * 1'024, 64u << 20},
    {"datagrams_per_dispatch_max", &NetConfig::datagrams_per_dispatch_max, 1, 1'000'000},
    {"references_per_object_max", &NetConfig::references_per_object_max, 0, 65'536},
    {"kept_bytes_per_object_max", &NetConfig::kept_bytes_per_object_max, 0, 64u << 20},
    {"decode_allocation_bytes_max", &NetConfig::decode_allocation_bytes_max, 1'024, 1u << 30},
    {"dynamic_bytes_max", &NetConfig::dynamic_bytes_max, 0, 1u << 31},
    {"described_layouts_max", &NetConfig::described_layouts_max, 1, 65'536},
    {"described_bytes_max", &NetConfig::described_bytes_max, 1'024, 64u << 20},
    {"calls_waiting_max", &NetConfig::calls_waiting_max, 1, 4'096},
    {"queued_calls_per_function_max", &NetConfig::queued_calls_per_function_max, 1, 1'024},
    {"called_channels_max", &NetConfig::called_channels_max, 1, 1'048'576},
    {"calls_per_second_max", &NetConfig::calls_per_second_max, 1, 1'000'000},
    {"calls_burst_max", &NetConfig::calls_burst_max, 1, 1'000'000},
    {"client_updates_per_second_max", &NetConfig::client_updates_per_second_max, 1, 1'000'000},
    {"client_updates_burst_max", &NetConfig::client_updates_burst_max, 1, 1'000'000},
    {"function_calls_per_second_max", &NetConfig::function_calls_per_second_max, 1, 1'000'000},
    {"function_calls_burst_max", &NetConfig::function_calls_burst_max, 1, 1'000'000},
    {"client_waiting_max", &NetConfig::client_waiting_max, 1, 65'536},
    {"client_waiting_bytes_max", &NetConfig::client_waiting_bytes_max, 1'200, 64u << 20},
    {"clients_waiting_bytes_max", &NetConfig::clients_waiting_bytes_max, 0, 1u << 30},
    {"client_call_bytes_max", &NetConfig::client_call_bytes_max, 0, 1'048'576},
    {"client_strikes_per_second_max", &NetConfig::client_strikes_per_second_max, 1, 1'000'000},
    {"datagrams_per_connection_max", &NetConfig::datagrams_per_connection_max, 1, 1'000'000},
    {"references_max", &NetConfig::references_max, 0, 16'777'216},
    {"kept_bytes_max", &NetConfig::kept_bytes_max, 0, 1u << 30},
    {"waiting_timeout_ms", &NetConfig::waiting_timeout_ms, 1'000, 3'600'000},
    {"join_timeout_ms", &NetConfig::join_timeout_ms, 1'000, 3'600'000},
    {"keep_alive_ms", &NetConfig::keep_alive_ms, 400, 9'999},
    {"probe_ms", &NetConfig::probe_ms, 1, 400},
    {"probe_max_ms", &NetConfig::probe_max_ms, 100, 1'000},
    {"timeout_ms", &NetConfig::timeout_ms, 1'001, 3'600'000},
    {"linger_ms", &NetConfig::linger_ms, 1, 60'000},
    {"first_sequence", &NetConfig::first_sequence, 1, 65'535},
};

/// What validate() says of the default with one value set otherwise.
[[nodiscard]] Status validate_with(const Limit& limit, std::uint32_t value) {
    NetConfig config;
    config.*limit.value = value;
    return config.validate();
}

}  // namespace

TEST_CASE("NetConfig: the defaults are valid", "[netdriver][net_config]") {
    CHECK(NetConfig().validate());
}

TEST_CASE("NetConfig: every limit of it is one of these", "[netdriver][net_config]") {
    // All are numbers of 32 bits, but for has_congestion_control.
    CHECK(sizeof(NetConfig) == (std::size(limits) + 1) * sizeof(std::uint32_t));
}

TEST_CASE("NetConfig: each limit is held at both ends of its range", "[netdriver][net_config]") {
    for (const Limit& limit : limits) {
        INFO(limit.name);
        CHECK(validate_with(limit, limit.min));
        CHECK(validate_with(limit, limit.max));
        CHECK(!validate_with(limit, limit.max + 1));
        if (limit.min > 0) {
            CHECK(!validate_with(limit, limit.min - 1));
        }
    }
}

TEST_CASE("NetConfig: a refusal names the limit, the value and the range",
          "[netdriver][net_config]") {
    NetConfig config;
    config.packet_bytes_max = 255;
    const Status status = config.validate();
    REQUIRE(!status);
    CHECK(status.error().code == ErrorCode::InvalidArgument);
    CHECK(status.error().message == "net config: packet_bytes_max is 255, outside 256 to 1400");
}

TEST_CASE("NetConfig: every limit beyond the ends of its range is refused by its name",
          "[netdriver][net_config]") {
    for (const Limit& limit : limits) {
        INFO(limit.name);
        const Status status = validate_with(limit, limit.max + 1);
        REQUIRE(!status);
        // What is bounded by another may be blamed on either of the two.
        const bool is_named = status.error().message.find("net config: ") == 0;
        CHECK(is_named);
    }
}

TEST_CASE("NetConfig: a whole message may wait, whatever its size", "[netdriver][net_config]") {
    NetConfig config;
    config.bunch_bytes_max = 1'048'576;
    config.reliable_waiting_bytes_max = 1'048'575;
    CHECK(!config.validate());
    config.reliable_waiting_bytes_max = 1'048'576;
    CHECK(config.validate());
}

TEST_CASE("NetConfig: probe, keep-alive and timeout come in this order",
          "[netdriver][net_config]") {
    NetConfig config;
    config.probe_ms = 500;
    config.probe_max_ms = 500;
    config.keep_alive_ms = 500;
    config.timeout_ms = 501;
    CHECK(config.validate());
    config.timeout_ms = 500;
    CHECK(!config.validate());
    config.timeout_ms = 501;
    config.keep_alive_ms = 499;
    CHECK(!config.validate());
    config.timeout_ms = 0;
    CHECK(!config.validate());
}

TEST_CASE("NetConfig: a message has its own bound, however much may wait",
          "[netdriver][net_config]") {
    NetConfig config;
    config.reliable_waiting_bytes_max = 64u << 20;
    config.bunch_bytes_max = 1'048'576;
    CHECK(config.validate());
    config.bunch_bytes_max = 1'048'577;
    CHECK(!config.validate());
}

TEST_CASE("NetConfig: the shortest times are a millisecond, and two until it is over",
          "[netdriver][net_config]") {
    NetConfig shortest;
    shortest.probe_ms = 1;
    shortest.probe_max_ms = 1;
    shortest.keep_alive_ms = 1;
    shortest.timeout_ms = 2;
    CHECK(shortest.validate());
    for (const auto time : {&NetConfig::probe_ms, &NetConfig::probe_max_ms,
                            &NetConfig::keep_alive_ms, &NetConfig::timeout_ms}) {
        NetConfig config = shortest;
        --(config.*time);
        CHECK(!config.validate());
    }
}

}  // namespace replayout
