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
    double objects_share = 1;  ///< the part of it that objects have in any case; at least 1/4
    double packet_bytes = 1'200;

    /// `cap` is in bytes a second. `other_kinds` of calls, joins and large values want their share
    /// too.
    [[nodiscard]] static WaitBounds of_cap(double cap, double flushes_per_second,
                                           std::uint32_t other_kinds, double packet_bytes) {
        return {cap * 29.0 / 32 / flushes_per_second, 1 - other_kinds / 4.0, packet_bytes};
    }

    /// `pending`: bytes of all new objects that wait, the watched one included.
    [[nodiscard]] double of_new(double pending) const {
        return std::ceil(4 * (pending + 3 * packet_bytes) / (flow * objects_share)) + 2;
    }
    /// `changing`: a block of each shown object that changes. `step`: 2^e of its own ticks, in
    /// flushes.
    [[nodiscard]] double of_shown(double changing, double step) const {
        return step + std::ceil(8 * (changing + 3 * packet_bytes) / (flow * objects_share)) + 2;
    }
    /// `pending`: bytes that wait for the same share of a quarter: large values, calls or joins.
    [[nodiscard]] double of_quarter(double pending) const {
        return std::ceil(4 * (pending + 3 * packet_bytes) / flow) + 2;
    }
    /// A lost packet is sent again when the loss is known, a round trip later. With a share of
    /// `lost`, all of these attempts are lost once in a million.
    [[nodiscard]] double of_arrival(double lost, double round_trip) const {
        const double attempts = lost <= 0 ? 1 : 1 + std::ceil(std::log(1e-6) / std::log(lost));
        return attempts * (round_trip + of_quarter(0));
    }
};

}  // namespace replayout::test
