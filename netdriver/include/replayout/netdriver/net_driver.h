// SPDX-License-Identifier: MIT
//
// The driver: replicates the objects of one server to any number of clients. One class for both
// ends; a server listens and adds objects, a client connects and is given them through its
// NetWorld.
//
//     NetDriver server(settings, transport, world);
//     if (!server.add_layout(*pawn_layout) || !server.listen()) {
//         return;                       // the Status says why
//     }
//     NetObjectId id = server.add_object(*pawn_layout, pawn_handle);
//     every tick:
//         server.tick_dispatch(now);    // datagrams in: acks, joins, calls
//         ... the game changes its objects ...
//         server.tick_flush(now);       // compare once, send to everyone
//
// A call that breaks the rules of this class changes nothing. Such are: an id that was removed or
// is another driver's, a call before listen() or at the wrong end, a call from within a notify. A
// debug build stops with a sentence that says what to do. A release build logs that sentence, once
// for each check, and returns what the function returns for nothing found.
//
// A driver belongs to one thread, starts none (executor.h lends it some), reads no clock and
// allocates from the resource it was given. Layouts, transport and world must outlive it. Same
// seed, same calls, same bytes. docs/architecture.md tells the story of one tick.
#pragma once

#include <replayout/connection_shadow.h>
#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/connection_state.h>
#include <replayout/netdriver/initial_batch_progress.h>
#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_dormancy.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>
#include <replayout/receiving_rep_state.h>
#include <replayout/reflection/call_function.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/member_pointer.h>
#include <replayout/type_counters.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace replayout {

struct DriverEnd;
class LayoutTable;
class NetRates;
class ReplicationClient;
class ReplayPlayer;
class ReplayRecorder;
class ReplicationServer;

/// While it calls the world for an object, or a notify or hook of one, these may call only
/// functions that are const, and a client's call_function() (NetWorld says which has what); others
/// are refused. A remote function that runs, and the world told of peers, may call all but the
/// ticks.
class NetDriver {
  public:
    /// Nothing happens before listen() or connect().
    NetDriver(const NetDriverSettings& settings, Transport& transport, NetWorld& world);
    ~NetDriver();
    NetDriver(const NetDriver&) = delete;
    NetDriver& operator=(const NetDriver&) = delete;

    /// Before listen() or connect(). Both ends must add layouts of the same types. Refused: a
    /// second layout for a type name, and a driver that has started.
    [[nodiscard]] Status add_layout(const RepLayout& layout);
    /// Before listen() or connect(). Another archetype of a class whose layout was added: `layout`
    /// is of the same type, made with other values (RepLayoutOptions::archetype). Objects that are
    /// added with it begin as these; a client spawns them by its own layout of that id, the values
    /// of which must be the same. Refused: id 0; an id or a layout that was added; a class that was
    /// not, or another one; a driver that has started.
    [[nodiscard]] Status add_archetype(ArchetypeId id, const RepLayout& layout);
    /// Who makes a client's objects of `layout`, that of a class or of an archetype: the handler
    /// and no more the world; null: the world. Objects that are there stay with who made them. The
    /// handler outlives the driver, or its last object.
    void set_spawn_handler(const RepLayout& layout, SpawnHandler* handler);

    /// Starts as a server. Refused, as connect() is: a config that is not valid, a transport that
    /// does not carry its packets, a driver that has started. Refused here: a layout with an array
    /// whose growth no client with this config may take (decode_allocation_bytes_max).
    [[nodiscard]] Status listen();
    /// Starts as a client of `server`.
    [[nodiscard]] Status connect(PeerId server, NetTime now);

    /// Takes what has arrived. `now` must not go back from call to call, here and below: if it
    /// does, no time has passed.
    void tick_dispatch(NetTime now);
    /// Sends what there is to send.
    void tick_flush(NetTime now);

    // Server, after listen(). An id is one that this driver gave and that was not removed.

