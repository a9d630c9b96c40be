// SPDX-License-Identifier: MIT
#include "match/judge/hit_rate.h"

#include "support/report_text.h"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace replayout::match {

double hit_rate(const ReplicationCounters& counters) noexcept {
    return bench::ratio(counters.block_hits(), counters.blocks_sent);
}

double hit_rate_of_fan_out(std::uint32_t clients) noexcept {
    return clients == 0 ? 0.0 : 1.0 - 1.0 / clients;
}

double hit_share(const ReplicationCounters& counters, std::uint32_t clients) noexcept {
    const double whole = hit_rate_of_fan_out(clients);
    return whole > 0 ? hit_rate(counters) / whole : 0.0;
}

std::string text_of(const BlockMisses& misses) {
    std::string text;
    for (std::size_t i = 0; i < block_miss_count; ++i) {
        if (misses[i] > 0) {
            text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<BlockMiss>(i))) +
                    " " + bench::grouped(misses[i]);
        }
    }
    return text.empty() ? "all were" : text;
}

nlohmann::ordered_json misses_json(const BlockMisses& misses) {
    nlohmann::ordered_json json;
    for (std::size_t i = 0; i < block_miss_count; ++i) {
        json[std::string(to_string(static_cast<BlockMiss>(i)))] = misses[i];
    }
    return json;
}

}  // namespace replayout::match
