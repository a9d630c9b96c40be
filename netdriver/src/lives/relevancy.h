// SPDX-License-Identifier: MIT
//
// Which client has which object: what the rules of interest say of the pairs that may have changed,
// and what becomes of their channels. Parts are decided with their outer, by their conditions.
#pragma once

#include <replayout/netdriver/interest.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/math.h>

#include "bit_row.h"
#include "call_waits.h"
#include "dormancy.h"
#include "interest_manager.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class Relevancy {
  public:
    Relevancy(const ServerEnvironment& environment, ServerObjects& objects, ServerClients& clients,
              InterestManager& interest, Dormancy& dormancy, CallWaits& waits);
    Relevancy(const Relevancy&) = delete;
    Relevancy& operator=(const Relevancy&) = delete;

    // See Interest. They require objects that exist; those without a word on parts, no parts.
    void set_location(NetObjectId id, const Vector3& location);
    /// A part requires LifetimeCondition::NetGroup.
    void add_to_group(NetObjectId id, NetGroup group);
    /// The object may be a part.
    void remove_from_group(NetObjectId id, NetGroup group);
    /// The object may be a part.
    void clear_groups(NetObjectId id);
    void set_in_group(PeerId peer, NetGroup group, bool is_in_group);
    void set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant);
    void clear_relevant_for(PeerId peer, NetObjectId id);
    /// The object may be a part.
    [[nodiscard]] bool is_relevant_for(PeerId peer, NetObjectId id) const;
    void set_is_replay(PeerId peer, bool is_replay);
    /// The rules.
    [[nodiscard]] InterestManager& interest() noexcept { return interest_; }

    /// A new object, no part.
    void object_added(ObjectIndex index);
    /// A new part, with its condition and facts. Clients that have the outer get it.
    void part_added(ObjectIndex index);
    /// Before a flush: decides the pairs that may have changed.
    void update();
    /// The same for one object or part, as far as it did not move: before it is called.
    void update_of(ObjectIndex index);
    /// Decided anew for one client: an object and all its parts.
    void show_family(ServerClient& client, ObjectIndex index, bool is_relevant);
    void show_part(ServerClient& client, ObjectIndex part);
    void show_parts_to_all(ObjectIndex index);
    /// Shows one client each part with a condition.
    void show_conditional(ServerClient& client);
    /// Hides the parts that a client no longer sees with these facts. Call it before they change,
    /// because calls of the parts need what the client may see until then.
    void hide_parts_before(ObjectIndex index, const ObjectOwnership& ownership);
    /// The pair was decided.
    void changed(ServerClient& client, ObjectIndex index) {
        interest_.relevancy_changed(client.interest, index);
    }

  private:
    void decide(ServerClient& client, ObjectIndex index);
    /// Whether a client is to have a part, where it has the outer.
    [[nodiscard]] bool is_shown(const ServerClient& client, ObjectIndex index,
                                const ObjectOwnership& ownership) const;
    /// At once, or after the reliable calls of the family.
    void hide_family(ServerClient& client, ObjectIndex index);
    void hide_at_once(ReplicationSender& sender, ObjectIndex index);
    /// False: what the calls need is more than is kept.
    [[nodiscard]] bool hide_behind_calls(ServerClient& client, ObjectIndex index);
    void show_part_to_all(ObjectIndex part);

    const ServerEnvironment& environment_;
    ObjectStore& objects_;
    ServerClients& clients_;
    InterestManager& interest_;
    Dormancy& dormancy_;
    CallWaits& waits_;
    BitRow conditional_;  // parts that not every client is to have
    BitRow new_objects_;  // since update(); no parts
};

}  // namespace replayout
