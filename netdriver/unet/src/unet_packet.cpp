// SPDX-License-Identifier: MIT
#include <replayout/reflection/diagnostics.h>
#include <replayout/unet/unet_packet.h>

namespace replayout {

UNetMessageWriter::UNetMessageWriter(NetworkWriter& writer, std::int16_t type) noexcept
    : writer_(writer), start_(writer.mark()) {
    REPLAYOUT_ASSERT(!writer.failed());
    writer_.write_uint16(0);
    writer_.write_int16(type);
}

UNetError UNetMessageWriter::finish() noexcept {
    const std::size_t byte_count = writer_.byte_count() - start_.position;
    if (byte_count > unet_message_bytes_max) {
        writer_.fail(UNetError::MessageTooLong);
    }
    const UNetError error = writer_.error();
    if (error != UNetError::None) {
        writer_.rewind(start_);
        return error;
    }
    writer_.overwrite_uint16(start_.position,
                             static_cast<std::uint16_t>(byte_count - unet_header_bytes));
    return UNetError::None;
}

UNetPacketReader::UNetPacketReader(std::span<const std::byte> packet, UNetReceiveCounters& counters,
                                   UNetStrictness strictness) noexcept
    : packet_(packet), counters_(counters), payload_({}, strictness) {
    ++counters_.packets;
}

void UNetPacketReader::drop_from(std::size_t position, UNetError error) noexcept {
    error_ = error;
    has_message_ = false;
    ++counters_.packets_cut;
    counters_.bytes_dropped += packet_.size() - position;
    ++counters_.errors[static_cast<std::size_t>(error)];
    position_ = packet_.size();
}

void UNetPacketReader::finish_message() noexcept {
    if (!has_message_) {
        return;
    }
    has_message_ = false;
    ++counters_.messages;
    payload_.finish();
    if (payload_.failed()) {
        ++counters_.messages_failed;
        ++counters_.errors[static_cast<std::size_t>(payload_.error())];
    }
}

void UNetPacketReader::drop_unknown() noexcept {
    REPLAYOUT_EXPECT(has_message_, void(), "drop_unknown: there is no message: call next() before");
    drop_from(message_start_, UNetError::UnknownMessageType);
}

bool UNetPacketReader::next() noexcept {
    finish_message();
    if (position_ == packet_.size()) {
        return false;
    }
    NetworkReader reader(packet_.subspan(position_));
    const std::size_t size = reader.read_uint16();
    const std::int16_t type = reader.read_int16();
    const std::span<const std::byte> payload = reader.take_bytes(size);
    if (reader.failed()) {
        const bool has_header = packet_.size() - position_ >= unet_header_bytes;
        drop_from(position_, has_header ? UNetError::SizeBeyondPacket : UNetError::EndOfBytes);
        return false;
    }
    message_start_ = position_;
    position_ += unet_header_bytes + size;
    type_ = type;
    payload_ = NetworkReader(payload, payload_.strictness());
    has_message_ = true;
    return true;
}

}  // namespace replayout
