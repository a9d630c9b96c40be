// SPDX-License-Identifier: MIT
//
// Dormancy of a server's objects: what the game says of each, once for all connections. Nothing
// here walks objects x connections, but words of bits.
//
// An object that is dormant for every client rests (CompareStage): it stays as it was when it was
// compared last. A client that joins then is sent that, and not what the object became meanwhile,
// so all clients show the same.
#pragma once

#include <replayout/netdriver/net_dormancy.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/transport.h>

#include "bit_row.h"
#include "compare_stage.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class Dormancy {
  public:
    Dormancy(const ServerEnvironment& environment, ServerObjects& objects, ServerClients& clients,
             CompareStage& compare);
    Dormancy(const Dormancy&) = delete;
    Dormancy& operator=(const Dormancy&) = delete;

    // See NetDriver. They require an object that is no part, and act on its parts, too.
    void set(NetObjectId id, NetDormancy dormancy);
    void set_for(PeerId peer, NetObjectId id, bool is_dormant);
    void flush(NetObjectId id);
    /// NetRates::force_net_update().
    void force_net_update(NetObjectId id);
    /// The object may be a part.
    [[nodiscard]] bool is_for(PeerId peer, NetObjectId id) const;

    /// Of one object without its parts.
    void set_of(ObjectIndex index, NetDormancy dormancy);
    /// A client joined. What may be dormant becomes so for it, or does not.
    void introduce(ServerClient& client);
    /// The client is shown the object again.
    void shown(ServerClient& client, ObjectIndex index);
    /// For one client the object is sent once more, as it is then. It goes dormant again
    /// afterwards.
    void wake_for(ServerClient& client, ObjectIndex index);
    /// A call means what the object is now: it ends its rest, if it rests.
    void end_rest(ObjectIndex index) {
        if (compare_.resting().test(index)) {
            resume_compare(index);
        }
    }
    /// After a flush: what is now dormant for every client rests.
    void rest_dormant_objects();

    /// The game is done with the object, or tore it off.
    void forget(ObjectIndex index) noexcept {
        candidates_.erase(index);
        becoming_.erase(index);
    }

  private:
    /// What the object's state means for one connection.
    void apply(ReplicationSender& sender, ObjectIndex index);
    /// The same for all. `wakes`: those for whom it is dormant are sent it once more.
    void apply_to_all(ObjectIndex index, bool wakes);
    /// It is compared again, for as long as it is awake for anybody.
    void resume_compare(ObjectIndex index);
    [[nodiscard]] bool is_for_all(ObjectIndex index) const;

    ObjectStore& objects_;
    ServerClients& clients_;
    CompareStage& compare_;
    BitRow candidates_;  // may be dormant, by what the game said
    BitRow becoming_;    // of these, awake for anybody; so they are compared
    BitRow scratch_;
};

}  // namespace replayout
