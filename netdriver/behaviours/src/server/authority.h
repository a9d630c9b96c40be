// SPDX-License-Identifier: MIT
//
// Who owns which object, which object is whose player, and what owners decide: components of
// SyncDirection::ClientToServer (sync_section.h).
//
// An owner decides nothing before the server sent it the state of the object, with the epoch of its
// ownership. What it sends under another epoch is refused. The state is queued until the owner is
// ready and its calls have room. An owner that asks for it is sent it once a second at most.
#pragma once

#include <replayout/behaviours/collection_end.h>
#include <replayout/behaviours/network_server.h>

#include <cstdint>
#include <vector>

#include "inside.h"
#include "part_of.h"
#include "received_section.h"
#include "sync_section.h"

namespace replayout {

class NetworkServer::Authority : detail::PartOf<detail::ServerParts> {
  public:
    explicit Authority(detail::ServerParts& parts);

    // Owners and players.

    /// False, and refused: another connection owns the object.
    bool assign(NetworkIdentity& object, NetworkConnection& owner);
    /// False, and refused: nobody owns the object, it is a player, or tell_last_owner() is false.
    bool remove(NetworkIdentity& object);
    void set_owner(NetworkIdentity& object, NetworkConnection& owner);
    void clear_owner(NetworkIdentity& object);
    /// The owner is about to lose the object: sends it what the object is, as far as the owner
    /// decided that. False, and refused: its calls have no room for that. It stays the owner then.
    [[nodiscard]] bool tell_last_owner(NetworkIdentity& object);
    /// Null: the connection has no player then.
    void set_player(NetworkConnection& connection, NetworkIdentity* player);
    /// The connection is about to end: it loses its player and all that it owns.
    void release_all(NetworkConnection& connection);

    // What owners decide.

    /// The owner is to be sent what the object is, as far as the owner decides that.
    void queue_state(NetworkIdentity& object);
    /// With each late_update().
    void send_states();
    /// Sends the state of the object ahead of a call, if it is queued. An owner that asked for it
    /// too soon waits all the same. False: the state found no room.
    [[nodiscard]] bool send_state_ahead(NetworkIdentity& object) {
        return !detail::Inside::of(object).server.owner.is_state_due || must_owner_wait(object) ||
               tell_owner(object);
    }
    /// The owner sent SyncVars, or asks for the state.
    void take_section(detail::ObjectComponent& component, const detail::ReceivedSection& section);
    /// The owner sent operations of a collection.
    void take_operations(detail::ObjectComponent& component, detail::CollectionEnd& collection,
                         const void* params);
    /// Forgets the objects that are gone. Call it before they are freed.
    void forget_gone() { detail::erase_gone(queued_); }

  private:
    /// Whether the owner decides any of the object.
    [[nodiscard]] static bool has_state(const NetworkIdentity& object) noexcept;
    /// The owner asks for the state, or made it necessary.
    void owner_asks(NetworkIdentity& object);
    /// The owner asked, and was sent the state less than a second ago.
    [[nodiscard]] bool must_owner_wait(const NetworkIdentity& object) const noexcept;
    /// True: the state was sent to the owner, or need not be.
    [[nodiscard]] bool tell_owner(NetworkIdentity& object);
    /// `epoch` is 0 for an owner that is about to lose the object. False: to be tried again.
    [[nodiscard]] bool send_state(NetworkIdentity& object, std::uint32_t epoch);
    [[nodiscard]] bool send_collections(const detail::ObjectComponent& component,
                                        std::uint32_t epoch);

    std::vector<NetworkIdentity*> queued_;  // whose state is to be sent
    SectionSender sections_;
};

}  // namespace replayout
