// SPDX-License-Identifier: MIT
//
// Whole messages with their headers: the vectors, both ways, and cut at every byte.
#include <replayout/unet/unet_messages.h>
#include <replayout/unet/unet_packet.h>

#include <string>

#include "support/checks/exact_bytes.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

/// Of the script. A span into it is good for the whole test.
const Bytes& initial_state() {
    static const Bytes bytes = unet_bytes("42 F9 52 CF S");
    return bytes;
}

NetworkHash128 counting_hash() {
    NetworkHash128 hash;
    for (std::size_t i = 0; i < hash.bytes.size(); ++i) {
        hash.bytes[i] = static_cast<std::byte>(i);
    }
    return hash;
}

template <typename Message>
Bytes framed(const Message& message) {
    Bytes memory(1024);
    NetworkWriter writer(memory);
    REQUIRE(write_message(writer, message) == UNetError::None);
    return to_bytes(writer.bytes());
}

/// The message of a packet of one, which must be of its type and end where its payload ends.
template <typename Message>
Message unframed(const Bytes& packet) {
    UNetReceiveCounters counters;
    Message message;
    const UNetError error = receive_unet_packet(
        packet, counters, UNetStrictness::Strict, [&](std::int16_t type, NetworkReader& reader) {
            CHECK(type == static_cast<std::int16_t>(Message::type));
            CHECK(read_payload(reader, message));
            return UNetHandled::Taken;
        });
    CHECK(error == UNetError::None);
    CHECK(counters.messages == 1);
    CHECK(counters.messages_failed == 0);
    return message;
}

/// A message and the bytes that it points into.
template <typename Message>
struct Kept {
    Bytes bytes;
    Message message;

    const Message* operator->() const { return &message; }
};

/// `message` as `expected`; gives what is read back.
template <typename Message>
Kept<Message> check_message(std::string_view expected, const Message& message) {
    CAPTURE(expected);
    Kept<Message> kept{unet_bytes(expected), {}};
    CHECK(to_hex(framed(message)) == to_hex(kept.bytes));
    kept.message = unframed<Message>(kept.bytes);
    return kept;
}

/// Payloads that are cut are refused; `taken_from` is from how many bytes on one is whole.
template <typename Message>
void check_cut(const Message& message, std::size_t taken_from) {
    const Bytes whole = framed(message);
    const std::span<const std::byte> payload = std::span(whole).subspan(unet_header_bytes);
    for (std::size_t count = 0; count < taken_from; ++count) {
        CAPTURE(count);
        const ExactBytes exact(payload.first(count));
        NetworkReader reader(exact.span());
        Message read;
        CHECK_FALSE(read_payload(reader, read));
        CHECK(reader.error() == UNetError::EndOfBytes);
    }
}

TEST_CASE("UpdateVars: the vectors of the script, framed", "[behaviours][unet_messages]") {
    const auto check = [](std::string_view expected, std::uint32_t net_id,
                          std::string_view sections) {
        const Bytes bytes = unet_bytes(sections);
        const auto read = check_message(expected, UNetUpdateVars{NetworkInstanceId{net_id}, bytes});
        CHECK(read->net_id.value == net_id);
        CHECK(to_hex(read->sections) == to_hex(bytes));
    };
    check("03 00 08 00 01 01 42", 1, "01 42");
    check("16 00 08 00 01 07 42 F9 52 CF S", 1, "07 42 F9 52 CF S");
    check("06 00 08 00 F1 3C 02 F9 52 CF", 300, "02 F9 52 CF");
    check("04 00 08 00 01 00 01 42", 1, "00 01 42");
}

TEST_CASE(
    "UpdateVars: written in place, the sections of all behaviours, of which the second is dirty",
    "[behaviours][unet_messages]") {
    Bytes memory(64);
    NetworkWriter writer(memory);
    const ScriptData data = example_data();
    UNetMessageWriter frame(writer, UNetMessageType::UpdateVars);
    writer.write(NetworkInstanceId{1});
    for (const std::uint32_t mask : {0u, 1u}) {
        write_unet_delta(writer, one_class, mask, UNetMaskForm::Seed,
                         [&](std::uint32_t bit) { data.write(writer, bit); });
    }
    CHECK(frame.finish() == UNetError::None);
    CHECK(to_hex(writer.bytes()) == to_hex(unet_bytes("04 00 08 00 01 00 01 42")));
}

