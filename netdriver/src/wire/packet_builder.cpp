// SPDX-License-Identifier: MIT
#include "packet_builder.h"

namespace replayout {

void PacketBuilder::reset() noexcept {
    bunch_bytes_ = 0;
    block_bytes_ = 0;
    bunch_count_ = 0;
    last_channel_ = ChannelIndex{};
    array_steps_left_ = SendContext::array_steps_in_packet;
}

void PacketBuilder::copy_from(const PacketBuilder& other) noexcept {
    bunch_bytes_ = other.bunch_bytes_;
    block_bytes_ = other.block_bytes_;
    bunch_count_ = other.bunch_count_;
    array_steps_left_ = other.array_steps_left_;
    last_channel_ = other.last_channel_;
    std::memcpy(bunches_.data(), other.bunches_.data(), bunch_bytes_);
    std::memcpy(packet_.data() + blocks_offset, other.packet_.data() + blocks_offset, block_bytes_);
}

bool PacketBuilder::add_bunch(const BunchHeader& header, std::span<const std::byte> payload) {
    REPLAYOUT_ASSERT(header.payload_bytes == payload.size());
    if (!has_room_for_bunch(bunch_header_bytes(header) + payload.size())) {
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
    const std::size_t length_bytes = has_length ? block_length_bytes_max : 0;
    if (head_bytes_of(channel) + length_bytes + block.size() > bytes_left()) {
        return false;
    }
    add_block_alone(channel, has_length ? BlockLength::Given : BlockLength::None, block);
    return true;
}

std::size_t PacketBuilder::room_for_blocks(ChannelIndex first) const noexcept {
    const std::size_t head_bytes = head_bytes_of(first);
    return bytes_left() > head_bytes ? bytes_left() - head_bytes : 0;
}

std::span<std::byte> PacketBuilder::begin_blocks(ChannelIndex first, BlockLength length,
                                                 std::size_t bytes) noexcept {
    const std::size_t head_bytes = head_bytes_of(first);
    REPLAYOUT_ASSERT(head_bytes + bytes <= bytes_left());
    const std::span<std::byte> room =
        std::span<std::byte>(packet_).subspan(blocks_offset + block_bytes_, head_bytes + bytes);
    write_block_step(last_channel_, first, length, room.first(head_bytes));
    block_bytes_ += room.size();
    return room.subspan(head_bytes);
}

void PacketBuilder::add_blocks(ChannelIndex first, BlockLength length_of_first, ChannelIndex last,
                               std::span<const std::byte> blocks) noexcept {
    const std::span<std::byte> room = begin_blocks(first, length_of_first, blocks.size());
    std::memcpy(room.data(), blocks.data(), blocks.size());
    last_channel_ = last;
}

void PacketBuilder::add_block_alone(ChannelIndex channel, BlockLength length,
                                    std::span<const std::byte> block) noexcept {
    const std::size_t length_bytes = block_length_bytes(length, block.size());
    const std::span<std::byte> room = begin_blocks(channel, length, length_bytes + block.size());
    write_block_length(block.size(), room.first(length_bytes));
    std::memcpy(room.data() + length_bytes, block.data(), block.size());
    last_channel_ = channel;
}

std::span<const std::byte> PacketBuilder::finish(const PacketHeader& header) noexcept {
    REPLAYOUT_ASSERT(header.has_bunches == has_bunches());
    std::array<std::byte, 2> count;
    std::size_t count_bytes = 0;
    std::size_t content = blocks_offset;
    if (has_bunches()) {
        count_bytes = static_cast<std::size_t>(
            detail::write_packed_bytes(count.data(), bunch_count_) - count.data());
        content -= std::min(bunch_bytes_, bunch_room_bytes);
        if (bunch_bytes_ > bunch_room_bytes) {
            std::memmove(packet_.data() + content + bunch_bytes_, packet_.data() + blocks_offset,
                         block_bytes_);
        }
        std::memcpy(packet_.data() + content, bunches_.data(), bunch_bytes_);
    }
    const std::size_t header_bytes = packet_header_bytes(header);
    const std::span<std::byte> datagram = std::span<std::byte>(packet_).subspan(
        content - header_bytes - count_bytes,
        header_bytes + count_bytes + bunch_bytes_ + block_bytes_);
    (void)write_packet_header(datagram, header);
    std::memcpy(datagram.data() + header_bytes, count.data(), count_bytes);
    return datagram;
}

}  // namespace replayout
