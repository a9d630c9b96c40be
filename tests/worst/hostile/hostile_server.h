// SPDX-License-Identifier: MIT
//
// Plays steps to a client of ours. What the numbers of a step mean:
//
//     open       count, class, the first channel, facts: bit 0 owner, 1 a part of channel 1, 2 with
//                a stable name, 3 with a place; the id of the first, beyond its channel
//     close      count, the first channel, reason
//     blocks     count, the first channel, form, count, first and length of what is in them; bit 16
//                of the count: more parts follow
//     values     the same as messages, in parts where one is too large
//     message    count, channel, kind, bytes
//     control, calls, part, acks, junk, flip, hold, wait: as to a server (hostile_client.h)
#pragma once

#include <cstdint>
#include <map>

#include "worst/hostile/hostile_line.h"

namespace replayout::worst {

class HostileServer {
  public:
    explicit HostileServer(std::uint32_t marked = no_place);

    /// Once.
    [[nodiscard]] Costs play(const Steps& steps);
    [[nodiscard]] NetDriver& driver() noexcept { return end_.driver(); }

  private:
    [[nodiscard]] bool begin();
    void play_step(const Step& step);
    void open(const Step& step);
    void close(const Step& step);
    void send_blocks(const Step& step);
    void send_values(const Step& step);
    void send_message(const Step& step);
    void wait(std::uint32_t milliseconds);
    void send_unless_joined(std::uint32_t how);
    /// A new packet where this one is full.
    void add(const bench::Bytes& bunch);
    [[nodiscard]] Bytes block_of(std::uint32_t channel, const Step& step) const;

    Costs costs_;
    MeasuredEnd end_;
    HostileLine line_;
    /// What it says of each channel.
    std::map<std::uint32_t, ClassNumber> classes_;
    std::uint64_t last_id_ = 0;
    std::uint32_t held_steps_ = 0;
    std::int64_t datagrams_left_;
};

}  // namespace replayout::worst
