// SPDX-License-Identifier: MIT
#include <replayout/unet/unet_packet.h>

#include <array>
#include <string>
#include <string_view>

#include "support/checks/exact_bytes.h"
#include "support/checks/heap_count.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

/// Takes messages of the types 8 and 60, and reads as many bytes as it is told to.
struct Receiver {
    std::size_t bytes_to_read = 100;
    UNetReceiveCounters counters{};
    std::string seen{};

    UNetError receive(const Bytes& packet, UNetStrictness strictness = UNetStrictness::Strict) {
        const ExactBytes exact(packet);
        return receive_unet_packet(
            exact.span(), counters, strictness, [&](std::int16_t type, NetworkReader& reader) {
                if (type != 8 && type != 60) {
                    return UNetHandled::UnknownType;
                }
                seen += std::to_string(type) + ":";
                for (std::size_t i = 0; i < bytes_to_read && reader.bytes_left() > 0; ++i) {
                    seen += " " + std::to_string(reader.read_uint8());
                }
                seen += "; ";
                return UNetHandled::Taken;
            });
    }
};

TEST_CASE("UNet packets: messages are handed on in order, the game's own among them",
          "[behaviours][unet_packet]") {
    Receiver receiver;
    CHECK(receiver.receive(unet_bytes("01 00 08 00 07 00 00 3C 00 02 00 08 00 01 02")) ==
          UNetError::None);
    CHECK(receiver.seen == "8: 7; 60:; 8: 1 2; ");
    CHECK(receiver.counters.packets == 1);
    CHECK(receiver.counters.messages == 3);
    CHECK(receiver.counters.messages_failed == 0);
    CHECK(receiver.counters.packets_cut == 0);
    CHECK(receiver.receive({}) == UNetError::None);
    CHECK(receiver.counters.packets == 2);
}

TEST_CASE("UNet packets: a size beyond the packet drops the rest, and what came before stays",
          "[behaviours][unet_packet]") {
    Receiver receiver;
    CHECK(receiver.receive(unet_bytes("01 00 08 00 07 03 00 08 00 01 02")) ==
          UNetError::SizeBeyondPacket);
    CHECK(receiver.seen == "8: 7; ");
    CHECK(receiver.counters.messages == 1);
    CHECK(receiver.counters.packets_cut == 1);
    CHECK(receiver.counters.bytes_dropped == 6);
    CHECK(receiver.counters.count_of(UNetError::SizeBeyondPacket) == 1);
    // A header without a payload, too.
    CHECK(receiver.receive(unet_bytes("01 00 08 00")) == UNetError::SizeBeyondPacket);
}

TEST_CASE("UNet packets: a type that nobody takes drops the rest", "[behaviours][unet_packet]") {
    Receiver receiver;
    CHECK(receiver.receive(unet_bytes("01 00 08 00 07 01 00 3D 00 05 01 00 08 00 09")) ==
          UNetError::UnknownMessageType);
    CHECK(receiver.seen == "8: 7; ");
    CHECK(receiver.counters.messages == 1);
    CHECK(receiver.counters.bytes_dropped == 10);
    CHECK(receiver.counters.count_of(UNetError::UnknownMessageType) == 1);
    // A negative number is a type like any other.
    CHECK(receiver.receive(unet_bytes("00 00 FF FF")) == UNetError::UnknownMessageType);
}

TEST_CASE("UNet packets: half a header drops the rest", "[behaviours][unet_packet]") {
    for (std::size_t count = 1; count < unet_header_bytes; ++count) {
        Receiver receiver;
        Bytes packet = unet_bytes("01 00 08 00 07");
        packet.resize(packet.size() + count);
        CHECK(receiver.receive(packet) == UNetError::EndOfBytes);
        CHECK(receiver.seen == "8: 7; ");
        CHECK(receiver.counters.bytes_dropped == count);
        CHECK(receiver.counters.count_of(UNetError::EndOfBytes) == 1);
    }
}