    /// `object` is replicated from the next tick_flush() on, from the values that it has then; its
    /// memory is asked for once in each tick that is its turn (NetWorld::object_memory, NetRates),
    /// or, if all its properties are push based, if it was marked. A handle names one object at a
    /// time; once that is removed it may be added again for another, as addresses of a pool are,
    /// and references that are compared from then on mean the new one. Ids of handles that
    /// references name and that are never added are kept. O(1). With channels_max objects there is
    /// no room for another: the answer is then no object, generation 0.
    [[nodiscard]] NetObjectId add_object(const RepLayout& layout, ObjectHandle object,
                                         const SpawnParameters& parameters = {});
    /// A part of another object, with a layout of its own: a component, an item that is carried. It
    /// has the facts, the dormancy and the relevancy of its outer, and goes when that goes or by
    /// itself; clients have it where its condition says so. Parts may have parts. What the outer
    /// decides is said of that: who owns it, dormancy, relevancy, tear-off; of a part it is
    /// refused. A part stays with its outer: for another one, remove it and add it again.
    /// O(connections).
    [[nodiscard]] NetObjectId add_subobject(NetObjectId outer, const RepLayout& layout,
                                            ObjectHandle object,
                                            const SubobjectParameters& parameters = {});
    /// Ends the replication of the object. Its memory is the game's when this returns. Until then
    /// the memory must exist: this may ask for it once more, if a reliable call of the object was
    /// made since the last tick_flush(). Reliable calls of the object run at clients that have it
    /// before it goes there (NetConfig::close_waits_for_calls_ms). `reason` is Destroyed,
    /// LevelUnloaded or Migrated, and clients are given it. If an object with a stable name is
    /// destroyed, clients that do not see it and clients that join later are also notified; for a
    /// part, those that have its outer. O(connections).
    void remove_object(NetObjectId id, ChannelCloseReason reason = ChannelCloseReason::Destroyed);
    /// Each client that has the object is sent what it is at the next tick_flush(), for which its
    /// memory is asked for once more, and keeps it as its own, without the parts, which go before
    /// it. The id is not valid any more; behind that flush the handle is the game's again. Calls of
    /// clients that come later are dropped. Nobody else is sent the object. O(connections).
    void tear_off(NetObjectId id);
    /// A later object may have this stable name: its end is told to nobody any more. O(names).
    void forget_destroyed(std::string_view stable_name);
    /// All of them: for a new map.
    void forget_all_destroyed();

    /// Who is to have what: rules of objects, where they are, groups, and what the game says of one
    /// object and client.
    [[nodiscard]] Interest interest();
    /// Whether a client is to have the object, as of the last tick_flush(). False also when there
    /// is no such connection.
    [[nodiscard]] bool is_relevant_for(PeerId peer, NetObjectId id) const;

    // The push model: properties that are compared only when the game says that they changed. A
    // mark ends with the next look at the object: in the next tick_flush(), if it has no frequency
    // of its own (NetRates). A new object is marked. Marks of other properties do
    // nothing; one without a change costs a comparison. A name, here and below, is that of a
    // replicated property; where the class has none of it, the call is refused.

    /// O(properties) for finding the name, else O(1). Of a C array all elements are marked.
    void mark_property_dirty(NetObjectId id, std::string_view property);
    /// O(1). RepLayout::find_parent() gives the index.
    void mark_property_dirty(NetObjectId id, ParentIndex property);
    /// All properties. O(properties / 64).
    void mark_object_dirty(NetObjectId id);
    [[nodiscard]] NetRates rates();  ///< how often, how much, what first: net_rates.h

    // What an object is to a connection, for the conditions of its properties (LifetimeCondition).
    // Where a client begins to meet one, it is sent what the properties are now, or if the object
    // sleeps for it, when that wakes; where it ceases to, it keeps what it has. Of an object with
    // its parts: O(parts x connections).

