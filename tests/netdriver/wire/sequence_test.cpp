// SPDX-License-Identifier: MIT
#include <replayout/netdriver/sequence.h>

#include <cstdint>

#include "support/checks/catch.h"

namespace replayout {
namespace {

static_assert(expand_sequence(0, 0) == 0);
static_assert(expand_sequence(0x1fff0, 0x0003) == 0x20003);
static_assert(expand_sequence(0x20003, 0xfff0) == 0x1fff0);

TEST_CASE("sequence: the nearest number is found on both sides of a wrap",
          "[netdriver][sequence]") {
    for (const std::uint64_t wrap : {0x10000ULL, 0x20000ULL, 0x100000000ULL, 1ULL << 48}) {
        for (std::uint64_t reference = wrap - 300; reference < wrap + 300; ++reference) {
            for (std::uint64_t distance = 0; distance <= 300; ++distance) {
                const std::uint64_t ahead = reference + distance;
                const std::uint64_t behind = reference - distance;
                if (expand_sequence(reference, wire_sequence(ahead)) != ahead ||
                    expand_sequence(reference, wire_sequence(behind)) != behind) {
                    FAIL("reference " << reference << ", distance " << distance);
                }
            }
        }
    }
}

TEST_CASE("sequence: half the range is behind, one less is ahead", "[netdriver][sequence]") {
    for (const std::uint64_t reference :
         {0x8000ULL, 0x12345ULL, 0xffffULL, 0x10000ULL, 1ULL << 40}) {
        CAPTURE(reference);
        CHECK(expand_sequence(reference, wire_sequence(reference + 0x7fff)) == reference + 0x7fff);
        CHECK(expand_sequence(reference, wire_sequence(reference + 0x8000)) == reference - 0x8000);
        CHECK(expand_sequence(reference, wire_sequence(reference - 0x8000)) == reference - 0x8000);
    }
}

TEST_CASE("sequence: nothing lies before 0", "[netdriver][sequence]") {
    CHECK(expand_sequence(0, 0xffff) == 0xffff);
    CHECK(expand_sequence(0, 0x8000) == 0x8000);
    CHECK(expand_sequence(5, 0xffff) == 0xffff);
    CHECK(expand_sequence(0x7fff, 0xffff) == 0xffff);
    CHECK(expand_sequence(0x8000, 0x0000) == 0);
}

TEST_CASE("sequence: every wire value expands to itself", "[netdriver][sequence]") {
    for (const std::uint64_t reference :
         {0ULL, 1ULL, 0x7fffULL, 0xffffULL, 0x18000ULL, 1ULL << 50}) {
        for (std::uint32_t wire = 0; wire < 0x10000; ++wire) {
            const auto value = static_cast<std::uint16_t>(wire);
            const std::uint64_t sequence = expand_sequence(reference, value);
            const bool near = sequence + 0x8000 >= reference && sequence <= reference + 0xffff;
            if (wire_sequence(sequence) != value || !near) {
                FAIL("reference " << reference << ", wire " << wire);
            }
        }
    }
}

}  // namespace
}  // namespace replayout
