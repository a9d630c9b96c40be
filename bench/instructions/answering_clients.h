// SPDX-License-Identifier: MIT
//
// The clients of a server whose instructions are counted: they join and acknowledge, and throw the
// rest away (support/scripted_clients.h). What they answer reaches the server some ticks later, as
// over a network. Nothing of this is counted.
#pragma once

#include "match/session/buffered_transport.h"
#include "support/scripted_clients.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace replayout::bench {

class AnsweringClients final : public Transport {
  public:
    /// Each says `hello` in the first tick that is answered. Answers take `delay_ticks` ticks
    /// longer than from one flush to the next dispatch.
    AnsweringClients(std::uint32_t count, std::span<const std::byte> hello,
                     std::uint32_t delay_ticks);

    /// Call it once a tick, after the flush.
    void answer();
    /// ScriptedClients::set_loss().
    void set_loss(double loss) noexcept { clients_.set_loss(loss); }
    /// ScriptedClients::packets_refused().
    [[nodiscard]] std::uint64_t packets_refused() const noexcept {
        return clients_.packets_refused();
    }
    [[nodiscard]] std::span<const PeerId> peers() const noexcept { return clients_.peers(); }
    /// ScriptedClients::packets().
    [[nodiscard]] std::span<const ScriptedClients::Packet> packets() const noexcept {
        return clients_.packets();
    }

    /// Whether digest() takes in the packets that are sent from now on. That takes time.
    void set_digesting(bool is_digesting) noexcept { is_digesting_ = is_digesting; }
    /// A hash of those packets: their receivers, bytes and order.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }

    // For replayout_uncounted_send and _receive alone.
    void take(PeerId peer, std::span<const std::byte> datagram) {
        if (is_digesting_) {
            add_to_digest(peer, datagram);
        }
        clients_.send(peer, datagram);
    }
    [[nodiscard]] std::size_t hand_out(PeerId& peer, std::span<std::byte> buffer);

    // Transport
    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return clients_.datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override;
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override;

  private:
    void add_to_digest(PeerId peer, std::span<const std::byte> datagram) noexcept;

    bool is_digesting_ = false;
    std::uint64_t digest_ = 0;
    ScriptedClients clients_;
    std::vector<match::DatagramList> answers_;  // a ring of ticks; the one that is due comes first
    std::size_t due_ = 0;                       // into answers_
    std::size_t handed_out_ = 0;                // of the one that is due
};

}  // namespace replayout::bench
