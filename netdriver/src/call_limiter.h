// SPDX-License-Identifier: MIT
//
// How many remote calls a server takes from one client: a bucket of tokens for all of them, and one
// for each function. A call takes a token, one in parts takes one for each part, since it may cost
// as much more to read. Integers over the driver's clock, so the same calls at the same times have
// the same answers.
#pragma once

#include <replayout/handle.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace replayout {

/// Filled by so many tokens a second, holds so many at most, and is full at first.
class TokenBucket {
  public:
    TokenBucket(std::uint32_t per_second, std::uint32_t burst, NetTime now) noexcept
        : per_second_(per_second),
          level_max_(std::int64_t{burst} * token),
          level_(level_max_),
          last_(now) {}

    /// There are so many tokens, or all that it holds when it is full.
    [[nodiscard]] bool has(std::uint64_t count, NetTime now) noexcept {
        // Beyond the time that fills it, time makes no difference.
        const std::int64_t fill_us = level_max_ / per_second_ + 1;
        const std::int64_t elapsed_us =
            std::min(std::max<std::int64_t>(now.microseconds - last_.microseconds, 0), fill_us);
        level_ = std::min(level_max_, level_ + elapsed_us * per_second_);
        last_ = now;
        return level_ >= level_of(count);
    }
    /// Takes them. False, and none taken: there are less.
    [[nodiscard]] bool take(std::uint64_t count, NetTime now) noexcept {
        if (!has(count, now)) {
            return false;
        }
        take(count);
        return true;
    }
    /// The same where there are so many, as has() said.
    void take(std::uint64_t count) noexcept { level_ -= level_of(count); }

  private:
    static constexpr std::int64_t token = 1'000'000;  // so a token a second is 1 a microsecond

    [[nodiscard]] std::int64_t level_of(std::uint64_t count) const noexcept {
        const auto burst = static_cast<std::uint64_t>(level_max_ / token);
        return token * static_cast<std::int64_t>(std::min(count, burst));
    }

    std::int64_t per_second_;
    std::int64_t level_max_;
    std::int64_t level_;
    NetTime last_;
};

class CallLimiter {
  public:
    CallLimiter(const NetConfig& config, NetTime now, MemoryResource* resource)
        : config_(config),
          all_(config.calls_per_second_max, config.calls_burst_max, now),
          functions_(Allocator<std::pair<std::uint64_t, TokenBucket>>(resource)) {}

    /// Whether a call of this function, of so many bytes, may run now; counts it if so, and else
    /// takes nothing of either bucket.
    [[nodiscard]] bool take(std::uint32_t layout_number, FunctionIndex function,
                            std::size_t payload_bytes, NetTime now) {
        const std::size_t part_bytes = fragment_bytes(config_.packet_bytes_max);
        const std::size_t count =
            std::max<std::size_t>((payload_bytes + part_bytes - 1) / part_bytes, 1);
        const std::uint64_t key = std::uint64_t{layout_number} << 16 | function.value;
        TokenBucket& bucket = functions_
                                  .try_emplace(key, config_.function_calls_per_second_max,
                                               config_.function_calls_burst_max, now)
                                  .first->second;
        if (!all_.has(count, now) || !bucket.take(count, now)) {
            return false;
        }
        all_.take(count);
        return true;
    }

  private:
    const NetConfig& config_;
    TokenBucket all_;
    FlatMap<std::uint64_t, TokenBucket> functions_;  // as many as the layouts have, at most
};

}  // namespace replayout
