// SPDX-License-Identifier: MIT
//
// Nobody is behind it: it counts the bytes that it is given and drops them.
#pragma once

#include <replayout/netdriver/transport.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::bench {

class DroppingTransport : public Transport {
  public:
    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override { return 1'200; }
    void send(PeerId, std::span<const std::byte> datagram) override { bytes += datagram.size(); }
    [[nodiscard]] std::size_t receive(PeerId&, std::span<std::byte>) override {
        return nothing_received;
    }

    std::uint64_t bytes = 0;
};

}  // namespace replayout::bench