TEST_CASE("UpdateVars: those of two objects stand in one packet", "[behaviours][unet_messages]") {
    Bytes memory(64);
    NetworkWriter writer(memory);
    const Bytes first = unet_bytes("01 42");
    const Bytes second = unet_bytes("02 F9 52 CF");
    CHECK(write_message(writer, UNetUpdateVars{NetworkInstanceId{1}, first}) == UNetError::None);
    CHECK(write_message(writer, UNetUpdateVars{NetworkInstanceId{2}, second}) == UNetError::None);
    const Bytes packet = unet_bytes("03 00 08 00 01 01 42 05 00 08 00 02 02 F9 52 CF");
    CHECK(to_hex(writer.bytes()) == to_hex(packet));

    UNetReceiveCounters counters;
    std::string seen;
    CHECK(receive_unet_packet(
              packet, counters, UNetStrictness::Strict, [&](std::int16_t, NetworkReader& reader) {
                  UNetUpdateVars message;
                  CHECK(read_payload(reader, message));
                  seen +=
                      std::to_string(message.net_id.value) + ": " + to_hex(message.sections) + "; ";
                  return UNetHandled::Taken;
              }) == UNetError::None);
    CHECK(seen == "1: 01 42; 2: 02 f9 52 cf; ");
}

TEST_CASE("ObjectSpawn: its vector, both ways", "[behaviours][unet_messages]") {
    const auto read = check_message(
        "43 00 03 00 01 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 12*00 14 00 42 F9 52 CF S "
        "12*00 00 00 80 3F",
        UNetObjectSpawn{NetworkInstanceId{1}, counting_hash(), {}, initial_state(), Quat{}});
    CHECK(read->net_id.value == 1);
    CHECK(read->asset_id == counting_hash());
    CHECK(read->position == Vector3{});
    CHECK(to_hex(read->payload) == to_hex(initial_state()));
    CHECK(read->rotation == Quat{});
}

TEST_CASE("ObjectSpawn: the rotation may be missing, and half of one is an error",
          "[behaviours][unet_messages]") {
    const UNetObjectSpawn spawn{
        NetworkInstanceId{1}, counting_hash(), {1, 2, 3}, initial_state(), {}};
    CHECK_FALSE(unframed<UNetObjectSpawn>(framed(spawn)).rotation.has_value());
    CHECK(unframed<UNetObjectSpawn>(framed(spawn)).position == Vector3{1, 2, 3});

    const Bytes whole = framed(spawn);
    for (std::size_t more = 1; more < 16; ++more) {
        Bytes payload(whole.begin() + unet_header_bytes, whole.end());
        payload.resize(payload.size() + more);
        UNetObjectSpawn read;
        NetworkReader strict(payload);
        CHECK_FALSE(read_payload(strict, read));
        CHECK(strict.error() == UNetError::BytesLeftOver);
        CHECK(read.net_id.is_empty());
        NetworkReader lenient(payload, UNetStrictness::Lenient);
        CHECK(read_payload(lenient, read));
        CHECK_FALSE(read.rotation.has_value());
    }
}

TEST_CASE("ObjectSpawnScene: its vector, both ways", "[behaviours][unet_messages]") {
    const auto read = check_message(
        "24 00 0A 00 01 05 12*00 14 00 42 F9 52 CF S",
        UNetObjectSpawnScene{NetworkInstanceId{1}, NetworkSceneId{5}, {}, initial_state()});
    CHECK(read->net_id.value == 1);
    CHECK(read->scene_id.value == 5);
    CHECK(to_hex(read->payload) == to_hex(initial_state()));
}

TEST_CASE("SyncList: the vector of an item that is added, both ways",
          "[behaviours][unet_messages]") {
    const Bytes item = unet_bytes("2A");
    const auto read = check_message(
        "09 00 09 00 01 FB 04 03 02 01 00 00 2A",
        UNetSyncList{NetworkInstanceId{1}, 0x01020304, UNetListOperation::Add, 0, item});
    CHECK(read->net_id.value == 1);
    CHECK(read->list_hash == 0x01020304);
    CHECK(read->operation == UNetListOperation::Add);
    CHECK(read->index == 0);
    CHECK(to_hex(read->item) == "2a");
}

