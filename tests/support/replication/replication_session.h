// SPDX-License-Identifier: MIT
//
// A session: one server, some clients, a bad network, a random game, and the oracle beside it.
//
//     faults     the game plays, clients come and go; what every client shows is judged each tick
//     healing    the network is perfect, nothing changes; within a bound every client equals
//                the oracle
//     quiet      nothing but keep-alives is sent
//
// Who was silent for long when the network healed may be given up a moment later, though all that
// he was sent had arrived. Then he joins again, and heals once more.
//
// The server has a twin with the other setting of sharing, which is given the same datagrams over
// the same objects and must send the same bytes. One of the two has an executor, which runs its
// jobs in an order of its own; the other counts by type.
#pragma once

#include "support/checks/executors.h"
#include "support/networks/scripted_transport.h"
#include "support/networks/session_settings.h"
#include "support/networks/tape_transport.h"
#include "support/replication/reference_replicator.h"
#include "support/worlds/session_game.h"
#include "support/worlds/session_worlds.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::test {

/// What happened in sessions, so that a test can tell whether they tested anything.
struct SessionCounts {
    std::uint64_t joins = 0;
    std::uint64_t connections_ended = 0;
    std::uint64_t channels_dormant = 0;
    std::uint64_t objects_added = 0;
    std::uint64_t objects_judged = 0;  ///< by client and tick
    std::uint64_t notifies = 0;
    std::uint64_t records_sent = 0;
    std::uint64_t records_lost = 0;
    std::uint64_t values_sent_reliable = 0;
    std::uint64_t bunches_resent = 0;
    std::uint64_t payloads_reused = 0;
    std::uint64_t values_reused = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t quiet_broken = 0;  ///< by the end of a connection that was silent before

    void add(const SessionCounts& other);
};

class ReplicationSession final : private GameListener {
  public:
    explicit ReplicationSession(const SessionSettings& settings);
    ~ReplicationSession();
    ReplicationSession(const ReplicationSession&) = delete;
    ReplicationSession& operator=(const ReplicationSession&) = delete;

    /// Plays it to the end. The first thing that was wrong, or nothing.
    [[nodiscard]] std::string run();

    /// After run().
    [[nodiscard]] SessionCounts counts() const;

  private:
    struct Server {
        Server(const NetDriverSettings& settings, ServerWorld& world);

        TapeTransport transport;
        NetDriver driver;
        std::map<ObjectId, NetObjectId> ids;
    };
    /// Somebody at the other end, with a driver while he is there.
    struct Client {
        PeerId peer;
        std::uint32_t absent_ticks = 0;  ///< until he joins again
        std::uint32_t hitch_ticks = 0;   ///< until his driver runs again
        ClientId id;
        std::unique_ptr<ScriptedTransport> transport;
        std::unique_ptr<ClientWorld> world;
        std::unique_ptr<NetDriver> driver;  // after what it refers to
    };

    // GameListener
    void object_added(ObjectId id, std::uint32_t class_index) override;
    void object_removed(ObjectId id) override;
    void property_changed(ObjectId id, std::string_view property) override;

    void tick(bool is_playing);
    void tick_server(bool is_playing);
    /// Says something of the dormancy of one object.
    void change_dormancy();
    /// Says something of who an object is to whom.
    void change_role();
    void wake_all();
    void feed_servers();
    void forward_sent();
    void tick_client(Client& client);
    void join(Client& client);
    void leave(Client& client, std::uint32_t absent_ticks);
    /// Something may happen to him: he leaves in one way or another, or stops for a while.
    void disturb(Client& client);

    void check_server();
    void check_client(Client& client);
    void check_close_reasons(std::string_view who, const NetStats& stats);
    void heal();
    void await_healed();
    void check_healed();
    /// False: a connection has ended, so not all are healed any more.
    [[nodiscard]] bool stay_quiet();
    void check_quiet(const NetStats& before);
    [[nodiscard]] std::uint64_t ended_connection_count() const noexcept;
    void check_accounts();
    void check_type_counters();
    [[nodiscard]] std::uint32_t healing_ticks_max() const noexcept;
    [[nodiscard]] bool is_healed() const;
    [[nodiscard]] std::string describe_connections() const;
    void fail(const std::string& problem);
    [[nodiscard]] bool is_failed() const noexcept { return !problem_.empty(); }
    [[nodiscard]] NetDriverSettings driver_settings(std::uint64_t seed, bool is_sharing);

    SessionSettings settings_;
    OrderedExecutor executor_;
    RandomTypes server_types_;
    RandomTypes client_types_;
    SimulatedNetwork network_;
    Transport& network_endpoint_;
    ServerWorld world_;
    Server server_;
    Server twin_;
    ReferenceReplicator oracle_;
    SessionGame game_;
    SeededRandom random_;
    std::vector<Client> clients_;
    std::uint32_t last_client_id_ = 0;
    std::uint32_t server_hitch_ticks_ = 0;
    std::uint32_t tick_ = 0;
    std::uint32_t silence_end_tick_ = 0;  ///< what was silent before the healing has ended by then
    std::uint64_t packets_forwarded_ = 0;
    std::uint64_t bytes_forwarded_ = 0;
    NetTime now_;
    std::string problem_;
    SessionCounts counts_;
};

}  // namespace replayout::test
