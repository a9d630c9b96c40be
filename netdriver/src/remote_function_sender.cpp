// SPDX-License-Identifier: MIT
#include "remote_function_sender.h"

#include <algorithm>
#include <utility>

#include "reliable_receiver.h"

namespace replayout {

namespace {

// A call is not larger than a packet.
constexpr std::size_t pooled_bytes_max = 2 * 1024;

}  // namespace

RemoteFunctionSender::RemoteFunctionSender(const NetConfig& config, MemoryResource* resource)
    : calls_max_(config.calls_waiting_max),
      reliable_max_(
          std::min<std::uint64_t>(config.calls_waiting_max, reliable_window(config).bunches)),
      reliable_bytes_max_(reliable_window(config).bytes),
      memory_(std::pmr::pool_options{0, pooled_bytes_max}, resource),
      calls_(&memory_),
      next_sequences_(Allocator<std::pair<std::uint32_t, std::uint16_t>>(resource)) {}

bool RemoteFunctionSender::has_room_for(bool is_reliable,
                                        std::size_t payload_bytes) const noexcept {
    if (calls_.size() >= calls_max_) {
        return false;
    }
    return !is_reliable || (reliable_count_ < reliable_max_ &&
                            reliable_bytes_ + payload_bytes <= reliable_bytes_max_);
}

bool RemoteFunctionSender::has_calls(ChannelIndex channel) const noexcept {
    return std::any_of(calls_.begin(), calls_.end(),
                       [&](const OutgoingCall& call) { return call.channel == channel; });
}

std::uint32_t RemoteFunctionSender::queued_count(ChannelIndex channel,
                                                 FunctionIndex function) const noexcept {
    return static_cast<std::uint32_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const OutgoingCall& call) {
            return call.is_queued && call.channel == channel && call.function == function;
        }));
}

OutgoingCall& RemoteFunctionSender::add(ChannelIndex channel, FunctionIndex function,
                                        bool is_reliable, std::span<const std::byte> payload) {
    REPLAYOUT_ASSERT(has_room_for(is_reliable, payload.size()));
    OutgoingCall& call = calls_.emplace_back(&memory_);
    call.order = CallOrder{next_order_++};
    call.channel = channel;
    call.function = function;
    call.is_reliable = is_reliable;
    call.payload.assign(payload.begin(), payload.end());
    if (is_reliable) {
        call.sequence =
            next_sequences_.try_emplace(channel.value, std::uint16_t{1}).first->second++;
        ++reliable_count_;
        reliable_bytes_ += payload.size();
    }
    return call;
}

void RemoteFunctionSender::take_back() {
    const OutgoingCall& call = calls_.back();
    REPLAYOUT_ASSERT(!call.was_sent);
    if (call.is_reliable) {
        --next_sequences_.at(call.channel.value);
    }
    (void)erase(std::prev(calls_.end()));
}

RemoteFunctionSender::Calls::iterator RemoteFunctionSender::erase(Calls::iterator call) {
    if (call->is_reliable) {
        --reliable_count_;
        reliable_bytes_ -= call->payload.size();
    }
    return calls_.erase(call);
}

RemoteFunctionSender::Calls::iterator RemoteFunctionSender::sent(Calls::iterator call) {
    if (!call->is_reliable) {
        return erase(call);
    }
    call->is_in_flight = true;
    call->was_sent = true;
    return std::next(call);
}

RemoteFunctionSender::Calls::iterator RemoteFunctionSender::find(CallOrder order) noexcept {
    return std::find_if(calls_.begin(), calls_.end(),
                        [&](const OutgoingCall& call) { return call.order == order; });
}

void RemoteFunctionSender::delivered(CallOrder order) {
    const auto call = find(order);
    if (call != calls_.end()) {
        (void)erase(call);
    }
}

void RemoteFunctionSender::lost(CallOrder order) {
    const auto call = find(order);
    if (call != calls_.end()) {
        call->is_in_flight = false;
    }
}

std::uint32_t RemoteFunctionSender::drop_channel(ChannelIndex channel) {
    std::uint32_t count = 0;
    for (auto call = calls_.begin(); call != calls_.end();) {
        if (call->channel == channel) {
            call = erase(call);
            ++count;
        } else {
            ++call;
        }
    }
    next_sequences_.erase(channel.value);
    return count;
}

}  // namespace replayout