    /// Whose object it is; nobody's at first. A peer owns it whether it is connected or not.
    void set_owner(NetObjectId id, PeerId owner);
    void clear_owner(NetObjectId id);
    /// The owner controls it (autonomous proxy); for all others it is simulated. Off at first.
    void set_autonomous(NetObjectId id, bool is_autonomous);
    /// The object is its owner's player object. Off at first.
    void set_player(NetObjectId id, bool is_player);
    /// What that client is to the object, as far as the above says, whether it is connected or not.
    [[nodiscard]] ObjectRole role_for(PeerId peer, NetObjectId id) const;
    /// The server plays too, under this id (host mode): at the end of the next tick the world is
    /// told that it joined, never that it left. Functions of the client of an object that it owns
    /// run here, and those of the server that are called of it have it as their caller. While
    /// there is none, and not the id of a client; what comes from a peer of that id is dropped.
    void set_host(PeerId host);
    /// It plays no more. What it owned is to be somebody's, or nobody's, before.
    void clear_host();
    /// The object replicates its physics. Off at first.
    void set_replicates_physics(NetObjectId id, bool has_physics);
    /// A property of condition Custom, which is active at first. While it is not, it is not
    /// compared: it stays, for all clients, what it was at the first tick_flush() after the call;
    /// if push based, what it was when it was last marked before that.
    void set_property_active(NetObjectId id, std::string_view property, bool is_active);
    /// A property of condition Dynamic, which is None at first. Not Dynamic, Custom or NetGroup.
    void set_dynamic_condition(NetObjectId id, std::string_view property,
                               LifetimeCondition condition);
    /// What was set last. O(properties).
    [[nodiscard]] LifetimeCondition dynamic_condition_of(NetObjectId id,
                                                         std::string_view property) const;
    /// The connection records instead of playing. Ends with it. Nothing when there is none.
    void set_is_replay(PeerId peer, bool is_replay);

    // Dormancy: objects that nobody needs to look at for a while (NetDormancy). Of an object with
    // its parts: O(parts x connections) where not said otherwise.

