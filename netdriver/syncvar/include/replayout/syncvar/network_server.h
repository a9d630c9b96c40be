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
// Objects are made by instantiate() and belong to the server until destroy(). A wrong call
// (spawning twice, an owner that is not connected) is logged as a warning, and changes nothing.
// Objects and connections of another server, and updates before listen() or from within callbacks,
// are refused as misuse of a NetDriver is: a debug build stops with a sentence.
#pragma once

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/error.h>
#include <replayout/syncvar/interest_management.h>
#include <replayout/syncvar/network_connection.h>
#include <replayout/syncvar/network_identity.h>
#include <replayout/syncvar/network_manager.h>
#include <replayout/syncvar/network_types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace replayout {
class PeerLog;
}

namespace replayout::syncvar {

namespace detail {
class ConnectionChannel;
}  // namespace detail
class HostCall;
class SectionSender;
class StoredReferences;
class SyncCollection;

/// What becomes of the player that another one takes the place of (Mirror: ReplacePlayerOptions).
enum class ReplacePlayerOptions : std::uint8_t {
    KeepAuthority,  ///< it stays, and its connection owns it as any other object
    KeepActive,     ///< it stays, and nobody owns it
    Unspawn,
    Destroy,
};

/// What becomes of a player that is its connection's no more (Mirror: RemovePlayerOptions).
enum class RemovePlayerOptions : std::uint8_t { KeepActive, Unspawn, Destroy };

/// What clients said wrongly, by kind. Never reset. NetStats counts calls of objects that are not
/// theirs, and calls beyond what a client may send.
struct NetworkServerCounters {
    std::uint64_t ready_repeated = 0;   ///< by clients that were ready
    std::uint64_t players_refused = 0;  ///< asked for by clients that had one
    /// Sections of SyncVars that came too late, or are none.
    std::uint64_t sections_refused = 0;
    /// Calls of owners for collections that came too late, or could not be.
    std::uint64_t collections_refused = 0;
    /// Clients that did not answer for NetworkServer::answer_wait_ms(), and were disconnected.
    std::uint64_t answers_missing = 0;
};

/// All on one thread. Types, transport and manager outlive it.
class NetworkServer final : private NetWorld {
  public:
    NetworkServer(const NetDriverSettings& settings, Transport& transport,
                  const NetworkTypes& types, NetworkManager& manager,
                  const InterestManagement& interest = {});
    /// Its objects end, and are told nothing; to their destructors they are not spawned any more.
    ~NetworkServer() override;

    /// Milliseconds that a client has, once the question was sent, to answer that it is not
    /// ready any more: until then it is sent objects, as before. A client that does not answer is
    /// disconnected. 1 to 3,600,000; any other number is refused. 10,000 at first.
    void set_answer_wait_ms(std::uint32_t milliseconds);
    [[nodiscard]] std::uint32_t answer_wait_ms() const noexcept { return answer_wait_ms_; }

    /// As NetDriver::listen(). Before it objects may be made, and nothing is spawned or updated.
    [[nodiscard]] Status listen();
    /// Takes what clients sent: joins, calls, what owners decide. `now` never goes back.
    void early_update(NetTime now);
    /// Sends what changed. Not from within a callback, as early_update().
    void late_update(NetTime now);
    /// This process plays, too (host mode): a connection of its own, which shows the objects of
    /// this server, and not copies. What it is to be told of them comes with each late_update().
    /// NetworkManager::on_start_host() is called within. After listen(), while there is no host;
    /// `host` is neither 0 nor the id of a client. Refused otherwise: then it returns the host
    /// there is, or a connection that every function refuses.
    NetworkConnection& start_host(PeerId host = {~std::uint64_t{0}});
    /// This process plays no more, and serves on. NetworkManager::on_stop_host() is called, then
    /// on_server_disconnect() as of any client, and then objects are told that their client stops,
    /// in order of their ids. Nothing where there is no host. A call from within these is refused.
    void stop_host();

