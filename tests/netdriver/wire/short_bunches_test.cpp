// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

#include "close_bunch.h"
#include "open_bunch.h"
#include "packet_builder.h"
#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout::test {
namespace short_bunches_test {
namespace {

[[nodiscard]] Bytes write(BunchHeader header, const Bytes& payload) {
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    Bytes bytes(256);
    BitWriter writer(bytes);
    write_bunch_header(writer, header);
    writer.write_bytes(payload);
    REQUIRE(!writer.overflowed());
    bytes.resize(writer.byte_count());
    return bytes;
}

/// A block to be laid down, and whether it has a length.
struct Block {
    std::uint32_t channel;
    BlockLength length;
    std::size_t byte_count;
};

}  // namespace

TEST_CASE(
    "Short bunches: opens and closes that are laid down at once are as header and payload are",
    "[netdriver][bunch]") {
    for (const std::uint32_t channel : {1u, 63u, 64u, 127u, 128u, 16'383u, 16'384u, 1u << 28}) {
        INFO("channel " << channel);
        for (const std::size_t payload_bytes : {0u, 3u, 63u, 64u, 128u}) {
            const Bytes payload(payload_bytes, std::byte{0x5A});
            OpenBunch* const open =
                OpenBunch::make(ChannelIndex{channel}, payload, std::pmr::get_default_resource());
            BunchHeader header;
            header.channel = ChannelIndex{channel};
            header.is_open = true;
            const Bytes expected = write(header, payload);
            CHECK(to_hex(open->bytes()) == to_hex(expected));
            CHECK(to_hex(open->payload()) == to_hex(payload));
            CHECK(OpenBunch::byte_count(ChannelIndex{channel}, payload_bytes) == expected.size());
            open->release();
        }
        for (const unsigned number : {0u, 2u, 0x1234u, 0xFFFFu}) {
            const auto sequence = static_cast<std::uint16_t>(number);
            const Bytes expected = write(close_header(ChannelIndex{channel}, sequence),
                                         {static_cast<std::byte>(ChannelCloseReason::Dormancy)});
            const CloseBunch close(ChannelIndex{channel}, sequence, ChannelCloseReason::Dormancy);
            CHECK(to_hex(close.bytes()) == to_hex(expected));
        }
    }
}

TEST_CASE("Packet builder: blocks that were laid down are as those that it writes",
          "[netdriver][bunch]") {
    // Upwards by a byte and by more, and back; lengths of one byte and of two.
    constexpr std::array<Block, 6> blocks{{{3, BlockLength::None, 5},
                                           {66, BlockLength::Given, 63},
                                           {67, BlockLength::Given, 64},
                                           {5, BlockLength::Given, 1},
                                           {20'000, BlockLength::None, 70},
                                           {9, BlockLength::None, 2}}};
    PacketBuilder written(1'200);
    PacketBuilder alone(1'200);
    PacketBuilder copied(1'200);
    for (const Block& block : blocks) {
        const ChannelIndex channel{block.channel};
        const Bytes bytes(block.byte_count, static_cast<std::byte>(block.channel));
        BitWriter writer = written.begin_block(channel, block.length == BlockLength::Given);
        if (block.length == BlockLength::Given) {
            writer.write_packed_uint(block_length_word(bytes.size(), false));
        }
        writer.write_bytes(bytes);
        written.end_block(writer, channel);

        const std::size_t length_bytes = block_length_bytes(block.length, bytes.size());
        const std::size_t bytes_left = alone.bytes_left();
        const std::size_t head_bytes = alone.head_bytes_of(channel);
        CHECK(alone.room_for_blocks(channel) == bytes_left - head_bytes);
        alone.add_block_alone(channel, block.length, bytes);
        CHECK(bytes_left - alone.bytes_left() == head_bytes + length_bytes + bytes.size());

        Bytes with_length(length_bytes + bytes.size());
        write_block_length(bytes.size(), std::span(with_length).first(length_bytes));
        std::copy(bytes.begin(), bytes.end(),
                  with_length.begin() + static_cast<std::ptrdiff_t>(length_bytes));
        copied.add_blocks(channel, block.length, channel, with_length);
    }
    const PacketHeader header;
    const std::string expected = to_hex(written.finish(header));
    CHECK(to_hex(alone.finish(header)) == expected);
    CHECK(to_hex(copied.finish(header)) == expected);
}

TEST_CASE("Packet builder: a block has room exactly where its head, its length and it fit",
          "[netdriver][bunch]") {
    for (const bool has_length : {false, true}) {
        for (const std::size_t missing : {0u, 1u}) {
            PacketBuilder builder(256);
            const std::size_t length_bytes = has_length ? block_length_bytes_max : 0;
            const Bytes block(builder.bytes_left() - 1 - length_bytes + missing);
            CHECK(builder.add_block(ChannelIndex{5}, has_length, block) == (missing == 0));
            CHECK(builder.is_empty() == (missing != 0));
        }
    }
}

}  // namespace short_bunches_test
}  // namespace replayout::test
