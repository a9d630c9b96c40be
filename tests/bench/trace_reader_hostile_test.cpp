// SPDX-License-Identifier: MIT
//
// The trace reader against files made to hurt it: each must come out as an error or as a recording
// that is exactly what the file says. Run under sanitizers this is also the proof that nothing is
// read that is not there.
#include "match/judge/end_state.h"
#include "match/recording/recording_builder.h"
#include "match/recording/trace_reader.h"
#include "support/checks/catch.h"
#include "support/checks/contains.h"
#include "support/checks/trace_errors.h"
#include "support/checks/trace_writer.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::test::contains;
using replayout::testing::encode_trace;
using replayout::testing::error_of;
using replayout::testing::gzip;
using replayout::testing::TraceBytes;

using Bytes = std::vector<std::byte>;

// Small, and with every part of the format in it.
[[nodiscard]] Bytes small_trace() {
    RecordingBuilder builder("n", "s", 30.0F,
                             {{"E", {}},
                              {"P",
                               {{"b", FieldType::Bool},
                                {"i", FieldType::I32},
                                {"v", FieldType::Vec3f},
                                {"q", FieldType::Quatf},
                                {"s", FieldType::String},
                                {"r", FieldType::ObjectRef}}}});
    builder.begin_tick(0.0);
    builder.spawn(0);
    const std::uint32_t object = builder.spawn(1);
    builder.set_bool(object, 0, true);
    builder.set_i32(object, 1, -1);
    builder.begin_tick(0.25);
    builder.set_vec3f(object, 2, {1.0F, 0.5F, -2.0F});
    builder.set_quatf(object, 3, {0.0F, 0.0F, 0.0F, 1.0F});
    builder.set_string(object, 4, "h\xC3\xA4");
    builder.set_ref(object, 5, 3);
    builder.begin_tick(0.5);
    builder.destroy(builder.spawn(1));
    return encode_trace(builder.finish());
}

[[nodiscard]] Bytes first_bytes(const Bytes& bytes, std::size_t size) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

[[nodiscard]] ReadTraceResult read_raw(const Bytes& raw, const TraceLimits& limits = {}) {
    return read_trace_bytes(gzip(raw, 0), "file", limits);
}

// Whether the result is an error, or a recording that says the same as `raw`.
[[nodiscard]] bool is_refused_or_exact(const ReadTraceResult& result, const Bytes& raw) {
    const auto* recording = std::get_if<Recording>(&result);
    if (recording == nullptr) {
        return contains(error_of(result), "file: ") && !contains(error_of(result), "\n");
    }
    // Playing it asserts on whatever the reader should have refused.
    static_cast<void>(end_state_crc32(*recording));
    return encode_trace(*recording) == raw;
}

}  // namespace

TEST_CASE("TraceReader: cut at any byte it is truncated", "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    REQUIRE(error_of(read_raw(raw)) == "no error");
    for (std::size_t size = 0; size < raw.size(); ++size) {
        CAPTURE(size);
        REQUIRE(contains(error_of(read_raw(first_bytes(raw, size))), "truncated"));
    }
}

TEST_CASE("TraceReader: its gzip file cut at any byte is truncated", "[bench][trace_reader]") {
    for (const int level : {0, 9}) {
        const Bytes file = gzip(small_trace(), level);
        for (std::size_t size = 1; size < file.size(); ++size) {
            CAPTURE(level, size);
            const std::string error = error_of(read_trace_bytes(first_bytes(file, size), "file"));
            REQUIRE(contains(error, "truncated"));
        }
    }
}

TEST_CASE("TraceReader: any bit flipped is an error or another valid trace",
          "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    for (std::size_t i = 0; i < raw.size() * 8; ++i) {
        Bytes flipped = raw;
        flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
        CAPTURE(i);
        REQUIRE(is_refused_or_exact(read_raw(flipped), flipped));
    }
}

