// SPDX-License-Identifier: MIT
#include "bandwidth_budget.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <utility>

#include "packet_builder.h"

namespace replayout {

namespace {

constexpr std::int64_t largest_packet = PacketBuilder::packet_bytes_limit;

}  // namespace

std::int64_t BandwidthBudget::credit_max() const noexcept {
    // While the bucket owes a packet a share may not use what it gets, and keeps it.
    return (depth_ + largest_packet * unit) / static_cast<std::int64_t>(budget_share_count);
}

void BandwidthBudget::set_cap(std::uint32_t cap) noexcept {
    cap_ = cap;
    if (cap == 0) {
        return;  // the next may be set before anything was sent without it
    }
    flow_ = std::int64_t{cap} * 29 / 32;
    depth_ = std::int64_t{cap} * unit * 3 / 32;
    level_ = is_refilled_ ? depth_ : std::min(level_, depth_);
    is_refilled_ = false;
    for (ShareState& share : shares_) {
        share.credit = std::min(share.credit, credit_max());
    }
}

void BandwidthBudget::begin_in_debt() noexcept {
    level_ = -largest_packet * unit;
    is_refilled_ = false;
}

void BandwidthBudget::begin_flush(NetTime now) noexcept {
    const NetTime before = std::exchange(last_, now);
    const bool is_first = !std::exchange(has_begun_, true);
    is_refilled_ = cap_ == 0;
    if (cap_ == 0 || is_first || now <= before) {
        return;
    }
    const std::int64_t elapsed_us = now.microseconds_since(before);
    // Beyond the time that fills the bucket, and pays what any share owes, time makes no
    // difference. A share is paid while the bucket is full, too: it may be full because others
    // leave their own.
    const auto share_count = static_cast<std::int64_t>(budget_share_count);
    const std::int64_t credit_range = credit_max() + largest_packet * unit;
    const std::int64_t missing = std::max(depth_ - level_, credit_range * share_count);
    const std::int64_t flowed = std::min(elapsed_us, missing / flow_ + 1) * flow_;
    level_ = std::min(level_ + flowed, depth_);
    for (ShareState& share : shares_) {
        share.credit = std::min(share.credit + flowed / share_count, credit_max());
    }
}

std::int64_t BandwidthBudget::left(BudgetShare share) const noexcept {
    std::int64_t kept = 0;
    for (const ShareState& other : shares_) {
        kept += other.is_wanted ? std::max<std::int64_t>(other.credit, 0) : 0;
    }
    const std::int64_t own = shares_[static_cast<std::size_t>(share)].credit;
    return std::min(level_, std::max(own, level_ - kept));
}

bool BandwidthBudget::may_begin(BudgetShare share) const noexcept {
    return cap_ == 0 || left(share) > 0;
}

std::uint32_t BandwidthBudget::bytes_left(BudgetShare share) const noexcept {
    REPLAYOUT_ASSERT(cap_ != 0);
    return static_cast<std::uint32_t>(std::max<std::int64_t>(left(share), 0) / unit);
}

std::uint32_t BandwidthBudget::packets_left(BudgetShare share,
                                            std::size_t packet_bytes) const noexcept {
    REPLAYOUT_ASSERT(cap_ != 0 && packet_bytes > 0);
    const std::int64_t cost = static_cast<std::int64_t>(packet_bytes) * unit;
    const std::int64_t units = std::max<std::int64_t>(left(share), 0);
    return static_cast<std::uint32_t>((units + cost - 1) / cost);
}

void BandwidthBudget::spend(BudgetShare share, std::size_t bytes) noexcept {
    spend(bytes);
    if (cap_ != 0) {
        // What nobody else wanted is not held against it for longer than a packet takes.
        std::int64_t& credit = shares_[static_cast<std::size_t>(share)].credit;
        credit = std::max(credit - static_cast<std::int64_t>(bytes) * unit, -largest_packet * unit);
    }
}

void BandwidthBudget::spend(std::size_t bytes) noexcept {
    if (cap_ != 0) {
        level_ -= static_cast<std::int64_t>(bytes) * unit;
    }
}

}  // namespace replayout