    /// A new object of the prefab, not spawned.
    [[nodiscard]] NetworkIdentity& instantiate(const NetworkPrefab& prefab);
    /// An object that lies in the scene at both ends, under an id that is not 0 and not another
    /// one's. Active while it is spawned.
    [[nodiscard]] NetworkIdentity& add_scene_object(const NetworkPrefab& prefab,
                                                    std::uint64_t scene_id);
    /// Sends the object, which this server made, to clients from the next late_update() on. False:
    /// it is spawned already, or gone, there is no room for it, another object of its scene id is
    /// spawned, or the server does not listen.
    bool spawn(NetworkIdentity& object, NetworkConnection* owner = nullptr);
    /// Clients lose it; the object stays, and can be spawned again.
    void unspawn(NetworkIdentity& object);
    /// Clients lose the object, and it is gone. An object of the scene is only unspawned, and gets
    /// back the values that it had when it was first spawned.
    void destroy(NetworkIdentity& object);
    /// All objects that the connection owns.
    void destroy_owned(NetworkConnection& connection);
    /// Null: no object of that id is spawned.
    [[nodiscard]] NetworkIdentity* find(std::uint64_t net_id) const noexcept;

    /// Sends objects to the connection from the next late_update() on: first all that there are,
    /// between spawn started and spawn finished. Calls reach it at once. Does nothing if it is
    /// ready.
    void set_client_ready(NetworkConnection& connection);
    /// It is sent objects no more, once it heard of it, and keeps what it has; what it is not shown
    /// when it is ready again, it loses then.
    void set_client_not_ready(NetworkConnection& connection);
    /// The object becomes the player of the connection, which becomes ready; it is spawned, if it
    /// was not. False: the connection has a player, or another one owns the object.
    bool add_player_for_connection(NetworkConnection& connection, NetworkIdentity& player);
    /// The same for a connection that may have one. False: another connection owns the object, or
    /// it is the player already, or who is to keep the one before (KeepActive) cannot be told now
    /// that nobody owns it, as its calls have no room: try again.
    bool replace_player_for_connection(NetworkConnection& connection, NetworkIdentity& player,
                                       ReplacePlayerOptions options);
    /// False: it has none, or as above.
    bool remove_player_for_connection(NetworkConnection& connection, RemovePlayerOptions options);

    /// Shown to that connection while it is ready, or hidden from it, its owner too, whatever
    /// else says who sees it. Until either is gone, or forget_shown(). False: it is not spawned.
    bool show_to(NetworkIdentity& object, NetworkConnection& connection);
    bool hide_from(NetworkIdentity& object, NetworkConnection& connection);
    void forget_shown(NetworkIdentity& object, NetworkConnection& connection);
    /// With InterestKind::Custom: all connections are looked at anew.
    void rebuild_observers(NetworkIdentity& object);

    /// The connection owns the object, sees it whatever its visibility, and may call its commands.
    /// False: the object is not spawned, or another connection owns it.
    bool assign_client_authority(NetworkIdentity& object, NetworkConnection& owner);
    /// False: nobody owns it, or it is a player, or its owner cannot be told now, as above.
    bool remove_client_authority(NetworkIdentity& object);

