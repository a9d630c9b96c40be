// SPDX-License-Identifier: MIT
//
// One match within this process: a server that applies recorded ops, clients on a network, and at
// the end the judgement whether every client equals the server.
//
// A tick, 1/30 s of virtual time:
//
//     network -> server inbox | dispatch, ops, flush | outbox -> network -> clients
#pragma once

#include "match/judge/cap_meter.h"
#include "match/judge/staleness_meter.h"
#include "match/recording/match_recorder.h"
#include "match/session/match_network.h"
#include "match/session/match_result.h"
#include "match/session/match_server.h"

#include <memory>
#include <span>
#include <vector>

namespace replayout::match {

class Progress;

class MatchSession {
  public:
    /// All but the options outlive the session; the network has the clients that they say.
    MatchSession(const MatchOptions& options, std::span<const Recording> recordings,
                 const MatchSchema& schema, MatchNetwork& network);
    ~MatchSession();
    MatchSession(const MatchSession&) = delete;
    MatchSession& operator=(const MatchSession&) = delete;

    /// Plays, heals, waits, judges. Once.
    [[nodiscard]] MatchResult run(Progress& progress);

    /// Ticks that will be played.
    [[nodiscard]] std::uint64_t tick_count() const noexcept { return server_.tick_count(); }

  private:
    struct Client {
        Client(const NetDriverSettings& settings, Transport& transport, const MatchSchema& schema);

        MatchWorld world;
        NetDriver driver;
        bool is_started = false;
        std::uint64_t waiting_ticks_left = 0;  // that count as those in which something waited
    };

    [[nodiscard]] double now_s() const noexcept {
        return static_cast<double>(now_.microseconds) / 1e6;
    }
    void start_clients(std::uint64_t tick);
    [[nodiscard]] std::unique_ptr<Client> make_client(std::uint32_t index);
    /// A client leaves, and another one begins under its address.
    void replace_client();

    void play_tick(std::uint64_t tick, bool has_ops);
    void apply_ops(std::uint64_t tick);
    void deliver_outbox();
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

    const MatchOptions& options_;
    const MatchSchema& schema_;
    MatchNetwork& network_;
    Transport& network_endpoint_;
    MatchResult result_;
    MatchServer server_;
    std::unique_ptr<MatchRecorder> recorder_;  // of server_, while it is recorded
    std::vector<PeerId> peers_;                // of all clients
    std::vector<std::unique_ptr<Client>> clients_;
    DatagramList inbox_;
    std::vector<std::byte> digest_input_;
    NetTime now_;
    std::uint32_t replaced_count_ = 0;
    double next_churn_s_ = 0;
    double next_owners_s_ = 0;
    StalenessMeter staleness_;
    CapMeter cap_meter_;
};

}  // namespace replayout::match
