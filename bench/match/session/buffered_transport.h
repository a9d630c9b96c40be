// SPDX-License-Identifier: MIT
//
// A transport between the measured driver and the simulated network: what has arrived is laid ready
// before the clock starts, and what is sent is handed on after it has stopped. So the figures are
// of the driver and not of the network model.
#pragma once

#include <replayout/netdriver/transport.h>

#include <algorithm>
#include <array>
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
    /// All that it has to give.
    void add_all(Transport& transport) {
        std::array<std::byte, 2'048> buffer;
        PeerId peer;
        for (std::size_t size = transport.receive(peer, buffer);
             size != Transport::nothing_received; size = transport.receive(peer, buffer)) {
            add(peer, std::span(buffer).first(size));
        }
    }
    [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
    [[nodiscard]] std::span<const std::byte> bytes(const Entry& entry) const noexcept {
        return std::span(bytes_).subspan(entry.offset, entry.size);
    }
    /// As Transport::receive() has it.
    [[nodiscard]] std::size_t give(const Entry& entry, PeerId& peer,
                                   std::span<std::byte> buffer) const noexcept {
        peer = entry.peer;
        const std::size_t size = std::min(entry.size, buffer.size());
        std::memcpy(buffer.data(), bytes(entry).data(), size);
        return size;
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
        return inbox_->give(inbox_->entries()[next_++], peer, buffer);
    }

  private:
    std::size_t datagram_bytes_max_;
    const DatagramList* inbox_ = nullptr;
    std::size_t next_ = 0;
    DatagramList outbox_;
};

}  // namespace replayout::match
