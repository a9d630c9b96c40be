// SPDX-License-Identifier: MIT
#include "kept_calls.h"

#include <utility>

namespace replayout {

KeptCalls::KeptCalls(const ReceiveLimits& limits, const NetTime& now, MemoryResource* resource)
    : resource_(resource), account_(limits, now), calls_(resource) {}

KeptCalls::~KeptCalls() {
    clear();
}

bool KeptCalls::keep(const DueCall& call) {
    if (!account_.take_bunch(call.payload.size())) {
        return false;
    }
    Calls& calls = calls_.try_emplace(call.channel).first->second;
    Vector<std::byte>& kept =
        calls.emplace_back(Vector<std::byte>(Allocator<std::byte>(resource_)));
    kept.assign(call.payload.begin(), call.payload.end());
    return true;
}

std::span<const std::byte> KeptCalls::first(ChannelIndex channel) const noexcept {
    const auto found = calls_.find(channel);
    REPLAYOUT_ASSERT(found != calls_.end());
    return {found->second.front().data(), found->second.front().size()};
}

Vector<std::byte> KeptCalls::take(ChannelIndex channel) {
    const auto found = calls_.find(channel);
    REPLAYOUT_ASSERT(found != calls_.end());
    Vector<std::byte> taken = std::move(found->second.front());
    account_.give_back(1, taken.size());
    found->second.pop_front();
    if (found->second.empty()) {
        calls_.erase(found);
    }
    return taken;
}

bool KeptCalls::find_next(ChannelIndex& channel) const noexcept {
    const auto found = calls_.lower_bound(channel);
    if (found == calls_.end()) {
        return false;
    }
    channel = found->first;
    return true;
}

std::uint32_t KeptCalls::drop(ChannelIndex channel) noexcept {
    const auto found = calls_.find(channel);
    if (found == calls_.end()) {
        return 0;
    }
    for (const Vector<std::byte>& call : found->second) {
        account_.give_back(1, call.size());
    }
    const auto count = static_cast<std::uint32_t>(found->second.size());
    calls_.erase(found);
    return count;
}

void KeptCalls::clear() noexcept {
    while (!calls_.empty()) {
        (void)drop(calls_.begin()->first);
    }
}

}  // namespace replayout
