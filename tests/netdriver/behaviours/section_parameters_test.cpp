// SPDX-License-Identifier: MIT
//
// What a client takes of the bytes of a section (behaviour_section.h).
#include "behaviour_section.h"

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/net_archive.h>

#include <cstddef>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::test {
namespace {

using detail::section_bytes_max;
using detail::SectionParameters;

/// Whether a section of so many bytes, all of which are there, is taken with this budget.
[[nodiscard]] bool is_taken(std::size_t byte_count, DecodeBudget budget) {
    SectionParameters sent;
    sent.number = 7;
    sent.bytes.assign(byte_count, std::byte{0x5A});
    std::vector<std::byte> memory(byte_count + 16);
    BitWriter writer(memory);
    NetArchive saving(writer);
    bool is_written = false;
    REQUIRE(sent.net_serialize(saving, nullptr, is_written));
    REQUIRE(is_written);

    BitReader reader(writer.bytes(), &budget);
    NetArchive loading(reader);
    SectionParameters received;
    bool is_read = true;
    REQUIRE(received.net_serialize(loading, nullptr, is_read));
    CHECK(is_read == !reader.failed());
    CHECK((is_read ? received == sent : received.bytes.empty()));
    return is_read;
}

TEST_CASE("Sections: one of more bytes than UNet's writer has is refused, and no memory taken",
          "[behaviours]") {
    CHECK(is_taken(0, {}));
    CHECK(is_taken(section_bytes_max, {}));
    CHECK_FALSE(is_taken(section_bytes_max + 1, {}));
}

TEST_CASE("Sections: each byte of one is a step, and memory, of what a packet may cost",
          "[behaviours]") {
    DecodeBudget budget;
    budget.steps = 100;
    CHECK(is_taken(100, budget));
    CHECK_FALSE(is_taken(101, budget));
    budget = {};
    budget.allocation_bytes = 100;
    CHECK(is_taken(100, budget));
    CHECK_FALSE(is_taken(101, budget));
}

}  // namespace
}  // namespace replayout::test
