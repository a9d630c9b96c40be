// SPDX-License-Identifier: MIT
//
// One datagram as it is filled: bunches first, blocks behind them.
//
//     [ header 11..39 ][ bunch count, bunches ][ block ][ block ] ...
//
// The room for the longest header and for a bunch count of two bytes is set aside always, so what
// fits into a packet does not depend on how many ack words it will carry.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/packet_notify.h>
#include <replayout/send_properties.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace replayout {

/// The length of a block, where it has one.
[[nodiscard]] constexpr std::uint64_t block_length_word(std::size_t block_bytes,
                                                        bool more_parts_follow) noexcept {
    return std::uint64_t{block_bytes} << 1 | (more_parts_follow ? 1 : 0);
}

/// Bytes of the head of a block without a length that stands behind a block of another channel, or
/// first in its packet, behind channel 0.
[[nodiscard]] constexpr std::size_t block_step_bytes(ChannelIndex last,
                                                     ChannelIndex channel) noexcept {
    const std::uint64_t step = std::uint64_t{channel.value} - last.value;
    if (step < 64) {
        return 1;  // mostly it is a neighbour
    }
    return channel > last ? packed_uint_bytes(step << 1)
                          : packed_uint_bytes(0) + packed_uint_bytes(channel.value);
}

/// There are less than 2^28 channels.
inline constexpr std::size_t block_step_bytes_max = 5;

/// Bytes of the length that follows the head of a block, at most.
inline constexpr std::size_t block_length_bytes_max = 2;

/// Whether a length follows the head of a block.
enum class BlockLength : std::uint8_t { None, Given };

/// Bytes of the length of a block.
[[nodiscard]] constexpr std::size_t block_length_bytes(BlockLength length,
                                                       std::size_t block_bytes) noexcept {
    return length == BlockLength::None ? 0
                                       : packed_uint_bytes(block_length_word(block_bytes, false));
}

namespace detail {

/// Writes a packed number, as BitWriter::write_packed_uint() does at a byte boundary. Returns where
/// the next byte goes.
inline std::byte* write_packed_bytes(std::byte* to, std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) {
        *to++ = static_cast<std::byte>((value & 0x7F) << 1 | 1);
    }
    *to++ = static_cast<std::byte>(value << 1);
    return to;
}

/// write_block_step() of more than a byte.
inline void write_long_step(ChannelIndex last, ChannelIndex channel, BlockLength length,
                            std::span<std::byte> room) noexcept {
    const std::uint64_t flag = length == BlockLength::Given ? 1 : 0;
    std::byte* end = room.data();
    if (channel > last) {
        end = write_packed_bytes(end, std::uint64_t{channel.value - last.value} << 1 | flag);
    } else {
        end = write_packed_bytes(end, flag);
        end = write_packed_bytes(end, channel.value);
    }
    REPLAYOUT_ASSERT(end == room.data() + room.size());
    (void)end;
}

}  // namespace detail

/// Writes the head of a block, as long as the room for it (block_step_bytes()).
inline void write_block_step(ChannelIndex last, ChannelIndex channel, BlockLength length,
                             std::span<std::byte> room) noexcept {
    if (room.size() == 1) {
        const std::uint32_t step = channel.value - last.value;
        const std::uint32_t flag = length == BlockLength::Given ? 1 : 0;
        room.front() = static_cast<std::byte>((step << 1 | flag) << 1);  // a packed number
    } else {
        detail::write_long_step(last, channel, length, room);
    }
}

/// Writes the length of a block, as long as the room for it (block_length_bytes()); none into no
/// room.
inline void write_block_length(std::size_t block_bytes, std::span<std::byte> room) noexcept {
    if (!room.empty()) {
        const std::byte* const end =
            detail::write_packed_bytes(room.data(), block_length_word(block_bytes, false));
        REPLAYOUT_ASSERT(end == room.data() + room.size());
        (void)end;
    }
}

