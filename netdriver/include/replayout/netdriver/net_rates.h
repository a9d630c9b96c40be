// SPDX-License-Identifier: MIT
//
// How often a server looks at its objects, how much it sends to a client, and what first: a part of
// NetDriver.
//
//     server.rates().set_class_net_update_frequency(*pawn_layout, {30, 5});
//     server.rates().set_net_update_frequency(crate, {2});
//     server.rates().force_net_update(crate);         // the next flush has it
//     server.rates().set_bytes_per_second_max(peer, 30'000);
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_update_frequency.h>
#include <replayout/netdriver/transport.h>
#include <replayout/rep_layout.h>

#include <cstdint>

namespace replayout {

struct DriverEnd;
class ReplicationServer;

/// What a server may send to one client.
struct NetBandwidth {
    std::uint32_t bytes_per_second_max = 0;  ///< as it was set; 0: no cap
    /// What holds now: that, or the rate of congestion control where it is less. 0: no limit.
    std::uint32_t bytes_per_second = 0;
    /// Of packets and their acks, smoothed. 0 without congestion control, or before the first ack.
    std::uint32_t round_trip_us = 0;
};

/// Why a client does not have all that an object is.
enum class OwedReason : std::uint8_t {
    Nothing,      ///< it has, as of the last look, or it is on its way
    NotJoined,    ///< there is no such client
    NotRelevant,  ///< by its rule, or Interest::set_relevant_for
    Dormant,      ///< it has what the object was when it went dormant
    Joining,      ///< the object waits for its turn in the initial batch
    /// Its outer, one that a value names, or one that had its place, or its stable name, before; or
    /// a call that waits for what the object was, which goes first.
    WaitsForObject,
    /// It waits for the next flush or, where it has a frequency and was marked, for its next look.
    NotDue,
    SteppedDown,  ///< the cap was reached, and the object is sent more rarely
    NoBudget,     ///< it was its turn, and the cap was reached before it
    /// All packets are in flight, or the objects' share of them, or as many opens as may be.
    WindowFull,
};

struct OwedUpdate {
    OwedReason reason = OwedReason::Nothing;
    /// In the last flush the client was sent the object in one of 2^step_down of its ticks.
    std::uint32_t step_down = 0;
};

/// Of the server that gave it, and no longer. An id is one that this driver gave and that was not
/// removed, and no part unless said; a layout is one that was added to the driver. Functions that
/// are not const may be called where the driver's may, those that are at any time.
class NetRates {
  public:
    // Update frequency, which NetUpdateFrequency::is_valid(). In the ticks in between an object is
    // neither looked at nor compared, and marks of it wait. What does not wait: its first look, and
    // one that is forced, also by what its dormancy, its tear-off or a switch of a property says,
    // or by a call that means it; what was lost, and opens, of what it was at the last look;
    // closes.

    /// Objects of the class that are added from now on; every tick at first. A subobject has that
    /// of its outer.
    void set_class_net_update_frequency(const RepLayout& layout,
                                        const NetUpdateFrequency& frequency);
    /// The object and its parts. Forces a look. O(parts).
    void set_net_update_frequency(NetObjectId id, const NetUpdateFrequency& frequency);
    /// Of a part, too.
    [[nodiscard]] NetUpdateFrequency net_update_frequency_of(NetObjectId id) const;
    /// The object and its parts are looked at in the next tick_flush(); dormant ones are flushed
    /// (NetDriver::flush_dormancy). What is push based is compared where it is marked. Where a cap
    /// is reached, what changed does not step down, this once: it goes as soon as what was missed
    /// before it, and what has a higher priority, has gone. O(parts x connections).
    void force_net_update(NetObjectId id);

    /// Of one client, from now until its connection ends, instead of
    /// NetConfig::bytes_per_second_max: 1,800 to 1,000,000,000, or 0. Nothing when there is none.
    void set_bytes_per_second_max(PeerId peer, std::uint32_t bytes);
    /// Nothing but zeros when there is no such connection.
    [[nodiscard]] NetBandwidth bandwidth_of(PeerId peer) const;

    // Priority: who goes first, and how often, where a cap is reached. It is above 0 and rounded
    // down to a power of two, 1/16 at least and 8 at most; 1 at first. With twice the priority an
    // object goes before others, and has its turn twice as often where both step down. It is sent
    // about twice as often then: less at the lowest priorities, which have what room is left, and
    // up to three times at the highest, which do not step down at all while there is room for them.

    /// Objects of the class that are added from now on. A subobject has that of its outer.
    void set_class_net_priority(const RepLayout& layout, float priority);
    /// The object and its parts.
    void set_net_priority(NetObjectId id, float priority);
    /// Beyond this distance from a client's viewer an object has half of its priority for that
    /// client, beyond twice of it a quarter, and so on; 0, as at first: wherever it is.
    /// Interest::set_location, set_viewer. Not negative.
    void set_priority_distance(float distance);
    /// What a client lacks of an object, or of a part, as of the last tick_flush(), and why.
    /// O(values that wait).
    [[nodiscard]] OwedUpdate owed_to(PeerId peer, NetObjectId id) const;

  private:
    friend class NetDriver;
    NetRates(ReplicationServer* server, const bool& is_calling_out) noexcept
        : server_(server), is_calling_out_(is_calling_out) {}

    [[nodiscard]] DriverEnd end() const noexcept;

    ReplicationServer* server_;  // null: the driver does not serve, and all is refused
    const bool& is_calling_out_;
};

}  // namespace replayout
