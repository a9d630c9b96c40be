// SPDX-License-Identifier: MIT
#include <replayout/netdriver/bunch.h>

#include <bit>

namespace replayout {

namespace {

[[nodiscard]] std::size_t packed_bytes(std::uint32_t value) noexcept {
    const auto width = static_cast<std::size_t>(std::bit_width(value));
    return width <= 7 ? 1 : (width + 6) / 7;
}

}  // namespace

std::size_t bunch_header_bytes(const BunchHeader& header) noexcept {
    const std::size_t sequence_bytes = header.has_sequence() ? 2 : 0;
    return packed_bytes(header.channel.value) + 1 + sequence_bytes +
           packed_bytes(header.payload_bytes);
}

void write_bunch_header(BitWriter& writer, const BunchHeader& header) noexcept {
    writer.write_packed_uint(header.channel.value);
    writer.write_bool(header.is_open);
    writer.write_bool(header.is_close);
    writer.write_bool(header.is_partial);
    writer.write_bool(header.is_partial_initial);
    writer.write_bool(header.is_partial_final);
    writer.write_bool(header.is_call);
    writer.write_bool(header.is_unreliable);
    writer.write_bool(header.is_message);
    if (header.has_sequence()) {
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
    header.sequence =
        header.has_sequence() ? static_cast<std::uint16_t>(reader.read_bits(16)) : std::uint16_t{0};
    header.payload_bytes = reader.read_packed_uint32();
    const bool has_lone_part_flag =
        !header.is_partial && (header.is_partial_initial || header.is_partial_final);
    const bool is_whole_as_part = header.is_partial_initial && header.is_partial_final;
    const bool is_odd_call = header.is_call && (header.is_open || header.is_close);
    const bool is_lone_unreliable = header.is_unreliable && !header.is_call;
    const bool is_odd_message = header.is_message && (header.is_open || header.is_close ||
                                                      header.is_partial || header.is_call);
    if (is_odd_message || is_odd_call || is_lone_unreliable || has_lone_part_flag ||
        is_whole_as_part || (header.is_open && header.is_close) ||
        header.payload_bytes > reader.bits_left() / 8) {
        reader.fail();
    }
    return header;
}

}  // namespace replayout
