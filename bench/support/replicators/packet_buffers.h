// SPDX-License-Identifier: MIT
//
// A buffer of one packet for each connection, and what nobody who sends out of such buffers can do
// without: the bytes of each connection, copied once, packet by packet.
//
// Copying four or six packets at once, or all of a tick, into larger buffers is no faster: of 6
// packets for 64 connections by less than a tenth, of 60 slower, since the buffers then leave the
// cache (AMD EPYC, glibc 2.36).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace replayout::bench {

/// Bytes that are told from those of fresh memory, and from each other.
[[nodiscard]] inline std::vector<std::byte> bytes_to_copy(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(i % 251 + 1);
    }
    return bytes;
}

class PacketBuffers {
  public:
    static constexpr std::size_t packet_bytes_max = 1'200;

    explicit PacketBuffers(std::uint32_t connection_count) : buffers_(connection_count) {}

    [[nodiscard]] std::uint32_t connection_count() const noexcept {
        return static_cast<std::uint32_t>(buffers_.size());
    }

    /// One connection's tick: packets of so many bytes each, which lie one behind the other in
    /// `source`. `hand_over` is called with each of them, as it lies in the connection's buffer.
    template <typename HandOver>
    void copy(std::uint32_t connection, std::span<const std::byte> source,
              std::span<const std::uint32_t> packet_bytes, HandOver&& hand_over) {
        std::byte* const buffer = buffers_[connection].data();
        const std::byte* next = source.data();
        for (const std::uint32_t bytes : packet_bytes) {
            std::memcpy(buffer, next, bytes);
            next += bytes;
            hand_over(std::span<const std::byte>(buffer, bytes));
        }
    }

    /// What lies in a connection's buffer: at its front, the last packet.
    [[nodiscard]] std::span<const std::byte> packet(std::uint32_t connection) const noexcept {
        return buffers_[connection];
    }

  private:
    std::vector<std::array<std::byte, packet_bytes_max>> buffers_;
};

}  // namespace replayout::bench
