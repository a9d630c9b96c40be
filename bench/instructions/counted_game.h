// SPDX-License-Identifier: MIT
//
// The game around a server whose instructions are counted. It makes its calls of the driver through
// count_call() (counted_tick.h): these are counted by themselves, and its own work is not.
#pragma once

#include <replayout/netdriver/net_driver.h>

#include <span>
#include <string>

namespace replayout::bench {

class CountedGame : public NetWorld {
  public:
    /// Why there is none; empty when there is one. Then nothing else may be asked.
    [[nodiscard]] virtual const std::string& error() const noexcept = 0;
    /// All that its server has, in the order in which they are added.
    [[nodiscard]] virtual std::span<const RepLayout* const> layouts() const noexcept = 0;
    /// Called once, when the server listens. `peers` are the clients that will join.
    virtual void begin(NetDriver& server, std::span<const PeerId> peers) = 0;
    /// Plays a tick, between dispatch and flush. The same ticks in every run.
    virtual void play(NetDriver& server) = 0;

    // NetWorld: a server spawns nothing
    [[nodiscard]] ObjectHandle spawn(const SpawnInfo&) final { return {}; }
    void despawn(ObjectHandle, ChannelCloseReason) final {}
};

}  // namespace replayout::bench