/// Steps of keyed arrays (SendContext::array_steps_left) of which a packet with so much room for
/// blocks has one for each byte of them.
[[nodiscard]] constexpr std::size_t array_steps_per_byte(std::size_t room_bytes) noexcept {
    return SendContext::array_steps_in_packet / room_bytes;
}

class PacketBuilder {
  public:
    static constexpr std::size_t packet_bytes_limit = 1'400;
    static constexpr std::size_t reserved_bytes = packet_header_bytes_max + 2;

    explicit PacketBuilder(std::size_t packet_bytes_max) noexcept
        : room_bytes_(packet_bytes_max - reserved_bytes) {}

    void reset() noexcept;
    /// Has what that one has from now on. Requires that both are for packets of the same size, or
    /// that this one only keeps what it has for others.
    void copy_from(const PacketBuilder& other) noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return bunch_count_ == 0 && block_bytes_ == 0; }
    [[nodiscard]] bool has_bunches() const noexcept { return bunch_count_ > 0; }
    [[nodiscard]] std::size_t bytes_left() const noexcept {
        return room_bytes_ - bunch_bytes_ - block_bytes_;
    }

    /// What its packet takes so far, with a header as it is most often.
    [[nodiscard]] std::size_t bytes_used() const noexcept {
        constexpr std::size_t usual_header_bytes = 12;
        return is_empty() ? 0 : usual_header_bytes + bunch_bytes_ + block_bytes_;
    }

    /// That of a packet in which there is nothing yet.
    [[nodiscard]] std::size_t room_bytes() const noexcept { return room_bytes_; }

    /// False, and nothing written, when it does not fit.
    [[nodiscard]] bool add_bunch(const BunchHeader& header, std::span<const std::byte> payload);

    /// Bunches that are laid down, with their headers. Requires has_room_for_bunch().
    void add_bunch_bytes(std::span<const std::byte> bunches, std::uint32_t count = 1) noexcept {
        REPLAYOUT_ASSERT(has_room_for_bunch(bunches.size()));
        std::memcpy(bunches_.data() + bunch_bytes_, bunches.data(), bunches.size());
        bunch_bytes_ += bunches.size();
        bunch_count_ += count;
    }
    /// The same of one bunch, the first `bytes` of `memory`.
    template <std::size_t size>
    void add_short_bunch(const std::array<std::byte, size>& memory, std::size_t bytes) noexcept {
        static_assert(size <= short_bunch_bytes_max);
        REPLAYOUT_ASSERT(bytes <= size && has_room_for_bunch(bytes));
        // All of it: as many bytes each time take a step or two.
        std::memcpy(bunches_.data() + bunch_bytes_, memory.data(), size);
        bunch_bytes_ += bytes;
        ++bunch_count_;
    }
    /// Whether a bunch of so many bytes fits, header included.
    [[nodiscard]] bool has_room_for_bunch(std::size_t bytes) const noexcept {
        return bytes <= bytes_left() && bunch_count_ < bunches_in_packet_max;
    }

    /// What the bunches take that were added.
    [[nodiscard]] std::size_t bunch_bytes() const noexcept { return bunch_bytes_; }
    /// Takes one out again: the `bytes` at `offset` of bunch_bytes().
    void remove_bunch(std::size_t offset, std::size_t bytes) noexcept;

    /// Bytes of the longest head of a block: two packed numbers, and a length.
    static constexpr std::size_t block_head_bytes_max = 5 + 5 + block_length_bytes_max;

    /// The longest block that goes into an empty packet.
    [[nodiscard]] static std::size_t block_bytes_max(std::size_t room_bytes, ChannelIndex channel,
                                                     BlockLength length) noexcept {
        return room_bytes - block_step_bytes(ChannelIndex{}, channel) -
               (length == BlockLength::Given ? block_length_bytes_max : 0);
    }

    /// A writer over the room that is left, behind the head of a block; end_block() keeps what it
    /// wrote, in whole bytes. It has overflowed when the head does not fit.
    [[nodiscard]] BitWriter begin_block(ChannelIndex channel, bool has_length) noexcept {
        BitWriter writer(
            std::span<std::byte>(packet_).subspan(blocks_offset + block_bytes_, bytes_left()));
        if (channel > last_channel_) {
            const std::uint64_t step = channel.value - last_channel_.value;
            writer.write_packed_uint(step << 1 | (has_length ? 1 : 0));
        } else {
            writer.write_packed_uint(has_length ? 1 : 0);
            writer.write_packed_uint(channel.value);
        }
        return writer;
    }
    /// A block whose bytes are known. False, and nothing written, when it does not fit.
    [[nodiscard]] bool add_block(ChannelIndex channel, bool has_length,
                                 std::span<const std::byte> block) noexcept;
    /// Whole blocks, laid down elsewhere, of which the first is that of `first` and stands there
    /// without its head, but with its length, if it has one; the last is that of `last`. Requires
    /// room_for_blocks().
    void add_blocks(ChannelIndex first, BlockLength length_of_first, ChannelIndex last,
                    std::span<const std::byte> blocks) noexcept;
    /// One such block, of which `block` has no length. Requires room_for_blocks() for both.
    void add_block_alone(ChannelIndex channel, BlockLength length,
                         std::span<const std::byte> block) noexcept;
    /// What there is room for behind the head of a block of `first`; nothing: not even for that.
    [[nodiscard]] std::size_t room_for_blocks(ChannelIndex first) const noexcept;
    /// Bytes of the head of a block that follows what the packet has so far.
    [[nodiscard]] std::size_t head_bytes_of(ChannelIndex channel) const noexcept {
        return channel > last_channel_ ? block_step_bytes(last_channel_, channel)
                                       : packed_uint_bytes(0) + packed_uint_bytes(channel.value);
    }
    void end_block(const BitWriter& writer, ChannelIndex channel) noexcept {
        REPLAYOUT_ASSERT(!writer.overflowed() && writer.bit_count() % 8 == 0);
        block_bytes_ += writer.byte_count();
        last_channel_ = channel;
    }

    /// What its blocks may still cost their receiver in keyed arrays (SendContext).
    [[nodiscard]] std::size_t array_steps_left() const noexcept { return array_steps_left_; }
    void spend_array_steps(std::size_t count) noexcept {
        array_steps_left_ -= std::min(array_steps_left_, count);
    }

    /// The datagram; valid until something is written or it is reset. Ends the packet.
    [[nodiscard]] std::span<const std::byte> finish(const PacketHeader& header) noexcept;

  private:
    static constexpr std::size_t short_bunch_bytes_max = 32;
    /// Bunches that take more move the blocks back when the packet ends.
    static constexpr std::size_t bunch_room_bytes = 256;
    static constexpr std::size_t blocks_offset = reserved_bytes + bunch_room_bytes;

    // Two packed bytes hold 14 bits; a packet has room for far fewer bunches than that.
    static constexpr std::uint32_t bunches_in_packet_max = 0x3FFF;

    /// Writes the head of the first of some blocks. Returns the room for the rest of them.
    [[nodiscard]] std::span<std::byte> begin_blocks(ChannelIndex first, BlockLength length,
                                                    std::size_t bytes) noexcept;
    std::size_t room_bytes_;
    std::size_t bunch_bytes_ = 0;
    std::size_t block_bytes_ = 0;
    std::uint32_t bunch_count_ = 0;
    std::size_t array_steps_left_ = SendContext::array_steps_in_packet;
    ChannelIndex last_channel_;  // from which the next one counts; 0 before the first
    std::array<std::byte, packet_bytes_limit + short_bunch_bytes_max> bunches_;
    // Blocks lie behind room for bunches, and these behind the room that is reserved, so that most
    // packets are sent from where they were laid down.
    std::array<std::byte, bunch_room_bytes + packet_bytes_limit> packet_;
};

static_assert(PacketBuilder::reserved_bytes + bunch_header_bytes_max +
                      fragment_bytes(PacketBuilder::packet_bytes_limit) <=
                  PacketBuilder::packet_bytes_limit,
              "the largest packet has room for a fragment, and so has any other");

}  // namespace replayout
