// SPDX-License-Identifier: MIT
//
// How long a peer of a transport keeps its slot: as long as both it and the driver speak. So whom
// the driver does not take, or speaks with no more, has none for long, whatever it sends.
#pragma once

#include <replayout/netdriver/time.h>
#include <replayout/transports/socket_transport.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace replayout {

class PeerStay {
  public:
    /// Milliseconds. Of a client's server there are none: it stays until it is closed.
    struct Limits {
        std::int64_t handshake_ms = never_ms;  ///< until both have spoken
        std::int64_t forget_ms = never_ms;     ///< that one of them may be silent
    };

    PeerStay() = default;
    explicit PeerStay(NetTime now) noexcept : begun_us_(now.microseconds) {}

    void hear(NetTime now) noexcept { heard_us_ = now.microseconds; }
    void speak(NetTime now) noexcept {
        spoken_us_ = now.microseconds;
        if (is_closing() && spoken_us_ > closed_us_ + linger_us) {
            closed_us_ = none;  // No goodbye comes so late: they began anew.
        }
    }
    /// The driver's session with it ended.
    void close(NetTime now) noexcept {
        if (closed_us_ == none) {
            closed_us_ = now.microseconds;
        }
    }
    [[nodiscard]] std::int64_t heard_us() const noexcept { return std::max(heard_us_, begun_us_); }
    [[nodiscard]] bool is_closing() const noexcept { return closed_us_ != none; }

    [[nodiscard]] bool is_over(NetTime now, const Limits& limits) const noexcept {
        if (is_closing()) {
            return now.microseconds - std::max(closed_us_, spoken_us_) >
                   std::min(linger_us, limits.forget_ms * 1'000);
        }
        const std::int64_t last_us = std::min(heard_us_, spoken_us_);
        return last_us == none ? now.microseconds - begun_us_ >
                                     std::min(limits.handshake_ms, limits.forget_ms) * 1'000
                               : now.microseconds - last_us > limits.forget_ms * 1'000;
    }

  private:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t linger_us = SocketTransport::close_linger_ms * 1'000;
    static constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::max() / 1'000;

    std::int64_t begun_us_ = 0;
    std::int64_t heard_us_ = none;
    std::int64_t spoken_us_ = none;
    std::int64_t closed_us_ = none;
};

}  // namespace replayout
