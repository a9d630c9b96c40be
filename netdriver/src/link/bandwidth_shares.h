// SPDX-License-Identifier: MIT
//
// The cap of a connection, in bytes a second, and which of its shares may begin a packet: the cap
// that was set, or the rate of congestion control where that is lower (CongestionRate), divided by
// BandwidthBudget. A share keeps its part of the cap from the others while it has something to
// send: bunches that wait here, or what the sender of objects and calls has (set_wanted()).
#pragma once

#include <replayout/netdriver/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "bandwidth_budget.h"
#include "congestion_rate.h"
#include "reliable_sender.h"

namespace replayout {

class BandwidthShares {
  public:
    /// `reliable` outlives this.
    BandwidthShares(std::uint32_t bytes_per_second_max, bool has_congestion_control,
                    std::size_t packet_bytes_max, const ReliableSender& reliable) noexcept;

    // The cap.

    /// Begins without anything to spend, whatever the cap is or will be. So do sessions of a peer
    /// that follow each other, so that beginning anew makes no cap larger.
    void begin_in_debt() noexcept { budget_.begin_in_debt(); }
    /// Sets the cap. 0: none.
    void set_bytes_per_second_max(std::uint32_t bytes) noexcept;
    [[nodiscard]] std::uint32_t bytes_per_second_max() const noexcept {
        return bytes_per_second_max_;
    }
    /// Returns whether there is a cap, or congestion control, whose rate is one.
    [[nodiscard]] bool is_capped() const noexcept { return budget_.cap() != 0; }
    [[nodiscard]] bool has_congestion_control() const noexcept { return congestion_.has_value(); }
    /// Returns the cap or the rate, whichever is lower. 0: none.
    [[nodiscard]] std::uint32_t effective_cap() const noexcept { return budget_.cap(); }
    /// Returns 0 without congestion control, and before the first answer.
    [[nodiscard]] std::uint32_t round_trip_us() const noexcept {
        return congestion_.has_value() ? congestion_->round_trip_us() : 0;
    }
    void begin_flush(NetTime now) noexcept {
        if (congestion_.has_value()) {
            follow_congestion();
        }
        budget_.begin_flush(now);
    }

    // The shares.

    /// Says whether State or Joins pays for packets of objects that begin from now on.
    void set_objects_share(BudgetShare share) noexcept { objects_share_ = share; }
    [[nodiscard]] BudgetShare objects_share() const noexcept { return objects_share_; }
    /// Returns which share pays for a packet that begins now.
    [[nodiscard]] BudgetShare share_of(PacketUse use) const noexcept {
        switch (use) {
            case PacketUse::Messages:
                return BudgetShare::Messages;
            case PacketUse::Values:
                return BudgetShare::Values;
            case PacketUse::Objects:
                break;
        }
        return objects_share_;
    }
    /// Says whether there is something to send for a share, apart from the bunches that wait.
    void set_wanted(BudgetShare share, bool is_wanted) noexcept;
    /// Keeps nothing from other shares but for bunches: what else waits cannot use its own.
    void set_none_wanted() noexcept;
    /// Looks again at the bunches that wait.
    void refresh_wanted() noexcept;
    /// All shares had their turn in this flush, also bunches that may be sent and found no room:
    /// what is left of the cap is for the next that is written.
    void share_what_is_left() noexcept;

    /// Returns whether any packet may go out.
    [[nodiscard]] bool has_any() const noexcept { return budget_.has_any(); }
    /// Returns whether a packet of that share may begin.
    [[nodiscard]] bool may_begin(PacketUse use) const noexcept {
        return budget_.may_begin(share_of(use));
    }
    /// Returns what blocks may spend, headers of their packets included. Requires a cap.
    [[nodiscard]] std::uint32_t bytes_left_for_objects() const noexcept {
        return budget_.bytes_left(objects_share_);
    }
    /// Returns how many packets of values may begin one after another.
    [[nodiscard]] std::uint32_t packets_left_for_values() const noexcept {
        return is_capped() ? budget_.packets_left(BudgetShare::Values, packet_bytes_max_)
                           : std::numeric_limits<std::uint32_t>::max();
    }

    // What becomes of packets.

    /// A packet with content goes out.
    void sent(BudgetShare share, std::uint64_t sequence, std::size_t bytes) noexcept {
        budget_.spend(share, bytes);
        if (congestion_.has_value()) {
            congestion_->sent(sequence);
        }
    }
    /// A packet without content goes out.
    void empty_sent(std::size_t bytes) noexcept { budget_.spend(bytes); }
    /// A packet with content arrived, or was lost.
    void delivered(std::uint64_t sequence, NetTime sent, NetTime now) noexcept {
        if (congestion_.has_value()) {
            congestion_->delivered(sequence, sent, now);
        }
    }
    void lost(std::uint64_t sequence) noexcept {
        if (congestion_.has_value()) {
            congestion_->lost(sequence);
        }
    }

  private:
    /// Brings the cap to the rate of congestion control.
    void follow_congestion() noexcept;
    void update_cap() noexcept;
    void update_wanted(BudgetShare share) noexcept;
    [[nodiscard]] bool may_send_bunches(BudgetShare share) const noexcept;

    const ReliableSender& reliable_;
    std::size_t packet_bytes_max_;
    // Its flag, which each flush reads, lies last in it, and so next to the budget.
    std::optional<CongestionRate> congestion_;
    BandwidthBudget budget_;
    std::uint32_t bytes_per_second_max_;
    BudgetShare objects_share_ = BudgetShare::State;
    std::array<bool, budget_share_count> is_wanted_{};  // apart from bunches
};

}  // namespace replayout
