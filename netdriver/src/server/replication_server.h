// SPDX-License-Identifier: MIT
//
// The server's side of a driver: its objects, its connections, and the two phases of a flush.
#pragma once

#include <replayout/netdriver/call_params.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/connection_state.h>
#include <replayout/netdriver/initial_batch_progress.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_rates.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/remote_function.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "bit_row.h"
#include "bundle_builder.h"
#include "bundle_order.h"
#include "call_ids.h"
#include "call_work.h"
#include "control_message.h"
#include "destroyed_names.h"
#include "ended_sessions.h"
#include "interest_manager.h"
#include "layout_table.h"
#include "leaving_channels.h"
#include "mark_validator.h"
#include "net_connection.h"
#include "object_dormancy.h"
#include "object_store.h"
#include "polled_objects.h"
#include "remote_function_encoder.h"
#include "remote_function_receiver.h"
#include "remote_function_runner.h"
#include "replay_format.h"
#include "replay_tap.h"
#include "sender_settings.h"
#include "server_lane.h"
#include "shadow_ids.h"
#include "shared_values.h"
#include "tolerated_changes.h"
#include "update_calendar.h"

#include <optional>
#include <string_view>
#include <unordered_map>

namespace replayout {

class RefusalText;
class ReplayRecorder;
class ReplicationSender;

class ReplicationServer {
  public:
    ReplicationServer(const NetDriverSettings& settings, const LayoutTable& layouts,
                      Transport& transport, NetWorld& world, NetGUIDCache& guids, NetStats& stats,
                      MemoryMeters& memory, bool& is_calling_out);
    ~ReplicationServer();
    ReplicationServer(const ReplicationServer&) = delete;
    ReplicationServer& operator=(const ReplicationServer&) = delete;

    void receive(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    /// Nothing else arrives before the next flush.
    void receive_held(NetTime now);
    /// Before anything is received: calls for which their packet had no room left.
    void run_put_off_calls(NetTime now);
    void flush(NetTime now);
    /// Of those who joined or left since the last time.
    void tell_of_peers();
    /// Behind tell_of_peers(), once a flush.
    void remove_closed(NetTime now);

    // See NetDriver.
    [[nodiscard]] NetObjectId add_object(const RepLayout& layout, ObjectHandle object,
                                         const SpawnParameters& parameters);
    [[nodiscard]] NetObjectId add_subobject(NetObjectId outer, const RepLayout& layout,
                                            ObjectHandle object,
                                            const SubobjectParameters& parameters);
    void remove_object(NetObjectId id, ChannelCloseReason reason);
    void tear_off(NetObjectId id);
    [[nodiscard]] bool is_relevant_for(PeerId peer, NetObjectId id) const;
    void forget_destroyed(std::string_view stable_name);
    void forget_all_destroyed();
    void set_host(PeerId host);
    void clear_host() noexcept;
    [[nodiscard]] ObjectRole role_for(PeerId peer, const ObjectFacts& facts) const noexcept;
    void mark_property_dirty(NetObjectId id, std::string_view property);
    void mark_property_dirty(NetObjectId id, ParentIndex property) {
        objects_.at(id.index)->changelist_state().mark_dirty(property);
        set_due(id.index);
    }
    void mark_object_dirty(NetObjectId id);
    void set_class_net_update_frequency(const RepLayout& layout,
                                        const NetUpdateFrequency& frequency);
    void set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency);
    [[nodiscard]] NetUpdateFrequency net_update_frequency_of(NetObjectId id) const;
    void force_net_update(NetObjectId id);
    void set_bytes_per_second_max(PeerId peer, std::uint32_t bytes);
    void set_class_net_priority(const RepLayout& layout, float priority);
    void set_net_priority(NetObjectId id, float priority);
    void set_priority_distance(float distance) noexcept { priority_distance_ = distance; }
    [[nodiscard]] OwedUpdate owed_to(PeerId peer, NetObjectId id) const;
    void set_facts(NetObjectId id, const ObjectFacts& facts);
    void set_property_active(NetObjectId id, std::string_view property, bool is_active);
    void set_dynamic_condition(NetObjectId id, std::string_view property,
                               LifetimeCondition condition);
    [[nodiscard]] LifetimeCondition dynamic_condition_of(NetObjectId id,
                                                         std::string_view property) const;
    void set_is_replay(PeerId peer, bool is_replay);
    void set_dormancy(NetObjectId id, NetDormancy dormancy);
    void set_dormant_for(PeerId peer, NetObjectId id, bool is_dormant);
    void flush_dormancy(NetObjectId id);
    [[nodiscard]] bool is_dormant_for(PeerId peer, NetObjectId id) const;
    [[nodiscard]] std::optional<ConnectionShadow> connection_shadow(PeerId peer,
                                                                    NetObjectId id) const;
    [[nodiscard]] CallResult call_function(NetObjectId id, FunctionIndex function,
                                           const void* params, RemoteFunctionSendPolicy policy);

