// SPDX-License-Identifier: MIT
//
// Whose an object is, and how it is simulated: decides which client sees which of its values and
// parts.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_role.h>

#include <cstdint>

#include "relevancy.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class Ownership {
  public:
    Ownership(ServerObjects& objects, ServerClients& clients, Relevancy& relevancy) noexcept
        : objects_(objects.store), clients_(clients), relevancy_(relevancy) {}

    /// Sets those of an object and its parts. Requires an object that exists and is no part.
    void set_facts(NetObjectId id, const ObjectFacts& facts);

  private:
    void set_facts_of(std::uint32_t index, const ObjectFacts& facts);

    ObjectStore& objects_;
    ServerClients& clients_;
    Relevancy& relevancy_;
};

}  // namespace replayout
