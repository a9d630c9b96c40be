// SPDX-License-Identifier: MIT
//
// Judges how long anything waits in a world that never settles (I20): what is new, what is shown
// and changed, what was lost, large values, reliable calls, and joins. The bounds are those of
// docs/limits.md, "How long anything waits under a cap": computed when the wait begins, from the
// bytes that wait by then, the cap, and how far the object steps down.
//
//     a wait     begins when the judge first sees it, and ends when the client, or the server for
//                what is shown, has it
//     its length ticks, times the share of the packets sent meanwhile that the client processed
//     a loss     begins the wait of what is shown anew
//     a call     may send the state of its craft ahead as a large value, and the craft waits as
//     such
//                a value then
#pragma once

#include "simulation/fleet/sim_client.h"
#include "simulation/fleet/sim_server.h"
#include "simulation/judges/verdict.h"
#include "support/checks/wait_bounds.h"

#include <replayout/connection_shadow.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace replayout::test {

enum class WaitKind : std::uint8_t { New, Shown, Lost, Value, Call, Join };
inline constexpr std::size_t wait_kind_count = 6;
[[nodiscard]] const char* to_string(WaitKind kind) noexcept;

/// The most of each kind that was seen, as a share of what was allowed, in per cent.
using WaitPercents = std::array<std::uint64_t, wait_kind_count>;

class StalenessJudge {
  public:
    StalenessJudge(const SwarmConfig& swarm, SimServer& server, Verdict& verdict)
        : swarm_(swarm), server_(server), verdict_(verdict) {}

    /// The server sent a datagram there.
    void sent(PeerId address) { ++sent_[address]; }
    /// Once a tick, after the client's.
    void look(SimClient& client, std::uint32_t tick);

    [[nodiscard]] const WaitPercents& percents() const noexcept { return percents_; }

  private:
    /// From when on something waits, and what there was to count.
    struct Wait {
        std::uint32_t since = 0;
        std::uint64_t sent = 0;
        std::uint64_t taken = 0;
        double bound = 0;  ///< flushes whose packets arrive, and round trips
    };
    struct Pair {
        bool is_seen = false;
        bool is_open = false;  ///< the server is sending it
        bool had_lost = false;
        bool is_lost = false;    ///< what it waits for was
        bool is_ahead = false;   ///< a call waits for its state, which goes as a large value
        bool was_ahead = false;  ///< since it waits
        Version sent_version = 0;
        std::uint32_t step = 1;  ///< the greatest since it waits
        std::optional<Wait> opening;
        std::optional<Wait> change;
        std::optional<Wait> value;
        std::uint32_t cargo = 0;       ///< version of the one that waits, or was there
        std::size_t cargo_bytes = 0;   ///< the largest that waits
        std::size_t signals_seen = 0;  ///< that were called by the last look
        std::map<std::uint32_t, Wait> calls;
    };
    /// What is known of one session.
    struct Session {
        Wait join;
        bool is_joined = false;
        std::uint32_t begun = 0;
        std::map<std::uint32_t, Pair> pairs;  ///< by craft
    };
    /// What waits for one client, in bytes of datagrams.
    struct Load {
        double fresh = 0;     ///< opens and first blocks of what it does not have
        double changing = 0;  ///< a block of all that it has
        double values = 0;
        double calls = 0;
    };

    [[nodiscard]] Wait begin(const SimClient& client, double bound) const;
    /// In flushes whose packets arrived.
    [[nodiscard]] double length(const SimClient& client, const Wait& wait) const;
    [[nodiscard]] double lost_share(const SimClient& client) const;
    [[nodiscard]] std::uint64_t taken_by(const SimClient& client) const;
    [[nodiscard]] WaitBounds bounds(bool is_joined) const;
    [[nodiscard]] double round_trip() const;
    [[nodiscard]] Load load(SimClient& client, const Session& session) const;
    void look_at_craft(SimClient& client, Session& session, const CraftState& state,
                       const Load& load);
    void look_at_shown(SimClient& client, Session& session, Pair& pair, const CraftState& state,
                       const Load& load);
    void look_at_value(SimClient& client, Session& session, Pair& pair, const CraftState& state,
                       const Load& load);
    void look_at_calls(SimClient& client, Session& session, Pair& pair, const CraftState& state,
                       const Load& load);
    /// Why the server did not send the craft, in the end.
    [[nodiscard]] std::string owed_text(const SimClient& client, std::uint32_t craft) const;
    void check(const SimClient& client, WaitKind kind, std::uint32_t craft, const Wait& wait);

    const SwarmConfig& swarm_;
    SimServer& server_;
    Verdict& verdict_;
    std::map<PeerId, std::uint64_t> sent_;
    std::map<std::uint32_t, Session> sessions_;  // by connection
    std::uint32_t tick_ = 0;
    WaitPercents percents_{};
};

}  // namespace replayout::test