    /// Awake at first. An object becomes dormant for a client once that has all of it, and for
    /// the server, which then neither looks at it nor compares it, once it is so for all who have
    /// joined. Its memory is not asked for meanwhile, and marks wait. A state by which it is not
    /// dormant for a connection wakes it there; Awake and Never wake it everywhere.
    void set_dormancy(NetObjectId id, NetDormancy dormancy);
    [[nodiscard]] NetDormancy dormancy_of(NetObjectId id) const;
    /// Whether a DormantPartial object is dormant for that connection; not at first. May be said
    /// before the object is DormantPartial, and holds until the connection or the object ends.
    /// Nothing when there is no such connection. O(parts).
    void set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant);
    /// A dormant object is sent once more: what changed since it became dormant, up to the next
    /// tick_flush(), and what is sent only at first. Then it goes dormant again. So call this with
    /// each change of such an object, before or behind it. What is awake stays so.
    void flush_dormancy(NetObjectId id);
    /// The object is dormant for that client. True also while it is kept from a client that never
    /// had it (NetDormancy::Initial). O(1).
    [[nodiscard]] bool is_dormant_for(PeerId peer, NetObjectId id) const;

    // Remote functions, those of the object's class (TypeBuilder::function). `params` are read
    // within the call; a type other than the function's is refused. A call goes out with the next
    // tick_flush(), and together with what its object, and those that the parameters name, were
    // when it was made: it never runs before. Not from within a net_serialize. A function that a
    // call runs may do anything but destroy the driver or begin a tick of it.

    /// A function of clients runs on the owner's client, a multicast on all clients and here, a
    /// function of the server here alone. A reliable multicast is sent to all clients that have
    /// joined, or refused; an unreliable one skips clients that have too many calls waiting.
    ///
    ///     call<&Pawn::client_stun>(id, {2.5f});    // wrong parameters do not compile
    template <auto Function>
    requires std::is_void_v<FunctionParameters<Function>>
    [[nodiscard]] CallResult call(NetObjectId id, CallSendPolicy policy = CallSendPolicy::Default) {
        return call_named(id, function_name_of<Function>(), {}, policy);
    }
    template <auto Function>
    requires(!std::is_void_v<FunctionParameters<Function>>) [[nodiscard]] CallResult
        call(NetObjectId id, const FunctionParameters<Function>& params,
             CallSendPolicy policy = CallSendPolicy::Default) {
        return call_named(id, function_name_of<Function>(), &params, policy);
    }
    /// The same by name. A name that the class does not have is logged.
    [[nodiscard]] CallResult call_function(NetObjectId id, std::string_view function,
                                           CallArguments params = {},
                                           CallSendPolicy policy = CallSendPolicy::Default);
    /// The same without looking for the name (RepLayout::find_function).
    [[nodiscard]] CallResult call_function(NetObjectId id, FunctionIndex function,
                                           CallArguments params = {},
                                           CallSendPolicy policy = CallSendPolicy::Default);

    /// How far the reliable calls of the object are on their way to that client. Arrived also for a
    /// client that has not joined.
    [[nodiscard]] CallProgress call_progress(PeerId peer, NetObjectId id) const;

    // Recordings.

    /// All that this server replicates is recorded from the next tick_flush() on
    /// (replay_recorder.h). Refused: it is being recorded already; and see ReplayRecorder.
    [[nodiscard]] Status start_recording(ReplayRecorder& recorder);
    /// The recording ends as of the last tick. Nothing when there is none. To be called before the
    /// driver goes: a recording that nobody ended can be played all the same, but who opens it must
    /// read all of it first.
    void stop_recording();
    /// False also once the recorder failed (ReplayRecorder::error).
    [[nodiscard]] bool is_recording() const noexcept;

    /// The driver is within a call of the world, a notify or a hook, which must not change it:
    /// functions that would are refused.
    [[nodiscard]] bool is_calling_out() const noexcept { return is_calling_out_; }
    /// The object that was added under this handle; no object, generation 0, where there is none.
    [[nodiscard]] NetObjectId find_object(ObjectHandle object) const noexcept;
    [[nodiscard]] NetGUID guid_of(NetObjectId id) const;
    [[nodiscard]] std::uint32_t object_count() const noexcept;
    /// What a client has and lacks of an object; nothing when it is not joined, or the object was
    /// not opened for it yet, or is dormant for it. Valid until the driver or the object changes.
    [[nodiscard]] std::optional<ConnectionShadow> connection_shadow(PeerId peer,
                                                                    NetObjectId id) const;
    /// Of one of its layouts; null unless is_counting_types is on.
    [[nodiscard]] const TypeCounters* type_counters(const RepLayout& layout) const noexcept;
    /// Connections that are joined.
    [[nodiscard]] std::uint32_t connection_count() const noexcept;
    [[nodiscard]] ConnectionState connection_state(PeerId peer) const noexcept;
    /// As of the last tick_flush(): all was sent to those who have joined, all of it was delivered,
    /// and nothing waits, but for values that wait for objects, and objects whose turn has not come
    /// (NetRates). True while nobody has joined.
    [[nodiscard]] bool is_settled() const noexcept;

    // Client, after connect(); state() and close_reason() at any time.

    /// Closed before connect().
    [[nodiscard]] ConnectionState state() const noexcept;
    /// Why the connection ended, or None.
    [[nodiscard]] CloseReason close_reason() const noexcept;
    [[nodiscard]] InitialBatchProgress initial_batch() const noexcept;
    /// What this client is to an object that the server shows, dormant or not; of any other handle
    /// NetRole::None, and not owned.
    [[nodiscard]] ObjectRole role_of(ObjectHandle object) const noexcept;
    /// The layout that objects of the server's class are read with, ours or one made for this
    /// server: its diagnostics() tell what differs. Null: the server has not told of such a class.
    [[nodiscard]] const RepLayout* server_layout(std::string_view class_name) const noexcept;
    /// What a reference of an object names, also while it is null because its target is not there.
    /// `path` is in handles of server_layout().
    [[nodiscard]] NetGUID find_reference(ObjectHandle object, const RepPath& path) const noexcept;

    /// A function of the server runs there if this client owns the object; if not, the answer is
    /// NotOwned. A client that owned it until a moment ago may still get Sent, and then the server
    /// drops the call. Any other function runs here alone, on an object that is shown; from a
    /// notify or hook it may do what that may.
    template <auto Function>
    requires std::is_void_v<FunctionParameters<Function>>
    [[nodiscard]] CallResult call(ObjectHandle object) {
        return call_named(object, function_name_of<Function>(), {});
    }
    template <auto Function>
    requires(!std::is_void_v<FunctionParameters<Function>>) [[nodiscard]] CallResult
        call(ObjectHandle object, const FunctionParameters<Function>& params) {
        return call_named(object, function_name_of<Function>(), &params);
    }
    [[nodiscard]] CallResult call_function(ObjectHandle object, std::string_view function,
                                           CallArguments params = {});
    /// Runs the calls that NetWorld::may_run_call() kept and now lets run: those of `object`, or of
    /// all objects, by channel, if it is null. What is more than one packet may cost runs in the
    /// next dispatch. Not from within the world, a notify or a hook, but for may_run_call() with
    /// `is_last`.
    void run_kept_calls(ObjectHandle object = {});
    /// In a call of another object: the game kept about so many more bytes of it for this one, in
    /// values or beside them (NetWorld::kept_bytes). The driver counts what a call of the object
    /// itself brings. Nothing where the client does not have the object.
    void values_grew(ObjectHandle object, std::uint64_t bytes);

    // Both.

    /// The call that runs, for its body and its validation; null where none does. With calls inside
    /// of calls the innermost. Valid until that returns.
    [[nodiscard]] const CurrentCall* current_call() const noexcept;

    /// Says goodbye. A server: to `peer`; nothing when there is no such connection. A client: to
    /// its server, whatever `peer` is, and despawns its objects within the call. What was not
    /// flushed is not sent, calls neither: to say why, call, flush, and then disconnect. The
    /// goodbye goes out in the ticks that follow. Nothing before listen() or connect().
    void disconnect(PeerId peer);
    [[nodiscard]] const NetGUIDCache& guids() const noexcept { return guids_; }
    [[nodiscard]] const NetStats& stats() const noexcept;
    /// What it holds now. O(1).
    [[nodiscard]] MemoryReport memory_report() const noexcept;

  private:
    friend class ReplayPlayer;  // a client without a server

    template <auto Function>
    [[nodiscard]] static CalledFunction function_name_of() noexcept {
        return {detail::name_of_member<Function>(), function_key_of<Function>()};
    }
    [[nodiscard]] CallResult call_named(NetObjectId id, const CalledFunction& function,
                                        CallArguments params, CallSendPolicy policy);
    [[nodiscard]] CallResult call_named(ObjectHandle object, const CalledFunction& function,
                                        CallArguments params);
    [[nodiscard]] Status check_start() const;
    [[nodiscard]] Status check_settings() const;
    /// What it may do now, see driver_end.h.
    [[nodiscard]] DriverEnd end() const noexcept;
    /// Takes the time, but not one before that of the last tick.
    void advance_to(NetTime now);
    void receive_datagrams();
    void tell_of_peers();

    NetDriverSettings settings_;
    Transport& transport_;
    NetWorld& world_;
    std::mutex memory_mutex_;  // of the resource, where there is an executor
    MemoryMeters memory_;
    NetStats stats_;
    NetGUIDCache guids_;
    std::pmr::unordered_map<const RepLayout*, SpawnHandler*> spawn_handlers_;  // looked up only
    NetTime now_;
    bool has_time_ = false;    // now_ was given
    bool is_players_ = false;  // a ReplayPlayer ticks it, and nobody else
    bool is_ticking_ = false;
    bool is_calling_out_ = false;  // within the calls that may reach the world, notifies and hooks
    std::unique_ptr<LayoutTable> layouts_;
    std::unique_ptr<ReplicationServer> server_;
    std::unique_ptr<ReplicationClient> client_;
};

}  // namespace replayout
