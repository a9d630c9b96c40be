// SPDX-License-Identifier: MIT
//
// The server, in Mirror's words, over a NetDriver.
//
//     NetworkServer server(settings, transport, types, manager);
//     if (!server.listen()) { ... }
//     every tick:
//         server.early_update(now);             // what clients sent
//         ... the game changes its objects ...
//         server.late_update(now);              // what changed, to all who see it
//
//     NetworkIdentity& crate = server.instantiate(*crate_prefab);
//     crate.transform.position = {1, 2, 3};
//     server.spawn(crate);
//
// Objects are made by instantiate() and belong to the server until destroy(). What is said wrongly
// (spawning twice, an owner who is not there) is logged as a warning, and nothing happens.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/error.h>
#include <replayout/syncvar/network_connection.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_manager.h>
#include <replayout/syncvar/network_types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace replayout::syncvar {

namespace detail {
class ConnectionChannel;
}

/// All on one thread. Types, transport and manager outlive it.
class NetworkServer final : private NetWorld {
  public:
    NetworkServer(const NetDriverSettings& settings, Transport& transport,
                  const NetworkTypes& types, NetworkManager& manager);
    ~NetworkServer() override;

    /// As NetDriver::listen().
    [[nodiscard]] Status listen();
    void early_update(NetTime now);
    void late_update(NetTime now);

    /// A new object of the prefab, not spawned.
    [[nodiscard]] NetworkIdentity& instantiate(const NetworkPrefab& prefab);
    /// An object that lies in the scene at both ends, under an id that is not 0 and not another
    /// one's.
    [[nodiscard]] NetworkIdentity& add_scene_object(const NetworkPrefab& prefab,
                                                    std::uint64_t scene_id);
    /// Clients are sent the object from the next late_update() on. False: it is spawned already, or
    /// there is no room for it.
    bool spawn(NetworkIdentity& object, NetworkConnection* owner = nullptr);
    /// Clients lose it; the object stays, and can be spawned again.
    void unspawn(NetworkIdentity& object);
    /// Clients lose it, and it is gone; one of the scene is unspawned, and its values are those of
    /// the prefab again.
    void destroy(NetworkIdentity& object);
    /// All objects that the connection owns.
    void destroy_owned(NetworkConnection& connection);
    /// Null: no object of that id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept;

    /// From now on it is sent objects: those there are, between spawn started and spawn finished.
    /// Nothing where it is ready.
    void set_client_ready(NetworkConnection& connection);
    /// It is sent objects no more, and keeps what it has.
    void set_client_not_ready(NetworkConnection& connection);
    /// The object becomes the player of the connection, which becomes ready. False: it has one.
    bool add_player_for_connection(NetworkConnection& connection, NetworkIdentity& player);

    /// False: the object is not spawned, or another connection owns it.
    bool assign_client_authority(NetworkIdentity& object, NetworkConnection& owner);
    /// False: nobody owns it, or it is a player.
    bool remove_client_authority(NetworkIdentity& object);

    /// Null: there is no such connection.
    [[nodiscard]] NetworkConnection* find_connection(PeerId peer) noexcept;
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetworkTypes& types() const noexcept { return types_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

  private:
    friend class NetworkBehaviour;
    friend class NetworkIdentity;
    friend class detail::ConnectionChannel;

    // NetWorld
    void* object_memory(ObjectHandle object) override;
    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;

    void component_changed(NetworkIdentity& object);
    void mark_changed();
    void mark(NetworkIdentity& object, NetworkBehaviour& component);
    void mark_sync_vars(NetworkIdentity& object, NetworkBehaviour& component);
    void send_collections(NetworkIdentity& object, NetworkBehaviour& component);
    void send_section(NetworkIdentity& object, NetworkBehaviour& component);
    /// False: nothing is to be sent, or not now.
    [[nodiscard]] bool write_section(NetworkBehaviour& component);
    /// To who became the owner of an object, or is shown it: what nobody else may see.
    void serve_owners();
    [[nodiscard]] bool serve_owner(NetworkIdentity& object);
    [[nodiscard]] bool has_connections() const noexcept { return !connections_.empty(); }
    void set_owner(NetworkIdentity& object, const NetworkConnection& owner);
    void free_what_is_gone();

    // A client said so.
    void ready(PeerId peer);
    void add_player(PeerId peer);

    /// Names to those that became ready the objects that they are to see, and then says that these
    /// are all.
    void send_batches();
    /// True: all was said.
    bool send_batch(NetworkConnection& connection);
    CallResult call(NetworkConnection& connection, std::string_view function,
                    const void* params = nullptr);

    const NetworkTypes& types_;
    NetworkManager& manager_;
    MemoryResource* resource_;
    NetDriver driver_;
    NetTime now_;
    std::map<PeerId, std::unique_ptr<NetworkConnection>> connections_;
    std::map<const NetworkIdentity*, std::unique_ptr<NetworkIdentity>> objects_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_;
    std::vector<NetworkIdentity*> changed_;
    std::vector<NetworkIdentity*> marking_;  // in mark_changed()
    std::vector<NetworkIdentity*> with_calls_for_owner_;
    std::unique_ptr<std::byte[]> section_room_;
    std::uint64_t flush_number_ = 0;
    std::vector<NetworkConnection*> batches_;  // that became ready
    bool has_gone_ = false;
};

}  // namespace replayout::syncvar
