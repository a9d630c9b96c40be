// SPDX-License-Identifier: MIT
//
// A transport that stands before another one, records what passes, and lets a test decide about
// each datagram that is sent.
//
//     transport.set_script([&](Bytes& datagram) { return ++count != 3; });   // the third is lost
#pragma once

#include <replayout/netdriver/transport.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "support/checks/byte_dump.h"

namespace replayout::test {

struct SeenDatagram {
    PeerId peer;  ///< to whom, or from whom
    Bytes bytes;

    friend bool operator==(const SeenDatagram&, const SeenDatagram&) = default;
};

class ScriptedTransport final : public Transport {
  public:
    /// What becomes of a datagram that is sent: it may be changed; false drops it.
    using Script = std::function<bool(Bytes& datagram)>;

    explicit ScriptedTransport(Transport& beneath) noexcept : beneath_(beneath) {}

    /// For what is sent from now on. Empty: all goes through.
    void set_script(Script script) { script_ = std::move(script); }

    /// What was sent and what was received while this was on. Sent means handed over, lost or not.
    bool is_recording = false;
    std::vector<SeenDatagram> sent;
    std::vector<SeenDatagram> received;

    [[nodiscard]] std::size_t datagram_bytes_max() const noexcept override {
        return beneath_.datagram_bytes_max();
    }

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        if (is_recording) {
            sent.push_back({peer, to_bytes(datagram)});
        }
        if (!script_) {
            beneath_.send(peer, datagram);
            return;
        }
        Bytes bytes = to_bytes(datagram);
        if (script_(bytes)) {
            beneath_.send(peer, bytes);
        }
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        const std::size_t size = beneath_.receive(peer, buffer);
        if (is_recording && size != nothing_received) {
            received.push_back({peer, to_bytes(buffer.first(size))});
        }
        return size;
    }

  private:
    Transport& beneath_;
    Script script_;
};

}  // namespace replayout::test
