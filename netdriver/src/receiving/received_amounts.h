// SPDX-License-Identifier: MIT
//
// What the objects of a client hold by the word of its server, for the limits of all objects
// together: references, values that name objects, and the memory of arrays and texts.
#pragma once

#include <replayout/netdriver/net_config.h>
#include <replayout/receive_properties.h>

#include "actor_channel.h"
#include "client_world.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

class ReceivedAmounts {
  public:
    ReceivedAmounts(const NetConfig& config, ClientWorld& world) noexcept
        : config_(config), world_(world) {}

    /// How many more references the object may have, with what it has.
    [[nodiscard]] std::uint32_t references_max(const ActorChannel& channel) const noexcept;
    /// Likewise of the bytes of values that name objects.
    [[nodiscard]] std::uint32_t kept_bytes_max(const ActorChannel& channel) const noexcept;
    /// Counts what the channel's references are now.
    void count_references(ActorChannel& channel) noexcept;

    /// Bytes that arrays and texts of all objects may still take.
    [[nodiscard]] std::uint64_t bytes_left() const noexcept;
    [[nodiscard]] bool is_over_limit() const noexcept {
        return dynamic_bytes_ > config_.dynamic_bytes_max;
    }
    /// A block or a call made arrays and texts of `object`, or what the world keeps beside them,
    /// ask for `asked` more bytes.
    void count_bytes(ActorChannel& channel, const void* object, std::uint64_t asked);
    /// The object goes.
    void forget_bytes(ActorChannel& channel) noexcept;

  private:
    const NetConfig& config_;
    ClientWorld& world_;
    std::size_t reference_count_ = 0;
    std::size_t value_bytes_ = 0;
    std::uint64_t dynamic_bytes_ = 0;
};

}  // namespace replayout
