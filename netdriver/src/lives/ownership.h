// SPDX-License-Identifier: MIT
//
// Whose an object is, and how it is simulated: decides which client sees which of its values and
// parts.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_role.h>

#include "relevancy.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class Ownership {
  public:
    Ownership(ServerObjects& objects, ServerClients& clients, Relevancy& relevancy) noexcept
        : objects_(objects.store), clients_(clients), relevancy_(relevancy) {}

    // Facts of an object and its parts. Each requires an object that exists and is no part.

    void set_owner(NetObjectId id, PeerId owner);
    void clear_owner(NetObjectId id);
    /// Sets a fact that holds or not, such as &ObjectOwnership::is_autonomous.
    void set_flag(NetObjectId id, bool ObjectOwnership::*flag, bool value);

  private:
    [[nodiscard]] const ObjectOwnership& ownership_of(NetObjectId id) const;
    void set_ownership(NetObjectId id, const ObjectOwnership& ownership);
    void set_ownership_of(ObjectIndex index, const ObjectOwnership& ownership);

    ObjectStore& objects_;
    ServerClients& clients_;
    Relevancy& relevancy_;
};

}  // namespace replayout
