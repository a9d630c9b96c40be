// SPDX-License-Identifier: MIT
//
// The floor of the fan-out: packets that were sent, once more, and nothing but copied.
#pragma once

#include "support/replicators/packet_buffers.h"
#include "support/scripted_clients.h"
#include "support/stop_watch.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::bench {

class PacketFloor {
  public:
    /// For so many ticks that are noted before they are copied.
    PacketFloor(std::uint32_t connection_count, std::uint32_t tick_count)
        : buffers_(connection_count),
          source_(bytes_to_copy(packets_in_flight_max * PacketBuffers::packet_bytes_max)),
          ticks_(tick_count, Tick(connection_count)) {}

    void note(std::uint32_t tick, std::span<const ScriptedClients::Packet> packets) {
        for (std::vector<std::uint32_t>& bytes : ticks_[tick]) {
            bytes.clear();
        }
        for (const ScriptedClients::Packet& packet : packets) {
            ticks_[tick][packet.client].push_back(packet.bytes);
        }
    }

    /// Returns seconds.
    double copy(std::uint32_t tick) {
        const StopWatch watch;
        copy(tick, 0, buffers_.connection_count());
        return watch.seconds();
    }

    /// The same of some connections; others may be another thread's.
    void copy(std::uint32_t tick, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t i = begin; i < end; ++i) {
            buffers_.copy(i, source_, ticks_[tick][i], [](std::span<const std::byte> packet) {
                // Whoever is handed it may read it: no copy can be left out for the next one.
                benchmark::DoNotOptimize(packet.data());
                benchmark::ClobberMemory();
            });
        }
    }

    /// Whether the packets of the tick that was copied last have so many bytes, and the last one of
    /// each connection lies in its buffer.
    [[nodiscard]] bool has_copied(std::uint32_t tick, std::uint64_t bytes_expected) const {
        std::uint64_t bytes_noted = 0;
        for (std::uint32_t i = 0; i < buffers_.connection_count(); ++i) {
            std::size_t end = 0;
            std::size_t last = 0;
            for (const std::uint32_t bytes : ticks_[tick][i]) {
                last = bytes;
                end += bytes;
            }
            const auto expected = std::span(source_).subspan(end - last, last);
            const auto found = buffers_.packet(i).first(last);
            if (!std::equal(expected.begin(), expected.end(), found.begin())) {
                return false;
            }
            bytes_noted += end;
        }
        return bytes_noted == bytes_expected;
    }

  private:
    using Tick = std::vector<std::vector<std::uint32_t>>;  // bytes of packets, by connection

    PacketBuffers buffers_;
    std::vector<std::byte> source_;  // one connection's packets, which all others are copies of
    std::vector<Tick> ticks_;
};

}  // namespace replayout::bench
