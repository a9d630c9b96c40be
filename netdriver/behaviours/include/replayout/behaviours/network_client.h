// SPDX-License-Identifier: MIT
//
// A client, in Mirror's words, over a NetDriver.
//
//     NetworkClient client(settings, transport, types, manager);
//     client.register_spawn_handler(types.find_prefab("Bullet")->asset_id(), pool);
//     if (!client.connect(server, now)) { ... }
//     every tick:
//         client.early_update(now);             // objects come, change and go
//         client.late_update(now);
#pragma once

#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_manager.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/callback.h>
#include <replayout/reflection/error.h>

#include <cstdint>
#include <memory>

namespace replayout {

namespace detail {
struct ClientParts;
}  // namespace detail

/// What went wrong, by kind. Never reset.
struct NetworkClientCounters {
    /// Of spawn handlers that gave nothing, or nothing of use.
    std::uint64_t handlers_failed = 0;
    /// Objects of a scene that is not here, or of another prefab there.
    std::uint64_t scene_objects_missing = 0;
    std::uint64_t requests_refused = 0;  ///< ready() and add_player() out of turn
    /// Calls for collections that could not be, and items.
    std::uint64_t collections_refused = 0;
    /// By behaviours that serialize themselves.
    std::uint64_t sections_misread = 0;
};

/// Makes the objects of one asset id, and takes them back: a pool. Both may replace or unregister
/// the handler.
struct NetworkSpawnHandler {
    /// An object of NetworkClient::instantiate() and of that asset id, with the values of its
    /// prefab. Null: there is none, which is logged.
    Callback<NetworkIdentity*(NetworkClient&, const SpawnInfo&)> spawn;
    /// The object is not spawned any more, because it was destroyed, or is hidden from this client,
    /// or the connection ended; it stays until NetworkClient::destroy().
    Callback<void(NetworkClient&, NetworkIdentity&, ChannelCloseReason)> unspawn;
};

/// All on one thread. Types, transport and manager outlive it.
class NetworkClient final : private NetWorld {
  public:
    NetworkClient(const NetDriverSettings& settings, Transport& transport,
                  const NetworkTypes& types, NetworkManager& manager);
    /// As that of a NetworkServer.
    ~NetworkClient() override;

    /// As NetDriver::connect(). May be called again after the connection has ended or disconnect()
    /// was called. Then spawn handlers and objects of the scene stay, and the driver begins anew,
    /// with its statistics and layouts. A goodbye that has not gone out yet goes out once. Refused
    /// while the client is connected or connecting, and from within a callback.
    [[nodiscard]] Status connect(PeerId server, NetTime now);
    /// Says goodbye, and unspawns all objects within the call. Refused from within a hook or a
    /// callback of a collection that runs as its value arrives, and from within the stop callbacks
    /// of an object.
    void disconnect();
    /// Takes what the server sent; what came is started, if the initial batch is there. `now` never
    /// goes back.
    void early_update(NetTime now);
    /// Sends calls and what this client decides as an owner.
    void late_update(NetTime now);

    /// Objects of that asset id are made by the handler, and not from the prefab. False, and an
    /// error in the log: no prefab has that id, or one of the functions is missing. A handler that
    /// was registered before is replaced, with a warning.
    bool register_spawn_handler(std::uint32_t asset_id, NetworkSpawnHandler handler);
    void unregister_spawn_handler(std::uint32_t asset_id);
    /// A new object of the prefab, not spawned.
    [[nodiscard]] NetworkIdentity& instantiate(const NetworkPrefab& prefab);
    /// An object that lies in the scene at both ends, under an id that is not 0. Not active until
    /// it is spawned, and when it is unspawned again. Of two with one id, which is logged, the
    /// first is the one that is spawned.
    [[nodiscard]] NetworkIdentity& add_scene_object(const NetworkPrefab& prefab,
                                                    std::uint64_t scene_id);
    /// Ends an object of this client that is not spawned; others are refused.
    void destroy(NetworkIdentity& object);
    /// Null: no object of that id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept;

    /// Tells the server that this client is to be sent objects. False, and an error in the log: it
    /// is not connected, or ready already.
    bool ready();
    /// Asks for a player. False, and an error in the log: it is not ready, or has one.
    bool add_player();

    [[nodiscard]] bool is_connected() const noexcept;
    [[nodiscard]] bool is_ready() const noexcept;
    /// All objects that were there when it became ready were started.
    [[nodiscard]] bool is_spawn_finished() const noexcept;
    [[nodiscard]] NetworkIdentity* local_player() const noexcept;
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetworkClientCounters& counters() const noexcept;
    [[nodiscard]] NetTime now() const noexcept;

  private:
    friend struct detail::ClientParts;  // holds one of each of these:

    class ClientLog;
    class ClientReadiness;
    class OwnerUpdates;
    class SpawnedObjects;
    class SpawnSources;
    class WaitingChanges;
    class WantedCollections;

    // NetWorld
    void* object_memory(ObjectHandle object) override;
    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    void role_changed(ObjectHandle object, const ObjectRole& previous,
                      const ObjectRole& role) override;
    void peer_left(PeerId peer, CloseReason reason) override;
    bool may_run_call(ObjectHandle object, const Function& function, bool is_last) override;
    std::uint64_t kept_bytes(ObjectHandle object) override;

    /// Ends what is left of the connection before.
    [[nodiscard]] Status begin_anew(NetTime now);
    void free_what_is_gone();

    const NetworkTypes& types_;
    NetDriverSettings settings_;
    Transport& transport_;
    NetDriver driver_;
    std::unique_ptr<detail::ClientParts> parts_;
    bool is_updating_ = false;
    bool is_started_ = false;  // the driver: it serves one connection
};

}  // namespace replayout
