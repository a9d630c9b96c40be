// SPDX-License-Identifier: MIT
#include "support/report/command_line.h"
#include "support/report/report_text.h"
#include "w1/w1_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace replayout::bench {

namespace {

[[nodiscard]] double quotient(double part, double whole) noexcept {
    return whole == 0 ? 0.0 : part / whole;
}

using Figure = double W1Times::*;

void add_ours(std::string& text, const char* subject, const W1Result& result, Figure ns) {
    print(text, "  %-24s %10.1f %10s %12.1f\n", subject, result.warm.*ns / 1e3, "",
          result.cold.*ns / 1e3);
}

/// With how many times as long as the yardstick we took.
void add_yardstick(std::string& text, const char* subject, const W1Result& result, Figure ns) {
    print(text, "  %-24s %10.1f %10.3f %12.1f %10.3f\n", subject, result.warm.*ns / 1e3,
          quotient(result.warm.ours_ns, result.warm.*ns), result.cold.*ns / 1e3,
          quotient(result.cold.ours_ns, result.cold.*ns));
}

/// Of a turn of one tick none finds what the tick before left in the caches.
[[nodiscard]] bool has_warm_ticks(const W1Options& options) noexcept {
    return options.turn > 1;
}

void add_method(std::string& text, const W1Options& options) {
    if (!has_warm_ticks(options)) {
        text +=
            "\n  by turns of 1, both times: each finds the caches full of what the others went\n"
            "  through, and nothing here is warm\n";
        return;
    }
    print(
        text,
        "\n  warm: by turns of %s, each finds its memory in the caches; cold: by turns of 1, each\n"
        "  finds the caches full of what the others went through\n",
        grouped(options.turn).c_str());
}

void add_times(std::string& text, const W1Options& options, const W1Result& result) {
    const bool has_warm = has_warm_ticks(options);
    print(text, "  %-24s %10s %10s %12s %10s\n", "", has_warm ? "warm" : "cold", "",
          has_warm ? "cold" : "cold again", "");
    print(text, "  %-24s %10s %10s %12s %10s\n", "", "us a tick", "ours / it", "us a tick",
          "ours / it");
    add_ours(text, "ours", result, &W1Times::ours_ns);
    add_ours(text, "  compare and encode", result, &W1Times::ours_compare_encode_ns);
    add_ours(text, "  assembly and acks", result, &W1Times::ours_assembly_ns);
    add_yardstick(text, "naive, polling", result, &W1Times::naive_poll_ns);
    add_yardstick(text, "naive, with dirty list", result, &W1Times::naive_dirty_ns);
    add_yardstick(text, options.is_push_based ? "shared once, dirty list" : "shared once, polling",
                  result, &W1Times::shared_once_ns);
    add_yardstick(text, "memcpy of our packets", result, &W1Times::memcpy_ns);
    add_method(text, options);
}

void add_times(nlohmann::ordered_json& json, const W1Times& times) {
    for (const W1Figure& figure : w1_figures) {
        json[figure.name] = static_cast<std::uint64_t>(std::llround(times.*figure.ns));
    }
    json["ratios"] = {
        {"ours_to_naive_poll", quotient(times.ours_ns, times.naive_poll_ns)},
        {"ours_to_naive_dirty", quotient(times.ours_ns, times.naive_dirty_ns)},
        {"ours_to_shared_once", quotient(times.ours_ns, times.shared_once_ns)},
        {"ours_to_memcpy", quotient(times.ours_ns, times.memcpy_ns)},
    };
}

}  // namespace

std::string report(const W1Options& options, const W1Result& result) {
    const bool has_warm = has_warm_ticks(options);
    std::string text;
    print(text,
          "\nreplayout w1, %s objects, %s connections, %s ticks %s and %s cold%s, sharing %s, "
          "push %s, %u worker%s\n\n",
          grouped(options.objects).c_str(), grouped(options.connections).c_str(),
          grouped(options.ticks).c_str(), has_warm ? "warm" : "cold",
          grouped(options.ticks).c_str(), has_warm ? "" : " again", name_of(options.sharing),
          on_or_off(options.is_push_based), options.workers, options.workers == 1 ? "" : "s");
    add_times(text, options, result);
    print(text, "\n  %.1f objects and %.1f values change in a tick; %.1f are encoded\n",
          result.objects_per_tick, result.values_per_tick, result.values_encoded_per_tick);
    print(text, "  %.1f bytes in %.2f packets for each connection (%u at most); naive %.1f bytes\n",
          result.bytes_per_connection, result.packets_per_tick, result.packets_of_tick_max,
          result.naive_bytes_per_connection);
    print(text, "  %.2f %% of the blocks copied whole; %.2f bytes a pair; %s allocations\n",
          100 * result.hit_rate, result.bytes_per_pair, grouped(result.allocations).c_str());
    if (options.is_push_based) {
        print(text, "  %.1f us of the game for its marks (%s %.1f), in none of the above\n",
              result.warm.marking_ns / 1e3, has_warm ? "cold" : "again",
              result.cold.marking_ns / 1e3);
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
    json["push"] = on_or_off(options.is_push_based);
    json["shared_once_is_given"] = options.is_push_based ? "dirty list" : "nothing";
    add_times(json, result.warm);
    add_times(json["cold"], result.cold);
    json["bytes_per_connection"] = result.bytes_per_connection;
    json["naive_bytes_per_connection"] = result.naive_bytes_per_connection;
    json["packets_per_tick"] = result.packets_per_tick;
    json["packets_of_tick_max"] = result.packets_of_tick_max;
    json["objects_per_tick"] = result.objects_per_tick;
    json["values_per_tick"] = result.values_per_tick;
    json["values_encoded_per_tick"] = result.values_encoded_per_tick;
    json["allocations"] = result.allocations;
    json["bytes_per_pair"] = result.bytes_per_pair;
    json["hit_rate"] = result.hit_rate;
    return json.dump(2) + "\n";
}

}  // namespace replayout::bench
