// SPDX-License-Identifier: MIT
//
// The open of an object as a bunch, laid down once and copied for each client that is neither its
// owner nor anything else that is special to it. It never changes. A connection that sent it holds
// it until it knows what became of the packet, as the bunch may have to go out again when the
// object is gone.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class OpenBunch {
  public:
    /// Lays it down. It is held once, by the caller.
    [[nodiscard]] static OpenBunch* make(ChannelIndex channel, std::span<const std::byte> payload,
                                         MemoryResource* resource);

    [[nodiscard]] static BunchHeader header_of(ChannelIndex channel) noexcept {
        BunchHeader header;
        header.channel = channel;
        header.is_open = true;
        return header;
    }
    /// Bytes that the open of a channel takes of a packet.
    [[nodiscard]] static std::size_t byte_count(ChannelIndex channel,
                                                std::size_t payload_bytes) noexcept {
        BunchHeader header = header_of(channel);
        header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
        return bunch_header_bytes(header) + payload_bytes;
    }

    /// Header and payload.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {memory(), byte_count_};
    }
    [[nodiscard]] std::span<const std::byte> payload() const noexcept {
        return bytes().subspan(payload_begin_);
    }
    /// From any thread.
    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    /// On the driver's thread. The bunch is gone when nobody holds it.
    void release() noexcept {
        if (holders_.fetch_sub(1, std::memory_order_relaxed) == 1) {
            free();
        }
    }

  private:
    OpenBunch(std::size_t byte_count, std::size_t payload_begin, MemoryResource* resource) noexcept
        : resource_(resource),
          byte_count_(static_cast<std::uint16_t>(byte_count)),
          payload_begin_(static_cast<std::uint16_t>(payload_begin)) {}

    // The bytes of the bunch follow the object in memory.
    [[nodiscard]] const std::byte* memory() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
    [[nodiscard]] std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    void free() noexcept;

    MemoryResource* resource_;
    std::atomic<std::uint32_t> holders_{1};
    std::uint16_t byte_count_;
    std::uint16_t payload_begin_;
};

}  // namespace replayout
