// SPDX-License-Identifier: MIT
//
// The player of a listen server. It is no client, but has an id, owns objects, and may see with
// viewers of its own.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/transport.h>

#include "client_interest.h"
#include "interest_manager.h"

#include <optional>

namespace replayout {

class ServerHost {
  public:
    ServerHost(InterestManager& interest, MemoryMeters& memory) noexcept
        : interest_(interest), memory_(memory) {}

    /// Requires that there is none, or that it is `peer`.
    void set(PeerId peer) {
        peer_ = peer;
        if (!seen_.has_value()) {
            seen_.emplace(peer, memory_);
            interest_.add_client(*seen_);
        }
    }
    void clear() noexcept {
        peer_.reset();
        is_told_of_ = false;
        if (seen_.has_value()) {
            interest_.remove_client(*seen_);
            seen_.reset();
        }
    }
    [[nodiscard]] const std::optional<PeerId>& peer() const noexcept { return peer_; }
    [[nodiscard]] bool is(PeerId peer) const noexcept {
        return peer_.has_value() && *peer_ == peer;
    }
    [[nodiscard]] bool owns(const ObjectOwnership& ownership) const noexcept {
        return peer_.has_value() && ownership.has_owner && ownership.owner == *peer_;
    }
    /// What an object with these facts is to the peer, be it the host or a client.
    [[nodiscard]] ObjectRole role_for(PeerId peer,
                                      const ObjectOwnership& ownership) const noexcept {
        ObjectRole role = ownership.role_of(peer);
        if (is(peer)) {
            role.role = NetRole::Authority;
        }
        return role;
    }
    /// Null: there is no host.
    [[nodiscard]] ClientInterest* find_interest() noexcept {
        return seen_.has_value() ? &*seen_ : nullptr;
    }
    /// The world hears of a host once.
    void tell(NetWorld& world) {
        if (peer_.has_value() && !is_told_of_) {
            is_told_of_ = true;
            world.peer_joined(*peer_);
        }
    }

  private:
    InterestManager& interest_;
    MemoryMeters& memory_;
    std::optional<PeerId> peer_;
    std::optional<ClientInterest> seen_;
    bool is_told_of_ = false;
};

}  // namespace replayout
