// SPDX-License-Identifier: MIT
#include "undecided_calls.h"

#include <algorithm>

namespace replayout {

void UndecidedCalls::add(CallOrder order, std::uint32_t parts_under_way) {
    calls_.push_back({order, channel_, parts_under_way});
}

Vector<UndecidedCalls::Call>::iterator UndecidedCalls::find(CallOrder order) noexcept {
    return std::find_if(calls_.begin(), calls_.end(),
                        [&](const Call& call) { return call.order == order; });
}

void UndecidedCalls::forget_decided(std::uint64_t channel) noexcept {
    const bool is_any_under_way = std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
        return call.channel == channel && call.parts_under_way > 0;
    });
    if (!is_any_under_way) {
        const auto end = std::remove_if(calls_.begin(), calls_.end(),
                                        [&](const Call& call) { return call.channel == channel; });
        calls_.erase(end, calls_.end());
    }
}

void UndecidedCalls::delivered(CallOrder order) noexcept {
    const auto call = find(order);
    if (call != calls_.end()) {
        --call->parts_under_way;
        forget_decided(call->channel);
    }
}

std::uint32_t UndecidedCalls::lost(CallOrder order) noexcept {
    const auto call = find(order);
    if (call == calls_.end()) {
        return 0;
    }
    const std::uint64_t channel = call->channel;
    const auto end = std::remove_if(calls_.begin(), calls_.end(), [&](const Call& other) {
        return other.channel == channel && other.order >= order;
    });
    const auto count = static_cast<std::uint32_t>(calls_.end() - end);
    calls_.erase(end, calls_.end());
    forget_decided(channel);
    return count;
}

}  // namespace replayout
