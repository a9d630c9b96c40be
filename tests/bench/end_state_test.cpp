// SPDX-License-Identifier: MIT
#include "match/judge/end_state.h"

#include "match/recording/recording_builder.h"
#include "support/checks/catch.h"
#include "support/checks/trace_writer.h"

#include <string>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::testing::crc32_of;
using replayout::testing::TraceBytes;

const std::vector<ClassInfo> classes{
    {"Empty", {}},
    {"Pawn",
     {{"health", FieldType::I32}, {"name", FieldType::String}, {"position", FieldType::Vec3f}}}};

[[nodiscard]] RecordingBuilder make_builder() {
    return {"name", "source", 30.0F, classes};
}

// Three objects live at the end: 1 of class 0, 3 and 4 of class 1; 2 is gone.
[[nodiscard]] Recording small_match() {
    RecordingBuilder builder = make_builder();
    builder.begin_tick(0.0);
    builder.spawn(0);
    builder.spawn(1);
    builder.set_i32(2, 0, 1);
    builder.spawn(1);
    builder.set_vec3f(3, 2, {1.0F, 2.0F, 3.0F});
    builder.set_string(3, 1, "a");
    builder.begin_tick(1.0);
    builder.set_string(3, 1, "abc");
    builder.set_string(3, 1, "\xC3\xA4");
    builder.destroy(2);
    builder.spawn(1);
    builder.set_string(4, 1, "");
    return builder.finish();
}

}  // namespace

TEST_CASE("EndState: the checksum is over live objects, set fields and last values",
          "[bench][end_state]") {
    TraceBytes rule;
    rule.u32(1).u16(0);
    rule.u32(3).u16(1).u16(1).str("\xC3\xA4").u16(2).f32(1.0F).f32(2.0F).f32(3.0F);
    rule.u32(4).u16(1).u16(1).str("");
    CHECK(end_state_crc32(small_match()) == crc32_of(rule.bytes()));
}

TEST_CASE("EndState: of nothing is zero", "[bench][end_state]") {
    CHECK(end_state_crc32(make_builder().finish()) == 0);
    CHECK(EndStateCrc().value() == 0);
}

TEST_CASE("EndState: shows who is live and what was set", "[bench][end_state]") {
    const Recording recording = small_match();
    EndState state(recording);
    state.apply_tick(0);
    CHECK(state.live_count() == 3);
    CHECK(state.is_live(2));
    CHECK_FALSE(state.is_live(0));
    CHECK_FALSE(state.is_live(4));

    state.apply_tick(1);
    CHECK(state.live_count() == 3);
    CHECK_FALSE(state.is_live(2));
    CHECK(state.class_of(1) == 0);
    CHECK(state.class_of(4) == 1);
    CHECK(state.fields_of(1).empty());
    const SetFields& fields = state.fields_of(3);
    REQUIRE(fields.size() == 2);
    CHECK(fields.begin()->first == 1);
    CHECK(fields.begin()->second.type == FieldType::String);
    CHECK(fields.begin()->second.value.size() == 2);

    std::vector<std::uint32_t> ids;
    state.for_each_live(
        [&ids](std::uint32_t id, std::uint16_t, const SetFields&) { ids.push_back(id); });
    CHECK(ids == std::vector<std::uint32_t>{1, 3, 4});
}

TEST_CASE("EndState: values fed one at a time give the same checksum", "[bench][end_state]") {
    const Recording recording = small_match();
    EndState truth(recording);
    truth.apply_tick(0);
    truth.apply_tick(1);

    EndState copy(recording);
    EndStateCrc crc;
    std::uint32_t next = 1;
    truth.for_each_live([&](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
        for (; next < id; ++next) {
            copy.spawn(next, 0);
            copy.destroy(next);
        }
        ++next;
        copy.spawn(id, class_index);
        crc.object(id, class_index);
        for (const auto& [index, field] : fields) {
            copy.set(id, index, field.value);
            crc.field(index, field.type, field.value);
        }
    });
    CHECK(crc.value() == truth.crc());
    CHECK(copy.crc() == truth.crc());
}

TEST_CASE("EndState: several recordings go on in one checksum", "[bench][end_state]") {
    const Recording recording = small_match();
    EndState state(recording);
    state.apply_tick(0);

    EndStateCrc both;
    state.add_to(both);
    CHECK(both.value() == state.crc());
    state.add_to(both);
    EndStateCrc continued(state.crc());
    state.add_to(continued);
    CHECK(both.value() == continued.value());
    CHECK(both.value() != state.crc());
}

TEST_CASE("EndState: zeros of either sign are two values", "[bench][end_state]") {
    const auto with_x = [](float x) {
        RecordingBuilder builder = make_builder();
        builder.begin_tick(0.0);
        builder.spawn(1);
        builder.set_vec3f(1, 2, {0.0F, 0.0F, 0.0F});
        builder.set_vec3f(1, 2, {x, 0.0F, 0.0F});
        return end_state_crc32(builder.finish());
    };
    CHECK(with_x(0.0F) != with_x(-0.0F));
}
