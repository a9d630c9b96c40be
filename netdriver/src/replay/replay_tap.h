// SPDX-License-Identifier: MIT
//
// What the connection of a recording sends by: keeps what packets hold, as a recording has it,
// until the flush ends. Their headers are between two ends and their network, and are left out.
#pragma once

#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "kept_room.h"
#include "replay_format.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class ReplayTap final : public Transport {
  public:
    ReplayTap(std::size_t datagram_bytes_max, MemoryResource* resource)
        : datagram_bytes_max_(datagram_bytes_max), bytes_(resource) {
        bytes_.resize(replay_part_room);
    }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return datagram_bytes_max_;
    }
    void send(PeerId, std::span<const std::byte> datagram) override {
        PacketHeader header;
        const std::size_t header_bytes = read_packet_header(datagram, header);
        const std::span<const std::byte> content = datagram.subspan(header_bytes);
        if (content.empty()) {
            return;
        }
        REPLAYOUT_ASSERT(content.size() < replay_has_bunches);
        append_le(bytes_, static_cast<std::uint16_t>(
                              content.size() | (header.has_bunches ? replay_has_bunches : 0u)));
        bytes_.insert(bytes_.end(), content.begin(), content.end());
        ++packet_count_;
    }
    [[nodiscard]] std::size_t receive(PeerId&, std::span<std::byte>) override {
        return nothing_received;
    }

    /// Packets so far, behind replay_part_room bytes for whoever writes them.
    [[nodiscard]] Vector<std::byte>& bytes() noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t packet_count() const noexcept { return packet_count_; }

    /// Before they are written.
    void note_room() noexcept { bytes_.note(bytes_.size()); }
    /// Between flushes, see KeptRoom.
    void trim() {
        bytes_.drop_and_trim();
        bytes_.resize(replay_part_room);
    }

  private:
    std::size_t datagram_bytes_max_;
    KeptVector<std::byte> bytes_;
    std::uint64_t packet_count_ = 0;
};

}  // namespace replayout
