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

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/callback.h>
#include <replayout/reflection/error.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_manager.h>
#include <replayout/syncvar/network_types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace replayout {
class PeerLog;
}

namespace replayout::syncvar {

namespace detail {
class ConnectionChannel;
}  // namespace detail

class SectionSender;
class StoredReferences;
class SyncCollection;

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

    [[nodiscard]] bool is_connected() const noexcept { return is_connected_; }
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
    /// All objects that were there when it became ready were started.
    [[nodiscard]] bool is_spawn_finished() const noexcept { return is_spawn_finished_; }
    [[nodiscard]] NetworkIdentity* local_player() const noexcept { return local_player_; }
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetworkClientCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

  private:
    friend class NetworkBehaviour;
    friend class NetworkIdentity;
    friend class NetworkPrefab;
    friend class StoredReferences;
    friend class SyncCollection;
    friend class detail::ConnectionChannel;

    // NetWorld
    void* object_memory(ObjectHandle object) override;
    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    void role_changed(ObjectHandle object, const ObjectRole& previous,
                      const ObjectRole& role) override;
    void peer_left(PeerId peer, CloseReason reason) override;
    bool may_run_call(ObjectHandle object, const Function& function, bool is_last) override;
    std::uint64_t kept_bytes(ObjectHandle object) override;

    struct Waiting;
    /// What an owner sends in one call: the SyncVars of a component, or operations of a collection.
    struct UpdatePart {
        static constexpr std::uint32_t variables = ~std::uint32_t{0};
        NetworkBehaviour* component = nullptr;
        std::uint32_t collection = variables;

        [[nodiscard]] std::uint32_t number() const noexcept;
    };
    class WantedCollections;

    /// Null: there is none, which was logged.
    [[nodiscard]] NetworkIdentity* find_or_spawn_object(const SpawnInfo& info);
    [[nodiscard]] NetworkIdentity* take_scene_object(const SpawnInfo& info);
    /// For the log: " (asset id 5)".
    [[nodiscard]] std::string asset_id_text(const RepLayout& layout) const;
    bool refuse_request(const char* why);
    /// Tells the object that it ends here, and gives it back to who made it.
    void unspawn(NetworkIdentity& object, ChannelCloseReason reason);
    void unspawn_kept();
    /// It is shown again: what its SyncVars with hooks are is kept for start().
    void keep_values(NetworkIdentity& object);
    void forget_local_player(const NetworkIdentity& object);
    void tell_role(NetworkIdentity& object, const ObjectRole& role);

    void component_changed(NetworkIdentity& object);
    /// Sends what the client changed in objects that it owns, in turns, as far as the server's rate
    /// of updates allows.
    void send_updates();
    /// Sends each part of the object that is due, once. False: a part found no room, and the next
    /// turn of the object begins with it.
    [[nodiscard]] bool send_updates_of(NetworkIdentity& object);
    /// Sends all that the object holds back, whatever its sync intervals are, before the call made
    /// next. False: a part of it found no room. Skips components whose state the server has not
    /// sent yet.
    [[nodiscard]] bool send_state_of(NetworkIdentity& object);
    /// Whether the server takes another update and still has `reserve_us` of room after it.
    [[nodiscard]] bool has_room_for_update(std::int64_t reserve_us);
    /// False: it is to be tried again.
    [[nodiscard]] bool send_section(NetworkBehaviour& component, std::int64_t reserve_us);
    /// One call for the collection. False: it is to be tried again.
    [[nodiscard]] bool send_collection(NetworkBehaviour& component, std::size_t index,
                                       std::int64_t reserve_us);
    void take_section(NetworkBehaviour& component, const NetworkBehaviour& section);
    /// Those that came, in order of their ids, once the initial batch is there.
    void start_spawned();
    /// Tells the object that it is there, and then runs the calls that waited for that.
    void start(NetworkIdentity& object);
    [[nodiscard]] Waiting& waiting_of(NetworkIdentity& object);
    /// The hook of the variable waits: it was `previous`, unless that is known already.
    void keep_value(NetworkBehaviour& component, std::uint32_t variable, const void* previous);
    /// The same for a variable that became null because its object went.
    void keep_lost(NetworkBehaviour& component, std::uint32_t variable);
    /// The object ends within the driver's call that is under way.
    [[nodiscard]] bool is_leaving(ObjectHandle object) const noexcept;
    /// Sets these objects to null in the previous values that waiting hooks will receive.
    void forget_in_waiting(const std::vector<const NetworkIdentity*>& gone);
    /// The collection keeps another call of so many operations.
    void keep_call(NetworkBehaviour& component, SyncCollection& collection,
                   std::size_t operation_count);
    void collection_refused(const std::string& name);
    void want_parts(const NetworkBehaviour& component, std::uint8_t collection);
    void section_misread(const std::string& text);
    /// Hooks of what changed, and then the operations of collections.
    void run_waiting(std::uint64_t net_id);
    void free_what_is_gone();

    // The server said so.
    void spawn_started();
    void spawn_finished();
    void not_ready();
    void send_answers();

    /// Ends what is left of the connection before.
    [[nodiscard]] Status begin_anew(NetTime now);

    const NetworkTypes& types_;
    NetworkManager& manager_;
    MemoryResource* resource_;
    NetDriverSettings settings_;
    Transport& transport_;
    NetDriver driver_;
    NetTime now_;
    std::map<const NetworkIdentity*, std::unique_ptr<NetworkIdentity>> objects_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_;
    std::map<std::uint64_t, NetworkIdentity*> scene_objects_;  // that are not spawned
    std::map<std::uint32_t, NetworkSpawnHandler> spawn_handlers_;
    std::vector<NetworkIdentity*> spawned_now_;  // in this early_update(), to be started
    std::map<std::uint64_t, std::unique_ptr<Waiting>> waiting_;  // by net id
    std::vector<NetworkIdentity*> changed_;                      // those that it owns
    std::unique_ptr<SectionSender> sections_;
    std::unique_ptr<StoredReferences> references_;
    std::unique_ptr<WantedCollections> wanted_;
    std::unique_ptr<PeerLog> log_;
    std::int64_t update_interval_us_;
    std::int64_t update_burst_us_;
    std::int64_t next_update_us_ = std::numeric_limits<std::int64_t>::min();
    std::vector<UpdatePart> parts_;   // scratch: the due parts of one object
    bool is_update_refused_ = false;  // the driver has no room for another one now
    NetworkClientCounters counters_;
    NetworkIdentity* channel_ = nullptr;
    NetworkIdentity* local_player_ = nullptr;
    std::uint32_t answers_due_ = 0;  // that it heard that it is not ready
    bool is_connected_ = false;
    bool is_updating_ = false;
    bool is_ready_ = false;
    bool is_spawn_finished_ = false;
    bool has_gone_ = false;
    bool is_started_ = false;  // the driver: it serves one connection
};

}  // namespace replayout::syncvar
