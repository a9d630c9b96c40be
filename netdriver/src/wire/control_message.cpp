// SPDX-License-Identifier: MIT
#include "control_message.h"

#include "stable_name.h"

namespace replayout {

namespace {

constexpr std::size_t destroyed_object_bytes_max = 10 + stable_name_encoded_bytes_max;

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
    write_kind(writer, hello.takes_layouts ? ControlMessageKind::HelloTakingLayouts
                                           : ControlMessageKind::Hello);
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

Vector<std::byte> known_layout_message(const KnownLayout& known, MemoryResource* resource) {
    Vector<std::byte> bytes(1 + 16 + known.name.size(), std::byte{0},
                            Allocator<std::byte>(resource));
    BitWriter writer({bytes.data(), bytes.size()});
    write_kind(writer, ControlMessageKind::KnownLayout);
    writer.write_bits(known.fingerprint.low, 64);
    writer.write_bits(known.fingerprint.high, 64);
    writer.write_bytes(std::as_bytes(std::span(known.name.data(), known.name.size())));
    REPLAYOUT_ASSERT(!writer.overflowed());
    return bytes;
}

Vector<std::byte> described_layout_message(std::span<const std::byte> description,
                                           MemoryResource* resource) {
    Vector<std::byte> bytes(1 + description.size(), std::byte{0}, Allocator<std::byte>(resource));
    BitWriter writer({bytes.data(), bytes.size()});
    write_kind(writer, ControlMessageKind::DescribedLayout);
    writer.write_bytes(description);
    REPLAYOUT_ASSERT(!writer.overflowed());
    return bytes;
}

bool read_known_layout(std::span<const std::byte> message, KnownLayout& known) noexcept {
    BitReader reader(message);
    const bool is_known = read_kind(reader, ControlMessageKind::KnownLayout);
    KnownLayout read;
    read.fingerprint.low = reader.read_bits(64);
    read.fingerprint.high = reader.read_bits(64);
    const std::span<const std::byte> name = reader.take_bytes(reader.bits_left() / 8);
    if (!is_known || !is_at_end(reader) || name.empty()) {
        return false;
    }
    read.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    known = read;
    return true;
}

bool read_described_layout(std::span<const std::byte> message,
                           std::span<const std::byte>& description) noexcept {
    BitReader reader(message);
    const bool is_described = read_kind(reader, ControlMessageKind::DescribedLayout);
    if (!is_described || reader.bits_left() == 0) {
        return false;
    }
    description = message.subspan(1);
    return true;
}

bool read_hello(std::span<const std::byte> message, Hello& hello) noexcept {
    BitReader reader(message);
    const std::uint64_t kind = reader.read_bits(8);
    const bool has_magic = reader.read_bits(32) == hello_magic;
    Hello read;
    read.takes_layouts = kind == static_cast<std::uint64_t>(ControlMessageKind::HelloTakingLayouts);
    const bool is_hello =
        read.takes_layouts || kind == static_cast<std::uint64_t>(ControlMessageKind::Hello);
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

DestructionNoticeWriter::DestructionNoticeWriter(std::span<std::byte> room) noexcept
    : writer_(room) {
    REPLAYOUT_ASSERT(room.size() > destroyed_object_bytes_max);
    write_kind(writer_, ControlMessageKind::Destroyed);
}

bool DestructionNoticeWriter::add(NetGUID guid, std::string_view name) noexcept {
    if (writer_.bits_left() < destroyed_object_bytes_max * 8) {
        return false;
    }
    writer_.write_packed_uint(guid.value);
    write_stable_name(writer_, name);
    return true;
}

DestroyedObject read_destroyed_object(BitReader& reader) noexcept {
    DestroyedObject object;
    object.guid = NetGUID{reader.read_packed_uint()};
    if (object.guid.is_null()) {
        reader.fail();
    }
    object.stable_name = read_stable_name(reader);
    return object;
}

bool read_destruction_notice(std::span<const std::byte> message, BitReader& objects) noexcept {
    BitReader reader(message);
    const bool is_notice = read_kind(reader, ControlMessageKind::Destroyed);
    objects = reader;
    while (reader.bits_left() > 0 && !reader.failed()) {
        (void)read_destroyed_object(reader);
    }
    return is_notice && is_at_end(reader);
}

InitialBatchStartedMessage::InitialBatchStartedMessage(std::uint32_t object_count) noexcept {
    BitWriter writer(bytes_);
    write_kind(writer, ControlMessageKind::InitialBatchStarted);
    writer.write_packed_uint(object_count);
    REPLAYOUT_ASSERT(!writer.overflowed());
    size_ = writer.byte_count();
}

std::span<const std::byte> initial_batch_finished_message() noexcept {
    static constexpr std::array<std::byte, 1> message{
        static_cast<std::byte>(ControlMessageKind::InitialBatchFinished)};
    return message;
}

bool read_initial_batch_started(std::span<const std::byte> message,
                                std::uint32_t& object_count) noexcept {
    BitReader reader(message);
    const bool is_started = read_kind(reader, ControlMessageKind::InitialBatchStarted);
    const std::uint32_t count = reader.read_packed_uint32();
    if (!is_started || !is_at_end(reader)) {
        return false;
    }
    object_count = count;
    return true;
}

bool read_initial_batch_finished(std::span<const std::byte> message) noexcept {
    BitReader reader(message);
    const bool is_finished = read_kind(reader, ControlMessageKind::InitialBatchFinished);
    return is_finished && is_at_end(reader);
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
