// SPDX-License-Identifier: MIT
#include <replayout/unet/unet_woven.h>

#include <cstdint>
#include <limits>
#include <string>

#include "support/hostile/unet_script.h"

namespace replayout::test {

namespace {

enum class Team : std::uint8_t { Red, Blue };

/// Written as a variable it takes these bytes, and comes back.
template <typename T>
void check_woven(std::string_view expected, const T& value) {
    CAPTURE(expected);
    Bytes memory(64);
    NetworkWriter writer(memory);
    write_woven(writer, value);
    CHECK(to_hex(writer.bytes()) == to_hex(unet_bytes(expected)));
    NetworkReader reader(writer.bytes());
    T read{};
    read_woven(reader, read);
    CHECK(read == value);
    CHECK_FALSE(reader.failed());
    CHECK(reader.bytes_left() == 0);
}

/// A strict reader refuses the number for a T and leaves the variable; a lenient one drops its high
/// bits.
template <typename T>
void check_too_large(std::string_view text, T cut) {
    const Bytes bytes = unet_bytes(text);
    T value{1};
    NetworkReader strict(bytes);
    read_woven(strict, value);
    CHECK(strict.error() == UNetError::ValueOutOfRange);
    CHECK(value == T{1});
    NetworkReader lenient(bytes, UNetStrictness::Lenient);
    read_woven(lenient, value);
    CHECK_FALSE(lenient.failed());
    CHECK(value == cut);
}

TEST_CASE(
    "UNet variables: integers are packed as a cast to unsigned makes them, so -1 takes five bytes",
    "[behaviours][unet_woven]") {
    check_woven("42", std::int32_t{66});
    check_woven("F9 52 CF", std::int32_t{23487});
    check_woven("FB FF FF FF FF", std::int32_t{-1});
    check_woven("FB FF FF FF FF", std::int16_t{-1});
    check_woven("FB 80 FF FF FF", std::numeric_limits<std::int8_t>::min());
    check_woven("F1 0F", std::uint8_t{255});
    check_woven("F9 F7 0F", std::numeric_limits<std::uint16_t>::max());
    check_woven("F9 66 32", u'\u6F22');
    check_woven("01", Team::Blue);
    check_woven("FF 8*FF", std::int64_t{-1});
    check_woven("FC 4*00 01", std::uint64_t{1} << 32);
}

TEST_CASE("UNet variables: everything else takes the form of its own type",
          "[behaviours][unet_woven]") {
    check_woven("01", true);
    check_woven("00 00 80 3F", 1.0f);
    check_woven("6*00 F0 3F", 1.0);
    check_woven("S", std::string("Example string"));
    check_woven("01 02 03 FF", Color32{1, 2, 3, 255});
    check_woven("F1 3C", NetworkInstanceId{300});
    check_woven("00 00 80 3F 8*00", Vector3{1, 0, 0});
}

TEST_CASE("UNet variables: text in quotation marks is text, not a bool",
          "[behaviours][unet_woven]") {
    Bytes memory(64);
    NetworkWriter writer(memory);
    write_woven(writer, "Example string");
    CHECK(to_hex(writer.bytes()) == to_hex(unet_bytes("S")));
}

TEST_CASE("UNet variables: a number that the type cannot hold is refused, or loses its high bits",
          "[behaviours][unet_woven]") {
    check_too_large<std::uint8_t>("F1 10", 0);
    check_too_large<std::int8_t>("80", -128);
    check_too_large<std::int16_t>("F9 F7 10", 0);
    check_too_large<std::uint16_t>("FB FF FF FF FF", 0xFFFF);
}

TEST_CASE("UNet variables: one whose bytes are missing stays as it was",
          "[behaviours][unet_woven]") {
    const auto check_kept = [](auto value) {
        const auto before = value;
        NetworkReader reader({});
        read_woven(reader, value);
        CHECK(reader.error() == UNetError::EndOfBytes);
        CHECK(value == before);
    };
    check_kept(true);
    check_kept(std::int32_t{7});
    check_kept(std::uint64_t{7});
    check_kept(1.5f);
    check_kept(1.5);
    check_kept(std::string("text"));
    check_kept(Vector2{1, 2});
}

}  // namespace
}  // namespace replayout::test
