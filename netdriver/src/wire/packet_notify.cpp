// SPDX-License-Identifier: MIT
#include <replayout/netdriver/packet_notify.h>
#include <replayout/netdriver/sequence.h>

#include <algorithm>

namespace replayout {
namespace {

constexpr std::size_t fixed_header_bytes = 7;
constexpr std::uint32_t bits_per_word = 32;

constexpr unsigned word_count_mask = 0x07;
constexpr unsigned has_bunches_flag = 0x08;
constexpr unsigned ack_requested_flag = 0x10;
constexpr unsigned reserved_flags = 0xe0;

static_assert(packet_header_bytes_min == fixed_header_bytes + 4);
static_assert(packet_header_bytes_max == fixed_header_bytes + std::size_t{4} * ack_words_max);
static_assert(ack_words_max == word_count_mask + 1);

void store_u16(std::span<std::byte> target, std::size_t offset, std::uint16_t value) noexcept {
    target[offset] = static_cast<std::byte>(value & 0xff);
    target[offset + 1] = static_cast<std::byte>(value >> 8);
}

void store_u32(std::span<std::byte> target, std::size_t offset, std::uint32_t value) noexcept {
    target[offset] = static_cast<std::byte>(value & 0xff);
    target[offset + 1] = static_cast<std::byte>(value >> 8 & 0xff);
    target[offset + 2] = static_cast<std::byte>(value >> 16 & 0xff);
    target[offset + 3] = static_cast<std::byte>(value >> 24);
}

std::uint16_t load_u16(std::span<const std::byte> source, std::size_t offset) noexcept {
    const auto low = std::to_integer<unsigned>(source[offset]);
    const auto high = std::to_integer<unsigned>(source[offset + 1]);
    return static_cast<std::uint16_t>(low | high << 8);
}

std::uint32_t load_u32(std::span<const std::byte> source, std::size_t offset) noexcept {
    // In one expression, which compilers make one load of.
    return std::to_integer<std::uint32_t>(source[offset]) |
           std::to_integer<std::uint32_t>(source[offset + 1]) << 8 |
           std::to_integer<std::uint32_t>(source[offset + 2]) << 16 |
           std::to_integer<std::uint32_t>(source[offset + 3]) << 24;
}

// Moves every bit `count` bits up, 1 to 256. Word 0 holds the lowest bits.
//
//     count 9      w1        w0                   w1        w0
//               abcd efgh  ijkl mnop     ->    jklm nop0  0000 0000      (words of 8 drawn)
template <std::size_t Count>
void shift_up(std::array<std::uint64_t, Count>& words, std::uint32_t count) noexcept {
    constexpr std::uint32_t word_bits = 64;
    const std::uint32_t word_shift = count / word_bits;
    const std::uint32_t bit_shift = count % word_bits;
    if (word_shift == 0) {  // nearly always
        for (std::size_t index = Count; --index > 0;) {
            words[index] = words[index] << bit_shift | words[index - 1] >> (word_bits - bit_shift);
        }
        words[0] <<= bit_shift;
        return;
    }
    for (std::size_t index = Count; index-- > 0;) {
        std::uint64_t word = 0;
        if (index >= word_shift) {
            word = words[index - word_shift] << bit_shift;
        }
        if (bit_shift != 0 && index >= word_shift + 1) {
            word |= words[index - word_shift - 1] >> (word_bits - bit_shift);
        }
        words[index] = word;
    }
}

// Whether the header says that `sequence` was processed. Requires that its words reach back to it.
bool acknowledges(const PacketHeader& header, std::uint64_t ack, std::uint64_t sequence) noexcept {
    if (sequence == ack) {
        return true;
    }
    const std::uint64_t bit = ack - 1 - sequence;
    return (header.ack_words[bit / bits_per_word] >> (bit % bits_per_word) & 1U) != 0;
}

// From `first` on, which was processed, all that were up to the next that was not.
std::uint64_t last_delivered(const PacketHeader& header, std::uint64_t ack,
                             std::uint64_t first) noexcept {
    const std::uint64_t bits = ack - first;
    if (bits < bits_per_word && (~header.ack_words[0] & ((1U << bits) - 1)) == 0) {
        return ack;  // nearly always
    }
    std::uint64_t last = first;
    while (last < ack && acknowledges(header, ack, last + 1)) {
        ++last;
    }
    return last;
}

}  // namespace

std::size_t packet_header_bytes(const PacketHeader& header) noexcept {
    return fixed_header_bytes + 4 * std::size_t{header.ack_word_count};
}

std::size_t write_packet_header(std::span<std::byte> target, const PacketHeader& header) noexcept {
    REPLAYOUT_ASSERT(header.ack_word_count >= 1 && header.ack_word_count <= ack_words_max);
    REPLAYOUT_ASSERT(target.size() >= packet_header_bytes(header));
    const unsigned flags = (header.ack_word_count - 1U) |
                           (header.has_bunches ? has_bunches_flag : 0U) |
                           (header.ack_requested ? ack_requested_flag : 0U);
    store_u16(target, 0, header.session);
    store_u16(target, 2, header.sequence);
    store_u16(target, 4, header.ack);
    target[6] = static_cast<std::byte>(flags);
    for (std::size_t index = 0; index < header.ack_word_count; ++index) {
        store_u32(target, fixed_header_bytes + 4 * index, header.ack_words[index]);
    }
    return packet_header_bytes(header);
}

std::size_t read_packet_header(std::span<const std::byte> datagram, PacketHeader& header) noexcept {
    if (datagram.size() < packet_header_bytes_min) {
        return 0;
    }
    const auto flags = std::to_integer<unsigned>(datagram[6]);
    if ((flags & reserved_flags) != 0) {
        return 0;
    }
    const std::size_t word_count = (flags & word_count_mask) + 1;
    if (datagram.size() < fixed_header_bytes + 4 * word_count) {
        return 0;
    }
    header.session = load_u16(datagram, 0);
    header.sequence = load_u16(datagram, 2);
    header.ack = load_u16(datagram, 4);
    header.has_bunches = (flags & has_bunches_flag) != 0;
    header.ack_requested = (flags & ack_requested_flag) != 0;
    header.ack_word_count = static_cast<std::uint8_t>(word_count);
    header.ack_words = {};
    for (std::size_t index = 0; index < word_count; ++index) {
        header.ack_words[index] = load_u32(datagram, fixed_header_bytes + 4 * index);
    }
    return packet_header_bytes(header);
}

PacketNotify::PacketNotify(const PacketNotifySettings& settings) noexcept
    : session_(settings.session),
      window_packets_(settings.window_packets),
      reserved_packets_(settings.reserved_packets),
      highest_sent_(settings.first_sequence_sent - 1),
      highest_acked_(settings.first_sequence_sent - 1),
      highest_received_(settings.first_sequence_received - 1),
      known_to_peer_(settings.first_sequence_received - 1) {
    REPLAYOUT_ASSERT(settings.window_packets <= packets_in_flight_max);
    REPLAYOUT_ASSERT(settings.reserved_packets < settings.window_packets);
    REPLAYOUT_ASSERT(settings.first_sequence_sent >= 1);
    REPLAYOUT_ASSERT(settings.first_sequence_received >= 1);
}

std::uint32_t& PacketNotify::carried_ack(std::uint64_t sequence) noexcept {
    return carried_acks_[sequence % packets_in_flight_max];
}

// The peer may wait for the fate of (known_to_peer_, highest_received_]. The last of these is the
// ack itself, each of the others takes a bit. Beyond 256 bits lie only packets that the peer had
// resolved when it sent the last one.
std::uint8_t PacketNotify::ack_word_count() const noexcept {
    REPLAYOUT_ASSERT(known_to_peer_ <= highest_received_);
    const std::uint64_t unknown_count = highest_received_ - known_to_peer_;
    const std::uint64_t bit_count = unknown_count > 0 ? unknown_count - 1 : 0;
    const std::uint64_t word_count = (bit_count + bits_per_word - 1) / bits_per_word;
    return static_cast<std::uint8_t>(
        std::clamp<std::uint64_t>(word_count, 1, std::uint64_t{ack_words_max}));
}

PacketHeader PacketNotify::next_header() const noexcept {
    PacketHeader header;
    header.session = session_;
    header.sequence = wire_sequence(highest_sent_ + 1);
    header.ack = wire_sequence(highest_received_);
    header.ack_word_count = ack_word_count();
    for (std::size_t index = 0; index < header.ack_word_count; ++index) {
        header.ack_words[index] =
            static_cast<std::uint32_t>(received_words_[index / 2] >> (index % 2 * bits_per_word));
    }
    return header;
}

std::uint64_t PacketNotify::commit_send(const PacketHeader& header) noexcept {
    return commit_sends(header, 1);
}

std::uint64_t PacketNotify::commit_sends(const PacketHeader& header, std::uint32_t count) noexcept {
    REPLAYOUT_ASSERT(count >= 1 && in_flight_count() + count <= window_packets_);
    REPLAYOUT_ASSERT(header.sequence == wire_sequence(highest_sent_ + 1));
    const std::uint64_t first = highest_sent_ + 1;
    // Not simply highest_received_: packets may have come in since the header was made.
    const std::uint64_t ack = expand_sequence(highest_received_, header.ack);
    REPLAYOUT_ASSERT(ack <= highest_received_);
    for (std::uint32_t i = 0; i < count; ++i) {
        carried_ack(first + i) = static_cast<std::uint32_t>(ack);
    }
    highest_sent_ += count;
    return first;
}

PacketReceipt PacketNotify::receive(const PacketHeader& header, PacketNotifyHandler& handler) {
    REPLAYOUT_ASSERT(header.ack_word_count >= 1 && header.ack_word_count <= ack_words_max);
    if (header.session != session_) {
        return PacketReceipt::OtherSession;
    }
    const std::uint64_t sequence = expand_sequence(highest_received_, header.sequence);
    const std::uint64_t ack = expand_sequence(highest_sent_, header.ack);
    const PacketReceipt receipt = judge(header, sequence, ack);
    if (receipt != PacketReceipt::Accepted) {
        return receipt;
    }
    mark_received(sequence);
    resolve(header, ack, handler);
    return PacketReceipt::Accepted;
}

PacketReceipt PacketNotify::judge(const PacketHeader& header, std::uint64_t sequence,
                                  std::uint64_t ack) const noexcept {
    if (sequence <= highest_received_) {
        return PacketReceipt::Stale;
    }
    if (sequence - highest_received_ > packets_in_flight_max) {
        return PacketReceipt::OutOfRange;
    }
    if (ack > highest_sent_) {
        return PacketReceipt::AckOfUnsentPacket;
    }
    if (ack < highest_acked_) {
        return PacketReceipt::AckGoesBack;
    }
    // Of the packets that it resolves, the last is the ack itself; the others need a bit each.
    const std::uint64_t resolved_count = ack - highest_acked_;
    if (resolved_count > 1 + std::uint64_t{bits_per_word} * header.ack_word_count) {
        return PacketReceipt::AckTooShort;
    }
    return PacketReceipt::Accepted;
}

//     highest_received_ 7, processed before it      6 5 . 3     word 0   00 1011
//     packet 9 arrives, 8 did not               . 7 6 5 . 3     word 0   10 1110     bit 1 is 7
void PacketNotify::mark_received(std::uint64_t sequence) noexcept {
    const auto jump = static_cast<std::uint32_t>(sequence - highest_received_);
    REPLAYOUT_ASSERT(jump >= 1 && jump <= packets_in_flight_max);
    shift_up(received_words_, jump);
    if (received_any_) {
        const std::uint32_t bit = jump - 1;
        received_words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    received_any_ = true;
    highest_received_ = sequence;
}

void PacketNotify::resolve(const PacketHeader& header, std::uint64_t ack,
                           PacketNotifyHandler& handler) {
    REPLAYOUT_ASSERT(ack <= highest_sent_);
    while (highest_acked_ < ack) {
        const std::uint64_t first = highest_acked_ + 1;
        if (!acknowledges(header, ack, first)) {
            highest_acked_ = first;
            handler.packet_lost(first);
            continue;
        }
        const std::uint64_t last = last_delivered(header, ack, first);
        // Those before it carried no newer one. What came since is far less than its half tells.
        const auto came_since = static_cast<std::uint32_t>(highest_received_) - carried_ack(last);
        const std::uint64_t known_ack = highest_received_ - came_since;
        REPLAYOUT_ASSERT(known_ack >= known_to_peer_);
        known_to_peer_ = known_ack;
        highest_acked_ = last;
        handler.packets_delivered(first, last);
    }
}

}  // namespace replayout
