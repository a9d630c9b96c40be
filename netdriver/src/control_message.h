// SPDX-License-Identifier: MIT
//
// Messages of the control channel (docs/wire_format.md, "Control channel"). One byte says which; the
// rest is fixed for each.
//
//     1 hello     u32 magic, u16 wire version, u128 schema digest, u32 layout count
//     2 welcome   -
//     3 goodbye   u8 close reason
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/reflection/hash.h>

#include <array>
#include <cstdint>
#include <span>

namespace replayout {

/// Grows with every change of the wire.
inline constexpr std::uint16_t wire_version = 1;

enum class ControlMessageKind : std::uint8_t { Hello = 1, Welcome = 2, Goodbye = 3 };

struct Hello {
    std::uint16_t version = wire_version;
    Digest128 schema;
    std::uint32_t layout_count = 0;
};

class HelloMessage {
  public:
    explicit HelloMessage(const Hello& hello) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::array<std::byte, 1 + 4 + 2 + 16 + 4> bytes_;
};

class GoodbyeMessage {
  public:
    explicit GoodbyeMessage(CloseReason reason) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::array<std::byte, 2> bytes_;
};

[[nodiscard]] std::span<const std::byte> welcome_message() noexcept;

/// Each answers whether the bytes are exactly such a message.
[[nodiscard]] bool read_hello(std::span<const std::byte> message, Hello& hello) noexcept;
[[nodiscard]] bool read_welcome(std::span<const std::byte> message) noexcept;
[[nodiscard]] bool read_goodbye(std::span<const std::byte> message, CloseReason& reason) noexcept;

}  // namespace replayout
