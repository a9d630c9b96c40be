// SPDX-License-Identifier: MIT
//
// The readers of a recording's pieces, each at its bounds: one less, there, and one more.
#include "replay_format.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {
namespace {

constexpr std::int64_t time_limit_us = std::int64_t{1} << 60;

struct TimeRow {
    std::int64_t microseconds;
    bool is_time;
};
constexpr std::array<TimeRow, 9> times{{
    {std::numeric_limits<std::int64_t>::min(), false},
    {-time_limit_us - 1, false},
    {-time_limit_us, false},
    {-time_limit_us + 1, true},
    {0, true},
    {time_limit_us - 1, true},
    {time_limit_us, false},
    {time_limit_us + 1, false},
    {std::numeric_limits<std::int64_t>::max(), false},
}};

/// Payload of a header with so much game data.
[[nodiscard]] Vector<std::byte> header_payload(std::size_t game_data_bytes) {
    const Bytes game_data(game_data_bytes, std::byte{7});
    Vector<std::byte> payload;
    append_replay_header(payload, {replay_version, 3, {5, 6}, NetTime{11}, 13, game_data});
    return payload;
}

[[nodiscard]] std::span<const std::byte> all_of(const Vector<std::byte>& bytes) {
    return {bytes.data(), bytes.size()};
}

}  // namespace

TEST_CASE("Replay: a chunk begins with one of five kinds, and a size within its bound",
          "[netdriver][replay]") {
    struct Row {
        std::uint32_t kind;
        std::uint32_t payload_bytes;
        bool is_chunk;
    };
    const std::array<Row, 12> rows{{
        {0, 9, false},
        {1, 9, true},
        {2, 9, true},
        {5, 9, true},
        {6, 9, false},
        {0x0101, 9, false},  // the other three bytes are 0
        {0x0100'0001, 9, false},
        {3, 0, true},
        {3, replay_payload_bytes_max - 1, true},
        {3, replay_payload_bytes_max, true},
        {3, replay_payload_bytes_max + 1, false},
        {3, 0xFFFF'FFFF, false},
    }};
    for (const Row& row : rows) {
        INFO("kind " << row.kind << ", " << row.payload_bytes << " bytes");
        std::array<std::byte, replay_chunk_head_bytes> bytes{};
        store_le(std::span(bytes), row.kind);
        store_le(std::span(bytes).subspan(4), row.payload_bytes);
        store_le(std::span(bytes).subspan(8), std::uint64_t{77});
        ReplayChunkHead head;
        REQUIRE(read_replay_chunk_head(bytes, head) == row.is_chunk);
        if (row.is_chunk) {
            CHECK(head.kind == static_cast<ReplayChunkKind>(row.kind));
            CHECK(head.payload_bytes == row.payload_bytes);
            CHECK(head.previous_digest == 77);
        }
    }
}

TEST_CASE("Replay: a header has all its fields, and no more game data than it may",
          "[netdriver][replay]") {
    const std::size_t fixed = header_payload(0).size();
    REQUIRE(fixed == 32);
    const Vector<std::byte> longest = header_payload(replay_game_data_bytes_max + 1);
    for (std::size_t size = 0; size < fixed; ++size) {
        INFO(size << " bytes");
        ReplayHeader header;
        CHECK_FALSE(read_replay_header(all_of(longest).first(size), header));
    }
    for (const std::size_t more : {0u, 1u, replay_game_data_bytes_max}) {
        ReplayHeader header;
        REQUIRE(read_replay_header(all_of(longest).first(fixed + more), header));
        CHECK(header.wire_version == 3);
        CHECK(header.schema == Digest128{5, 6});
        CHECK(header.start == NetTime{11});
        CHECK(header.layout_count == 13);
        CHECK(header.game_data.size() == more);
    }
    ReplayHeader header;
    CHECK_FALSE(read_replay_header(all_of(longest), header));
}

TEST_CASE("Replay: a header of another version need have nothing else", "[netdriver][replay]") {
    for (const std::uint16_t version : std::array<std::uint16_t, 3>{0, 2, 0xFFFF}) {
        INFO("version " << version);
        std::array<std::byte, 2> payload{};
        store_le(std::span(payload), version);
        ReplayHeader header;
        REQUIRE(read_replay_header(payload, header));
        CHECK(header.version == version);
        CHECK_FALSE(read_replay_header(std::span(payload).first(1), header));
    }
}

TEST_CASE("Replay: no time is 36,000 years from where the clock counts", "[netdriver][replay]") {
    for (const TimeRow& row : times) {
        INFO("at " << row.microseconds);
        Vector<std::byte> payload = header_payload(0);
        store_le(std::span(payload.data(), payload.size()).subspan(20), row.microseconds);
        ReplayHeader header;
        CHECK(read_replay_header(all_of(payload), header) == row.is_time);
        std::array<std::byte, replay_part_head_bytes> head{};
        store_le(std::span(head).subspan(1), row.microseconds);
        ReplayPart part;
        CHECK(read_replay_part(head, part) == row.is_time);
    }
}

TEST_CASE("Replay: a part has its whole head, and no flag that is not known",
          "[netdriver][replay]") {
    std::array<std::byte, replay_part_head_bytes + 3> payload{};
    for (const unsigned flags : {0u, 1u, 2u, 3u, 0x80u, 0xFFu}) {
        INFO("flags " << flags);
        payload[0] = static_cast<std::byte>(flags);
        ReplayPart part;
        REQUIRE(read_replay_part(payload, part) == (flags <= 1));
        CHECK((part.is_last == (flags == 1) || flags > 1));
    }
    payload[0] = std::byte{1};
    for (std::size_t size = 0; size < payload.size(); ++size) {
        INFO(size << " bytes");
        ReplayPart part;
        REQUIRE(read_replay_part(std::span(payload).first(size), part) ==
                (size >= replay_part_head_bytes));
        CHECK(part.packets.size() == size - std::min(size, replay_part_head_bytes));
    }
}

TEST_CASE("Replay: a packet has a byte at least, and all that it says it has",
          "[netdriver][replay]") {
    struct Row {
        std::uint16_t size;
        std::size_t bytes;  // behind the size
        bool is_packet;
    };
    const std::array<Row, 8> rows{{
        {0, 0, false},
        {0, 5, false},
        {1, 0, false},
        {1, 1, true},
        {4, 3, false},
        {4, 4, true},
        {4, 5, true},
        {0x7FFF, 5, false},
    }};
    for (const Row& row : rows) {
        for (const bool has_bunches : {false, true}) {
            INFO(row.size << " of " << row.bytes << " bytes");
            Bytes bytes(2 + row.bytes, std::byte{9});
            store_le(std::span(bytes),
                     static_cast<std::uint16_t>(row.size | (has_bunches ? 0x8000u : 0u)));
            std::span<const std::byte> packets(bytes);
            ReplayPacket packet;
            REQUIRE(take_replay_packet(packets, packet) == row.is_packet);
            if (row.is_packet) {
                CHECK(packet.content.size() == row.size);
                CHECK(packet.has_bunches == has_bunches);
                CHECK(packets.size() == row.bytes - row.size);
            } else {
                CHECK(packets.size() == bytes.size());
            }
        }
    }
    for (const std::size_t size : {0u, 1u}) {
        const Bytes bytes(size, std::byte{1});
        std::span<const std::byte> packets(bytes);
        ReplayPacket packet;
        CHECK_FALSE(take_replay_packet(packets, packet));
    }
}

}  // namespace replayout::test
