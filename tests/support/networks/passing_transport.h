// SPDX-License-Identifier: MIT
//
// A transport that stands before another one, and passes on what is sent and what is received. A
// test derives from it, and overrides what it is about.
#pragma once

#include <replayout/netdriver/transport.h>

#include <cstddef>
#include <span>

#include "support/checks/byte_dump.h"

namespace replayout::test {

struct Datagram {
    PeerId peer;  ///< to whom, or from whom
    Bytes bytes;

    friend bool operator==(const Datagram&, const Datagram&) = default;
};

class PassingTransport : public Transport {
  public:
    explicit PassingTransport(Transport& beneath) noexcept : beneath_(beneath) {}

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return beneath_.datagram_bytes_max();
    }
    void send(PeerId peer, std::span<const std::byte> datagram) override {
        beneath_.send(peer, datagram);
    }
    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        return beneath_.receive(peer, buffer);
    }

  private:
    Transport& beneath_;
};

}  // namespace replayout::test
