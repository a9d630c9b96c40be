// SPDX-License-Identifier: MIT
//
// One match: a server that applies recorded ops, clients on a simulated network, and at the end the
// judgement whether every client equals the server.
//
// A tick, 1/30 s of virtual time:
//
//     network -> server inbox | tick_dispatch, ops, tick_flush | outbox -> network -> clients
//                              (the clock runs for the first and the last of these three)
//
// The twin, if there is one, is a second server with the other setting of sharing. It looks at the
// same objects and is given the same datagrams, and what it sends is compared and thrown away.
#pragma once

#include "match/buffered_transport.h"
#include "match/cap_meter.h"
#include "match/counted_executor.h"
#include "match/end_state.h"
#include "match/match_recorder.h"
#include "match/match_result.h"
#include "match/match_world.h"
#include "match/staleness_meter.h"

#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>

#include <memory>
#include <memory_resource>
#include <random>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace replayout::match {

class Progress;

class MatchSession {
  public:
    /// The recordings and the schema, made of them, must outlive the session.
    MatchSession(const MatchOptions& options, std::span<const Recording> recordings,
                 const MatchSchema& schema);
    ~MatchSession();
    MatchSession(const MatchSession&) = delete;
    MatchSession& operator=(const MatchSession&) = delete;

    /// Plays, heals, waits, judges. Once.
    [[nodiscard]] MatchResult run(Progress& progress);

    /// Ticks that will be played.
    [[nodiscard]] std::uint64_t tick_count() const noexcept { return tick_count_; }

  private:
    /// A server's driver with what measures it.
    struct Server {
        Server(const MatchOptions& options, SharingLevel sharing, MatchWorld& world,
               Executor& executor);

        // Objects come and go; what one leaves behind serves the next.
        std::pmr::unsynchronized_pool_resource memory;
        BufferedTransport transport;
        NetDriver driver;
        std::unordered_map<std::uint64_t, NetObjectId> ids;  // by server handle
        std::vector<std::uint64_t> tick_ns;
        std::uint64_t dispatch_allocations = 0;  // of this tick
    };
    struct Client {
        Client(const NetDriverSettings& settings, Transport& transport, const MatchSchema& schema);

        MatchWorld world;
        NetDriver driver;
        bool is_started = false;
        std::uint64_t waiting_ticks_left = 0;  // that count as those in which something waited
    };

    void add_layouts(NetDriver& driver) const;
    void apply_ops(std::uint64_t tick);
    void apply_op(std::uint32_t recording_index, const Op& op);
    /// A field that was set; nothing unless fields are push based.
    void mark(ObjectHandle handle, const MatchClass::Field& field);
    void spawn(std::uint32_t recording_index, const Op& op);
    void destroy(ObjectHandle handle);
    [[nodiscard]] double now_s() const noexcept {
        return static_cast<double>(now_.microseconds) / 1e6;
    }
    void start_clients(std::uint64_t tick);
    [[nodiscard]] std::unique_ptr<Client> make_client(std::uint32_t index);
    /// A client leaves, and another one begins under its address.
    void replace_client();
    void change_owners();
    /// What is true from the first tick on.
    void set_up_interest(NetDriver& driver) const;
    void moved(ObjectHandle handle, const MatchObject& object);
    /// Each client looks with the eyes of one of the players that are there, in turn.
    void set_viewers();
    void count_relevant_pairs();

    void play_tick(std::uint64_t tick, bool has_ops);
    void dispatch(Server& server);
    void flush(Server& server, NetTime now);
    void deliver_outbox();
    void compare_twin();
    void tick_clients(NetTime now);

    // With a cap: how much clients are sent, and how old what they hold is.
    void measure_bytes(bool is_playing);
    /// Of the tick, before the meter ends it: what was used where more was there to be sent.
    void measure_waiting();
    /// An object waits for room in the cap, as of the last flush.
    [[nodiscard]] bool is_waiting_for_room(std::uint32_t client);
    void measure_staleness(std::uint64_t tick);
    [[nodiscard]] std::uint64_t settle_ticks_max() const;
    /// Until everything has arrived, or takes too long, and a while beyond. A cap stays.
    void settle();
    void judge();
    /// Of each class; nothing unless counted.
    [[nodiscard]] std::vector<TypeCost> costs_of(const NetDriver& driver) const;
    void finish_result();

    const MatchOptions& options_;
    std::span<const Recording> recordings_;
    const MatchSchema& schema_;
    std::uint64_t tick_count_ = 0;
    SimulatedNetwork network_;
    Transport& network_endpoint_;
    MatchWorld world_;
    CountedExecutor executor_;  // of both servers, by turns
    Server server_;
    std::unique_ptr<Server> twin_;
    std::unique_ptr<MatchRecorder> recorder_;  // of server_, while it is recorded
    std::vector<std::unique_ptr<Client>> clients_;
    std::set<std::uint64_t> players_;   // handles of those that are there
    std::vector<EndState> end_states_;  // by recording: what the recording has set
    DatagramList inbox_;
    std::vector<std::byte> digest_input_;
    NetTime now_;
    bool has_lifetime_ops_ = false;  // this tick spawned or destroyed
    std::uint64_t current_tick_ = 0;
    std::uint32_t replaced_count_ = 0;
    double next_churn_s_ = 0;
    double next_owners_s_ = 0;
    std::mt19937_64 owner_random_;
    StalenessMeter staleness_;
    CapMeter cap_meter_;
    MatchResult result_;
};

}  // namespace replayout::match
