// SPDX-License-Identifier: MIT
//
// The floor of sending the same to everybody: so many bytes, copied once for each connection, a
// tick's at once.
#pragma once

#include "support/replicators/packet_buffers.h"
#include "support/session_measure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace replayout::bench {

class CopyFloor {
  public:
    CopyFloor(std::uint32_t connection_count, std::size_t bytes)
        : source_(bytes_to_copy(bytes)),
          targets_(connection_count, std::vector<std::byte>(bytes)) {}

    /// Ends with an error where not every connection has its copy. `objects` are what the bytes
    /// hold, for one connection.
    void run(benchmark::State& state, std::uint64_t objects) {
        const auto connection_count = static_cast<std::uint32_t>(targets_.size());
        // A single copy is too short to be looked at alone.
        const std::uint32_t rounds = std::max(1'000 / connection_count, 1u);
        Measured measured;
        const StopWatch watch;
        while (state.KeepRunningBatch(rounds)) {
            for (std::uint32_t round = 0; round < rounds; ++round) {
                copy();
            }
            measured.objects += rounds * objects * connection_count;
            measured.bytes += rounds * source_.size() * connection_count;
        }
        measured.seconds = watch.seconds();
        report_connections(state, measured, connection_count);
        for (const std::vector<std::byte>& target : targets_) {
            if (source_.empty() || target != source_) {
                state.SkipWithError("the floor must copy what is sent, for everyone");
                return;
            }
        }
    }

  private:
    void copy() {
        for (std::vector<std::byte>& target : targets_) {
            std::memcpy(target.data(), source_.data(), source_.size());
        }
        benchmark::ClobberMemory();
    }

    std::vector<std::byte> source_;
    std::vector<std::vector<std::byte>> targets_;
};

}  // namespace replayout::bench
