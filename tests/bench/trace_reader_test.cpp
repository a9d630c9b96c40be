// SPDX-License-Identifier: MIT
#include "match/recording/trace_reader.h"

#include "bench/temporary_file.h"
#include "match/recording/recording_builder.h"
#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/trace_errors.h"
#include "support/checks/trace_writer.h"

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::test::contains;
using replayout::test::TemporaryFile;
using replayout::testing::encode_trace;
using replayout::testing::error_of;
using replayout::testing::gzip;
using replayout::testing::TraceBytes;

// Field i has type i, so that a field index below ten names a type.
const std::vector<ClassInfo> all_types{{"All",
                                        {{"bool", FieldType::Bool},
                                         {"u8", FieldType::U8},
                                         {"u16", FieldType::U16},
                                         {"u32", FieldType::U32},
                                         {"i32", FieldType::I32},
                                         {"f32", FieldType::F32},
                                         {"vec3f", FieldType::Vec3f},
                                         {"quatf", FieldType::Quatf},
                                         {"string", FieldType::String},
                                         {"ref", FieldType::ObjectRef}}}};

[[nodiscard]] ReadTraceResult read(const TraceBytes& trace, const TraceLimits& limits = {}) {
    return read_trace_bytes(gzip(trace.bytes()), "file", limits);
}

[[nodiscard]] std::string error_of(const TraceBytes& trace, const TraceLimits& limits = {}) {
    return error_of(read(trace, limits));
}

// One tick with one object of class All, and room for `op_count` ops after its spawn.
[[nodiscard]] TraceBytes one_object(std::uint32_t op_count) {
    return TraceBytes().header(1, 1).class_table(all_types).tick(0.0, op_count + 1).spawn(1, 0);
}

}  // namespace

