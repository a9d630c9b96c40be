// SPDX-License-Identifier: MIT
#include "reliable_account.h"

#include <replayout/netdriver/bunch.h>

namespace replayout {

ReceiveLimits ReceiveLimits::of_server(const NetConfig& config) noexcept {
    return {.bunches_max = config.reliable_waiting_max,
            .bytes_max = config.reliable_waiting_bytes_max,
            .message_bytes_max = config.bunch_bytes_max,
            .call_bytes_max = config.call_bytes_max,
            .part_bytes = fragment_bytes(config.packet_bytes_max),
            .first_sequence = static_cast<std::uint16_t>(config.first_sequence)};
}

ReceiveLimits ReceiveLimits::of_client(const NetConfig& config) noexcept {
    return {.bunches_max = config.client_waiting_max,
            .bytes_max = config.client_waiting_bytes_max,
            .message_bytes_max = 0,
            .call_bytes_max = config.client_call_bytes_max,
            .part_bytes = fragment_bytes(config.packet_bytes_max),
            .first_sequence = static_cast<std::uint16_t>(config.first_sequence)};
}

ReceiveLimits ReceiveLimits::of_client_control(const NetConfig& config) noexcept {
    // None waits: the hello comes first, or there is no connection, and the goodbye next.
    const std::size_t part_bytes = fragment_bytes(config.packet_bytes_max);
    return {.bunches_max = 0,
            .bytes_max = part_bytes,
            .message_bytes_max = part_bytes,
            .call_bytes_max = 0,
            .part_bytes = part_bytes,
            .first_sequence = static_cast<std::uint16_t>(config.first_sequence)};
}

bool ReliableAccount::take(std::uint32_t bunches, std::size_t payload_bytes) noexcept {
    if (payload_bytes > limits_.bytes_max - bytes_) {
        return false;
    }
    if (pool_ != nullptr) {
        const std::size_t needed = pooled(bunches_ + bunches, bytes_ + payload_bytes);
        if (!pool_->take(needed - pooled_bytes_)) {
            return false;
        }
        pooled_bytes_ = needed;
    }
    bunches_ += bunches;
    bytes_ += payload_bytes;
    return true;
}

void ReliableAccount::give_back(std::uint32_t bunches, std::size_t payload_bytes) noexcept {
    REPLAYOUT_ASSERT(bunches <= bunches_ && payload_bytes <= bytes_);
    bunches_ -= bunches;
    bytes_ -= payload_bytes;
    if (pool_ != nullptr) {
        const std::size_t needed = pooled(bunches_, bytes_);
        pool_->give_back(pooled_bytes_ - needed);
        pooled_bytes_ = needed;
    }
}

}  // namespace replayout
