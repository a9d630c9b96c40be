// SPDX-License-Identifier: MIT
//
// The close of a channel as a bunch. Many go out where objects come and go, and all of them look
// alike, so its few bytes are written at once.
#pragma once

#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/channel_close_reason.h>

#include "packet_builder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Bytes of the payload of a close: its reason.
inline constexpr std::size_t close_payload_bytes = 1;

[[nodiscard]] inline BunchHeader close_header(ChannelIndex channel,
                                              std::uint16_t sequence) noexcept {
    BunchHeader header;
    header.channel = channel;
    header.is_close = true;
    header.sequence = sequence;
    header.payload_bytes = close_payload_bytes;
    return header;
}

/// The bytes of such a header, as write_bunch_header() writes it, and of the payload.
class CloseBunch {
  public:
    CloseBunch(ChannelIndex channel, std::uint16_t sequence, ChannelCloseReason reason) noexcept {
        constexpr unsigned close_flag = 2;
        std::byte* end = detail::write_packed_bytes(memory_.data(), channel.value);
        *end++ = static_cast<std::byte>(close_flag);
        *end++ = static_cast<std::byte>(sequence & 0xFFu);
        *end++ = static_cast<std::byte>(sequence >> 8u);
        end = detail::write_packed_bytes(end, close_payload_bytes);
        *end++ = static_cast<std::byte>(reason);
        size_ = static_cast<std::size_t>(end - memory_.data());
    }

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(memory_).first(size_);
    }
    /// Requires that there is room for it.
    void add_to(PacketBuilder& packet) const noexcept { packet.add_short_bunch(memory_, size_); }

  private:
    std::array<std::byte, bunch_header_bytes_max + close_payload_bytes> memory_;
    std::size_t size_ = 0;
};

}  // namespace replayout
