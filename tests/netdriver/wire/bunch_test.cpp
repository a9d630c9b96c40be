// SPDX-License-Identifier: MIT
#include <replayout/netdriver/bunch.h>

#include <array>
#include <cstdint>
#include <span>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"

namespace replayout {
namespace {

constexpr std::size_t flags_offset = 1;  // behind a channel of one byte

[[nodiscard]] Bytes write(const BunchHeader& header) {
    Bytes bytes(32);
    BitWriter writer(bytes);
    write_bunch_header(writer, header);
    REQUIRE(!writer.overflowed());
    bytes.resize(writer.byte_count());
    return bytes;
}

[[nodiscard]] BunchHeader make_header(std::uint32_t channel, std::uint16_t sequence,
                                      std::uint32_t payload_bytes) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.sequence = sequence;
    header.payload_bytes = payload_bytes;
    return header;
}

/// The header with `flags`, before a payload of three bytes. Whether it can be read.
[[nodiscard]] bool reads_flags(unsigned flags) {
    Bytes bytes = write(make_header(5, 1, 3));
    bytes[flags_offset] = static_cast<std::byte>(flags);
    if ((flags & 64) != 0 || (flags & 1) != 0) {  // unreliable, open: without a sequence
        bytes.erase(bytes.begin() + flags_offset + 1, bytes.begin() + flags_offset + 3);
    }
    bytes.resize(bytes.size() + 3);
    BitReader reader(bytes);
    (void)read_bunch_header(reader);
    return !reader.failed();
}

}  // namespace

TEST_CASE("Bunch: the longest headers are as long as packets reckon with", "[netdriver][bunch]") {
    BunchHeader header = make_header(0xFFFF'FFFF, 0xFFFF, 0xFFFF'FFFF);
    CHECK(bunch_header_bytes(header) == bunch_header_bytes_max);
    CHECK(write(header).size() == bunch_header_bytes_max);
    header.is_call = true;
    header.payload_bytes = 1'400;  // of the largest packet
    CHECK(bunch_header_bytes(header) == call_header_bytes_max);
    CHECK(write(header).size() == call_header_bytes_max);
}

