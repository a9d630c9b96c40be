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

LayoutId read_layout_id(std::span<const std::byte> ids, std::size_t index) noexcept {
    REPLAYOUT_ASSERT((index + 1) * LayoutId::encoded_bytes <= ids.size());
    BitReader reader(ids.subspan(index * LayoutId::encoded_bytes, LayoutId::encoded_bytes));
    LayoutId id;
    id.name_hash = static_cast<std::uint32_t>(reader.read_bits(32));
    id.fingerprint = static_cast<std::uint32_t>(reader.read_bits(32));
    return id;
}

void write_layout_id(BitWriter& writer, const LayoutId& id) noexcept {
    writer.write_bits(id.name_hash, 32);
    writer.write_bits(id.fingerprint, 32);
}

void write_hello(BitWriter& writer, const Hello& hello) noexcept {
    write_kind(writer, ControlMessageKind::Hello);
    writer.write_bits(hello_magic, 32);
    writer.write_bits(hello.version, 16);
    writer.write_bits(hello.schema.low, 64);
    writer.write_bits(hello.schema.high, 64);
    writer.write_bits(hello.layout_count, 32);
    writer.write_bytes(hello.layout_ids);
    REPLAYOUT_ASSERT(!writer.overflowed());
}

GoodbyeMessage::GoodbyeMessage(const Goodbye& goodbye) noexcept {
    BitWriter writer(bytes_);
    write_kind(writer, ControlMessageKind::Goodbye);
    writer.write_bits(static_cast<std::uint64_t>(goodbye.reason), 8);
    writer.write_bits(goodbye.name_hash, 32);
    REPLAYOUT_ASSERT(!writer.overflowed());
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
    if (!is_hello || !has_magic || reader.failed()) {
        return false;
    }
    if (read.version != wire_version) {
        hello = read;
        return true;
    }
    read.schema.low = reader.read_bits(64);
    read.schema.high = reader.read_bits(64);
    read.layout_count = static_cast<std::uint32_t>(reader.read_bits(32));
    const std::size_t id_bytes = reader.bits_left() / 8;
    if (reader.failed() || id_bytes % LayoutId::encoded_bytes != 0 ||
        id_bytes / LayoutId::encoded_bytes > read.layout_count) {
        return false;
    }
    read.layout_ids = reader.take_bytes(id_bytes);
    hello = read;
    return true;
}

bool read_welcome(std::span<const std::byte> message) noexcept {
    BitReader reader(message);
    const bool is_welcome = read_kind(reader, ControlMessageKind::Welcome);
    return is_welcome && is_at_end(reader);
}

bool read_goodbye(std::span<const std::byte> message, Goodbye& goodbye) noexcept {
    BitReader reader(message);
    const bool is_goodbye = read_kind(reader, ControlMessageKind::Goodbye);
    const std::uint64_t number = reader.read_bits(8);
    const auto name_hash = static_cast<std::uint32_t>(reader.read_bits(32));
    if (!is_goodbye || !is_at_end(reader) || number == 0 || number >= close_reason_count) {
        return false;
    }
    goodbye = {static_cast<CloseReason>(number), name_hash};
    return true;
}

}  // namespace replayout
