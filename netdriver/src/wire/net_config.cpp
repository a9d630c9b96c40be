// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_config.h>

#include <string>

namespace replayout {

namespace {

struct Range {
    const char* name;
    std::uint32_t value;
    std::uint32_t min;
    std::uint32_t max;
    const char* min_name = nullptr;  ///< the limit that `min` comes from
    const char* max_name = nullptr;
};

/// ", outside 1 to 499, as timeout_ms says".
[[nodiscard]] std::string text_of(const Range& range) {
    std::string text =
        ", outside " + std::to_string(range.min) + " to " + std::to_string(range.max);
    if (range.value < range.min && range.min_name != nullptr) {
        text += std::string(", as ") + range.min_name + " says";
    } else if (range.value > range.max && range.max_name != nullptr) {
        text += std::string(", as ") + range.max_name + " says";
    }
    return text;
}

}  // namespace

Status NetConfig::validate() const {
    const Range ranges[] = {
        {"packet_bytes_max", packet_bytes_max, 256, 1'400},
        {"bytes_per_second_max", bytes_per_second_max, bytes_per_second_max == 0 ? 0u : 1'800,
         1'000'000'000},
        {"lost_packets_per_second_max", lost_packets_per_second_max, 1, 1'000'000},
        {"connections_max", connections_max, 1, 4'096},
        {"channels_max", channels_max, 1, 1'048'576},
        {"bunch_bytes_max", bunch_bytes_max, 1'200, 1'048'576},
        {"reliable_waiting_max", reliable_waiting_max, 1, 65'536},
        {"reliable_waiting_bytes_max", reliable_waiting_bytes_max, bunch_bytes_max, 64u << 20,
         "bunch_bytes_max"},
        {"client_waiting_max", client_waiting_max, 1, 65'536},
        {"client_waiting_bytes_max", client_waiting_bytes_max, 1'200, 64u << 20},
        {"clients_waiting_bytes_max", clients_waiting_bytes_max, 0, 1u << 30},
        {"waiting_timeout_ms", waiting_timeout_ms, 1'000, 3'600'000},
        {"datagrams_per_connection_max", datagrams_per_connection_max, 1, 1'000'000},
        {"datagrams_per_dispatch_max", datagrams_per_dispatch_max, 1, 1'000'000},
        {"reorder_packets_max", reorder_packets_max, 0, 224},
        {"references_per_object_max", references_per_object_max, 0, 65'536},
        {"references_max", references_max, 0, 16'777'216},
        {"kept_bytes_max", kept_bytes_max, 0, 1u << 30},
        {"kept_bytes_per_object_max", kept_bytes_per_object_max, 0, 64u << 20},
        {"decode_allocation_bytes_max", decode_allocation_bytes_max, 1'024, 1u << 30},
        {"dynamic_bytes_max", dynamic_bytes_max, 0, 1u << 31},
        {"described_layouts_max", described_layouts_max, 1, 65'536},
        {"described_bytes_max", described_bytes_max, 1'024, 64u << 20},
        {"call_bytes_max", call_bytes_max, 0, 1'048'576},
        {"client_call_bytes_max", client_call_bytes_max, 0, 1'048'576},
        {"calls_waiting_max", calls_waiting_max, 1, 4'096},
        {"calls_full_timeout_ms", calls_full_timeout_ms, 0, 3'600'000},
        {"close_waits_for_calls_ms", close_waits_for_calls_ms, 0, 3'600'000},
        {"queued_calls_per_function_max", queued_calls_per_function_max, 1, 1'024},
        {"initial_opens_per_flush_max", initial_opens_per_flush_max, 1, 1'048'576},
        {"destroyed_names_max", destroyed_names_max, 0, 1'048'576},
        {"called_channels_max", called_channels_max, 1, 1'048'576},
        {"calls_per_second_max", calls_per_second_max, 1, 1'000'000},
        {"calls_burst_max", calls_burst_max, 1, 1'000'000},
        {"client_updates_per_second_max", client_updates_per_second_max, 1, 1'000'000},
        {"client_updates_burst_max", client_updates_burst_max, 1, 1'000'000},
        {"function_calls_per_second_max", function_calls_per_second_max, 1, 1'000'000},
        {"function_calls_burst_max", function_calls_burst_max, 1, 1'000'000},
        {"client_strikes_per_second_max", client_strikes_per_second_max, 1, 1'000'000},
        {"join_timeout_ms", join_timeout_ms, 1'000, 3'600'000},
        {"probe_ms", probe_ms, 1, probe_max_ms, nullptr, "probe_max_ms"},
        {"probe_max_ms", probe_max_ms, probe_ms, keep_alive_ms, "probe_ms", "keep_alive_ms"},
        {"keep_alive_ms", keep_alive_ms, 1, timeout_ms - 1, nullptr, "timeout_ms"},
        {"timeout_ms", timeout_ms, 2, 3'600'000},
        {"linger_ms", linger_ms, 1, 60'000},
        {"first_sequence", first_sequence, 1, 65'535},
    };
    for (const Range& range : ranges) {
        if (range.value < range.min || range.value > range.max) {
            return Error{ErrorCode::InvalidArgument, std::string("net config: ") + range.name +
                                                         " is " + std::to_string(range.value) +
                                                         text_of(range)};
        }
    }
    return {};
}

}  // namespace replayout
