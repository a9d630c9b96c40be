// SPDX-License-Identifier: MIT
//
// The client's side of a driver: one connection to a server and the objects that it shows.
#pragma once

#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/connection_state.h>
#include <replayout/netdriver/initial_batch_progress.h>
#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/time.h>
#include <replayout/netdriver/transport.h>

#include "call_queue.h"
#include "client_environment.h"
#include "layout_handshake.h"
#include "layout_table.h"
#include "net_connection.h"
#include "outgoing_calls.h"
#include "received_batch.h"
#include "replication_receiver.h"
#include "session_layouts.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace replayout {

class ReplicationClient final : private PayloadHandler, private SentContentHandler {
  public:
    /// What a client begins with that has no server, but a recording of one.
    struct Playing {
        bool is_join_told = false;  ///< it is not the first that plays it
    };
    ReplicationClient(const NetDriverSettings& settings, const LayoutTable& layouts,
                      Transport& transport, NetWorld& world, NetGUIDCache& guids, NetStats& stats,
                      PeerId server, NetTime now, MemoryMeters& memory,
                      const SpawnHandlers& handlers, bool& is_calling_out,
                      const std::optional<Playing>& playing = {});

    void receive(PeerId peer, std::span<const std::byte> datagram, NetTime now);
    /// Nothing else arrives before the next flush.
    void receive_held(NetTime now);
    void flush(NetTime now);
    /// Of the server, when it let us in, and when that ended.
    void tell_of_peers();
    void disconnect(NetTime now);

    // Playing

    /// Before anything else, where the recording's layouts are not ours: each of them, as a server
    /// tells it.
    [[nodiscard]] CloseReason add_layout(std::span<const std::byte> message);
    /// What a packet held.
    void play(std::span<const std::byte> content, bool has_bunches, NetTime now);
    /// What is played next is what another connection of that server was sent from its beginning,
    /// when this one had been sent all. What is shown stays.
    void begin_checkpoint();
    /// It was played; what it did not show goes.
    void end_checkpoint();
    [[nodiscard]] bool has_begun() const noexcept { return batch_.has_begun(); }
    /// Despawns everything. Nothing is told of it, and nothing played any more.
    void stop_playing();

    /// See NetDriver.
    [[nodiscard]] CallResult call_function(ObjectHandle object, const CalledFunction& function,
                                           const CallArguments& params) {
        return outgoing_calls_.call_function(object, function, params);
    }

    /// See NetDriver.
    void run_kept_calls(ObjectHandle object);
    void values_grew(ObjectHandle object, std::uint64_t bytes) {
        receiver_.calls().values_grew(object, bytes);
    }
    /// Goes on with calls that were more than one packet may cost.
    void run_put_off_calls();

    [[nodiscard]] const NetConnection& connection() const noexcept { return connection_; }
    [[nodiscard]] InitialBatchProgress initial_batch() const noexcept { return batch_.progress(); }
    [[nodiscard]] const ReplicationReceiver& receiver() const noexcept { return receiver_; }
    [[nodiscard]] const RepLayout* server_layout(std::string_view class_name) const noexcept {
        return server_layouts_.find(class_name);
    }

  private:
    CloseReason handle_bunch(const BunchHeader& header, std::span<const std::byte> payload,
                             DecodeBudget& budget) override;
    CloseReason handle_control(std::span<const std::byte> message) override;
    CloseReason handle_blocks(BitReader& reader) override;
    // SentContentHandler: a client sends control messages and calls.
    void record_delivered(const SentRecord&) override {}
    void record_lost(const SentRecord&) override {}
    void bundles_delivered(const SentBundles&, std::uint32_t) override {}
    void bundle_lost(const SentBundle&) override {}
    void bunch_delivered(const BunchTag&) override {}
    void bunch_lost(const BunchTag&) override {}
    void call_delivered(const SentCall& name) override { calls_.delivered(name); }
    void call_lost(const SentCall& name) override { stats_.calls_dropped += calls_.lost(name); }
    [[nodiscard]] CloseReason receive_destruction_notice(std::span<const std::byte> message);
    void close_unless_none(CloseReason reason);
    void close_when_ended();
    /// Where something waits for too long for what did not come.
    void close_when_stuck(NetTime now);

    NetStats& stats_;
    PeerLog peer_log_;
    CloseLog close_log_;
    NetConnection connection_;
    SessionLayouts server_layouts_;
    const ClientEnvironment environment_;
    LayoutHandshake handshake_;
    CallQueue calls_;
    ReplicationReceiver receiver_;
    ReceivedBatch batch_;
    OutgoingCalls outgoing_calls_;
    NetTime next_look_{std::numeric_limits<std::int64_t>::min()};  // for what waits
    bool is_open_ = true;
    bool is_playing_ = false;
    bool is_join_told_ = false;
    bool is_end_told_ = false;
};

}  // namespace replayout
