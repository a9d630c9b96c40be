// SPDX-License-Identifier: MIT
//
// UNet packets, strict and lenient: messages that are taken are written again, and read again they
// are the same; what is dropped is counted. And a script of reads, of which a failed one stays
// failed and moves nothing.
//
//     u8: bit 0 lenient   u8 count of reads   a byte for each   the packet
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>
#include <replayout/unet/unet_messages.h>
#include <replayout/unet/unet_packet.h>

#include "fuzz/fuzz_target.h"

namespace replayout::test {

namespace {

[[nodiscard]] Bytes payload_of(const auto& message) {
    Bytes bytes(70'000);
    NetworkWriter writer(bytes);
    write_payload(writer, message);
    REQUIRE_FALSE(writer.failed());
    return to_bytes(writer.bytes());
}

template <typename Message>
void check_message(NetworkReader& reader) {
    Message message;
    if (!read_payload(reader, message)) {
        REQUIRE(reader.failed());
        return;
    }
    // Of a lenient reader's the first writing may differ from what was read, the second may not.
    const Bytes written = payload_of(message);
    NetworkReader again(written);
    Message same;
    REQUIRE(read_payload(again, same));
    REQUIRE(payload_of(same) == written);
}

UNetHandled handle(std::int16_t type, NetworkReader& reader) {
    switch (static_cast<UNetMessageType>(type)) {
        case UNetMessageType::UpdateVars:
            check_message<UNetUpdateVars>(reader);
            break;
        case UNetMessageType::ObjectSpawn:
            check_message<UNetObjectSpawn>(reader);
            break;
        case UNetMessageType::ObjectSpawnScene:
            check_message<UNetObjectSpawnScene>(reader);
            break;
        case UNetMessageType::ObjectDestroy:
            check_message<UNetObjectDestroy>(reader);
            break;
        case UNetMessageType::ObjectHide:
            check_message<UNetObjectHide>(reader);
            break;
        case UNetMessageType::Owner:
            check_message<UNetOwner>(reader);
            break;
        case UNetMessageType::SpawnFinished:
            check_message<UNetSpawnFinished>(reader);
            break;
        case UNetMessageType::SyncList:
            check_message<UNetSyncList>(reader);
            break;
        default:
            return UNetHandled::UnknownType;
    }
    return UNetHandled::Taken;
}

/// Whether it gave anything but zero.
[[nodiscard]] bool read_one(NetworkReader& reader, std::uint32_t which) {
    switch (which % 8) {
        case 0:
            return reader.read_bool();
        case 1:
            return reader.read_uint32() != 0;
        case 2:
            return reader.read_packed_uint32() != 0;
        case 3:
            return reader.read_packed_uint64() != 0;
        case 4:
            return !reader.read_string().empty();
        case 5:
            return !reader.read_bytes_and_size().empty();
        case 6: {
            const std::size_t element_bytes = 1 + which / 8;
            const std::uint32_t count = reader.read_count(element_bytes);
            REQUIRE(count * element_bytes <= reader.bytes_left());
            return count != 0;
        }
        default: {
            Matrix4x4 value;
            reader.read(value);
            return false;
        }
    }
}

void check_script(std::span<const std::byte> ops, std::span<const std::byte> bytes,
                  UNetStrictness strictness) {
    NetworkReader reader(bytes, strictness);
    for (const std::byte op : ops) {
        const bool had_failed = reader.failed();
        const UNetError error = reader.error();
        const std::size_t before = reader.position();
        const bool has_value = read_one(reader, std::to_integer<std::uint32_t>(op));
        REQUIRE(reader.position() + reader.bytes_left() == bytes.size());
        REQUIRE(reader.position() >= before);
        REQUIRE((!had_failed || (reader.error() == error && !has_value)));
        REQUIRE((!had_failed || reader.position() == before));
    }
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    Bytes packet(2'000);
    NetworkWriter writer(packet);
    const Bytes some = make_bytes(1, 2, 3, 4);
    REQUIRE(write_message(writer, UNetObjectSpawn{{5}, {}, {1, 2, 3}, some, Quat{}}) ==
            UNetError::None);
    REQUIRE(write_message(writer, UNetObjectSpawnScene{{300}, {7}, {1, 2, 3}, some}) ==
            UNetError::None);
    REQUIRE(write_message(writer, UNetUpdateVars{{70'000}, some}) == UNetError::None);
    REQUIRE(write_message(writer, UNetOwner{{5}, 1}) == UNetError::None);
    REQUIRE(write_message(writer, UNetSpawnFinished{1}) == UNetError::None);
    REQUIRE(write_message(writer, UNetSyncList{{5}, 9, UNetListOperation::Set, 2, some}) ==
            UNetError::None);
    REQUIRE(write_message(writer, UNetObjectHide{{5}}) == UNetError::None);
    REQUIRE(write_message(writer, UNetObjectDestroy{{5}}) == UNetError::None);
    std::vector<Bytes> seeds;
    for (const std::uint64_t strictness : {0u, 1u}) {
        seeds.push_back(FuzzSeed().number(strictness, 1).number(0, 1).add(writer.bytes()).bytes);
    }
    Bytes values(200);
    NetworkWriter values_writer(values);
    values_writer.write_bool(true);
    values_writer.write_packed_uint64(1u << 30);
    values_writer.write_string("text");
    values_writer.write_bytes_and_size(some);
    values_writer.write_count(2);
    values_writer.write_uint32(1);
    const Bytes ops = make_bytes(0, 3, 4, 5, 6, 1);
    seeds.push_back(
        FuzzSeed().number(0, 1).number(ops.size(), 1).add(ops).add(values_writer.bytes()).bytes);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout;
    using namespace replayout::test;
    FuzzInput input(data, size);
    const auto strictness =
        (input.byte() & 1) != 0 ? UNetStrictness::Lenient : UNetStrictness::Strict;
    const auto ops = input.take(input.byte());
    const auto bytes = input.rest();
    check_script(ops, bytes, strictness);
    UNetReceiveCounters counters;
    const UNetError error = receive_unet_packet(bytes, counters, strictness, handle);
    REQUIRE(counters.packets == 1);
    REQUIRE(counters.bytes_dropped <= bytes.size());
    REQUIRE((counters.packets_cut != 0) == (error != UNetError::None));
    REQUIRE(counters.messages_failed <= counters.messages);
    REQUIRE(counters.messages * unet_header_bytes <= bytes.size());
    return 0;
}