TEST_CASE("TraceReader: any byte at its extremes is an error or another valid trace",
          "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        for (const std::byte value : {std::byte{0x00}, std::byte{0x7F}, std::byte{0xFF}}) {
            Bytes changed = raw;
            changed[i] = value;
            CAPTURE(i, std::to_integer<int>(value));
            REQUIRE(is_refused_or_exact(read_raw(changed), changed));
        }
    }
}

TEST_CASE("TraceReader: any bit flipped in the gzip file is an error or changes nothing",
          "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    const Bytes file = gzip(raw, 9);
    for (std::size_t i = 0; i < file.size() * 8; ++i) {
        Bytes flipped = file;
        flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
        CAPTURE(i);
        REQUIRE(is_refused_or_exact(read_trace_bytes(flipped, "file"), raw));
    }
}

TEST_CASE("TraceReader: noise after a good start is refused", "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    std::mt19937_64 engine(7);
    for (std::uint32_t round = 0; round < 2000; ++round) {
        Bytes noisy = raw;
        for (std::size_t i = engine() % raw.size(); i < raw.size(); ++i) {
            noisy[i] = static_cast<std::byte>(engine() & 0xFF);
        }
        CAPTURE(round);
        REQUIRE(is_refused_or_exact(read_raw(noisy), noisy));
    }
}

TEST_CASE("TraceReader: counts that lie cost nothing", "[bench][trace_reader]") {
    constexpr std::uint32_t four_billion = 0xFFFFFFFF;
    const std::vector<ClassInfo> classes{{"C", {{"s", FieldType::String}}}};
    const auto refuses = [](const TraceBytes& trace) {
        return contains(error_of(read_raw(trace.bytes())), "truncated");
    };
    CHECK(refuses(TraceBytes().header(1'000'000, four_billion).class_table(classes)));
    CHECK(refuses(TraceBytes().header(0, 0).u16(0xFFFF)));
    CHECK(refuses(TraceBytes().header(0, 0).u16(1).str("C").u16(0xFFFF)));
    CHECK(refuses(TraceBytes().header(1, 0).class_table(classes).tick(0.0, four_billion)));
    CHECK(refuses(
        TraceBytes().header(1, 1).class_table(classes).tick(0.0, 2).spawn(1, 0).set(1, 0).u16(
            0xFFFF)));
    CHECK(refuses(TraceBytes().raw("RTR1").u16(1).u16(0).f32(1).u32(0).u32(0).u16(0xFFFF)));
}

TEST_CASE("TraceReader: fields declared are bounded", "[bench][trace_reader]") {
    TraceBytes trace;
    trace.header(0, 0).u16(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        trace.str("C").u16(10);
        for (std::uint32_t k = 0; k < 10; ++k) {
            trace.str("").u8(0);
        }
    }
    trace.trailer(0, 0, 0);
    TraceLimits limits;
    limits.declared_fields_max = 30;
    CHECK(error_of(read_raw(trace.bytes(), limits)) == "no error");
    limits.declared_fields_max = 29;
    CHECK(contains(error_of(read_raw(trace.bytes(), limits)), "declares more than 29 fields"));
}

TEST_CASE("TraceReader: fields of live objects are bounded", "[bench][trace_reader]") {
    const std::vector<ClassInfo> classes{{"C", {{"a", FieldType::U8}, {"b", FieldType::U8}}}};
    const TraceBytes trace = TraceBytes()
                                 .header(1, 4)
                                 .class_table(classes)
                                 .tick(0.0, 6)
                                 .spawn(1, 0)
                                 .spawn(2, 0)
                                 .destroy(1)
                                 .spawn(3, 0)
                                 .destroy(3)
                                 .spawn(4, 0)
                                 .trailer(0, 4, 2);
    TraceLimits limits;
    limits.live_fields_max = 4;
    CHECK(error_of(read_raw(trace.bytes(), limits)) == "no error");
    limits.live_fields_max = 3;
    CHECK(contains(error_of(read_raw(trace.bytes(), limits)), "spawns object 2"));
    CHECK(contains(error_of(read_raw(trace.bytes(), limits)), "more than 3 fields"));
}

