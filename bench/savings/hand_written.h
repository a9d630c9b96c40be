// SPDX-License-Identifier: MIT
//
// What a game programmer writes by hand for one class, as yardsticks beside the server: they know
// the class when they are compiled, and do less than the server (no packet headers, no acks, no
// repeats, no spawning, every value at its full width). Somebody may be faster than they are.
#pragma once

#include "support/dropping_transport.h"
#include "support/replicators/packet_buffers.h"
#include "support/stop_watch.h"
#include "support/workloads/rotating_class.h"
#include "support/workloads/rotating_workload.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace replayout::bench {

enum class HandWrittenKind : std::uint8_t {
    NaivePoll,   ///< a copy of all objects for each connection, each compared with each
    NaiveDirty,  ///< the same, told which objects changed
    SharedOnce,  ///< one copy, told which objects changed, one record for all connections
};

/// One of them with a scene of its own, ready for tick after tick of the same changes.
class HandWritten {
  public:
    virtual ~HandWritten() = default;

    /// Plays a tick and sends it. Returns the seconds that sending took.
    virtual double tick() = 0;
    /// To all connections, from the beginning on.
    [[nodiscard]] virtual std::uint64_t records_sent() const noexcept = 0;
};

template <typename Object>
class HandWrittenFor final : public HandWritten {
  public:
    HandWrittenFor(const RotatingClass<Object>& row, HandWrittenKind kind,
                   std::uint32_t connections)
        : row_(row),
          kind_(kind),
          scene_(row),
          connections_(kind == HandWrittenKind::SharedOnce ? 1 : connections),
          buffers_(connections) {
        for (Connection& connection : connections_) {
            connection.copies.assign(scene_.objects().begin(), scene_.objects().end());
        }
    }

    double tick() override {
        (void)scene_.advance(1);
        const StopWatch watch;
        for (std::uint32_t i = 0; i < connections_.size(); ++i) {
            replicate(connections_[i], i);
        }
        return watch.seconds();
    }
    [[nodiscard]] std::uint64_t records_sent() const noexcept override { return records_sent_; }

  private:
    struct Connection {
        std::vector<Object> copies;
    };

    void replicate(Connection& connection, std::uint32_t number) {
        packet_.clear();
        if (kind_ == HandWrittenKind::NaivePoll) {
            for (std::uint32_t i = 0; i < scene_.objects().size(); ++i) {
                if (!(scene_.objects()[i] == connection.copies[i])) {
                    write(connection, i, number);
                }
            }
        } else {
            for (const std::uint32_t i : scene_.changed()) {
                write(connection, i, number);
            }
        }
        send_packet(number);
    }
    void write(Connection& connection, std::uint32_t index, std::uint32_t number) {
        const Object& now = scene_.objects()[index];
        record_.clear();
        record_.number(static_cast<std::uint16_t>(index));
        row_.write(now, connection.copies[index], record_);
        connection.copies[index] = now;
        records_sent_ += kind_ == HandWrittenKind::SharedOnce ? buffers_.connection_count() : 1u;
        if (packet_.bytes().size() + record_.bytes().size() > PacketBuffers::packet_bytes_max) {
            send_packet(number);
        }
        packet_.append(record_.bytes());
    }
    /// To one connection, or a copy to each of them.
    void send_packet(std::uint32_t number) {
        if (packet_.bytes().empty()) {
            return;
        }
        // A record larger than a packet goes in several: of its bytes there are as many.
        const std::span<const std::byte> all = packet_.bytes();
        for (std::size_t begin = 0; begin < all.size(); begin += PacketBuffers::packet_bytes_max) {
            const auto bytes =
                all.subspan(begin, std::min(all.size() - begin, PacketBuffers::packet_bytes_max));
            if (kind_ == HandWrittenKind::SharedOnce) {
                const auto size = static_cast<std::uint32_t>(bytes.size());
                for (std::uint32_t i = 0; i < buffers_.connection_count(); ++i) {
                    buffers_.copy(i, bytes, {&size, 1}, [&](std::span<const std::byte> packet) {
                        transport_.send(PeerId{i + 2}, packet);
                    });
                }
            } else {
                transport_.send(PeerId{number + 2}, bytes);
            }
        }
        packet_.clear();
    }

    const RotatingClass<Object> row_;
    HandWrittenKind kind_;
    RotatingWorkload<Object> scene_;
    std::vector<Connection> connections_;
    PacketBuffers buffers_;
    DroppingTransport transport_;
    HandWriter record_;
    HandWriter packet_;
    std::uint64_t records_sent_ = 0;
};

}  // namespace replayout::bench
