// SPDX-License-Identifier: MIT
//
// Values, blocks and parameters as a hostile peer writes them: well formed most of the time, and as
// expensive as a few numbers make them.
#pragma once

#include "support/packet_writer.h"
#include "worst/classes.h"

#include <cstdint>

namespace replayout::worst {

using bench::Bytes;

/// What is written. Every value means something.
struct Shape {
    std::uint32_t form = 0;    ///< which of the ways to write it; bits
    std::uint32_t count = 0;   ///< elements, bytes
    std::uint32_t begin = 0;   ///< the first of these that has a value, or the first key
    std::uint32_t length = 0;  ///< how many have one, or the distance between keys
    std::uint32_t object = 0;  ///< the id that references name
};

/// A block of an object of that class.
[[nodiscard]] Bytes block_bytes(ClassNumber number, const Shape& shape);
/// A call of Body's function of that number, in the order in which Body has them.
[[nodiscard]] Bytes call_bytes(std::uint32_t function, const Shape& shape);

}  // namespace replayout::worst
