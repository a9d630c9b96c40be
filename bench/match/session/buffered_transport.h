// SPDX-License-Identifier: MIT
//
// A transport between the measured driver and the simulated network: what has arrived is laid ready
// before the clock starts, and what is sent is handed on after it has stopped. So the figures are
// of the driver and not of the network model.
#pragma once

#include <replayout/netdriver/transport.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace replayout::match {

/// Datagrams one after another in one piece of memory that is kept.
class DatagramList {
  public:
    struct Entry {
        PeerId peer;
        std::size_t offset = 0;
        std::size_t size = 0;
    };

    void clear() noexcept {
        bytes_.clear();
        entries_.clear();
    }
    void add(PeerId peer, std::span<const std::byte> datagram) {
        entries_.push_back({peer, bytes_.size(), datagram.size()});
        bytes_.insert(bytes_.end(), datagram.begin(), datagram.end());
    }
    [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
    [[nodiscard]] std::span<const std::byte> bytes(const Entry& entry) const noexcept {
        return std::span(bytes_).subspan(entry.offset, entry.size);
    }

    friend bool operator==(const DatagramList& left, const DatagramList& right) noexcept {
        return left.bytes_ == right.bytes_ && left.entries_.size() == right.entries_.size() &&
               std::equal(left.entries_.begin(), left.entries_.end(), right.entries_.begin(),
                          [](const Entry& a, const Entry& b) {
                              return a.peer == b.peer && a.size == b.size;
                          });
    }

  private:
    std::vector<std::byte> bytes_;
    std::vector<Entry> entries_;
};

class BufferedTransport final : public Transport {
  public:
    explicit BufferedTransport(std::size_t datagram_bytes_max)
        : datagram_bytes_max_(datagram_bytes_max) {}

    /// What receive() gives next; on loan until it has been taken.
    void begin_dispatch(const DatagramList& inbox) noexcept {
        inbox_ = &inbox;
        next_ = 0;
    }
    [[nodiscard]] DatagramList& outbox() noexcept { return outbox_; }

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return datagram_bytes_max_;
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        outbox_.add(peer, datagram);
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        if (inbox_ == nullptr || next_ == inbox_->entries().size()) {
            return nothing_received;
        }
        const DatagramList::Entry& entry = inbox_->entries()[next_++];
        const auto bytes = inbox_->bytes(entry);
        peer = entry.peer;
        std::memcpy(buffer.data(), bytes.data(), std::min(bytes.size(), buffer.size()));
        return std::min(bytes.size(), buffer.size());
    }

  private:
    std::size_t datagram_bytes_max_;
    const DatagramList* inbox_ = nullptr;
    std::size_t next_ = 0;
    DatagramList outbox_;
};

}  // namespace replayout::match
