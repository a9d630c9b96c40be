// SPDX-License-Identifier: MIT
//
// Looks at every packet that the server sends: whether it tells a client what is not for it (I13),
// and whether the server counts what it does (I18, I19).
#pragma once

#include "simulation/fleet/sim_server.h"
#include "simulation/judges/verdict.h"
#include "support/checks/marked_bytes.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout::test {

class PacketJudge {
  public:
    PacketJudge(SimServer& server, Verdict& verdict) : server_(server), verdict_(verdict) {}

    void sent(PeerId to, std::span<const std::byte> datagram, bool may_have_secrets);
    /// The server's counters against what was seen; `received`: datagrams that it took.
    void check_counters(const NetStats& stats, std::uint64_t received, bool is_recorded);
    /// Likewise what it says of its memory.
    void check_memory();

    [[nodiscard]] std::uint64_t secrets_seen() const noexcept { return secrets_seen_; }

  private:
    [[nodiscard]] bool is_as_hidden(PeerId to, const CraftState& craft, const MarkedValue& mark);

    SimServer& server_;
    Verdict& verdict_;
    std::uint64_t packets_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t secrets_seen_ = 0;  ///< by those who may
};

}  // namespace replayout::test
