// SPDX-License-Identifier: MIT
//
// A match whose clients are other processes: --serve. The clock of the drivers is that of the
// machine; the match goes on when all clients have had its last tick, or at a pace that was asked
// for, and for who does not answer it waits no longer than a moment.
#pragma once

#include "match/judge/match_referee.h"
#include "match/session/match_server.h"

#include <replayout/transports/socket_transport.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace replayout::match {

class ClientJudge;
class Progress;

class MatchHost final : private NetWorld {
  public:
    /// All outlive the host.
    MatchHost(const MatchOptions& options, std::span<const Recording> recordings,
              const MatchSchema& schema, SocketTransport& transport);
    ~MatchHost() override;
    MatchHost(const MatchHost&) = delete;
    MatchHost& operator=(const MatchHost&) = delete;

    /// Waits for the clients, plays, waits until all has arrived, has each client report, and says
    /// goodbye. Once. Clients that did not come are in the result's first_difference.
    [[nodiscard]] MatchResult run(Progress& progress);

    /// Ticks that will be played.
    [[nodiscard]] std::uint64_t tick_count() const noexcept { return server_.tick_count(); }

  private:
    using Clock = std::chrono::steady_clock;

    /// Of one client, at the end.
    struct Seat {
        MatchReferee referee;
        RefereeEnd expected;
        RefereeReport report;
        bool has_reported = false;
    };

    // NetWorld, for what is no object of a recording
    [[nodiscard]] void* object_memory(ObjectHandle object) override;
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) override { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) override {}
    void peer_joined(PeerId peer) override;
    void peer_left(PeerId peer, CloseReason reason) override;

    /// Too few have come.
    void give_up();
    void play_tick(std::uint64_t tick);
    /// Until it is time for the next tick.
    void keep_pace();
    /// What has arrived goes to the server; false: nothing.
    bool receive();
    void send();
    /// Receives and sends.
    void turn();
    /// Turns until `is_done`, at most so long.
    template <typename IsDone>
    bool turn_until(double seconds, IsDone&& is_done);

    [[nodiscard]] bool are_all_there() const noexcept;
    void settle();
    void judge();
    void seat(const ClientJudge& judge);
    void tell_clients(const std::vector<RefereeNames>& names);
    void take_reports();
    [[nodiscard]] std::vector<RefereeNames> names() const;
    void say_goodbye();

    const MatchOptions& options_;
    const MatchSchema& schema_;
    SocketTransport& transport_;
    RefereeClass referee_class_;
    MatchResult result_;
    MatchServer server_;
    std::vector<PeerId> peers_;                // that are joined, in the order in which they did
    std::map<std::uint64_t, Seat> seats_;      // by handle
    std::map<PeerId, std::uint64_t> seat_of_;  // handles
    DatagramList inbox_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_tick_;
    Clock::time_point last_sent_;
    NetTime now_;
    double next_owners_s_ = 0;
};

}  // namespace replayout::match
