// SPDX-License-Identifier: MIT
//
// Decides which connection sees which object of a server. For clients it sets the rules of the
// driver's Interest. The host is no client of the driver, so host_sees() applies the same rules to
// it; distances and cells are the driver's for both.
//
//     visibility, range, group   ->  apply_visibility()      relevancy and group of one object
//     owners, group              ->  count_group()           groups of one connection
//     show_to(), hide_from()     ->  apply_shown()           what the game decided of a pair
//
// A connection is in the groups of the objects that it owns, and in the group of those that
// are ready, only while it is ready.
#pragma once

#include <replayout/behaviours/interest_management.h>
#include <replayout/behaviours/network_server.h>

#include <cstdint>

#include "part_of.h"

namespace replayout {

class NetworkServer::Observers : detail::PartOf<detail::ServerParts> {
  public:
    Observers(detail::ServerParts& parts, const InterestManagement& interest)
        : PartOf(parts), interest_(interest) {}

    // Objects.

    /// The object was spawned.
    void object_spawned(NetworkIdentity& object);
    /// The object is about to be unspawned: forgets its group, and what the game decided of it.
    void forget(NetworkIdentity& object);
    void apply_visibility(NetworkIdentity& object);
    void interest_group_changed(NetworkIdentity& object, std::uint32_t previous);
    void position_changed(NetworkIdentity& object);
    /// With InterestKind::Custom: all connections are looked at anew.
    void reconsider(NetworkIdentity& object);

    // Connections.

    /// The connection owns one object of the group more, or one fewer.
    void count_group(NetworkConnection& connection, std::uint32_t group, bool is_more);
    /// The connection got another player, or none.
    void update_viewer(NetworkConnection& connection);
    /// The connection's phase is now Ready, or NotReady.
    void phase_changed(NetworkConnection& connection);

    // One object and one connection.

    /// Tells the driver what the game decided of the two. A connection that is not ready does not
    /// even see what it owns.
    void apply_shown(NetworkConnection& connection, NetworkIdentity& object);
    void set_shown(NetworkIdentity& object, NetworkConnection& connection, bool is_shown);
    /// False: the game decided nothing of the two.
    bool forget_shown(NetworkIdentity& object, NetworkConnection& connection);
    /// With InterestKind::Custom: whether all components of the object agree.
    [[nodiscard]] static bool check_observer(const NetworkIdentity& object,
                                             const NetworkConnection& connection);
    [[nodiscard]] bool host_sees(const NetworkIdentity& object) const;

  private:
    [[nodiscard]] NetGroup group_of(const NetworkIdentity& object) const noexcept;
    /// Applies that to all objects that the connection owns, or of which the game decided something
    /// for it.
    void apply_all_shown(NetworkConnection& connection);

    const InterestManagement interest_;
};

}  // namespace replayout
