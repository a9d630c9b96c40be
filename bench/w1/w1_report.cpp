// SPDX-License-Identifier: MIT
#include "command_line.h"
#include "report_text.h"
#include "w1/w1_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace replayout::bench {

namespace {

[[nodiscard]] double quotient(double part, double whole) noexcept {
    return whole == 0 ? 0.0 : part / whole;
}

void add_row(std::string& text, const char* subject, double ns) {
    print(text, "  %-24s %10.1f\n", subject, ns / 1e3);
}

/// How many times as long as the yardstick we took.
void add_row(std::string& text, const char* subject, double ns, double ours_ns) {
    print(text, "  %-24s %10.1f %10.3f\n", subject, ns / 1e3, quotient(ours_ns, ns));
}

[[nodiscard]] std::uint64_t whole(double ns) noexcept {
    return static_cast<std::uint64_t>(std::llround(ns));
}

}  // namespace

std::string report(const W1Options& options, const W1Result& result) {
    std::string text;
    print(text,
          "\nreplayout w1, %s objects, %s connections, %s ticks by %s, sharing %s, push %s, "
          "%u workers\n\n",
          grouped(options.objects).c_str(), grouped(options.connections).c_str(),
          grouped(options.ticks).c_str(), grouped(options.turn).c_str(), name_of(options.sharing),
          options.is_push_based ? "on" : "off", options.workers);
    print(text, "  %-24s %10s %10s\n", "", "us a tick", "ours / it");
    add_row(text, "ours", result.ours_ns);
    add_row(text, "  compare and encode", result.ours_compare_encode_ns);
    add_row(text, "  assembly and acks", result.ours_assembly_ns);
    add_row(text, "naive, polling", result.naive_poll_ns, result.ours_ns);
    add_row(text, "naive, with dirty list", result.naive_dirty_ns, result.ours_ns);
    add_row(text, options.is_push_based ? "shared once, dirty list" : "shared once, polling",
            result.shared_once_ns, result.ours_ns);
    add_row(text, "memcpy of our packets", result.memcpy_ns, result.ours_ns);
    print(text, "\n  %.1f objects and %.1f values change in a tick; %.1f serializer calls\n",
          result.objects_per_tick, result.values_per_tick, result.serializer_calls_per_tick);
    print(text, "  %.1f bytes in %.2f packets for each connection (%u at most); naive %.1f bytes\n",
          result.bytes_per_connection, result.packets_per_tick, result.packets_of_tick_max,
          result.naive_bytes_per_connection);
    print(text, "  %.2f %% of the blocks copied whole; %.2f bytes a pair; %s allocations\n",
          100 * result.hit_rate, result.bytes_per_pair, grouped(result.allocations).c_str());
    if (options.is_push_based) {
        print(text, "  %.1f us of the game for its marks, in none of the above\n",
              result.marking_ns / 1e3);
    }
    return text;
}

std::string to_json(const W1Options& options, const W1Result& result) {
    nlohmann::ordered_json json;
    json["objects"] = options.objects;
    json["connections"] = options.connections;
    json["ticks"] = options.ticks;
    json["turn"] = options.turn;
    json["workers"] = options.workers;
    json["sharing"] = name_of(options.sharing);
    json["push"] = options.is_push_based ? "on" : "off";
    json["ours_ns"] = whole(result.ours_ns);
    json["ours_compare_encode_ns"] = whole(result.ours_compare_encode_ns);
    json["ours_assembly_ns"] = whole(result.ours_assembly_ns);
    json["ours_dispatch_ns"] = whole(result.ours_dispatch_ns);
    json["marking_ns"] = whole(result.marking_ns);
    json["naive_poll_ns"] = whole(result.naive_poll_ns);
    json["naive_dirty_ns"] = whole(result.naive_dirty_ns);
    json["shared_once_ns"] = whole(result.shared_once_ns);
    json["shared_once_is_given"] = options.is_push_based ? "dirty list" : "nothing";
    json["memcpy_ns"] = whole(result.memcpy_ns);
    json["bytes_per_connection"] = result.bytes_per_connection;
    json["naive_bytes_per_connection"] = result.naive_bytes_per_connection;
    json["packets_per_tick"] = result.packets_per_tick;
    json["packets_of_tick_max"] = result.packets_of_tick_max;
    json["objects_per_tick"] = result.objects_per_tick;
    json["values_per_tick"] = result.values_per_tick;
    json["serializer_calls_per_tick"] = result.serializer_calls_per_tick;
    json["allocations"] = result.allocations;
    json["bytes_per_pair"] = result.bytes_per_pair;
    json["hit_rate"] = result.hit_rate;
    json["ratios"] = {
        {"ours_to_naive_poll", quotient(result.ours_ns, result.naive_poll_ns)},
        {"ours_to_naive_dirty", quotient(result.ours_ns, result.naive_dirty_ns)},
        {"ours_to_shared_once", quotient(result.ours_ns, result.shared_once_ns)},
        {"ours_to_memcpy", quotient(result.ours_ns, result.memcpy_ns)},
    };
    return json.dump(2) + "\n";
}

}  // namespace replayout::bench