TEST_CASE("SyncList: operations have UNet's numbers, and the seventh is unknown",
          "[behaviours][unet_messages]") {
    for (std::uint8_t number = 0; number < 7; ++number) {
        const Bytes payload = make_bytes(0x01, 0x02, number, 0x03);
        NetworkReader reader(payload);
        UNetSyncList read;
        CHECK(read_payload(reader, read));
        CHECK(static_cast<std::uint8_t>(read.operation) == number);
        CHECK(read.index == 3);
        CHECK(read.item.empty());
    }
    CHECK(static_cast<int>(UNetListOperation::RemoveAt) == 4);
    CHECK(static_cast<int>(UNetListOperation::Dirty) == 6);
    const Bytes payload = make_bytes(0x01, 0x02, 0x07, 0x03);
    NetworkReader reader(payload);
    UNetSyncList read;
    CHECK_FALSE(read_payload(reader, read));
    CHECK(reader.error() == UNetError::UnknownOperation);
}

TEST_CASE("ObjectDestroy, ObjectHide, Owner and SpawnFinished are a few packed numbers",
          "[behaviours][unet_messages]") {
    CHECK(check_message("02 00 01 00 F1 3C", UNetObjectDestroy{{300}})->net_id.value == 300);
    CHECK(check_message("01 00 0D 00 07", UNetObjectHide{{7}})->net_id.value == 7);
    const auto owner = check_message("02 00 04 00 07 02", UNetOwner{{7}, 2});
    CHECK(owner->net_id.value == 7);
    CHECK(owner->player_controller_id == 2);
    CHECK(
        check_message("06 00 04 00 07 FB FF FF FF FF", UNetOwner{{7}, -1})->player_controller_id ==
        -1);
    CHECK(check_message("01 00 0C 00 00", UNetSpawnFinished{0})->state == 0);
    CHECK(check_message("01 00 0C 00 01", UNetSpawnFinished{1})->state == 1);
}

TEST_CASE(
    "UNet messages: a payload that is cut at any byte is an error, and no byte behind is read",
    "[behaviours][unet_messages]") {
    const Bytes item = unet_bytes("2A");
    check_cut(UNetUpdateVars{{300}, {}}, 2);
    // Without its rotation a spawn is whole.
    check_cut(UNetObjectSpawn{{1}, counting_hash(), {}, initial_state(), Quat{}}, 1 + 16 + 12 + 22);
    check_cut(UNetObjectSpawnScene{{1}, {5}, {}, initial_state()}, 1 + 1 + 12 + 22);
    // What follows the index is the item, of any length.
    check_cut(UNetSyncList{{1}, 0x01020304, UNetListOperation::Set, 300, item}, 1 + 5 + 1 + 2);
    check_cut(UNetObjectDestroy{{300}}, 2);
    check_cut(UNetObjectHide{{300}}, 2);
    check_cut(UNetOwner{{300}, -1}, 2 + 5);
    check_cut(UNetSpawnFinished{300}, 2);
}

TEST_CASE("UNet messages: a byte too many is an error, and the struct stays as it was",
          "[behaviours][unet_messages]") {
    const auto check = [](auto message) {
        Bytes whole = framed(message);
        whole.push_back(std::byte{0});
        const std::span<const std::byte> bytes(whole);
        NetworkReader reader(bytes.subspan(unet_header_bytes));
        decltype(message) read;
        CHECK_FALSE(read_payload(reader, read));
        CHECK(reader.error() == UNetError::BytesLeftOver);
        return read;
    };
    CHECK(check(UNetObjectDestroy{{300}}).net_id.is_empty());
    CHECK(check(UNetOwner{{300}, 1}).net_id.is_empty());
    CHECK(check(UNetSpawnFinished{1}).state == 0);
    CHECK(check(UNetObjectSpawnScene{{1}, {5}, {}, initial_state()}).payload.empty());
}

}  // namespace
}  // namespace replayout::test
