// SPDX-License-Identifier: MIT
//
// A UNet packet: messages one behind the other, and nothing else (facts of Unity HLAPI 1.1.1).
//
//     u16  size   of the payload alone
//     i16  type   UNetMessageType, or a number of the game's
//     ...  payload
//
// The receiver gives each message a reader of its payload alone, so that a handler that reads too
// little or too much does not shift the next. A message that claims to be longer than the rest of
// the packet ends it, and so does one of a type that nobody takes: the rest is dropped, and
// counted.
#pragma once

#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>
#include <replayout/unet/unet_messages.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

inline constexpr std::size_t unet_header_bytes = 4;
/// Of a message with its header: the original refuses 65,535 bytes.
inline constexpr std::size_t unet_message_bytes_max = 65534;

/// Frames one message while it is written: the size is filled in at the end.
class UNetMessageWriter {
  public:
    UNetMessageWriter(NetworkWriter& writer, std::int16_t type) noexcept;
    UNetMessageWriter(NetworkWriter& writer, UNetMessageType type) noexcept
        : UNetMessageWriter(writer, static_cast<std::int16_t>(type)) {}

    /// Ends the message. If it failed, or is too long, the writer stands where it stood before, so
    /// that the messages before it are whole and may be sent; and the answer says why.
    [[nodiscard]] UNetError finish() noexcept;

    /// As if it had not begun: an object of which nothing turned out to have changed.
    void discard() noexcept { writer_.rewind(start_); }

  private:
    NetworkWriter& writer_;
    NetworkWriter::Mark start_;
};

/// Appends `message` to a packet, or leaves the packet as it is and says why.
template <typename Message>
[[nodiscard]] UNetError write_message(NetworkWriter& writer, const Message& message) noexcept {
    if (writer.failed()) {
        return writer.error();
    }
    UNetMessageWriter frame(writer, Message::type);
    write_payload(writer, message);
    return frame.finish();
}

/// What a receiver met. Only ever counts up.
struct UNetReceiveCounters {
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;         ///< handed to a handler that took them
    std::uint64_t messages_failed = 0;  ///< of these: their reader failed
    std::uint64_t packets_cut = 0;      ///< their rest was dropped
    std::uint64_t bytes_dropped = 0;    ///< in those rests, the header at fault included
    /// How often each error, of a message or of a packet, by UNetError.
    std::array<std::uint64_t, unet_error_count> errors{};

    [[nodiscard]] std::uint64_t count_of(UNetError error) const noexcept {
        return errors[static_cast<std::size_t>(error)];
    }
};

/// Walks over the messages of one packet.
class UNetPacketReader {
  public:
    /// `packet` and `counters` must outlive it.
    UNetPacketReader(std::span<const std::byte> packet, UNetReceiveCounters& counters,
                     UNetStrictness strictness = UNetStrictness::Strict) noexcept;

    /// Goes to the next message; false at the end, or where the rest was dropped.
    [[nodiscard]] bool next() noexcept;

    /// Of the message; see UNetMessageType.
    [[nodiscard]] std::int16_t type() const noexcept { return type_; }
    /// Its payload. In strict mode it is an error not to read it to the end.
    [[nodiscard]] NetworkReader& payload() noexcept { return payload_; }

    /// Nobody takes messages of this type: they and the rest of the packet are dropped.
    void drop_unknown() noexcept;

    /// Why the rest of the packet was dropped, or None. Messages that failed do not show here.
    [[nodiscard]] UNetError error() const noexcept { return error_; }

  private:
    void finish_message() noexcept;
    void drop_from(std::size_t position, UNetError error) noexcept;

    std::span<const std::byte> packet_;
    UNetReceiveCounters& counters_;
    NetworkReader payload_;
    std::size_t position_ = 0;       ///< behind the current message
    std::size_t message_start_ = 0;  ///< its header
    std::int16_t type_ = 0;
    bool has_message_ = false;
    UNetError error_ = UNetError::None;
};

enum class UNetHandled : std::uint8_t { Taken, UnknownType };

/// Hands each message of a packet to `handle(type, reader)`, which answers UNetHandled. Gives why
/// the rest of the packet was dropped, or None.
template <typename Handle>
UNetError receive_unet_packet(std::span<const std::byte> packet, UNetReceiveCounters& counters,
                              UNetStrictness strictness, Handle&& handle) {
    UNetPacketReader messages(packet, counters, strictness);
    while (messages.next()) {
        if (handle(messages.type(), messages.payload()) == UNetHandled::UnknownType) {
            messages.drop_unknown();
        }
    }
    return messages.error();
}

}  // namespace replayout
