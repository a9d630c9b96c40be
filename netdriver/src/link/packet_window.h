// SPDX-License-Identifier: MIT
//
// How many packets with content may be under way to one peer, and how many of them are for objects,
// messages and values (PacketUse). A packet counts for what was written to it first.
//
//     of 224    for certain        at most, beside the others
//     objects   56, kept free      168, or all while no value waits
//     values    56, once one waits 168
//     messages  -                  112, or 168 while no value waits; they go before values
//
// All but values also waits while what is under way costs too much to resolve, because one packet
// of acks may resolve all of it (FateCost). And everything waits if too few of the sent packets
// arrived (ArrivalCredit).
//
// Calls count for messages, and their parts, where they have any, for values.
//
// Without a cap, under any flood of bunches, an object that changes goes out at once, if few do; if
// many do, they take turns in at least 56 packets a round trip. Values get what is theirs for
// certain back packet by packet, from what is acknowledged.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival_credit.h"
#include "fate_cost.h"
#include "reliable_sender.h"

namespace replayout {

class PacketWindow {
  public:
    explicit PacketWindow(std::uint32_t lost_packets_per_second_max) noexcept
        : credit_(lost_packets_per_second_max) {}

    /// Returns how many packets of `share` may go out now. `numbers_left`: how many more packets
    /// with content PacketNotify has numbers for.
    [[nodiscard]] std::uint32_t packets_for(PacketUse use, std::uint32_t numbers_left,
                                            const ReliableSender& reliable) const noexcept {
        if ((use == PacketUse::Objects && !fate_cost_.has_room_for_objects()) ||
            (use == PacketUse::Messages && !fate_cost_.has_room_for_messages())) {
            return 0;
        }
        std::uint32_t kept = 0;
        if (use != PacketUse::Objects && has_objects_) {
            kept += packets_kept_for(PacketUse::Objects);
        }
        if (use != PacketUse::Values && !reliable.is_idle() &&
            reliable.waiting_count(PacketUse::Values) > 0 && reliable.may_send(PacketUse::Values)) {
            kept += packets_kept_for(PacketUse::Values);
        }
        const std::uint32_t sendable = std::min(numbers_left, credit_.packets());
        return sendable - std::min(sendable, kept);
    }

    // What becomes of packets with content.

    void sent(PacketUse use, std::uint32_t count) noexcept {
        in_flight(use) += count;
        credit_.sent(count);
    }
    void arrived(PacketUse use, std::uint32_t count) noexcept {
        in_flight(use) -= count;
        credit_.arrived(count);
    }
    void lost(PacketUse use) noexcept { --in_flight(use); }

    /// The cost of resolving all that is under way.
    [[nodiscard]] FateCost& fate_cost() noexcept { return fate_cost_; }
    [[nodiscard]] const FateCost& fate_cost() const noexcept { return fate_cost_; }
    /// The same, in units of FateCost.
    [[nodiscard]] std::uint32_t fate_units() const noexcept { return fate_cost_.units(); }
    /// The packets that may be sent without arriving.
    [[nodiscard]] ArrivalCredit& credit() noexcept { return credit_; }

    /// Returns whether packets are kept for objects, which they are until the connection closes.
    [[nodiscard]] bool has_objects() const noexcept { return has_objects_; }
    /// Keeps no packets for objects from now on.
    void end_objects() noexcept { has_objects_ = false; }

  private:
    /// Packets under way that objects always get, and values when some wait: a quarter of them.
    static constexpr std::uint32_t packets_for_certain = 56;

    /// Returns how many more packets of that share are for certain.
    [[nodiscard]] std::uint32_t packets_kept_for(PacketUse use) const noexcept {
        const std::uint32_t held = in_flight_[static_cast<std::size_t>(use)];
        return held < packets_for_certain ? packets_for_certain - held : 0;
    }
    [[nodiscard]] std::uint32_t& in_flight(PacketUse use) noexcept {
        return in_flight_[static_cast<std::size_t>(use)];
    }

    std::array<std::uint32_t, share_count> in_flight_{};  // packets with content
    FateCost fate_cost_;
    ArrivalCredit credit_;
    bool has_objects_ = true;
};

}  // namespace replayout
