// SPDX-License-Identifier: MIT
#include "bandwidth_shares.h"

#include <algorithm>

namespace replayout {

namespace {

constexpr std::array all_shares{BudgetShare::State, BudgetShare::Joins, BudgetShare::Messages,
                                BudgetShare::Values};
static_assert(all_shares.size() == budget_share_count);

}  // namespace

BandwidthShares::BandwidthShares(std::uint32_t bytes_per_second_max, bool has_congestion_control,
                                 std::size_t packet_bytes_max,
                                 const ReliableSender& reliable) noexcept
    : reliable_(reliable),
      packet_bytes_max_(packet_bytes_max),
      budget_(bytes_per_second_max),
      bytes_per_second_max_(bytes_per_second_max) {
    if (has_congestion_control) {
        congestion_.emplace(packet_bytes_max);
        update_cap();
    }
}

void BandwidthShares::set_bytes_per_second_max(std::uint32_t bytes) noexcept {
    bytes_per_second_max_ = bytes;
    update_cap();
}

void BandwidthShares::update_cap() noexcept {
    std::uint32_t cap = bytes_per_second_max_;
    if (congestion_.has_value()) {
        const std::uint32_t rate = congestion_->bytes_per_second();
        cap = cap == 0 ? rate : std::min(cap, rate);
    }
    if (cap != budget_.cap()) {
        budget_.set_cap(cap);
    }
}

void BandwidthShares::follow_congestion() noexcept {
    // The rate as it is now held the flush before up, and not a rate of before, or the cap that was
    // set.
    if (!budget_.has_any() && budget_.cap() == congestion_->bytes_per_second()) {
        congestion_->limited();
    }
    update_cap();
}

void BandwidthShares::set_wanted(BudgetShare share, bool is_wanted) noexcept {
    is_wanted_[static_cast<std::size_t>(share)] = is_wanted;
    update_wanted(share);
}

void BandwidthShares::set_none_wanted() noexcept {
    for (const BudgetShare share : all_shares) {
        set_wanted(share, false);
    }
}

void BandwidthShares::refresh_wanted() noexcept {
    for (const BudgetShare share : {BudgetShare::State, BudgetShare::Messages,
                                    BudgetShare::Values}) {  // no bunch is of Joins
        update_wanted(share);
    }
}

void BandwidthShares::share_what_is_left() noexcept {
    for (const BudgetShare share : all_shares) {
        budget_.set_wanted(share, false);
    }
}

bool BandwidthShares::may_send_bunches(BudgetShare share) const noexcept {
    switch (share) {
        case BudgetShare::State:
            return reliable_.may_send(PacketUse::Objects);
        case BudgetShare::Joins:
            return false;
        case BudgetShare::Messages:
            return reliable_.may_send(PacketUse::Messages) || reliable_.sendable_closes() > 0;
        case BudgetShare::Values:
            return reliable_.may_send(PacketUse::Values);
    }
    return false;
}

void BandwidthShares::update_wanted(BudgetShare share) noexcept {
    if (is_capped()) {
        budget_.set_wanted(share,
                           is_wanted_[static_cast<std::size_t>(share)] || may_send_bunches(share));
    }
}

}  // namespace replayout
