// SPDX-License-Identifier: MIT
#include <replayout/unet/unet_messages.h>
#include <replayout/unet/unet_woven.h>

namespace replayout {

namespace {

constexpr std::size_t rotation_bytes = 16;

/// The message was read to its end, or something is wrong with it.
template <typename Message>
[[nodiscard]] bool accept(NetworkReader& reader, const Message& read, Message& message) noexcept {
    reader.finish();
    if (reader.failed()) {
        return false;
    }
    message = read;
    return true;
}

template <typename Message>
[[nodiscard]] bool read_net_id(NetworkReader& reader, Message& message) noexcept {
    Message read;
    reader.read(read.net_id);
    return accept(reader, read, message);
}

}  // namespace

void write_payload(NetworkWriter& writer, const UNetUpdateVars& message) noexcept {
    writer.write(message.net_id);
    writer.write_bytes(message.sections);
}

bool read_payload(NetworkReader& reader, UNetUpdateVars& message) noexcept {
    UNetUpdateVars read;
    reader.read(read.net_id);
    read.sections = reader.take_rest();
    return accept(reader, read, message);
}

void write_payload(NetworkWriter& writer, const UNetObjectSpawn& message) noexcept {
    writer.write(message.net_id);
    writer.write(message.asset_id);
    writer.write(message.position);
    writer.write_bytes_and_size(message.payload);
    if (message.rotation.has_value()) {
        writer.write(*message.rotation);
    }
}

bool read_payload(NetworkReader& reader, UNetObjectSpawn& message) noexcept {
    UNetObjectSpawn read;
    reader.read(read.net_id);
    reader.read(read.asset_id);
    reader.read(read.position);
    read.payload = reader.read_bytes_and_size();
    if (!reader.failed() && reader.bytes_left() >= rotation_bytes) {
        reader.read(read.rotation.emplace());
    }
    return accept(reader, read, message);
}

void write_payload(NetworkWriter& writer, const UNetObjectSpawnScene& message) noexcept {
    writer.write(message.net_id);
    writer.write(message.scene_id);
    writer.write(message.position);
    writer.write_bytes_and_size(message.payload);
}

bool read_payload(NetworkReader& reader, UNetObjectSpawnScene& message) noexcept {
    UNetObjectSpawnScene read;
    reader.read(read.net_id);
    reader.read(read.scene_id);
    reader.read(read.position);
    read.payload = reader.read_bytes_and_size();
    return accept(reader, read, message);
}

void write_payload(NetworkWriter& writer, const UNetObjectDestroy& message) noexcept {
    writer.write(message.net_id);
}

bool read_payload(NetworkReader& reader, UNetObjectDestroy& message) noexcept {
    return read_net_id(reader, message);
}

void write_payload(NetworkWriter& writer, const UNetObjectHide& message) noexcept {
    writer.write(message.net_id);
}

bool read_payload(NetworkReader& reader, UNetObjectHide& message) noexcept {
    return read_net_id(reader, message);
}

void write_payload(NetworkWriter& writer, const UNetOwner& message) noexcept {
    writer.write(message.net_id);
    write_woven(writer, message.player_controller_id);
}

bool read_payload(NetworkReader& reader, UNetOwner& message) noexcept {
    UNetOwner read;
    reader.read(read.net_id);
    read_woven(reader, read.player_controller_id);
    return accept(reader, read, message);
}

void write_payload(NetworkWriter& writer, const UNetSpawnFinished& message) noexcept {
    writer.write_packed_uint32(message.state);
}

bool read_payload(NetworkReader& reader, UNetSpawnFinished& message) noexcept {
    UNetSpawnFinished read;
    read.state = reader.read_packed_uint32();
    return accept(reader, read, message);
}

void write_payload(NetworkWriter& writer, const UNetSyncList& message) noexcept {
    writer.write(message.net_id);
    writer.write_packed_uint32(message.list_hash);
    writer.write_uint8(static_cast<std::uint8_t>(message.operation));
    writer.write_packed_uint32(message.index);
    writer.write_bytes(message.item);
}

bool read_payload(NetworkReader& reader, UNetSyncList& message) noexcept {
    UNetSyncList read;
    reader.read(read.net_id);
    read.list_hash = reader.read_packed_uint32();
    const std::uint8_t operation = reader.read_uint8();
    if (operation > static_cast<std::uint8_t>(UNetListOperation::Dirty)) {
        reader.fail(UNetError::UnknownOperation);
    }
    read.operation = static_cast<UNetListOperation>(operation);
    read.index = reader.read_packed_uint32();
    read.item = reader.take_rest();
    return accept(reader, read, message);
}

}  // namespace replayout
