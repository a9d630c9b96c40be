// SPDX-License-Identifier: MIT
//
// Where a client takes the objects from that its server spawns, and where they go afterwards:
//
//     of the scene          objects that wait under their scene id, and return there
//     of a spawn handler    the game makes them, and takes them back
//     any other             made from the prefab, and destroyed
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_world.h>

#include <cstdint>
#include <map>

#include "part_of.h"

namespace replayout {

class NetworkClient::SpawnSources : detail::PartOf<detail::ClientParts> {
  public:
    using PartOf::PartOf;

    // As of NetworkClient.
    bool register_handler(std::uint32_t asset_id, NetworkSpawnHandler handler);
    void unregister_handler(std::uint32_t asset_id) { handlers_.erase(asset_id); }
    [[nodiscard]] NetworkIdentity& add_scene_object(const NetworkPrefab& prefab,
                                                    std::uint64_t scene_id);

    /// An object that is not spawned. Null: there is none, which was logged.
    [[nodiscard]] NetworkIdentity* take(const SpawnInfo& info);
    /// The object is not spawned any longer. The handler may destroy it.
    void give_back(NetworkIdentity& object, ChannelCloseReason reason);

  private:
    [[nodiscard]] NetworkIdentity* take_scene_object(const SpawnInfo& info);
    /// Asks the handler of the prefab, or makes the object if there is none.
    [[nodiscard]] NetworkIdentity* make(const NetworkPrefab& prefab, const SpawnInfo& info);
    /// Null: no prefab has that layout.
    [[nodiscard]] const NetworkPrefab* prefab_of(const RepLayout& layout) const noexcept;

    std::map<std::uint64_t, NetworkIdentity*> scene_objects_;  // that are not spawned
    std::map<std::uint32_t, NetworkSpawnHandler> handlers_;
};

}  // namespace replayout