TEST_CASE("TraceReader: ticks are bounded", "[bench][trace_reader]") {
    TraceLimits limits;
    limits.tick_count_max = 2;
    for (const std::uint32_t ticks : {2u, 3u}) {
        TraceBytes trace;
        trace.header(ticks, 0).class_table({});
        for (std::uint32_t i = 0; i < ticks; ++i) {
            trace.tick(0.0, 0);
        }
        trace.trailer(0, 0, 0);
        const std::string error = error_of(read_raw(trace.bytes(), limits));
        CHECK((ticks == 2 ? error == "no error" : contains(error, "announces more than 2 ticks")));
    }
}

TEST_CASE("TraceReader: objects that are live at one time are bounded", "[bench][trace_reader]") {
    TraceLimits limits;
    limits.live_objects_max = 2;
    const std::vector<ClassInfo> classes{{"C", {}}};
    TraceBytes within;
    within.header(1, 3).class_table(classes).tick(0.0, 4);
    within.spawn(1, 0).spawn(2, 0).destroy(1).spawn(3, 0).trailer(0, 3, 1);
    CHECK(error_of(read_raw(within.bytes(), limits)) == "no error");
    TraceBytes beyond;
    beyond.header(1, 3).class_table(classes).tick(0.0, 3);
    beyond.spawn(1, 0).spawn(2, 0).spawn(3, 0).trailer(0, 3, 0);
    CHECK(
        contains(error_of(read_raw(beyond.bytes(), limits)), "more than 2 objects would be live"));
}

TEST_CASE("TraceReader: a bomb of empty ticks is defused", "[bench][trace_reader]") {
    // A megabyte of zeros is 87,381 ticks at time 0 without an op; 600 such members ask for 600 MB.
    Bytes bomb = gzip(TraceBytes().header(0xFFFFFFFF, 0).class_table({}).bytes());
    const Bytes zeros = gzip(Bytes(std::size_t{1} << 20), 9);
    for (std::uint32_t i = 0; i < 600; ++i) {
        bomb.insert(bomb.end(), zeros.begin(), zeros.end());
    }
    TraceLimits limits;
    limits.tick_count_max = 0xFFFFFFFF;
    limits.ratio_free_bytes = std::uint64_t{4} << 20;
    CHECK(contains(error_of(read_trace_bytes(bomb, "file", limits)), "200 times its size"));
    limits.ratio_max = 2000;
    limits.decompressed_bytes_max = std::uint64_t{4} << 20;
    CHECK(contains(error_of(read_trace_bytes(bomb, "file", limits)), "more than 4194304 bytes"));
}

TEST_CASE("TraceReader: a gzip file in a gzip file is no trace", "[bench][trace_reader]") {
    const Bytes inner = gzip(Bytes(std::size_t{8} << 20), 9);
    CHECK(contains(error_of(read_trace_bytes(gzip(inner, 9), "file")), "is not a trace"));
    CHECK(contains(error_of(read_trace_bytes(inner, "file")), "is not a trace"));
}

TEST_CASE("TraceReader: the whole gzip stream counts, members and all", "[bench][trace_reader]") {
    const Bytes raw = small_trace();
    const std::size_t middle = raw.size() / 2;
    Bytes file = gzip(first_bytes(raw, middle));
    const Bytes rest = gzip(Bytes(raw.begin() + static_cast<std::ptrdiff_t>(middle), raw.end()));
    file.insert(file.end(), rest.begin(), rest.end());
    CHECK(is_refused_or_exact(read_trace_bytes(file, "file"), raw));
    CHECK(error_of(read_trace_bytes(file, "file")) == "no error");

    Bytes padded = file;
    padded.resize(file.size() + 1000);
    CHECK(error_of(read_trace_bytes(padded, "file")) == "no error");

    Bytes doubled = file;
    doubled.insert(doubled.end(), file.begin(), file.end());
    CHECK(contains(error_of(read_trace_bytes(doubled, "file")), "goes on after the trailer"));

    Bytes garbage = file;
    garbage.insert(garbage.end(), 20, std::byte{'x'});
    CHECK(
        contains(error_of(read_trace_bytes(garbage, "file")), "after the end of the gzip stream"));
}
