// SPDX-License-Identifier: MIT
//
// What a datagram may be, and garbage.
#pragma once

#include <algorithm>
#include <cstddef>

#include "support/checks/byte_dump.h"
#include "support/checks/seeded_random.h"

namespace replayout::test {

[[nodiscard]] inline Bytes random_bytes(SeededRandom& random, std::size_t size) {
    Bytes bytes(size);
    std::generate(bytes.begin(), bytes.end(), [&] { return std::byte(random.below(256)); });
    return bytes;
}

}  // namespace replayout::test
