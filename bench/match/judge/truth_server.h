// SPDX-License-Identifier: MIT
//
// What a recording must show: a server without clients that applies the ops of a match, tick by
// tick, as the one did that was recorded. Ids of objects are given in the same order, so the two
// name the same things.
#pragma once

#include "match/judge/client_judge.h"
#include "match/recording/recorded_world.h"
#include "match/session/buffered_transport.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <map>
#include <span>

namespace replayout::match {

class TruthServer {
  public:
    /// The recordings and the schema, made of them, must outlive it.
    TruthServer(std::span<const Recording> recordings, const MatchSchema& schema);

    /// Forward to behind that tick.
    void play_through(std::uint64_t tick);
    /// What a world must be that shows everything.
    [[nodiscard]] ClientVerdict judge(const MatchWorld& world, const NetDriver& driver) const;

  private:
    void tell(const RecordedChange& change);

    RecordedWorld recorded_;
    BufferedTransport transport_;
    NetDriver driver_;
    std::map<std::uint64_t, NetObjectId> ids_;  // by server handle
    std::uint64_t tick_count_ = 0;              // that were played
};

}  // namespace replayout::match
