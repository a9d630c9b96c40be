// SPDX-License-Identifier: MIT
#include "worst/hostile/hostile_line.h"

#include <algorithm>

namespace replayout::worst {

namespace {

constexpr std::size_t head_bytes_max = packet_header_bytes_max + 2;

[[nodiscard]] std::uint64_t key_of(std::uint32_t channel, bool is_call) noexcept {
    return std::uint64_t{channel} << 1 | (is_call ? 1 : 0);
}

/// Which of 32 packets arrived.
[[nodiscard]] std::uint32_t word_of(std::uint32_t pattern, std::uint32_t seed,
                                    std::uint32_t index) noexcept {
    switch (pattern % 8) {
        case 0:
            return 0;
        case 1:
            return ~0u;
        case 2:
            return 0x5555'5555;
        case 3:
            return 0x4444'4444;
        case 4:
            return 0x0000'ffff;
        case 5:
            return index % 2 == 0 ? ~0u : 0;
        case 6:
            return 0xfefe'fefe;
        default:
            return (seed + index) * 0x9e37'79b1u;
    }
}

}  // namespace

void HostileLine::begin_session(std::uint16_t session) {
    writer_ = bench::PacketWriter(session);
    sequences_.clear();
    missing_.clear();
    bunches_.clear();
    blocks_.clear();
    bytes_ = 0;
    highest_heard_ = 0;
}

void HostileLine::begin_session_of(std::span<const std::byte> hello) {
    PacketHeader header;
    if (read_packet_header(hello, header) > 0) {
        begin_session(header.session);
        highest_heard_ = header.sequence;
        writer_.header.ack = header.sequence;
    }
}

void HostileLine::hear() {
    for (const Bytes& datagram : end_.take_sent(self_)) {
        bytes_heard_ += datagram.size();
        PacketHeader header;
        if (read_packet_header(datagram, header) > 0 && header.session == session() &&
            static_cast<std::int16_t>(header.sequence - highest_heard_) > 0) {
            highest_heard_ = header.sequence;
        }
    }
}

void HostileLine::acknowledge(const Step& step) {
    PacketHeader& header = writer_.header;
    const auto ahead = static_cast<std::uint16_t>(highest_heard_ - header.ack);
    const auto back =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(step.numbers[0] % 256, ahead));
    header.ack = static_cast<std::uint16_t>(highest_heard_ - back);
    header.ack_word_count = static_cast<std::uint8_t>(
        step.numbers[2] % ack_words_max == 0 ? ack_words_max : step.numbers[2] % ack_words_max);
    for (std::uint32_t i = 0; i < ack_words_max; ++i) {
        header.ack_words[i] =
            i < header.ack_word_count ? word_of(step.numbers[1], step.numbers[3], i) : 0;
    }
}

void HostileLine::acknowledge_all() {
    Step all;
    all.numbers[1] = 1;
    acknowledge(all);
}

std::uint16_t HostileLine::next_sequence(std::uint32_t channel, bool is_call, std::uint32_t gap) {
    std::uint16_t& last = sequences_[key_of(channel, is_call)];
    for (std::uint32_t i = 0; i < gap; ++i) {
        missing_[key_of(channel, is_call)].push_back(++last);
    }
    return ++last;
}

std::uint16_t HostileLine::missing_sequence(std::uint32_t channel, bool is_call) {
    std::vector<std::uint16_t>& missing = missing_[key_of(channel, is_call)];
    if (missing.empty()) {
        return next_sequence(channel, is_call, 0);
    }
    const std::uint16_t sequence = missing.back();
    missing.pop_back();
    return sequence;
}

void HostileLine::end_channel(std::uint32_t channel) {
    for (const bool is_call : {false, true}) {
        sequences_.erase(key_of(channel, is_call));
        missing_.erase(key_of(channel, is_call));
    }
}

bool HostileLine::add(const bench::Bytes& bunch) {
    if (head_bytes_max + bytes_ + bunch.size() > datagram_bytes_max) {
        return false;
    }
    bytes_ += bunch.size();
    bunches_.push_back(bunch);
    return true;
}

bool HostileLine::add_block(const bench::Bytes& block) {
    if (head_bytes_max + bytes_ + block.size() > datagram_bytes_max) {
        return false;
    }
    bytes_ += block.size();
    bench::append(blocks_, block);
    return true;
}

void HostileLine::send(bool is_hello, std::uint64_t free_instructions) {
    Bytes datagram = writer_.packet(bunches_, blocks_);
    bunches_.clear();
    blocks_.clear();
    bytes_ = 0;
    change_bytes(datagram);
    end_.send(self_, datagram, is_hello, free_instructions);
    hear();
}

void HostileLine::send_raw(Bytes datagram) {
    change_bytes(datagram);
    end_.send(self_, datagram, false, 0);
    hear();
}

void HostileLine::change_bytes(Bytes& datagram) {
    for (const Step& step : flips_) {
        if (datagram.empty()) {
            break;
        }
        const std::size_t place = step.numbers[0] % datagram.size();
        const auto value = static_cast<std::byte>(step.numbers[1]);
        const auto at = datagram.begin() + static_cast<std::ptrdiff_t>(place);
        switch (step.numbers[2] % 4) {
            case 0:
                *at ^= value;
                break;
            case 1:
                *at = value;
                break;
            case 2:
                datagram.insert(at, step.numbers[3] % 64, value);
                break;
            default:
                datagram.resize(place);
                break;
        }
    }
    flips_.clear();
    datagram.resize(std::min(datagram.size(), datagram_bytes_max));
}

}  // namespace replayout::worst
