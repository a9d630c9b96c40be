// SPDX-License-Identifier: MIT
//
// Phase B of a flush: what changed is laid down once in bundles, and then each client is sent what
// it is owed, by lanes where there is enough to do (executor.h). What gives ids, or calls what is
// not for several threads, is left to the driver's thread.
#pragma once

#include <cstdint>

#include "destruction_notices.h"
#include "initial_batches.h"
#include "priorities.h"
#include "server_bundles.h"
#include "server_clients.h"
#include "server_lane.h"
#include "server_objects.h"
#include "written_values.h"

namespace replayout {

class FanOut {
  public:
    struct Parts {
        ServerObjects& objects;
        ServerClients& clients;
        ServerLanes& lanes;
        const InterestManager& interest;
        WrittenValues& values;
        const Priorities& priorities;
        DestructionNotices& notices;
        InitialBatches& batches;
    };

    FanOut(const ServerEnvironment& environment, const Parts& parts);

    /// What changed is known: asks the game for values that all clients get alike, and lays down
    /// bundles.
    void lay_down();
    /// Sends all clients what they are owed. `is_any_joining`: some have not got their initial
    /// batch.
    void replicate(bool is_any_joining);
    /// Sends one client, outside of that, what it is owed. Bundles of this flush no longer count:
    /// what is owed of them is owed as by any other client.
    void replicate_alone(ServerClient& client, std::uint32_t initial_opens);
    /// Between flushes, once in a period.
    void trim();

  private:
    /// The objects of that word of a row of which some client has not acknowledged the open.
    [[nodiscard]] std::uint64_t opening_of(std::size_t word) const noexcept;
    void ask_shared_values();
    void build_bundles();
    void replicate_to(ServerClient& client, std::uint32_t initial_opens);
    /// What there is to send at most.
    [[nodiscard]] std::uint64_t sending_work(std::uint32_t initial_opens) const noexcept;
    void replicate_in_lanes(std::uint32_t initial_opens);

    const NetDriverSettings& settings_;
    Transport& transport_;
    Parts parts_;
    ServerClients& clients_;
    ServerLanes& lanes_;
    FlushChanges& changes_;
    ServerBundles bundles_;
};

}  // namespace replayout
