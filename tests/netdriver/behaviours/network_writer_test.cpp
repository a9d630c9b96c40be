// SPDX-License-Identifier: MIT
#include <replayout/unet/network_writer.h>

#include <limits>
#include <string>

#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

template <typename Write>
Bytes network_bytes(Write&& write) {
    Bytes memory(70'000);
    NetworkWriter writer(memory);
    write(writer);
    REQUIRE(writer.error() == UNetError::None);
    return to_bytes(writer.bytes());
}

template <typename Write>
void check_written(std::string_view expected, Write&& write) {
    CHECK(to_hex(network_bytes(write)) == to_hex(unet_bytes(expected)));
}

template <typename Write>
void check_refused(UNetError error, Write&& write) {
    Bytes memory(70'000);
    NetworkWriter writer(memory);
    write(writer);
    CHECK(writer.error() == error);
    CHECK(writer.byte_count() == 0);
}

TEST_CASE("NetworkWriter: numbers are plain and little-endian", "[behaviours][network_writer]") {
    check_written("01 00", [](NetworkWriter& writer) {
        writer.write_bool(true);
        writer.write_bool(false);
    });
    check_written("FF FE FF FD FF FF FF", [](NetworkWriter& writer) {
        writer.write_int8(-1);
        writer.write_int16(-2);
        writer.write_int32(-3);
    });
    check_written("12 34 12 78 56 34 12", [](NetworkWriter& writer) {
        writer.write_uint8(0x12);
        writer.write_uint16(0x1234);
        writer.write_uint32(0x12345678);
    });
    check_written("EF CD AB 89 67 45 23 01",
                  [](NetworkWriter& writer) { writer.write_uint64(0x0123456789ABCDEF); });
    check_written("FC 7*FF", [](NetworkWriter& writer) { writer.write_int64(-4); });
    check_written("00 00 80 3F", [](NetworkWriter& writer) { writer.write_float(1.0f); });
    check_written("6*00 F0 3F", [](NetworkWriter& writer) { writer.write_double(1.0); });
}

TEST_CASE("NetworkWriter: a character is one byte, and one that needs two is refused",
          "[behaviours][network_writer]") {
    check_written("E9", [](NetworkWriter& writer) { writer.write_char(u'\u00E9'); });
    check_refused(UNetError::ValueOutOfRange,
                  [](NetworkWriter& writer) { writer.write_char(u'\u6F22'); });
}

TEST_CASE("NetworkWriter: text is a count of bytes and UTF-8, and none is an empty one",
          "[behaviours][network_writer]") {
    check_written("00 00", [](NetworkWriter& writer) { writer.write_string(""); });
    check_written("00 00", [](NetworkWriter& writer) { writer.write_string({}); });
    check_written("02 00 C3 A9", [](NetworkWriter& writer) { writer.write_string("\xC3\xA9"); });
    check_written("03 00 E6 BC A2",
                  [](NetworkWriter& writer) { writer.write_string("\xE6\xBC\xA2"); });
    check_written("S", [](NetworkWriter& writer) { writer.write_string("Example string"); });
}

TEST_CASE(
    "NetworkWriter: text of 32767 bytes is written, of 32768 refused, and so is what is no text",
    "[behaviours][network_writer]") {
    check_written("FF 7F 32767*61",
                  [](NetworkWriter& writer) { writer.write_string(std::string(32767, 'a')); });
    check_refused(UNetError::TextTooLong,
                  [](NetworkWriter& writer) { writer.write_string(std::string(32768, 'a')); });
    check_refused(UNetError::TextNotUtf8,
                  [](NetworkWriter& writer) { writer.write_string("\xC3"); });
}

TEST_CASE(
    "NetworkWriter: a byte array is a count and they, none is an empty one, 65536 are refused",
    "[behaviours][network_writer]") {
    check_written("00 00", [](NetworkWriter& writer) { writer.write_bytes_and_size({}); });
    check_written("02 00 0A FF", [](NetworkWriter& writer) {
        writer.write_bytes_and_size(make_bytes(0x0A, 0xFF));
    });
    check_written("FF FF 65535*00",
                  [](NetworkWriter& writer) { writer.write_bytes_and_size(Bytes(65535)); });
    check_refused(UNetError::BytesTooLong,
                  [](NetworkWriter& writer) { writer.write_bytes_and_size(Bytes(65536)); });
}

TEST_CASE("NetworkWriter: a count has 16 bits, and 65536 elements are refused",
          "[behaviours][network_writer]") {
    check_written("FF FF", [](NetworkWriter& writer) { writer.write_count(65535); });
    check_refused(UNetError::CountOverLimit,
                  [](NetworkWriter& writer) { writer.write_count(65536); });
}

TEST_CASE(
    "NetworkWriter: vectors and their like are their floats in order, a ray's direction first",
    "[behaviours][network_writer]") {
    const std::string one = "00 00 80 3F";
    const std::string two = " 00 00 00 40";
    const std::string three = " 00 00 40 40";
    const std::string four = " 00 00 80 40";
    const std::string up_to_four = one + two + three + four;
    check_written(one + two, [](NetworkWriter& writer) { writer.write(Vector2{1, 2}); });
    check_written(one + two + three, [](NetworkWriter& writer) { writer.write(Vector3{1, 2, 3}); });
    check_written(up_to_four, [](NetworkWriter& writer) { writer.write(Vector4{1, 2, 3, 4}); });
    check_written(up_to_four, [](NetworkWriter& writer) { writer.write(Quat{1, 2, 3, 4}); });
    check_written(up_to_four, [](NetworkWriter& writer) { writer.write(Color{1, 2, 3, 4}); });
    check_written(up_to_four, [](NetworkWriter& writer) { writer.write(Rect{1, 2, 3, 4}); });
    check_written(up_to_four, [](NetworkWriter& writer) { writer.write(Plane{{1, 2, 3}, 4}); });
    check_written(one + two + three + four + " 00 00 A0 40 00 00 C0 40", [](NetworkWriter& writer) {
        writer.write(Ray{{4, 5, 6}, {1, 2, 3}});
    });
    check_written(up_to_four + " 48*00", [](NetworkWriter& writer) {
        Matrix4x4 matrix;
        matrix.elements = {1, 2, 3, 4};  // m00 to m03
        writer.write(matrix);
    });
}

TEST_CASE("NetworkWriter: colours, decimals, hashes and ids", "[behaviours][network_writer]") {
    check_written("01 02 03 FF", [](NetworkWriter& writer) {
        writer.write(Color32{1, 2, 3, 255});
    });
    // -12.5 is 125 with one decimal place and the sign.
    check_written("7D 11*00 00 00 01 80", [](NetworkWriter& writer) {
        writer.write(Decimal{125, 0, 0, std::numeric_limits<std::int32_t>::min() | (1 << 16)});
    });
    check_refused(UNetError::InvalidDecimal, [](NetworkWriter& writer) {
        writer.write(Decimal{1, 0, 0, 29 << 16});
    });
    check_written("15*00 07", [](NetworkWriter& writer) {
        NetworkHash128 hash;
        hash.bytes[15] = std::byte{7};
        writer.write(hash);
    });
    check_written("F1 3C 00", [](NetworkWriter& writer) {
        writer.write(NetworkInstanceId{300});
        writer.write(NetworkSceneId{});
    });
}

TEST_CASE("NetworkWriter: what does not fit is not written, nor anything after it, until rewound",
          "[behaviours][network_writer]") {
    Bytes memory(6, std::byte{0xEE});
    NetworkWriter writer(memory);
    writer.write_uint16(1);
    const NetworkWriter::Mark mark = writer.mark();
    writer.write(Vector2{1, 2});
    CHECK(writer.error() == UNetError::BufferFull);
    writer.write_uint8(9);
    writer.fail(UNetError::TextTooLong);
    CHECK(writer.error() == UNetError::BufferFull);
    CHECK(to_hex(memory) == "01 00 ee ee ee ee");
    writer.rewind(mark);
    CHECK_FALSE(writer.failed());
    writer.write_uint32(2);
    CHECK_FALSE(writer.failed());
    CHECK(writer.bytes_left() == 0);
    CHECK(to_hex(writer.bytes()) == "01 00 02 00 00 00");
}

TEST_CASE("NetworkWriter: everything that needs a byte more than there is fails and writes nothing",
          "[behaviours][network_writer]") {
    const Bytes whole = network_bytes([](NetworkWriter& writer) {
        writer.write_string("a");
        writer.write_bytes_and_size(make_bytes(1));
        writer.write_packed_uint64(23487);
        writer.write(Decimal{});
        writer.write(Color32{});
        writer.write(NetworkHash128{});
    });
    CHECK(whole.size() == 3 + 3 + 3 + 16 + 4 + 16);
    const auto check_too_small = [](std::size_t size, auto&& write) {
        CAPTURE(size);
        Bytes memory(size);
        NetworkWriter writer(memory);
        write(writer);
        CHECK(writer.error() == UNetError::BufferFull);
        CHECK(writer.byte_count() == 0);
    };
    check_too_small(2, [](NetworkWriter& writer) { writer.write_string("a"); });
    check_too_small(2, [](NetworkWriter& writer) { writer.write_bytes_and_size(make_bytes(1)); });
    check_too_small(2, [](NetworkWriter& writer) { writer.write_packed_uint64(23487); });
    check_too_small(15, [](NetworkWriter& writer) { writer.write(Decimal{}); });
    check_too_small(3, [](NetworkWriter& writer) { writer.write(Color32{}); });
    check_too_small(15, [](NetworkWriter& writer) { writer.write(NetworkHash128{}); });
    check_too_small(0, [](NetworkWriter& writer) { writer.write_bool(false); });
}

}  // namespace
}  // namespace replayout::test
