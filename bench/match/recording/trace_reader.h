// SPDX-License-Identifier: MIT
//
// Reads a recorded match from an RTR1 trace, and refuses what is not one.
//
// A trace is a gzip stream; inside, little-endian and unaligned (str = u16 size, UTF-8 bytes):
//
//     "RTR1"   u16 version = 1   u16 flags = 0
//     f32 tick_rate   u32 tick_count   u32 object_count   str name   str source
//     u16 class_count   class_count x { str name   u16 field_count   field_count x field }
//     tick_count x { f64 time   u32 op_count   op_count x op }
//     "1RTR"   u64 sets   u32 spawns   u32 destroys   end
//
//     field    str name   u8 type
//     op       u8 1   u32 object   u16 class            spawn
//              u8 2   u32 object   u16 field   value    set
//              u8 3   u32 object                        destroy
//
// The file is a stranger's bytes. Nothing in it is believed before it is there: a count is only how
// often to go on, never a size to allocate; memory grows with what has been decoded, and what can
// be decoded is bounded by TraceLimits. Every rule that a Recording promises is checked, so that
// who plays it back may assert. A file cut short, damaged or forged gives a TraceError: one line
// with the file, the tick and the byte, counted in the decompressed stream.
#pragma once

#include "match/recording/recording.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace replayout::match {

/// How much a trace may cost. The comparisons are with the largest recordings known.
struct TraceLimits {
    /// Decompressed size, and size of the file. The largest has 5.3 MB: fifty times that. The worst
    /// that such a file can make us hold is ops of 5 bytes that become 16 each, with growth three
    /// times that: 2.5 GB. Values above 4 GB count as 4 GB, because a Recording has 32-bit offsets.
    std::uint64_t decompressed_bytes_max = std::uint64_t{256} << 20;

    /// Decompressed bytes per compressed byte, beyond the first ratio_free_bytes. Recordings have 2
    /// to 5; deflate can do 1,032, and only a bomb does.
    std::uint64_t ratio_max = 200;
    std::uint64_t ratio_free_bytes = std::uint64_t{64} << 20;

    /// Fields declared by all classes together. The richest declares 4,169.
    std::uint32_t declared_fields_max = 1U << 18;

    /// Sum over the objects live at one time of the fields of their class, whether ever set or not:
    /// a spawn of 7 bytes can claim 65,535 fields in the world of the server and of every client.
    /// The fullest has 13,001.
    std::uint64_t live_fields_max = std::uint64_t{4} << 20;

    /// Objects live at one time, which are as many as a server can have. The fullest has 1,034.
    std::uint32_t live_objects_max = 65'536;

    /// Ticks, which cost time even when nothing happens in them: nine hours at 30 a second. The
    /// longest has 12,320.
    std::uint32_t tick_count_max = 1'000'000;
};

struct TraceError {
    std::string message;            ///< "FILE: tick 7, byte 1234: what is wrong", one line
    std::uint64_t byte_offset = 0;  ///< in the decompressed stream: where the faulty item begins
    std::optional<std::uint32_t> tick;  ///< where the fault is inside one
};

using ReadTraceResult = std::variant<Recording, TraceError>;

/// Reads a file. Anything but a regular file is refused without being opened.
[[nodiscard]] ReadTraceResult read_trace(const std::string& path, const TraceLimits& limits = {});

/// Reads a file that is already in memory; `name` stands for it in messages.
[[nodiscard]] ReadTraceResult read_trace_bytes(std::span<const std::byte> file,
                                               std::string_view name,
                                               const TraceLimits& limits = {});

}  // namespace replayout::match
