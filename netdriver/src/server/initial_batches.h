// SPDX-License-Identifier: MIT
//
// Clients that join a world that is there already: what the server sends them first, in which
// order, and how much of it in one flush.
#pragma once

#include <cstdint>

#include "interest_manager.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class InitialBatches {
  public:
    InitialBatches(const ServerEnvironment& environment, const ServerObjects& objects,
                   ServerClients& clients, const InterestManager& interest) noexcept
        : config_(environment.settings.config),
          all_(objects),
          objects_(objects.store),
          clients_(clients),
          interest_(interest) {}

    /// Begins those of clients that joined, as many as may begin in one flush.
    void begin();
    void begin_for(ServerClient& client);
    /// Ends that of the client, if all of it has arrived.
    void finish_for(ServerClient& client);
    /// How many objects of its batch each client may open in this flush.
    [[nodiscard]] std::uint32_t opens_per_client() const noexcept;

  private:
    const NetConfig& config_;
    const ServerObjects& all_;
    const ObjectStore& objects_;
    ServerClients& clients_;
    const InterestManager& interest_;
};

}  // namespace replayout
