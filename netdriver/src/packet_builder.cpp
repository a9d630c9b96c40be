// SPDX-License-Identifier: MIT
#include "packet_builder.h"

#include <cstring>

namespace replayout {

namespace {

// Two packed bytes hold 14 bits; a packet has room for far fewer bunches than that.
constexpr std::uint32_t bunch_count_max = 0x3FFF;

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
        bunch_count_ == bunch_count_max) {
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
    std::memcpy(blocks_.data() + block_bytes_, block.data(), block.size());
    block_bytes_ += block.size();
    last_channel_ = channel;
    return true;
}

std::size_t PacketBuilder::finish(const PacketHeader& header,
                                  std::span<std::byte> datagram) const noexcept {
    REPLAYOUT_ASSERT(header.has_bunches == has_bunches());
    std::size_t size = write_packet_header(datagram, header);
    if (has_bunches()) {
        BitWriter writer(datagram.subspan(size));
        writer.write_packed_uint(bunch_count_);
        writer.write_bytes(std::span<const std::byte>(bunches_).first(bunch_bytes_));
        size += writer.byte_count();
    }
    std::memcpy(datagram.data() + size, blocks_.data(), block_bytes_);
    return size + block_bytes_;
}

}  // namespace replayout