TEST_CASE("TraceReader: reads back what was recorded, every type", "[bench][trace_reader]") {
    RecordingBuilder builder("name \xC3\xA4", "source", 62.5F, all_types);
    builder.begin_tick(-1.5);
    const std::uint32_t object = builder.spawn(0);
    builder.set_bool(object, 0, true);
    builder.set_u8(object, 1, 255);
    builder.set_u16(object, 2, 65'535);
    builder.set_u32(object, 3, 4'294'967'295U);
    builder.set_i32(object, 4, std::numeric_limits<std::int32_t>::min());
    builder.set_f32(object, 5, -0.0F);
    builder.begin_tick(0.0);
    builder.begin_tick(0.0);
    builder.set_vec3f(object, 6, {1.0F, -2.0F, 3e30F});
    builder.set_quatf(object, 7, {0.0F, 0.6F, 0.0F, -0.8F});
    builder.set_string(object, 8, std::string(65'535, 'x'));
    builder.set_string(object, 8, "");
    builder.set_ref(object, 9, object + 1);
    builder.destroy(builder.spawn(0));
    builder.destroy(object);
    const Recording recording = builder.finish();

    const ReadTraceResult result = read_trace_bytes(gzip(encode_trace(recording)), "file");
    REQUIRE(std::holds_alternative<Recording>(result));
    CHECK(std::get<Recording>(result) == recording);
}

TEST_CASE("TraceReader: a trace of nothing is a trace", "[bench][trace_reader]") {
    const ReadTraceResult result = read(TraceBytes().header(0, 0).class_table({}).trailer(0, 0, 0));
    REQUIRE(std::holds_alternative<Recording>(result));
    CHECK(std::get<Recording>(result).tick_count() == 0);
}

TEST_CASE("TraceReader: reads a file", "[bench][trace_reader]") {
    const TraceBytes trace = one_object(0).trailer(0, 1, 0);
    const TemporaryFile file("trace.rtr.gz", gzip(trace.bytes()));
    const ReadTraceResult result = read_trace(file.path);
    REQUIRE(std::holds_alternative<Recording>(result));
    CHECK(std::get<Recording>(result).object_count == 1);
}

TEST_CASE("TraceReader: what is no file is one clear line", "[bench][trace_reader]") {
    const TemporaryFile missing("\nmissing.rtr.gz");
    const std::string message = error_of(read_trace(missing.path));
    CHECK(contains(message, "_?missing.rtr.gz: no such file"));
    CHECK_FALSE(contains(message, "\n"));

    const std::string directory = std::filesystem::temp_directory_path().string();
    CHECK(contains(error_of(read_trace(directory)), "is a directory"));
    CHECK(contains(error_of(read_trace("")), "no such file"));

    const TemporaryFile empty("empty.rtr.gz", {});
    CHECK(error_of(read_trace(empty.path)) == empty.path + ": is empty");
    const TemporaryFile text("text.rtr.gz", one_object(0).bytes());
    CHECK(error_of(read_trace(text.path)) == text.path + ": is not a gzip file");
}

TEST_CASE("TraceReader: an error names file, tick and byte", "[bench][trace_reader]") {
    const TraceBytes head = TraceBytes().header(2, 1).class_table(all_types).tick(0.0, 0);
    TraceBytes trace = head;
    trace.tick(0.5, 2).spawn(1, 0).destroy(7).trailer(0, 1, 1);
    const ReadTraceResult result = read(trace);
    const auto* error = std::get_if<TraceError>(&result);
    REQUIRE(error != nullptr);
    CHECK(error->tick == 1U);
    // After the head of the tick (12 bytes) and the spawn (7).
    CHECK(error->byte_offset == head.bytes().size() + 19);
    CHECK(error->message == "file: tick 1, byte " + std::to_string(error->byte_offset) +
                                ": destroys object 7, which is not live");
}

TEST_CASE("TraceReader: magic, version and flags are checked", "[bench][trace_reader]") {
    const auto with = [](std::string_view magic, std::uint16_t version, std::uint16_t flags,
                         float rate) {
        return error_of(TraceBytes()
                            .raw(magic)
                            .u16(version)
                            .u16(flags)
                            .f32(rate)
                            .u32(0)
                            .u32(0)
                            .str("n")
                            .str("s")
                            .u16(0)
                            .trailer(0, 0, 0));
    };
    CHECK(with("RTR1", 1, 0, 30.0F) == "no error");
    CHECK(contains(with("RTR2", 1, 0, 30.0F), "is not a trace"));
    CHECK(contains(with("RTR1", 2, 0, 30.0F), "version 2"));
    CHECK(contains(with("RTR1", 1, 1, 30.0F), "flags 1"));
    CHECK(contains(with("RTR1", 1, 0, 0.0F), "tick rate"));
    CHECK(contains(with("RTR1", 1, 0, -1.0F), "tick rate"));
    CHECK(contains(with("RTR1", 1, 0, std::numeric_limits<float>::quiet_NaN()), "tick rate"));
}

TEST_CASE("TraceReader: names are UTF-8 and types known", "[bench][trace_reader]") {
    const TraceBytes head = TraceBytes().raw("RTR1").u16(1).u16(0).f32(1.0F).u32(0).u32(0);
    CHECK(contains(error_of(TraceBytes(head).str("\xFF").str("s")), "UTF-8"));
    CHECK(contains(error_of(TraceBytes(head).str("n").str("\xC3")), "UTF-8"));
    const TraceBytes table = TraceBytes(head).str("n").str("s").u16(1);
    CHECK(contains(error_of(TraceBytes(table).str("\x80")), "UTF-8"));
    CHECK(contains(error_of(TraceBytes(table).str("C").u16(1).str("\x80")), "UTF-8"));
    CHECK(contains(error_of(TraceBytes(table).str("C").u16(1).str("f").u8(10)), "unknown type 10"));
}

TEST_CASE("TraceReader: time is finite and does not go back", "[bench][trace_reader]") {
    const auto with = [](double first, double second) {
        return error_of(
            TraceBytes().header(2, 0).class_table({}).tick(first, 0).tick(second, 0).trailer(0, 0,
                                                                                             0));
    };
    CHECK(with(1.0, 1.0) == "no error");
    CHECK(with(-2.0, -1.0) == "no error");
    CHECK(contains(with(1.0, 0.999), "tick 1, "));
    CHECK(contains(with(1.0, 0.999), "goes back"));
    CHECK(contains(with(std::numeric_limits<double>::quiet_NaN(), 1.0), "tick 0, "));
    CHECK(contains(with(1.0, std::numeric_limits<double>::quiet_NaN()), "not finite"));
    CHECK(contains(with(1.0, std::numeric_limits<double>::infinity()), "not finite"));
    CHECK(contains(with(1.0, 1e13), "not finite"));
    CHECK(contains(with(-1e300, 1.0), "not finite"));
}

TEST_CASE("TraceReader: spawns come in order and of known classes", "[bench][trace_reader]") {
    const auto tick = [](std::uint32_t object_count, std::uint32_t op_count) {
        return TraceBytes().header(1, object_count).class_table(all_types).tick(0.0, op_count);
    };
    CHECK(contains(error_of(tick(2, 1).spawn(0, 0)), "where object 1 comes next"));
    CHECK(contains(error_of(tick(2, 1).spawn(2, 0)), "where object 1 comes next"));
    CHECK(contains(error_of(tick(2, 2).spawn(1, 0).spawn(1, 0)), "where object 2 comes next"));
    CHECK(contains(error_of(tick(2, 3).spawn(1, 0).destroy(1).spawn(1, 0)), "object 2 comes next"));
    CHECK(contains(error_of(tick(1, 1).spawn(1, 1)), "of class 1, but has only 1 classes"));
    CHECK(contains(error_of(tick(1, 2).spawn(1, 0).spawn(2, 0)), "but announces only 1"));
    CHECK(contains(error_of(tick(2, 1).spawn(1, 0).trailer(0, 1, 0)),
                   "announces 2 objects and spawns"));
    CHECK(contains(error_of(tick(1, 1).u8(4).u32(1)), "unknown op 4"));
    CHECK(contains(error_of(tick(1, 1).u8(0).u32(1)), "unknown op 0"));
}

TEST_CASE("TraceReader: sets and destroys need a live object", "[bench][trace_reader]") {
    CHECK(contains(error_of(one_object(1).set(0, 0).u8(0)), "object 0, which is not live"));
    CHECK(contains(error_of(one_object(1).set(2, 0).u8(0)), "object 2, which is not live"));
    CHECK(contains(error_of(one_object(2).destroy(1).set(1, 0).u8(0)),
                   "object 1, which is not live"));
    CHECK(contains(error_of(one_object(2).destroy(1).destroy(1)), "object 1, which is not live"));
    CHECK(contains(error_of(one_object(1).destroy(0)), "object 0, which is not live"));
    CHECK(contains(error_of(one_object(1).set(1, 10)), "field 10 of object 1"));
    CHECK(contains(error_of(one_object(1).set(1, 65'535)), "whose class has 10 fields"));
}

TEST_CASE("TraceReader: values obey their types", "[bench][trace_reader]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    CHECK(error_of(one_object(1).set(1, 0).u8(1).trailer(1, 1, 0)) == "no error");
    CHECK(contains(error_of(one_object(1).set(1, 0).u8(2)),
                   "field 0 (bool) of object 1 to a value that is neither"));
    CHECK(contains(error_of(one_object(1).set(1, 5).f32(infinity)),
                   "(f32) of object 1 to a value that is NaN"));
    CHECK(contains(error_of(one_object(1).set(1, 6).f32(0).f32(0).f32(-infinity)), "that is NaN"));
    CHECK(
        contains(error_of(one_object(1).set(1, 7).f32(0).f32(0).f32(0).f32(1.1F)), "unit length"));
    CHECK(contains(error_of(one_object(1).set(1, 8).str("\xE2\x82")), "UTF-8"));
    CHECK(error_of(one_object(1).set(1, 9).u32(1).trailer(1, 1, 0)) == "no error");
    CHECK(contains(error_of(one_object(1).set(1, 9).u32(2)), "names an object that never is"));
}

TEST_CASE("TraceReader: the trailer agrees with the ops and is the end", "[bench][trace_reader]") {
    const TraceBytes body = one_object(2).set(1, 1).u8(9).destroy(1);
    CHECK(error_of(TraceBytes(body).trailer(1, 1, 1)) == "no error");
    CHECK(contains(error_of(TraceBytes(body).trailer(2, 1, 1)), "totals"));
    CHECK(contains(error_of(TraceBytes(body).trailer(1, 0, 1)), "totals"));
    CHECK(contains(error_of(TraceBytes(body).trailer(1, 1, 0)), "totals"));
    CHECK(contains(error_of(TraceBytes(body).raw("RTR1").u64(1).u32(1).u32(1)), "no \"1RTR\""));
    CHECK(contains(error_of(TraceBytes(body).trailer(1, 1, 1).u8(0)), "goes on after the trailer"));
}
