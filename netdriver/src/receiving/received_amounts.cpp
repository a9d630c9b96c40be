// SPDX-License-Identifier: MIT
#include "received_amounts.h"

#include <replayout/dynamic_memory.h>

#include <algorithm>
#include <utility>

namespace replayout {

namespace {

/// What it has, and what all others leave; they may have more than that already.
[[nodiscard]] std::uint32_t room(std::size_t own, std::size_t all, std::size_t all_max,
                                 std::uint32_t max) noexcept {
    const std::size_t left = all < all_max ? all_max - all : 0;
    return static_cast<std::uint32_t>(std::min<std::size_t>(own + left, max));
}

}  // namespace

std::uint32_t ReceivedAmounts::references_max(const ActorChannel& channel) const noexcept {
    return room(channel.reference_count, reference_count_, config_.references_max,
                config_.references_per_object_max);
}

std::uint32_t ReceivedAmounts::kept_bytes_max(const ActorChannel& channel) const noexcept {
    return room(channel.value_bytes, value_bytes_, config_.kept_bytes_max,
                config_.kept_bytes_per_object_max);
}

void ReceivedAmounts::count_references(ActorChannel& channel) noexcept {
    reference_count_ += channel.references.reference_count();
    reference_count_ -=
        std::exchange(channel.reference_count, channel.references.reference_count());
    value_bytes_ += channel.references.value_bytes();
    value_bytes_ -= std::exchange(channel.value_bytes, channel.references.value_bytes());
}

std::uint64_t ReceivedAmounts::bytes_left() const noexcept {
    return config_.dynamic_bytes_max -
           std::min<std::uint64_t>(config_.dynamic_bytes_max, dynamic_bytes_);
}

void ReceivedAmounts::count_bytes(ActorChannel& channel, const void* object, std::uint64_t asked) {
    if (asked == 0) {
        return;
    }
    // `asked` counts a value each time it is written, and never subtracts. So the real size is
    // measured when the count has doubled, which costs about as much as what was asked for since.
    constexpr std::uint64_t measured_again_at = 64;
    std::uint64_t bytes = channel.dynamic_bytes + asked;
    if (bytes > 2 * channel.measured_bytes + measured_again_at) {
        channel.measured_bytes =
            dynamic_bytes(*channel.layout, object) + world_.kept_bytes(channel.object);
        bytes = channel.measured_bytes;
    }
    dynamic_bytes_ += bytes;
    dynamic_bytes_ -= std::exchange(channel.dynamic_bytes, bytes);
}

void ReceivedAmounts::forget_bytes(ActorChannel& channel) noexcept {
    dynamic_bytes_ -= std::exchange(channel.dynamic_bytes, 0);
    channel.measured_bytes = 0;
}

}  // namespace replayout
