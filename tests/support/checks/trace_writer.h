// SPDX-License-Identifier: MIT
//
// Writes traces, good ones and bad ones, for the tests of the trace reader.
//
// encode_trace and gzip make a file that the reader accepts. TraceBytes is the same pen without a
// conscience: it writes any number anywhere, so that a test can lie in exactly one place.
#pragma once

#include "match/recording/recording.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace replayout::testing {

/// Bytes of a trace before compression, one item after the other. Every call appends and returns
/// *this.
class TraceBytes {
  public:
    TraceBytes& u8(std::uint8_t value);
    TraceBytes& u16(std::uint16_t value);
    TraceBytes& u32(std::uint32_t value);
    TraceBytes& u64(std::uint64_t value);
    TraceBytes& f32(float value);
    TraceBytes& f64(double value);
    TraceBytes& raw(std::string_view text);
    TraceBytes& raw(std::span<const std::byte> bytes);
    /// A u16 size and the text.
    TraceBytes& str(std::string_view text);

    // The parts of a trace.
    TraceBytes& header(std::uint32_t tick_count, std::uint32_t object_count);
    TraceBytes& class_table(std::span<const match::ClassInfo> classes);
    TraceBytes& tick(double time_s, std::uint32_t op_count);
    TraceBytes& spawn(std::uint32_t object, std::uint16_t class_index);
    /// Only the head of the op; its value follows by one of the calls above.
    TraceBytes& set(std::uint32_t object, std::uint16_t field);
    TraceBytes& destroy(std::uint32_t object);
    TraceBytes& trailer(std::uint64_t sets, std::uint32_t spawns, std::uint32_t destroys);

    [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

/// The bytes of a whole trace, not compressed.
[[nodiscard]] std::vector<std::byte> encode_trace(const match::Recording& recording);

/// The checksum that gzip has, too.
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes);

/// One gzip member; `level` is zlib's, 0 stores.
[[nodiscard]] std::vector<std::byte> gzip(std::span<const std::byte> bytes, int level = 1);

}  // namespace replayout::testing
