// SPDX-License-Identifier: MIT
//
// How many of the blocks that receivers were sent were copied from what had been laid down for
// another one, and why the others were not (ReplicationCounters, BlockMiss).
#pragma once

#include <replayout/replication_counters.h>
#include <replayout/type_counters.h>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace replayout::match {

/// Of all blocks that were sent, those that were copied whole, alone or in a bundle.
[[nodiscard]] double hit_rate(const ReplicationCounters& counters) noexcept;
/// The same where each change goes to `clients` receivers once, and is laid down for the first.
[[nodiscard]] double hit_rate_of_fan_out(std::uint32_t clients) noexcept;
/// The one as a share of the other: what losses, joins, caps and interest leave of it. May be more
/// than 1, as what is sent again may be copied, too; 0 for one client.
[[nodiscard]] double hit_share(const ReplicationCounters& counters, std::uint32_t clients) noexcept;

/// "Lost 3, FirstUse 120": in the order of the reasons, those that there are.
[[nodiscard]] std::string text_of(const BlockMisses& misses);
/// By reason, all of them.
[[nodiscard]] nlohmann::ordered_json misses_json(const BlockMisses& misses);
[[nodiscard]] nlohmann::ordered_json encoded_json(
    const std::array<std::uint64_t, encode_reason_count>& encoded);

}  // namespace replayout::match
