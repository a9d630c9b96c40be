// SPDX-License-Identifier: MIT
//
// Packets put together by hand, from docs/wire_format.md and with public headers alone, for a peer
// that does not keep to the rules.
//
//     PacketWriter writer(session);
//     const Bytes packet = writer.packet({open_bunch(1, 7, 0)}, packet_block(1, body));
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/change_mask.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/packet_notify.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace replayout::bench {

using Bytes = std::vector<std::byte>;

/// What `write` writes, up to the end of its last byte.
template <typename Write>
[[nodiscard]] Bytes written(const Write& write) {
    Bytes bytes(4'096);
    BitWriter writer(bytes);
    write(writer);
    writer.finish_byte();
    bytes.resize(writer.byte_count());
    return bytes;
}

inline void append(Bytes& bytes, const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

/// The handles from `begin` on, `length` of them, of `count`; the first is 0.
inline void write_set(BitWriter& writer, std::uint32_t count, std::uint32_t begin,
                      std::uint32_t length, EmptySet empty) {
    ChangeMask mask;
    mask.reset(count);
    for (std::uint32_t i = begin; i < begin + length; ++i) {
        mask.set(i);
    }
    write_change_mask(writer, mask, empty);
}

inline void write_text(BitWriter& writer, std::size_t length) {
    writer.write_packed_uint(length);
    for (std::size_t i = 0; i < length; ++i) {
        writer.write_bits('x', 8);
    }
}

/// A bunch with its header.
[[nodiscard]] inline Bytes bunch(BunchHeader header, const Bytes& payload) {
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return written([&](BitWriter& writer) {
        write_bunch_header(writer, header);
        writer.write_bytes(payload);
    });
}

[[nodiscard]] inline Bytes message_bunch(std::uint32_t channel, std::uint16_t sequence,
                                         const Bytes& payload) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.sequence = sequence;
    return bunch(header, payload);
}

[[nodiscard]] inline Bytes open_bunch(std::uint32_t channel, std::uint32_t guid,
                                      std::uint32_t class_number) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.is_open = true;
    header.sequence = 1;
    return bunch(header, written([&](BitWriter& writer) {
                     writer.write_packed_uint(guid);
                     writer.write_packed_uint(class_number);
                     writer.write_packed_uint(0);
                 }));
}

/// Out of sight: the object may come again under its id.
[[nodiscard]] inline Bytes close_bunch(std::uint32_t channel, std::uint16_t sequence) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.is_close = true;
    header.sequence = sequence;
    return bunch(header, Bytes{std::byte{3}});
}

/// Sequence 0: a call that is sent once.
[[nodiscard]] inline Bytes call_bunch(std::uint32_t channel, std::uint16_t sequence,
                                      const Bytes& payload) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.is_call = true;
    header.is_unreliable = sequence == 0;
    header.sequence = sequence;
    return bunch(header, payload);
}

/// A block in a packet.
[[nodiscard]] inline Bytes packet_block(std::uint32_t channel, const Bytes& block) {
    Bytes bytes = written([&](BitWriter& writer) {
        writer.write_packed_uint(0);
        writer.write_packed_uint(channel);
    });
    append(bytes, block);
    return bytes;
}

/// Numbers packets, and acknowledges what it is shown.
class PacketWriter {
  public:
    explicit PacketWriter(std::uint16_t session) noexcept { header.session = session; }

    [[nodiscard]] Bytes packet(const std::vector<Bytes>& bunches, const Bytes& blocks = {}) {
        ++header.sequence;
        header.has_bunches = !bunches.empty();
        std::array<std::byte, packet_header_bytes_max> front;
        const std::size_t size = write_packet_header(front, header);
        Bytes packet(front.begin(), front.begin() + static_cast<std::ptrdiff_t>(size));
        if (!bunches.empty()) {
            append(packet,
                   written([&](BitWriter& writer) { writer.write_packed_uint(bunches.size()); }));
        }
        for (const Bytes& each : bunches) {
            append(packet, each);
        }
        append(packet, blocks);
        return packet;
    }

    /// In order, and without a gap.
    void acknowledge(std::uint16_t sequence) noexcept {
        if (header.ack != 0) {
            header.ack_words[0] = header.ack_words[0] << 1 | 1;
        }
        header.ack = sequence;
    }

    PacketHeader header;
};

}  // namespace replayout::bench