    /// Null: there is none.
    [[nodiscard]] NetworkConnection* host() noexcept { return host_; }
    [[nodiscard]] const NetworkServerCounters& counters() const noexcept { return counters_; }
    /// Null: there is no such connection.
    [[nodiscard]] NetworkConnection* find_connection(PeerId peer) noexcept;
    /// For statistics, rates, memory and recordings. Objects, owners, dormancy and relevancy are
    /// this class's to change; the driver refuses to add an object that this server did not make.
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetworkTypes& types() const noexcept { return types_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

  private:
    friend class NetworkBehaviour;
    friend class NetworkIdentity;
    friend class NetworkManager;
    friend class NetworkPrefab;
    friend class SyncCollection;
    friend class detail::ConnectionChannel;

    using Phase = NetworkConnection::Phase;
    class PartSender;

    // NetWorld
    void* object_memory(ObjectHandle object) override;
    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    bool is_net_relevant_for(ObjectHandle object, PeerId peer) override;
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;
    bool holds_back(ObjectHandle object, ParentIndex property) override;
    bool has_object(ObjectHandle object) override;

    void component_changed(NetworkIdentity& object);
    void mark_changed();
    /// Sends what the object holds back, whatever its sync intervals are, before the call made
    /// next. False: a part of it found no room.
    [[nodiscard]] bool send_state_of(NetworkIdentity& object);
    void mark(NetworkIdentity& object, NetworkBehaviour& component);
    /// It is that by which a client speaks of its connection: no object of the game, though a
    /// client may name it in a call.
    [[nodiscard]] bool is_channel(const NetworkIdentity& object) const noexcept;
    /// The object was spawned: all that its components have is new.
    void begin_components(NetworkIdentity& object);
    /// The object is about to be unspawned: behaviours that write themselves do so once more, for
    /// clients that still get the object with its reliable calls.
    void keep_last_sections(NetworkIdentity& object);
    void mark_sync_vars(NetworkIdentity& object, NetworkBehaviour& component);
    void send_collections(NetworkIdentity& object, NetworkBehaviour& component);
    void send_section(NetworkIdentity& object, NetworkBehaviour& component);
    /// False: nothing is to be sent, or not now.
    [[nodiscard]] bool write_section(NetworkBehaviour& component);
    /// To who became the owner of an object, or is shown it: what nobody else may see.
    void serve_owners();
    [[nodiscard]] bool serve_owner(NetworkIdentity& object);
    /// Serves the owner of one object ahead of a call, if the owner was not served yet.
    void serve_owner_ahead(NetworkIdentity& object);
    /// False, and a warning in the log. `peer` is whom it is about.
    bool refuse(PeerId peer, std::string_view why);
    /// For the log: its prefab, and its net id or scene id.
    [[nodiscard]] static std::string name_of(const NetworkIdentity& object);
    /// The driver does not ask a function of the game, which must not change anything.
    [[nodiscard]] bool may_change() const noexcept { return !driver_.is_calling_out(); }
    // Whether this server made it, and has it still.
    [[nodiscard]] bool owns(const NetworkIdentity& object) const noexcept;
    [[nodiscard]] bool owns(const NetworkConnection& connection) const noexcept;
    [[nodiscard]] NetworkConnection& make_connection(PeerId peer);
    [[nodiscard]] NetworkConnection& no_connection();
    void forget_connection(PeerId peer);
    [[nodiscard]] bool has_connections() const noexcept { return !connections_.empty(); }
    void free_what_is_gone();

    // Owners and players.

    [[nodiscard]] NetworkConnection* owner_of(const NetworkIdentity& object) noexcept;
    void set_owner(NetworkIdentity& object, NetworkConnection& owner);
    void clear_owner(NetworkIdentity& object);
    /// Its owner, who will be that no more, is told what it is, as far as he decided that. False,
    /// and a warning in the log: there is no room for that, and he stays the owner.
    [[nodiscard]] bool tell_last_owner(NetworkIdentity& object);
    /// Null: the connection has none then.
    void set_player(NetworkConnection& connection, NetworkIdentity* player);
    /// The owner is to be told what the object is, as far as it decides that.
    void queue_owner_state(NetworkIdentity& object);
    /// The owner decides any of it.
    [[nodiscard]] static bool has_owner_state(const NetworkIdentity& object) noexcept;
    /// The owner asks for that, or made it necessary. The server sends it once a second at most.
    void owner_asks(NetworkIdentity& object);
    /// The owner asked, and was sent it less than a second ago.
    [[nodiscard]] bool must_owner_wait(const NetworkIdentity& object) const noexcept;
    void send_owner_states();
    /// True: the state was sent to the owner, or need not be.
    [[nodiscard]] bool tell_owner(NetworkIdentity& object);
    /// False: to be tried again.
    bool send_owner_state(NetworkIdentity& object, std::uint32_t epoch);
    [[nodiscard]] bool send_owner_collections(NetworkBehaviour& component, std::uint32_t epoch);
    void take_section(NetworkBehaviour& component, const NetworkBehaviour& section);
    void take_operations(NetworkBehaviour& component, SyncCollection& collection,
                         const void* params);

    // Who sees what.

    void apply_visibility(NetworkIdentity& object);
    [[nodiscard]] NetGroup group_of(const NetworkIdentity& object) const noexcept;
    void interest_group_changed(NetworkIdentity& object, std::uint32_t previous);
    void count_group(NetworkConnection& connection, std::uint32_t group, bool is_more);
    void position_changed(NetworkIdentity& object);
    void update_viewer(NetworkConnection& connection);
    /// What the game decided of the two, and that who is not ready sees not even what it owns.
    void apply_shown(NetworkConnection& connection, NetworkIdentity& object);
    /// Of all objects for which that says something.
    void apply_all_shown(NetworkConnection& connection);
    bool set_shown(NetworkIdentity& object, NetworkConnection& connection, bool is_shown);
    [[nodiscard]] static bool check_observer(const NetworkIdentity& object,
                                             const NetworkConnection& connection);

    // The host.

    [[nodiscard]] bool host_sees(const NetworkIdentity& object);
    void queue_for_host(NetworkIdentity& object);
    void update_host();
    void show_to_host(NetworkIdentity& object);
    /// A call for clients reaches the host. Returns whether it runs now. A call that must wait
    /// until the object is started there is kept.
    [[nodiscard]] bool host_hears(NetworkIdentity& object, const Function& function,
                                  const void* values, void* place);
    /// Runs the kept calls: those of `object`, or all if it is null.
    void run_host_calls(const NetworkIdentity* object);

    // A client said so.
    void ready(PeerId peer);
    void add_player(PeerId peer);
    void not_ready_heard(PeerId peer);

    /// Tells connections whether they are ready, and acts on it.
    void update_phases();
    void update_phase(NetworkConnection& connection);
    void begin_showing(NetworkConnection& connection);
    void end_showing(NetworkConnection& connection);
    /// Names to those that became ready the objects that they are to see, and then says that these
    /// are all.
    void send_batches();
    /// True: all was said.
    bool send_batch(NetworkConnection& connection);
    CallResult call(NetworkConnection& connection, std::string_view function,
                    CallParams params = {});

    const NetworkTypes& types_;
    NetworkManager& manager_;
    MemoryResource* resource_;
    NetDriver driver_;
    NetTime now_;
    std::map<PeerId, std::unique_ptr<NetworkConnection>> connections_;
    // The same: a connection that ended is not looked into.
    std::set<const NetworkConnection*> owned_connections_;
    std::map<const NetworkIdentity*, std::unique_ptr<NetworkIdentity>> objects_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_;
    std::map<std::uint64_t, NetworkIdentity*> spawned_in_scene_;  // by scene id
    std::vector<NetworkIdentity*> changed_;
    std::vector<NetworkIdentity*> marking_;  // in mark_changed()
    std::vector<NetworkIdentity*> with_calls_for_owner_;
    std::unique_ptr<std::byte[]> section_room_;
    std::uint64_t flush_number_ = 0;
    InterestManagement interest_;
    std::vector<NetworkIdentity*> owner_states_;  // that are to be sent
    std::unique_ptr<SectionSender> sections_;
    std::unique_ptr<StoredReferences> references_;
    std::unique_ptr<PartSender> parts_;
    std::unique_ptr<PeerLog> log_;
    NetworkServerCounters counters_;
    NetworkConnection* host_ = nullptr;
    bool is_stopping_host_ = false;
    std::unique_ptr<NetworkConnection> no_connection_;  // what refused calls return
    // They ended in this update, and callbacks that run may hold them.
    std::vector<std::unique_ptr<NetworkConnection>> ended_connections_;
    std::vector<NetworkIdentity*> host_queue_;  // to be looked at for the host
    std::unique_ptr<std::deque<HostCall>> host_calls_;
    bool is_host_looking_at_all_ = false;
    std::uint32_t answer_wait_ms_ = 10'000;
    bool is_listening_ = false;
    bool is_updating_ = false;
    bool has_gone_ = false;
    bool is_sending_state_ = false;  // a behaviour that serializes itself may be running
};

}  // namespace replayout::syncvar
