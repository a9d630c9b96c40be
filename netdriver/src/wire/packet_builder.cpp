// SPDX-License-Identifier: MIT
#include "packet_builder.h"

#include <cstring>

namespace replayout {

namespace {

// Two packed bytes hold 14 bits; a packet has room for far fewer bunches than that.
constexpr std::uint32_t bunches_in_packet_max = 0x3FFF;

}  // namespace

void PacketBuilder::reset() noexcept {
    bunch_bytes_ = 0;
    block_bytes_ = 0;
    bunch_count_ = 0;
    last_channel_ = ChannelIndex{};
    array_steps_left_ = SendContext::array_steps_in_packet;
}

bool PacketBuilder::add_bunch(const BunchHeader& header, std::span<const std::byte> payload) {
    REPLAYOUT_ASSERT(header.payload_bytes == payload.size());
    if (bunch_header_bytes(header) + payload.size() > bytes_left() ||
        bunch_count_ == bunches_in_packet_max) {
        return false;
    }
    BitWriter writer{std::span<std::byte>(bunches_).subspan(bunch_bytes_)};
    write_bunch_header(writer, header);
    writer.write_bytes(payload);
    REPLAYOUT_ASSERT(!writer.overflowed());
    bunch_bytes_ += writer.byte_count();
    ++bunch_count_;
    return true;
}

void PacketBuilder::remove_bunch(std::size_t offset, std::size_t bytes) noexcept {
    REPLAYOUT_ASSERT(bunch_count_ > 0 && offset + bytes <= bunch_bytes_);
    std::memmove(bunches_.data() + offset, bunches_.data() + offset + bytes,
                 bunch_bytes_ - offset - bytes);
    bunch_bytes_ -= bytes;
    --bunch_count_;
}

bool PacketBuilder::add_block(ChannelIndex channel, bool has_length,
                              std::span<const std::byte> block) noexcept {
    BitWriter writer = begin_block(channel, has_length);
    const std::size_t length_bytes = has_length ? block_length_bytes_max : 0;
    if (writer.overflowed() || block.size() + length_bytes > writer.bits_left() / 8) {
        return false;
    }
    if (has_length) {
        writer.write_packed_uint(block_length_word(block.size(), false));
    }
    block_bytes_ += writer.byte_count();
    std::memcpy(packet_.data() + reserved_bytes + block_bytes_, block.data(), block.size());
    block_bytes_ += block.size();
    last_channel_ = channel;
    return true;
}

std::size_t PacketBuilder::room_for_blocks(ChannelIndex first) const noexcept {
    const std::size_t head_bytes = head_bytes_of(first);
    return bytes_left() > head_bytes ? bytes_left() - head_bytes : 0;
}

void PacketBuilder::add_blocks(ChannelIndex first, ChannelIndex last,
                               std::span<const std::byte> blocks) noexcept {
    const std::size_t head_bytes = head_bytes_of(first);
    REPLAYOUT_ASSERT(head_bytes + blocks.size() <= bytes_left());
    const std::span<std::byte> room = std::span<std::byte>(packet_).subspan(
        reserved_bytes + block_bytes_, head_bytes + blocks.size());
    write_block_step(last_channel_, first, room.first(head_bytes));
    std::memcpy(room.data() + head_bytes, blocks.data(), blocks.size());
    block_bytes_ += head_bytes;
    block_bytes_ += blocks.size();
    last_channel_ = last;
}

std::span<const std::byte> PacketBuilder::finish(const PacketHeader& header) noexcept {
    REPLAYOUT_ASSERT(header.has_bunches == has_bunches());
    std::array<std::byte, 2> count;
    BitWriter count_writer(count);
    if (has_bunches()) {
        count_writer.write_packed_uint(bunch_count_);
        std::byte* const blocks = packet_.data() + reserved_bytes;
        std::memmove(blocks + bunch_bytes_, blocks, block_bytes_);
        std::memcpy(blocks, bunches_.data(), bunch_bytes_);
    }
    const std::size_t header_bytes = packet_header_bytes(header);
    const std::size_t count_bytes = count_writer.byte_count();
    const std::size_t begin = reserved_bytes - header_bytes - count_bytes;
    const std::span<std::byte> datagram = std::span<std::byte>(packet_).subspan(
        begin, header_bytes + count_bytes + bunch_bytes_ + block_bytes_);
    (void)write_packet_header(datagram, header);
    std::memcpy(datagram.data() + header_bytes, count.data(), count_bytes);
    return datagram;
}

}  // namespace replayout
