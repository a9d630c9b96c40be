// SPDX-License-Identifier: MIT
#include "support/replicators/naive_replicator.h"

#include <replayout/reflection/diagnostics.h>

#include <cstring>

namespace replayout::bench {

/// The packets of one connection in one tick. Lives as long as the loop over the pawns, so that
/// what it counts stays in registers: with members of the connection the loop takes a fifth longer.
class NaiveReplicator::Packets {
  public:
    Packets(Transport& transport, Connection& connection) noexcept
        : transport_(transport), connection_(connection), end_(connection.packet.data()) {}

    [[gnu::always_inline]] void write(std::uint32_t index, const Pawn& pawn) {
        const PawnRecord record = write_pawn_record(end_, index, pawn, connection_.shadows[index]);
        values_ += record.values;
        std::byte* const begin = connection_.packet.data();
        if (end_ + record.bytes > begin + packet_bytes_max) [[unlikely]] {
            const std::byte* const place = end_;
            flush();
            std::memmove(begin, place, record.bytes);
        }
        end_ += record.bytes;
    }

    void flush() {
        std::byte* const begin = connection_.packet.data();
        if (end_ != begin) {
            transport_.send(connection_.peer, std::span<const std::byte>(begin, end_));
            end_ = begin;
        }
    }

    [[nodiscard]] std::uint64_t values() const noexcept { return values_; }

  private:
    Transport& transport_;
    Connection& connection_;
    std::byte* end_;  // of the packet that is being filled
    std::uint64_t values_ = 0;
};

NaiveReplicator::NaiveReplicator(std::uint32_t pawn_count, std::uint32_t connection_count,
                                 Transport& transport)
    : transport_(transport), connections_(connection_count) {
    for (std::uint32_t i = 0; i < connection_count; ++i) {
        connections_[i].peer = PeerId{first_peer + i};
        connections_[i].shadows.resize(pawn_count);
    }
}

void NaiveReplicator::replicate(std::span<const Pawn> pawns) {
    for (Connection& connection : connections_) {
        REPLAYOUT_ASSERT(pawns.size() == connection.shadows.size());
        Packets packets(transport_, connection);
        for (std::uint32_t index = 0; index < pawns.size(); ++index) {
            if (!is_equal(pawns[index], connection.shadows[index])) {
                packets.write(index, pawns[index]);
            }
        }
        packets.flush();
        values_sent_ += packets.values();
    }
}

void NaiveReplicator::replicate(std::span<const Pawn> pawns,
                                std::span<const std::uint32_t> changed) {
    for (Connection& connection : connections_) {
        REPLAYOUT_ASSERT(pawns.size() == connection.shadows.size());
        Packets packets(transport_, connection);
        for (const std::uint32_t index : changed) {
            packets.write(index, pawns[index]);
        }
        packets.flush();
        values_sent_ += packets.values();
    }
}

}  // namespace replayout::bench
