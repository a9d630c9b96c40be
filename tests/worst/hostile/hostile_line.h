// SPDX-License-Identifier: MIT
//
// The packets of a hostile peer: headers with acks of its choice, bunches with the right sequences
// or with gaps, and bytes that are changed afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "worst/measured_end.h"
#include "worst/step.h"

namespace replayout::worst {

class HostileLine {
  public:
    HostileLine(MeasuredEnd& end, PeerId self) : end_(end), self_(self) {}

    void begin_session(std::uint16_t session);
    /// The session of a client whose hello this is.
    void begin_session_of(std::span<const std::byte> hello);
    [[nodiscard]] std::uint16_t session() const noexcept { return writer_.header.session; }
    /// What the driver has sent so far.
    void hear();
    [[nodiscard]] std::uint64_t bytes_heard() const noexcept { return bytes_heard_; }

    /// Acknowledges up to numbers[0] below the highest. numbers[1] chooses which of these arrived,
    /// numbers[2] how many words say so, 0 being 8; numbers[3] is a seed.
    void acknowledge(const Step& step);
    /// All that arrived.
    void acknowledge_all();

    /// The next one of the channel; `gap`: so many are passed over, and may be sent later.
    [[nodiscard]] std::uint16_t next_sequence(std::uint32_t channel, bool is_call,
                                              std::uint32_t gap);
    /// One that was passed over, or the next one.
    [[nodiscard]] std::uint16_t missing_sequence(std::uint32_t channel, bool is_call);

    /// The channel begins another life.
    void end_channel(std::uint32_t channel);

    /// False: the datagram is full.
    bool add(const bench::Bytes& bunch);
    bool add_block(const bench::Bytes& block);
    /// The next packet has bytes changed: numbers[0] where, numbers[1] to what, numbers[2] how.
    void flip(const Step& step) { flips_.push_back(step); }
    void send(bool is_hello = false, std::uint64_t free_instructions = 0);
    void send_raw(Bytes datagram);
    [[nodiscard]] bool has_content() const noexcept {
        return !bunches_.empty() || !blocks_.empty();
    }

  private:
    void change_bytes(Bytes& datagram);

    MeasuredEnd& end_;
    PeerId self_;
    bench::PacketWriter writer_{0};
    std::vector<bench::Bytes> bunches_;
    bench::Bytes blocks_;
    std::size_t bytes_ = 0;
    std::vector<Step> flips_;
    std::map<std::uint64_t, std::uint16_t> sequences_;
    std::map<std::uint64_t, std::vector<std::uint16_t>> missing_;
    std::uint16_t highest_heard_ = 0;
    std::uint64_t bytes_heard_ = 0;
};

}  // namespace replayout::worst
