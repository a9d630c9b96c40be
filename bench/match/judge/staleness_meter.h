// SPDX-License-Identifier: MIT
//
// How old what clients hold is: for how long a client's copy of an object has not been what the
// server has. References are left out, as a client may name what it does not have.
//
//     server      a a b b b c c c c      what it had in which tick
//     client              b              looked at in the last: b ceased to be three ticks before
//
// A copy that is of several ticks at once, or that is missing, is as old as it was when it was last
// looked at, and what went by since. So one that the client does not have yet counts, from the
// first look on; before a client has joined nothing is looked at.
#pragma once

#include "match/battle/match_world.h"

#include <replayout/netdriver/net_driver.h>

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace replayout::match {

/// A look at each object of each client in each tick would take longer than the match.
inline constexpr std::uint64_t ticks_between_looks = 15;

/// In ticks.
struct Staleness {
    std::uint64_t p50 = 0;
    std::uint64_t p99 = 0;
    std::uint64_t worst = 0;
    std::uint64_t sample_count = 0;  ///< one for each client, object and look
};

class StalenessMeter {
  public:
    /// An object of the server as it is after this tick.
    void look_at_server(ObjectHandle handle, const MatchObject& object, std::uint64_t tick);
    /// The object is there no more.
    void forget(ObjectHandle handle);
    /// The client is not to have the object; what it holds of it is no sample.
    void forget_pair(std::uint32_t client, ObjectHandle handle);
    /// A client's copy; null: it has none. Of an object that was looked at in this tick.
    void look_at_client(std::uint32_t client, ObjectHandle handle, const MatchObject* copy,
                        std::uint64_t tick);
    /// The client is another one from now on.
    void forget_client(std::uint32_t client);

    [[nodiscard]] Staleness summary() const;

  private:
    struct Value {
        std::uint64_t tick = 0;  ///< since when
        std::uint64_t digest = 0;
    };
    using StaleSince = std::unordered_map<std::uint64_t, std::uint64_t>;

    std::unordered_map<std::uint64_t, std::deque<Value>> histories_;  // by server handle
    std::vector<StaleSince> clients_;                                 // by server handle
    std::vector<std::uint64_t> ages_;  // how many samples were so many ticks old
};

}  // namespace replayout::match
