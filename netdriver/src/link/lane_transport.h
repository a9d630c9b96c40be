// SPDX-License-Identifier: MIT
//
// What the connections of a lane send while lanes run: kept, and handed to the transport behind
// them; or passed on at once, at any other time and where the transport takes it from any thread.
#pragma once

#include <replayout/netdriver/transport.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include "kept_room.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class LaneTransport final : public Transport {
  public:
    LaneTransport(Transport& transport, MemoryResource* resource)
        : transport_(transport),
          is_concurrent_(transport.is_concurrent()),
          bytes_(resource),
          datagrams_(resource) {}

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return transport_.datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        if (!is_keeping_) {
            transport_.send(peer, datagram);
            return;
        }
        bytes_.insert(bytes_.end(), datagram.begin(), datagram.end());
        datagrams_.push_back({peer, static_cast<std::uint32_t>(datagram.size())});
    }
    [[nodiscard]] std::size_t receive(PeerId&, std::span<std::byte>) override {
        REPLAYOUT_ASSERT(false);  // the driver asks the transport itself
        return nothing_received;
    }

    void begin_keeping() noexcept { is_keeping_ = !is_concurrent_; }
    void end_keeping() noexcept {
        is_keeping_ = false;
        sent_count_ = 0;
        sent_bytes_ = 0;
    }
    /// So far.
    [[nodiscard]] std::uint32_t kept_count() const noexcept {
        return static_cast<std::uint32_t>(datagrams_.size());
    }
    /// Hands over the next of them, which begin with the first, so many. Once all are, there are
    /// none any more.
    void send_kept(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const Datagram& next = datagrams_[sent_count_++];
            transport_.send(next.peer, {bytes_.data() + sent_bytes_, next.byte_count});
            sent_bytes_ += next.byte_count;
        }
        if (sent_count_ == datagrams_.size()) {
            clear_all(bytes_, datagrams_);
            sent_count_ = 0;
            sent_bytes_ = 0;
        }
    }

    /// Between flushes, see KeptRoom.
    void trim() { trim_all(bytes_, datagrams_); }

  private:
    struct Datagram {
        PeerId peer;
        std::uint32_t byte_count = 0;
    };

    Transport& transport_;
    bool is_concurrent_;
    bool is_keeping_ = false;
    KeptVector<std::byte> bytes_;
    KeptVector<Datagram> datagrams_;
    std::size_t sent_count_ = 0;
    std::size_t sent_bytes_ = 0;
};

}  // namespace replayout
