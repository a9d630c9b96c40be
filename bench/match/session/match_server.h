// SPDX-License-Identifier: MIT
//
// The server of a match: it applies the recorded ops, and its driver replicates what they did. It
// knows no network: who plays the match lays ready what has arrived, and takes what was sent.
//
//     begin_tick(); dispatch(inbox, now); apply_ops(tick); flush(now); outbox(); end_tick(...)
//                   ^ the clock runs for this and for flush alone
//
// The twin, if there is one, is a second driver with the other setting of sharing. It looks at the
// same objects and is given the same datagrams, and what it sends is compared and thrown away.
#pragma once

#include "match/recording/recorded_world.h"
#include "match/session/buffered_transport.h"
#include "match/session/counted_executor.h"
#include "match/session/match_drivers.h"
#include "match/session/match_result.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <random>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace replayout::match {

class MatchServer {
  public:
    /// All outlive the server; `result` is filled as the match goes on.
    MatchServer(const MatchOptions& options, std::span<const Recording> recordings,
                const MatchSchema& schema, MatchResult& result);
    MatchServer(const MatchServer&) = delete;
    MatchServer& operator=(const MatchServer&) = delete;

    /// Once, behind layouts of its own that the player of the match may have added.
    void listen();
    /// Ticks that will be played.
    [[nodiscard]] std::uint64_t tick_count() const noexcept { return tick_count_; }

    void begin_tick();
    void dispatch(const DatagramList& inbox, NetTime now);
    void apply_ops(std::uint64_t tick);
    void flush(NetTime now);
    /// `tick`: of the match, beyond tick_count() where nothing is played any more.
    void end_tick(std::uint64_t tick);
    /// What the last flush sent.
    [[nodiscard]] const DatagramList& outbox() { return main_.transport.outbox(); }

    /// Of `peers`, those that are there: each looks with the eyes of one of the players, in turn.
    void set_viewers(std::span<const PeerId> peers);
    /// A tenth of all objects is given other owners out of `peers`.
    void change_owners(std::span<const PeerId> peers);

    [[nodiscard]] NetDriver& driver() noexcept { return main_.driver; }
    [[nodiscard]] const NetDriver& driver() const noexcept { return main_.driver; }
    /// With the driver, and that of the twin.
    template <typename Call>
    void for_each_driver(Call&& call) {
        call(main_.driver);
        if (twin_ != nullptr) {
            call(twin_->driver);
        }
    }
    [[nodiscard]] RecordedWorld& recorded() noexcept { return recorded_; }
    [[nodiscard]] const MatchWorld& world() const noexcept { return recorded_.world(); }
    /// Of the objects that are there, by handle.
    [[nodiscard]] const std::unordered_map<std::uint64_t, NetObjectId>& ids() const noexcept {
        return main_.ids;
    }

    /// That were there when this tick began, and are no more.
    [[nodiscard]] const std::vector<ObjectHandle>& destroyed() const noexcept { return destroyed_; }

    /// Property bytes and reliable bunches that were sent: all that is no ack and no keep-alive.
    [[nodiscard]] std::uint64_t content_sent() const noexcept;

    /// The last tick with ops was played.
    void finish_play();
    /// At the very end. `peers`: clients that are there.
    void finish(std::span<const PeerId> peers);

  private:
    /// A driver with what measures it.
    struct Side {
        Side(const MatchOptions& options, SharingLevel sharing, MatchWorld& world,
             Executor& executor);

        // Objects come and go; what one leaves behind serves the next.
        std::pmr::unsynchronized_pool_resource memory;
        BufferedTransport transport;
        NetDriver driver;
        std::unordered_map<std::uint64_t, NetObjectId> ids;  // by server handle
        std::vector<std::uint64_t> tick_ns;
        std::uint64_t tick_allocations = 0;
    };

    template <typename Call>
    void for_each_side(Call&& call) {
        call(main_);
        if (twin_ != nullptr) {
            call(*twin_);
        }
    }
    /// The clock, and the counter of allocations, run for the call.
    template <typename Call>
    static void measure(Side& side, Call&& call);
    void tell(const RecordedChange& change);
    void spawn(const RecordedChange& change);
    void destroy(const RecordedChange& change);
    void set(const RecordedChange& change);
    /// What is true from the first tick on.
    void set_up_interest(NetDriver& driver) const;
    void compare_twin();
    void count_relevant_pairs(std::span<const PeerId> peers);
    /// Of each class; nothing unless counted.
    [[nodiscard]] std::vector<TypeCost> costs_of(const NetDriver& driver) const;

    const MatchOptions& options_;
    MatchResult& result_;
    RecordedWorld recorded_;
    CountedExecutor executor_;  // of both sides, by turns
    Side main_;
    std::unique_ptr<Side> twin_;
    std::set<std::uint64_t> players_;  // handles of those that are there
    std::vector<ObjectHandle> destroyed_;
    std::uint64_t tick_count_ = 0;
    std::uint64_t current_tick_ = 0;
    bool has_lifetime_ops_ = false;  // this tick spawned or destroyed
    std::mt19937_64 owner_random_;
};

}  // namespace replayout::match
