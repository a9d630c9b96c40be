// SPDX-License-Identifier: MIT
//
// Messages of the control channel (docs/wire_format.md, "Control channel"). One byte says which;
// the rest is fixed for each.
//
//     1 hello     u32 magic, u16 wire version, u128 schema digest, u32 layout count,
//                 per layout u32 name hash, u32 fingerprint: as many as the packet holds
//     2 welcome   -
//     3 goodbye   u8 close reason, u32 name hash of the layout it is about, or 0
//     4 hello     of a client that lets itself be told the server's layouts; else as 1
//     5 known     u128 fingerprint, name up to the end: the server's next layout is the client's
//     6 described description up to the end: the server's next layout is this
//     7 destroyed stable names up to the end, each packed count and UTF-8: objects that are no more
//     8 batch     packed count of objects that the client is sent first
//     9 batch end the client has them
//     10, 11      about layouts that differ: layout_messages.h
//
// The digest decides. The list that follows is there to tell which layout differs.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace replayout {

/// Grows with every change of the wire.
inline constexpr std::uint16_t wire_version = 4;

enum class ControlMessageKind : std::uint8_t {
    Hello = 1,
    Welcome = 2,
    Goodbye = 3,
    HelloTakingLayouts = 4,
    KnownLayout = 5,
    DescribedLayout = 6,
    Destroyed = 7,
    InitialBatchStarted = 8,
    InitialBatchFinished = 9,
    RefusedLayout = 10,
    LayoutDifference = 11,
};

struct Hello {
    std::uint16_t version = wire_version;
    Digest128 schema;
    std::uint32_t layout_count = 0;
    /// Encoded LayoutIds; of a message that was read: where they lie in it.
    std::span<const std::byte> layout_ids;
    bool takes_layouts = false;  ///< kind 4
};

/// Enough of a layout to tell which one differs.
struct LayoutId {
    std::uint32_t name_hash = 0;
    std::uint32_t fingerprint = 0;

    static constexpr std::size_t encoded_bytes = 8;
};

[[nodiscard]] LayoutId read_layout_id(std::span<const std::byte> ids, std::size_t index) noexcept;
void write_layout_id(BitWriter& writer, const LayoutId& id) noexcept;

/// Bytes of a hello without its layout ids.
inline constexpr std::size_t hello_bytes = 1 + 4 + 2 + 16 + 4;

/// Writes a hello; the writer must have room for it.
void write_hello(BitWriter& writer, const Hello& hello) noexcept;

struct Goodbye {
    CloseReason reason = CloseReason::None;
    std::uint32_t name_hash = 0;
};

class GoodbyeMessage {
  public:
    explicit GoodbyeMessage(const Goodbye& goodbye) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    std::array<std::byte, 1 + 1 + 4> bytes_;
};

[[nodiscard]] std::span<const std::byte> welcome_message() noexcept;

/// A layout of the server that, as far as it knows, is the client's too.
struct KnownLayout {
    Digest128 fingerprint;
    std::string_view name;  ///< of a message that was read: lies in it
};

[[nodiscard]] Vector<std::byte> known_layout_message(const KnownLayout& known,
                                                     MemoryResource* resource);
[[nodiscard]] Vector<std::byte> described_layout_message(std::span<const std::byte> description,
                                                         MemoryResource* resource);
[[nodiscard]] bool read_known_layout(std::span<const std::byte> message,
                                     KnownLayout& known) noexcept;
/// `description` lies in the message, is not empty, and is not looked at.
[[nodiscard]] bool read_described_layout(std::span<const std::byte> message,
                                         std::span<const std::byte>& description) noexcept;

/// Ids and stable names of objects that are no more, as many as fit.
class DestructionNoticeWriter {
  public:
    /// Room for the longest name, at least.
    explicit DestructionNoticeWriter(std::span<std::byte> room) noexcept;
    /// False, and nothing written: it does not fit.
    [[nodiscard]] bool add(NetGUID guid, std::string_view name) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return writer_.bytes(); }

  private:
    BitWriter writer_;
};
struct DestroyedObject {
    NetGUID guid;
    std::string_view stable_name;  ///< lies in the message
};
/// `objects` reads them, one read_destroyed_object() after the other; all of them are objects.
[[nodiscard]] bool read_destruction_notice(std::span<const std::byte> message,
                                           BitReader& objects) noexcept;
[[nodiscard]] DestroyedObject read_destroyed_object(BitReader& reader) noexcept;

class InitialBatchStartedMessage {
  public:
    explicit InitialBatchStartedMessage(std::uint32_t object_count) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(bytes_).first(size_);
    }

  private:
    std::array<std::byte, 1 + 5> bytes_;
    std::size_t size_;
};
[[nodiscard]] std::span<const std::byte> initial_batch_finished_message() noexcept;
[[nodiscard]] bool read_initial_batch_started(std::span<const std::byte> message,
                                              std::uint32_t& object_count) noexcept;
[[nodiscard]] bool read_initial_batch_finished(std::span<const std::byte> message) noexcept;

/// Each answers whether the bytes are exactly such a message. A hello of another wire version is
/// one whatever follows its version.
[[nodiscard]] bool read_hello(std::span<const std::byte> message, Hello& hello) noexcept;
[[nodiscard]] bool read_welcome(std::span<const std::byte> message) noexcept;
[[nodiscard]] bool read_goodbye(std::span<const std::byte> message, Goodbye& goodbye) noexcept;

}  // namespace replayout
