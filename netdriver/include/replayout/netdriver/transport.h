// SPDX-License-Identifier: MIT
//
// The transport seam: unreliable datagrams with a peer identity, and nothing more. Acks, order and
// reliability are the driver's. A transport may lose, repeat, delay and reorder datagrams; it must
// not alter or merge them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Who is at the other end, as the transport tells peers apart. Never 0.
struct PeerId {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(PeerId, PeerId) noexcept = default;
};

class Transport {
  public:
    virtual ~Transport() = default;

    /// Largest datagram that can be sent, in bytes.
    [[nodiscard]] virtual std::size_t datagram_bytes_max() const noexcept = 0;

    /// Hands one datagram over. The bytes are on loan for the call. Whether it arrives nobody
    /// learns.
    virtual void send(PeerId peer, std::span<const std::byte> datagram) = 0;

    /// Whether send() may be called by several threads at once, each for other peers. Else a driver
    /// with an executor keeps what its jobs send, and hands it over behind them, in the order of
    /// connections, on its own thread. Always the same answer.
    [[nodiscard]] virtual bool is_concurrent() const noexcept { return false; }

    /// Takes the next datagram that has arrived, if any: copies it into `buffer` and names its
    /// sender. Returns its size in bytes, which may be 0; a datagram that does not fit is cut to
    /// the buffer. Returns `nothing_received` when there is none.
    [[nodiscard]] virtual std::size_t receive(PeerId& peer, std::span<std::byte> buffer) = 0;

    static constexpr std::size_t nothing_received = static_cast<std::size_t>(-1);
};

}  // namespace replayout
