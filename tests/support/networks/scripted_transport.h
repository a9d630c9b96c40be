// SPDX-License-Identifier: MIT
//
// A transport that stands before another one, records what passes, and lets a test decide about
// each datagram that is sent.
//
//     transport.set_script([&](Bytes& datagram) { return ++count != 3; });   // the third is lost
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/networks/passing_transport.h"

namespace replayout::test {

class ScriptedTransport final : public PassingTransport {
  public:
    /// What becomes of a datagram that is sent: it may be changed; false drops it.
    using Script = std::function<bool(Bytes& datagram)>;

    explicit ScriptedTransport(Transport& beneath, bool records = false) noexcept
        : PassingTransport(beneath), is_recording(records) {}

    /// For what is sent from now on. Empty: all goes through.
    void set_script(Script script) { script_ = std::move(script); }

    /// What was sent and what was received while this was on. Sent means handed over, lost or not.
    bool is_recording;
    std::vector<Datagram> sent;
    std::vector<Datagram> received;
    /// The bytes of what was sent since the last call.
    [[nodiscard]] std::vector<Bytes> take_sent() {
        std::vector<Bytes> taken;
        for (Datagram& datagram : std::exchange(sent, {})) {
            taken.push_back(std::move(datagram.bytes));
        }
        return taken;
    }

    // Counted always.
    std::uint64_t sent_count = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_count = 0;

    void send(PeerId peer, std::span<const std::byte> datagram) override {
        ++sent_count;
        sent_bytes += datagram.size();
        if (is_recording) {
            sent.push_back({peer, to_bytes(datagram)});
        }
        if (!script_) {
            PassingTransport::send(peer, datagram);
            return;
        }
        Bytes bytes = to_bytes(datagram);
        if (script_(bytes)) {
            PassingTransport::send(peer, bytes);
        }
    }

    [[nodiscard]] std::size_t receive(PeerId& peer, std::span<std::byte> buffer) override {
        const std::size_t size = PassingTransport::receive(peer, buffer);
        received_count += size == nothing_received ? 0u : 1u;
        if (is_recording && size != nothing_received) {
            received.push_back({peer, to_bytes(buffer.first(size))});
        }
        return size;
    }

  private:
    Script script_;
};

}  // namespace replayout::test
