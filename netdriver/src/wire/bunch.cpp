// SPDX-License-Identifier: MIT
#include <replayout/netdriver/bunch.h>

#include <bit>

namespace replayout {

namespace {

[[nodiscard]] std::size_t packed_bytes(std::uint32_t value) noexcept {
    const auto width = static_cast<std::size_t>(std::bit_width(value));
    return width <= 7 ? 1 : (width + 6) / 7;
}

/// Bit 0 goes first.
[[nodiscard]] std::uint32_t flags_of(const BunchHeader& header) noexcept {
    const auto bit = [](bool is_set, int shift) { return std::uint32_t{is_set} << shift; };
    return bit(header.is_open, 0) | bit(header.is_close, 1) | bit(header.is_partial, 2) |
           bit(header.is_partial_initial, 3) | bit(header.is_partial_final, 4) |
           bit(header.is_call, 5) | bit(header.is_unreliable, 6) | bit(header.is_message, 7);
}

/// Bytes that are written at once.
struct Bytes {
    static constexpr std::uint32_t count_max = 8;

    void add(std::uint64_t value, std::uint32_t bytes) noexcept {
        word |= value << (8 * count);
        count += bytes;
    }
    /// See BitWriter::write_packed_uint().
    void add_packed(std::uint32_t value) noexcept {
        for (; value >= 0x80; value >>= 7) {
            add((value & 0x7F) << 1 | 1, 1);
        }
        add(value << 1, 1);
    }

    std::uint64_t word = 0;
    std::uint32_t count = 0;
};

}  // namespace

std::size_t bunch_header_bytes(const BunchHeader& header) noexcept {
    const std::size_t sequence_bytes = header.writes_sequence() ? 2 : 0;
    return packed_bytes(header.channel.value) + 1 + sequence_bytes +
           packed_bytes(header.payload_bytes);
}

void write_bunch_header(BitWriter& writer, const BunchHeader& header) noexcept {
    if (bunch_header_bytes(header) <= Bytes::count_max) {
        Bytes bytes;  // most are
        bytes.add_packed(header.channel.value);
        bytes.add(flags_of(header), 1);
        if (header.writes_sequence()) {
            bytes.add(header.sequence, 2);
        }
        bytes.add_packed(header.payload_bytes);
        writer.write_bits(bytes.word, 8 * bytes.count);
        return;
    }
    writer.write_packed_uint(header.channel.value);
    writer.write_bits(flags_of(header), 8);
    if (header.writes_sequence()) {
        writer.write_bits(header.sequence, 16);
    }
    writer.write_packed_uint(header.payload_bytes);
}

BunchHeader read_bunch_header(BitReader& reader) noexcept {
    BunchHeader header;
    header.channel = ChannelIndex{reader.read_packed_uint32()};
    header.is_open = reader.read_bool();
    header.is_close = reader.read_bool();
    header.is_partial = reader.read_bool();
    header.is_partial_initial = reader.read_bool();
    header.is_partial_final = reader.read_bool();
    header.is_call = reader.read_bool();
    header.is_unreliable = reader.read_bool();
    header.is_message = reader.read_bool();
    header.sequence = header.writes_sequence() ? static_cast<std::uint16_t>(reader.read_bits(16))
                                               : std::uint16_t{0};
    header.payload_bytes = reader.read_packed_uint32();
    const bool has_lone_part_flag =
        !header.is_partial && (header.is_partial_initial || header.is_partial_final);
    const bool is_whole_as_part = header.is_partial_initial && header.is_partial_final;
    const bool is_odd_call = header.is_call && (header.is_open || header.is_close);
    const bool is_lone_unreliable = header.is_unreliable && !header.is_call;
    const bool is_odd_message = header.is_message && (header.is_open || header.is_close ||
                                                      header.is_partial || header.is_call);
    if (is_odd_message || is_odd_call || is_lone_unreliable || has_lone_part_flag ||
        is_whole_as_part || (header.is_open && (header.is_close || header.is_partial)) ||
        header.payload_bytes > reader.bits_left() / 8) {
        reader.fail();
    }
    return header;
}

}  // namespace replayout