TEST_CASE("UNet packets: a handler that reads too little does not shift the next message",
          "[behaviours][unet_packet]") {
    const Bytes packet = unet_bytes("03 00 08 00 01 02 03 01 00 08 00 09");
    Receiver strict;
    strict.bytes_to_read = 1;
    CHECK(strict.receive(packet) == UNetError::None);
    CHECK(strict.seen == "8: 1; 8: 9; ");
    CHECK(strict.counters.messages == 2);
    CHECK(strict.counters.messages_failed == 1);
    CHECK(strict.counters.count_of(UNetError::BytesLeftOver) == 1);
    Receiver lenient;
    lenient.bytes_to_read = 1;
    CHECK(lenient.receive(packet, UNetStrictness::Lenient) == UNetError::None);
    CHECK(lenient.seen == strict.seen);
    CHECK(lenient.counters.messages_failed == 0);
}

TEST_CASE("UNet packets: a handler that reads too much fails alone", "[behaviours][unet_packet]") {
    const Bytes packet = unet_bytes("02 00 08 00 01 02 04 00 08 00 03 04 05 06");
    UNetReceiveCounters counters;
    std::string seen;
    CHECK(receive_unet_packet(packet, counters, UNetStrictness::Strict,
                              [&](std::int16_t, NetworkReader& reader) {
                                  seen += std::to_string(reader.read_uint32()) + "; ";
                                  return UNetHandled::Taken;
                              }) == UNetError::None);
    CHECK(seen == "0; 100992003; ");
    CHECK(counters.messages == 2);
    CHECK(counters.messages_failed == 1);
    CHECK(counters.count_of(UNetError::EndOfBytes) == 1);
}

TEST_CASE("UNet packets: one cut at any byte hands on the messages that are whole",
          "[behaviours][unet_packet]") {
    const Bytes whole = unet_bytes("03 00 08 00 01 01 42 05 00 08 00 02 02 F9 52 CF");
    for (std::size_t count = 0; count < whole.size(); ++count) {
        CAPTURE(count);
        Receiver receiver;
        const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count));
        const UNetError error = receiver.receive(cut);
        CHECK((error == UNetError::None) == (count == 0 || count == 7));
        CHECK(receiver.counters.messages == (count < 7 ? 0 : 1));
        CHECK(receiver.counters.bytes_dropped == (count < 7 ? count : count - 7));
    }
}

TEST_CASE("UNet packets: a message that does not fit is taken back, and those before it stand",
          "[behaviours][unet_packet]") {
    Bytes memory(12);
    NetworkWriter writer(memory);
    CHECK(write_message(writer, UNetObjectHide{{7}}) == UNetError::None);
    const Bytes sections(8);
    CHECK(write_message(writer, UNetUpdateVars{{1}, sections}) == UNetError::BufferFull);
    CHECK(to_hex(writer.bytes()) == "01 00 0d 00 07");
    CHECK_FALSE(writer.failed());
    CHECK(write_message(writer, UNetObjectDestroy{{7}}) == UNetError::None);
    CHECK(to_hex(writer.bytes()) == "01 00 0d 00 07 01 00 01 00 07");
}

