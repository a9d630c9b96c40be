// SPDX-License-Identifier: MIT
//
// Traces that were damaged, one case a number: of ten, five have a byte changed, one is cut off,
// and four are spliced of two traces. As a file, each is refused or says what it said: gzip keeps a
// checksum. What was packed anew with a right checksum is refused, or says exactly what its bytes
// say, which may be another match: nothing within a trace tells who wrote it.
// REPLAYOUT_SEEDS=1000000 goes through every byte and every value of it, every length, and 400,000
// splices.
#include "match/judge/end_state.h"
#include "match/recording/recording_builder.h"
#include "match/recording/trace_reader.h"
#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/checks/trace_writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::testing::encode_trace;
using replayout::testing::gzip;

using Bytes = std::vector<std::byte>;

[[nodiscard]] Bytes small_trace(std::int32_t variant) {
    RecordingBuilder builder("n", "s", 30.0F,
                             {{"P",
                               {{"b", FieldType::Bool},
                                {"i", FieldType::I32},
                                {"q", FieldType::Quatf},
                                {"s", FieldType::String},
                                {"r", FieldType::ObjectRef}}}});
    builder.begin_tick(0.0);
    const std::uint32_t object = builder.spawn(0);
    builder.set_bool(object, 0, true);
    builder.set_i32(object, 1, variant);
    builder.begin_tick(0.25);
    builder.set_quatf(object, 2, {0.0F, 0.0F, 0.0F, 1.0F});
    builder.set_string(object, 3, variant == 0 ? "h\xC3\xA4" : "another");
    builder.set_ref(object, 4, 2);
    builder.begin_tick(0.5);
    builder.destroy(builder.spawn(0));
    return encode_trace(builder.finish());
}

[[nodiscard]] Bytes changed(const Bytes& whole, std::uint64_t nth) {
    constexpr std::uint64_t step = 1'000'003;  // a prime, so every change has its turn
    const std::uint64_t change = nth * step % (whole.size() * 255);
    Bytes bytes = whole;
    bytes[change / 255] ^= static_cast<std::byte>(1 + change % 255);
    return bytes;
}

[[nodiscard]] Bytes cut(const Bytes& whole, std::uint64_t nth) {
    return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(nth % whole.size())};
}

[[nodiscard]] Bytes spliced(const Bytes& a, const Bytes& b, std::uint64_t seed) {
    replayout::test::SeededRandom random(seed);
    const bool is_swapped = random.percent(50);
    const Bytes& front = is_swapped ? b : a;
    const Bytes& back = is_swapped ? a : b;
    const std::uint32_t place = random.below(static_cast<std::uint32_t>(front.size() + 1));
    const std::uint32_t from = random.percent(50)
                                   ? std::min(place, static_cast<std::uint32_t>(back.size()))
                                   : random.below(static_cast<std::uint32_t>(back.size() + 1));
    Bytes bytes(front.begin(), front.begin() + static_cast<std::ptrdiff_t>(place));
    bytes.insert(bytes.end(), back.begin() + static_cast<std::ptrdiff_t>(from), back.end());
    return bytes;
}

[[nodiscard]] Bytes damaged(const Bytes& a, const Bytes& b, std::uint64_t number) {
    const std::uint64_t kind = number % 10;
    const std::uint64_t nth = number / 10;
    return kind < 5 ? changed(a, nth * 5 + kind) : kind == 5 ? cut(a, nth) : spliced(a, b, number);
}

/// What the file says, or nothing where it is refused with a sentence.
[[nodiscard]] Bytes said(const Bytes& file) {
    const ReadTraceResult result = read_trace_bytes(file, "file");
    if (const auto* error = std::get_if<TraceError>(&result)) {
        if (!error->message.starts_with("file: ")) {
            FAIL("no sentence: " << error->message);
        }
        return {};
    }
    // Playing it asserts on whatever the reader should have refused.
    static_cast<void>(end_state_crc32(std::get<Recording>(result)));
    return encode_trace(std::get<Recording>(result));
}

}  // namespace

TEST_CASE("TraceReader: changed, cut or spliced, a file is refused or says what one of them said",
          "[bench][trace_reader][damage]") {
    const Bytes a = small_trace(0);
    const Bytes b = small_trace(7);
    const Bytes file_a = gzip(a, 9);
    const Bytes file_b = gzip(b, 9);
    const replayout::SeedRange cases = replayout::seed_range(1, 10'000);
    std::uint64_t refused = 0;
    std::uint64_t anew_refused = 0;
    for (std::uint64_t number = cases.first; number < cases.first + cases.count; ++number) {
        const Bytes text = said(damaged(file_a, file_b, number));
        refused += text.empty() ? 1U : 0U;
        if (!text.empty() && text != a && text != b) {
            FAIL("case " << number << ": says what neither said");
        }
        const Bytes inside = damaged(a, b, number);
        const Bytes text_inside = said(gzip(inside, 0));
        anew_refused += text_inside.empty() ? 1U : 0U;
        if (!text_inside.empty() && text_inside != inside) {
            FAIL("case " << number << ": packed anew, it is read as something else");
        }
    }
    CHECK(refused > cases.count / 2);
    CHECK((!cases.is_default || anew_refused > cases.count / 4));
    if (!cases.is_default) {
        WARN(file_a.size() << " bytes: " << refused << " refused; packed anew, of " << a.size()
                           << " bytes, " << anew_refused);
    }
}
