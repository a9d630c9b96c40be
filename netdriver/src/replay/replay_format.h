// SPDX-License-Identifier: MIT
//
// The bytes of a recording (docs/wire_format.md, section 18): a magic, and chunks one behind the
// other, each of which names the one before it by its digest. So what is read in order is what was
// written in order, and nothing of another recording can stand in between. Little-endian.
//
//     chunk    u8 kind, 3 bytes 0   u32 payload bytes   u64 digest of the chunk before   payload
//              u64 digest of all that
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/hash.h>
#include <replayout/reflection/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

inline constexpr std::array<std::byte, 8> replay_magic{
    std::byte{'R'}, std::byte{'P'}, std::byte{'L'}, std::byte{'Y'},
    std::byte{'O'}, std::byte{'U'}, std::byte{'T'}, std::byte{'\n'}};
/// What a recording ends with, behind the size of its last chunk, if it was ended.
inline constexpr std::array<std::byte, 4> replay_end_magic{std::byte{'E'}, std::byte{'N'},
                                                           std::byte{'D'}, std::byte{'\n'}};
inline constexpr std::size_t replay_footer_bytes = 4 + replay_end_magic.size();

/// Grows with every change of the file that is not one of the wire.
inline constexpr std::uint16_t replay_version = 1;

enum class ReplayChunkKind : std::uint8_t {
    Header = 1,      ///< first, once
    Layout = 2,      ///< behind it, one for each layout, in the order of their numbers
    Frame = 3,       ///< what one flush sent
    Checkpoint = 4,  ///< what a connection was sent that began anew at the end of a flush
    End = 5,         ///< last, once: where the checkpoints are
};

inline constexpr std::size_t replay_chunk_head_bytes = 16;
inline constexpr std::size_t replay_digest_bytes = 8;
inline constexpr std::uint32_t replay_payload_bytes_max = 1u << 20;
inline constexpr std::uint32_t replay_game_data_bytes_max = 1u << 19;

// Frames and checkpoints come in parts of whole packets: u8 flags, of which bit 0 says that it is
// the last, i64 time in microseconds, and packets: u16 bytes, of which bit 15 says that the packet
// has bunches, and what it holds behind its header.
inline constexpr std::size_t replay_part_head_bytes = 1 + 8;
inline constexpr std::size_t replay_part_room = replay_chunk_head_bytes + replay_part_head_bytes;
inline constexpr std::uint16_t replay_has_bunches = 0x8000;
/// From the start to the end of a recording, so that who goes through one tick by tick comes to an
/// end, whatever a file says: 50 days.
inline constexpr std::int64_t replay_length_us_max = std::int64_t{1} << 42;
/// One that a recording can hold: 36,000 years from the clock's origin at most, so that what is
/// added to it is a number still.
[[nodiscard]] bool is_replay_time(NetTime time) noexcept;
/// A part with more than that is written, as soon as it may be.
inline constexpr std::size_t replay_part_bytes = 128 * 1024;

/// Where a checkpoint is: its first chunk.
struct ReplayCheckpoint {
    NetTime time;
    std::uint64_t offset = 0;
    std::uint64_t digest = 0;  ///< of that chunk
};
inline constexpr std::size_t replay_checkpoint_bytes = 24;
/// In the End; of more one in two, four, ... is named.
inline constexpr std::size_t replay_checkpoints_max = 32'768;
/// Of as many every second one goes. Whether they were.
[[nodiscard]] bool thin_replay_checkpoints(Vector<ReplayCheckpoint>& checkpoints) noexcept;

struct ReplayChunkHead {
    ReplayChunkKind kind = ReplayChunkKind::Header;
    std::uint32_t payload_bytes = 0;
    std::uint64_t previous_digest = 0;
};

struct ReplayHeader {
    std::uint16_t version = 0;
    std::uint16_t wire_version = 0;
    Digest128 schema;
    NetTime start;
    std::uint32_t layout_count = 0;
    std::span<const std::byte> game_data;  ///< of one that was read: lies in it
};

template <typename Integer>
void append_le(Vector<std::byte>& bytes, Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
        bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
}
template <typename Integer>
void store_le(std::span<std::byte> target, Integer value) noexcept {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
        target[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
}
/// Requires so many bytes.
[[nodiscard]] std::uint64_t load_le(std::span<const std::byte> bytes, std::size_t count) noexcept;

/// Lays the head of a chunk into the room at its front, and its digest behind it. Returns that.
std::uint64_t finish_replay_chunk(ReplayChunkKind kind, std::uint64_t previous_digest,
                                  Vector<std::byte>& chunk);

/// False: no chunk of ours begins so. Requires replay_chunk_head_bytes.
[[nodiscard]] bool read_replay_chunk_head(std::span<const std::byte> bytes,
                                          ReplayChunkHead& head) noexcept;

void append_replay_header(Vector<std::byte>& chunk, const ReplayHeader& header);
/// Of another version it says nothing but that. False: it is none.
[[nodiscard]] bool read_replay_header(std::span<const std::byte> payload,
                                      ReplayHeader& header) noexcept;

struct ReplayPart {
    bool is_last = false;
    NetTime time;
    std::span<const std::byte> packets;
};
[[nodiscard]] bool read_replay_part(std::span<const std::byte> payload, ReplayPart& part) noexcept;

struct ReplayPacket {
    std::span<const std::byte> content;
    bool has_bunches = false;
};
/// Takes the next one from the front. False: there is none, or not a whole one.
[[nodiscard]] bool take_replay_packet(std::span<const std::byte>& packets,
                                      ReplayPacket& packet) noexcept;

}  // namespace replayout
