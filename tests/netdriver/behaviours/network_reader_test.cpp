// SPDX-License-Identifier: MIT
#include <replayout/unet/network_reader.h>
#include <replayout/unet/network_writer.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "support/checks/exact_bytes.h"
#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

/// Reads with `read`, which must fail with `error` and move nothing.
template <typename ReadValue>
void check_refused(UNetError error, const Bytes& bytes, ReadValue&& read,
                   UNetStrictness strictness = UNetStrictness::Strict) {
    CAPTURE(to_hex(bytes));
    const ExactBytes exact(bytes);
    NetworkReader reader(exact.span(), strictness);
    read(reader);
    CHECK(to_string(reader.error()) == to_string(error));
    CHECK(reader.position() == 0);
}

TEST_CASE("NetworkReader: numbers come back with their signs", "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes(
        "FF FE FF FD FF FF FF FC 7*FF E9 EF CD AB 89 67 45 23 01 00 00 80 3F 6*00 F0 3F 01 00");
    const ExactBytes exact(bytes);
    NetworkReader reader(exact.span());
    CHECK(reader.read_int8() == -1);
    CHECK(reader.read_int16() == -2);
    CHECK(reader.read_int32() == -3);
    CHECK(reader.read_int64() == -4);
    CHECK(reader.read_char() == u'\u00E9');
    CHECK(reader.read_uint64() == 0x0123456789ABCDEF);
    CHECK(reader.read_float() == 1.0f);
    CHECK(reader.read_double() == 1.0);
    CHECK(reader.read_bool());
    CHECK_FALSE(reader.read_bool());
    CHECK(reader.bytes_left() == 0);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("NetworkReader: the first error stays, and everything after it is zero and moves nothing",
          "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes("07 02 01");
    NetworkReader reader(bytes);
    CHECK(reader.read_uint8() == 7);
    CHECK_FALSE(reader.read_bool());
    CHECK(reader.error() == UNetError::InvalidBool);
    CHECK(reader.read_uint8() == 0);
    CHECK(reader.read_uint64() == 0);
    CHECK(reader.read_string().empty());
    CHECK(reader.take_rest().empty());
    Vector3 value{1, 2, 3};
    reader.read(value);
    CHECK(value == Vector3{1, 2, 3});
    reader.fail(UNetError::CountOverLimit);
    reader.finish();
    CHECK(reader.error() == UNetError::InvalidBool);
    CHECK(reader.position() == 1);
}

TEST_CASE("NetworkReader: a bool is 0 or 1, and to a lenient reader all but 1 is false",
          "[behaviours][network_reader]") {
    for (const int value : {2, 0x80, 0xFF}) {
        const Bytes bytes = make_bytes(value);
        check_refused(UNetError::InvalidBool, bytes,
                      [](NetworkReader& reader) { CHECK_FALSE(reader.read_bool()); });
        NetworkReader lenient(bytes, UNetStrictness::Lenient);
        CHECK_FALSE(lenient.read_bool());
        CHECK_FALSE(lenient.failed());
    }
}

TEST_CASE("NetworkReader: text comes back, without an allocation of its own",
          "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes("00 00 02 00 C3 A9 03 00 E6 BC A2 S");
    NetworkReader reader(bytes);
    CHECK(reader.read_string().empty());
    CHECK(reader.read_string() == "\xC3\xA9");
    CHECK(reader.read_string() == "\xE6\xBC\xA2");
    const std::string_view text = reader.read_string();
    CHECK(text == "Example string");
    CHECK(static_cast<const void*>(text.data()) == bytes.data() + bytes.size() - text.size());
    CHECK(reader.bytes_left() == 0);
}

TEST_CASE("U14 NetworkWriter: there is no null text, and an empty one comes back empty",
          "[behaviours]") {
    std::array<std::byte, 8> memory{};
    NetworkWriter writer(memory);
    writer.write_string({});
    REQUIRE(writer.byte_count() == 2);
    CHECK((memory[0] == std::byte{0} && memory[1] == std::byte{0}));
    NetworkReader reader{std::span<const std::byte>(memory).first(2)};
    CHECK(reader.read_string() == std::string_view());
    CHECK(reader.error() == UNetError::None);
}

TEST_CASE("NetworkReader: text is refused that is too long, cut, or not UTF-8",
          "[behaviours][network_reader]") {
    const auto read = [](NetworkReader& reader) { CHECK(reader.read_string().empty()); };
    for (const UNetStrictness strictness : {UNetStrictness::Strict, UNetStrictness::Lenient}) {
        check_refused(UNetError::TextTooLong, unet_bytes("00 80 32768*61"), read, strictness);
        check_refused(UNetError::TextNotUtf8, unet_bytes("01 00 C3"), read, strictness);
        check_refused(UNetError::TextNotUtf8, unet_bytes("03 00 ED A0 80"), read, strictness);
        check_refused(UNetError::EndOfBytes, unet_bytes("03 00 61 61"), read, strictness);
        check_refused(UNetError::EndOfBytes, unet_bytes("03"), read, strictness);
    }
    // What lies behind the end is not a part of it.
    const Bytes behind = unet_bytes("03 00 61 61 61");
    NetworkReader cut(std::span<const std::byte>(behind).first(4));
    CHECK(cut.read_string().empty());
    CHECK(cut.error() == UNetError::EndOfBytes);
    CHECK(cut.position() == 0);
    const Bytes longest = unet_bytes("FF 7F 32767*61");
    NetworkReader reader(longest);
    CHECK(reader.read_string() == std::string(32767, 'a'));
}

