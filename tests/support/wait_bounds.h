// SPDX-License-Identifier: MIT
//
// The bounds of docs/limits.md, "How long anything waits under a cap", in flushes whose packets
// arrive. Bytes are those of datagrams.
#pragma once

#include <cmath>
#include <cstdint>

namespace replayout::test {

struct WaitBounds {
    double flow = 0;           ///< bytes a flush
    double objects_share = 1;  ///< what of it objects have for certain: 1/4 beside all else
    double packet_bytes = 1'200;

    /// Of a cap in bytes a second, beside so many other kinds that want their share: calls, joins,
    /// large values.
    [[nodiscard]] static WaitBounds of_cap(double cap, double flushes_per_second,
                                           std::uint32_t other_kinds, double packet_bytes) {
        return {cap * 29.0 / 32 / flushes_per_second, 1 - other_kinds / 4.0, packet_bytes};
    }

    /// Bytes that are new and wait, what it is about included.
    [[nodiscard]] double of_new(double pending) const {
        return std::ceil(4 * (pending + 3 * packet_bytes) / (flow * objects_share)) + 2;
    }
    /// Bytes of all that is shown and changes; `step` is 2^e of its own ticks, in flushes.
    [[nodiscard]] double of_shown(double changing, double step) const {
        return step + std::ceil(8 * (changing + 3 * packet_bytes) / (flow * objects_share)) + 2;
    }
    /// Bytes that wait for the same share, each quarter for certain: large values, calls or joins.
    [[nodiscard]] double of_quarter(double pending) const {
        return std::ceil(4 * (pending + 3 * packet_bytes) / flow) + 2;
    }
    /// What is lost goes again as soon as that is known, a round trip later. That a share of
    /// `lost` loses it so often in a row is one in a million.
    [[nodiscard]] double of_arrival(double lost, double round_trip) const {
        const double attempts = lost <= 0 ? 1 : 1 + std::ceil(std::log(1e-6) / std::log(lost));
        return attempts * (round_trip + of_quarter(0));
    }
};

}  // namespace replayout::test
