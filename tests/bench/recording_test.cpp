// SPDX-License-Identifier: MIT
#include "match/recording/recording.h"

#include "match/recording/little_endian.h"
#include "match/recording/recording_builder.h"
#include "support/checks/catch.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace replayout::match;

constexpr std::uint32_t some_objects = 10;

[[nodiscard]] std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

[[nodiscard]] std::vector<std::byte> bytes_of(std::initializer_list<float> values) {
    std::vector<std::byte> bytes;
    for (const float value : values) {
        append_le(bytes, value);
    }
    return bytes;
}

[[nodiscard]] bool is_value(FieldType type, const std::vector<std::byte>& bytes) {
    return value_fault(type, bytes, some_objects).empty();
}

[[nodiscard]] bool is_utf8_text(std::string_view text) {
    return is_utf8(std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("Recording: a tick is the span of its ops", "[bench][recording]") {
    RecordingBuilder builder("name", "source", 30.0F,
                             {{"Class", {{"health", FieldType::U8}, {"name", FieldType::String}}}});
    builder.begin_tick(0.0);
    const std::uint32_t first = builder.spawn(0);
    builder.set_u8(first, 0, 7);
    builder.begin_tick(0.5);
    builder.begin_tick(0.5);
    builder.set_string(first, 1, "abc");
    builder.destroy(first);
    const Recording recording = builder.finish();

    REQUIRE(recording.tick_count() == 3);
    REQUIRE(recording.ops_of_tick(0).size() == 2);
    REQUIRE(recording.ops_of_tick(1).empty());
    REQUIRE(recording.ops_of_tick(2).size() == 2);
    CHECK(recording.ops_of_tick(0)[0].kind == OpKind::Spawn);
    CHECK(load_le<std::uint8_t>(recording.value(recording.ops_of_tick(0)[1])) == 7);
    CHECK(recording.text(recording.ops_of_tick(2)[0]) == "abc");
    CHECK(recording.ops_of_tick(2)[1].kind == OpKind::Destroy);
    CHECK(recording.object_count == 1);
    CHECK(recording.set_count == 2);
    CHECK(recording.destroy_count == 1);
}

TEST_CASE("Recording: numbers are little-endian", "[bench][recording]") {
    std::vector<std::byte> bytes;
    append_le<std::uint32_t>(bytes, 0x04030201);
    append_le<std::int32_t>(bytes, -2);
    append_le(bytes, 1.0F);
    append_le(bytes, -2.0);
    CHECK(bytes == bytes_of(std::string_view("\x01\x02\x03\x04\xFE\xFF\xFF\xFF\x00\x00\x80\x3F"
                                             "\x00\x00\x00\x00\x00\x00\x00\xC0",
                                             20)));
    const std::span<const std::byte> all(bytes);
    CHECK(load_le<std::uint32_t>(all) == 0x04030201);
    CHECK(load_le<std::int32_t>(all.subspan(4)) == -2);
    CHECK(load_le<float>(all.subspan(8)) == 1.0F);
    CHECK(load_le<double>(all.subspan(12)) == -2.0);
}

TEST_CASE("Recording: a value is refused if it is not one of its type", "[bench][recording]") {
    CHECK(is_value(FieldType::Bool, bytes_of(std::string_view("\x01", 1))));
    CHECK_FALSE(is_value(FieldType::Bool, bytes_of(std::string_view("\x02", 1))));
    CHECK_FALSE(is_value(FieldType::U16, bytes_of(std::string_view("\x02", 1))));
    CHECK(is_value(FieldType::ObjectRef, bytes_of(std::string_view("\x0A\0\0\0", 4))));
    CHECK_FALSE(is_value(FieldType::ObjectRef, bytes_of(std::string_view("\x0B\0\0\0", 4))));
    CHECK(is_value(FieldType::String, std::vector<std::byte>(65'535, std::byte{'a'})));
    CHECK_FALSE(is_value(FieldType::String, std::vector<std::byte>(65'536, std::byte{'a'})));
}

TEST_CASE("Recording: floats are finite and quaternions of unit length", "[bench][recording]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float largest = std::numeric_limits<float>::max();

    CHECK(is_value(FieldType::F32, bytes_of({-0.0F})));
    CHECK_FALSE(is_value(FieldType::F32, bytes_of({nan})));
    CHECK_FALSE(is_value(FieldType::F32, bytes_of({-infinity})));
    CHECK(is_value(FieldType::Vec3f, bytes_of({largest, -largest, 1e-45F})));
    CHECK_FALSE(is_value(FieldType::Vec3f, bytes_of({0.0F, 0.0F, nan})));

    CHECK(is_value(FieldType::Quatf, bytes_of({0.0F, 0.0F, 0.0F, -1.0F})));
    CHECK(is_value(FieldType::Quatf, bytes_of({0.6F, 0.0F, 0.8F, 0.0F})));
    CHECK(is_value(FieldType::Quatf, bytes_of({0.0F, 0.0F, 0.0F, 1.000009F})));
    CHECK_FALSE(is_value(FieldType::Quatf, bytes_of({0.0F, 0.0F, 0.0F, 1.000011F})));
    CHECK_FALSE(is_value(FieldType::Quatf, bytes_of({0.0F, 0.0F, 0.0F, 0.0F})));
    CHECK_FALSE(is_value(FieldType::Quatf, bytes_of({largest, largest, largest, largest})));
    CHECK_FALSE(is_value(FieldType::Quatf, bytes_of({0.0F, nan, 0.0F, 1.0F})));
}

TEST_CASE("Recording: UTF-8 is taken strictly", "[bench][recording]") {
    CHECK(is_utf8_text(""));
    CHECK(is_utf8_text(std::string_view("a\0b", 3)));
    CHECK(is_utf8_text("\xC2\x80 \xDF\xBF"));
    CHECK(is_utf8_text("\xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF"));
    CHECK(is_utf8_text("\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF"));

    CHECK_FALSE(is_utf8_text("\x80"));      // a follower without a lead
    CHECK_FALSE(is_utf8_text("\xC3"));      // a lead without its follower
    CHECK_FALSE(is_utf8_text("\xE2\x82"));  // cut short
    CHECK_FALSE(
        is_utf8_text("\xF0\x9F\x9A"
                     "a"));                 // cut short by a letter
    CHECK_FALSE(is_utf8_text("\xC0\x80"));  // not the shortest form
    CHECK_FALSE(is_utf8_text("\xE0\x9F\xBF"));
    CHECK_FALSE(is_utf8_text("\xF0\x8F\xBF\xBF"));
    CHECK_FALSE(is_utf8_text("\xED\xA0\x80"));      // a surrogate
    CHECK_FALSE(is_utf8_text("\xF4\x90\x80\x80"));  // beyond Unicode
    CHECK_FALSE(is_utf8_text("\xF8\x88\x80\x80\x80"));
    CHECK_FALSE(is_utf8_text("\xFF"));
}
