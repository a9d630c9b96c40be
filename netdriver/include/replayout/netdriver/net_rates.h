// SPDX-License-Identifier: MIT
//
// How often a server looks at its objects: a part of NetDriver.
//
//     server.rates().set_net_update_frequency(*pawn_layout, {30, 5});
//     server.rates().set_net_update_frequency(crate, {2});
//     server.rates().force_net_update(crate);         // the next flush has it
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_update_frequency.h>
#include <replayout/rep_layout.h>

namespace replayout {

class ReplicationServer;

/// Of the server that gave it, and no longer. Its functions that are not const may be called where
/// the driver's may.
class NetRates {
  public:
    // Update frequency. In the ticks in between an object is neither looked at nor compared, and
    // marks of it wait. What does not wait: its first look, and one that is forced, also by what
    // its dormancy, its tear-off or a switch of a property says, or by a call that means it; what
    // was lost, and opens, of what it was at the last look; closes.

    /// Objects of the class that are added from now on; every tick at first. A subobject has that
    /// of its outer.
    void set_net_update_frequency(const RepLayout& layout, const NetUpdateFrequency& frequency);
    /// The object and its parts. Forces a look. O(parts).
    void set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency);
    [[nodiscard]] NetUpdateFrequency net_update_frequency_of(NetObjectId id) const;
    /// The object and its parts are looked at in the next tick_flush(); dormant ones are flushed
    /// (NetDriver::flush_dormancy). What is push based is compared where it is marked. O(parts).
    void force_net_update(NetObjectId id);

  private:
    friend class NetDriver;
    NetRates(ReplicationServer& server, const bool& is_calling_out) noexcept
        : server_(server), is_calling_out_(is_calling_out) {}

    ReplicationServer& server_;
    const bool& is_calling_out_;
};

}  // namespace replayout
