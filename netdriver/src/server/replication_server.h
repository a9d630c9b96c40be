// SPDX-License-Identifier: MIT
//
// The server's side of a driver: what happens in which order in a dispatch and in a flush. What is
// done stands in its parts, each of which owns what it needs for that:
//
//     clients     the connections                     compare     phase A: finds what changed
//     relevancy   which client has which object       dormancy    what sleeps
//     lives       objects come and go                 departures  they go after their calls
//     calls       remote calls of the server          fan out     phase B: sends it to clients
//     admission   a peer says hello                   recording   all of it into a file
#pragma once

#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include <cstddef>
#include <span>

#include "admission.h"
#include "call_waits.h"
#include "client_calls.h"
#include "compare_stage.h"
#include "departures.h"
#include "destruction_notices.h"
#include "dormancy.h"
#include "fan_out.h"
#include "initial_batches.h"
#include "interest_manager.h"
#include "object_lives.h"
#include "object_properties.h"
#include "ownership.h"
#include "priorities.h"
#include "relevancy.h"
#include "server_calls.h"
#include "server_clients.h"
#include "server_environment.h"
#include "server_lane.h"
#include "server_log.h"
#include "server_objects.h"
#include "server_recording.h"
#include "written_values.h"

namespace replayout {

class ReplicationServer {
  public:
    explicit ReplicationServer(const ServerEnvironment& environment);
    ~ReplicationServer();

    // A dispatch: datagrams, then what was held, then put off calls.

    void run_put_off_calls(NetTime now) { client_calls_.run_put_off(now); }
    void receive(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    /// Nothing else arrives before the next flush.
    void receive_held(NetTime now);

    void flush(NetTime now);
    /// After clients().tell_world(), once a flush.
    void remove_closed(NetTime now);

    /// The call that a game makes most, so it goes through no other part.
    void mark_property_dirty(NetObjectId id, ParentIndex property) {
        objects_.store.at(slot_of(id))->changelist_state().mark_dirty(property);
        compare_.mark_due(slot_of(id));
    }

    // The parts, for the functions of the driver that are theirs.

    [[nodiscard]] const ObjectStore& objects() const noexcept { return objects_.store; }
    [[nodiscard]] const LayoutTable& layouts() const noexcept { return environment_.layouts; }
    [[nodiscard]] ServerClients& clients() noexcept { return clients_; }
    [[nodiscard]] CompareStage& compare() noexcept { return compare_; }
    [[nodiscard]] Priorities& priorities() noexcept { return priorities_; }
    [[nodiscard]] Dormancy& dormancy() noexcept { return dormancy_; }
    [[nodiscard]] Relevancy& relevancy() noexcept { return relevancy_; }
    [[nodiscard]] Ownership& ownership() noexcept { return ownership_; }
    [[nodiscard]] ObjectProperties& properties() noexcept { return properties_; }
    [[nodiscard]] DestructionNotices& notices() noexcept { return notices_; }
    [[nodiscard]] ObjectLives& lives() noexcept { return lives_; }
    [[nodiscard]] ServerCalls& calls() noexcept { return calls_; }
    [[nodiscard]] ServerRecording& recording() noexcept { return recording_; }

    /// Adds up NetStats. Call it before anybody reads them.
    void collect_stats() noexcept { lanes_.collect_stats(); }
    /// Null: nobody counts, or the layout is none of the driver's, which is misuse.
    [[nodiscard]] const TypeCounters* type_counters(const RepLayout& layout) const noexcept;
    /// Counts only. Bytes are counted where they are taken.
    void count_memory(MemoryReport& report) const noexcept;
    [[nodiscard]] bool is_settled() const noexcept;

  private:
    /// Returns whether any client has not been sent its initial batch.
    [[nodiscard]] bool begin_flush(NetTime now);
    /// Checks one client in 64 in each flush. Closes it if one of its calls has waited longer than
    /// `waiting_timeout_ms`. Warns if it has no viewer.
    void check_clients(NetTime now);
    /// Logs once that a client sees nothing, because the game did not say from where it looks.
    void look_for_viewer(ServerClient& client);
    void server_replicate_actors(NetTime now, bool is_any_joining);
    void give_back_room();

    const ServerEnvironment environment_;
    ServerLog log_;
    ServerLanes lanes_;  // outlive the objects, whose deltas have states in their scratch
    ServerObjects objects_;
    InterestManager interest_;
    ServerClients clients_;
    CompareStage compare_;
    WrittenValues values_;
    Priorities priorities_;
    Dormancy dormancy_;
    CallWaits waits_;
    Relevancy relevancy_;
    Ownership ownership_;
    ObjectProperties properties_;
    Departures departures_;
    DestructionNotices notices_;
    ObjectLives lives_;
    ServerCalls calls_;
    ClientCalls client_calls_;
    InitialBatches batches_;
    FanOut fan_out_;
    ServerRecording recording_;
    Admission admission_;
};

}  // namespace replayout
