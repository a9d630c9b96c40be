// SPDX-License-Identifier: MIT
#include "support/hostile/packet_forge.h"

#include <replayout/bit_reader.h>

#include <algorithm>
#include <array>

#include "support/checks/catch.h"

namespace replayout::test {

namespace {

// Control messages: the first byte says which.
constexpr auto welcome_kind = std::byte{2};
constexpr auto goodbye_kind = std::byte{3};

[[nodiscard]] Bunch make_channel_bunch(std::uint32_t channel, std::uint16_t sequence,
                                       Bytes payload) {
    BunchHeader header;
    header.channel = ChannelIndex{channel};
    header.sequence = sequence;
    return make_bunch(header, std::move(payload));
}

}  // namespace

Bytes written(const std::function<void(BitWriter&)>& write) {
    Bytes bytes(64 * 1024);
    BitWriter writer(bytes);
    write(writer);
    REQUIRE(!writer.overflowed());
    bytes.resize(writer.byte_count());
    return bytes;
}

bool Packet::has_open(std::uint32_t channel) const noexcept {
    return std::any_of(bunches.begin(), bunches.end(), [&](const Bunch& bunch) {
        return bunch.header.is_open && bunch.header.channel.value == channel;
    });
}

bool Packet::has_close(std::uint32_t channel) const noexcept {
    return std::any_of(bunches.begin(), bunches.end(), [&](const Bunch& bunch) {
        return bunch.header.is_close && bunch.header.channel.value == channel;
    });
}

bool Packet::has_open() const noexcept {
    return std::any_of(bunches.begin(), bunches.end(),
                       [](const Bunch& bunch) { return bunch.header.is_open; });
}

bool Packet::has_part() const noexcept {
    return std::any_of(bunches.begin(), bunches.end(),
                       [](const Bunch& bunch) { return bunch.header.is_partial; });
}

bool Packet::has_control() const noexcept {
    return std::any_of(bunches.begin(), bunches.end(),
                       [](const Bunch& bunch) { return bunch.header.channel.is_control(); });
}

std::optional<Packet> parse_packet(std::span<const std::byte> datagram) {
    Packet packet;
    const std::size_t header_bytes = read_packet_header(datagram, packet.header);
    if (header_bytes == 0) {
        return std::nullopt;
    }
    BitReader reader(datagram.subspan(header_bytes));
    const std::uint64_t bunch_count = packet.header.has_bunches ? reader.read_packed_uint() : 0;
    for (std::uint64_t i = 0; i < bunch_count && !reader.failed(); ++i) {
        const BunchHeader header = read_bunch_header(reader);
        packet.bunches.push_back({header, to_bytes(reader.take_bytes(header.payload_bytes))});
    }
    if (reader.failed()) {
        return std::nullopt;
    }
    packet.blocks = to_bytes(reader.take_bytes(reader.bits_left() / 8));
    return packet;
}

Bunch make_bunch(BunchHeader header, Bytes payload) {
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return {header, std::move(payload)};
}

Bunch open_bunch(std::uint32_t channel, NetGUID guid, std::uint64_t layout_number,
                 std::uint64_t facts, const std::function<void(BitWriter&)>& write_record) {
    Bunch bunch = make_channel_bunch(channel, 1, written([&](BitWriter& writer) {
                                         writer.write_packed_uint(guid.value);
                                         writer.write_packed_uint(layout_number);
                                         writer.write_packed_uint(facts);
                                         if (write_record) {
                                             write_record(writer);
                                         }
                                     }));
    bunch.header.is_open = true;
    return bunch;
}

Bunch message_bunch(std::uint32_t channel, std::uint16_t sequence, Bytes message) {
    Bunch bunch = make_channel_bunch(channel, sequence, std::move(message));
    bunch.header.is_message = true;
    return bunch;
}

Bunch close_bunch(std::uint32_t channel, std::uint16_t sequence, ChannelCloseReason reason) {
    Bunch bunch = make_channel_bunch(channel, sequence, {static_cast<std::byte>(reason)});
    bunch.header.is_close = true;
    return bunch;
}

Bunch value_bunch(std::uint32_t channel, std::uint16_t sequence, Bytes block) {
    return make_channel_bunch(channel, sequence, std::move(block));
}

Bunch control_bunch(std::uint16_t sequence, Bytes message) {
    return make_channel_bunch(0, sequence, std::move(message));
}

Bytes welcome_bytes() {
    return {welcome_kind};
}

Bytes goodbye_bytes(std::uint8_t reason) {
    return {goodbye_kind, std::byte{reason}, std::byte{0},
            std::byte{0}, std::byte{0},      std::byte{0}};
}

Bytes make_block(std::uint32_t handle_count, std::initializer_list<std::uint32_t> handles,
                 const std::function<void(BitWriter&)>& write_values) {
    return written([&](BitWriter& writer) {
        ChangeMask mask(std::pmr::get_default_resource());
        mask.reset(handle_count);
        for (const std::uint32_t handle : handles) {
            mask.set(handle - 1);
        }
        write_change_mask(writer, mask, EmptySet::Impossible);
        write_values(writer);
        writer.finish_byte();
    });
}

Bytes block_of(std::uint32_t channel, const Bytes& block) {
    return written([&](BitWriter& writer) {
        writer.write_packed_uint(0);
        writer.write_packed_uint(channel);
        writer.write_bytes(block);
    });
}

Bytes block_with_length_of(std::uint32_t channel, const Bytes& block, bool more_parts_follow) {
    return written([&](BitWriter& writer) {
        writer.write_packed_uint(1);
        writer.write_packed_uint(channel);
        writer.write_packed_uint(block.size() << 1 | (more_parts_follow ? 1u : 0u));
        writer.write_bytes(block);
    });
}

Bytes PacketForge::make(const std::vector<Bunch>& bunches, const Bytes& blocks) {
    const Bytes payload = written([&](BitWriter& writer) {
        if (!bunches.empty()) {
            writer.write_packed_uint(bunches.size());
        }
        for (const Bunch& bunch : bunches) {
            write_bunch_header(writer, bunch.header);
            writer.write_bytes(bunch.payload);
        }
        writer.write_bytes(blocks);
    });
    return make_raw(!bunches.empty(), payload);
}

Bytes PacketForge::make_raw(bool has_bunches, std::span<const std::byte> payload) {
    ++header_.sequence;
    header_.has_bunches = has_bunches;
    std::array<std::byte, packet_header_bytes_max> header_bytes;
    const std::size_t size = write_packet_header(header_bytes, header_);
    Bytes packet(header_bytes.begin(), header_bytes.begin() + static_cast<std::ptrdiff_t>(size));
    packet.insert(packet.end(), payload.begin(), payload.end());
    return packet;
}

}  // namespace replayout::test
