// SPDX-License-Identifier: MIT
#include <replayout/net_archive.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/types/test_package_map.h"

namespace replayout {
namespace {

enum class Small : std::int8_t { Minus = -1, Plus = 1 };
enum class Wide : std::uint64_t { Top = std::uint64_t{1} << 63 };

template <typename T>
Bytes save(T value) {
    std::array<std::byte, 32> memory{};
    BitWriter writer(memory);
    NetArchive archive(writer);
    archive.serialize(value);
    REQUIRE_FALSE(archive.failed());
    return to_bytes(writer.bytes());
}

template <typename T>
void check_round_trip(T value, std::size_t bit_count) {
    std::array<std::byte, 32> memory{};
    BitWriter writer(memory);
    NetArchive saving(writer);
    T written = value;
    saving.serialize(written);
    CHECK(writer.bit_count() == bit_count);
    CHECK(std::bit_cast<std::array<std::byte, sizeof(T)>>(written) ==
          std::bit_cast<std::array<std::byte, sizeof(T)>>(value));

    BitReader reader(writer.bytes(), 0, writer.bit_count(), nullptr);
    NetArchive loading(reader);
    T read{};
    loading.serialize(read);
    CHECK_FALSE(loading.failed());
    CHECK(std::bit_cast<std::array<std::byte, sizeof(T)>>(read) ==
          std::bit_cast<std::array<std::byte, sizeof(T)>>(value));
}

/// Text as serialize_string writes it, without its limits.
Bytes make_text(std::string_view text) {
    Bytes memory(text.size() + 10);
    BitWriter writer(memory);
    writer.write_packed_uint(text.size());
    writer.write_bytes(std::as_bytes(std::span(text)));
    return to_bytes(writer.bytes());
}

struct ReadText {
    std::string text = "before";
    bool is_failed = false;
};

ReadText read_text(const Bytes& bytes, std::uint32_t bytes_max, DecodeBudget* budget = nullptr) {
    BitReader reader(bytes, budget);
    NetArchive archive(reader);
    ReadText result;
    archive.serialize_string(result.text, bytes_max);
    result.is_failed = archive.failed();
    return result;
}

TEST_CASE("NetArchive: knows its direction", "[replayout][net_archive]") {
    std::array<std::byte, 4> memory{};
    BitWriter writer(memory);
    BitReader reader(memory);
    CHECK(NetArchive(writer).is_saving());
    CHECK_FALSE(NetArchive(writer).is_loading());
    CHECK(NetArchive(reader).is_loading());
    CHECK_FALSE(NetArchive(reader).is_saving());
}

TEST_CASE("NetArchive: every scalar comes back with its exact bits", "[replayout][net_archive]") {
    check_round_trip(true, 1);
    check_round_trip(false, 1);
    check_round_trip(std::int8_t{-128}, 8);
    check_round_trip(std::uint8_t{255}, 8);
    check_round_trip('x', 8);
    check_round_trip(std::numeric_limits<std::int16_t>::min(), 16);
    check_round_trip(std::uint16_t{0xbeef}, 16);
    check_round_trip(std::int32_t{-2}, 32);
    check_round_trip(std::numeric_limits<std::uint32_t>::max(), 32);
    check_round_trip(std::numeric_limits<std::int64_t>::min(), 64);
    check_round_trip(std::numeric_limits<std::uint64_t>::max(), 64);
    check_round_trip(Small::Minus, 8);
    check_round_trip(Wide::Top, 64);
    check_round_trip(-0.0f, 32);
    check_round_trip(std::numeric_limits<float>::denorm_min(), 32);
    check_round_trip(std::bit_cast<float>(0x7f80'0123u), 32);  // a signalling NaN with a payload
    check_round_trip(std::numeric_limits<double>::infinity(), 64);
    check_round_trip(std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0001}), 64);
}

TEST_CASE("NetArchive: a number is written by its value, low bit first",
          "[replayout][net_archive]") {
    CHECK(to_hex(save(std::int32_t{-2})) == "fe ff ff ff");
    CHECK(to_hex(save(std::uint16_t{0x1234})) == "34 12");
    CHECK(to_hex(save(1.0f)) == "00 00 80 3f");
    CHECK(to_hex(save(1.0)) == "00 00 00 00 00 00 f0 3f");
    CHECK(to_hex(save(Small::Minus)) == "ff");
}

TEST_CASE("NetArchive: bits and packed integers go both ways", "[replayout][net_archive]") {
    std::array<std::byte, 16> memory{};
    BitWriter writer(memory);
    NetArchive saving(writer);
    std::uint64_t bits = 0x1f5;
    std::uint64_t packed = 300;
    saving.serialize_bits(bits, 9);
    saving.serialize_packed_uint(packed);
    CHECK(writer.bit_count() == 9 + 16);

    BitReader reader(writer.bytes());
    NetArchive loading(reader);
    bits = packed = 0;
    loading.serialize_bits(bits, 9);
    loading.serialize_packed_uint(packed);
    CHECK(bits == 0x1f5);
    CHECK(packed == 300);
}

TEST_CASE("NetArchive: a full writer and an empty reader show as failed",
          "[replayout][net_archive]") {
    std::array<std::byte, 1> memory{};
    BitWriter writer(memory);
    NetArchive saving(writer);
    std::uint32_t value = 7;
    saving.serialize(value);
    CHECK(saving.failed());

    BitReader reader(memory);
    NetArchive loading(reader);
    loading.serialize(value);
    CHECK(loading.failed());
    CHECK(value == 0);
    double after = 3.0;
    loading.serialize(after);
    CHECK(after == 0.0);
}

TEST_CASE("NetArchive: text is a packed count of bytes and the bytes", "[replayout][net_archive]") {
    std::array<std::byte, 32> memory{};
    BitWriter writer(memory);
    NetArchive archive(writer);
    std::string text = "gr\xc3\xbcn";
    archive.serialize_string(text, 5);
    CHECK(to_hex(writer.bytes()) == "0a 67 72 c3 bc 6e");
    const ReadText read = read_text(to_bytes(writer.bytes()), 5);
    CHECK_FALSE(read.is_failed);
    CHECK(read.text == text);
}

TEST_CASE("NetArchive: text up to its limit is read, and one byte more is refused",
          "[replayout][net_archive]") {
    CHECK(read_text(make_text(""), 0).text.empty());
    CHECK(read_text(make_text("abcde"), 6).text == "abcde");
    CHECK(read_text(make_text("abcdef"), 6).text == "abcdef");
    CHECK(read_text(make_text("abcdefg"), 6).is_failed);
}

TEST_CASE("NetArchive: text that ends early is refused before memory is taken for it",
          "[replayout][net_archive]") {
    Bytes memory(20);
    BitWriter writer(memory);
    writer.write_packed_uint(std::uint64_t{1} << 60);
    DecodeBudget budget;
    const std::size_t before = budget.allocation_bytes;
    CHECK(read_text(memory, 0xffff'ffff, &budget).is_failed);
    CHECK(budget.allocation_bytes == before);

    Bytes text = make_text("abcdef");
    text.pop_back();
    CHECK(read_text(text, 100).is_failed);
}

TEST_CASE("NetArchive: text is charged to the decode budget", "[replayout][net_archive]") {
    DecodeBudget budget;
    budget.allocation_bytes = 6;
    CHECK_FALSE(read_text(make_text("abcdef"), 100, &budget).is_failed);
    CHECK(budget.allocation_bytes == 0);
    CHECK(read_text(make_text("a"), 100, &budget).is_failed);
}

TEST_CASE("NetArchive: malformed text is refused and the value stays", "[replayout][net_archive]") {
    const ReadText read = read_text(make_text("ab\xff"), 100);
    CHECK(read.is_failed);
    CHECK(read.text == "before");
}

TEST_CASE("NetArchive: a reference is its id, and tells whether that is mapped",
          "[replayout][net_archive]") {
    ServerPackageMap server(200);
    std::array<std::byte, 8> memory{};
    BitWriter writer(memory);
    NetArchive saving(writer);
    ObjectHandle object{77};
    CHECK(saving.serialize_object(object, &server));
    ObjectHandle null;
    CHECK(saving.serialize_object(null, &server));
    CHECK(to_hex(writer.bytes()) == "91 02 00");  // 200 in two groups, 0

    ClientPackageMap client;
    BitReader unmapped(writer.bytes());
    NetArchive loading(unmapped);
    object = ObjectHandle{5};
    CHECK_FALSE(loading.serialize_object(object, &client));
    CHECK(object.is_null());
    CHECK(loading.serialize_object(null, &client));
    CHECK_FALSE(loading.failed());

    client.bind(NetGUID{200}, ObjectHandle{9});
    BitReader mapped(writer.bytes());
    NetArchive loading_again(mapped);
    CHECK(loading_again.serialize_object(object, &client));
    CHECK(object == ObjectHandle{9});
}

TEST_CASE("NetArchive: a reference that cannot be read is null", "[replayout][net_archive]") {
    ClientPackageMap client;
    BitReader reader(std::span<const std::byte>{});
    NetArchive archive(reader);
    ObjectHandle object{5};
    (void)archive.serialize_object(object, &client);
    CHECK(object.is_null());
    CHECK(archive.failed());
}

TEST_CASE("NetArchive: text that is too long or not UTF-8 is refused while writing, too",
          "[replayout][net_archive]") {
    std::array<std::byte, 32> memory{};
    for (const std::string& text : {std::string("12345"), std::string("\xc0\x80")}) {
        BitWriter writer(memory);
        NetArchive archive(writer);
        std::string value = text;
        archive.serialize_string(value, 4);
        CHECK(archive.failed());
        CHECK(archive.is_refused());
        CHECK(writer.bit_count() == 0);
        CHECK(value == text);
    }
    BitWriter writer(memory);
    NetArchive archive(writer);
    std::string value = "1234";
    archive.serialize_string(value, 4);
    CHECK_FALSE(archive.failed());
}

TEST_CASE("NetArchive: a writer without room has failed, and refused nothing",
          "[replayout][net_archive]") {
    std::array<std::byte, 1> memory{};
    BitWriter writer(memory);
    NetArchive archive(writer);
    std::uint16_t value = 1;
    archive.serialize(value);
    CHECK(archive.failed());
    CHECK_FALSE(archive.is_refused());
}

TEST_CASE("NetArchive: reports the ids that a value names, and charges for them",
          "[replayout][net_archive]") {
    const Bytes bytes{std::byte{2}, std::byte{0}, std::byte{4}};  // ids 1, null, 2
    ClientPackageMap map;
    map.bind(NetGUID{2}, ObjectHandle{7});
    DecodeBudget budget;
    budget.allocation_bytes = 3 * sizeof(NetGUID);
    BitReader reader(bytes, &budget);
    Vector<NetGUID> guids;
    NetArchive archive(reader, &guids);
    ObjectHandle object;
    CHECK_FALSE(archive.serialize_object(object, &map));
    CHECK(archive.serialize_object(object, &map));
    CHECK(archive.serialize_object(object, &map));
    CHECK(object == ObjectHandle{7});
    archive.depend_on(NetGUID{});
    archive.depend_on(NetGUID{9});
    CHECK(std::vector<NetGUID>(guids.begin(), guids.end()) == std::vector<NetGUID>{{1}, {2}, {9}});
    CHECK_FALSE(archive.failed());
    archive.depend_on(NetGUID{10});
    CHECK(archive.failed());
}

TEST_CASE("NetArchive: asks what the receiver has, where there is one to ask",
          "[replayout][net_archive]") {
    class Nobody final : public ReceiverIds {
      public:
        [[nodiscard]] bool is_mapped(NetGUID) const override { return false; }
    };
    std::array<std::byte, 4> memory{};
    ServerPackageMap map(5);
    const Nobody nobody;
    Vector<NetGUID> missing;
    BitWriter writer(memory);
    CHECK(NetArchive(writer).receiver_has(ObjectHandle{1}, &map));
    NetArchive archive(writer, &nobody, &missing);
    CHECK(archive.receiver_has(ObjectHandle{}, &map));
    CHECK(missing.empty());
    CHECK_FALSE(archive.receiver_has(ObjectHandle{1}, &map));
    REQUIRE(missing.size() == 1);
    CHECK(missing[0] == NetGUID{5});
    BitReader reader(memory);
    CHECK(NetArchive(reader).receiver_has(ObjectHandle{1}, &map));
}

TEST_CASE("NetArchive: an object without an id is written as null, and is not mapped",
          "[replayout][net_archive]") {
    std::array<std::byte, 4> memory{};
    ClientPackageMap map;
    BitWriter writer(memory);
    NetArchive archive(writer);
    ObjectHandle object{77};
    CHECK_FALSE(archive.serialize_object(object, &map));
    CHECK(object == ObjectHandle{77});
    CHECK(to_hex(writer.bytes()) == "00");
    CHECK_FALSE(archive.failed());
}

TEST_CASE("NetArchive: what the receiver lacks is told only by its id, and only who wants to know",
          "[replayout][net_archive]") {
    class Nobody final : public ReceiverIds {
      public:
        [[nodiscard]] bool is_mapped(NetGUID) const override { return false; }
    };
    std::array<std::byte, 4> memory{};
    const Nobody nobody;
    ServerPackageMap server;
    ClientPackageMap stranger;
    Vector<NetGUID> missing;
    BitWriter writer(memory);
    CHECK_FALSE(NetArchive(writer, &nobody).receiver_has(ObjectHandle{1}, &server));
    CHECK_FALSE(NetArchive(writer, &nobody, &missing).receiver_has(ObjectHandle{1}, &stranger));
    CHECK(missing.empty());
}

TEST_CASE("NetArchive: who writes depends on nothing", "[replayout][net_archive]") {
    std::array<std::byte, 4> memory{};
    Vector<NetGUID> ids;
    BitWriter writer(memory);
    NetArchive(writer, nullptr, &ids).depend_on(NetGUID{3});
    CHECK(ids.empty());
    DecodeBudget budget;
    BitReader reader(memory, &budget);
    NetArchive(reader).depend_on(NetGUID{3});
    NetArchive(reader, &ids).depend_on(NetGUID{});
    CHECK(ids.empty());
    CHECK(budget.allocation_bytes == DecodeBudget().allocation_bytes);
    NetArchive(reader, &ids).depend_on(NetGUID{3});
    CHECK(values_of(ids) == std::vector<std::uint64_t>{3});
}

TEST_CASE("NetArchive: a text that ends early leaves the value as it was",
          "[replayout][net_archive]") {
    const Bytes whole = make_text("abcdef");
    for (std::size_t count = 0; count < whole.size(); ++count) {
        DecodeBudget budget;
        const Bytes begin(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count));
        const ReadText read = read_text(begin, 64, &budget);
        CHECK(read.is_failed);
        CHECK(read.text == "before");
        CHECK(budget.allocation_bytes == DecodeBudget().allocation_bytes);
    }
}

}  // namespace
}  // namespace replayout
