// SPDX-License-Identifier: MIT
//
// A server with clients that answer (AnsweringClients), tick by tick: what ./run instructions
// counts and ./run savings times. All of it is decided by its settings, so it is the same in every
// process.
#pragma once

#include "instructions/answering_clients.h"
#include "instructions/counted_game.h"

#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_config.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/sharing_level.h>

#include <cstdint>
#include <span>
#include <string>

namespace replayout::bench {

struct RunningServerSettings {
    std::uint32_t clients = 0;
    /// The share of the packets to clients that is lost, from begin_to_lose() on.
    double loss = 0;
    /// AnsweringClients.
    std::uint32_t answer_delay_ticks = 0;
    SharingLevel sharing = SharingLevel::Bundles;
    NetConfig config{};
    InterestSettings interest{};
};

class RunningServer {
  public:
    /// The game is as new, and outlives it.
    RunningServer(const RunningServerSettings& settings, CountedGame& game);

    /// Call it once, before all else. Returns why the server does not start; empty when it does.
    [[nodiscard]] std::string start();

    /// `is_playing`: the game plays in it. Returns the seconds that dispatch and flush took.
    /// Clients hear and answer once they are let in.
    double tick(bool is_playing);
    void let_clients_in() noexcept { are_clients_in_ = true; }
    void begin_to_lose() noexcept { clients_.set_loss(settings_.loss); }

    /// All clients have joined, and everything has arrived.
    [[nodiscard]] bool is_settled() const;
    /// Why what was played is worth nothing; empty when it is.
    [[nodiscard]] std::string fault() const;
    [[nodiscard]] const NetStats& stats() const noexcept { return server_.stats(); }
    /// AnsweringClients::set_digesting(), digest().
    void set_digesting(bool is_digesting) noexcept { clients_.set_digesting(is_digesting); }
    [[nodiscard]] std::uint64_t digest() const noexcept { return clients_.digest(); }
    /// The packets of the last tick, in the order in which they were sent.
    [[nodiscard]] std::span<const ScriptedClients::Packet> packets() const noexcept {
        return clients_.packets();
    }

  private:
    const RunningServerSettings settings_;
    CountedGame& game_;
    AnsweringClients clients_;
    NetDriver server_;
    NetTime now_;
    bool are_clients_in_ = false;
};

}  // namespace replayout::bench
