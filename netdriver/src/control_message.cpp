// SPDX-License-Identifier: MIT
#include "control_message.h"

namespace replayout {

namespace {

constexpr std::uint32_t hello_magic = 0x59'4C'50'52;  // "RPLY"

void write_kind(BitWriter& writer, ControlMessageKind kind) noexcept {
    writer.write_bits(static_cast<std::uint64_t>(kind), 8);
}

[[nodiscard]] bool read_kind(BitReader& reader, ControlMessageKind kind) noexcept {
    return reader.read_bits(8) == static_cast<std::uint64_t>(kind);
}

[[nodiscard]] bool is_at_end(const BitReader& reader) noexcept {
    return !reader.failed() && reader.bits_left() == 0;
}

}  // namespace

HelloMessage::HelloMessage(const Hello& hello) noexcept {
    BitWriter writer(bytes_);
    write_kind(writer, ControlMessageKind::Hello);
    writer.write_bits(hello_magic, 32);
    writer.write_bits(hello.version, 16);
    writer.write_bits(hello.schema.low, 64);
    writer.write_bits(hello.schema.high, 64);
    writer.write_bits(hello.layout_count, 32);
    REPLAYOUT_ASSERT(!writer.overflowed() && writer.byte_count() == bytes_.size());
}

GoodbyeMessage::GoodbyeMessage(CloseReason reason) noexcept {
    BitWriter writer(bytes_);
    write_kind(writer, ControlMessageKind::Goodbye);
    writer.write_bits(static_cast<std::uint64_t>(reason), 8);
}

std::span<const std::byte> welcome_message() noexcept {
    static constexpr std::array<std::byte, 1> message{
        static_cast<std::byte>(ControlMessageKind::Welcome)};
    return message;
}

bool read_hello(std::span<const std::byte> message, Hello& hello) noexcept {
    BitReader reader(message);
    const bool is_hello = read_kind(reader, ControlMessageKind::Hello);
    const bool has_magic = reader.read_bits(32) == hello_magic;
    Hello read;
    read.version = static_cast<std::uint16_t>(reader.read_bits(16));
    read.schema.low = reader.read_bits(64);
    read.schema.high = reader.read_bits(64);
    read.layout_count = static_cast<std::uint32_t>(reader.read_bits(32));
    if (!is_hello || !has_magic || !is_at_end(reader)) {
        return false;
    }
    hello = read;
    return true;
}

bool read_welcome(std::span<const std::byte> message) noexcept {
    BitReader reader(message);
    const bool is_welcome = read_kind(reader, ControlMessageKind::Welcome);
    return is_welcome && is_at_end(reader);
}

bool read_goodbye(std::span<const std::byte> message, CloseReason& reason) noexcept {
    BitReader reader(message);
    const bool is_goodbye = read_kind(reader, ControlMessageKind::Goodbye);
    const std::uint64_t number = reader.read_bits(8);
    if (!is_goodbye || !is_at_end(reader) || number == 0 || number >= close_reason_count) {
        return false;
    }
    reason = static_cast<CloseReason>(number);
    return true;
}

}  // namespace replayout
