// SPDX-License-Identifier: MIT
//
// What a game programmer writes by hand for the class Pawn, and the yardstick of the benchmarks: a
// shadow copy of every pawn for every connection. Each tick, for each connection, every pawn is
// compared with its shadow, and what differs goes out.
//
//     packet    record, record, ...             at most 1,200 bytes, records are not cut
//     record    u32 index, u16 mask, the values of the mask; a string with its length in a byte
//
// It is written to be fast: the plain part of a pawn is compared as one piece of memory, values are
// stored as bytes, nothing is allocated after the start. It does less than the library: no packet
// headers, no acks and no repeats after a loss, no spawning, one class only.
#pragma once

#include "pawn.h"

#include <replayout/netdriver/transport.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::bench {

class NaiveReplicator {
  public:
    static constexpr std::size_t packet_bytes_max = 1'200;

    /// The peers are 2 to `connection_count` + 1. `transport` must outlive the replicator.
    NaiveReplicator(std::uint32_t pawn_count, std::uint32_t connection_count, Transport& transport);

    /// One tick. As many pawns as there have always been.
    void replicate(std::span<const Pawn> pawns);

    /// Values written so far, for all connections.
    [[nodiscard]] std::uint64_t values_written() const noexcept { return values_written_; }

  private:
    // A record at its longest: all values, and a name of 255 characters.
    static constexpr std::size_t record_bytes_max = 6 + 51 + 1 + 255;

    struct Connection {
        PeerId peer;
        std::vector<Pawn> shadows;
        std::size_t packet_bytes = 0;
        // A record is written first and found too much afterwards.
        std::array<std::byte, packet_bytes_max + record_bytes_max> packet;
    };

    void write_record(Connection& connection, std::uint32_t index, const Pawn& pawn, Pawn& shadow);
    void flush(Connection& connection);

    Transport& transport_;
    std::vector<Connection> connections_;
    std::uint64_t values_written_ = 0;
};

}  // namespace replayout::bench
