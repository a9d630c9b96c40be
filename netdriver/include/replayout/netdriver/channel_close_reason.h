// SPDX-License-Identifier: MIT
//
// Why an object ceases to be replicated to a client, and with it what is to become of it there. Not
// to be confused with CloseReason, which ends a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replayout {

/// In Unreal's words. What a client does with the object is its world's to decide
/// (NetWorld::despawn); what is meant stands here. The numbers are part of the wire format.
enum class ChannelCloseReason : std::uint8_t {
    Destroyed,      ///< it is no more
    Dormancy,       ///< it stays as it is, until the channel opens again; no world is told
    LevelUnloaded,  ///< the level that it belongs to is gone: it goes without an effect
    Relevancy,      ///< the client does not see it any more, and may again, under the same id
    TearOff,        ///< it stays, and is the client's own from now on
    Migrated,       ///< another server has it now, and shows it, if the client is to see it
    Disconnected,   ///< the connection ended; never on the wire
};
inline constexpr std::size_t channel_close_reason_count = 7;

/// For logs: "destroyed", "level unloaded" ...
[[nodiscard]] std::string_view to_string(ChannelCloseReason reason) noexcept;

}  // namespace replayout