    /// The game called a function that the class lacks. Logs a few lines a second at most.
    [[gnu::cold, gnu::noinline]] void log_unknown_function(const RepLayout& layout,
                                                           std::string_view function);

    [[nodiscard]] Status start_recording(ReplayRecorder& recorder, NetTime now);
    void stop_recording(NetTime now);
    [[nodiscard]] bool is_recording() const noexcept { return recorder_ != nullptr; }

    // See Interest.
    void set_location(NetObjectId id, const Vector3& location);
    void add_to_group(NetObjectId id, NetGroup group);
    void remove_from_group(NetObjectId id, NetGroup group);
    void clear_groups(NetObjectId id);
    void set_in_group(PeerId peer, NetGroup group, bool is_in_group);
    void set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant);
    void clear_relevant_for(PeerId peer, NetObjectId id);
    /// Rules, for what concerns no channel.
    [[nodiscard]] InterestManager& interest() noexcept { return interest_; }
    /// The interest of a client or of the host. Null: the client has not joined, or no host has
    /// that id.
    [[nodiscard]] ClientInterest* find_interest(PeerId peer);
    [[nodiscard]] const LayoutTable& layouts() const noexcept { return layouts_; }

    [[nodiscard]] const RemoteFunctionCall* current_call() const noexcept {
        return call_runner_.current_call();
    }

    /// What NetStats is: before anybody reads it.
    void collect_stats() noexcept { lanes_.collect_stats(); }

    [[nodiscard]] const ObjectStore& objects() const noexcept { return objects_; }
    /// Objects that the game has.
    [[nodiscard]] std::uint32_t object_count() const noexcept {
        return objects_.object_count() - static_cast<std::uint32_t>(departures_.size());
    }
    [[nodiscard]] std::uint32_t connection_count() const noexcept;
    /// Null when nobody counts.
    [[nodiscard]] const TypeCounters* type_counters(const RepLayout& layout) const noexcept;
    /// Counts only; bytes are counted where they are taken.
    void count_memory(MemoryReport& report) const noexcept;
    [[nodiscard]] const NetConnection* find(PeerId peer) const noexcept;
    void disconnect(PeerId peer, NetTime now);
    [[nodiscard]] bool is_settled() const noexcept;

  private:
    /// Refused peers are heard out until they know why, and so take places beyond those of players.
    static constexpr std::size_t refused_max = 64;

    class Client;  // replication_server_client.h

    /// A removed object that is kept for its reliable calls.
    struct Departure {
        std::uint32_t index = 0;
        ChannelCloseReason reason = ChannelCloseReason::Destroyed;
    };