TEST_CASE("NetworkReader: byte arrays lie where they are, and one that is cut is refused",
          "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes("02 00 0A FF 00 00 05");
    NetworkReader reader(bytes);
    CHECK(to_hex(reader.read_bytes_and_size()) == "0a ff");
    CHECK(reader.read_bytes_and_size().empty());
    CHECK_FALSE(reader.failed());
    CHECK(to_hex(reader.take_rest()) == "05");
    check_refused(UNetError::EndOfBytes, unet_bytes("03 00 01 02"),
                  [](NetworkReader& cut) { CHECK(cut.read_bytes_and_size().empty()); });
}

TEST_CASE("NetworkReader: a count is refused for which there are not bytes enough",
          "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes("03 00 06*00");
    NetworkReader reader(bytes);
    CHECK(reader.read_count(2) == 3);
    CHECK(reader.position() == 2);
    const auto read = [](NetworkReader& lying) { CHECK(lying.read_count(2) == 0); };
    check_refused(UNetError::CountOverLimit, unet_bytes("03 00 5*00"), read);
    check_refused(UNetError::CountOverLimit, unet_bytes("FF FF"), read);
    check_refused(UNetError::EndOfBytes, unet_bytes("03"), read);
}

TEST_CASE("NetworkReader: what is left over is an error to a strict reader alone",
          "[behaviours][network_reader]") {
    const Bytes bytes = unet_bytes("01 02");
    NetworkReader strict(bytes);
    CHECK(strict.read_uint8() == 1);
    strict.finish();
    CHECK(strict.error() == UNetError::BytesLeftOver);
    NetworkReader lenient(bytes, UNetStrictness::Lenient);
    lenient.finish();
    CHECK_FALSE(lenient.failed());
}

TEST_CASE("NetworkReader: a decimal that .NET would refuse is refused",
          "[behaviours][network_reader]") {
    for (const std::string_view flags : {"01 00 00 00", "00 00 1D 00", "00 00 00 40"}) {
        const Bytes bytes = unet_bytes("12*00 " + std::string(flags));
        check_refused(UNetError::InvalidDecimal, bytes, [](NetworkReader& reader) {
            Decimal value{5, 0, 0, 0};
            reader.read(value);
            CHECK(value == Decimal{5, 0, 0, 0});
        });
    }
}

/// Writes `value`, reads it back, and then once more from each length that is too short.
template <typename T>
void check_travels(const T& value) {
    Bytes memory(64);
    NetworkWriter writer(memory);
    writer.write(value);
    REQUIRE_FALSE(writer.failed());
    NetworkReader reader(writer.bytes());
    T read{};
    reader.read(read);
    CHECK(read == value);
    CHECK_FALSE(reader.failed());
    CHECK(reader.bytes_left() == 0);
    for (std::size_t count = 0; count < writer.byte_count(); ++count) {
        check_refused(UNetError::EndOfBytes, to_bytes(writer.bytes().first(count)),
                      [](NetworkReader& cut) {
                          T kept{};
                          cut.read(kept);
                          CHECK(kept == T{});
                      });
    }
}

TEST_CASE("NetworkReader: Unity's types come back, and cut anywhere they are refused",
          "[behaviours][network_reader]") {
    check_travels(Vector2{1, -2});
    check_travels(Vector3{1, -2, 3.5f});
    check_travels(Vector4{1, 2, 3, 4});
    check_travels(Quat{0.5f, 0.5f, -0.5f, 0.5f});
    check_travels(Color{0.1f, 0.2f, 0.3f, 1});
    check_travels(Color32{1, 2, 3, 255});
    check_travels(Rect{-1, -2, 10, 20});
    check_travels(Plane{{0, 1, 0}, -7});
    check_travels(Ray{{1, 2, 3}, {0, 0, 1}});
    Matrix4x4 matrix;
    NetworkHash128 hash;
    for (std::size_t i = 0; i < 16; ++i) {
        matrix.elements[i] = static_cast<float>(i) + 0.25f;
        hash.bytes[i] = static_cast<std::byte>(i + 1);
    }
    check_travels(matrix);
    check_travels(hash);
    check_travels(Decimal{-1, 2, 3, std::numeric_limits<std::int32_t>::min() | (28 << 16)});
    check_travels(NetworkInstanceId{70'000});
    check_travels(NetworkSceneId{5});
}

TEST_CASE("UNetError: each has a phrase of its own", "[behaviours][network_reader]") {
    for (std::size_t i = 0; i < unet_error_count; ++i) {
        const std::string_view phrase = to_string(static_cast<UNetError>(i));
        CHECK(phrase != "unknown error");
        for (std::size_t other = 0; other < i; ++other) {
            CHECK(phrase != to_string(static_cast<UNetError>(other)));
        }
    }
}

}  // namespace
}  // namespace replayout::test
