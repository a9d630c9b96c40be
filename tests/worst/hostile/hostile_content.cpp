// SPDX-License-Identifier: MIT
#include "worst/hostile/hostile_content.h"

#include <algorithm>

namespace replayout::worst {

namespace {

constexpr std::size_t message_bytes_max = 1'000;
constexpr std::uint32_t goodbye_kind = 3;

}  // namespace

const bench::Bytes& hello_of_classes() {
    static const bench::Bytes hello = [] {
        LoopbackNetwork network({}, std::pmr::new_delete_resource());
        Transport& server = network.endpoint(server_peer);
        World empty;
        NetDriver client(plain_settings(std::pmr::new_delete_resource()),
                         network.endpoint(client_peer), empty);
        (void)Classes::get().add_to(client);
        (void)client.connect(server_peer, NetTime());
        client.tick_flush(NetTime());
        bench::Bytes buffer(datagram_bytes_max);
        PeerId peer;
        buffer.resize(server.receive(peer, buffer));
        PacketHeader header;
        const std::size_t size = read_packet_header(buffer, header);
        BitReader reader(std::span<const std::byte>(buffer).subspan(size));
        (void)reader.read_packed_uint();
        const BunchHeader bunch = read_bunch_header(reader);
        const auto payload = reader.take_bytes(bunch.payload_bytes);
        return bench::Bytes(payload.begin(), payload.end());
    }();
    return hello;
}

void add_calls(HostileLine& line, const Step& step, std::uint32_t channel_count) {
    const std::uint32_t how = step.numbers[5];
    const std::uint32_t channel = (how >> 8) % channel_count + 1;
    const std::uint32_t function = step.numbers[0] % (2 * function_count);
    const Shape shape{step.numbers[4], step.numbers[2], step.numbers[3], step.numbers[3] % 64, 1};
    const bench::Bytes payload = call_bytes(function % function_count, shape);
    if (payload.size() > packet_bytes) {
        return;
    }
    const bool is_reliable = function >= function_count || function == 1;
    for (std::uint32_t i = 0; i < step.numbers[1] % 512 + 1; ++i) {
        std::uint16_t sequence = 0;
        if (is_reliable) {
            sequence = (how & 16) != 0
                           ? line.missing_sequence(channel, true)
                           : line.next_sequence(channel, true, i == 0 ? (how >> 1) % 8 : 0);
        }
        if (!line.add(bench::call_bunch(channel, sequence, payload))) {
            return;
        }
    }
}

void add_part(HostileLine& line, const Step& step, std::uint32_t channel_count) {
    const std::uint32_t how = step.numbers[2];
    BunchHeader header;
    header.channel = ChannelIndex{step.numbers[3] % channel_count + 1};
    header.is_call = (how & 2) == 0;
    header.is_unreliable = header.is_call && (how & 4) != 0;
    header.is_partial = true;
    header.is_partial_initial = step.numbers[0] % 3 == 0;
    header.is_partial_final = step.numbers[0] % 3 == 2;
    header.sequence = line.next_sequence(header.channel.value, header.is_call, (how >> 3) % 4);
    const std::size_t bytes =
        step.numbers[1] % 2 == 0 ? fragment_bytes(packet_bytes) : step.numbers[1] % 1'200;
    (void)line.add(bench::bunch(header, bench::Bytes(bytes, std::byte{1})));
}

void add_control(HostileLine& line, const Step& step) {
    const std::uint32_t kind = step.numbers[0] % 12;
    const Bytes message = bench::written([&](BitWriter& writer) {
        writer.write_bits(kind, 8);
        if (kind == goodbye_kind) {
            writer.write_bits(step.numbers[1] % 20 + 1, 8);
            writer.write_bits(0, 32);
            return;
        }
        for (std::uint32_t i = 0;
             i < step.numbers[1] % 500 && writer.byte_count() < message_bytes_max; ++i) {
            writer.write_packed_uint(i + 1);
            bench::write_text(writer, step.numbers[2] % 97);
        }
    });
    (void)line.add(bench::message_bunch(0, line.next_sequence(0, false, 0), message));
}

void send_junk(HostileLine& line, const Step& step) {
    bench::Bytes junk(step.numbers[0] % datagram_bytes_max);
    std::uint32_t seed = step.numbers[1];
    for (std::byte& byte : junk) {
        seed = seed * 1'664'525 + 1'013'904'223;
        byte = static_cast<std::byte>(seed >> 24);
    }
    if (step.numbers[2] % 2 == 0 && junk.size() > 2) {
        junk[0] = static_cast<std::byte>(line.session());
        junk[1] = static_cast<std::byte>(line.session() >> 8);
    }
    line.send_raw(junk);
}

}  // namespace replayout::worst
