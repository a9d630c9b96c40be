// SPDX-License-Identifier: MIT
//
// The messages with which UNet shows objects to a client and keeps them up to date: what they hold,
// and their payloads as bytes (facts of Unity HLAPI 1.1.1). How a payload becomes a part of a
// packet stands in unet_packet.h.
//
// A struct that was read points into the bytes it was read from. A read that fails leaves the
// struct as it was.
#pragma once

#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace replayout {

/// Numbers of messages. Up to 31 they are the runtime's own, from unet_user_type_first on the
/// game's.
enum class UNetMessageType : std::int16_t {
    ObjectDestroy = 1,
    Rpc = 2,
    ObjectSpawn = 3,
    Owner = 4,
    Command = 5,
    SyncEvent = 7,
    UpdateVars = 8,
    SyncList = 9,
    ObjectSpawnScene = 10,
    SpawnFinished = 12,
    ObjectHide = 13,
    Crc = 14,
    LocalClientAuthority = 15,
    Fragment = 17,
    PeerClientAuthority = 18,
    Connect = 32,
    Disconnect = 33,
    Error = 34,
    Ready = 35,
    NotReady = 36,
    AddPlayer = 37,
    RemovePlayer = 38,
    Scene = 39,
};

inline constexpr std::int16_t unet_user_type_first = 48;

/// What changed of an object: the sections of all its behaviours, in their order. Nothing tells
/// where one ends.
struct UNetUpdateVars {
    static constexpr UNetMessageType type = UNetMessageType::UpdateVars;
    NetworkInstanceId net_id;
    std::span<const std::byte> sections;
};

/// An object made from an asset. The payload is the initial state of all behaviours.
struct UNetObjectSpawn {
    static constexpr UNetMessageType type = UNetMessageType::ObjectSpawn;
    NetworkInstanceId net_id;
    NetworkHash128 asset_id;
    Vector3 position;
    std::span<const std::byte> payload;
    /// Comes last, and may be missing.
    std::optional<Quat> rotation;
};

/// An object that the client's scene has already.
struct UNetObjectSpawnScene {
    static constexpr UNetMessageType type = UNetMessageType::ObjectSpawnScene;
    NetworkInstanceId net_id;
    NetworkSceneId scene_id;
    Vector3 position;
    std::span<const std::byte> payload;
};

/// The object is gone.
struct UNetObjectDestroy {
    static constexpr UNetMessageType type = UNetMessageType::ObjectDestroy;
    NetworkInstanceId net_id;
};

/// The object is there, and this client sees it no more.
struct UNetObjectHide {
    static constexpr UNetMessageType type = UNetMessageType::ObjectHide;
    NetworkInstanceId net_id;
};

/// The object is this client's player, of that number. May come before the object.
struct UNetOwner {
    static constexpr UNetMessageType type = UNetMessageType::Owner;
    NetworkInstanceId net_id;
    std::int16_t player_controller_id = 0;
};

/// Around the objects that a client gets when it becomes ready: 0 before them, 1 behind them.
struct UNetSpawnFinished {
    static constexpr UNetMessageType type = UNetMessageType::SpawnFinished;
    std::uint32_t state = 0;
};

enum class UNetListOperation : std::uint8_t { Add, Clear, Insert, Remove, RemoveAt, Set, Dirty };

/// One operation on a SyncList. The item is there with every operation: the default value where it
/// means nothing. The index is not checked against the list, which this codec does not know.
struct UNetSyncList {
    static constexpr UNetMessageType type = UNetMessageType::SyncList;
    NetworkInstanceId net_id;
    std::uint32_t list_hash = 0;  ///< names the list within the object
    UNetListOperation operation = UNetListOperation::Add;
    std::uint32_t index = 0;
    std::span<const std::byte> item;
};

/// Writes the payload alone.
void write_payload(NetworkWriter& writer, const UNetUpdateVars& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetObjectSpawn& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetObjectSpawnScene& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetObjectDestroy& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetObjectHide& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetOwner& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetSpawnFinished& message) noexcept;
void write_payload(NetworkWriter& writer, const UNetSyncList& message) noexcept;

/// Reads a payload up to its end. False, and the reader has failed, if it is none.
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetUpdateVars& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetObjectSpawn& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetObjectSpawnScene& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetObjectDestroy& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetObjectHide& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetOwner& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetSpawnFinished& message) noexcept;
[[nodiscard]] bool read_payload(NetworkReader& reader, UNetSyncList& message) noexcept;

}  // namespace replayout
