// SPDX-License-Identifier: MIT
//
// A transport that lets a test hold the datagrams in its hands: the test feeds and reads it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "support/networks/passing_transport.h"

namespace replayout::test {

class TapeTransport final : public Transport {
  public:
    explicit TapeTransport(std::size_t datagram_bytes_max) : bytes_max_(datagram_bytes_max) {}

    /// To be received after what waits already.
    void put(const Datagram& datagram) { inbox_.push_back(datagram); }
    /// What was sent since this was cleared.
    [[nodiscard]] std::vector<Datagram>& sent() noexcept { return sent_; }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return bytes_max_; }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        sent_.push_back({peer, {datagram.begin(), datagram.end()}});
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        if (inbox_.empty()) {
            return nothing_received;
        }
        const Datagram datagram = std::move(inbox_.front());
        inbox_.pop_front();
        peer = datagram.peer;
        const std::size_t size = std::min(datagram.bytes.size(), buffer.size());
        std::memcpy(buffer.data(), datagram.bytes.data(), size);
        return size;
    }

  private:
    std::size_t bytes_max_;
    std::deque<Datagram> inbox_;
    std::vector<Datagram> sent_;
};

}  // namespace replayout::test
