// SPDX-License-Identifier: MIT
//
// How many remote calls one client makes, and how many its server takes: buckets of tokens for
// reliable calls, for unreliable ones and for updates (FunctionFlags::Update), and one for each
// function. A call takes a token, one in parts takes one for each part, since it may cost as much
// more to read. Integers over the driver's clock, so the same calls at the same times have the same
// answers.
//
// A client keeps to the rates of NetConfig, and refuses calls beyond them. Its calls may reach the
// server all at once: after a gap of the line, or after the server stood still. So the bucket of a
// server is deeper by all reliable calls that may be under way, and fills a little faster, as no
// two clocks are alike:
//
//     under way at a time s           at most client_waiting_max = W
//     called from s to t              at most burst + rate * (t - s)
//     so run from s to t              at most W + burst + rate * (t - s), whatever the line did
//     a server takes from s to t      W + burst + 17/16 * rate * (t - s)
//
#pragma once

#include <replayout/handle.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include <algorithm>
#include <array>
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
            std::min(std::max<std::int64_t>(now.microseconds_since(last_), 0), fill_us);
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

enum class CallKind : std::uint8_t { Reliable, Unreliable, Update };

/// How a function counts.
[[nodiscard]] inline CallKind call_kind_of(bool is_reliable, bool is_update) noexcept {
    if (!is_reliable) {
        return CallKind::Unreliable;
    }
    return is_update ? CallKind::Update : CallKind::Reliable;
}

class CallLimiter {
  public:
    enum class Side : std::uint8_t { Client, Server };

    CallLimiter(const NetConfig& config, Side side, NetTime now, MemoryResource* resource)
        : config_(config),
          side_(side),
          kinds_{bucket_of(CallKind::Reliable, config.calls_per_second_max, config.calls_burst_max,
                           now),
                 bucket_of(CallKind::Unreliable, config.calls_per_second_max,
                           config.calls_burst_max, now),
                 bucket_of(CallKind::Update, config.client_updates_per_second_max,
                           config.client_updates_burst_max, now)},
          functions_(Allocator<std::pair<std::uint64_t, FunctionBucket>>(resource)) {}

    /// Whether a call of this function, of so many bytes, may run now; counts it if so, and else
    /// takes nothing of either bucket.
    [[nodiscard]] bool take(std::uint32_t layout_number, FunctionIndex function, CallKind kind,
                            std::size_t payload_bytes, NetTime now) {
        const std::uint64_t count = parts_of(payload_bytes);
        TokenBucket& of_kind = kinds_[static_cast<std::size_t>(kind)];
        if (!of_kind.has(count, now)) {
            return false;
        }
        if (kind != CallKind::Update &&
            !function_of(layout_number, function, kind, now).bucket.take(count, now)) {
            return false;
        }
        of_kind.take(count);
        return true;
    }
    /// The first time for each function.
    [[nodiscard]] bool note_refused(std::uint32_t layout_number, FunctionIndex function,
                                    CallKind kind, NetTime now) {
        return !std::exchange(function_of(layout_number, function, kind, now).was_refused, true);
    }

  private:
    struct FunctionBucket {
        TokenBucket bucket;
        bool was_refused = false;
    };

    [[nodiscard]] std::uint64_t parts_of(std::size_t payload_bytes) const noexcept {
        const std::size_t part_bytes = fragment_bytes(config_.packet_bytes_max);
        return std::max<std::size_t>((payload_bytes + part_bytes - 1) / part_bytes, 1);
    }
    [[nodiscard]] TokenBucket bucket_of(CallKind kind, std::uint32_t per_second,
                                        std::uint32_t burst, NetTime now) const noexcept {
        if (side_ == Side::Client) {
            return {per_second, burst, now};
        }
        const std::uint32_t under_way =
            kind == CallKind::Unreliable ? 0 : config_.client_waiting_max;
        return {per_second + per_second / 16 + 1, burst + under_way, now};
    }
    [[nodiscard]] FunctionBucket& function_of(std::uint32_t layout_number, FunctionIndex function,
                                              CallKind kind, NetTime now) {
        const std::uint64_t key = std::uint64_t{layout_number} << 16 | function.value;
        const auto found = functions_.find(key);
        if (found != functions_.end()) {
            return found->second;
        }
        const TokenBucket bucket = bucket_of(kind, config_.function_calls_per_second_max,
                                             config_.function_calls_burst_max, now);
        return functions_.try_emplace(key, FunctionBucket{bucket, false}).first->second;
    }

    const NetConfig& config_;
    Side side_;
    std::array<TokenBucket, 3> kinds_;
    FlatMap<std::uint64_t, FunctionBucket> functions_;  // as many as the layouts have, at most
};

}  // namespace replayout
