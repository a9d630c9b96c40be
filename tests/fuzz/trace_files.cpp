// SPDX-License-Identifier: MIT
//
// Traces of matches (.rtr): what is no trace is one line that says why; what is read says exactly
// what the file says, and can be played. As gzip keeps a checksum, most inputs are packed here.
//
//     u8: 0, the file as it is; else what is inside of it   the bytes
#include "match/recording/trace_reader.h"

#include "fuzz/fuzz_target.h"
#include "match/judge/end_state.h"
#include "match/recording/recording_builder.h"
#include "support/checks/trace_writer.h"

namespace replayout::test {
namespace {

using match::FieldType;
using testing::TraceBytes;

[[nodiscard]] match::TraceLimits small_limits() {
    match::TraceLimits limits;
    limits.decompressed_bytes_max = 64 * 1'024;
    limits.declared_fields_max = 256;
    limits.live_fields_max = 512;
    limits.live_objects_max = 32;
    limits.tick_count_max = 256;
    return limits;
}

/// Of every kind of field, one object that lives on and one that goes at once.
[[nodiscard]] match::Recording small_match() {
    match::RecordingBuilder builder("n", "s", 30.0F,
                                    {{"E", {}},
                                     {"P",
                                      {{"b", FieldType::Bool},
                                       {"i", FieldType::I32},
                                       {"f", FieldType::F32},
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
    builder.set_vec3f(object, 3, {1.0F, 0.5F, -2.0F});
    builder.set_quatf(object, 4, {0.0F, 0.0F, 0.0F, 1.0F});
    builder.set_string(object, 5, "h\xC3\xA4");
    builder.set_ref(object, 6, 3);
    builder.begin_tick(0.5);
    builder.destroy(builder.spawn(1));
    return builder.finish();
}

void check_error(const match::TraceError& error) {
    REQUIRE(error.message.starts_with("file: "));
    REQUIRE(error.message.find('\n') == std::string::npos);
    REQUIRE(error.message.size() < 1'000);
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> insides{testing::encode_trace(small_match())};
    insides.push_back(TraceBytes().header(0, 0).u16(0).trailer(0, 0, 0).bytes());
    std::vector<Bytes> seeds;
    for (const Bytes& inside : insides) {
        seeds.push_back(FuzzSeed().number(1, 1).add(inside).bytes);
        seeds.push_back(FuzzSeed().number(0, 1).add(testing::gzip(inside, 0)).bytes);
        seeds.push_back(FuzzSeed().number(0, 1).add(testing::gzip(inside, 9)).bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout;
    using namespace replayout::test;
    FuzzInput input(data, size);
    const bool is_inside = input.byte() != 0;
    const Bytes bytes = to_bytes(input.rest());
    const auto result = match::read_trace_bytes(is_inside ? testing::gzip(bytes, 0) : bytes, "file",
                                                small_limits());
    if (const auto* error = std::get_if<match::TraceError>(&result)) {
        check_error(*error);
        return 0;
    }
    const auto& recording = std::get<match::Recording>(result);
    // Playing it asserts on whatever the reader should have refused.
    static_cast<void>(match::end_state_crc32(recording));
    const Bytes again = testing::encode_trace(recording);
    REQUIRE((!is_inside || again == bytes));
    const auto twice = match::read_trace_bytes(testing::gzip(again, 0), "file", small_limits());
    REQUIRE((std::holds_alternative<match::Recording>(twice) &&
             std::get<match::Recording>(twice) == recording));
    return 0;
}
