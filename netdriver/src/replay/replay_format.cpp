// SPDX-License-Identifier: MIT
#include "replay_format.h"

#include <replayout/netdriver/replay_error.h>
#include <replayout/reflection/diagnostics.h>

#include <array>

namespace replayout {

std::string_view to_string(ReplayError error) noexcept {
    static constexpr auto texts = std::to_array<std::string_view>(
        {"none", "write failed", "connection ended", "read failed", "not a replay",
         "unknown version", "wire version", "layout mismatch", "empty", "corrupt", "refused",
         "too long", "misused"});
    static_assert(texts.size() == static_cast<std::size_t>(ReplayError::Misused) + 1);
    const auto index = static_cast<std::size_t>(error);
    return index < texts.size() ? texts[index] : "unknown";
}

namespace {

/// So that nobody who counts from there, or to there, leaves what a number holds: 36,000 years.
constexpr std::int64_t time_us_max = std::int64_t{1} << 60;

[[nodiscard]] bool read_time(std::span<const std::byte> bytes, NetTime& time) noexcept {
    time.microseconds = static_cast<std::int64_t>(load_le(bytes, 8));
    return is_replay_time(time);
}

}  // namespace

bool is_replay_time(NetTime time) noexcept {
    return time.microseconds > -time_us_max && time.microseconds < time_us_max;
}

bool thin_replay_checkpoints(Vector<ReplayCheckpoint>& checkpoints) noexcept {
    if (checkpoints.size() < replay_checkpoints_max) {
        return false;
    }
    for (std::size_t i = 0; i < checkpoints.size() / 2; ++i) {
        checkpoints[i] = checkpoints[2 * i];
    }
    checkpoints.resize(checkpoints.size() / 2);
    return true;
}

std::uint64_t load_le(std::span<const std::byte> bytes, std::size_t count) noexcept {
    REPLAYOUT_ASSERT(count <= bytes.size() && count <= 8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return value;
}

std::uint64_t finish_replay_chunk(ReplayChunkKind kind, std::uint64_t previous_digest,
                                  Vector<std::byte>& chunk) {
    REPLAYOUT_ASSERT(chunk.size() >= replay_chunk_head_bytes);
    const std::size_t payload_bytes = chunk.size() - replay_chunk_head_bytes;
    REPLAYOUT_ASSERT(payload_bytes <= replay_payload_bytes_max);
    const std::span<std::byte> head(chunk.data(), replay_chunk_head_bytes);
    store_le(head, static_cast<std::uint32_t>(kind));
    store_le(head.subspan(4), static_cast<std::uint32_t>(payload_bytes));
    store_le(head.subspan(8), previous_digest);
    const std::uint64_t digest = hash64(std::span<const std::byte>(chunk.data(), chunk.size()));
    append_le(chunk, digest);
    return digest;
}

bool read_replay_chunk_head(std::span<const std::byte> bytes, ReplayChunkHead& head) noexcept {
    const std::uint64_t kind = load_le(bytes, 4);
    head.payload_bytes = static_cast<std::uint32_t>(load_le(bytes.subspan(4), 4));
    head.previous_digest = load_le(bytes.subspan(8), 8);
    if (kind < static_cast<std::uint64_t>(ReplayChunkKind::Header) ||
        kind > static_cast<std::uint64_t>(ReplayChunkKind::End) ||
        head.payload_bytes > replay_payload_bytes_max) {
        return false;
    }
    head.kind = static_cast<ReplayChunkKind>(kind);
    return true;
}

void append_replay_header(Vector<std::byte>& chunk, const ReplayHeader& header) {
    append_le(chunk, header.version);
    append_le(chunk, header.wire_version);
    append_le(chunk, header.schema.low);
    append_le(chunk, header.schema.high);
    append_le(chunk, header.start.microseconds);
    append_le(chunk, header.layout_count);
    chunk.insert(chunk.end(), header.game_data.begin(), header.game_data.end());
}

bool read_replay_header(std::span<const std::byte> payload, ReplayHeader& header) noexcept {
    constexpr std::size_t fixed_bytes = 2 + 2 + 16 + 8 + 4;
    if (payload.size() < 2) {
        return false;
    }
    header.version = static_cast<std::uint16_t>(load_le(payload, 2));
    if (header.version != replay_version) {
        return true;
    }
    if (payload.size() < fixed_bytes || payload.size() > fixed_bytes + replay_game_data_bytes_max) {
        return false;
    }
    header.wire_version = static_cast<std::uint16_t>(load_le(payload.subspan(2), 2));
    header.schema.low = load_le(payload.subspan(4), 8);
    header.schema.high = load_le(payload.subspan(12), 8);
    header.layout_count = static_cast<std::uint32_t>(load_le(payload.subspan(28), 4));
    header.game_data = payload.subspan(fixed_bytes);
    return read_time(payload.subspan(20), header.start);
}

bool read_replay_part(std::span<const std::byte> payload, ReplayPart& part) noexcept {
    if (payload.size() < replay_part_head_bytes || std::to_integer<unsigned>(payload[0]) > 1) {
        return false;
    }
    part.is_last = payload[0] != std::byte{0};
    part.packets = payload.subspan(replay_part_head_bytes);
    return read_time(payload.subspan(1), part.time);
}

bool take_replay_packet(std::span<const std::byte>& packets, ReplayPacket& packet) noexcept {
    if (packets.size() < 2) {
        return false;
    }
    const auto word = static_cast<std::uint16_t>(load_le(packets, 2));
    const std::size_t size = word & ~unsigned{replay_has_bunches};
    if (size == 0 || size > packets.size() - 2) {
        return false;
    }
    packet.has_bunches = (word & replay_has_bunches) != 0;
    packet.content = packets.subspan(2, size);
    packets = packets.subspan(2 + size);
    return true;
}

}  // namespace replayout