TEST_CASE("UNet packets: a message of 65534 bytes with its header is written, a longer one refused",
          "[behaviours][unet_packet]") {
    Bytes memory(70'000);
    NetworkWriter writer(memory);
    const Bytes sections(65534 - 4 - 1);
    CHECK(write_message(writer, UNetUpdateVars{{1}, sections}) == UNetError::None);
    CHECK(to_hex(writer.bytes().first(5)) == "fa ff 08 00 01");
    writer.rewind({0});
    const Bytes longer(sections.size() + 1);
    CHECK(write_message(writer, UNetUpdateVars{{1}, longer}) == UNetError::MessageTooLong);
    CHECK(writer.byte_count() == 0);
}

TEST_CASE("UNet packets: a message is discarded when nothing turns out to have changed",
          "[behaviours][unet_packet]") {
    Bytes memory(16);
    NetworkWriter writer(memory);
    UNetMessageWriter frame(writer, UNetMessageType::UpdateVars);
    writer.write(NetworkInstanceId{1});
    frame.discard();
    CHECK(writer.byte_count() == 0);
    CHECK(write_message(writer, UNetObjectHide{{7}}) == UNetError::None);
}

TEST_CASE("UNet packets: writing and reading one takes nothing from the heap",
          "[behaviours][unet_packet]") {
    std::array<std::byte, 256> memory{};
    std::array<std::byte, 16> changes{};
    const std::uint64_t before = heap_allocation_count();
    NetworkWriter section(changes);
    write_unet_delta(section, one_class, 5, UNetMaskForm::Weaver, [&](std::uint32_t bit) {
        bit == 0 ? write_woven(section, 66) : section.write_string("text");
    });
    NetworkWriter writer(memory);
    bool is_right =
        write_message(writer, UNetUpdateVars{{1}, section.bytes()}) == UNetError::None &&
        write_message(writer, UNetObjectSpawn{{2}, {}, {}, changes, Quat{}}) == UNetError::None;
    UNetReceiveCounters counters;
    std::uint32_t number = 0;
    std::string_view text;
    receive_unet_packet(
        writer.bytes(), counters, UNetStrictness::Strict,
        [&](std::int16_t type, NetworkReader& reader) {
            if (type == static_cast<std::int16_t>(UNetMessageType::ObjectSpawn)) {
                UNetObjectSpawn spawn;
                is_right = read_payload(reader, spawn) && spawn.payload.size() == 16 && is_right;
                return UNetHandled::Taken;
            }
            UNetUpdateVars update;
            is_right = read_payload(reader, update) && is_right;
            NetworkReader values(update.sections, reader.strictness());
            is_right = read_unet_delta(values, one_class,
                                       [&](std::uint32_t bit) {
                                           bit == 0 ? read_woven(values, number)
                                                    : void(text = values.read_string());
                                       }) &&
                       is_right;
            return UNetHandled::Taken;
        });
    const std::uint64_t taken = heap_allocation_count() - before;
    CHECK(taken == 0);
    CHECK(is_right);
    CHECK(number == 66);
    CHECK(text == "text");
    CHECK(counters.messages == 2);
}

TEST_CASE("UNet packets: whatever bytes come, every one is in a message or dropped, and counted",
          "[behaviours][unet_packet][random]") {
    const SeedRange seeds = seed_range(1, 200);
    std::uint64_t whole_packets = 0;
    std::uint64_t cut_packets = 0;
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        SeededRandom random(seed);
        Bytes packet;
        for (std::uint32_t i = random.below(6); i > 0; --i) {
            const std::uint32_t size = random.below(20);
            packet.push_back(static_cast<std::byte>(random.percent(5) ? 200 : size));
            packet.push_back(std::byte{0});
            packet.push_back(static_cast<std::byte>(random.percent(5) ? 99 : 8));
            packet.push_back(std::byte{0});
            for (std::uint32_t byte = 0; byte < size; ++byte) {
                packet.push_back(static_cast<std::byte>(random.bits()));
            }
        }
        if (random.percent(20)) {
            packet.resize(packet.size() - random.below(std::uint32_t(packet.size()) + 1));
        }
        const ExactBytes exact(packet);
        UNetReceiveCounters counters;
        std::size_t bytes_handed = 0;
        const UNetError error =
            receive_unet_packet(exact.span(), counters, UNetStrictness::Strict,
                                [&](std::int16_t type, NetworkReader& reader) {
                                    if (type != 8) {
                                        return UNetHandled::UnknownType;
                                    }
                                    bytes_handed += unet_header_bytes + reader.take_rest().size();
                                    return UNetHandled::Taken;
                                });
        REQUIRE(bytes_handed + counters.bytes_dropped == packet.size());
        REQUIRE((error == UNetError::None) == (counters.packets_cut == 0));
        (error == UNetError::None ? whole_packets : cut_packets) += 1;
    }
    if (seeds.is_default) {
        CHECK(whole_packets > 50);
        CHECK(cut_packets > 20);
    }
}

}  // namespace
}  // namespace replayout::test
