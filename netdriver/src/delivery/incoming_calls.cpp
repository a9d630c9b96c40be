// SPDX-License-Identifier: MIT
#include "incoming_calls.h"

#include <algorithm>

namespace replayout {

namespace {

// For some packets of small calls; what large ones took goes back.
constexpr std::size_t kept_bytes_max = 16 * 1024;

// As a bunch that waits (NetConfig::clients_waiting_bytes_max).
constexpr std::size_t due_call_bytes = 128;

}  // namespace

IncomingCalls::IncomingCalls(const ReceiveLimits& limits, const NetTime& now, WaitingPool* pool,
                             std::uint32_t channels_max, MemoryResource* resource)
    : channels_max_(channels_max),
      resource_(resource),
      account_(limits, now, pool),
      receivers_(resource),
      due_(Allocator<Due>(resource)),
      due_bytes_(Allocator<std::byte>(resource)),
      closed_(resource) {}

CloseReason IncomingCalls::receive(const BunchHeader& header, std::span<const std::byte> payload) {
    REPLAYOUT_ASSERT(header.is_call);
    if (!header.has_sequence()) {
        return handle_message(header, payload);
    }
    const auto found = receivers_.find(header.channel.value);
    if (found != receivers_.end()) {
        return found->second.receive(header, payload, *this);
    }
    if (receivers_.size() >= channels_max_) {
        return CloseReason::TooManyChannels;
    }
    return receivers_.try_emplace(header.channel.value, account_, resource_)
        .first->second.receive(header, payload, *this);
}

CloseReason IncomingCalls::handle_message(const BunchHeader& header,
                                          std::span<const std::byte> payload) {
    drop_closed();  // this call is of the channel's next life
    due_.push_back(
        {header.channel, !header.is_unreliable, false, due_bytes_.size(), payload.size()});
    due_bytes_.insert(due_bytes_.end(), payload.begin(), payload.end());
    return CloseReason::None;
}

DueCall IncomingCalls::take(Due& due) noexcept {
    due.is_taken = true;
    const std::span<const std::byte> bytes(due_bytes_.data(), due_bytes_.size());
    return {due.channel, due.is_reliable, bytes.subspan(due.offset, due.size)};
}

bool IncomingCalls::take_due(DueCall& call) noexcept {
    drop_closed();
    while (next_due_ < due_.size() && due_[next_due_].is_taken) {
        ++next_due_;
    }
    if (next_due_ == due_.size()) {
        drop_due();
        return false;
    }
    call = take(due_[next_due_]);
    return true;
}

void IncomingCalls::put_off() {
    due_[next_due_].is_taken = false;
    // Those before it are done with, and their bytes.
    const std::size_t done_bytes = due_[next_due_].offset;
    due_bytes_.erase(due_bytes_.begin(),
                     due_bytes_.begin() + static_cast<std::ptrdiff_t>(done_bytes));
    due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(next_due_));
    next_due_ = 0;
    for (Due& due : due_) {
        due.offset -= done_bytes;
    }
}

bool IncomingCalls::is_full() const noexcept {
    return due_bytes_.size() + due_.size() * due_call_bytes > account_.limits().bytes_max / 2;
}

bool IncomingCalls::take_due_of(ChannelIndex channel, DueCall& call) noexcept {
    drop_closed();
    const auto due = std::find_if(due_.begin(), due_.end(), [&](const Due& entry) {
        return !entry.is_taken && entry.channel == channel;
    });
    if (due == due_.end()) {
        return false;
    }
    taken_due_ = static_cast<std::size_t>(due - due_.begin());
    call = take(*due);
    return true;
}

void IncomingCalls::put_back() noexcept {
    due_[taken_due_].is_taken = false;
}

std::uint32_t IncomingCalls::drop_due_of(ChannelIndex channel) noexcept {
    drop_closed();
    std::uint32_t count = 0;
    for (Due& due : due_) {
        if (due.channel == channel && !due.is_taken) {
            due.is_taken = true;
            ++count;
        }
    }
    return count;
}

bool IncomingCalls::is_stuck_since(NetTime time) const noexcept {
    // In whatever order: it is asked for any.
    return !account_.is_empty() &&
           std::any_of(receivers_.begin(), receivers_.end(), [time](const auto& receiver) {
               return receiver.second.is_stuck_since(time);
           });
}

std::uint32_t IncomingCalls::stop(ChannelIndex channel) {
    if (account_.is_empty()) {
        return 0;  // most often: nothing waits on any channel
    }
    const auto found = receivers_.find(channel.value);
    if (found == receivers_.end()) {
        return 0;
    }
    const std::uint32_t count = found->second.waiting_messages();
    receivers_.erase(found);
    return count;
}

void IncomingCalls::channel_closed(ChannelIndex channel) {
    receivers_.erase(channel.value);
    if (!due_.empty()) {
        closed_.mark(slot_of(channel));
    }
}

void IncomingCalls::drop_closed() noexcept {
    if (!closed_.is_any()) {
        return;
    }
    for (Due& due : due_) {
        due.is_taken = due.is_taken || closed_.test(slot_of(due.channel));
    }
    closed_.take_all([](ObjectIndex) {});
}

void IncomingCalls::drop_due() noexcept {
    due_.clear();
    due_bytes_.clear();
    if (due_bytes_.capacity() > kept_bytes_max) {
        due_bytes_ = Vector<std::byte>(due_bytes_.get_stored_allocator());
    }
    next_due_ = 0;
    closed_.take_all([](ObjectIndex) {});
}

void IncomingCalls::clear() {
    receivers_.clear();
    drop_due();
}

}  // namespace replayout
