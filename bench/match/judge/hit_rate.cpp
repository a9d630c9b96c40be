// SPDX-License-Identifier: MIT
#include "match/judge/hit_rate.h"

#include "support/report/report_text.h"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace replayout::match {

namespace {

template <typename Reason, typename Counts>
[[nodiscard]] nlohmann::ordered_json by_reason(const Counts& counts) {
    nlohmann::ordered_json json;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        json[std::string(to_string(static_cast<Reason>(i)))] = counts[i];
    }
    return json;
}

}  // namespace

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
    return by_reason<BlockMiss>(misses);
}

nlohmann::ordered_json encoded_json(const std::array<std::uint64_t, encode_reason_count>& encoded) {
    return by_reason<EncodeReason>(encoded);
}

}  // namespace replayout::match