    /// Calls `visit(ChangelistState&, ParentIndex)` for the property, each element of a C array.
    template <typename Visitor>
    void for_each_parent(NetObjectId id, std::string_view property, Visitor visit);
    /// Whether a call is for this client.
    [[nodiscard]] bool is_called(const Client& client, const RepFunction& function,
                                 std::uint32_t index) const noexcept;
    /// Whether the client has this version of the object's class, as far as the server knows.
    [[nodiscard]] bool may_run(const Client& client, std::uint32_t index) const noexcept;
    [[nodiscard]] CallResult send_to_clients(NetObjectId id, FunctionIndex function,
                                             const void* params, bool is_queued);
    [[nodiscard]] CallResult add_calls(const NewCall& call, const RepFunction& function);
    /// The client has no room for another reliable call. True: it takes calls too slowly, and is
    /// closed. False: there may be room soon.
    [[nodiscard]] bool falls_behind(Client& client);
    /// Runs what a client's packet brought. Anything but None ends the connection.
    [[nodiscard]] CloseReason run_calls(Client& client);
    /// Nothing: there is no room left for it, and it is still to run.
    [[nodiscard]] std::optional<CloseReason> run_call(Client& client, const DueCall& call,
                                                      CallWork& work);
    /// A call of a client is dropped, and counted in `count`. Anything but None: once too often.
    [[nodiscard]] CloseReason strike(Client& client, std::uint64_t& count);
    [[nodiscard]] NetObjectId add(const RepLayout& layout, ObjectHandle object, NetObjectId outer,
                                  const SpawnParameters& parameters);
    /// The world has no memory of an object.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText without_memory(
        const char* function, std::uint32_t index) const noexcept;
    /// Why an object was not added by the function that the game called.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText why_not_twice(
        const char* called, const RepLayout& layout, ObjectHandle object) const noexcept;
    [[nodiscard]] static bool is_joined(const Client& client) noexcept;
    /// Null: there is none.
    [[nodiscard]] Client* find_client(PeerId peer) const;
    /// The same for who just sent something: most often the one behind the last who did, in the
    /// order of clients_, who is found without a look at the map.
    [[nodiscard]] Client* find_sender(PeerId peer);
    /// Null: there is none, or it is about to leave.
    [[nodiscard]] Client* find_joined(PeerId peer) const;
    /// The last of clients_ from now on.
    void add_client(Client& client);
    /// Tells clients_ from `begin` on their places, which changed.
    void number_clients(std::size_t begin = 0) noexcept;
    /// In the order in which they joined.
    template <typename Visitor>
    void for_each_joined(Visitor visit) const {
        for (Client* client : clients_) {
            if (is_joined(*client)) {
                visit(*client);
            }
        }
    }
    /// Whether a client is to have a subobject, where it has the outer.
    [[nodiscard]] bool is_shown(const Client& client, std::uint32_t index,
                                const ObjectFacts& facts) const;
    /// Of what changed since the last time, before anything is sent.
    void update_relevancy();
    /// The same of one object or part, as far as it did not move: before it is called.
    void update_relevancy_of(std::uint32_t index);
    void decide_relevancy(Client& client, std::uint32_t index);
    /// The same was decided anew, for one client, of an object and all parts of it.
    void show_family(Client& client, std::uint32_t index, bool is_relevant);
    /// At once, or after the reliable calls of the family.
    void hide_family(Client& client, std::uint32_t index);
    void hide_at_once(ReplicationSender& sender, std::uint32_t index);
    /// False: what the calls need is more than is kept.
    [[nodiscard]] bool hide_behind_calls(Client& client, std::uint32_t index);
    /// Hides the parts that a client no longer sees with these facts. Call it before they change,
    /// because calls of the parts need what the client may see until then.
    void hide_parts_before(std::uint32_t index, const ObjectFacts& facts);
    void show_parts(Client& client, std::uint32_t index);
    void show_part(Client& client, std::uint32_t part);
    void show_part_to_all(std::uint32_t part);
    /// To one client, every subobject with a condition.
    void show_conditional(Client& client);
    void remove_family(NetObjectId id, ChannelCloseReason reason);
    /// Reliable calls of it, or of a part of it, are on their way to the client of `sender`.
    [[nodiscard]] bool is_family_called(const ReplicationSender& sender, std::uint32_t index) const;
    /// Some clients do not have all reliable calls of it yet, or of a part that was removed before.
    [[nodiscard]] bool must_depart(std::uint32_t index) const;
    /// Instead of remove_family(), if must_depart().
    void depart_family(NetObjectId id, ChannelCloseReason reason);
    /// Compares the object for the last time, if a call that is on its way means its present state.
    void compare_before_departure(std::uint32_t index);
    /// The same of an object that is hidden from one client, and stays.
    void compare_before_hiding(std::uint32_t index);
    /// The game is done with the object of that slot.
    void depart(std::uint32_t index, ChannelCloseReason reason);
    /// Before a flush: closes the channels of removed or hidden objects whose calls have arrived.
    void close_left();
    /// The object was hidden, and shown again before it had left.
    void show_returned(Client& client, std::uint32_t index);
    /// Removes the objects that no client waits for any more.
    void remove_departed_objects();
    /// To make room for a new object.
    void end_oldest_departure();
    void note_dropped_calls(const Client& client,
                            std::span<const LeavingChannels::DroppedCalls> dropped);
    /// A client joined: it is not to have the removed objects.
    void introduce_departing(Client& client);
    void tear_off_one(std::uint32_t index);
    void set_facts_of(std::uint32_t index, const ObjectFacts& facts);
    void take_back_hidden_values(std::uint32_t index);
    void set_dormancy_of(std::uint32_t index, NetDormancy dormancy);
    /// What all ends know of an object is forgotten; its connections have been told.
    void forget_object(NetObjectId id);
    /// Who does not see the object that is about to go is to be told of its end.
    void note_destroyed(std::uint32_t index);
    void note_destroyed_part(std::uint32_t index, std::string_view name);
    void send_destruction_notices(Client& client);
    /// A client joined: what is torn off it is not to have.
    void introduce_torn_off(Client& client);
    /// After a flush: those that every client has all of.
    void remove_torn_off_objects();
    /// They were compared for the last time.
    void hand_back_torn_off_objects();
    [[nodiscard]] bool is_owned_by_host(const ObjectFacts& facts) const noexcept;
    void server_replicate_actors(NetTime now);
    void ask_shared_values();
    void build_bundles();
    void replicate_to_all();
    void give_back_room();
    /// Checks one client in 64 in each flush. Closes it if one of its calls has waited longer than
    /// `waiting_timeout_ms`. Warns if it has no viewer.
    void check_clients(NetTime now);
    /// Logs once that a client sees nothing, because the game did not say from where it looks.
    void look_for_viewer(Client& client);
    void replicate_to(Client& client, std::uint32_t initial_opens);
    /// Of those who joined, as many as may begin in one flush.
    void begin_initial_batches();
    void begin_initial_batch(Client& client);
    void finish_initial_batch(Client& client);
    /// What each client may open of its initial batch in this flush.
    [[nodiscard]] std::uint32_t initial_opens_per_client() noexcept;

    // The compare

    void compare_due_objects();
    /// What is due of these words of a row: `changed(due)` for each that was compared, and changed,
    /// and `compare(due)` for the others that may have.
    template <typename Changed, typename Compare>
    void compare_by_rows(ServerLane& lane, LaneShare words, Changed changed, Compare compare);
    void compare(const DueObject& due);
    /// Compares its values, and nothing else.
    [[nodiscard]] bool update(const DueObject& due, PackageMap& ids, NetStats& stats);
    /// It was compared.
    void note_compared(const DueObject& due, bool has_changed);
    /// Returns how many were due.
    std::uint64_t compare_in_lanes();
    void compare_in_lane(ServerLane& lane, const DueObject& due);
    void note_compared_in_lane(ServerLane& lane, const DueObject& due, bool has_changed,
                               bool has_missed_ids);
    /// Which lanes leave to the driver's thread.
    void compare_left_over(const DueObject& due);
    /// Ids that its compare gives depend on the order of elements: it is not for lanes.
    [[nodiscard]] static bool is_compared_alone(const RepLayout& layout) noexcept;
    /// Whether a look at it is all that an object needs that did not change; asked again when that
    /// may be another than before.
    void update_polled(std::uint32_t index);

    // By lanes

    /// There is enough to do to split it.
    [[nodiscard]] bool is_worth_lanes(std::uint64_t work) const noexcept {
        return lanes_.count() > 1 && work > 0 && work >= settings_.executor_work_min;
    }
    /// To write its values the game is asked, which may give ids, or keeps states.
    [[nodiscard]] bool is_written_alone(const RepLayout& layout) const noexcept {
        const bool is_asked_once =
            settings_.sharing != SharingLevel::Off && layout.are_serializers_shared_whole();
        return (layout.has_net_serialize_structs() && !is_asked_once) || layout.has_delta_structs();
    }
    /// What there is to send at most.
    [[nodiscard]] std::uint64_t sending_work(std::uint32_t initial_opens) const noexcept;
    void replicate_in_lanes(std::uint32_t initial_opens);
    /// It is compared at its turn, or in the next flush; not if it is dormant for everybody.
    void set_due(std::uint32_t index) {
        if (!due_.test(index)) [[unlikely]] {  // by the first of many marks
            begin_due(index);
        }
    }
    void begin_due(std::uint32_t index);
    void force_due(std::uint32_t index);
    /// The same, but nothing to an object that is looked at in each tick.
    void force_paced(std::uint32_t index);
    /// Those of which it is the turn now.
    void take_due(NetTime now);
    [[nodiscard]] PriorityInputs priority_inputs(const Client& client) const noexcept;
    /// A new object has the frequency and the priority of its class, or of its outer.
    void begin_updates(std::uint32_t index);
    /// A client joined: what may be dormant is so for it too, or is not.
    void introduce_dormant(Client& client);
    /// What the object's state says for one connection.
    void apply_dormancy(ReplicationSender& sender, std::uint32_t index);
    /// The same for all. `wakes`: it is sent at least once more to those for whom it is dormant.
    void apply_dormancy_to_all(std::uint32_t index, bool wakes);
    /// For one connection it is sent once more, as it is then; it goes dormant again afterwards.
    void wake_for(Client& client, std::uint32_t index);
    /// It is compared again, for as long as it is awake for anybody.
    void resume_compare(std::uint32_t index);
    [[nodiscard]] bool is_dormant_for_all(std::uint32_t index) const;
    /// After a flush: objects that are now dormant for everybody are compared no more.
    void rest_dormant_objects();
    /// A datagram of a peer that has no connection, or starts a new session.
    void receive_hello(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    [[nodiscard]] CloseReason judge(const Hello& hello) const noexcept;
    /// Whether a client of other layouts may be told ours.
    [[nodiscard]] bool may_describe(const Hello& hello) const noexcept;
    void describe_layouts();
    void send_layouts(Client& client, const Hello& hello);
    Client& accept(PeerId peer, std::uint16_t session, NetTime now);
    /// The first packet of a session, or one that says the same again.
    [[nodiscard]] bool is_hello(std::span<const std::byte> datagram, PacketHeader& header) const;
    /// Tells a peer, in a header alone, that its hello is not taken because of its session's
    /// number.
    void refuse_session(PeerId peer, const PacketHeader& hello);
    /// Refuses a hello with another digest. Explains the first layout that the hello lacks or lists
    /// with another fingerprint, if the server finds it and the explanation is not too long.
    void refuse_layout(Client& client, const Hello& hello, NetTime now);
    /// Another session of the same peer takes its place: all that is kept of it goes at once.
    void replace(Client& client, NetTime now);
    void destroy(Client* client) noexcept;

    // A recording

    /// Behind a flush: what the connection was sent, and whether it is to begin anew.
    void record_flush(NetTime now);
    void record_checkpoint(NetTime now);
    void begin_replay_connection(NetTime now);
    void end_replay_connection() noexcept;
    /// As one more flush of that connection alone, in which nothing changed. False: nothing was
    /// sent.
    bool send_more_to_replay(ReplayChunkKind kind, NetTime now);
    void write_replay_part(ReplayChunkKind kind, NetTime now, bool is_last);

    const NetDriverSettings& settings_;
    const LayoutTable& layouts_;
    Transport& transport_;
    NetWorld& world_;
    NetGUIDCache& guids_;
    NetStats& stats_;
    MemoryMeters& memory_;
    Digest128 schema_;
    ServerLanes lanes_;  // outlive the objects, whose deltas have states in their scratch
    ObjectStore objects_;
    ShadowIds shadow_ids_;
    BitRow live_;
    BitRow due_;  // to be compared: those that are polled, and those that were marked, in turn
    UpdateCalendar calendar_;                       // of these, those of which it is not the turn
    Vector<NetUpdateFrequency> class_frequencies_;  // by layout number; empty while none is set
    Vector<std::uint8_t> class_bands_;              // likewise
    float priority_distance_ = 0;
    BitRow compared_alone_;  // layouts, by number
    BitRow written_alone_;   // objects
    SharedValues shared_values_;
    PolledObjects polled_;  // of live ones
    ToleratedChanges tolerated_;
    FlushChanges changes_;
    BundleBuilder bundles_;
    ObjectDormancy dormancy_;
    BitRow torn_off_;
    bool is_any_leaving_ = false;   // an object waits for calls, at any client
    Vector<Departure> departures_;  // in the order in which they were removed, parts first
    BitRow told_of_dropped_calls_;  // objects whose dropped calls were logged
    InterestManager interest_;
    BundleOrder bundle_order_;
    BitRow conditional_;            // subobjects that not every client is to have
    BitRow new_objects_;            // since relevancy was updated last; no subobjects
    Vector<std::uint32_t> family_;  // scratch
    DestroyedNames destroyed_names_;
    std::optional<PeerId> host_;
    bool is_host_told_of_ = false;
    std::optional<ClientInterest> host_interest_;  // of the host, which is no client
    MarkValidator mark_validator_;
    Vector<TypeCounters> type_counters_;  // by layout number; empty unless asked for
    WaitingPool waiting_pool_;            // of all clients, who do not outlive it
    Vector<Client*> clients_;             // in the order in which they joined
    std::pmr::unordered_map<std::uint64_t, Client*> clients_by_peer_;  // looked up, never walked
    std::uint32_t next_sender_ = 0;  // place of who is likely to be heard next
    bool is_any_joining_ = false;    // in this flush: has not been sent its initial batch
    ReplayRecorder* recorder_ = nullptr;
    std::optional<ReplayTap> replay_tap_;  // while there is a recorder
    Client* replay_ = nullptr;             // one of clients_, once there was a checkpoint
    /// Clients that were replaced in this dispatch, and of which the world is not told yet.
    struct ReplacedPeer {
        PeerId peer;
        CloseReason reason = CloseReason::None;
    };
    Vector<ReplacedPeer> replaced_;
    bool has_put_off_calls_ = false;  // of any client, or a moment ago
    std::uint64_t dispatch_ = 1;      // the number of the dispatch that is going on, or comes next
    EndedSessions ended_sessions_;
    Vector<Vector<std::byte>> descriptions_;  // by number; none where nobody may be told
    // Calls are made at any time, also while a tick uses the scratch above, so they have their own.
    CallIds call_ids_;
    Vector<Client*> called_;  // scratch: they have the call that is being made
    SendScratch call_scratch_;
    SendContext call_context_;
    RemoteFunctionEncoder call_encoder_;
    RemoteFunctionRunner call_runner_;
    PeerLog peer_log_;
    NetTime now_;           // of the last datagram
    bool& is_calling_out_;  // the driver's
    CloseLog close_log_;
};

}  // namespace replayout