TEST_CASE("Bunch: a header reads back as it was written", "[netdriver][bunch]") {
    for (const std::uint32_t channel : {0u, 1u, 127u, 128u, 65'536u, 0xFFFF'FFFFu}) {
        for (const std::uint32_t payload_bytes : {0u, 1u, 127u, 128u, 1'136u}) {
            BunchHeader header = make_header(channel, 0xBEEF, payload_bytes);
            header.is_close = true;
            header.is_partial = true;
            header.is_partial_final = true;
            Bytes bytes = write(header);
            CHECK(bytes.size() == bunch_header_bytes(header));
            const std::size_t header_bytes = bytes.size();
            bytes.resize(header_bytes + payload_bytes);
            BitReader reader(bytes);
            const BunchHeader read = read_bunch_header(reader);
            CHECK(!reader.failed());
            CHECK(reader.position_bits() == header_bytes * 8);
            CHECK(read.channel == header.channel);
            CHECK(read.sequence == header.sequence);
            CHECK(read.payload_bytes == payload_bytes);
            CHECK(!read.is_open);
            CHECK(read.is_close);
            CHECK(read.is_partial);
            CHECK(!read.is_partial_initial);
            CHECK(read.is_partial_final);
        }
    }
}

TEST_CASE("Bunch: a header without a sequence reads back as it was written, the longest, too",
          "[netdriver][bunch]") {
    for (const std::uint32_t channel : {0u, 1u, 127u, 128u, 65'536u, 1u << 28, 0xFFFF'FFFFu}) {
        for (const std::uint32_t payload_bytes : {0u, 127u, 128u, 16'383u, 16'384u, 65'536u}) {
            INFO("channel " << channel << ", bytes " << payload_bytes);
            BunchHeader header = make_header(channel, 0xBEEF, payload_bytes);
            const std::size_t counted_bytes = bunch_header_bytes(header);
            header.is_call = true;
            header.is_unreliable = true;
            Bytes bytes = write(header);
            const std::size_t header_bytes = bytes.size();
            CHECK(header_bytes == bunch_header_bytes(header));
            CHECK(header_bytes + 2 == counted_bytes);
            bytes.resize(header_bytes + payload_bytes);
            BitReader reader(bytes);
            const BunchHeader read = read_bunch_header(reader);
            CHECK(!reader.failed());
            CHECK(reader.position_bits() == header_bytes * 8);
            CHECK(read.channel == header.channel);
            CHECK(read.is_call);
            CHECK(read.is_unreliable);
            CHECK(read.sequence == 0);
            CHECK(read.payload_bytes == payload_bytes);
        }
    }
}

TEST_CASE("Bunch: each field lies where the format says", "[netdriver][bunch]") {
    BunchHeader header = make_header(3, 0x1234, 2);
    CHECK(to_hex(write(header)) == "06 00 34 12 04");
    header.is_open = true;
    CHECK(to_hex(write(header)) == "06 01 04");
    header.is_open = false;
    header.is_close = true;
    CHECK(to_hex(write(header)) == "06 02 34 12 04");
    header.is_close = false;
    header.is_partial = true;
    header.is_partial_initial = true;
    CHECK(to_hex(write(header)) == "06 0c 34 12 04");
    header.is_partial_initial = false;
    header.is_partial_final = true;
    CHECK(to_hex(write(header)) == "06 14 34 12 04");
    header = make_header(3, 0x1234, 2);
    header.is_call = true;
    CHECK(to_hex(write(header)) == "06 20 34 12 04");
    header.is_unreliable = true;
    CHECK(to_hex(write(header)) == "06 60 04");
    header.is_partial = true;
    CHECK(to_hex(write(header)) == "06 64 34 12 04");
    header = make_header(3, 0x1234, 2);
    header.is_message = true;
    CHECK(to_hex(write(header)) == "06 80 34 12 04");
}

TEST_CASE("Bunch: flags that exclude each other are refused, and no others", "[netdriver][bunch]") {
    constexpr unsigned open = 1;
    constexpr unsigned close = 2;
    constexpr unsigned partial = 4;
    constexpr unsigned initial = 8;
    constexpr unsigned final = 16;
    constexpr unsigned call = 32;
    constexpr unsigned unreliable = 64;
    constexpr unsigned message = 128;
    for (unsigned flags = 0; flags < 256; ++flags) {
        INFO("flags " << flags);
        const bool is_odd_message =
            (flags & message) != 0 && (flags & (open | close | partial | call)) != 0;
        const bool is_odd_call = (flags & call) != 0 && (flags & (open | close)) != 0;
        const bool is_odd = (flags & unreliable) != 0 && (flags & call) == 0;
        const bool is_both = (flags & open) != 0 && (flags & (close | partial)) != 0;
        const bool has_part = (flags & (initial | final)) != 0;
        const bool is_lone = (flags & partial) == 0 && has_part;
        const bool is_first_and_last = (flags & initial) != 0 && (flags & final) != 0;
        const bool is_refused =
            is_odd_message || is_both || is_lone || is_first_and_last || is_odd_call || is_odd;
        CHECK(reads_flags(flags) == !is_refused);
    }
}

TEST_CASE("Bunch: a payload beyond the end is refused", "[netdriver][bunch]") {
    Bytes bytes = write(make_header(1, 1, 3));
    const std::size_t header_bytes = bytes.size();
    for (std::size_t payload_bytes = 0; payload_bytes < 5; ++payload_bytes) {
        bytes.resize(header_bytes + payload_bytes);
        BitReader reader(bytes);
        (void)read_bunch_header(reader);
        CHECK(reader.failed() == (payload_bytes < 3));
    }
}

TEST_CASE("Bunch: a header cut short anywhere is refused", "[netdriver][bunch]") {
    const Bytes bytes = write(make_header(70'000, 0xFFFF, 0));
    const std::span<const std::byte> whole(bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        BitReader reader(whole.first(size));
        (void)read_bunch_header(reader);
        CHECK(reader.failed());
    }
}

TEST_CASE("Bunch: a channel or a length of more than 32 bits is refused", "[netdriver][bunch]") {
    for (const bool is_channel : {true, false}) {
        Bytes bytes(64);
        BitWriter writer(bytes);
        const std::uint64_t large = std::uint64_t{1} << 32;
        writer.write_packed_uint(is_channel ? large : 1);
        writer.write_bits(0, 8);
        writer.write_bits(1, 16);
        writer.write_packed_uint(is_channel ? 0 : large);
        BitReader reader(bytes);
        (void)read_bunch_header(reader);
        CHECK(reader.failed());
    }
}

TEST_CASE("Bunch: a fragment fits into a packet of any size beside all headers",
          "[netdriver][bunch]") {
    // Of the largest channel and the largest fragment.
    for (std::size_t packet_bytes = 256; packet_bytes <= 1'400; ++packet_bytes) {
        const std::size_t payload_bytes = fragment_bytes(packet_bytes);
        const BunchHeader header =
            make_header(0xFFFF'FFFF, 0xFFFF, static_cast<std::uint32_t>(payload_bytes));
        constexpr std::size_t packet_overhead_bytes = 39 + 2;
        REQUIRE(packet_overhead_bytes + bunch_header_bytes(header) + payload_bytes <= packet_bytes);
        // ... and little is wasted.
        REQUIRE(packet_overhead_bytes + payload_bytes + 32 >= packet_bytes);
    }
}

}  // namespace replayout
