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

#include <replayout/behaviours/interest_management.h>
#include <replayout/behaviours/network_connection.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/behaviours/network_manager.h>
#include <replayout/behaviours/network_types.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/reflection/error.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace replayout {

namespace detail {
struct ServerParts;
}  // namespace detail

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
    [[nodiscard]] std::uint32_t answer_wait_ms() const noexcept;

    /// As NetDriver::listen(). Before it objects may be made, and nothing is spawned or updated.
    [[nodiscard]] Status listen();
    /// Takes what clients sent: joins, calls, what owners decide. `now` never goes back.
    void early_update(NetTime now);
    /// Sends what changed. Not from within a callback, as early_update().
    void late_update(NetTime now);
    /// This process plays, too (host mode): a connection of its own, which shows the objects of
    /// this server, and not copies. What it is to be told of them comes with each late_update().
    /// NetworkManager::on_server_connect() and on_start_host() are called within; if the first
    /// calls stop_host(), the second is not called. After listen(), while there is no host; `host`
    /// is neither 0 nor the id of a client. Refused otherwise: then it returns the host there is.
    /// Where there is none, or a callback has stopped it, it returns a connection that every
    /// function refuses.
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
    [[nodiscard]] NetworkConnection* host() noexcept;
    [[nodiscard]] const NetworkServerCounters& counters() const noexcept { return counters_; }
    /// Null: there is no such connection.
    [[nodiscard]] NetworkConnection* find_connection(PeerId peer) noexcept;
    /// For statistics, rates, memory and recordings. Objects, owners, dormancy and relevancy are
    /// this class's to change; the driver refuses to add an object that this server did not make.
    [[nodiscard]] NetDriver& driver() noexcept { return driver_; }
    [[nodiscard]] const NetworkTypes& types() const noexcept { return types_; }
    [[nodiscard]] NetTime now() const noexcept { return now_; }

  private:
    friend struct detail::ServerParts;  // holds one of each of its parts

    using Phase = NetworkConnection::Phase;

    // Its parts, each with a header in src/server. NetworkServer checks arguments, and decides in
    // which order the parts work.
    class Authority;
    class Connections;
    class HostView;
    class Log;
    class Objects;
    class Observers;
    class OwnerValues;
    class PartSender;
    class Phases;
    class StateSender;

    // NetWorld
    void* object_memory(ObjectHandle object) override;
    ObjectHandle spawn(const SpawnInfo& info) override;
    void despawn(ObjectHandle object, ChannelCloseReason reason) override;
    bool is_net_relevant_for(ObjectHandle object, PeerId peer) override;
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;
    bool holds_back(ObjectHandle object, ParentIndex property) override;
    bool has_object(ObjectHandle object) override;

    /// The driver does not ask a function of the game, which must not change anything.
    [[nodiscard]] bool may_change() const noexcept { return !driver_.is_calling_out(); }
    // Whether this server made it, and has it still.
    [[nodiscard]] bool owns(const NetworkIdentity& object) const noexcept;
    [[nodiscard]] bool owns(const NetworkConnection& connection) const noexcept;
    /// False, and a warning in the log. `peer` is the client that it is about.
    bool refuse(PeerId peer, std::string_view why);
    bool set_shown(NetworkIdentity& object, NetworkConnection& connection, bool is_shown);
    void free_what_is_gone();

    const NetworkTypes& types_;
    NetworkManager& manager_;
    NetDriver driver_;
    NetTime now_;
    NetworkServerCounters counters_;
    std::unique_ptr<detail::ServerParts> parts_;
    bool is_listening_ = false;
    bool is_updating_ = false;
    bool is_stopping_host_ = false;
};

}  // namespace replayout
