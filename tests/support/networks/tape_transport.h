// SPDX-License-Identifier: MIT
//
// Transports that let a test hold the datagrams in its hands: one that is fed and read by the test,
// and one that counts what passes to and from another.
#pragma once

#include <replayout/netdriver/transport.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

namespace replayout::test {

struct Datagram {
    PeerId peer;
    std::vector<std::byte> bytes;

    friend bool operator==(const Datagram&, const Datagram&) = default;
};

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

class CountingTransport final : public Transport {
  public:
    explicit CountingTransport(Transport& transport) noexcept : transport_(transport) {}

    [[nodiscard]] std::uint64_t sent_count() const noexcept { return sent_count_; }
    [[nodiscard]] std::uint64_t received_count() const noexcept { return received_count_; }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return transport_.datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        ++sent_count_;
        transport_.send(peer, datagram);
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        const std::size_t size = transport_.receive(peer, buffer);
        received_count_ += size == nothing_received ? 0 : 1;
        return size;
    }

  private:
    Transport& transport_;
    std::uint64_t sent_count_ = 0;
    std::uint64_t received_count_ = 0;
};

}  // namespace replayout::test
